"""Zero-half cuts: they hold wherever their members hold, and cut the point off."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpuga.bounds.separators.capacity_cuts import (
    plain_cut,
)
from gpuga.bounds.separators.derivations import Derivations
from gpuga.bounds.separators.line_cuts import SparseCut
from gpuga.bounds.separators.lines import _statements
from gpuga.bounds.separators.zero_half import OneOf, half_cuts, half_of, odd_combinations
from gpuga.safety.network import Network
from tests.bounds.problems import small_problem


def test_half_of_an_odd_cycle_is_rounded_up() -> None:
    """Columns are shared: cut i names two of three columns; over the columns they make a triangle."""
    matrix = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], bool)
    (rows,) = odd_combinations(matrix, np.ones(3, np.int64), np.zeros(3), np.full(3, 0.5), 5)
    assert rows.tolist() == [0, 1, 2]
    assert odd_combinations(matrix, np.ones(3, np.int64), np.full(3, 0.4), np.full(3, 0.5), 5) == []
    assert odd_combinations(matrix, np.array([1, 1, 0]), np.zeros(3), np.full(3, 0.5), 5) == []


def test_combinations_of_rows_are_odd_and_stay_below_one() -> None:
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(60):
        rows, columns = int(rng.integers(3, 9)), int(rng.integers(2, 80))
        odd = rng.random((rows, columns)) < 0.3
        parity = rng.integers(0, 2, rows)
        slack = np.where(rng.random(rows) < 0.5, 0.0, rng.random(rows) * 0.5)
        weight = rng.random(columns) * rng.choice([0.02, 0.5])
        found = odd_combinations(odd, parity, slack, weight, 3)
        assert len(found) <= 3
        for members in found:
            seen += 1
            assert len(members) > 1
            assert parity[members].sum() % 2 == 1
            assert slack[members].sum() + weight[odd[members].sum(0) % 2 == 1].sum() < 0.96 + 1e-9
    assert seen > 30


def test_the_best_pair_of_rows_comes_first() -> None:
    """Rows with slack are not added to others, so pairs are all there is."""
    rng = np.random.default_rng(6)
    for _ in range(30):
        odd, parity = rng.random((6, 5)) < 0.4, rng.integers(0, 2, 6)
        slack, weight = rng.random(6) * 0.3 + 0.01, rng.random(5) * 0.3
        totals = {
            pair: slack[list(pair)].sum() + weight[odd[list(pair)].sum(0) % 2 == 1].sum()
            for pair in itertools.combinations(range(6), 2)
            if parity[list(pair)].sum() % 2
        }
        good = {pair: total for pair, total in totals.items() if total < 0.96}
        found = odd_combinations(odd, parity, slack, weight, 1)
        assert [tuple(rows.tolist()) for rows in found] == ([min(good, key=good.__getitem__)] if good else [])


def test_halves_hold_wherever_their_members_hold_and_cut_the_point_off() -> None:
    rng = np.random.default_rng(8)
    seen = complemented = 0
    for _ in range(60):
        rows, width = 6, int(rng.integers(4, 8))
        net = Network((rng.random((rows, width)) < 0.5).astype(np.int64), np.zeros((rows, width), np.int64))
        # every row is a cut over the columns of that row; places of one column are one cell
        cuts = [plain_cut(net, np.eye(rows, dtype=np.uint8)[i], np.zeros(width, np.uint8), 1) for i in range(rows)]
        cuts = [cut for cut in cuts if cut.coefficients(np.arange(rows * width)).sum() >= 2]
        every = np.arange(rows * width)
        dense = np.array([cut.coefficients(every) for cut in cuts])
        members = tuple(cuts[:3])
        if len(members) < 3:
            continue
        some = every[(dense[:3].sum(0) == 1) & (rng.random(len(every)) < 0.15)]
        half = half_of([OneOf(cut) for cut in members], some, every)
        if half is None:
            continue
        seen += 1
        complemented += len(some) > 0
        used = np.flatnonzero(dense[:3].any(0))
        if len(used) > 12:
            continue
        coefficients = half.coefficients(used)
        assert np.array_equal(half.coefficients(every)[used], coefficients)
        assert coefficients.min() >= 0
        assert coefficients.max() <= half.rhs == half.scale
        for bits in itertools.product((0, 1), repeat=len(used)):
            if (dense[:3][:, used] @ np.array(bits) >= 1).all():
                assert coefficients @ np.array(bits) >= half.rhs
    assert seen > 20
    assert complemented > 5
    one, other = (half_of([OneOf(cut) for cut in several], some, every) for several in (members, members[::-1]))
    assert (one is None and other is None) or one.key == other.key


def test_half_cuts_of_a_point_are_violated_by_it() -> None:
    rng = np.random.default_rng(9)
    seen = 0
    for seed in range(40):
        problem = small_problem(seed % 4 + 1)
        places = np.flatnonzero(problem.candidate.ravel())
        cuts = []
        while len(cuts) < 12:
            sides = (
                (rng.random(problem.shape[0]) < 0.3).astype(np.uint8),
                (rng.random(problem.shape[1]) < 0.3).astype(np.uint8),
            )
            cut = plain_cut(problem.net, *sides, 1)
            if 2 <= cut.coefficients(places).sum() <= 8:
                cuts.append(cut)
        x = np.zeros(problem.weight.size)
        x[places] = np.where(rng.random(len(places)) < 0.8, 0.5, 0.0)
        for half in half_cuts([OneOf(cut) for cut in cuts], np.arange(len(x)), x, 4):
            seen += 1
            assert half.coefficients(places) @ x[places] < half.rhs
    assert half_cuts([], np.arange(len(x)), x, 4) == []
    assert seen >= 3


def test_half_sums_hold_wherever_their_members_hold_and_cut_the_point_off() -> None:
    rng = np.random.default_rng(4)
    seen = 0
    for _ in range(80):
        cells = int(rng.integers(4, 8))
        cuts = []
        for _ in range(5):
            cell = np.sort(rng.choice(cells, int(rng.integers(2, 4)), replace=False))
            coef = rng.integers(1, 4, len(cell))
            rhs = int(rng.integers(1, coef.sum() + 1))
            cuts.append(SparseCut(cell, np.minimum(coef, rhs), rhs))
        z = rng.choice([0.0, 0.5, 0.6, 1.0], cells)
        for half in half_cuts([*cuts, *map(OneOf, cuts)], np.arange(cells), z, 4):
            seen += 1
            assert half.summed
            assert half.violation(z) > 0
            for bits in itertools.product((0.0, 1.0), repeat=cells):
                point = np.array(bits)
                if all(cut.violation(point) <= 0 for cut in cuts):
                    assert half.violation(point) <= 0
    assert seen > 15


def test_the_triangle_needs_two_of_its_corners() -> None:
    cuts = [SparseCut(np.array(pair), np.ones(2, np.int64), 1) for pair in ([0, 1], [1, 2], [0, 2])]
    (half,) = half_cuts(cuts, np.arange(3), np.full(3, 0.5), 4)
    assert (half.cell.tolist(), half.coef.tolist(), half.rhs) == ([0, 1, 2], [1, 1, 1], 2)
    assert half_cuts(cuts, np.arange(3), np.ones(3), 4) == []


def test_an_odd_ring_is_cut_off_only_where_as_many_statements_may_be_summed() -> None:
    size = 61
    ring = [SparseCut(np.sort([at, (at + 1) % size]), np.ones(2, np.int64), 1) for at in range(size)]
    z = np.full(size, 0.5)
    assert half_cuts(ring, np.arange(size), z, 4) == []
    assert half_cuts(ring, np.arange(size), z, 4, size - 1) == []
    (half,) = half_cuts(ring, np.arange(size), z, 4, size)
    assert (half.coef.tolist(), half.rhs) == ([1] * size, (size + 1) // 2)


@pytest.mark.parametrize(("rhs", "kept"), [(49, True), (50, True), (51, False), (0, False)])
def test_halves_are_in_small_numbers(rhs: int, kept: bool) -> None:
    cuts = [SparseCut(np.array([0, 1]), np.array([40, 60]), part) for part in (rhs, rhs)]
    half = half_of(cuts, np.zeros(0, np.int64), np.arange(2))
    assert (half is not None) is kept
    if half is not None:
        assert (half.cell.tolist(), half.coef.tolist(), half.rhs) == ([0, 1], [min(40, rhs), min(60, rhs)], rhs)


def test_a_half_complements_likely_cells_with_odd_coefficients() -> None:
    cuts = [
        SparseCut(np.array([0, 1, 2]), np.array([1, 2, 1]), 2),
        SparseCut(np.array([0, 2, 3]), np.array([2, 1, 3]), 3),
    ]
    half = half_of(cuts, np.array([0]), np.arange(4))
    assert half is not None  # 3 a + 2 b + 2 c + 3 d >= 5, less a
    assert (half.cell.tolist(), half.coef.tolist(), half.rhs) == ([0, 1, 2, 3], [1, 1, 1, 2], 2)
    assert half.summed
    assert half.origin[0] == "half"
    assert half.origin[1].tolist() == [0]
    unlikely = half_of(cuts, np.zeros(0, np.int64), np.arange(4))
    assert unlikely is not None
    assert (unlikely.coef.tolist(), unlikely.rhs) == ([2, 1, 1, 2], 3)
    assert half_of([SparseCut(np.array([0]), np.array([1]), 1)], np.zeros(1, np.int64), np.arange(1)) is None


def test_a_cut_says_what_it_says_in_small_integers_and_that_one_of_its_cells_is_suppressed() -> None:
    cell, coef = np.array([2, 5]), np.array([7, 4])

    def said(rhs: int, summed: bool = False) -> list[tuple[list[int], int]]:
        return [(s.coefficients(cell).tolist(), s.rhs) for s in _statements(SparseCut(cell, coef, rhs, summed, ("x",)))]

    assert said(50) == [([7, 4], 50), ([1, 1], 1)]
    assert said(51) == [([1, 1], 1)]
    assert said(1) == [([7, 4], 1)]
    assert said(9, summed=True) == [([7, 4], 9)]
    assert said(99, summed=True) == []
    both = list(_statements(SparseCut(cell, coef, 9, False, ("x",))))
    assert Derivations()._derivation(both) == [["x"], ["one", ["x"]]]


def test_a_half_of_positive_numbers_counts_no_column_for_more_than_it_asks() -> None:
    cuts = [SparseCut(np.array([0, 1]), np.array([1, 6]), 1), SparseCut(np.array([0, 2]), np.array([1, 1]), 1)]
    half = half_of(cuts, np.zeros(0, np.int64), np.arange(3))
    assert half is not None
    assert half.rhs == 1
    assert half.coefficients(np.arange(3)).tolist() == [1, 1, 1]
