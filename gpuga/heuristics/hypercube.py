"""The hypercube heuristic: cheapest boxes around each sensitive cell (rectangles in two dimensions).

After Repsilber's method as Herrington (2015) describes it: each sensitive cell in turn, if it is not yet
safe, gets the cheapest box whose corners carry its level, suppressed corners costing nothing; then
redundant cells are removed. A level that no single box carries gets what the incremental attacker (any
table) or shortest paths (two-way tables) find, so that whatever can be protected is. As published, in two-way tables:
random orders of the sensitive cells, rectangles until each is safe, the cheapest of ten runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.cover import Cover
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.heuristics.repeated_rectangles import Rectangles, rectangles_until_safe
from gpuga.parameters import HypercubeParameters
from gpuga.problem.problem import problem_for
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from gpuga.protection import Found
from gpuga.safety.boxes import BoxSearch, box_grid
from gpuga.safety.requirements import Requirements
from gpuga.table.table import Ints, Mask, Table


def hypercube(table: Table, context: Context, parameters: HypercubeParameters = HypercubeParameters()) -> Found:
    """A safe pattern by boxes, the largest levels first, without its redundant cells."""
    if parameters.as_published:
        return _as_published(two_way_problem(table, context), context, parameters.runs)
    problem = problem_for(table, context.strict, context.clock)
    if isinstance(problem, TwoWayProblem):
        boxed = rectangles(problem, largest_first(problem.levels.need))
        secondary = by_paths(problem, problem.costs(), plain(), start=boxed)
        return Found(problem.pattern(secondary), evaluations=1)
    cover = Cover(table, problem.requirements, context)
    order = largest_first(cover.requirements.need)
    cover.presolve()
    context.progress.stage("boxes", len(order))
    cover.by_boxes(order.tolist())
    cover.by_lp(order.tolist())
    cover.clean_up()
    return Found(cover.suppressed, evaluations=1, proof=cover.proof())


def _as_published(problem: TwoWayProblem, context: Context, runs: int) -> Found:
    """The cheapest of so many random orders; what rectangles could not protect is counted over all runs."""
    random, found = np.random.Generator(np.random.PCG64(context.seed)), list[Rectangles]()
    sensitive = len(np.unique(problem.levels.place))
    context.progress.stage("rectangles", runs)
    while len(found) < runs and not (found and context.clock.expired()):
        try:
            found.append(rectangles_until_safe(problem, levels_by_cell(problem, random.permutation(sensitive))))
        except OutOfTime:
            if not found:
                raise
            break
        context.progress.advance(best=min(problem.cost(one.secondary) for one in found))
    best = min(found, key=lambda one: problem.cost(one.secondary))
    details = {
        "runs": len(found),
        "failed_levels": sum(one.failed for one in found),
        "levels_without_rectangle": sum(one.narrow for one in found),
    }
    return Found(problem.pattern(best.secondary), evaluations=len(found), details=details)


def levels_by_cell(problem: TwoWayProblem, order: Ints) -> Ints:
    """The levels cell by cell, in an order of the places that have any (numbered as they lie)."""
    _, of_level = np.unique(problem.levels.place, return_inverse=True)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return np.argsort(rank[of_level], kind="stable")


def largest_first(need: Ints) -> Ints:
    """Positions by falling need: what is hard to cover comes first and covers much of the rest."""
    return np.argsort(-need, kind="stable")


def rectangles(problem: TwoWayProblem, order: Ints, blur: NDArray[np.float64] | None = None) -> Mask:
    """The union of the cheapest rectangles of the open levels of a plane, taken in order until the time is up.

    `blur` float64[n] multiplies the weights of the table's cells, for other rectangles than the usual ones.
    """
    table = problem.plane.table
    boxes = box_grid(table)
    assert boxes is not None, "a plane always has a box grid"
    if blur is not None:
        boxes = boxes.reweighted((table.weight * blur).astype(np.int64))
    levels = problem.levels
    cells = problem.plane.cell.ravel()[levels.place[order]]
    sign = problem.plane.sign.ravel()[levels.place[order]]
    direction = np.where(levels.forward[order], 1, -1) * sign
    requirements = Requirements(cells.astype(np.int32), direction.astype(np.int8), levels.need[order])
    _, witnesses = BoxSearch(boxes, table.forced).protect(requirements, problem.clock.expired)
    suppressed = table.forced.copy()
    suppressed[witnesses.cell] = True
    return problem.secondary(suppressed)
