"""Elimination in integers: changes near any point that keep every equation, whatever its coefficients."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csc_array

from gpuga.safety.vertex import (
    Eliminated,
    _back,
    _back_in_rationals,
    _eliminate,
    _hard_rows,
    _over_one_denominator,
    eliminated,
    exact_near,
)


def near(dense: np.ndarray, x: np.ndarray, parts: int = 1) -> tuple[list[int], int] | None:
    matrix = csc_array(dense)
    made = exact_near(x, matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data, parts)
    return None if made is None else ([int(a) for a in made[0].tolist()], made[1])


def kept(dense: np.ndarray, amounts: list[int]) -> bool:
    return all(sum(int(c) * a for c, a in zip(row, amounts, strict=True)) == 0 for row in dense.tolist())


def simple(rng: np.random.Generator, rows: int, columns: int, largest: int) -> np.ndarray:
    """Equations each of which has an unknown of its own with the coefficient -1 or 1."""
    dense = rng.integers(-largest, largest + 1, (rows, columns)) * (rng.random((rows, columns)) < 0.5)
    dense[:, :rows] = np.diag(rng.choice([-1, 1], rows))
    return dense[:, rng.permutation(columns)]


def hard(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Equations without any coefficient of -1 or 1."""
    dense = rng.choice([-3, -2, 0, 2, 3], (rows, columns))
    dense[:, :2] = 2
    return dense


@pytest.mark.parametrize("kind", ["sums", "large", "hard", "both"])
def test_a_change_near_any_point_keeps_equations_with_any_coefficients(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    moved = parted = 0
    for _ in range(60):
        rows, columns = int(rng.integers(1, 5)), int(rng.integers(6, 11))
        dense = simple(rng, rows, columns, 1 if kind == "sums" else 70_001) if kind != "hard" else hard(rng, 2, columns)
        if kind == "both":
            dense = np.block([[dense, np.zeros((rows, 5))], [np.zeros((2, columns)), hard(rng, 2, 5)]]).astype(np.int64)
        x = rng.normal(0, 40, dense.shape[1])
        if kind == "sums":
            x *= rng.random(len(x)) < 0.9
        made = near(dense.astype(np.int64), x, 4)
        assert made is not None
        amounts, denominator = made
        assert kept(dense, amounts)
        assert not any(a for a, v in zip(amounts, x, strict=True) if v == 0)
        assert denominator % 4 == 0
        moved += any(amounts)
        parted += denominator > 4
    assert moved > 30
    assert (parted > 10) == (kind in ("hard", "both"))


def test_products_of_large_coefficients_do_not_wrap_round() -> None:
    dense = np.array([[1, -70_001, 0, 0], [70_001, 0, -1, 1]])
    made = near(dense, np.array([70_001.0, 1.0, 3.0, 5.0]))
    assert made is not None
    assert kept(dense, made[0])
    assert made[0][0] == 70_001 * made[0][1] != 0
    assert near(np.array([[1, -(2**21), 0], [2**21, 0, -1]]), np.ones(3)) is None  # beyond what is looked at


def test_whole_changes_that_keep_the_equations_stay_as_they_are() -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        free = rng.integers(-9, 9, 4)
        dense = np.hstack([rng.integers(-3, 4, (3, 4)), -np.eye(3, dtype=np.int64)]).astype(np.int64)
        x = np.concatenate([free, dense[:, :4] @ free])
        made = near(dense, x.astype(float))
        assert made is not None
        assert made == (x.tolist(), 1)


def test_rows_without_a_simple_pivot_are_solved_in_fractions() -> None:
    made = near(np.array([[2, 3, 0], [0, 3, 5]]), np.array([9.0, -6.0, 4.0]))
    assert made is not None
    amounts, denominator = made
    assert kept(np.array([[2, 3, 0], [0, 3, 5]]), amounts)
    assert denominator in (1, 2, 3, 5, 10)
    assert any(amounts)
    two = near(np.array([[2, 2, 2, 0], [2, 2, 0, 2]]), np.array([3.0, 4.0, -7.0, -7.0]))
    assert two is not None
    assert kept(np.array([[2, 2, 2, 0], [2, 2, 0, 2]]), two[0])


def test_what_is_no_point_has_no_change_near_it() -> None:
    one = np.array([[1, -1]])
    assert near(one, np.array([np.nan, 1.0])) is None
    assert near(one, np.array([2.0**52, 1.0])) is None
    assert near(one, np.array([2.0**50, 2.0**50]), 4) is None
    assert near(one, np.zeros(2)) == ([0, 0], 1)
    only = near(np.array([[1, 1]]), np.array([5.0, 0.0]))  # alone in its equation it cannot move
    assert only is not None
    assert only[0] == [0, 0]


def test_lines_are_eliminated_once_for_many_changes() -> None:
    rng = np.random.default_rng(6)
    complete = 0
    for _ in range(60):
        rows, columns = int(rng.integers(1, 5)), int(rng.integers(4, 9))
        dense = rng.choice([-1, 0, 0, 1], (rows, columns)).astype(np.int64)
        line, column = np.nonzero(dense)
        if not len(line):
            continue
        made = eliminated(rows, line, column, dense[line, column], columns, 10_000)
        assert made is not None
        if len(made.hard):
            continue
        complete += 1
        pivots = set(made.pivot.tolist())
        assert len(pivots) == len(made.pivot) == np.linalg.matrix_rank(dense)
        for _ in range(3):
            guess = rng.integers(-9, 9, columns)
            change = made.completed(guess)
            assert not (dense @ change).any()
            assert all(change[c] == guess[c] for c in range(columns) if c not in pivots)
    assert complete > 30
    assert eliminated(1, np.zeros(3, np.int64), np.arange(3), np.ones(3, np.int64), 3, 2) is None
    stuck = eliminated(1, np.zeros(2, np.int64), np.array([0, 2]), np.array([2, 3]), 3, 99)
    assert stuck is not None
    assert stuck.hard.tolist() == [0, 2]


def rank_of(rows: list[list[int]]) -> int:
    """The rank in rationals."""
    left, found = [[Fraction(v) for v in row] for row in rows], 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((r for r in range(found, len(left)) if left[r][column]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for r in range(found + 1, len(left)):
            ratio = left[r][column] / left[found][column]
            left[r] = [a - ratio * b for a, b in zip(left[r], left[found], strict=True)]
        found += 1
    return found


def rows_of(dense: np.ndarray, *pivot: int) -> Eliminated:
    """Rows as if they were eliminated, with the pivots given."""
    return Eliminated(*compressed(dense), np.array(pivot, np.int32))


def compressed(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    line, column = np.nonzero(dense)
    begin = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=len(dense)))]).astype(np.int64)
    return begin, column.astype(np.int32), dense[line, column].astype(np.int64)


