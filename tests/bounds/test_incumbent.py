"""The incumbent: safe patterns only, ever cheaper, and no bound above its cost."""

from __future__ import annotations

import numpy as np

from gpuga.bounds.incumbent import BY_TREE, Best
from gpuga.bounds.repair.paths import PathRepair
from gpuga.bounds.search import master_of
from gpuga.context import Clock
from gpuga.safety.audit import audit
from tests.bounds.problems import small_problem


def incumbent(seed: int) -> Best:
    problem = small_problem(seed)
    repair = PathRepair(problem)
    first = repair.first(0, Clock())
    return Best(master_of(problem, first), repair, first, Clock())


def test_cheaper_patterns_are_taken_and_others_are_not() -> None:
    best = incumbent(1)
    cost, pattern = best.cost, best.best
    assert not best.offer(None)
    assert not best.offer(best.master.candidate)
    assert (best.cost, best.patterns) == (cost, 3)
    assert best.offer(np.zeros(len(pattern), bool))  # whoever offers answers for it
    assert best.cost == 0


def test_no_bound_is_above_the_cost() -> None:
    best = incumbent(1)
    best.raise_lower(best.cost - 1, BY_TREE)
    assert (best.lower, best.kind, best.proven) == (best.cost - 1, BY_TREE, False)
    best.raise_lower(3)
    assert best.lower == best.cost - 1
    best.raise_lower(best.cost + 100)
    assert best.lower == best.cost
    assert best.proven


def test_points_become_safe_patterns() -> None:
    for seed in (1, 3):
        best, problem = incumbent(seed), small_problem(seed)
        best.master.tighten(Clock())
        for x in (best.master.point(), np.zeros(len(best.best)), best.best.astype(float)):
            made = best.rounded(x)
            assert made is not None
            assert audit(problem.table, problem.pattern(made), intervals=False).safe
            assert best.try_point(x) <= problem.cost(made.reshape(problem.shape))
