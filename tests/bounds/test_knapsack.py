"""The best rounding of a knapsack row, against all covers and divisors that are looked at, in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numba import njit

from gpuga.bounds.knapsack import FINEST, LEAST_COVERED, LIKELY, MOST_SLACK, _violation, appended, best_rounding, step


@njit
def best(capacity, value, place, need, cover):
    return best_rounding(capacity, value, place, need, cover)


@njit
def missed(capacity, value, covered, left, divisor):
    return _violation(capacity, value, covered, left, divisor)


@njit
def behind(covers, end, cover, size):
    return appended(covers, end, cover, size)


def violation(capacity: list[int], value: list[float], cover: list[int], need: int, divisor: int) -> Fraction:
    """How far a point misses a row that is complemented, divided and rounded; -1 where it asks for nothing."""
    left = need - sum(capacity[z] for z in cover)
    rest = left % divisor
    rhs = Fraction(rest * -(-left // divisor))
    reached = Fraction(0)
    for z, (size, x) in enumerate(zip(capacity, value, strict=True)):
        signed = step(-size if z in cover else size, divisor, rest)
        reached += (-signed if z in cover else signed) * Fraction(x)
        rhs -= signed if z in cover else 0
    return 1 - reached / rhs if rhs > 0 else Fraction(-1)


def candidates(capacity: list[int], value: list[float], need: int) -> list[tuple[list[int], int]]:
    """Covers by falling value as long as something is left, each with the divisors that are tried."""
    slack = sum(x * size for x, size in zip(value, capacity, strict=True)) / need
    out, cover, left = [], [], need
    for e in range(-1, len(capacity)):
        if e >= 0:
            if capacity[e] >= left or value[e] < LEAST_COVERED:
                continue
            cover, left = [*cover, e], left - capacity[e]
        out.append((cover, 2 * need + 1))
        if slack >= MOST_SLACK or (e >= 0 and value[e] < LIKELY):
            continue
        sizes = [c for z, c in enumerate(capacity) if z not in cover and c < left]
        for divisor in [*sizes, *(left // parts + 1 for parts in (2, 3, 4))]:
            if divisor >= need // FINEST + 2 and left % divisor:
                out.append((cover, divisor))
    return out


def rows(count: int) -> list[tuple[list[int], list[float], int]]:
    """Random rows: small and large numbers, points of many zeros and ones, more or less slack."""
    rng = np.random.default_rng(5)
    made = []
    for _ in range(count):
        size = int(rng.integers(1, 9))
        largest = int(rng.choice([6, 40, 100_000]))
        capacity = rng.integers(1, largest, size).tolist()
        need = int(rng.integers(1, max(2, int(sum(capacity) * rng.choice([0.5, 1.0, 1.5])) + 1)))
        value = np.sort(rng.choice([0.0, 0.01, 0.02, 0.3, 0.5, 0.7, 1.0, rng.random()], size))[::-1].tolist()
        made.append(([min(c, need) for c in capacity], value, need))
    return made


def test_the_best_rounding_is_the_best_of_all_that_are_looked_at() -> None:
    divided = covered = slack = 0
    for capacity, value, need in rows(400):
        places = np.arange(len(capacity)) + 100
        cover = np.full(len(capacity), -1)
        found, size, divisor = best(np.array(capacity), np.array(value), places, need, cover)
        chosen = [int(place) - 100 for place in cover[:size]]
        every = candidates(capacity, value, need)
        most = max(violation(capacity, value, c, need, d) for c, d in every)
        assert found == pytest.approx(max(-1.0, float(most)), abs=1e-6)
        if most <= -1:
            continue
        assert float(violation(capacity, value, chosen, need, int(divisor))) == pytest.approx(found, abs=1e-6)
        assert (chosen, divisor) in every
        divided += divisor < need
        covered += size > 0
        slack += sum(x * c for x, c in zip(value, capacity, strict=True)) / need >= MOST_SLACK
    assert min(divided, covered, slack) > 20


def test_a_violation_is_what_it_is_in_fractions() -> None:
    rng = np.random.default_rng(6)
    asked = 0
    for capacity, value, need in rows(300):
        covered = rng.random(len(capacity)) < 0.4
        cover = np.flatnonzero(covered).tolist()
        left = need - sum(capacity[z] for z in cover)
        divisor = int(rng.integers(2, 2 * need + 2))
        exact = violation(capacity, value, cover, need, divisor)
        found = missed(np.array(capacity), np.array(value), covered, left, divisor)
        assert found == pytest.approx(float(exact), abs=1e-6)
        asked += exact > -1
    assert asked > 100


def test_covers_stand_one_behind_the_other_in_as_much_room_as_they_need() -> None:
    kept = np.array([1, 2, 3, 0, 0])
    same = behind(kept, 3, np.array([7, 8, 9]), 2)
    assert same.tolist() == [1, 2, 3, 7, 8]
    assert len(behind(same, 5, np.array([4]), 0)) == 5
    longer = behind(same, 5, np.array([4, 5, 6]), 3)
    assert longer[:8].tolist() == [1, 2, 3, 7, 8, 4, 5, 6]
    assert len(longer) == 16
    over = behind(longer, 2, np.array([6, 6]), 2)
    assert over[:5].tolist() == [1, 2, 6, 6, 8]
