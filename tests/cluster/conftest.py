"""Workers within the process of the tests, tables that need several legs, and runs of islands on them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from gpuga.cluster import island
from gpuga.cluster.islands import Islands
from gpuga.cluster.workers import Workers
from gpuga.context import Clock, Context
from gpuga.parameters import CircuitsParameters
from gpuga.problem.problem import problem_for
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table

Before = Callable[[Any], None]


class AtOnce(Executor):
    """Does everything at once, in this process; `before` is told of what is sent, and may raise in place of it."""

    def __init__(self, before: Before) -> None:
        self.before = before
        self.after: Before = lambda _: None

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            self.before(args)
            answer = fn(*args, **kwargs)
            self.after(answer)
            future.set_result(answer)
        except Exception as fault:
            future.set_exception(fault)
        return future


class Here(Workers):
    """So many workers in this process."""

    def __init__(self, count: int, before: Before = lambda _: None) -> None:
        self.replaced, self.before = 0, before
        super().__init__([AtOnce(before) for _ in range(count)])

    @property
    def lasting(self) -> bool:
        return True

    def _another(self, place: int) -> Executor:
        self.replaced += 1
        return AtOnce(self.before)

    def close(self) -> None:
        self.executors = []


@pytest.fixture(autouse=True)
def _nothing_is_left_at_the_worker() -> Any:
    before = set(island._WORKER.islands)
    yield
    assert set(island._WORKER.islands) <= before, "a run that has ended is forgotten"


@pytest.fixture(scope="session")
def plane() -> Table:
    return herrington(30, 30, 0.03, 1)


@pytest.fixture(scope="session")
def solid() -> Table:
    return smith3d((6, 5, 4), 0.1, 0.0, 1)


def islands_of(table: Table, workers: Workers, seconds: float | None = None, **options: Any) -> Islands:
    """Three islands of twelve, four legs of three generations, not begun."""
    given = {"islands": 3, "population": 12, "generations": 12, "exchange": 3} | options
    context = Context(backend="cpu", seed=7, clock=Clock(seconds))
    return Islands(problem_for(table), context, CircuitsParameters(**given), workers, "mine")
