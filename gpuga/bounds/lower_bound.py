"""A proven lower bound on the cost of any safe pattern."""

from __future__ import annotations

from gpuga.bounds.general_exact import general_bound
from gpuga.bounds.relaxation import Relaxation
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.heuristics.plane_problem import problem_of
from gpuga.heuristics.shortest_path import by_paths
from gpuga.protection import Bound
from gpuga.safety.model import as_judged
from gpuga.table.plane import plane_of
from gpuga.table.table import Table


def lower_bound(
    table: Table, context: Context | None = None, *, whole: str = "auto", level_zero: str = "exact"
) -> Bound:
    """What no safe pattern can undercut, in units of `1/weight_scale`; exact, whatever the solver says.

    Works until the bound stalls or the context's clock has run out; any time gives a valid bound. Against an attacker
    who knows that values are whole, levels are whole too, and a bound for the linear attacker stays true.
    """
    context = context or Context()
    table, _ = as_judged(table, whole, level_zero, context.strict)
    plane = plane_of(table)
    if plane is None:
        return general_bound(table, context)
    problem = problem_of(plane, context.strict, context.clock)
    if not len(problem.plain_levels.place):
        return Bound(problem.base_cost, "nothing to protect", context.clock.spent())
    context.progress.stage("bound")
    try:
        some = by_paths(problem, problem.costs(), plain())
    except OutOfTime:
        return Bound(problem.base_cost, "what is suppressed beforehand", context.clock.spent())
    relaxation = Relaxation(problem, some)
    relaxation.tighten(context.clock)
    return Bound(problem.base_cost + relaxation.bound, "cutting planes", context.clock.spent(), root=relaxation)
