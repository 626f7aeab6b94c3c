"""Patterns as individuals: what they cost, and that copies share nothing."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from gpuga.context import Context
from gpuga.evolution.patterns import PatternIndividual, evaluate_patterns, given_patterns, same_places
from gpuga.kernels import get_backend
from gpuga.problem.two_way import two_way_problem
from gpuga.safety.audit import audit
from gpuga.table.table import Table


@pytest.mark.parametrize("backend", ["numpy", "cpu"])
def test_a_group_costs_the_weights_of_its_places(backend: str) -> None:
    rng = np.random.default_rng(2)
    weight = rng.integers(1, 1000, 90)
    group = [PatternIndividual(np.flatnonzero(rng.random(90) < share)) for share in (0.0, 0.1, 0.5, 1.0)]
    assert evaluate_patterns(get_backend(backend), weight, group) == [(int(weight[one.places].sum()),) for one in group]


def test_a_copy_shares_no_places_and_keeps_the_cost() -> None:
    one = PatternIndividual(np.array([3, 5]))
    one.fitness.values = (12,)
    twin = deepcopy(one)
    assert same_places(one, twin)
    assert twin.fitness.values == (12,)
    twin.places[0] = 4
    assert one.places.tolist() == [3, 5]
    assert not same_places(one, twin)
    assert np.array_equal(PatternIndividual.of(one.grid((2, 4))).places, one.places)


def test_given_patterns_are_completed_until_they_are_safe(plane: Table) -> None:
    nothing, everything = plane.forced.copy(), plane.forced | plane.suppressible
    context = Context(start=(nothing, everything))
    problem = two_way_problem(plane, context)
    assert not audit(plane, nothing).safe
    for found in given_patterns(problem, problem.costs(), context):
        assert audit(plane, problem.pattern(found)).safe
