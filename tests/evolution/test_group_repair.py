"""Groups of patterns are repaired at once: safe, around what they were, the same for any number of threads."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from gpuga.context import Clock, Context
from gpuga.evolution.group_repair import GroupRepair
from gpuga.kernels import Stream
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from gpuga.safety.audit import audit
from gpuga.table.generate import herrington
from gpuga.table.table import Mask


@pytest.fixture(scope="module")
def problem() -> TwoWayProblem:
    return two_way_problem(herrington(14, 12, 0.06, 5), Context())


def some_starts(problem: TwoWayProblem, count: int) -> list[Mask]:
    random = np.random.default_rng(3)
    return [problem.candidate.ravel() & (random.random(problem.weight.size) < 0.05) for _ in range(count)]


def repaired(problem: TwoWayProblem, starts: list[Mask], clean: bool) -> list[Mask]:
    return GroupRepair(problem, Context(), Stream(1, 2)).repaired(starts, clean)


@pytest.mark.parametrize("clean", [False, True])
def test_every_pattern_of_a_group_becomes_safe(problem: TwoWayProblem, clean: bool) -> None:
    starts = some_starts(problem, 9)
    made = repaired(problem, starts, clean)
    assert len(made) == len(starts)
    for start, pattern in zip(starts, made, strict=True):
        assert audit(problem.table, problem.pattern(pattern.reshape(problem.shape)), intervals=False).safe
        assert clean or not (start & ~pattern).any()
        assert not (pattern & problem.forced.ravel()).any()


def test_clean_up_only_takes_away(problem: TwoWayProblem) -> None:
    starts = some_starts(problem, 6)
    for whole, cleaned in zip(repaired(problem, starts, False), repaired(problem, starts, True), strict=True):
        assert not (cleaned & ~whole).any()
        assert cleaned.sum() < whole.sum()


def test_the_number_of_threads_changes_nothing(problem: TwoWayProblem) -> None:
    starts, before = some_starts(problem, 11), numba.get_num_threads()
    made = []
    try:
        for threads in (1, before):
            numba.set_num_threads(threads)
            made.append(np.stack(repaired(problem, starts, True)))
    finally:
        numba.set_num_threads(before)
    assert (made[0] == made[1]).all()


def test_none_is_begun_when_the_time_is_up(problem: TwoWayProblem) -> None:
    over = Clock(1e-9)
    assert GroupRepair(problem, Context(clock=over), Stream(1, 2)).repaired(some_starts(problem, 3), True) == []
