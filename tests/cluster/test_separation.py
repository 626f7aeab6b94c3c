"""Workers propose multipliers for a bound, which is proven where it is asked for, whatever they say."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpuga
from gpuga.bounds.exact import lower_bound
from gpuga.cli.main import run
from gpuga.cluster import separation
from gpuga.cluster.separation import LARGEST, SeparatorOnWorkers, propose
from gpuga.context import Clock, Context
from gpuga.evolution.checkpoint import packed, read
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Bound
from gpuga.table.generate import smith3d
from gpuga.table.table import Table
from tests.cluster.conftest import Here


@pytest.fixture(scope="module")
def table() -> Table:
    return smith3d((5, 4, 3), 0.12, 0.1, 3)


@pytest.fixture(scope="module")
def cheapest(table: Table) -> int:
    found = gpuga.protect(table, "exact")
    assert found.optimal
    return found.scaled_cost


@pytest.fixture(autouse=True)
def _workers_know_no_table() -> None:
    separation._KNOWN.clear()


def bound(table: Table, workers: Here, seconds: float | None = None) -> Bound:
    context = Context(clock=Clock(seconds))
    return lower_bound(table, context, separator=lambda problem: SeparatorOnWorkers(problem, workers))


def test_the_bound_does_not_depend_on_the_number_of_workers(table: Table, cheapest: int) -> None:
    one, three = bound(table, Here(1)), bound(table, Here(3))
    assert one.lower_bound == three.lower_bound
    assert one.root.derivations() == three.root.derivations()  # type: ignore[union-attr]
    assert one.kind == "cutting planes"
    alone = lower_bound(table)
    assert 0.9 * float(alone.lower_bound) < one.lower_bound <= cheapest


def test_a_batch_is_answered_alike_after_any_other(table: Table) -> None:
    orders: list[bytes] = []
    bound(table, Here(1, lambda given: orders.append(given[0])))
    asked = [order for order in orders if "which" in read(order)[1]][-3:]
    first = [propose(order) for order in asked]
    assert [propose(order) for order in reversed(asked)] == first[::-1]


def test_batches_of_workers_that_die_are_solved_here_with_the_same_bound(table: Table) -> None:
    random = np.random.default_rng(1)

    def die(_: Any) -> None:
        if random.random() < 0.2:
            separation._KNOWN.clear()
            raise BrokenExecutor

    workers = Here(2, die)
    assert bound(table, workers).lower_bound == bound(table, Here(2)).lower_bound
    assert workers.replaced > 0


def test_the_table_is_sent_only_to_workers_that_lack_it(table: Table) -> None:
    sent: list[dict[str, Any]] = []
    bound(table, Here(1, lambda given: sent.append(read(given[0])[1])))
    assert sum("table" in arrays for arrays in sent) < 5 < len(sent)


@pytest.mark.parametrize("size", [1, 7, 10**5, LARGEST // 4, 2**62])
def test_no_worker_can_make_a_bound_too_high(
    table: Table, cheapest: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, lines = np.random.default_rng(2), len(table.lines)
    requirements = len(GeneralProblem.of(table).plain)

    def made_up(order: bytes) -> bytes:
        numbers = random.integers(-1, requirements + 5, 6)
        return packed({}, {"number": numbers, "multipliers": random.integers(-size, size, (6, lines), endpoint=True)})

    monkeypatch.setattr(separation, "propose", made_up)
    found = bound(table, Here(2), seconds=3)
    assert found.lower_bound <= cheapest


@pytest.mark.parametrize("answer", [b"", packed({}, {}), packed({}, {"number": np.zeros(2), "multipliers": np.eye(3)})])
def test_answers_that_are_none_count_as_nothing_found(
    table: Table, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(separation, "propose", lambda order: answer)
    assert bound(table, Here(1), seconds=3).lower_bound > 0, "what single lines prove needs no worker"


def test_large_tables_are_bounded_by_programs_where_workers_solve_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuga.bounds.exact.MOST_CELLS_TO_PROVE", 50)
    table = smith3d((5, 4, 3), 0.12, 0.1, 3)
    assert lower_bound(table).kind == "cutting planes of single lines"
    helped = bound(table, Here(1))
    assert helped.kind == "cutting planes"
    assert helped.lower_bound >= lower_bound(table).lower_bound


def test_the_command_and_the_function_take_workers(table: Table, tmp_path: Path) -> None:
    file, out = tmp_path / "table.csv", tmp_path / "bound.json"
    gpuga.write_table(table, file)
    assert run(["bound", str(file), "--workers", "1", "--json", str(out), "--quiet"]) == 0
    assert gpuga.lower_bound(table, workers=1).lower_bound == bound(table, Here(2)).lower_bound
