"""The master program: its bounds hold at every node, rows and columns come and go."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from gpuga.bounds.master import Master, cheapest
from gpuga.bounds.search import master_of
from gpuga.bounds.separators.flow import FlowSeparator
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Clock, Context
from gpuga.problem.two_way import two_way_problem
from tests.bounds.problems import random_cuts, small_problem
from tests.planes import random_plane_table


def master_for(seed: int) -> Master:
    """The master program over all candidates of a small problem, without cuts."""
    problem = small_problem(seed)
    return Master(FlowSeparator(problem), problem.candidate.ravel())


def fixed(master: Master, published: Sequence[int], suppressed: Sequence[int]) -> None:
    low, high = np.zeros(len(master.columns)), np.ones(len(master.columns))
    high[list(published)], low[list(suppressed)] = 0.0, 1.0
    master.fix(low, high)


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_a_programs_bound_holds_at_every_node_for_every_point_that_meets_its_rows(seed: int) -> None:
    master, problem = master_for(seed), small_problem(seed)
    cuts = random_cuts(problem, np.random.default_rng(seed), 5)
    assert master.add([*cuts, cuts[0]]) == len(cuts)
    assert master.add(cuts) == 0
    chosen = master.columns[:9]
    free = list(range(9))
    fixed(master, range(9, len(master.columns)), [])
    coefficients = [cut.coefficients(chosen) for cut in cuts]
    points = [
        np.array(bits)
        for bits in itertools.product((0, 1), repeat=9)
        if all(c @ bits >= cut.rhs for c, cut in zip(coefficients, cuts, strict=True))
    ]
    costs = [int(master.weight[:9] @ point) for point in points]
    bound = master.solve()
    assert bound <= min(costs, default=master.weight.sum() + 1)
    assert bound >= master.objective - 1e-6
    for at in free[:4]:
        fixed(master, range(9, len(master.columns)), [at])
        with_it = [cost for cost, point in zip(costs, points, strict=True) if point[at]]
        assert master.solve() <= min(with_it, default=master.weight.sum() + 1)
        master.fix_one(at, 0.0, 0.0)
        without = [cost for cost, point in zip(costs, points, strict=True) if not point[at]]
        assert master.solve() <= min(without, default=master.weight.sum() + 1)


def test_a_programs_bound_is_its_proof_rounded_up_to_what_costs_can_be() -> None:
    table = random_plane_table(4, 4, 1, largest=30, sensitive=0.15)
    problem = two_way_problem(table.in_units(table.scale, 6 * table.weight_scale), Context())
    master = Master(FlowSeparator(problem), problem.candidate.ravel())
    assert master.step % 6 == 0
    assert master.proof.total == 0
    master.add(random_cuts(problem, np.random.default_rng(1), 5))
    bound = master.solve()
    proven = Fraction(master.proof.total, 2**master.proof.shift)
    assert bound > 0
    assert bound == ceil(ceil(proven) / Fraction(master.step)) * master.step
    assert abs(float(proven) - master.objective) < 1e-3
    assert master.idle.min() == 0


def test_a_program_drops_rows_that_bear_on_nothing_and_takes_them_back() -> None:
    master = master_for(1)
    cuts = random_cuts(small_problem(1), np.random.default_rng(5), 8)
    master.add(cuts[1:])
    master.add(cuts[:1], keep=True)
    bound = master.solve()
    master.purge()
    assert len(master.cuts) == len(cuts)
    for _ in range(10):
        master.solve()
    master.purge()
    kept = len(master.cuts)
    assert 0 < kept < len(cuts)
    assert cuts[0] in master.cuts
    assert len(master.rows.start) == kept + 1
    assert len(master.rows.index) == len(master.rows.value) == master.rows.start[-1]
    assert master.solve() == bound
    assert master.add(cuts) == len(cuts) - kept
    assert master.solve() == bound


def test_a_root_that_spares_tight_rows_drops_slack_ones_at_their_first_idle_bound() -> None:
    master = master_for(1)
    cuts = random_cuts(small_problem(1), np.random.default_rng(2), 16)
    master.add(cuts)
    bound = master.solve()
    tight = master.session.row_values() <= master.rows.asks + 1e-6
    bears = master.multipliers > 0
    assert (tight & ~bears).any()
    wanted = [cut.key for cut, stays in zip(master.cuts, tight | bears, strict=True) if stays]
    master.purge()
    assert len(master.cuts) == len(cuts)
    master.purge(spare_tight=True)
    assert [cut.key for cut in master.cuts] == wanted
    assert len(wanted) < len(cuts)
    assert master.solve() == bound


def test_columns_that_are_added_later_are_as_good_as_those_of_the_start() -> None:
    problem = small_problem(1)
    cuts = random_cuts(problem, np.random.default_rng(5), 8)
    whole = Master(FlowSeparator(problem), problem.candidate.ravel())
    grown = Master(FlowSeparator(problem), problem.candidate.ravel() & (np.arange(problem.weight.size) % 3 == 0))
    for master in (whole, grown):
        master.add(cuts)
    grown.solve()
    assert not grown.complete
    for _ in range(2):  # what is there is not added again
        grown.add_columns(np.flatnonzero(problem.candidate.ravel()))
        assert sorted(grown.columns.tolist()) == sorted(whole.columns.tolist())
        assert len(grown.x) == len(grown.low) == len(grown.high) == len(grown.columns)
        assert grown.columns[grown.position[grown.columns]].tolist() == grown.columns.tolist()
    assert grown.complete
    assert grown.solve() == whole.solve()
    assert abs(grown.objective - whole.objective) < 1e-6


def test_relaxations_of_small_tables_end_at_a_bound_that_holds() -> None:
    """The pieces together, where the cheapest pattern is known by trying all."""
    for seed in (1, 3):
        problem = small_problem(seed)
        master = master_of(problem, by_paths(problem, problem.costs(), plain()))
        master.tighten(Clock())
        assert 0 < master.bound <= problem.cost(by_paths(problem, problem.costs(), plain()))


def test_the_cheapest_columns_are_those_of_the_lowest_reduced_costs() -> None:
    reduced, allowed = np.array([5, 1, 0, 9, 2]), np.array([True, True, False, True, True])
    assert cheapest(reduced, allowed, 4).tolist() == allowed.tolist()
    assert cheapest(reduced, allowed, 2).tolist() == [True, True, False, False, True]
    assert cheapest(reduced, allowed, 1).tolist() == [False, True, False, False, True]


def test_a_root_is_cut_as_many_rounds_as_asked_for_and_no_further_than_programs_are_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = small_problem(1)
    solve, solved = Master.solve, []

    def counted(master: Master, seconds: float = float("inf")) -> int:
        solved.append(solve(master, seconds))
        if len(solved) > 2:
            master.answer = None  # as where the time ends within a program
        return solved[-1]

    monkeypatch.setattr(Master, "solve", counted)
    master = master_of(problem, by_paths(problem, problem.costs(), plain()))
    solved.clear()
    for rounds in (1, 1):
        master.tighten(Clock(), rounds=rounds)
    assert len(solved) == 2
    master.tighten(Clock())
    assert len(solved) == 3
