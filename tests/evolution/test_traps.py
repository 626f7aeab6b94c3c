"""DEAP's traps, met on purpose."""

from __future__ import annotations

import random

import numpy as np
import pytest
from deap import base, creator, tools

import gpuga
from gpuga.errors import GpugaError
from gpuga.evolution.deap_toolbox import Bits
from gpuga.evolution.engine import new_toolbox
from gpuga.evolution.individual import Cost, assign
from gpuga.table.table import Table

SHORT = {"generations": 2, "population": 16}


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -float("inf")])
def test_ours_refuses_costs_that_are_no_numbers(cost: float) -> None:
    with pytest.raises(GpugaError, match="not a number"):
        Cost((cost,))


def test_large_costs_compare_exactly() -> None:
    assert Cost((2**60,)) > Cost((2**60 + 1,))
    assert Cost((2**60 + 1,)).values == (2**60 + 1,)


def test_a_short_map_result_is_refused_instead_of_shrinking_the_population() -> None:
    toolbox = new_toolbox()
    toolbox.register("evaluate", lambda group: [(1,)] * (len(group) - 1))
    with pytest.raises(GpugaError, match="2 results for 3 individuals"):
        assign(toolbox, [Bits([z]) for z in range(3)])


def test_the_whole_group_goes_to_evaluate_in_one_call() -> None:
    calls = []
    toolbox = new_toolbox()
    toolbox.register("evaluate", lambda group: calls.append(len(group)) or [(1,)] * len(group))
    assert assign(toolbox, [Bits([z]) for z in range(5)]) == 5
    assert calls == [5]


def test_two_point_crossover_does_not_alias() -> None:
    one, two = Bits([1, 2, 3, 4, 5, 6]), Bits([11, 12, 13, 14, 15, 16])
    before = random.getstate()
    tools.cxTwoPoint(one, two)
    random.setstate(before)
    together = sorted([*one, *two])
    assert together == [1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16]


def test_a_clone_shares_nothing_with_its_original() -> None:
    one = Bits([1, 2, 3])
    one.fitness.values = (5,)
    twin = base.Toolbox().clone(one)
    twin[0] = 9
    del twin.fitness.values
    assert list(one) == [1, 2, 3]
    assert one.fitness.values == (5,)


@pytest.mark.parametrize("method", ["circuits", "heurgene", "gensup", "gapn"])
def test_no_class_is_created_globally_and_the_global_generators_decide_nothing(plane: Table, method: str) -> None:
    before = set(vars(creator))
    first = gpuga.protect(plane, method, seed=4, options=SHORT)
    random.seed(99)
    np.random.seed(99)  # noqa: NPY002
    second = gpuga.protect(plane, method, seed=4, options=SHORT)
    assert np.array_equal(first.suppressed, second.suppressed)
    assert set(vars(creator)) == before


@pytest.mark.parametrize("method", ["circuits", "heurgene"])
def test_a_run_draws_nothing_from_the_global_generators(plane: Table, method: str) -> None:
    state, legacy = random.getstate(), np.random.get_state()[1].copy()  # noqa: NPY002
    gpuga.protect(plane, method, seed=4, options=SHORT)
    assert random.getstate() == state
    assert np.array_equal(np.random.get_state()[1], legacy)  # noqa: NPY002
