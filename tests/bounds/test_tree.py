"""The tree: a valid bound at any time, the incumbent's cost at its end."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from gpuga.bounds.exact import exact
from gpuga.bounds.master import Master, useful_columns
from gpuga.bounds.search import master_of
from gpuga.bounds.tree import STEPS_BETWEEN_OFFERS, Tree, prove
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.problem.two_way import two_way_problem
from gpuga.protect import protect
from gpuga.safety.audit import audit
from gpuga.table.generate import class1, herrington


@dataclass
class Settled:
    """An incumbent that stays."""

    cost: int
    points: list[np.ndarray] = field(default_factory=list)

    def try_point(self, x):
        self.points.append(x)
        return self.cost


def cut_root(table):
    """The root of a two-way table with its first cuts, and what its first pattern costs."""
    problem = two_way_problem(table, Context())
    start = by_paths(problem, problem.costs(), plain())
    master = master_of(problem, start)
    master.tighten(Clock(), rounds=4)
    return master, problem.cost(start)


def test_dives_over_a_part_of_the_columns_begin_without_further_cuts_at_their_root(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    master, cost = cut_root(herrington(30, 30, 0.05, 1))
    useful, tightened = useful_columns(master, cost), []
    monkeypatch.setattr(Master, "tighten", lambda self, *_: tightened.append(self))
    part = useful & (np.arange(len(useful)) % 7 > 0)
    Tree(master, part, Settled(cost)).settle(Clock())
    assert tightened == []
    whole = Tree(master, useful, Settled(cost))
    whole.settle(Clock())
    assert tightened == [whole.master]


def test_dives_in_two_way_tables_offer_points_at_equal_steps_though_they_gain_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    master, cost = cut_root(herrington(60, 60, 0.02, 1))
    incumbent, steps, enter = Settled(cost), [], Tree._enter
    monkeypatch.setattr(Tree, "_enter", lambda self, *bounds: (steps.append(1), enter(self, *bounds))[1])
    Tree(master, useful_columns(master, cost), incumbent).dive(1, Clock())
    fractional = [x for x in incumbent.points if ((x > 1e-6) & (x < 1 - 1e-6)).any()]
    assert len(steps) > 4 * STEPS_BETWEEN_OFFERS
    assert len(fractional) in (len(steps) // STEPS_BETWEEN_OFFERS, -(-len(steps) // STEPS_BETWEEN_OFFERS))


@pytest.mark.parametrize("table", [herrington(30, 30, 0.02, 1), class1(30, 30, 4)], ids=["herrington", "class1"])
def test_the_bound_is_valid_after_any_number_of_nodes_and_never_falls(table):
    best = protect(table, "exact")
    assert best.optimal
    problem = two_way_problem(table, Context())
    optimum = best.scaled_cost - problem.base_cost
    start = by_paths(problem, problem.costs(), plain())
    before = 0
    for nodes in (1, 2, 5, 20):
        master = master_of(problem, start)
        master.tighten(Clock())
        # an incumbent dearer than the optimum: the tree must not claim more than the optimum
        outcome = prove(master, Settled(optimum + 5 * master.step), Clock(), nodes)
        assert master.bound <= outcome.bound <= optimum
        assert outcome.bound >= before
        assert not outcome.closed
        before = outcome.bound


def test_a_tree_that_ends_proves_the_optimum():
    table = herrington(30, 30, 0.02, 1)
    best = protect(table, "exact")
    problem = two_way_problem(table, Context())
    master = master_of(problem, by_paths(problem, problem.costs(), plain()))
    master.tighten(Clock())
    outcome = prove(master, Settled(best.scaled_cost - problem.base_cost), Clock())
    assert outcome.closed
    assert problem.base_cost + outcome.bound == best.scaled_cost


def test_the_first_pattern_stays_when_there_is_no_time_for_further_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    table, calls = herrington(20, 20, 0.03, 2), []

    def slow_from_the_second_on(*arguments, clock=None, **options):
        calls.append(clock)
        if clock is not None and len(calls) > 1:
            raise OutOfTime("time ran out")
        return by_paths(*arguments, **options)

    monkeypatch.setattr("gpuga.bounds.repair.paths.by_paths", slow_from_the_second_on)
    found = exact(table, Context(clock=Clock(10.0)))
    assert audit(table, found.suppressed, intervals=False).safe
