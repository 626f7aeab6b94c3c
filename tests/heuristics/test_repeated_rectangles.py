"""Herrington's rectangles until every cell is safe, and his rule for redundant suppressions."""

from __future__ import annotations

from itertools import product

import numpy as np

import gpuga
from gpuga.context import Context
from gpuga.heuristics.hypercube import levels_by_cell
from gpuga.heuristics.repeated_rectangles import rectangles_until_safe, without_crowded
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from gpuga.table.generate import class2, herrington
from gpuga.table.levels import Levels
from gpuga.table.table import Table
from tests.brute_force import is_safe
from tests.planes import plane_lines


def _shuffled(problem: TwoWayProblem, seed: int) -> np.ndarray:
    return levels_by_cell(problem, np.random.default_rng(seed).permutation(len(np.unique(problem.levels.place))))


def one_sensitive() -> Table:
    """3 by 3 cells inside, one of them sensitive."""
    return next(
        table for seed in range(99) if len((table := herrington(3, 3, 0.12, seed)).sensitive) == 1
    )  # fmt: skip


def test_one_cell_gets_its_cheapest_rectangle_that_carries_the_level() -> None:
    table = one_sensitive()
    problem = two_way_problem(table, Context())
    found = rectangles_until_safe(problem, np.arange(len(problem.levels.place)))
    rows, columns = problem.shape
    cheapest = min(
        problem.cost(mask)
        for i, j in product(range(rows), range(columns))
        if (mask := _rectangle(problem, i, j)) is not None and is_safe(table, problem.pattern(mask))
    )
    assert found.failed == 0
    assert problem.cost(found.secondary) <= 2 * cheapest  # upper and lower level may take one each


def _rectangle(problem, i, j):
    r, c = divmod(int(problem.levels.place[0]), problem.shape[1])
    mask = np.zeros(problem.shape, bool)
    mask[[i, i, r], [j, c, j]] = True
    return mask if i != r and j != c and (problem.candidate | ~mask).all() else None


def test_patterns_are_safe_in_every_order() -> None:
    for seed in range(6):
        table = (herrington(12, 12, 0.03, seed), class2(12, 9, seed))[seed % 2]
        problem = two_way_problem(table, Context())
        if not len(problem.levels.place):
            continue
        found = rectangles_until_safe(problem, _shuffled(problem, seed))
        assert is_safe(table, problem.pattern(found.secondary))


def test_redundant_cells_go_only_where_row_and_column_have_more_than_two() -> None:
    table = herrington(12, 12, 0.03, 4)
    problem = two_way_problem(table, Context())
    everything = problem.candidate.copy()
    left = without_crowded(problem, everything)
    assert is_safe(table, problem.pattern(left))
    hidden = left | problem.forced
    assert hidden.any(axis=1).sum() == (everything | problem.forced).any(axis=1).sum()  # no row ends below two
    assert hidden.sum(axis=1)[(everything | problem.forced).any(axis=1)].min() >= 2


def test_random_orders_keep_the_levels_of_a_cell_together() -> None:
    problem = two_way_problem(herrington(12, 12, 0.05, 1), Context())
    places = problem.levels.place[_shuffled(problem, 3)]
    assert sorted(places.tolist()) == sorted(problem.levels.place.tolist())
    assert 1 + int((places[1:] != places[:-1]).sum()) == len(np.unique(places))


def test_hypercube_as_published_runs_ten_random_orders_and_repeats() -> None:
    table = herrington(15, 15, 0.02, 2)
    found = [gpuga.protect(table, method="hypercube", options={"as_published": True}, seed=5) for _ in range(2)]
    assert (found[0].suppressed == found[1].suppressed).all()
    assert found[0].found.evaluations == 10
    assert found[0].audit.safe
    assert found[0].found.details["runs"] == 10


def test_a_level_that_no_single_rectangle_carries_is_counted_and_met_by_several() -> None:
    # (0, 0) must rise by 4; every other cell of its row and column can give way by 2 or 3 only
    value = np.array([9, 3, 3, 15, 2, 9, 9, 20, 3, 9, 9, 21, 14, 21, 21, 56])
    status = np.array([1, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 2, 2, 2, 2], np.uint8)
    none = np.zeros(16, np.int64)
    levels = Levels(none, np.where(status == 1, 4, 0), none)
    table = Table.build(value, plane_lines(np.ones((4, 4), bool)), status=status, weight=value, levels=levels)
    problem = two_way_problem(table, Context())
    found = rectangles_until_safe(problem, np.arange(len(problem.levels.place)))
    assert (found.failed, found.narrow) == (0, 1)
    assert is_safe(table, problem.pattern(found.secondary))
