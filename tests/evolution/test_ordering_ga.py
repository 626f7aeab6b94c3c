"""Orderings: operators keep permutations, every variant ends in a safe pattern, runs can be repeated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuga.context import Clock, Context
from gpuga.errors import InputError
from gpuga.evolution.ordering_ga import OPERATORS, mutate, order_crossover, ordering_ga, ordering_ls
from gpuga.evolution.orderings import BoxEvaluator, OrderingVariant, evaluator_of, items_of
from gpuga.parameters import ITEMS, OrderingGaParameters, OrderingLsParameters
from gpuga.safety.audit import audit
from gpuga.table.generate import smith2d, smith3d


@given(st.integers(1, 30), st.integers(0, 10**6), st.sampled_from(OPERATORS))
def test_operators_keep_permutations(length: int, seed: int, operator: str) -> None:
    random = np.random.default_rng(seed)
    one, two = random.permutation(length).astype(np.int32), random.permutation(length).astype(np.int32)
    child = order_crossover(one, two, random)
    mutate(child, operator, random)
    assert sorted(child.tolist()) == list(range(length))


def test_a_child_of_equal_parents_is_their_like() -> None:
    order = np.random.default_rng(1).permutation(20).astype(np.int32)
    assert (order_crossover(order, order, np.random.default_rng(2)) == order).all()


@pytest.mark.parametrize("variant", ITEMS)
@pytest.mark.parametrize("shape", [(12, 6), (6, 5, 4)])
def test_every_variant_ends_in_a_safe_pattern(variant: str, shape: tuple[int, ...]) -> None:
    table = smith2d(*shape, 0.1, 0.1, 3) if len(shape) == 2 else smith3d(shape, 0.1, 0.1, 3)
    found = ordering_ga(table, Context(), OrderingGaParameters(variant=variant, generations=4))
    assert audit(table, found.suppressed, intervals=False, proof=found.proof).safe
    assert found.evaluations > 0 or not items_of(table, OrderingVariant(variant), False)


@pytest.mark.parametrize("mutation", ["swap", "insert", "invert", "self-adaptive"])
def test_the_local_search_with_every_mutation_can_be_repeated(mutation: str) -> None:
    table = smith3d((6, 5, 4), 0.15, 0.1, 4)
    parameters = OrderingLsParameters(variant=f"one-p:{mutation}", generations=6)
    one, two = (ordering_ls(table, Context(seed=5), parameters) for _ in range(2))
    assert (one.suppressed == two.suppressed).all()
    assert audit(table, one.suppressed, intervals=False).safe


def test_more_generations_are_never_dearer() -> None:
    table = smith2d(40, 6, 0.1, 0.1, 5)
    costs = [
        table.cost(ordering_ga(table, Context(), OrderingGaParameters(variant="one-p", generations=g)).suppressed)
        for g in (1, 20)
    ]
    assert costs[1] <= costs[0]


def test_unknown_variants_are_named() -> None:
    table = smith3d((5, 4, 3), 0.1, 0.1, 1)
    for variant in ("two-p", "ku:jump"):
        with pytest.raises(InputError, match="unknown"):
            ordering_ga(table, Context(), OrderingGaParameters(variant=variant))


@pytest.mark.parametrize("hierarchical", [0, 1])
def test_orderings_cost_the_same_on_every_back_end(hierarchical: int) -> None:
    table = smith3d((8, 4, 3), 0.15, 0.1, 1, hierarchical)
    by_backend = []
    for backend in ("numpy", "cpu"):
        evaluator = evaluator_of(table, OrderingVariant("one-p"), Context(backend=backend))
        assert isinstance(evaluator, BoxEvaluator)
        rng = np.random.default_rng(3)
        orders = [rng.permutation(len(evaluator.items)).astype(np.int32) for _ in range(3)]
        by_backend.append(evaluator.costs(orders, Clock()))
    assert by_backend[0] == by_backend[1]
    assert min(by_backend[0]) > table.cost(table.forced)
