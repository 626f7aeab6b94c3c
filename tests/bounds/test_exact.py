"""Optima and bounds of tiny tables against all patterns."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.bounds.exact import exact, lower_bound
from gpuga.context import Context
from gpuga.errors import Infeasible
from tests.brute_force import cheapest_cost, is_safe
from tests.planes import random_plane_table


def tiny(seed: int):
    """3x2 or 2x3 internal cells in all varieties: bounds, gaps, frozen and suppressed cells, sliding levels."""
    rows, columns = (3, 2) if seed % 2 else (2, 3)
    return random_plane_table(
        rows,
        columns,
        seed,
        largest=12,
        sensitive=0.2 + 0.1 * (seed % 3),
        bounded=seed % 3 == 0,
        gaps=seed % 7 == 0,
        sliding=seed % 5 == 0,
    )


@pytest.mark.parametrize("part", range(10))
def test_exact_is_right_and_the_bound_below_on_tiny_tables(part):
    for seed in range(20 * part, 20 * part + 20):
        table = tiny(seed)
        strict = seed % 4 == 3
        least = cheapest_cost(table, strict)
        if least is None:
            with pytest.raises(Infeasible):
                exact(table, Context(strict=strict))
            continue
        found = exact(table, Context(strict=strict))
        assert is_safe(table, found.suppressed, strict)
        assert found.bound.lower_bound <= least
        assert lower_bound(table, Context(strict=strict)).lower_bound <= least
        if not table.levels.sliding.any():
            assert table.cost(found.suppressed) == least == found.bound.lower_bound


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_the_bound_is_never_above_the_optimum(part):
    for seed in range(1000 + 100 * part, 1100 + 100 * part):
        table = tiny(seed)
        least = cheapest_cost(table)
        if least is not None:
            assert lower_bound(table).lower_bound <= least


def test_a_table_that_needs_nothing_costs_nothing():
    table = random_plane_table(4, 4, 1, sensitive=0.0)
    found = exact(table, Context())
    assert table.cost(found.suppressed) == 0 == found.bound.lower_bound
    assert np.array_equal(found.suppressed, table.forced)