@pytest.mark.parametrize("kind", ["sums", "any"])
def test_elimination_keeps_the_solutions_and_ends_in_steps(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    easy = hard_ones = 0
    for _ in range(80):
        rows, columns = int(rng.integers(1, 7)), int(rng.integers(2, 9))
        dense = rng.choice([-1, 0, 0, 1] if kind == "sums" else [-3, -2, 0, 0, 1, 2, 3], (rows, columns))
        made = _eliminate(*compressed(dense), columns, 10**6, 2**40)
        assert made is not None
        begin, column, value, pivot = made
        found = np.zeros((len(pivot), columns), np.int64)
        for r in range(len(pivot)):
            span = slice(begin[r], begin[r + 1])
            assert (value[span] != 0).all()
            found[r, column[span]] = value[span]
        assert rank_of(found.tolist()) == rank_of(dense.tolist())
        assert rank_of([*found.tolist(), *dense.tolist()]) == rank_of(dense.tolist())
        for r, p in enumerate(pivot.tolist()):
            if p < 0:
                assert (np.abs(found[r]) != 1).all()
                hard_ones += 1
                continue
            easy += 1
            assert abs(found[r, p]) == 1
            assert not found[r + 1 :, p].any()
    assert easy > 100
    assert hard_ones > 5


def test_pivots_are_units_in_rare_columns_and_the_shortest_row_comes_first() -> None:
    dense = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [0, 1, 0, 2]])
    made = _eliminate(*compressed(dense), 4, 99, 2**40)
    assert made is not None
    begin, column, value, pivot = made
    rows = [dict(zip(column[a:b].tolist(), value[a:b].tolist(), strict=True)) for a, b in pairwise(begin.tolist())]
    assert rows == [{0: 1}, {1: 1, 3: 2}, {2: 1, 3: -2}]
    assert pivot.tolist() == [0, 1, 2]
    rare = _eliminate(*compressed(np.array([[1, 1, 1], [0, 1, 1], [1, 0, 1]])), 3, 99, 2**40)
    assert rare is not None
    assert rare[3].tolist() == [1, 0, 2]


def test_an_equation_that_says_nothing_new_leaves_no_row() -> None:
    same = _eliminate(*compressed(np.array([[1, 1], [1, 1]])), 2, 99, 2**40)
    assert same is not None
    assert same[3].tolist() == [0]


def test_elimination_that_fills_in_or_grows_too_far_is_given_up() -> None:
    entries = compressed(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]))
    assert _eliminate(*entries, 4, 12, 2**40) is not None
    assert _eliminate(*entries, 4, 11, 2**40) is None
    grows = compressed(np.array([[1, 5, 0], [4, 0, 1]]))
    assert _eliminate(*grows, 3, 99, 20) is not None
    assert _eliminate(*grows, 3, 99, 19) is None


