"""The configuration of a run: back end, solver, random seed, clock, progress. No globals, no environment."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpuga import compiling
from gpuga.errors import InputError
from gpuga.kernels.random import Stream
from gpuga.lp.solver import Solver
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.likeness import Likeness

if TYPE_CHECKING:
    from gpuga.protection import Found


class Progress(Protocol):
    """Who wants to know how far a long work is. Figures are counts, costs and rates, never cell values."""

    def stage(self, name: str, total: int | None = None) -> None:
        """A new stage begins; `total` is its number of steps where known."""

    def advance(self, steps: int = 1, **figures: float | int | str) -> None:
        """Some steps of the stage are done; figures such as `best`, `gap`, `rate` may be shown."""


class Silent:
    """Progress that nobody watches."""

    def stage(self, name: str, total: int | None = None) -> None:
        """Nothing."""

    def advance(self, steps: int = 1, **figures: float | int | str) -> None:
        """Nothing."""


GRACE = 1.0
"""Seconds that the last work on an answer has even when the limit is reached."""


class Clock:
    """Time since the start, and how much is left of what the user allows.

    The first run of an installation compiles its inner loops; that time is not counted, else a short
    limit would be used up before anything was tried. A clock made by `part` also ends with its `whole`.
    """

    of_one_process = False
    """Whether it counts what this process alone does: then nothing may be left to another one."""

    def __init__(self, seconds: float | None = None, whole: Clock | None = None) -> None:
        if seconds is not None and not 0 <= seconds < float("inf"):
            raise InputError(f"{seconds} is not a number of seconds", field="seconds")
        self.started = time.monotonic()
        self.compiled = compiling.seconds()
        self.seconds = seconds
        self.whole = whole
        self._interrupted = False

    @property
    def interrupted(self) -> bool:
        """Whether the user wants the best so far."""
        return self._interrupted or (self.whole is not None and self.whole.interrupted)

    def part(self, share: float) -> Clock:
        """A clock for a share of what is left."""
        return type(self)(None if self.seconds is None else max(0.0, share * self.left()), self)

    def keeping(self, seconds: float) -> Clock:
        """A clock for what is left but for so many seconds, which are kept for the work after it."""
        return type(self)(None if self.seconds is None else max(0.0, self.left() - seconds), self)

    def finishing(self) -> Clock:
        """A clock for the work that makes an answer out of the best so far: the limit counts, no interrupt does."""
        return Clock(None if self.seconds is None else max(GRACE, self.seconds - self.spent()))

    def graced(self) -> Clock:
        """A clock that ends a little later: for work that nobody would gain by giving it up at the limit."""
        return Later(None if self.seconds is None else max(0.0, self.seconds - self.spent()) + GRACE, self)

    def spent(self) -> float:
        """Seconds since the start, without those of compilation."""
        return time.monotonic() - self.started - (compiling.seconds() - self.compiled)

    def left(self) -> float:
        """Seconds left; infinite without a limit, none once interrupted."""
        if self.interrupted:
            return 0.0
        own = float("inf") if self.seconds is None else self.seconds - self.spent()
        return own if self.whole is None else min(own, self.whole.left())

    def expired(self) -> bool:
        """Whether the time is up, or the user wants the best so far."""
        return self.left() <= 0

    def interrupt(self) -> None:
        """Let the work end as if the time were up."""
        self._interrupted = True


class Later(Clock):
    """A clock with a limit of its own, which an interrupt of the whole ends as well."""

    def left(self) -> float:
        """Seconds left; the limit of the whole does not count."""
        return 0.0 if self.interrupted else float("inf") if self.seconds is None else self.seconds - self.spent()


@dataclass
class Context:
    """What every method needs to know of its run; what belongs to one method only stands in its parameters."""

    backend: str = "auto"
    lp: str = "auto"
    solver: Solver | None = None
    seed: int = 0
    clock: Clock = field(default_factory=Clock)
    progress: Progress = field(default_factory=Silent)
    strict: bool = False
    protect_secondary: bool = False
    whole: bool = False  # the attacker knows that values are whole numbers: only whole circuits prove anything
    start: tuple[NDArray[np.bool_], ...] = ()
    operators: Mapping[str, Callable[..., Any]] = field(default_factory=dict)  # of a DEAP toolbox, by their names there
    on_generation: Callable[[Any], None] | None = None  # is given the `Evolution` after every generation
    first: Found | None = None  # a safe pattern with its proof, where the time is limited: methods may begin with it
    likeness: Likeness | None = None  # an earlier pattern; the weights of the table price differences from it already
    further: int = 0  # how many patterns besides the best are audited in the end: time is kept for them
    proving: bool = False  # a proof is wanted: what the bound is derived from is needed in the end
    history: list[dict[str, Any]] = field(default_factory=list)  # of an evolution: the rows of its log, as they come
    first_seconds: float = 0.0  # how long that one took: a measure of what can be begun in the time that is left

    @property
    def model(self) -> AttackerModel:
        """What the attacker of this run is taken to know."""
        return AttackerModel(self.strict, self.protect_secondary, self.whole)

    def stream(self, number: int) -> Stream:
        """Random draws of this run; a method has a number of its own, so that it shares no draws with another."""
        return Stream(self.seed, number)
