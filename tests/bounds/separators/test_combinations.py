"""Combinations of rows modulo two: elimination keeps what it says, and all odd pairs below the limit are seen."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.bounds.separators.capacity_cuts import plain_cut
from gpuga.bounds.separators.line_cuts import SparseCut
from gpuga.bounds.separators.zero_half import (
    LEAST_VIOLATION,
    MOST_MEMBERS,
    OneOf,
    _best_pairs,
    _eliminate,
    _packed,
    half_cuts,
    half_of,
    odd_combinations,
)
from gpuga.safety.network import Network


def unpacked(words: np.ndarray, count: int) -> np.ndarray:
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :count].astype(bool)


@pytest.mark.parametrize("width", [0, 1, 63, 64, 65, 130])
def test_bits_are_packed_in_order(width: int) -> None:
    bits = np.random.default_rng(width).random((5, width)) < 0.5
    words = _packed(bits)
    assert words.shape == (5, max(1, (width + 63) // 64))
    assert np.array_equal(unpacked(words, width), bits)
    assert not unpacked(words, 64 * words.shape[1])[:, width:].any()


def instance(seed: int, rows: int = 9, columns: int = 7) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    odd = rng.random((rows, columns)) < 0.4
    slack = np.where(rng.random(rows) < 0.6, 0.0, rng.random(rows) * 0.6)
    return odd, rng.integers(0, 2, rows), slack, rng.choice([0.0, 0.05, 0.2, 0.5], columns)


@pytest.mark.parametrize("columns", [7, 70])
def test_eliminated_rows_are_sums_of_the_rows_that_they_name(columns: int) -> None:
    for seed in range(15):
        odd, parity, slack, _ = instance(seed, 9, columns)
        left, members = _packed(odd), _packed(np.eye(9, dtype=bool))
        new_parity, new_slack = parity.astype(np.int64), slack.copy()
        _eliminate(left, members, new_parity, new_slack, columns)
        named = unpacked(members, 9).astype(int)
        assert np.array_equal(unpacked(left, columns), named @ odd.astype(int) % 2 == 1)
        assert np.array_equal(new_parity, named @ parity % 2)
        assert new_slack == pytest.approx(named @ slack)
        # a column that stands in several rows has no tight row left that could clear it
        pivots = 0
        for column in range(columns):
            holding = np.flatnonzero(unpacked(left, columns)[:, column])
            pivots += len(holding) == 1
        tight = np.flatnonzero(slack < 1e-6)
        assert pivots >= rank(odd[tight]) or columns > 64


def rank(bits: np.ndarray) -> int:
    """The rank modulo two."""
    rows, found = [int("0" + "".join("1" if b else "0" for b in row), 2) for row in bits], 0
    while rows:
        if pivot := rows.pop():
            found += 1
            rows = [min(row, row ^ pivot) if row ^ pivot < row else row for row in rows]
    return found


def test_only_tight_rows_are_added_to_others() -> None:
    odd = np.array([[1, 0], [1, 1], [0, 1]], bool)
    left, members = _packed(odd), _packed(np.eye(3, dtype=bool))
    parity, slack = np.ones(3, np.int64), np.array([0.3, 0.0, 0.2])
    _eliminate(left, members, parity, slack, 2)
    assert unpacked(members, 3).tolist() == [[True, True, False], [False, True, False], [False, False, True]]
    assert slack.tolist() == [0.3, 0.0, 0.2]
    assert parity.tolist() == [0, 1, 1]
    left, members = _packed(odd), _packed(np.eye(3, dtype=bool))
    parity, slack = np.ones(3, np.int64), np.array([0.3, 0.1, 0.2])
    _eliminate(left, members, parity, slack, 2)
    assert np.array_equal(unpacked(members, 3), np.eye(3, dtype=bool))


@pytest.mark.parametrize("columns", [7, 70])
def test_all_odd_rows_and_pairs_below_the_limit_are_seen(columns: int) -> None:
    seen = 0
    for seed in range(10):
        odd, parity, slack, _ = instance(seed, 8, columns)
        weight = np.random.default_rng(seed).choice([0.0, 0.05, 0.25] if columns < 64 else [0.0, 0.01], columns)
        limit = 0.75
        expected = {}
        for a in range(8):
            for b in range(a, 8):
                both = odd[a] if a == b else odd[a] ^ odd[b]
                total = (slack[a] if a == b else slack[a] + slack[b]) + weight[both].sum()
                odd_side = parity[a] if a == b else parity[a] ^ parity[b]
                if odd_side and total < limit - 1e-9:
                    expected[a, b] = total
        pairs, totals = _best_pairs(_packed(odd), parity.astype(np.int64), slack, weight, limit)
        found = dict(zip(map(tuple, pairs.tolist()), totals.tolist(), strict=True))
        assert {pair for pair, total in found.items() if total < limit - 1e-9} == set(expected)
        for pair, total in expected.items():
            assert found[pair] == pytest.approx(total)
        seen += len(found)
    assert seen > 40


@pytest.mark.parametrize("seed", range(12))
def test_combinations_are_odd_light_and_hardly_overlap(seed: int) -> None:
    odd, parity, slack, weight = instance(seed, 10, 6)
    found = odd_combinations(odd, parity, slack, weight, 5)
    totals = []
    used: set[int] = set()
    for rows in found:
        assert 1 < len(rows) <= MOST_MEMBERS
        assert parity[rows].sum() % 2 == 1
        total = slack[rows].sum() + weight[odd[rows].sum(axis=0) % 2 == 1].sum()
        assert total < 1 - 2 * LEAST_VIOLATION
        totals.append(total)
        assert 2 * len(used & set(rows.tolist())) <= len(rows)
        used |= set(rows.tolist())
    assert totals == sorted(totals)
    assert len(found) <= 5
    assert [r.tolist() for r in odd_combinations(odd, parity, slack, weight, 1)] == [r.tolist() for r in found[:1]]


def test_a_combination_that_exists_is_found() -> None:
    triangle = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], bool)
    half = np.full(3, 0.5)
    (rows,) = odd_combinations(triangle, np.ones(3, np.int64), np.zeros(3), half, 4)
    assert rows.tolist() == [0, 1, 2]
    assert odd_combinations(triangle, np.array([1, 1, 0]), np.zeros(3), half, 4) == []
    assert odd_combinations(triangle, np.ones(3, np.int64), np.array([0.0, 0.0, 0.97]), half, 4) == []
    (rows,) = odd_combinations(triangle, np.ones(3, np.int64), np.array([0.0, 0.0, 0.9]), half, 4)
    assert rows.tolist() == [0, 1, 2]
    alone = odd_combinations(np.array([[True], [False]]), np.array([1, 0]), np.zeros(2), np.array([0.2]), 4)
    assert alone == [] or [r.tolist() for r in alone] == [[0, 1]]


NET = Network(np.full((3, 3), 5), np.zeros((3, 3), np.int64))


def column_cut(*rows: int) -> OneOf:
    """At least one of the places of the first column in these rows."""
    sides = np.zeros(3, np.uint8)
    sides[list(rows)] = 1
    return OneOf(plain_cut(NET, sides, np.array([0, 1, 1], np.uint8), 5))


EVERY = np.arange(9)


def halved(members: tuple[OneOf, ...], complemented: np.ndarray) -> SparseCut:
    half = half_of(members, complemented, EVERY)
    assert half is not None
    return half


def point(*values: float) -> np.ndarray:
    """A point whose first column has some values."""
    x = np.zeros(9)
    x[[0, 3, 6]] = values
    return x


def test_half_of_three_pairs_says_two_of_three() -> None:
    pairs = tuple(column_cut(*rows) for rows in ((0, 1), (1, 2), (0, 2)))
    places = np.array([0, 3, 6])
    (half,) = half_cuts(pairs, EVERY, point(0.5, 0.5, 0.5), 4)
    assert (half.rhs, half.scale) == (2, 2)
    assert half.coefficients(places).tolist() == [1, 1, 1]
    assert half.coefficients(EVERY).tolist() == [1, 0, 0, 1, 0, 0, 1, 0, 0]
    assert half.coefficients(np.array([3, 1])).tolist() == [1, 0]
    assert half_cuts((), EVERY, point(0.5, 0.5, 0.5), 4) == []
    assert half_cuts(pairs, EVERY, point(1.0, 1.0, 1.0), 4) == []


def test_a_complemented_place_lowers_both_sides() -> None:
    pairs = tuple(column_cut(*rows) for rows in ((0, 1), (0, 2)))
    none = halved(pairs, np.zeros(0, np.int64))
    assert none.rhs == 1
    assert none.coefficients(np.array([0, 3, 6])).tolist() == [1, 1, 1]
    three = halved((*pairs, column_cut(0)), np.array([0]))
    assert three.rhs == 1
    assert three.coefficients(np.array([0, 3, 6])).tolist() == [1, 1, 1]
    both = halved((*pairs, column_cut(1, 2)), np.array([3, 6]))
    assert both.rhs == 1
    assert both.coefficients(np.array([0, 3, 6])).tolist() == [1, 1, 1]
    assert half_of((column_cut(0),), np.array([0]), EVERY) is None
    assert none.key == halved(pairs[::-1], np.zeros(0, np.int64)).key
    assert none.key == three.key  # two ways to say the same
    assert none.key != halved((*pairs, column_cut(1)), np.zeros(0, np.int64)).key


def test_combinations_may_share_half_of_their_rows_and_no_more() -> None:
    parity, slack = np.array([1, 0, 1]), np.array([0.1, 0.1, 0.2])
    nothing = np.zeros((3, 1), bool)
    found = odd_combinations(nothing, parity, slack, np.zeros(1), 4)
    assert [rows.tolist() for rows in found] == [[0, 1], [1, 2]]
    assert [rows.tolist() for rows in odd_combinations(nothing, parity, slack, np.zeros(1), 1)] == [[0, 1]]


def test_a_half_that_asks_for_a_single_place_is_kept() -> None:
    pairs = tuple(column_cut(*rows) for rows in ((0, 1), (0, 2)))
    places = np.array([0, 3, 6])
    (half,) = half_cuts(pairs, EVERY, point(0.3, 0.7, 0.2), 4)
    assert half.origin[1].tolist() == [3]
    assert half.rhs == 1
    assert half.coefficients(places).tolist() == [1, 0, 1]
