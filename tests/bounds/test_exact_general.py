"""Bounds and optima of general tables against exhaustion."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from gpuga.bounds.exact import bound, exact, solve
from gpuga.bounds.master import Master, useful_columns
from gpuga.bounds.search import LOOKS, BranchAndCut, master_of
from gpuga.bounds.separators import attacker
from gpuga.bounds.separators.attacker import AttackerSeparator
from gpuga.bounds.separators.line_cuts import SparseCut
from gpuga.bounds.tree import Tree
from gpuga.context import Clock, Context
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Bound, Found
from gpuga.safety.audit import audit
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table.generate import smith2d, smith3d
from gpuga.table.table import Mask, Table
from tests.support.exact_attacker import intervals
from tests.support.small_tables import random_table


def general_exact(table: Table, context: Context) -> Found:
    return solve(GeneralProblem.of(table, context.strict), context)


def general_bound(table: Table, context: Context) -> Bound:
    return bound(GeneralProblem.of(table), context)


def general_master(table: Table) -> tuple[AttackerSeparator, Master]:
    master = master_of(GeneralProblem.of(table))
    assert isinstance(master.separator, AttackerSeparator)
    return master.separator, master


def cheapest(table: Table) -> int:
    """The least cost of a safe pattern, by trying sets of cells from the cheapest on."""
    free = np.flatnonzero(table.suppressible & ~table.forced).tolist()
    patterns = sorted(
        (int(table.weight[list(some)].sum()), some) for r in range(len(free) + 1) for some in combinations(free, r)
    )
    for cost, some in patterns:
        pattern = table.forced.copy()
        pattern[list(some)] = True
        reach = intervals(table, pattern, table.sensitive.tolist())
        if all(
            (rise is None or rise >= table.levels.upper[c]) and (fall is None or fall >= table.levels.lower[c])
            for c, (rise, fall) in reach.items()
        ):
            return cost
    return -1


def small(seed: int) -> Table:
    """A tiny three-dimensional table with few free cells."""
    table = random_table(np.random.default_rng(seed), (2, 2, 1), largest=9, sensitive=0.3)
    return table


@pytest.mark.parametrize("seed", range(5))
def test_bounds_never_exceed_and_optima_meet_the_cheapest_pattern(seed: int) -> None:
    table = small(seed)
    if len(table.sensitive) == 0 or not audit(table, table.suppressible, intervals=False).safe:
        pytest.skip("nothing to protect, or nothing that could be")
    least = cheapest(table)
    assert general_bound(table, Context()).lower_bound <= least
    found = general_exact(table, Context(clock=Clock(20.0)))
    assert table.cost(found.suppressed) == least
    assert found.bound is not None
    assert found.bound.lower_bound == least


def without_cells_that_cannot_move(table: Table, pattern: np.ndarray) -> np.ndarray:
    """The pattern without secondary cells that are exactly determined, which protect nothing."""
    pattern = pattern.copy()
    secondary = np.flatnonzero(pattern & ~table.forced).tolist()
    reach = intervals(table, pattern, secondary)
    pattern[[cell for cell in secondary if reach[cell] == (0, 0)]] = False
    return pattern


def test_every_cut_and_row_holds_for_every_safe_pattern_whose_cells_can_move() -> None:
    rng = np.random.default_rng(4)
    table = random_table(rng, (3, 3, 2), sensitive=0.2)
    separator, master = general_master(table)
    master.tighten(Clock(5.0))
    rules = [cut for cut in [*master.cuts, *separator.pool.rows] if isinstance(cut, SparseCut)]
    safe = 0
    for _ in range(60):
        pattern = table.forced | (table.suppressible & (rng.random(len(table)) < 0.8))
        if audit(table, pattern, intervals=False).safe:
            safe += 1
            pattern = without_cells_that_cannot_move(table, pattern)
            assert audit(table, pattern, intervals=False).safe
            assert all(cut.violation(pattern.astype(float)) <= 0 for cut in rules)
    assert safe > 5
    assert master.cuts
    assert len(rules) == len(master.cuts) + len(separator.pool.rows)


def test_roundings_of_a_row_hold_for_every_whole_point_that_meets_it() -> None:
    rng = np.random.default_rng(7)
    rounded_ones = 0
    for _ in range(200):
        count = int(rng.integers(2, 7))
        row = SparseCut(np.arange(count), rng.integers(1, 12, count), int(rng.integers(2, 20)))
        rounded = row.rounded(rng.random(count) < 0.3, int(rng.integers(2, 30)))
        if rounded is None:
            continue
        rounded_ones += 1
        for bits in range(2**count):
            point = np.array([bits >> i & 1 for i in range(count)], float)
            assert row.violation(point) > 0 or rounded.violation(point) <= 0
    assert rounded_ones > 30


def test_fixed_cells_count_in_the_proven_bound() -> None:
    table = random_table(np.random.default_rng(4), (3, 3, 2), sensitive=0.2)
    _, master = general_master(table)
    master.tighten(Clock(5.0))
    suppressed = np.ones(len(master.columns))
    master.fix(suppressed, suppressed)
    assert master.solve() == master.weight.sum()


@pytest.mark.parametrize("seed", range(6))
def test_optima_of_planes_are_those_of_the_proof_for_planes(seed: int) -> None:
    table = smith2d(9, 7, 0.12, 0.1, seed)
    general, plane = (solve(table, Context(clock=Clock(60.0))) for solve in (general_exact, exact))
    assert general.bound is not None
    assert plane.bound is not None
    assert table.cost(general.suppressed) == general.bound.lower_bound
    assert table.cost(plane.suppressed) == plane.bound.lower_bound == general.bound.lower_bound


@pytest.mark.parametrize("seed", range(4))
def test_searching_nearby_leaves_the_tree_open_for_every_cheaper_pattern(seed: int) -> None:
    table = smith3d((5, 4, 4), 0.1, 0.1, seed)
    best = general_exact(table, Context(clock=Clock(60.0)))
    search = BranchAndCut(GeneralProblem.of(table), Context())
    search.master.tighten(Clock(60.0), rounds=5)
    tree = Tree(search.master, useful_columns(search.master, search.cost), search)
    tree.settle(Clock(60.0))
    open_before = [node.bound for node in tree.heap]
    search._look_around(Clock(60.0))
    tree.dive(1, Clock(60.0))
    assert audit(table, search.problem.pattern(search.best), intervals=False).safe
    assert [node.bound for node in tree.heap] == open_before
    if search.problem.base_cost + search.cost > table.cost(best.suppressed):
        cheaper = best.suppressed[tree.master.columns]
        assert ((tree.low <= cheaper) & (cheaper <= tree.high)).all()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_optima_of_many_tiny_tables_meet_the_cheapest_pattern(part: int) -> None:
    for seed in range(30 * part + 100, 30 * part + 130):
        table = small(seed)
        if len(table.sensitive) == 0 or not audit(table, table.suppressible, intervals=False).safe:
            continue
        least = cheapest(table)
        found = general_exact(table, Context(clock=Clock(20.0)))
        assert table.cost(found.suppressed) == least == found.bound.lower_bound
        assert general_bound(table, Context()).lower_bound <= least


def test_zero_half_cuts_of_a_programs_rows_are_found_at_nodes_and_cut_the_point_off() -> None:
    problem = GeneralProblem.of(smith3d((6, 5, 4), 0.1, 0.1, 2))
    master, seen = master_of(problem), 0
    for _ in range(12):
        master.solve()
        x = master.point()
        found = [cut for batch in master.separator.at_node(x, master.cuts, False, Clock()) for cut in batch]
        halves = [cut for cut in found if isinstance(cut, SparseCut) and cut.summed]
        assert all(cut.violation(x) > 0 for cut in halves)
        seen += len(halves)
        master.add(found)
    assert seen
    alone = [cut for batch in master.separator.at_node(x, [], False, Clock()) for cut in batch]
    assert not any(isinstance(cut, SparseCut) and cut.summed for cut in alone)


def test_the_pattern_of_a_general_table_comes_with_its_circuits() -> None:
    table = smith3d((5, 4, 4), 0.1, 0.1, 3)
    found = exact(table, Context())
    assert found.proof is not None
    assert hold(AllowedChanges.of(table, found.suppressed), found.proof).all()
    assert audit(table, found.suppressed, intervals=False, proof=found.proof).safe


def test_attackers_in_a_tableau_and_by_programs_prove_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    table, optima = smith3d((5, 4, 4), 0.1, 0.1, 3), list[int]()
    programs = attacker.products_of_levels
    for most in (0, 10**9):
        asked = list[int]()
        monkeypatch.setattr(attacker, "MOST_ENTRIES", most)
        monkeypatch.setattr(attacker, "products_of_levels", spied(programs, asked))
        master = master_of(GeneralProblem.of(table))
        master.solve()
        x = master.point()
        found = [cut for batch in master.separator.at_node(x, [], False, Clock()) for cut in batch]
        assert found
        assert all(cut.violation(x) > 0 for cut in found if isinstance(cut, SparseCut))
        assert bool(asked) == (most == 0)
        proven = general_exact(table, Context())
        assert table.cost(proven.suppressed) == proven.bound.lower_bound
        optima.append(proven.bound.lower_bound)
    assert len(set(optima)) == 1


def spied(function: Callable[..., Any], asked: list[int]) -> Callable[..., Any]:
    """The same, which counts its calls."""

    def calling(*arguments: Any) -> Any:
        asked.append(1)
        return function(*arguments)

    return calling


def test_the_tree_looks_around_the_incumbent_with_its_own_cuts_and_ever_more_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search = BranchAndCut(GeneralProblem.of(smith3d((8, 6, 5), 0.1, 0.1, 2)), Context())
    known, looked = list[int](), search.neighbourhood.improve

    def in_vain(pattern: Mask, random: np.random.Generator, clock: Clock) -> Mask:
        known.append(len(search.neighbourhood.latest))
        return pattern

    monkeypatch.setattr(search.neighbourhood, "improve", in_vain)
    search.master.tighten(Clock(), rounds=3)
    tree = Tree(search.master, useful_columns(search.master, search.cost), search)
    tree.settle(Clock(0.0))
    search.nodes = search.next_look
    search._look_again(tree, Clock())
    assert known == [len(tree.master.cuts)] * LOOKS
    assert search.next_look == search.nodes + 2 * search.master.separator.effort.look
    monkeypatch.setattr(search.neighbourhood, "improve", looked)
    before = search.cost
    search._look_again(tree, Clock())
    assert search.cost < before
    assert search.pause == search.master.separator.effort.look
