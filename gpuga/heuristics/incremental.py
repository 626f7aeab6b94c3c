"""The incremental attacker: two linear programs per sensitive cell (Smith, Clark, Staggemeier, Serpell 2012).

Each requirement in turn, if no change found so far proves it, gets the cheapest consistent change of the table
that reaches its level; all cells that moved become suppressed. Works on any linear table; in two dimensions the
programs are minimum-cost flows and are solved as such. As in the paper nothing is taken back; the variant `clean-up`
removes redundant cells at the end.
"""

from __future__ import annotations

import numpy as np

from gpuga.circuits.cover import Cover
from gpuga.circuits.min_cost_flow import Priced, priced, protect_by_flow
from gpuga.circuits.path_cover import by_paths, clean_up
from gpuga.circuits.paths import plain
from gpuga.compiled import compiled
from gpuga.context import Clock, Context
from gpuga.errors import GpugaError
from gpuga.parameters import CLEAN_UP, IncrementalParameters
from gpuga.problem.problem import problem_for
from gpuga.problem.two_way import FlowLevels, TwoWayProblem
from gpuga.protection import Found
from gpuga.safety.network import SECONDARY, PatternNetwork, clear, meets
from gpuga.table.table import Ints, Mask, Table


def incremental(table: Table, context: Context, parameters: IncrementalParameters = IncrementalParameters()) -> Found:
    """A safe pattern by the incremental attacker, sensitive cells by falling weight."""
    clean = parameters.variant == CLEAN_UP
    problem = problem_for(table, context.strict, context.clock)
    if isinstance(problem, TwoWayProblem):
        context.progress.stage("cheapest changes", len(problem.levels.place))
        secondary = by_flows(problem, context.clock)
        return Found(problem.pattern(clean_up(problem, secondary) if clean else secondary), evaluations=1)
    cover = Cover(table, problem.requirements, context)
    order = np.argsort(-table.weight[cover.requirements.cell], kind="stable")
    cover.presolve()
    cover.by_lp(order.tolist())
    if clean:
        cover.clean_up()
    return Found(cover.suppressed, evaluations=1, proof=cover.proof())


def by_flows(problem: TwoWayProblem, clock: Clock, order: Ints | None = None) -> Mask:
    """Secondary suppressions (bool[R, C]) that meet every level in order, each by a minimum-cost flow.

    Without an order heavy cells come first.

    When the time is up, shortest paths complete the pattern, as far as there is time for an answer.
    """
    pattern, everything, levels = problem.network(), priced(problem), problem.levels
    if order is None:
        order = np.argsort(-problem.weight.ravel()[levels.place], kind="stable")
    for at in range(len(order)):  # a flow in a large table takes a good part of a second
        if clock.expired():
            start = np.asarray(pattern.kind == SECONDARY)
            return by_paths(
                problem, problem.costs(), plain(), order=order, start=start, clean=False, clock=clock.finishing()
            )
        part = order[at : at + 1]
        if not _protect(pattern, everything, levels, part):
            raise GpugaError("internal error: the minimum-cost flow missed a level that can be met")
    return np.asarray(pattern.kind == SECONDARY)


@compiled
def _protect(pattern: PatternNetwork, everything: Priced, levels: FlowLevels, order: Ints) -> bool:
    """Meet the levels in order; False if one cannot be met."""
    for q in order:
        place, forward, need = levels.place[q], levels.forward[q], levels.need[q]
        met = meets(pattern, place, forward, need)
        clear(pattern)
        if not met and not protect_by_flow(pattern, everything, place, forward, need):
            return False
    return True
