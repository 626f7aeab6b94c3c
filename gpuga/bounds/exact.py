"""Proven optima and lower bounds of any table, by one search."""

from __future__ import annotations

import numpy as np

from gpuga import compiling
from gpuga.bounds.incumbent import BY_CUTS, BY_LINES
from gpuga.bounds.master import Master
from gpuga.bounds.search import MOST_CELLS_TO_PROVE, Search, master_of, repair_of
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.problem.problem import TableProblem, problem_for
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Bound, Found
from gpuga.table.attacker_model import Asked, as_judged
from gpuga.table.table import Table

NOTHING = "nothing to protect"

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
    search = Search(problem, context)
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
    table: Table, context: Context | None = None, *, whole: str = "auto", level_zero: str = "exact"
) -> Bound:
    """What no safe pattern of a `table` can undercut, in units of `1/weight_scale`; exact, whatever the solver says.

    Works until the bound stalls or the clock of `context` (`gpuga.context.Context`, which also says whether levels are
    `strict`) has run out; any time gives a valid bound. `whole` and `level_zero` say what the attacker knows, as in
    `gpuga.protect`. Against one who knows that values are whole, levels are whole too, and a bound for the linear
    attacker stays true.
    """
    if context is None:
        compiling.say_first()
    context = context or Context()
    table, _ = as_judged(table, Asked(context.strict, whole=whole, level_zero=level_zero))
    return bound(problem_for(table, context.strict, context.clock), context)


def bound(problem: TableProblem, context: Context) -> Bound:
    """The same for a problem."""
    context.progress.stage("bound")
    first = None
    if isinstance(problem, TwoWayProblem):
        if not len(problem.plain_levels.place):
            return Bound(problem.base_cost, NOTHING, context.clock.spent())
        try:
            first = repair_of(problem, context).first(0, context.clock)
        except OutOfTime:
            return Bound(problem.base_cost, "what is suppressed beforehand", context.clock.spent())
    roots = []
    general = not isinstance(problem, TwoWayProblem)
    if general and context.clock.seconds is not None and problem.weight.size <= MOST_CELLS_TO_PROVE:
        # the attackers' programs may leave no time to price their columns, without which they prove nothing
        roots.append((BY_LINES, tightened(master_of(problem, quick=True), context.clock.part(SHARE_OF_LINES))))
    quick = general and problem.weight.size > MOST_CELLS_TO_PROVE
    roots.append((BY_LINES if quick else BY_CUTS, tightened(master_of(problem, first, quick), context.clock)))
    kind, root = max(roots, key=lambda one: one[1].bound)
    return Bound(problem.base_cost + root.bound, kind, context.clock.spent(), root=root)


def tightened(master: Master, clock: Clock) -> Master:
    """A master program whose bound stalls, or whose time is up."""
    master.tighten(clock)
    return master
