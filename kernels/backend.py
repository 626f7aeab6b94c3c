"""The one protocol that every back end implements, the results it returns, and how a back end is chosen."""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from .layout import (
    AxisGrid,
    Bools,
    EquationLines,
    Equations,
    Floats,
    Frequencies,
    Int32,
    Int64,
    Patterns,
    Pool,
    Requirements,
)

Population = Patterns | Bools


@dataclass(frozen=True)
class Union:
    """Patterns made of circuits: the packed patterns, use counts int32[P, n] and costs int64[P].

    Patterns and use counts stay where the back end keeps them.
    """

    patterns: Patterns
    uses: Any
    costs: Int64


@runtime_checkable
class Backend(Protocol):
    """Operations on whole populations.  `patterns` may be packed `Patterns` or bool[P, n]; P is its length.

    `weights` int64[n] prices a cell; a negative weight forbids suppressing it.  `items` int32[Q, 2] lists
    (pattern, requirement) pairs.  Units of need, capacities and amounts are the table's scaled integers.
    """

    name: str

    def union(self, pool: Pool, chromosomes: Int32, weights: Int64, base: Bools, columns: int | None = None) -> Union:
        """Patterns = base (bool[n], the primaries) and all cells of the chosen circuits, int32[P, T].

        Costs count every suppressed cell's weight but those of `base`.
        """
        ...

    def box_costs(
        self,
        pattern: Bools,
        grid: AxisGrid,
        up: Int64,
        down: Int64,
        requirements: Requirements,
        weights: Int64,
        orders: Int32,
    ) -> Int64:
        """int64[P]: what the requirements of each order int32[P, L] (-1: none) cost, each in turn by its cheapest box.

        All start from one pattern bool[n], which grows by the boxes; a requirement without a box costs nothing.
        """
        ...

    def unpick(
        self, patterns: Population, lines: EquationLines, up: Int64, down: Int64, sweeps: int = 1000
    ) -> tuple[Int64, Int64]:
        """Interval propagation: how far each cell may (fall, rise) at most, int64[P, n]; published
        cells 0.

        An outer bound of the attacker's interval, tightened until nothing changes or `sweeps` are done.
        """
        ...

    def rare_weights(self, tables: Frequencies, table: Int32, rule: Int32) -> Int64:
        """int64[J]: the weight of the cells whose bin stays rare, for each job: one table, its fields recoded.

        `table` int32[J]; `rule` int32[J, D], one recoding per place of the table's fields. All neighbours of a
        recoding are one such batch. A bin is rare when its count is below the table's threshold.
        """
        ...

    def first_order(self, equations: Equations, pull: Floats, lower: Floats, upper: Floats, iterations: int) -> Floats:
        """float64[n, B]: points inside their bounds, with large `pull . z`, that nearly satisfy `A z = 0`.

        Objectives and bounds are float64[n, B], one problem per column. The only operation in floats: proposals.
        """
        ...


_BACKENDS = {"numpy": "numpy_backend", "cpu": "cpu_backend", "cuda": "cuda_backend"}


LEAST_WORK = 1 << 20
"""Patterns at once times cells from which `auto` takes a device.

A generation is some 30 launches, and one warp works on one pattern: with less to do, most of a device waits and the
launches take longer than the work does on one core. The figure is reasoned, not measured.
"""


class Choice(NamedTuple):
    """A back end, or device N as `cuda:N`, and why it was taken."""

    name: str
    why: str


def choose(name: str = "auto", device: int | None = None, work: int | None = None) -> Choice:
    """Which back end a name stands for here, for `work` cells of all patterns at once (None: enough for a device).

    Naming a device asks for CUDA. Raises `BackendUnavailable` when what is asked for cannot work here.
    """
    if device is not None:
        if name not in ("auto", "cuda"):
            raise BackendUnavailable(f"the back end {name} uses no CUDA device: leave the device out, or take cuda")
        chosen = Choice(f"cuda:{device}", f"device {device} was asked for")
    elif name == "auto":
        chosen = _by_size(work)
    else:
        chosen = Choice(name, "it was asked for")
    if kind_of(chosen.name) not in _BACKENDS:
        raise BackendUnavailable(f"there is no back end called {name!r}; choose auto, {', '.join(_BACKENDS)}")
    reason = unavailable_reason(chosen.name)
    if reason is not None:
        raise BackendUnavailable(reason)
    return chosen


def _by_size(work: int | None) -> Choice:
    """A device where one works and there is enough to do, else the CPU."""
    lacking = unavailable_reason("cuda")
    if lacking is not None:
        return Choice("cpu", lacking)
    if work is not None and work < LEAST_WORK:
        return Choice("cpu", f"{work:,} cells of all patterns at once are below {LEAST_WORK:,}, too few for a device")
    return Choice("cuda", "a device works here, and there is enough to do")


def kind_of(name: str) -> str:
    """The back end of a name such as `cuda:1`."""
    return "cuda" if device_of(name) is not None else name


def device_of(name: str) -> int | None:
    """The device of a name such as `cuda:1`; None where none is named."""
    kind, _, number = name.partition(":")
    return int(number) if kind == "cuda" and number.isdecimal() else None


def get_backend(name: str = "auto") -> Backend:
    """The back end of that name; `cuda:1` is CUDA on device 1, `auto` is CUDA where a device works, else the CPU.

    Raises `BackendUnavailable` when the one asked for cannot work here.
    """
    chosen = choose(name).name
    module = importlib.import_module(f".{_BACKENDS[kind_of(chosen)]}", __package__)
    device = device_of(chosen)
    made: Backend = module.create() if device is None else module.create(device)
    return made


def available_backends() -> dict[str, str | None]:
    """Every back end's name with None if it works here, else the reason why not."""
    return {name: unavailable_reason(name) for name in _BACKENDS}


def unavailable_reason(name: str) -> str | None:
    """Why a back end cannot work here, or None; asks for a device without making a CUDA context."""
    if kind_of(name) != "cuda":
        return None
    from .probe import cuda_problem, device_problem

    device = device_of(name)
    return cuda_problem() or (None if device is None else device_problem(device))


class BackendUnavailable(RuntimeError):
    """A back end was asked for by name that cannot work on this machine."""


class BackendWarning(UserWarning):
    """A back end went on in another way than asked, for example on the CPU for lack of device memory."""


def warn(message: str) -> None:
    """Tell the user that a back end goes on in another way."""
    warnings.warn(message, BackendWarning, stacklevel=3)
