"""The hypercube heuristic: cheapest boxes around each sensitive cell (rectangles in two dimensions).

After Repsilber's method as Herrington (2015) describes it: each sensitive cell in turn, if it is not yet
safe, gets the cheapest box whose corners carry its level, suppressed corners costing nothing; then
redundant cells are removed. A level that no single box carries gets what the incremental attacker (any
table) or shortest paths (two-way tables) find, so that whatever can be protected is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.cover import Cover
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.problem.problem import problem_for
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Found
from gpuga.safety.boxes import BoxSearch, box_grid
from gpuga.safety.tasks import Tasks
from gpuga.table.table import Ints, Mask, Table


def hypercube(table: Table, context: Context) -> Found:
    """A safe pattern by boxes, the largest levels first, without its redundant cells."""
    problem = problem_for(table, context.strict, context.clock)
    if isinstance(problem, TwoWayProblem):
        boxed = rectangles(problem, largest_first(problem.levels.need))
        secondary = by_paths(problem, problem.costs(), plain(), start=boxed)
        return Found(problem.pattern(secondary), evaluations=1)
    cover = Cover(table, problem.requirements, context)
    order = largest_first(cover.tasks.need)
    cover.boost()
    context.progress.stage("boxes", len(order))
    cover.by_boxes(order.tolist())
    cover.by_lp(order.tolist())
    cover.clean_up()
    return Found(cover.suppressed, evaluations=1, proof=cover.proof())


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
    tasks = Tasks(cells.astype(np.int32), direction.astype(np.int8), levels.need[order])
    _, witnesses = BoxSearch(boxes, table.forced).protect(tasks, problem.clock.expired)
    suppressed = table.forced.copy()
    suppressed[witnesses.cell] = True
    return problem.secondary(suppressed)
