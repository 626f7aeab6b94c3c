"""What a difference from an earlier pattern costs."""

from __future__ import annotations

import numpy as np
import pytest

import gpuga
from gpuga.errors import InputError
from gpuga.table.generate import herrington, smith3d
from gpuga.table.likeness import Likeness
from gpuga.table.table import Table

TABLES = [herrington(12, 12, 0.06, 3), smith3d((5, 5, 4), 0.15, 0.1, 2)]


def earlier(table: Table) -> np.ndarray:
    """Last year's pattern: a safe one that is far from the cheapest."""
    return gpuga.protect(table, "hypercube", seed=1).suppressed


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "three-way"])
def test_the_dearer_a_difference_the_fewer_cells_change_and_costs_are_the_true_ones(table: Table) -> None:
    last = earlier(table)
    plain = gpuga.protect(table, "exact", seed=1)
    near, nearer = (gpuga.protect(table, "exact", seed=1, like=Likeness(last, percent=p)) for p in (30, 99))
    apart = [int((one.suppressed ^ last).sum()) for one in (plain, near, nearer)]
    assert apart[2] <= apart[1] <= apart[0]
    assert apart[2] < apart[0]
    assert near.scaled_cost == table.cost(near.suppressed) >= plain.scaled_cost
    assert nearer.audit.safe
    assert nearer.likeness is not None
    assert nearer.likeness.changes(nearer.suppressed).difference == apart[2]


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "three-way"])
def test_a_bound_is_one_of_the_true_cost(table: Table) -> None:
    optimum = gpuga.protect(table, "exact", seed=1)
    assert optimum.optimal
    like = gpuga.protect(table, "exact", seed=1, like=earlier(table))
    assert like.bound is None or like.bound.lower_bound <= optimum.scaled_cost


def test_priced_weights_follow_what_the_earlier_pattern_says_of_a_cell() -> None:
    table = herrington(4, 4, 0.1, 1)
    before, known = np.zeros((2, len(table)), bool)
    before[:3], known[:6] = True, True
    priced = Likeness(before, known, 20).priced(table)
    factors = np.repeat([80, 120, 100], [3, 3, len(table) - 6])
    assert (priced.weight == table.weight * factors).all()
    assert priced.weight_scale == 100 * table.weight_scale


def test_changes_count_only_cells_that_the_earlier_pattern_knows() -> None:
    before, known, now = np.zeros((3, 6), bool)
    before[[0, 1]], known[[0, 1, 2, 3]], now[[1, 2, 5]] = True, True, True
    changes = Likeness(before, known).changes(now)
    assert (changes.kept, changes.added, changes.dropped, changes.difference) == (1, 1, 1, 2)


def test_the_earlier_pattern_to_start_from_hides_primaries_and_publishes_frozen_cells() -> None:
    table = herrington(6, 6, 0.1, 1)
    start = Likeness(~table.forced).start(table)
    table.check_pattern(start)
    assert start[table.suppressible].all()


@pytest.mark.parametrize("percent", [0, 100, -3])
def test_percentages_that_mean_nothing_are_refused(percent: int) -> None:
    with pytest.raises(InputError, match=r"--like-weight: .* between 1 and 99"):
        Likeness(np.zeros(3, bool), percent=percent)


def test_a_pattern_of_another_table_is_refused() -> None:
    table = herrington(5, 5, 0.1, 1)
    with pytest.raises(InputError, match=f"has 3 cells, the table {len(table)}"):
        gpuga.protect(table, "hypercube", like=np.zeros(3, bool))


def test_weights_that_leave_no_room_for_prices_are_refused() -> None:
    table = herrington(5, 5, 0.1, 1)
    table.weight[:] = 2**54
    with pytest.raises(InputError, match="too large to price differences"):
        Likeness(table.primary).priced(table)