def test_hard_rows_are_solved_in_rationals() -> None:
    dense = np.array([[2, 3, 0], [2, 0, 5]])
    solved = _hard_rows(rows_of(dense, -1, -1), np.array([0.4, 1.6, 3.0]))
    for row in dense.tolist():
        assert sum(v * solved[k] for k, v in enumerate(row) if v) == 0
    assert any(solved[k] == round([0.4, 1.6, 3.0][k]) for k in range(3))
    assert any(solved.values())
    twice = np.array([[2, 3], [4, 6]])
    again = _hard_rows(rows_of(twice, -1, -1), np.array([0.0, 2.0]))
    assert again == {0: -3, 1: 2}
    assert _hard_rows(rows_of(twice, 0, -1), np.array([0.0, 2.0])) == {0: -3, 1: 2}
    assert _hard_rows(rows_of(twice, 0, 1), np.zeros(2)) == {}


def test_pivots_follow_from_fractions_already_solved() -> None:
    lines = rows_of(np.array([[1, 2, 0, 0], [0, 0, -1, 4]]), 0, 2)
    parts = _back_in_rationals(lines, np.array([9.0, 2.4, 9.0, 9.0]), {3: Fraction(1, 2)})
    assert parts == [-4, 2, 2, Fraction(1, 2)]


def test_amounts_stand_over_one_denominator() -> None:
    amounts, denominator = _over_one_denominator(3, {0: Fraction(1, 2), 1: Fraction(-2, 3)})
    assert (amounts.tolist(), denominator) == ([3, -4, 0], 6)
    assert amounts.dtype == np.int64
    wide, _ = _over_one_denominator(1, {0: Fraction(2**60)})
    assert wide.dtype == object
    narrow, _ = _over_one_denominator(1, {0: Fraction(2**60 - 1)})
    assert narrow.dtype == np.int64
    mixed, _ = _over_one_denominator(2, {0: Fraction(2**60)})
    assert mixed.dtype == object
    tiny, over = _over_one_denominator(1, {0: Fraction(1, 2**60)})
    assert (tiny.dtype, over) == (object, 2**60)


def test_solving_back_keeps_free_components_and_ends_where_numbers_grow() -> None:
    lines = rows_of(np.array([[1, 2, 3], [0, -1, 5]]), 0, 1)
    made = _back(lines, lines.solvable, np.array([7, 7, 2]), 2**40)
    assert made is not None
    assert made.tolist() == [-20 - 6, 10, 2]
    assert _back(lines, lines.solvable, np.array([0, 0, 2**40]), 2**31) is None
    assert _back(lines, np.array([1]), np.array([0, 0, 1024]), 5) is not None
    assert _back(lines, np.array([1]), np.array([0, 0, 1025]), 5) is None


def test_equations_are_eliminated_shortest_first_whatever_their_order() -> None:
    dense = np.array([[1, 1, 1], [0, 1, 0]])
    line, column = np.nonzero(dense)
    made = eliminated(2, line, column, dense[line, column], 3, 99)
    assert made is not None
    assert made.pivot.tolist()[0] == 1
    assert made.solvable.tolist() == [1, 0]


def test_large_changes_are_completed_without_loss() -> None:
    made = eliminated(1, np.zeros(2, np.int64), np.array([0, 1]), np.array([1, -1]), 2, 99)
    assert made is not None
    assert made.completed(np.array([2**35, 2**35])).tolist() == [2**35, 2**35]
    assert made.completed(np.array([2**51, 2**51])).tolist() == [0, 0]  # too large to be looked at


def test_components_are_looked_at_in_parts_only_as_far_as_floats_are_whole() -> None:
    free = np.array([[1, -1, 0]])
    assert near(free, np.array([1.0, 1.0, 2.0**50]), 2) == ([2, 2, 2**51], 2)
    assert near(free, np.array([1.0, 1.0, 2.0**50]), 4) is None


def test_a_row_that_says_nothing_new_does_not_end_the_others() -> None:
    lines = rows_of(np.array([[2, 3, 0, 0], [4, 6, 0, 0], [0, 0, 2, 5]]), -1, -1, -1)
    assert _hard_rows(lines, np.array([0.0, 2.0, 0.0, 3.0])) == {0: -3, 1: 2, 2: Fraction(-15, 2), 3: 3}


@pytest.mark.parametrize(("rows", "found"), [(40, True), (41, False)])
def test_so_many_rows_without_a_simple_pivot_are_solved_and_no_more(rows: int, found: bool) -> None:
    dense = np.zeros((rows, 2 * rows), np.int64)
    for row in range(rows):
        dense[row, 2 * row : 2 * row + 2] = 2, 3
    made = near(dense, np.full(2 * rows, 6.0))
    assert (made is not None) == found
    if made is not None:
        assert kept(dense, made[0])


def test_a_change_that_grows_beyond_all_numbers_is_given_up() -> None:
    dense = np.array([[1, -(2**10)]])
    assert near(dense, np.array([1.0, 2.0**40])) == ([2**50, 2**40], 1)
    assert near(dense, np.array([1.0, 2.0**41])) is None
