"""Proven optima and lower bounds of any table, by one search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gpuga import compiling
from gpuga.bounds.cut import Separator
from gpuga.bounds.incumbent import BY_CUTS, BY_LINES, BY_PARTS
from gpuga.bounds.master import Master
from gpuga.bounds.parts import PartsBound
from gpuga.bounds.search import (
    MOST_CELLS_AT_ONCE,
    MOST_CELLS_TO_PROVE,
    BranchAndCut,
    master_of,
    master_over,
    repair_of,
)
from gpuga.bounds.separators.attacker import AttackerSeparator
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.problem.general import GeneralProblem
from gpuga.problem.problem import TableProblem, problem_for
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Bound, Found
from gpuga.table.attacker_model import Asked, as_judged
from gpuga.table.table import Table

NOTHING = "nothing to protect"

SeparatorOf = Callable[[GeneralProblem], Separator]
"""Who finds the cuts of a general problem, of whatever size."""

SHARE_OF_LINES = 0.2
"""The share of a limited time in which cuts of single lines bound a table that the attackers' programs bound better."""


def exact(table: Table, context: Context) -> Found:
    """The cheapest safe pattern, proven, or the best one found with its gap when the time is up."""
    return solve(problem_for(table, context.strict, context.clock), context)


def solve(problem: TableProblem, context: Context) -> Found:
    """The same for a problem."""
    if problem.done:
        nothing = np.zeros(problem.weight.shape, bool)
        return Found(problem.pattern(nothing), Bound(problem.base_cost, NOTHING))
    search = BranchAndCut(problem, context)
    search.run()
    return Found(
        problem.pattern(search.best),
        search.proven_bound(),
        search.nodes,
        search.patterns,
        search.details,
        search.proof,
    )


def lower_bound(
    table: Table,
    context: Context | None = None,
    *,
    whole: str = "auto",
    level_zero: str = "exact",
    separator: SeparatorOf | None = None,
) -> Bound:
    """See `gpuga.lower_bound`; `separator` finds the cuts of a general table, then of any size."""
    if context is None:
        compiling.say_first()
    context = context or Context()
    table, _ = as_judged(table, Asked(context.strict, whole=whole, level_zero=level_zero))
    return bound(problem_for(table, context.strict, context.clock), context, separator)


def bound(problem: TableProblem, context: Context, separator: SeparatorOf | None = None) -> Bound:
    """The same for a problem."""
    context.progress.stage("bound")
    if not isinstance(problem, TwoWayProblem):
        return _general_bound(problem, context, separator)
    if not len(problem.plain_levels.place):
        return Bound(problem.base_cost, NOTHING, context.clock.spent())
    try:
        first = repair_of(problem, context).first(0, context.clock)
    except OutOfTime:
        return Bound(problem.base_cost, "what is suppressed beforehand", context.clock.spent())
    root = tightened(master_of(problem, first), context.clock)
    return Bound(problem.base_cost + root.bound, BY_CUTS, context.clock.spent(), root=root)


def _general_bound(problem: GeneralProblem, context: Context, separator: SeparatorOf | None) -> Bound:
    """What needs no attackers' programs or, if better, what these prove of small tables."""
    clock, found = context.clock, list[Bound]()
    programs = problem.weight.size <= MOST_CELLS_TO_PROVE or separator is not None
    if not programs or clock.seconds is not None:
        # the attackers' programs may leave no time to price their columns, without which they prove nothing
        part = clock.part(SHARE_OF_LINES) if programs else clock
        found.append(_without_programs(problem, replace(context, clock=part)))
    if programs:
        root = tightened(master_over((separator or AttackerSeparator)(problem)), clock)
        found.append(Bound(problem.base_cost + root.bound, BY_CUTS, root=root))
    return replace(max(found, key=lambda one: one.lower_bound), seconds=clock.spent())


def _without_programs(problem: GeneralProblem, context: Context) -> Bound:
    """What single lines prove, of very large tables what parts do."""
    if problem.weight.size <= MOST_CELLS_AT_ONCE:
        root = tightened(master_of(problem, quick=True), context.clock)
        return Bound(problem.base_cost + root.bound, BY_LINES, root=root)
    parts = PartsBound(problem.table)
    for _ in parts.rounds(context.clock):
        context.progress.advance(bound=parts.bound)
    return Bound(problem.base_cost + parts.bound, BY_PARTS)


def tightened(master: Master, clock: Clock) -> Master:
    """A master program whose bound stalls, or whose time is up."""
    master.tighten(clock)
    return master
