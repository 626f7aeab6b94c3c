"""Parallel bound and path: N diverse patterns of a two-dimensional table (Almeida et al. 2008, section 3.1).

Phase 1 fills the volume that each sensitive cell needs in its own row, then in its own column, with the
cheapest cells, the n-th individual starting at the n-th cheapest; lone suppressions in lines without
sensitive cells are moved to where they can serve. Phase 2 completes by shortest paths. Then clean-up, which the paper
does apart from the heuristic: not as published.
"""

from __future__ import annotations

import numpy as np

from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.parameters import PbpParameters
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from gpuga.protection import Found
from gpuga.table.table import Ints, Mask, Table


def pbp(table: Table, context: Context, parameters: PbpParameters = PbpParameters()) -> Found:
    """The cheapest of `population` patterns."""
    problem = two_way_problem(table, context)
    patterns = pbp_patterns(problem, parameters.population, context, clean=not parameters.as_published)
    best = min(patterns, key=problem.cost)
    return Found(problem.pattern(best), evaluations=len(patterns))


def pbp_patterns(problem: TwoWayProblem, count: int, context: Context, clean: bool = True) -> list[Mask]:
    """`count` patterns as grids of secondary suppressions, all safe; fewer if the time runs out."""
    costs, policy = problem.costs(), plain()
    context.progress.stage("parallel bound and path", count)
    patterns: list[Mask] = []
    for n in range(count):
        if patterns and context.clock.expired():
            break
        start = _without_lone(problem, _bounded(problem, n))
        try:
            patterns.append(by_paths(problem, costs, policy, start=start, clean=clean))
        except OutOfTime:
            if not patterns:
                raise
            break
        context.progress.advance(best=min(problem.cost(p) for p in patterns))
    return patterns


def _bounded(problem: TwoWayProblem, n: int) -> Mask:
    """Phase 1 for individual n: enough volume in the row and the column of every sensitive cell."""
    levels, columns = problem.levels, problem.shape[1]
    chosen = np.zeros(problem.shape, bool)
    value = problem.plane.lay(problem.plane.table.value).ravel()[levels.place].astype(np.int64)
    order = np.argsort(-value, kind="stable")
    for q in order:
        row = int(levels.place[q]) // columns
        _fill(problem, chosen, np.arange(columns) + row * columns, int(q), n)
    for q in order:
        column = int(levels.place[q]) % columns
        _fill(problem, chosen, np.arange(problem.shape[0]) * columns + column, int(q), n)
    return chosen


def _fill(problem: TwoWayProblem, chosen: Mask, line: Ints, q: int, n: int) -> None:
    """Suppress places of a line, cheapest first from the n-th on, until their capacities reach the level."""
    need = int(problem.levels.need[q])
    line = line[line != problem.levels.place[q]]
    # the counter-flow of a cell that carries flow forward leaves its column and enters its row over backward arcs
    capacity = np.minimum(
        (problem.net.backward if problem.levels.forward[q] else problem.net.forward).ravel()[line], need
    )
    suppressed = (problem.forced | chosen).ravel()[line]
    missing = need - int(capacity[suppressed].sum())
    usable = np.flatnonzero(problem.candidate.ravel()[line] & ~suppressed & (capacity > 0))
    if missing <= 0 or not len(usable):
        return
    usable = usable[np.argsort(problem.weight.ravel()[line[usable]], kind="stable")]
    usable = np.roll(usable, -(n % len(usable)))
    enough = int(np.searchsorted(np.cumsum(capacity[usable]), missing)) + 1
    chosen.reshape(-1)[line[usable[:enough]]] = True


def _without_lone(problem: TwoWayProblem, chosen: Mask) -> Mask:
    """Move suppressions that stand alone in a row or column without sensitive cells."""
    moved = _lone_rows_moved(chosen, problem.forced, problem.candidate, problem.weight)
    return _lone_rows_moved(moved.T, problem.forced.T, problem.candidate.T, problem.weight.T).T.copy()


def _lone_rows_moved(chosen: Mask, forced: Mask, candidate: Mask, weight: Ints) -> Mask:
    """Exchange each lone suppression for the cheapest, no lighter cell of its column in a row with others.

    No circuit passes through a row with one suppression. Where no such cell exists it is left to phase 2.
    """
    chosen = chosen.copy()
    for i in np.flatnonzero((chosen.sum(1) == 1) & ~forced.any(1)):
        j = int(np.flatnonzero(chosen[i])[0])
        rows = candidate[:, j] & ~chosen[:, j] & (forced | chosen).any(1) & (weight[:, j] >= weight[i, j])
        rows[i] = False
        chosen[i, j] = False
        if rows.any():
            places = np.flatnonzero(rows)
            chosen[places[np.argmin(weight[places, j])], j] = True
        else:
            chosen[i, j] = True
    return chosen
