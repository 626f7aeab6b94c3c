"""Islands give the same result whatever happens to their workers, and tell each other no values."""

from __future__ import annotations

import time
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuga.cluster import island
from gpuga.cluster.islands import Islands, sources
from gpuga.cluster.messages import unsqueezed
from gpuga.errors import GpugaError, OutOfTime
from gpuga.evolution.checkpoint import read
from gpuga.safety.audit import audit
from gpuga.table.table import Table
from tests.cluster.conftest import Here, islands_of


def gone(islands: Islands) -> tuple[Any, ...]:
    islands.go()
    assert islands.best is not None
    return islands.best.tobytes(), islands.cost, islands.lower, islands.generation, islands.children, islands.why


@pytest.mark.parametrize("kind", ["plane", pytest.param("solid", marks=pytest.mark.slow)])
def test_the_result_does_not_depend_on_the_number_of_workers_or_their_speed(
    kind: str, request: pytest.FixtureRequest
) -> None:
    table, random = request.getfixturevalue(kind), np.random.default_rng(3)
    plain = islands_of(table, Here(3))
    expected = gone(plain)
    slow = Here(2, lambda _: time.sleep(0.05 * random.random()))
    assert gone(islands_of(table, slow)) == expected
    assert audit(table, plain.problem.pattern(plain.best)).safe  # type: ignore[arg-type]


class Dying:
    """Workers that die: before they do anything, forgetting all they knew."""

    def __init__(self, share: float, seed: int) -> None:
        self.share, self.random, self.deaths = share, np.random.default_rng(seed), 0

    def __call__(self, given: tuple[Any, ...]) -> None:
        if given and isinstance(given[0], bytes) and self.random.random() < self.share:
            self.deaths += 1
            for live in island._WORKER.islands.values():
                live.run.end()
            island._WORKER.islands.clear()
            island._WORKER.tables.clear()
            raise BrokenExecutor


@pytest.mark.parametrize("kind", ["plane", pytest.param("solid", marks=pytest.mark.slow)])
def test_islands_of_dead_workers_go_on_elsewhere_with_the_same_result(
    kind: str, request: pytest.FixtureRequest
) -> None:
    table = request.getfixturevalue(kind)
    expected = gone(islands_of(table, Here(3)))
    dying = Dying(0.3, 5)
    workers = Here(3, dying)
    assert gone(islands_of(table, workers)) == expected
    assert dying.deaths >= 3
    assert workers.replaced == dying.deaths


