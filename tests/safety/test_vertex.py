"""Elimination in integers: changes near any point that keep every equation, whatever its coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array

from gpuga.safety.vertex import eliminated, exact_near


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
