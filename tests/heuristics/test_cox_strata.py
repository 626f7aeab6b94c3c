"""Castro's heuristic with Cox's strata: safe after recovery, failures counted, wide cells before narrow ones."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.heuristics.castro import castro
from gpuga.heuristics.cox_strata import by_strata
from gpuga.parameters import CastroParameters
from gpuga.problem.two_way import two_way_problem
from gpuga.table.generate import class1, class2, herrington
from gpuga.table.levels import Levels
from gpuga.table.table import INFINITE, Table
from gpuga.table.two_way import two_way_table
from tests.brute_force import is_safe
from tests.planes import plane_lines


@pytest.mark.parametrize("seed", range(4))
def test_patterns_are_safe_before_and_after_clean_up(seed: int) -> None:
    table = (herrington(12, 12, 0.03, seed), class2(10, 9, seed), class1(15, 12, seed, 0.05))[seed % 3]
    problem = two_way_problem(table, Context())
    secondary, failed = by_strata(problem, Context())
    assert is_safe(table, problem.pattern(secondary))
    found = castro(table, Context(), CastroParameters(as_published=True))
    assert is_safe(table, found.suppressed)
    assert found.details["failed_levels"] == failed


def test_a_level_that_disjoint_paths_cannot_meet_is_counted() -> None:
    """(0, 0) must rise by 2; what (1, 0) gives must be split over two cells that may rise by 1 each."""
    value = np.array([5, 5, 5, 15, 5, 5, 5, 15, 10, 10, 10, 30])
    status = np.array([1, 0, 0, 2, 0, 0, 0, 2, 2, 2, 2, 2], np.uint8)
    upper = np.where(status == 1, 2, 0)
    ub = np.full(12, INFINITE)
    ub[[5, 6]] = 6
    none = np.zeros(12, np.int64)
    table = Table.build(
        value, plane_lines(np.ones((3, 4), bool)), status=status, ub=ub, levels=Levels(none, upper, none)
    )
    assert two_way_table(table) is not None
    found = castro(table, Context(), CastroParameters(as_published=True))
    assert found.details["failed_levels"] == 1
    assert is_safe(table, found.suppressed)


def test_a_dear_cell_that_is_wide_comes_before_cheap_ones_that_are_narrow() -> None:
    # (0, 0) must rise by 4: over row 1 one dear cell (1, 1) carries all of it, the cheap ones of row 2 carry 1 each
    value = np.array([9, 9, 9, 27, 9, 90, 9, 108, 1, 1, 9, 11, 19, 100, 27, 146])
    status = np.array([1, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 2, 2, 2, 2], np.uint8)
    none = np.zeros(16, np.int64)
    levels = Levels(none, np.where(status == 1, 4, 0), none)
    table = Table.build(value, plane_lines(np.ones((4, 4), bool)), status=status, weight=value, levels=levels)
    found = castro(table, Context(), CastroParameters(as_published=True))
    assert found.suppressed[[1, 4, 5]].all()
    assert not found.suppressed[[8, 9]].any()


def test_the_clock_ends_it() -> None:
    clock = Clock()
    clock.interrupt()
    table = herrington(12, 12, 0.05, 1)
    with pytest.raises(OutOfTime):
        by_strata(two_way_problem(table, Context()), Context(clock=clock))
