"""Shortest paths for two-dimensional tables (Carvalho et al. 1994; Almeida et al. 2008, section 3.1).

Each level in turn gets a sequence of cheapest augmenting paths until their capacity covers it; what is
suppressed costs nothing from then on. Then clean-up.
"""

from __future__ import annotations

import numpy as np

from gpuga.circuits.paths import Costs, Log, Taste, new_log, plain, protect_level
from gpuga.circuits.witness_lists import Levels, WitnessLists, new_lists, remember, show
from gpuga.compiled import compiled
from gpuga.context import Clock, Context
from gpuga.errors import GpugaError, OutOfTime
from gpuga.heuristics.cleanup import heaviest_first, publish_redundant
from gpuga.heuristics.plane_problem import PlaneProblem, plane_problem
from gpuga.protection import Found
from gpuga.safety.network import SECONDARY, Flow, Links, Network, clear
from gpuga.table.table import Ints, Mask, Table

LEVELS_AT_ONCE = 16
"""Levels between two looks at the clock."""


def shortest_path(table: Table, context: Context) -> Found:
    """A safe pattern by shortest paths in the order of the table, cleaned up."""
    problem = plane_problem(table, context)
    context.progress.stage("shortest paths", len(problem.levels.place))
    secondary = by_paths(problem, problem.costs(), plain())
    return Found(problem.pattern(secondary), evaluations=1)


def by_paths(
    problem: PlaneProblem,
    costs: Costs,
    taste: Taste,
    *,
    order: Ints | None = None,
    start: Mask | None = None,
    clean: bool = True,
    clock: Clock | None = None,
) -> Mask:
    """Secondary suppressions (bool[R, C]) that contain `start` (before clean-up) and meet every level.

    Levels are protected in the given order, `start` costs nothing. This is also the repair of a pattern. Raises
    `OutOfTime` where the clock, by default the problem's, ends before all levels are met; it may also end the clean-up.
    """
    clock = clock or problem.clock
    links = problem.links(start)
    count = len(problem.levels.place)
    lists = new_lists(count, problem.weight.size)
    log = new_log(problem.weight.size)
    order = np.arange(count) if order is None else np.asarray(order, np.int64)
    for begin in range(0, count, LEVELS_AT_ONCE):
        if clock.expired():
            raise OutOfTime("time ran out before the first safe pattern was found; allow more with --seconds")
        part = order[begin : begin + LEVELS_AT_ONCE]
        if not _protect(problem.net, links, problem.flow, problem.levels, lists, costs, taste, log, part):
            raise GpugaError("internal error: the path search missed a level that can be met")
    if clean:
        publish_redundant(problem, links, lists, heaviest_first(problem, links), clock)
    return np.asarray(links.kind == SECONDARY)


@compiled
def _protect(
    net: Network,
    links: Links,
    flow: Flow,
    levels: Levels,
    lists: WitnessLists,
    costs: Costs,
    taste: Taste,
    log: Log,
    order: Ints,
) -> bool:
    """Protect the levels in order; False if one cannot be."""
    for q in order:
        if show(net, links, flow, levels, lists, q):
            continue
        if not protect_level(net, links, flow, costs, taste, log, levels.place[q], levels.forth[q], levels.need[q]):
            clear(flow)
            return False
        remember(lists, links, flow, q)
    return True
