"""Repairs: whatever they are given, what they make is safe."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.bounds.repair.cover import CoverRepair, priced, whole_cells
from gpuga.bounds.repair.paths import PathRepair, guided_costs
from gpuga.bounds.repair.repair import Repair, left_over, wholly
from gpuga.context import Clock, Context
from gpuga.problem.general import GeneralProblem
from gpuga.problem.problem import TableProblem
from gpuga.safety.audit import audit
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
