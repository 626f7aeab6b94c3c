"""MIP neighbourhood search: safe patterns that are never dearer, and programs that leave alone what stays."""

from __future__ import annotations

import numpy as np
import pytest

import gpuga
from gpuga.bounds.incumbent import Best
from gpuga.bounds.neighbourhood import Neighbourhood, WholeProgram
from gpuga.bounds.repair.cover import CoverRepair
from gpuga.bounds.search import master_of, repair_of
from gpuga.context import Clock, Context
from gpuga.problem.general import GeneralProblem
from gpuga.problem.problem import problem_for
from gpuga.safety.audit import audit
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Mask, Table


@pytest.mark.parametrize(
    "table", [herrington(16, 16, 0.04, 2), smith3d((4, 4, 3), 0.1, 0.1, 2)], ids=["two-way", "3-d"]
)
def test_patterns_nearby_are_safe_and_not_dearer(table: Table) -> None:
    problem = problem_for(table)
    repair = repair_of(problem, Context())
    first = repair.first(0, Clock())
    master = master_of(problem, first)
    master.tighten(Clock(), rounds=8)
    best, near = Best(master, repair, first, Clock()), Neighbourhood(master, repair)
    for seed in range(6):
        pattern = near.improve(best.best, np.random.default_rng(seed), Clock())
        assert audit(table, problem.pattern(pattern), intervals=False).safe
        assert int(master.separator.weight[pattern].sum()) <= best.cost
        best.offer(pattern)
    assert problem.base_cost + best.cost >= gpuga.protect(table, "exact").scaled_cost
    assert near.work > 0


def test_what_stays_is_kept_and_what_is_not_free_is_published() -> None:
    problem = problem_for(herrington(16, 16, 0.04, 2))
    first = repair_of(problem, Context()).first(0, Clock())
    master = master_of(problem, first)
    master.tighten(Clock(), rounds=8)
    places = np.flatnonzero(first)
    free = np.zeros(len(first), bool)
    free[places[: len(places) // 2]] = True
    solved = WholeProgram(master, free, first).solve(first, 100, Clock())
    assert solved.pattern is not None
    assert solved.finished
    assert solved.pattern[places[len(places) // 2 :]].all()
    assert not solved.pattern[~first].any()
    assert solved.bound <= int(master.separator.weight[first & free].sum()) + 1e-6


@pytest.mark.parametrize("quick", [True, False])
def test_only_quick_repairs_mend_answers_that_are_cut_off_and_asked_again(quick: bool) -> None:
    problem = problem_for(smith3d((5, 5, 4), 0.1, 0.1, 2))
    repair = repair_of(problem, Context())
    first = repair.first(0, Clock())
    master = master_of(problem, first)  # hardly cut: answers violate much
    mended: list[Mask] = []

    class Counting(CoverRepair):
        def mended(self, pattern: Mask, clock: Clock) -> Mask | None:
            mended.append(pattern)
            return super().mended(pattern, clock)

    assert isinstance(problem, GeneralProblem)
    counting = Counting(problem, Context())
    counting.quick = quick
    near = Neighbourhood(master, counting)
    near.share = 0.9
    near.improve(first, np.random.default_rng(1), Clock())
    assert mended
    assert (len(mended) > 1) == quick
