"""Small tables are settled at once, and what is called proven there is the optimum."""

from __future__ import annotations

import numpy as np
import pytest

import gpuga
from gpuga.bounds.small_instance import small, solve_small
from gpuga.context import Clock, Context
from gpuga.problem.two_way import problem_of, two_way_problem
from gpuga.table.generate import class1, class2, herrington
from gpuga.table.table import Table
from gpuga.table.two_way import two_way_table


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("make", [lambda s: class1(12, 10, s), lambda s: herrington(12, 12, 0.05, s)])
def test_what_is_proven_at_once_is_what_the_exact_method_finds(make: object, seed: int) -> None:
    table: Table = make(seed)  # type: ignore[operator]
    plane = two_way_table(table)
    assert plane is not None
    problem = problem_of(plane, strict=False)
    found = solve_small(problem, Clock())
    assert found.proven
    assert problem.base_cost + found.cost == gpuga.protect(table, "exact").scaled_cost


def test_when_the_time_is_up_the_pattern_is_safe_and_the_bound_holds() -> None:
    table = class2(20, 20, 3)
    optimum = gpuga.protect(table, "exact").scaled_cost
    short = gpuga.protect(table, "circuits", clock=Clock(1e-6))
    assert short.audit.safe
    assert optimum <= short.scaled_cost
    problem = two_way_problem(table, Context())
    found = solve_small(problem, Clock(1e-6))
    assert gpuga.audit(table, problem.pattern(found.best), intervals=False).safe
    assert problem.base_cost + found.lower <= optimum <= problem.base_cost + found.cost


def test_a_large_table_is_not_tried() -> None:
    plane = two_way_table(herrington(60, 60, 0.02, 1))
    assert plane is not None
    assert not small(problem_of(plane, strict=False))


def test_the_outcome_depends_on_the_table_alone() -> None:
    table = herrington(18, 18, 0.03, 2)
    first, second = (gpuga.protect(table, "circuits", seed=seed) for seed in (1, 2))
    assert np.array_equal(first.suppressed, second.suppressed)
