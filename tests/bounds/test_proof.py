"""The exact arithmetic of bounds: whatever proposes multipliers, what is made of them holds."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from numba import njit

from gpuga.bounds.proof import Proof, certify, share
from gpuga.bounds.separators.capacity_cuts import (
    crossing,
    plain_cut,
)
from tests.bounds.problems import random_cuts, small_problem


@njit
def shares(multiplier, capacity, rhs, out):
    for z in range(len(out)):
        out[z] = share(multiplier[z], capacity[z], rhs[z])


def test_a_share_is_rounded_up_exactly_or_by_hardly_more() -> None:
    rng = np.random.default_rng(1)
    for bits in (3, 12, 31, 40, 58):
        multiplier = rng.integers(0, 2**58, 300)
        rhs = rng.integers(1, 2**bits, 300)
        capacity = rng.integers(1, 2 ** min(bits + 1, 60), 300)
        out = np.zeros(300, np.int64)
        shares(multiplier, np.minimum(capacity, rhs), rhs, out)
        for m, c, r, found in zip(*(x.tolist() for x in (multiplier, capacity, rhs, out)), strict=True):
            exact = Fraction(m * min(c, r), r)
            assert exact <= found <= m
            assert found == ceil(exact) if r < 2**31 else found - exact <= m * Fraction(3, 2**30) + 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step_", [1, 7])
def test_a_certificate_is_the_sum_in_rationals_rounded_to_its_safe_side(seed: int, step_: int) -> None:
    rng = np.random.default_rng(seed)
    problem = small_problem(seed)
    cuts = sorted(random_cuts(problem, rng, 6), key=lambda cut: -len(getattr(cut, "cover", ())))
    multipliers = np.where(rng.random(len(cuts)) < 0.3, -1.0, rng.exponential(9, len(cuts)))
    found = certify(problem.weight.ravel(), problem.candidate.ravel(), cuts, multipliers, step_)
    unit = Fraction(1, 2**found.shift)
    assert found.shift > 40
    reduced = [Fraction(int(w)) for w in problem.weight.ravel()]
    asked = Fraction(0)
    for cut, y in zip(cuts, multipliers.tolist(), strict=True):
        fixed = Fraction(int(np.floor(max(0.0, y) * 2.0**found.shift)), 2**found.shift)
        asked += fixed if cut.rhs > 0 else 0
        for place, c in enumerate(cut.coefficients(np.arange(len(reduced))).tolist()):
            reduced[place] -= fixed * Fraction(c, cut.scale)
    for place, exact in enumerate(reduced):
        assert exact - len(cuts) * unit <= int(found.reduced.ravel()[place]) * unit <= exact
    negative = sum(min(Fraction(0), r) for r, c in zip(reduced, problem.candidate.ravel(), strict=True) if c)
    exact = asked + negative
    assert exact - len(cuts) * len(reduced) * unit <= found.total * unit <= exact
    assert found.bound == max(0, ceil(Fraction(ceil(found.total * unit), step_)) * step_)


def test_the_cover_of_a_cut_takes_no_share_of_it() -> None:
    """What the cover carries is taken for granted, and the other places of the line pay."""
    problem = small_problem(1)
    rows, columns = problem.shape
    every = np.arange(rows * columns)
    sides = np.zeros(rows, np.uint8), np.eye(columns, dtype=np.uint8)[0]
    carries = crossing(problem.net, every, *sides, 2**40)
    cover = every[carries > 0][:2]
    need = int(carries[cover].sum()) + 1
    cut = plain_cut(problem.net, *sides, need).rounded(cover, 2 * need + 1)
    assert cut is not None
    found = certify(problem.weight.ravel(), problem.candidate.ravel(), [cut], np.array([3.0]), 1)
    paid = (problem.weight.ravel() << found.shift) - found.reduced
    assert not paid.ravel()[cover].any()
    assert (paid.ravel()[np.setdiff1d(every[carries > 0], cover)] > 0).all()


def test_what_a_certificate_removes_is_dearer_than_any_cheaper_pattern() -> None:
    problem = small_problem(1)
    cuts = random_cuts(problem, np.random.default_rng(1), 4)
    found = certify(problem.weight.ravel(), problem.candidate.ravel(), cuts, np.full(len(cuts), 2.5), 2)
    for cost in range(0, 60, 3):
        left = Fraction(cost - 2) - Fraction(found.total, 2**found.shift)
        expected = [Fraction(int(r), 2**found.shift) > left for r in found.reduced.ravel()]
        assert found.removable(cost).ravel().tolist() == (expected if left >= 0 else [True] * len(expected))
    proof = Proof(5 << 10, np.array([0, 3 << 10, (3 << 10) + 1, -(1 << 10)]), 10, 1)
    published, suppressed = proof.settled(9)
    assert published.tolist() == [False, False, True, False]
    assert not suppressed.any()
    published, suppressed = proof.settled(2)
    assert published.tolist() == [False, True, True, False]
    assert suppressed.tolist() == [False, False, False, True]


def test_without_multipliers_nothing_is_proven() -> None:
    problem = small_problem(2)
    cuts = random_cuts(problem, np.random.default_rng(2), 3)
    found = certify(problem.weight.ravel(), problem.candidate.ravel(), cuts, np.zeros(len(cuts)), 1)
    assert found.bound == found.total == 0
    assert np.array_equal(found.reduced, problem.weight.ravel() << found.shift)