class NeverUp(Here):
    """Workers of a cluster that is gone before they have started: others have taken over when that is noticed."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.took_over = False

    def submit(self, place: int, work: Any, *given: Any) -> Future[Any]:
        if self.took_over:
            return super().submit(place, work, *given)
        future: Future[Any] = Future()
        self._asked[future] = place, self.executors[place]
        return future

    def gone(self) -> bool:
        first, self.took_over = not self.took_over, True
        return first


def test_a_cluster_that_is_gone_before_its_workers_have_started_is_not_waited_for(plane: Table) -> None:
    assert gone(islands_of(plane, NeverUp(3))) == gone(islands_of(plane, Here(3)))


def test_a_table_that_kills_every_worker_ends_the_run(plane: Table) -> None:
    with pytest.raises(GpugaError, match="workers die over this table again and again"):
        islands_of(plane, Here(2, Dying(1.0, 1))).go()


def test_a_client_that_died_goes_on_from_its_checkpoint_with_the_same_result(plane: Table, tmp_path: Path) -> None:
    expected = gone(islands_of(plane, Here(3)))
    folder = str(tmp_path)
    cut = islands_of(plane, Here(3), checkpoint=folder, generations=6)
    cut.go()
    resumed = islands_of(plane, Here(3), checkpoint=folder, resume=True)
    assert gone(resumed) == expected
    assert resumed.islands[1].legs == 4
    assert 0 < resumed.received < 2 * cut.received, "two legs of four were done"


def test_what_is_better_elsewhere_is_soon_everywhere(plane: Table) -> None:
    islands = islands_of(plane, Here(3), exchange=1, topology="best", generations=8)
    islands.go()
    costs = [one.cost for one in islands.islands]
    assert min(costs) == islands.cost
    before_last = islands_of(plane, Here(3), exchange=1, topology="best", generations=7)
    before_last.go()
    assert max(costs) <= before_last.cost, "what one island knew everyone knows a leg later"


def test_who_hears_from_whom() -> None:
    assert sources([5, 4, 9, 4], "ring") == [3, 0, 1, 2]
    assert sources([5, 4, 9, 4], "best") == [1, 1, 1, 1]
    assert sources([None, None, 9], "best") == [2, 2, 2]
    assert sources([3], "ring") == [0]


def test_islands_end_at_the_proof(plane: Table) -> None:
    islands = islands_of(plane, Here(2), generations=400, patience=400)
    islands.go()
    assert islands.why == "proof"
    assert islands.cost == islands.lower
    assert islands.generation < 400


def test_islands_end_without_improvement(plane: Table) -> None:
    islands = islands_of(plane, Here(2), generations=60, patience=2, exchange=2, without=("prover",))
    islands.go()
    assert islands.why == "no improvement"
    assert islands.since >= 2


def test_an_interrupt_ends_with_the_best_so_far(plane: Table) -> None:
    legs = []
    islands = islands_of(plane, Here(3, lambda given: legs.append(given)), generations=None)
    advance = islands._round

    def second(generations: int) -> None:
        if islands.generation:
            islands.context.clock.interrupt()
        advance(generations)

    islands._round = second  # type: ignore[method-assign]
    islands.go()
    assert islands.why == "interrupt"
    assert islands.generation == 3
    assert islands.best is not None


def test_no_time_at_all_is_said(plane: Table) -> None:
    with pytest.raises(OutOfTime):
        islands_of(plane, Here(2), seconds=0.0).go()


# --- what is sent ------------------------------------------------------------------------------------------


def recorded(table: Table, **options: Any) -> tuple[list[bytes], list[bytes]]:
    """Everything that was sent to islands, the table and states left out, and all answers."""
    orders: list[bytes] = []
    workers = Here(3, lambda given: orders.extend(given))
    answers: list[bytes] = []
    for executor in workers.executors:
        executor.after = lambda answer: answers.append(answer)  # type: ignore[attr-defined]
    islands_of(table, workers, **options).go()
    return [one for one in orders if isinstance(one, bytes)], [one for one in answers if one is not None]


def values_in(content: bytes, values: list[int]) -> list[int]:
    """The values that occur in some bytes, as integers of either width, as floats, or in digits."""
    forms = {value: (np.int64(value).tobytes(), np.float64(value).tobytes(), str(value).encode()) for value in values}
    forms |= {v: (*some, np.int32(v).tobytes()) for v, some in forms.items() if v < 2**31}  # type: ignore[dict-item]
    return [value for value, some in forms.items() if any(form in content for form in some)]


def hidden(table: Table) -> list[int]:
    """Values and levels that cannot be mistaken for a count of cells, generations or children."""
    known = np.concatenate([table.value, table.up, table.levels.lower, table.levels.upper])
    return np.unique(known[(known > 10 * len(table)) & (known < 2**40)]).tolist()


def spread(table: Table) -> Table:
    """The table in smaller units, so that no value is a small number."""
    from dataclasses import replace

    from gpuga.table.table import INFINITE, Levels, Lines

    k = 1_000_003
    ub = np.where(table.ub >= INFINITE, INFINITE, k * np.where(table.ub >= INFINITE, 0, table.ub))
    levels = Levels(*(k * level for level in vars(table.levels).values()))
    lines = Lines(table.lines.start, table.lines.cell, table.lines.coef, k * table.lines.rhs)
    return replace(
        table, value=k * table.value, lb=k * table.lb, ub=ub, levels=levels, lines=lines, scale=k * table.scale
    )


@pytest.mark.parametrize("kind", ["plane", "solid"])
def test_letters_between_islands_tell_no_value(kind: str, request: pytest.FixtureRequest) -> None:
    table = spread(request.getfixturevalue(kind))
    values = hidden(table)
    assert len(values) > 100
    orders, answers = recorded(table)
    sent = [read(one) for one in orders]
    assert sum("table" in arrays for _, arrays in sent) == 3, "once for every island"
    letters = 0
    for figures, arrays in (*sent, *map(read, answers)):
        said = repr(figures).encode()
        assert not values_in(said, values)
        for name, array in arrays.items():
            if name not in ("table", "state"):
                letters += 1
                assert not values_in(array.tobytes(), values), name
    assert letters > 50


def test_states_of_two_way_tables_tell_no_value(plane: Table) -> None:
    table = spread(plane)
    values = hidden(table)
    states = [read(one)[1]["state"] for one in recorded(table)[1] if "state" in read(one)[1]]
    assert len(states) == 12
    for state in states:
        figures, arrays = unsqueezed(state)
        assert not values_in(repr(figures).encode(), values)
        assert not any(values_in(array.tobytes(), values) for array in arrays.values())


def test_the_search_would_find_a_value() -> None:
    values = [123_456_789, 2**39 + 1]
    for value in values:
        assert values_in(b"x" + np.int64(value).tobytes(), values) == [value]
        assert values_in(str(value).encode(), values) == [value]
    assert values_in(np.int32(values[0]).tobytes(), values) == [values[0]]
