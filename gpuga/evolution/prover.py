"""The prover beside evolution: the search of `exact` in a thread of its own, one counted step after the other.

Between two steps it takes over the incumbent of evolution and lays out its own: the best pattern, the proven bound, the
point of the relaxation and the columns that a cheaper pattern can contain. A run that is bounded by generations
exchanges after every step, so that it can be repeated; one that is bounded by time takes what is there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.master import useful_columns
from gpuga.bounds.search import Search
from gpuga.context import Context, Silent
from gpuga.errors import OutOfTime
from gpuga.problem.general import GeneralProblem
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Bound
from gpuga.table.table import Mask


class News:
    """What the prover knows after `steps` steps; the `point` float64[n] and the `core` bool[n] change less often."""

    def __init__(self, search: Search, steps: int) -> None:
        self.steps, self.cost, self.best, self.lower = steps, search.cost, search.best, search.lower
        self.point: NDArray[np.float64] = search.master.point()
        self.core: Mask = useful_columns(search.master, search.cost) | search.best


class Prover:
    """Runs the exact search beside evolution; `exchange` is the only way in and out while it runs."""

    def __init__(self, problem: TwoWayProblem | GeneralProblem, context: Context, paced: bool) -> None:
        self.clock = context.clock.part(1.0)
        self.problem, self.paced = problem, paced
        self._context = replace(context, clock=self.clock, progress=Silent())
        self.search: Search | None = None
        self.ended = False
        self._news: News | None = None
        self._offered: Mask | None = None
        self._failure: BaseException | None = None
        self._lock = threading.Lock()
        self._may_step, self._stepped = threading.Semaphore(1), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name="prover", daemon=True)
        self._thread.start()

    def exchange(self, best: Mask) -> News | None:
        """Hand over evolution's incumbent, as secondary suppressions bool[n]; the prover's news, None before the first.

        A paced prover has then done one step more than at the exchange before.
        """
        if self.paced and not self.ended:
            self._stepped.acquire()
        self._raise()
        with self._lock:
            news, self._offered = self._news, best.copy()
        if self.paced:
            self._may_step.release()
        return news

    def stop(self) -> None:
        """End the search at its next look at the clock, and wait for that."""
        self.clock.interrupt()
        self.ended = True
        self._may_step.release()
        self._thread.join()
        self._raise()

    def bound(self) -> Bound | None:
        """What was proven; the thread must have ended."""
        return None if self.search is None else self.search.proven_bound()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
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
            self.ended = True
            self._stepped.release()

    def _steps(self) -> Iterator[None]:
        if self.paced:
            self._may_step.acquire()
        self.search = Search(self.problem, self._context)
        yield
        yield from self.search.steps()

    def _tell(self, steps: int) -> None:
        """Lay out the news of a step, take over what was offered, and wait for the next turn."""
        assert self.search is not None
        news = News(self.search, steps)
        with self._lock:
            self._news = news
        if self.paced:
            self._stepped.release()
            self._may_step.acquire()
        with self._lock:
            offered, self._offered = self._offered, None
        if offered is not None:
            self.search.offer(offered)
