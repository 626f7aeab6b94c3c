"""The prover beside evolution: the search of `exact` in a thread of its own, one counted step after the other.

Between two steps it takes over the incumbent of evolution and lays out its own: the best pattern, the proven bound, the
point of the relaxation and the columns that a cheaper pattern can contain. A run that is bounded by generations
exchanges after every step, so that it can be repeated; one that is bounded by time takes what is there.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.master import useful_columns
from gpuga.bounds.search import BranchAndCut
from gpuga.circuits.cover import Cover
from gpuga.context import Context, Silent
from gpuga.errors import OutOfTime
from gpuga.problem.general import GeneralProblem
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Bound
from gpuga.table.table import Mask
from gpuga.table.witnesses import Witnesses

DEARER, NEWS = 1.6, 0.97
"""Patterns of evolution at most so many times as dear as the prover's are cleaned up by programs, if they cost at most
this share of the latest one that was."""


class SearchState(Protocol):
    """A search as its news are made from: the cheapest pattern so far and what no pattern undercuts."""

    best: Mask
    cost: int
    lower: int

    def offer(self, pattern: Mask) -> bool:
        """Take over a cheaper pattern; whether it was."""

    def proven_bound(self) -> Bound:
        """What holds in exact arithmetic."""


class News:
    """What is known after `steps` steps, with prices by a `point` float64[n] and a `core` bool[n] of columns."""

    def __init__(self, steps: int, search: SearchState, point: NDArray[np.float64], core: Mask) -> None:
        self.steps, self.cost, self.best, self.lower = steps, search.cost, search.best, search.lower
        self.point, self.core = point, core
        self.circuits: Witnesses | None = None


class Offers:
    """The patterns that evolution offered (bool[n]) and after which step: enough to do a paced search again.

    `until` is the number of steps that were done with them.
    """

    def __init__(self, made: Sequence[tuple[int, Mask]] = (), until: int = 0) -> None:
        self.made, self.until = list(made), until

    def arrays(self, cells: int) -> dict[str, NDArray[Any]]:
        """As arrays without values."""
        steps = np.array([step for step, _ in self.made], np.int64)
        masks = np.array([mask for _, mask in self.made], bool).reshape(len(self.made), cells)
        return {"offer_steps": steps, "offers": np.packbits(masks, axis=1)}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], cells: int, until: int) -> Offers:
        """From arrays."""
        masks = np.unpackbits(arrays["offers"], axis=1)[:, :cells].astype(bool)
        return cls([*zip(arrays["offer_steps"].tolist(), masks, strict=True)], until)


class Beside(ABC):
    """Work in a thread of its own beside evolution; `exchange` is the only way in and out while it runs.

    What is done are the `_steps`, and what each one tells its `_news`. With `offers` it first does again what it did
    with them before.
    """

    def __init__(
        self, problem: TwoWayProblem | GeneralProblem, context: Context, paced: bool, offers: Offers | None = None
    ) -> None:
        self.clock = context.clock.part(1.0)
        self.problem, self.paced = problem, paced
        self._context = replace(context, clock=self.clock, progress=Silent())
        self.search: SearchState | None = None
        self.ended = False
        self.cpu_seconds = 0.0
        self._latest: News | None = None
        self.offers = offers or Offers()
        self._offered: Mask | None = None
        self._cheapest: int | None = None
        self._failure: BaseException | None = None
        self._lock, self._told = threading.Lock(), threading.Event()
        self._may_step, self._stepped = threading.Semaphore(1), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name="prover", daemon=True)
        self._thread.start()

    @abstractmethod
    def _steps(self) -> Iterator[None]:
        """Do the work step by step; `search` is set before the first one ends."""

    @abstractmethod
    def _news(self, steps: int) -> News:
        """What is known after so many steps."""

    def exchange(self, best: Mask, cost: int) -> News | None:
        """Hand over evolution's incumbent, as secondary suppressions bool[n]; the prover's news, None before the first.

        A paced prover has then done one step more than at the exchange before.
        """
        if self.paced and not self.ended:
            self._stepped.acquire()
        self._raise()
        with self._lock:
            news = self._latest
            if self._cheapest is None or cost < self._cheapest:
                self._cheapest, self._offered = cost, best.copy()
                if self.paced and news is not None:
                    self.offers.made.append((news.steps, self._offered))
        if self.paced:
            self._may_step.release()
        return news

    def await_news(self) -> None:
        """Wait until there is something to tell, the search has ended or the time is up."""
        while not self.paced and not self._told.wait(0.05):
            if self.ended or self.clock.expired():
                return

    def stop(self) -> None:
        """End the search and wait for that: a paced one after its step, any other at its next look at the clock."""
        if self.paced and not self.ended:
            self._stepped.acquire()
        self.clock.interrupt()
        self.ended = True
        self._may_step.release()
        self._thread.join()
        self._raise()

    def proof(self) -> Witnesses | None:
        """The circuits that prove the incumbent, where they are known."""
        return getattr(self.search, "proof", None)

    def bound(self) -> Bound | None:
        """What was proven, None where that is nothing yet; the thread must have ended."""
        bound = None if self.search is None else self.search.proven_bound()
        return None if self.search is None or self.search.lower <= 0 else bound

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            if self.paced:
                self._may_step.acquire()
            for steps, _ in enumerate(self._steps(), 1):
                self._tell(steps)
                if self.ended:
                    return
        except OutOfTime:
            pass_on = self.search is not None  # what it had found stays; without a search there is nothing to tell
            self.ended = self.ended or pass_on
        except BaseException as fault:  # whatever it is, it belongs to the thread that asks
            self._failure = fault
        finally:
            self.cpu_seconds = time.thread_time()
            self.ended = True
            self._stepped.release()

    def _tell(self, steps: int) -> None:
        """Publish the news of a step, take over what was offered, and wait for the next turn."""
        assert self.search is not None
        if steps <= self.offers.until:
            for step, mask in self.offers.made:
                if step == steps:
                    self._consider(mask)
                    self._cheapest = self.search.cost
            return
        news = self._news(steps)
        with self._lock:
            if self._latest is not None and news.circuits is None:
                news.circuits = self._latest.circuits
            self._latest = news
            self._told.set()
        if self.paced:
            self._stepped.release()
            self._may_step.acquire()
        with self._lock:
            offered, self._offered = self._offered, None
        if offered is not None:
            self._consider(offered)

    def _consider(self, offered: Mask) -> None:
        """Take over a pattern of evolution where it is cheaper."""
        assert self.search is not None
        self.search.offer(offered)


class Prover(Beside):
    """Runs the exact search beside evolution."""

    _exact: BranchAndCut | None = None
    _shown: int | None = None
    _cleaned: int | None = None

    def _steps(self) -> Iterator[None]:
        self.search = self._exact = BranchAndCut(self.problem, self._context)
        yield
        yield from self._exact.steps()

    def _news(self, steps: int) -> News:
        search = self._exact
        assert search is not None, "the first step makes it"
        news = News(steps, search, search.master.point(), useful_columns(search.master, search.cost) | search.best)
        if isinstance(self.problem, GeneralProblem) and search.cost != self._shown:
            self._shown, news.circuits = search.cost, self._circuits(self.problem, search.best)
        return news

    def _consider(self, offered: Mask) -> None:
        """Take it over where it is cheaper; of a general table also what programs leave of it.

        Certificates show less to be redundant than the attacker's programs do, so that one that is not much dearer may
        become the cheapest; they are not asked about every small step.
        """
        search, problem = self._exact, self.problem
        assert search is not None, "the first step makes it"
        search.offer(offered)
        if not isinstance(problem, GeneralProblem):
            return
        cost = problem.cost(offered)
        new = self._cleaned is None or cost < NEWS * self._cleaned
        if new and cost < DEARER * search.cost:
            self._cleaned = cost
            with suppress(OutOfTime):
                search.offer(search.repair.given(offered, search.clock))

    def _circuits(self, problem: GeneralProblem, pattern: Mask) -> Witnesses:
        """What proves a pattern, for those who cannot find every circuit themselves; as far as it is found."""
        cover = Cover(problem.table, problem.requirements, self._context, pattern)
        with suppress(OutOfTime):
            cover.inside(range(len(problem.requirements)))
        return cover.proof()
