"""Cuts and certificates: valid for every safe pattern, whatever floats proposed them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from gpuga.bounds.certificate import certify
from gpuga.bounds.cuts import Cut, plain_cut
from gpuga.bounds.lone_cells import lone_cells
from gpuga.bounds.relaxation import Relaxation
from gpuga.bounds.rounding import Rounded
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import blurred, plain
from gpuga.context import Clock, Context
from gpuga.errors import Infeasible
from gpuga.evolution.plane_workshop import Counted
from gpuga.problem.two_way import two_way_problem
from gpuga.safety.network import Network
from gpuga.table.generate import class1, herrington, smith2d
from tests.planes import random_plane_table


def relaxation_of(table):
    problem = two_way_problem(table, Context())
    return Relaxation(problem, by_paths(problem, problem.costs(), plain()))


def safe_patterns(problem, count):
    """Safe patterns that have nothing to do with the cuts."""
    for seed in range(count):
        start = problem.candidate & (np.random.default_rng(seed).random(problem.shape) < 0.02 * (seed % 4))
        yield by_paths(problem, problem.costs(), blurred(seed, seed % 2 == 0, True), start=start, clean=seed % 3 > 0)


def without_lone_cells(problem, pattern):
    """The pattern without places that are alone in a line, which cannot move and so protect nothing."""
    while True:
        hidden = problem.forced | pattern
        alone = pattern & ((hidden.sum(1, keepdims=True) == 1) | (hidden.sum(0, keepdims=True) == 1))
        if not alone.any():
            return pattern
        pattern = pattern & ~alone


def test_places_that_are_alone_in_a_line_are_cut_off():
    relaxation = relaxation_of(class1(20, 20, 1))
    problem = relaxation.problem
    quiet = np.flatnonzero(~problem.forced.any(1) & problem.candidate.any(1))
    row = int(quiet[0])
    point = np.zeros(problem.shape)
    column = int(np.flatnonzero(problem.candidate[row])[0])
    point[row, column] = 1.0
    place = row * problem.shape[1] + column
    cuts = {(cut.place, cut.in_row): cut for cut in lone_cells(problem, point)}
    assert (place, True) in cuts
    own = cuts[place, True].coefficients(problem.net, np.arange(point.size))
    assert own @ point.ravel() == -1
    assert own.sum() == point.shape[1] - 2


@pytest.mark.parametrize(
    "table",
    [class1(40, 40, 1), herrington(30, 30, 0.03, 1), smith2d(26, 6, 0.1, 0.1, 1)],
    ids=["class1", "herrington", "smith"],
)
def test_every_safe_pattern_satisfies_every_cut(table):
    relaxation = relaxation_of(table)
    relaxation.tighten(Clock())
    problem = relaxation.problem
    assert len(relaxation.cuts) > 20
    every = np.arange(problem.weight.size)
    for pattern in safe_patterns(problem, 12):
        hidden = without_lone_cells(problem, pattern).ravel()
        for cut in relaxation.cuts:
            coefficient = cut.coefficients(problem.net, every)
            assert coefficient[hidden & problem.candidate.ravel()].sum() >= cut.rhs


def test_long_tables_are_bounded_by_their_short_lines_before_any_flow_is_asked():
    relaxation = relaxation_of(smith2d(400, 8, 0.1, 0.25, 1))
    problem = relaxation.problem
    assert len(relaxation.cuts) > 50
    assert relaxation.in_core.reshape(problem.shape)[problem.candidate].all()
    relaxation.tighten(Counted(1, Clock()))
    first = by_paths(problem, problem.costs(), plain())
    assert 0.8 * problem.cost(first) < relaxation.bound <= problem.cost(first)


def test_cuts_of_magnitude_tables_are_divided_and_rounded():
    relaxation = relaxation_of(herrington(30, 30, 0.03, 1))
    relaxation.tighten(Clock())
    divided = [cut for cut in relaxation.cuts if isinstance(cut, Cut) and cut.divisor < cut.need]
    assert divided
    assert all(0 < cut.rest < cut.divisor for cut in divided)


def test_a_rounded_row_holds_wherever_the_row_holds():
    random = np.random.default_rng(11)
    rounded_ones = 0
    for _ in range(300):
        capacity = random.integers(1, 30, random.integers(1, 8))
        places, need = np.arange(len(capacity)), int(random.integers(1, 60))
        net = Network(capacity[None, :], np.zeros((1, len(capacity)), np.int64))
        row = plain_cut(np.ones(1, np.uint8), np.zeros(len(capacity), np.uint8), need)
        rounded = row.rounded(net, places[random.random(len(capacity)) < 0.4], int(random.integers(2, 70)))
        if rounded is None:
            continue
        rounded_ones += 1
        plain, strong = row.coefficients(net, places), rounded.coefficients(net, places)
        for chosen in itertools.product((0, 1), repeat=len(capacity)):
            if plain @ chosen >= need:
                assert strong @ chosen >= rounded.rhs
    assert rounded_ones > 50


def test_zero_half_cuts_are_found_and_raise_the_bound_of_count_tables():
    relaxation = relaxation_of(class1(30, 30, 1))
    relaxation.tighten(Clock())
    assert any(isinstance(cut, Rounded) for cut in relaxation.cuts)
    assert relaxation.bound == 195


def test_a_certificate_holds_for_any_multipliers():
    tried = [0, 0]
    for seed in range(80):
        bounded = seed % 2 == 0
        if tried[bounded] >= 10:
            continue
        table = random_plane_table(5, 5, seed, largest=50, bounded=bounded, sensitive=0.06 if bounded else 0.2)
        try:
            relaxation = relaxation_of(table)
        except Infeasible:
            continue
        relaxation.tighten(Clock())
        tried[bounded] += bool(relaxation.cuts)
        problem = relaxation.problem
        least = min((problem.cost(p) for p in safe_patterns(problem, 6)), default=0)
        random = np.random.default_rng(seed)
        for _ in range(5):
            multipliers = random.exponential(20, len(relaxation.cuts)) * (random.random(len(relaxation.cuts)) < 0.5)
            assert certify(problem, relaxation.cuts, multipliers, 1).bound <= least
        assert relaxation.bound <= least
    assert min(tried) >= 5


def test_a_certificate_equals_the_sum_in_rationals():
    relaxation = relaxation_of(herrington(20, 20, 0.03, 2))
    relaxation.tighten(Clock())
    problem, shift = relaxation.problem, relaxation.certificate.shift
    multipliers = relaxation.multipliers
    found = certify(problem, relaxation.cuts, multipliers, 1)
    exact = Fraction(0)
    reduced = [Fraction(int(w)) for w in problem.weight.ravel()]
    for cut, y in zip(relaxation.cuts, multipliers, strict=True):
        fixed = Fraction(int(np.floor(max(0.0, y) * 2.0**shift)), 2**shift)
        exact += fixed * min(1, cut.rhs)
        for place, c in enumerate(cut.coefficients(problem.net, np.arange(problem.weight.size))):
            reduced[place] -= fixed * Fraction(int(c), cut.scale)
    exact += sum(min(Fraction(0), r) for r, c in zip(reduced, problem.candidate.ravel(), strict=True) if c)
    assert Fraction(found.total, 2**found.shift) <= exact
    assert float(exact - Fraction(found.total, 2**found.shift)) < 1e-3


def test_cells_that_are_removed_are_in_no_cheaper_pattern():
    table = class1(20, 20, 3)
    relaxation = relaxation_of(table)
    relaxation.tighten(Clock())
    problem = relaxation.problem
    for pattern in safe_patterns(problem, 8):
        pattern = without_lone_cells(problem, pattern)
        cost = problem.cost(pattern)
        assert not (pattern & relaxation.certificate.removable(cost + relaxation.step)).any()
