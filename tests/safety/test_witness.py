"""Witnesses: what is kept of them, how far they stretch, and what is read from a solver's floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gpuga.safety.witness import AllowedChanges, hold, rationalise, stretch, times, together, witness_of
from gpuga.table import INFINITE, Lines, Table
from gpuga.table.witnesses import Witnesses


def two(up: int = 10, down: int = 10, coef: tuple[int, int] = (1, 1)) -> AllowedChanges:
    """Two cells in one equation that may rise and fall by so much."""
    lines = Lines(np.array([0, 2]), np.arange(2, dtype=np.int32), np.array(coef), np.zeros(1, np.int64))
    room = np.array([up, up]), np.array([down, down])
    table = Table.build(np.zeros(2, np.int64), lines, ub=room[0], lb=-room[1])
    return AllowedChanges.of(table, np.ones(2, bool))


@pytest.mark.parametrize("kind", [np.int64, object])
def test_a_bound_is_reached_and_not_passed_by_any_part_of_a_unit(kind: type) -> None:
    def holds(*amounts: int, over: int = 1, allowed: AllowedChanges = two(up=10, down=7)) -> bool:  # noqa: B008
        witness = Witnesses(
            np.array([0, 2]), np.arange(2, dtype=np.int32), np.array(amounts).astype(kind), np.array([over])
        )
        return bool(hold(allowed, witness)[0])

    assert holds(7, -7)
    assert holds(-7, 7)
    assert not holds(8, -8)
    assert holds(21, -21, over=3)
    assert not holds(22, -22, over=3)
    assert holds(0, 0)
    free = two(up=INFINITE, down=INFINITE)
    assert holds(10**15, -(10**15), allowed=free)
    assert not holds(10**15, -(10**15) + 1, allowed=free)
    odd = two(coef=(2, 3))
    assert holds(3, -2, allowed=odd)
    assert not holds(2, -3, allowed=odd)


def test_published_cells_do_not_move() -> None:
    lines = Lines(np.array([0, 3]), np.arange(3, dtype=np.int32), np.ones(3, np.int64), np.array([30]))
    allowed = AllowedChanges.of(Table.build(np.full(3, 10), lines), np.array([True, True, False]))
    assert allowed.up.tolist()[2] == allowed.down.tolist()[2] == 0
    assert hold(allowed, witness_of(np.array([0, 1], np.int32), np.array([3, -3])))[0]
    assert not hold(allowed, witness_of(np.array([0, 2], np.int32), np.array([3, -3])))[0]
    assert not hold(allowed, witness_of(np.array([0, 2], np.int32), np.array([-3, 3])))[0]
    assert hold(allowed, witness_of(np.zeros(0, np.int32), np.zeros(0, np.int64)))[0]


def test_a_cell_in_several_lines_must_balance_in_each() -> None:
    lines = Lines(np.array([0, 2, 4]), np.array([0, 1, 0, 2], np.int32), np.array([1, 1, 1, -1]), np.zeros(2, np.int64))
    table = Table.build(np.zeros(3, np.int64), lines, lb=np.full(3, -9), ub=np.full(3, 9))
    allowed, cells = AllowedChanges.of(table, np.ones(3, bool)), np.arange(3, dtype=np.int32)
    parts = [witness_of(cells, np.array(a)) for a in ([1, -1, 1], [1, -1, 2], [1, -2, 1], [0, 0, 1], [-4, 4, -4])]
    assert hold(allowed, together(parts)).tolist() == [True, False, False, False, True]


def test_a_witness_times_a_number_is_the_same_move_further_or_back() -> None:
    witness = witness_of(np.array([3, 5], np.int32), np.array([4, -6]), 5)
    for factor in (Fraction(5, 2), Fraction(-1), Fraction(1, 7), Fraction(10**30)):
        cells, amounts, denominator = times(witness, factor).one(0)
        assert cells.tolist() == [3, 5]
        assert denominator >= 1
        assert [Fraction(int(a), denominator) for a in amounts] == [factor * Fraction(4, 5), factor * Fraction(-6, 5)]
    assert times(witness, Fraction(5)).denominator.tolist() == [1]
    assert times(witness, Fraction(10**30)).amount.dtype == object
    assert times(witness, Fraction(3)).amount.dtype == np.int64


@pytest.mark.parametrize("kind", [np.int64, object])
def test_a_witness_stretches_to_the_nearest_of_its_bounds_either_way(kind: type) -> None:
    lines = Lines(np.array([0, 3]), np.arange(3, dtype=np.int32), np.ones(3, np.int64), np.zeros(1, np.int64))
    table = Table.build(np.zeros(3, np.int64), lines, ub=np.array([12, 30, INFINITE]), lb=np.array([-8, -9, -10]))
    allowed = AllowedChanges.of(table, np.ones(3, bool))
    witness = Witnesses(
        np.array([0, 3]), np.arange(3, dtype=np.int32), np.array([6, -1, -5]).astype(kind), np.array([2])
    )
    assert stretch(allowed, witness, 0) == 4  # 12 against 3, 9 against 1/2, 10 against 5/2
    assert stretch(allowed, witness, 0, -1) == Fraction(8, 3)  # 8 against 3, 30 against 1/2
    far = Witnesses(
        np.array([0, 2]), np.array([0, 2], np.int32), np.array([10**12, -(10**12)]).astype(kind), np.array([7])
    )
    assert stretch(allowed, far, 0) == Fraction(7 * 10, 10**12)
    both = together([far, witness])
    assert stretch(allowed, both, 1) == 4


def test_large_floats_are_read_as_far_as_they_are_whole() -> None:
    found = rationalise(np.array([2.0**52 - 1, -5.0]))
    assert found is not None
    assert (found[0].tolist(), found[1]) == ([2**52 - 1, -5], 1)
    assert rationalise(np.array([2.0**52])) is None
    assert rationalise(np.array([-(2.0**52)])) is None
    empty = rationalise(np.zeros(0))
    assert empty is not None
    assert (len(empty[0]), empty[1]) == (0, 1)


def test_noise_in_the_last_digits_is_not_read() -> None:
    for noise in (1e-7, -1e-7, 9e-7):
        found = rationalise(np.array([3 + noise, 0.5 - noise / 2, -2 - noise]))
        assert found is not None
        assert (found[0].tolist(), found[1]) == ([6, 1, -4], 2)
    found = rationalise(np.array([1 / 7, 2 + 1 / 11 + 1e-8]))
    assert found is not None
    assert [Fraction(int(a), found[1]) for a in found[0]] == [Fraction(1, 7), Fraction(23, 11)]
    assert found[1] == 77


def test_a_common_denominator_that_is_too_long_is_not_formed() -> None:
    """499 * 491 * 487 * 479 has 36 binary digits: beside numbers of 2**23 it fits, beside 2**25 it does not."""
    parts = [1 / 499, 1 / 491, 1 / 487, 1 / 479]
    found = rationalise(np.array([*parts, 2.0**23]))
    assert found is not None
    assert found[1] == 499 * 491 * 487 * 479
    assert rationalise(np.array([*parts, 2.0**25])) is None
