"""Exact solutions from inexact solvers: what is confirmed counts, what is not is no solution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from gpuga.safety import basis as module
from gpuga.safety.basis import ExactSystem, _confirmed, _integer_part, _lifted, _product, narrow


def solved(matrix: list[list[int]], right: list[int], solve: Callable[[np.ndarray], np.ndarray]) -> object:
    """Numerators and the denominator that come of a solver's floats."""
    found = _lifted(csr_array(np.array(matrix)), solve, np.array(right, dtype=object), bool)
    return None if found is None else ([int(n) for n in found[0]], found[1])


def thirds(*then: float) -> Callable[[np.ndarray], np.ndarray]:
    """A solver of 3 x = r that answers well once and then as it is told."""
    answers = list(then)
    calls: list[int] = []

    def solve(right: np.ndarray) -> np.ndarray:
        calls.append(1)
        if len(calls) > 1 and answers:
            return np.array([answers.pop(0)])
        return right / 3

    return solve


def test_a_solver_that_goes_astray_makes_no_wrong_solution() -> None:
    assert solved([[3]], [7], thirds()) == ([7], 3)
    assert solved([[3]], [9], thirds()) == ([3], 1)
    for astray in (np.nan, np.inf, 2.0**24, -(2.0**24), 2.0**60):
        assert solved([[3]], [7], thirds(astray)) is None
    assert solved([[3]], [7], lambda r: np.zeros(len(r))) is None
    assert solved([[3]], [7], lambda r: np.full(len(r), np.nan)) is None
    assert solved([[3]], [7], lambda r: r / 5) is None


def test_a_little_inexactness_costs_nothing() -> None:
    assert solved([[3]], [7], lambda r: r / 3 * (1 + 1e-9)) == ([7], 3)
    assert solved([[3]], [10**30], lambda r: r / 3 * (1 - 1e-9)) == ([10**30], 3)


def test_integers_of_any_length_are_split_off_in_a_few_rounds() -> None:
    matrix = csr_array(np.array([[3]]))
    for right in (1, 10**15, 10**20, 10**100):
        found = _integer_part(matrix, lambda r: r / 3, np.array([right], dtype=object))
        assert found is not None
        whole, rest = found
        assert 3 * int(whole[0]) + int(rest[0]) == right
        assert abs(int(rest[0])) <= 2
        assert rest.dtype == np.int64
    assert _integer_part(matrix, lambda r: r / 3, np.array([10**200], dtype=object)) is None
    assert _integer_part(matrix, lambda r: r * np.inf, np.array([1], dtype=object)) is None


def test_a_small_solution_of_large_numbers_is_found() -> None:
    matrix = csr_array(np.array([[2**30]]))
    found = _integer_part(matrix, lambda r: r / 2**30, np.array([2**70], dtype=object))
    assert found is not None
    assert (int(found[0][0]), found[1].tolist()) == (2**40, [0])


@pytest.mark.parametrize(("most", "found"), [(56, False), (57, True)])
def test_a_denominator_is_looked_for_among_as_many_digits_as_are_allowed(
    most: int, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3**20 has 32 binary digits: 56 known ones are too few for it, 112 are enough."""
    monkeypatch.setattr(module, "MOST_DIGITS", most)
    count = 20
    dense = np.diag(np.full(count, 3)) - np.diag(np.ones(count - 1, np.int64), -1)
    made = ExactSystem.of(csc_array(dense))
    assert made is not None
    right = np.zeros(count, np.int64)
    right[0] = 1
    result = made.solve(right)
    assert (result is not None) == found
    if result is not None:
        assert result[1] == 3**count
        assert [int(n) for n in result[0]] == [3 ** (count - 1 - i) for i in range(count)]


def test_only_what_solves_every_equation_is_confirmed() -> None:
    matrix = csr_array(np.array([[2, 0, 1], [0, 3, 0]]))
    assert _product(matrix, np.array([10**30, 1, 2], dtype=object)).tolist() == [2 * 10**30 + 2, 3]
    good = np.array([1, 2, 3], dtype=object)
    assert _confirmed(matrix, good, 1, np.array([5, 6]))
    assert _confirmed(matrix, 7 * good, 7, np.array([5, 6]))
    assert not _confirmed(matrix, good, 1, np.array([5, 7]))
    assert not _confirmed(matrix, good, 2, np.array([5, 6]))


def test_one_number_that_is_too_wide_keeps_all_of_them_wide() -> None:
    for numbers in ([2**61, 0], [0, -(2**61)], [5, 2**70, -5]):
        assert narrow(np.array(numbers, dtype=object)).dtype == object
