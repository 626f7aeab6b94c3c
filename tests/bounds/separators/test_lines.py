"""Cuts of single lines: true of every optimum, quick at every size, and no stronger than what attackers say."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.bounds.search import master_of, separator_of
from gpuga.bounds.separators.lines import LineSeparator
from gpuga.context import Clock
from gpuga.problem.general import GeneralProblem
from gpuga.protect import protect
from gpuga.table.generate import smith3d
from gpuga.table.table import Table


def table_of(seed: int, shape: tuple[int, int, int] = (4, 4, 3)) -> Table:
    return smith3d(shape, 0.1, 0.1, seed)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_of_single_lines_is_below_the_optimum_and_the_full_bound(seed: int) -> None:
    problem = GeneralProblem.of(table_of(seed))
    quick, full = master_of(problem, quick=True), master_of(problem)
    assert type(quick.separator) is LineSeparator
    for master in (quick, full):
        master.tighten(Clock())
    best = protect(table_of(seed), "exact", whole="no")
    assert best.optimal
    assert 0 < quick.bound <= full.bound <= best.scaled_cost - problem.base_cost


def test_an_optimal_pattern_satisfies_every_cut_that_any_point_gives() -> None:
    table = table_of(1)
    problem = GeneralProblem.of(table)
    separator, best = separator_of(problem, quick=True), protect(table, "exact", whole="no")
    rng, found = np.random.default_rng(0), 0
    for _ in range(50):
        point = np.where(problem.candidate, rng.random(len(table)) * (rng.random(len(table)) < 0.3), 0.0)
        for batch in separator.at_root(point, [], Clock()):
            for cut in batch:
                found += 1
                assert cut.coefficients(np.flatnonzero(best.suppressed & problem.candidate)).sum() >= cut.rhs
    assert found > 100


def test_the_worst_lone_cells_come_first_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = GeneralProblem.of(table_of(3, (6, 6, 6)))
    separator = separator_of(problem, quick=True)
    assert isinstance(separator, LineSeparator)
    point = np.where(problem.candidate, np.random.default_rng(1).random(len(problem.table)), 0.0)
    point[np.random.default_rng(2).random(len(point)) < 0.9] = 0.0
    every = separator._lone_cells.violated(point)
    assert len(every) > 6
    monkeypatch.setattr("gpuga.bounds.separators.bridges.AT_ONCE", 3)
    few = separator._lone_cells.violated(point)
    worst = sorted((cut.violation(point) for cut in every), reverse=True)[:3]
    assert sorted((cut.violation(point) for cut in few), reverse=True) == pytest.approx(worst)


def test_a_table_beyond_the_prover_has_a_bound_and_a_gap() -> None:
    table = smith3d((16, 15, 14), 0.02, 0.1, 1)
    for found in (protect(table, "hypercube"), protect(table, "circuits", options={"generations": 2, "population": 8})):
        assert found.bound is not None
        assert found.bound.kind == "cutting planes of single lines"
        assert 0 < found.bound.lower_bound <= found.scaled_cost
