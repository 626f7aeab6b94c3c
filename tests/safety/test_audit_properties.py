"""What holds of every audit, whatever the table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuga.errors import InputError
from gpuga.safety.audit import audit
from gpuga.safety.witness import AllowedChanges, hold, rationalise
from gpuga.table import INFINITE, Levels, Lines, Status, Table
from gpuga.table.builders import table_from_array
from gpuga.table.witnesses import Witnesses
from tests.support.small_tables import random_pattern, random_table

SHAPES = st.sampled_from([(3, 4), (4, 4), (2, 3, 2), (3, 3, 2)])


@settings(max_examples=60, deadline=None)
@given(SHAPES, st.integers(0, 10**6))
def test_hiding_one_more_cell_never_exposes_another(shape: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, shape)
    pattern = random_pattern(rng, table, 0.2)
    wider = pattern | random_pattern(rng, table, 0.2)
    assert set(audit(table, wider, intervals=False).unsafe) <= set(audit(table, pattern, intervals=False).unsafe)


@settings(max_examples=60, deadline=None)
@given(SHAPES, st.integers(0, 10**6))
def test_verdicts_and_intervals_agree(shape: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, shape, sliding=True)
    pattern = random_pattern(rng, table, 0.3)
    quick = {c.cell: c.safe for c in audit(table, pattern, intervals=False).cells}
    full = {c.cell: c.safe for c in audit(table, pattern).cells if c.kind == "primary"}
    assert quick == full


@settings(max_examples=40, deadline=None)
@given(SHAPES, st.integers(0, 10**6))
def test_what_is_strictly_safe_is_safe(shape: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, shape)
    pattern = random_pattern(rng, table, 0.4)
    loose = set(audit(table, pattern, intervals=False).unsafe)
    assert loose <= set(audit(table, pattern, strict=True, intervals=False).unsafe)


def two_by_two(upper: int) -> Table:
    """Four cells of 10 and their totals; one is sensitive. All four hidden, it can rise by 10 and fall by 10."""
    table = table_from_array(np.full((2, 2), 10))
    status = table.status.copy()
    status[0] = Status.SENSITIVE
    level = np.where(status == Status.SENSITIVE, upper, 0)
    return Table.build(table.value, table.lines, status=status, levels=Levels(level, level, 0 * level))


@pytest.mark.parametrize(("upper", "safe", "strictly"), [(9, True, True), (10, True, False), (11, False, False)])
def test_an_exact_tie_is_safe_unless_the_reading_is_strict(upper: int, safe: bool, strictly: bool) -> None:
    table = two_by_two(upper)
    square = table.value == 10
    assert audit(table, square).safe is safe
    assert audit(table, square, strict=True).safe is strictly


def test_a_pattern_that_publishes_a_primary_is_refused() -> None:
    table = two_by_two(5)
    with pytest.raises(InputError, match="publishes the sensitive"):
        audit(table, np.zeros(len(table), bool))


@pytest.mark.parametrize(
    ("amounts", "good"),
    [([5, -5, -5, 5], True), ([5, -5, -5, 4], False), ([11, -11, -11, 11], False), ([5, -5, 0, 0], False)],
)
def test_a_witness_holds_only_if_it_balances_and_stays_in_bounds(amounts: list[int], good: bool) -> None:
    table = two_by_two(5)
    square = np.flatnonzero(table.value == 10).astype(np.int32)
    allowed = AllowedChanges.of(table, table.value == 10)
    for denominator in (1, 3):
        scaled = np.array(amounts, np.int64) * denominator
        witness = Witnesses(np.array([0, 4]), square, scaled, np.array([denominator]))
        assert hold(allowed, witness)[0] == good
        wide = Witnesses(np.array([0, 4]), square, scaled.astype(object), np.array([denominator]))
        assert hold(allowed, wide)[0] == good


@pytest.mark.parametrize("kind", [np.int64, object])
@pytest.mark.parametrize(("amount", "good"), [(30, True), (31, False), (-30, True), (-31, False)])
def test_a_witness_may_not_pass_a_bound_by_a_fraction_of_a_unit(amount: int, good: bool, kind: type) -> None:
    """Every cell may fall by 10, so thirds may go down to -30, and one of four always falls."""
    table = two_by_two(5)
    square = np.flatnonzero(table.value == 10).astype(np.int32)
    amounts = np.array([amount, -amount, -amount, amount]).astype(kind)
    witness = Witnesses(np.array([0, 4]), square, amounts, np.array([3]))
    assert hold(AllowedChanges.of(table, table.value == 10), witness)[0] == good


@pytest.mark.parametrize("kind", [np.int64, object])
def test_an_imbalance_that_wraps_round_to_zero_is_seen(kind: type) -> None:
    """Three cells of one line whose amounts sum to 2**64, which is 0 in 64 bits."""
    table = Table.build(
        np.array([1, 1, 1, 3]),
        Lines(np.array([0, 4]), np.arange(4, dtype=np.int32), np.array([1, 1, 1, -1]), np.zeros(1, np.int64)),
        lb=np.full(4, -INFINITE),
    )
    amounts = np.array([2**62 + 2**61, 2**62 + 2**61, -(2**62)]).astype(kind)
    assert amounts.astype(object).sum() == 2**63
    cells = np.array([0, 1, 3], np.int32)
    witness = Witnesses(np.array([0, 3]), cells, amounts, np.array([1]))
    assert not hold(AllowedChanges.of(table, np.ones(4, bool)), witness)[0]


@pytest.mark.parametrize("intervals", [False, True])
def test_a_lone_secondary_is_determined_and_said_to_be_where_secondaries_count(intervals: bool) -> None:
    table = two_by_two(5)
    square = table.value == 10
    lone = square.copy()
    lone[4] = True  # the one total that is hidden follows from the published ones
    assert audit(table, square, protect_secondary=True, intervals=intervals).safe
    assert audit(table, lone, protect_secondary=True, intervals=intervals).unsafe == (4,)
    assert audit(table, lone, intervals=intervals).safe


def test_a_pattern_that_suppresses_a_frozen_cell_is_refused() -> None:
    table = two_by_two(5)
    status = table.status.copy()
    status[1] = Status.FROZEN
    frozen = Table.build(table.value, table.lines, status=status, levels=table.levels)
    with pytest.raises(InputError, match="cell 1, which must be published"):
        audit(frozen, table.value == 10)
    with pytest.raises(InputError, match="3 cells, the table 9"):
        audit(frozen, np.ones(3, bool))


def test_published_cells_may_not_move_in_a_witness() -> None:
    table = two_by_two(5)
    square = np.flatnonzero(table.value == 10).astype(np.int32)
    hidden = table.value == 10
    hidden[square[3]] = False
    witness = Witnesses(np.array([0, 4]), square, np.array([5, -5, -5, 5]), np.array([1]))
    assert not hold(AllowedChanges.of(table, hidden), witness)[0]


def test_fractions_are_read_off_floats() -> None:
    found = rationalise(np.array([1 / 3, -2.5, 4.0]))
    assert found is not None
    assert (found[0] / found[1]).tolist() == [1 / 3, -2.5, 4.0]
    assert rationalise(np.array([np.nan])) is None
