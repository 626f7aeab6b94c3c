"""Minimum-cost flows: no linear program finds a cheaper one, and what carries them is suppressed."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.optimize import linprog

from gpuga.circuits.min_cost_flow import priced, protect_by_flow
from gpuga.errors import Infeasible
from gpuga.problem.two_way import TwoWayProblem, problem_of
from gpuga.safety.network import PUBLISHED, SECONDARY
from gpuga.table.two_way import two_way_table
from tests.planes import random_plane_table


@njit
def _met(pattern, everything, own, forward, need):  # type: ignore[no-untyped-def]
    return protect_by_flow(pattern, everything, own, forward, need)


def cheapest_flow(problem: TwoWayProblem, own: int, forward: bool, need: int) -> float:
    """The least cost per unit of a counter-flow by HiGHS: a column per place and direction."""
    rows, columns = problem.shape
    places = np.setdiff1d(np.flatnonzero(problem.forced | problem.candidate), [own])
    balance = np.zeros((rows + columns, 2 * len(places)))
    for z, place in enumerate(places.tolist()):
        ends = place // columns, rows + place % columns
        for side in range(2):
            balance[ends[side], 2 * z + side] -= 1
            balance[ends[1 - side], 2 * z + side] += 1
    right = np.zeros(rows + columns)
    row, column = own // columns, rows + own % columns
    right[column], right[row] = (-need, need) if forward else (need, -need)
    price = np.where(problem.forced, 0, problem.weight).ravel()[places]
    bounds = [(0, int(room)) for room in problem.capacity[places].ravel()]
    found = linprog(np.repeat(price, 2), A_eq=balance, b_eq=right, bounds=bounds, method="highs")
    assert found.success
    return float(found.fun)


def test_a_flow_costs_what_the_linear_program_costs_and_its_places_become_free() -> None:
    seen = 0
    for seed in range(40):
        plane = two_way_table(random_plane_table(5, 6, seed, bounded=seed % 2 == 0))
        assert plane is not None
        try:
            problem = problem_of(plane, False)
        except Infeasible:
            continue
        for own, forward, need in zip(*(part.tolist() for part in problem.levels), strict=True):
            pattern, everything = problem.network(), priced(problem)
            weight = everything.price.copy()
            assert _met(pattern, everything, own, forward, need)
            added = pattern.kind.ravel() == SECONDARY
            assert (everything.price[added] == 0).all()
            published = pattern.kind.ravel() == PUBLISHED
            assert np.array_equal(everything.price[published], weight[published])
            # every place that was added carries one unit at least, and never more than is needed
            best = cheapest_flow(problem, own, forward, need)
            assert weight[added].sum() <= best + 1e-6
            assert best <= need * weight[added].sum() + 1e-6
            assert everything.network.touched.size[0] == 0
            seen += bool(added.any())
    assert seen > 20


def test_a_level_that_nothing_can_carry_changes_nothing() -> None:
    plane = two_way_table(random_plane_table(6, 6, 4, bounded=True))
    assert plane is not None
    problem = problem_of(plane, False)
    own = int(problem.levels.place[0])
    pattern, everything = problem.network(), priced(problem)
    assert not _met(pattern, everything, own, bool(problem.levels.forward[0]), 10**9)
    assert np.array_equal(pattern.kind == PUBLISHED, ~problem.forced)
    assert np.array_equal(everything.price, np.where(problem.forced, 0, problem.weight).ravel())
