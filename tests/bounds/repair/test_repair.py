"""Repairs: whatever they are given, what they make is safe."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.bounds.repair import cover as module
from gpuga.bounds.repair.cover import CoverRepair, priced, whole_cells
from gpuga.bounds.repair.paths import PathRepair, guided_costs
from gpuga.bounds.repair.repair import Repair, left_over, wholly
from gpuga.context import Clock, Context
from gpuga.problem.general import GeneralProblem
from gpuga.problem.problem import TableProblem
from gpuga.safety.audit import audit
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table.generate import smith3d
from tests.bounds.problems import small_problem


def repairs() -> list[tuple[TableProblem, Repair]]:
    two_way, general = small_problem(1), GeneralProblem.of(smith3d((4, 4, 3), 0.1, 0.1, 2))
    return [(two_way, PathRepair(two_way)), (general, CoverRepair(general, Context()))]


@pytest.mark.parametrize("which", [0, 1], ids=["paths", "cover"])
def test_whatever_is_made_is_safe(which: int) -> None:
    problem, repair = repairs()[which]
    random, size = np.random.default_rng(1), problem.weight.size
    made = [repair.first(attempt, Clock()) for attempt in range(repair.starts)]
    made += [repair.guided(random.random(size), attempt, Clock()) for attempt in range(repair.guided_starts)]
    made.append(repair.given(problem.table.suppressible, Clock()))
    for pattern in (np.zeros(size, bool), problem.candidate.ravel(), made[0]):
        mended = repair.mended(pattern, Clock())
        assert mended is not None
        made.append(mended)
    for pattern in made:
        assert pattern.shape == (size,)
        assert not (pattern & ~problem.candidate.ravel()).any()
        assert audit(problem.table, problem.pattern(pattern), intervals=False).safe


def test_what_is_safe_needs_no_mending() -> None:
    for _, repair in repairs():
        first = repair.first(0, Clock())
        mended = repair.mended(first, Clock())
        assert mended is not None
        assert not (mended & ~first).any()


def test_patterns_of_general_tables_come_with_circuits_that_prove_them() -> None:
    problem = GeneralProblem.of(smith3d((5, 4, 4), 0.1, 0.1, 2))
    repair = CoverRepair(problem, Context())
    first, everything = repair.first(0, Clock()), problem.candidate.ravel()
    assert repair.circuits(everything) is None
    assert repair.mended(everything, Clock()) is everything
    for pattern in (first, everything):
        circuits = repair.circuits(pattern)
        assert circuits is not None
        suppressed = problem.pattern(pattern)
        assert hold(AllowedChanges.of(problem.table, suppressed), circuits).all()
        assert suppressed[circuits.cell].all()
        proven = {(int(cell), amount > 0) for cell, amount in zip(circuits.cell, circuits.amount, strict=True)}
        needed = zip(problem.requirements.cell, problem.requirements.direction, strict=True)
        assert {(int(cell), direction > 0) for cell, direction in needed} <= proven


def test_the_circuits_of_the_dearest_patterns_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_REMEMBERED", 1)
    problem = GeneralProblem.of(smith3d((5, 4, 4), 0.1, 0.1, 2))
    repair = CoverRepair(problem, Context())
    first, everything = repair.first(0, Clock()), problem.candidate.ravel()
    repair.mended(everything, Clock())
    assert repair.circuits(first) is not None
    assert repair.circuits(everything) is None
    two_way = small_problem(1)
    assert PathRepair(two_way).circuits(two_way.candidate.ravel()) is None


def test_what_a_point_suppresses_is_nearly_free() -> None:
    x = np.array([0.0, 0.5, 1.0, 1.0 - 1e-9])
    assert np.allclose(left_over(x), [1.02, 0.52, 0.02, 0.02])
    assert wholly(x).tolist() == [False, False, True, True]
    problem = small_problem(1)
    point = problem.candidate.ravel().astype(float)
    costs = guided_costs(problem, point)
    assert np.allclose(costs.cost[problem.candidate], 0.02 * problem.weight[problem.candidate])
    table = smith3d((4, 4, 3), 0.1, 0.1, 2)
    everything = np.ones(len(table))
    assert np.allclose(priced(table, everything).weight, 20 * table.weight)
    assert whole_cells(table, everything).tolist() == table.suppressible.tolist()
