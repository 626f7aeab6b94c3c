"""Proven optima and lower bounds of any table, by one search."""

from __future__ import annotations

import numpy as np

from gpuga.bounds.incumbent import BY_CUTS, BY_LINES
from gpuga.bounds.search import MOST_CELLS_TO_PROVE, Search, master_of, repair_of
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.problem.problem import TableProblem, problem_for
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Bound, Found
from gpuga.table.attacker_model import Asked, as_judged
from gpuga.table.table import Table

NOTHING = "nothing to protect"


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
    return Found(problem.pattern(search.best), search.proven_bound(), search.nodes, search.patterns, search.details)


def lower_bound(
    table: Table, context: Context | None = None, *, whole: str = "auto", level_zero: str = "exact"
) -> Bound:
    """What no safe pattern can undercut, in units of `1/weight_scale`; exact, whatever the solver says.

    Works until the bound stalls or the context's clock has run out; any time gives a valid bound. Against an attacker
    who knows that values are whole, levels are whole too, and a bound for the linear attacker stays true.
    """
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
    quick = not isinstance(problem, TwoWayProblem) and problem.weight.size > MOST_CELLS_TO_PROVE
    master = master_of(problem, first, quick)
    master.tighten(context.clock)
    kind = BY_LINES if quick else BY_CUTS
    return Bound(problem.base_cost + master.bound, kind, context.clock.spent(), root=master)
