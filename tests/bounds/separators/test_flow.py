"""Cuts and certificates: valid for every safe pattern, whatever floats proposed them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from gpuga.bounds.master import Master
from gpuga.bounds.proof import certify
from gpuga.bounds.search import master_of
from gpuga.bounds.separators.bridges import LoneCells
from gpuga.bounds.separators.capacity_cuts import CapacityCut, plain_cut
from gpuga.bounds.separators.line_cuts import SparseCut
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import blurred, plain
from gpuga.context import Clock, Context
from gpuga.errors import Infeasible
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from gpuga.safety.network import Network
from gpuga.table.generate import class1, herrington, smith2d
from tests.planes import random_plane_table


def master_for(table) -> tuple[TwoWayProblem, Master]:
    problem = two_way_problem(table, Context())
    return problem, master_of(problem, by_paths(problem, problem.costs(), plain()))


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
    problem, master = master_for(class1(20, 20, 1))
    quiet = np.flatnonzero(~problem.forced.any(1) & problem.candidate.any(1))
    row = int(quiet[0])
    point = np.zeros(problem.shape)
    column = int(np.flatnonzero(problem.candidate[row])[0])
    point[row, column] = 1.0
    place = row * problem.shape[1] + column
    lone = LoneCells(problem.table, master.separator.cell, problem.candidate.ravel())
    cuts = [cut for cut in lone.violated(point.ravel()) if (cut.cell // point.shape[1] == row).all()]
    assert [cut.cell[cut.coef < 0].tolist() for cut in cuts] == [[place]]
    own = cuts[0].coefficients(np.arange(point.size))
    assert own @ point.ravel() == -1
    assert own.sum() == problem.candidate[row].sum() - 2


@pytest.mark.parametrize(
    "table",
    [class1(40, 40, 1), herrington(30, 30, 0.03, 1), smith2d(26, 6, 0.1, 0.1, 1)],
    ids=["class1", "herrington", "smith"],
)
def test_every_safe_pattern_satisfies_every_cut(table):
    problem, master = master_for(table)
    master.tighten(Clock())
    assert len(master.cuts) > 20
    every = np.arange(problem.weight.size)
    for pattern in safe_patterns(problem, 12):
        hidden = without_lone_cells(problem, pattern).ravel()
        for cut in master.cuts:
            coefficient = cut.coefficients(every)
            assert coefficient[hidden & problem.candidate.ravel()].sum() >= cut.rhs


def test_long_tables_are_bounded_by_their_short_lines_before_any_flow_is_asked():
    problem, master = master_for(smith2d(400, 8, 0.1, 0.25, 1))
    assert len(master.cuts) > 50
    assert (master.position.reshape(problem.shape)[problem.candidate] >= 0).all()
    master.tighten(Clock(), rounds=1)
    first = by_paths(problem, problem.costs(), plain())
    assert 0.8 * problem.cost(first) < master.bound <= problem.cost(first)


def test_cuts_of_magnitude_tables_are_divided_and_rounded():
    _, master = master_for(herrington(30, 30, 0.03, 1))
    master.tighten(Clock())
    divided = [cut for cut in master.cuts if isinstance(cut, CapacityCut) and cut.divisor < cut.need]
    assert divided
    assert all(0 < cut.rest < cut.divisor for cut in divided)


def test_a_rounded_row_holds_wherever_the_row_holds():
    random = np.random.default_rng(11)
    rounded_ones = 0
    for _ in range(300):
        capacity = random.integers(1, 30, random.integers(1, 8))
        places, need = np.arange(len(capacity)), int(random.integers(1, 60))
        net = Network(capacity[None, :], np.zeros((1, len(capacity)), np.int64))
        row = plain_cut(net, np.ones(1, np.uint8), np.zeros(len(capacity), np.uint8), need)
        rounded = row.rounded(places[random.random(len(capacity)) < 0.4], int(random.integers(2, 70)))
        if rounded is None:
            continue
        rounded_ones += 1
        plain, strong = row.coefficients(places), rounded.coefficients(places)
        for chosen in itertools.product((0, 1), repeat=len(capacity)):
            if plain @ chosen >= need:
                assert strong @ chosen >= rounded.rhs
    assert rounded_ones > 50


def test_zero_half_cuts_are_found_and_raise_the_bound_of_count_tables():
    _, master = master_for(class1(30, 30, 1))
    master.tighten(Clock())
    assert any(isinstance(cut, SparseCut) and cut.summed for cut in master.cuts)
    assert master.bound == 195


def test_a_certificate_holds_for_any_multipliers():
    tried = [0, 0]
    for seed in range(80):
        bounded = seed % 2 == 0
        if tried[bounded] >= 10:
            continue
        table = random_plane_table(5, 5, seed, largest=50, bounded=bounded, sensitive=0.06 if bounded else 0.2)
        try:
            problem, master = master_for(table)
        except Infeasible:
            continue
        master.tighten(Clock())
        tried[bounded] += bool(master.cuts)
        least = min((problem.cost(p) for p in safe_patterns(problem, 6)), default=0)
        random = np.random.default_rng(seed)
        for _ in range(5):
            multipliers = random.exponential(20, len(master.cuts)) * (random.random(len(master.cuts)) < 0.5)
            assert (
                certify(problem.weight.ravel(), problem.candidate.ravel(), master.cuts, multipliers, 1).bound <= least
            )
        assert master.bound <= least
    assert min(tried) >= 5


def test_a_certificate_equals_the_sum_in_rationals():
    problem, master = master_for(herrington(20, 20, 0.03, 2))
    master.tighten(Clock())
    shift = master.certificate.shift
    multipliers = master.multipliers
    found = certify(problem.weight.ravel(), problem.candidate.ravel(), master.cuts, multipliers, 1)
    exact = Fraction(0)
    reduced = [Fraction(int(w)) for w in problem.weight.ravel()]
    for cut, y in zip(master.cuts, multipliers, strict=True):
        fixed = Fraction(int(np.floor(max(0.0, y) * 2.0**shift)), 2**shift)
        exact += fixed * min(1, cut.rhs)
        for place, c in enumerate(cut.coefficients(np.arange(problem.weight.size))):
            reduced[place] -= fixed * Fraction(int(c), cut.scale)
    exact += sum(min(Fraction(0), r) for r, c in zip(reduced, problem.candidate.ravel(), strict=True) if c)
    assert Fraction(found.total, 2**found.shift) <= exact
    assert float(exact - Fraction(found.total, 2**found.shift)) < 1e-3


def test_cells_that_are_removed_are_in_no_cheaper_pattern():
    table = class1(20, 20, 3)
    problem, master = master_for(table)
    master.tighten(Clock())
    for pattern in safe_patterns(problem, 8):
        pattern = without_lone_cells(problem, pattern)
        cost = problem.cost(pattern)
        assert not (pattern.ravel() & master.certificate.removable(cost + master.step)).any()
