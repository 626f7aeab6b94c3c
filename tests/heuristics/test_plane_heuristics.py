"""The papers' heuristics on two-dimensional tables: safe, and nothing suppressed in vain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuga.circuits.cover import Cover
from gpuga.circuits.path_cover import by_paths, clean_up
from gpuga.circuits.paths import plain
from gpuga.context import Clock, Context
from gpuga.errors import Infeasible, InputError, OutOfTime
from gpuga.heuristics.castro import castro
from gpuga.heuristics.incremental import by_flows, incremental
from gpuga.heuristics.pbp import pbp, pbp_patterns
from gpuga.heuristics.shortest_path import shortest_path
from gpuga.parameters import IncrementalParameters
from gpuga.problem.general import requirements_of
from gpuga.problem.two_way import two_way_problem
from gpuga.table import INFINITE, Levels, Table
from gpuga.table.generate import class1, class2, herrington, smith3d
from tests.brute_force import is_safe
from tests.planes import plane_lines, random_plane_table

METHODS = {
    "shortest-path": shortest_path,
    "castro": castro,
    "pbp": pbp,
    "incremental": lambda table, context: incremental(table, context, IncrementalParameters(variant="clean-up")),
}


def small_tables():
    for seed in range(12):
        yield random_plane_table(
            6,
            7,
            seed,
            largest=60,
            bounded=seed % 3 == 0,
            gaps=seed % 4 == 0,
            sliding=seed % 2 == 0,
            sensitive=0.15,
        )


@pytest.mark.parametrize("name", METHODS)
def test_every_pattern_is_safe(name):
    for table in (*small_tables(), class1(20, 30, 1), class2(20, 20, 2), herrington(40, 30, 0.02, 3)):
        for strict in (False, True):
            try:
                found = METHODS[name](table, Context(strict=strict))
            except Infeasible:
                assert not is_safe(table, table.suppressible | table.forced, strict)
                continue
            assert is_safe(table, found.suppressed, strict)
            assert not (found.suppressed & ~table.suppressible).any()
            assert found.suppressed[table.forced].all()


@pytest.mark.parametrize("seed", range(6))
def test_minimum_cost_flows_move_the_cells_that_the_linear_programs_move(seed):
    table = random_plane_table(7, 6, seed, largest=60, sensitive=0.1)
    # with weights like these the cheapest change is unique
    table = replace(table, weight=np.random.default_rng(seed).integers(1, 10**6, len(table)))
    try:
        problem = two_way_problem(table, Context())
    except Infeasible:
        return
    cover = Cover(table, requirements_of(table, False), Context())
    cover.by_lp(np.argsort(-table.weight[cover.requirements.cell], kind="stable").tolist())
    assert np.array_equal(problem.pattern(by_flows(problem, Clock())), cover.suppressed)


def test_paths_complete_what_flows_have_no_time_for():
    table = herrington(30, 30, 0.02, 1)
    assert is_safe(table, incremental(table, Context(clock=Clock(1e-9))).suppressed)


@pytest.mark.parametrize("name", METHODS)
def test_after_clean_up_every_secondary_suppression_is_needed(name):
    for table in (class1(15, 15, 4), class2(12, 12, 5), herrington(20, 20, 0.02, 3)):
        suppressed = METHODS[name](table, Context()).suppressed
        for cell in np.flatnonzero(suppressed & ~table.primary):
            without = suppressed.copy()
            without[cell] = False
            assert not is_safe(table, without)


def test_clean_up_of_everything_suppressed_is_still_safe():
    table = herrington(15, 15, 0.03, 1)
    problem = two_way_problem(table, Context())
    assert is_safe(table, problem.pattern(clean_up(problem, problem.candidate)))


def test_repair_keeps_what_it_is_given_before_clean_up():
    table = herrington(20, 20, 0.02, 1)
    problem = two_way_problem(table, Context())
    start = problem.candidate & (np.random.default_rng(0).random(problem.shape) < 0.02)
    repaired = by_paths(problem, problem.costs(), plain(), start=start, clean=False)
    assert repaired[start].all()
    assert is_safe(table, problem.pattern(repaired))


def test_pbp_makes_diverse_patterns():
    problem = two_way_problem(herrington(40, 40, 0.01, 1), Context())
    costs = {problem.cost(pattern) for pattern in pbp_patterns(problem, 8, Context())}
    assert len(costs) >= 4


def test_castro_recovers_by_flows_where_disjoint_paths_do_not_suffice():
    # (0, 0) must rise by 2; only (1, 0) can give way in its column, and what it gives must be split over
    # (1, 1) and (1, 2), which may rise by 1 each: two paths that share an arc
    value = np.array([5, 5, 5, 15, 5, 5, 5, 15, 10, 10, 10, 30])
    status = np.array([1, 0, 0, 2, 0, 0, 0, 2, 2, 2, 2, 2], np.uint8)
    upper = np.where(status == 1, 2, 0)
    ub = np.full(12, INFINITE)
    ub[[5, 6]] = 6
    none = np.zeros(12, np.int64)
    lines = plane_lines(np.ones((3, 4), bool))
    table = Table.build(value, lines, status=status, ub=ub, levels=Levels(none, upper, none))
    found = castro(table, Context())
    assert found.details["failed_levels"] == 1
    assert is_safe(table, found.suppressed)
    assert is_safe(table, shortest_path(table, Context()).suppressed)


def test_levels_covered_by_the_primaries_need_nothing():
    table = class2(60, 60, 1)
    problem = two_way_problem(table, Context())
    assert len(problem.levels.place) < 0.1 * 2 * len(table.sensitive)


def test_a_table_that_cannot_be_protected_names_its_cells():
    table = random_plane_table(3, 3, 0, sensitive=0.3)
    frozen = np.where(table.primary, table.status, 2).astype(np.uint8)
    table = Table.build(table.value, table.lines, status=frozen, levels=table.levels)
    with pytest.raises(Infeasible, match="no safe pattern exists") as caught:
        shortest_path(table, Context())
    assert set(caught.value.cells) <= set(table.sensitive.tolist())


def test_other_tables_are_refused_in_one_sentence():
    with pytest.raises(InputError, match="two-way"):
        shortest_path(smith3d((4, 4, 4), 0.1, 0.1, 1), Context())


def test_a_clock_that_has_run_out_ends_the_search_for_a_first_pattern():
    with pytest.raises(OutOfTime):
        shortest_path(herrington(30, 30, 0.02, 1), Context(clock=Clock(0.0)))
