"""Proven optima and lower bounds of any table, by one search."""

from __future__ import annotations

from collections.abc import Callable

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
    """What single lines prove or, if better, attackers' programs of small tables; of very large ones what parts do."""
    clock, roots = context.clock, []
    programs = problem.weight.size <= MOST_CELLS_TO_PROVE or separator is not None
    if not programs and problem.weight.size > MOST_CELLS_AT_ONCE:
        parts = PartsBound(problem.table)
        for _ in parts.rounds(clock):
            context.progress.advance(bound=parts.bound)
        return Bound(problem.base_cost + parts.bound, BY_PARTS, clock.spent())
    if not programs or clock.seconds is not None:
        # the attackers' programs may leave no time to price their columns, without which they prove nothing
        part = clock.part(SHARE_OF_LINES) if programs else clock
        roots.append((BY_LINES, tightened(master_of(problem, quick=True), part)))
    if programs:
        roots.append((BY_CUTS, tightened(master_over((separator or AttackerSeparator)(problem)), clock)))
    kind, root = max(roots, key=lambda one: one[1].bound)
    return Bound(problem.base_cost + root.bound, kind, clock.spent(), root=root)


def tightened(master: Master, clock: Clock) -> Master:
    """A master program whose bound stalls, or whose time is up."""
    master.tighten(clock)
    return master
