"""HiTaS, the modular method (de Wolf 2002): sub-tables without sub-totals, one after the other from the top down.

A sub-table is one family (a total with its parts) per axis: a plain table without hierarchies, protected as cheaply as
the search of `exact` can within its share of the time, or of steps where time is not limited. What is suppressed in
one is suppressed in all; in sub-tables below, a suppressed cell is protected like a primary (any movement will
do), since a narrow interval above would carry down. When a later sub-table suppresses a cell of an earlier one, that
one is protected again. Each sub-table has levels that hold inside it, which says little about the whole: the
audit judges the whole table at the end, and what falls short is repaired there. Large tables whose families overlap
are not divided.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from itertools import islice, product

import numpy as np

from gpuga.bounds.search import MOST_CELLS_AT_ONCE, MOST_CELLS_TO_PROVE, BranchAndCut
from gpuga.circuits.cover import Cover
from gpuga.context import Context, Silent
from gpuga.errors import Infeasible, OutOfTime
from gpuga.problem.general import requirements_of
from gpuga.problem.problem import problem_for
from gpuga.protection import Found
from gpuga.table.crossing import CrossedAxes, Family, crossing_of
from gpuga.table.grid import flat_dimension, grid_lines
from gpuga.table.table import Grid, Ints, Levels, Mask, Status, Table
from gpuga.table.two_way import two_way_table

Node = tuple[Family, ...]
"""One family per axis."""

SubTable = tuple[Node, Ints]
"""Its families and its cells."""

ROUNDS = 20
"""How often, on average, a sub-table may be protected again before the repair of the whole takes over."""

LEAST_STEPS, MOST_STEPS, ALL_STEPS = 10, 150, 1_000
"""Steps of the search in one sub-table (rounds of cuts, dives, some nodes of the tree), and in all of them: without a
time limit it ends, too."""

SHARE = 0.7
"""Of a limited time, what the sub-tables may take; the rest is for the whole."""


def modular(table: Table, context: Context) -> Found:
    """A safe pattern by sub-tables, then repaired as a whole, without what the whole can do without."""
    small = len(table) <= MOST_CELLS_TO_PROVE
    crossing = crossing_of(table, context.clock.expired)
    several = crossing is not None and (small or _is_hierarchy(crossing)) and len(sub_tables(crossing)) > 1
    if crossing is not None and several:
        start: Mask | None = by_sub_tables(table, crossing, context)
    else:
        start = protected(table, MOST_STEPS, replace(context, clock=context.clock.part(SHARE)))
        if start is not None and two_way_table(table) is not None:
            return Found(start, evaluations=1)  # flows audit it at once
    cover = Cover(table, requirements_of(table, context.strict, context.clock), context, start)
    order = np.argsort(-cover.requirements.need, kind="stable").tolist()
    cover.presolve()
    if not small:  # programs find what is there already, and would take too long here
        cover.by_boxes(order)
    cover.by_lp(order)
    used = cover.suppressed.copy()
    cover.clean_up()
    if not small:
        cover.exchange()
    elif several:
        cover = _cheapest_part(cover, used, replace(context, clock=context.clock.part(SHARE)))
        cover.inside(order)  # the circuits come along: the audit has little time left
    return Found(cover.suppressed, evaluations=1, proof=cover.proof())


def _is_hierarchy(crossing: CrossedAxes) -> bool:
    """Whether every code has one total at most.

    Where families overlap, as in linked tables, the equations of several sub-tables together can fix every cell that
    each of them alone protects; what was suppressed is of no use then. In a small table the search mends that.
    """
    return all(axis.parent is not None for axis in crossing.axes)


def _cheapest_part(cover: Cover, used: Mask, context: Context) -> Cover:
    """The cheapest pattern found of the cells used so far (bool[n]) and of boxes for the same requirements.

    Sub-tables know nothing of ways through several of them; boxes go such ways.
    """
    table, boxed = cover.table, Cover(cover.table, cover.requirements, replace(cover.context, first=None))
    boxed.by_boxes(range(len(cover.requirements)))
    status = np.where(used | boxed.suppressed, table.status, Status.FROZEN).astype(np.uint8)
    start = replace(context, start=(cover.suppressed,))
    found = protected(replace(table, status=status), MOST_STEPS, start)
    if found is None or table.cost(found) >= table.cost(cover.suppressed):
        return cover
    return Cover(table, cover.requirements, cover.context, found)


def by_sub_tables(table: Table, crossing: CrossedAxes, context: Context) -> Mask:
    """The union of the sub-tables' patterns, top down, with backtracking (bool[n])."""
    parts = sub_tables(crossing)
    home: dict[int, list[int]] = {}
    for number, (_, cells) in enumerate(parts):
        for cell in cells.tolist():
            home.setdefault(cell, []).append(number)
    suppressed, allowed, alone = table.forced.copy(), context.clock.part(SHARE), replace(context, start=())
    waiting = Waiting([len(cells) for _, cells in parts])
    context.progress.stage("sub-tables", len(parts))
    left, steps = ROUNDS * len(parts), min(MOST_STEPS, max(LEAST_STEPS, ALL_STEPS // max(1, len(parts))))
    while waiting and left and not allowed.expired():
        left -= 1
        number, share = waiting.take()
        cells, hidden = parts[number][1], suppressed[parts[number][1]]
        new = cells[:0]
        if hidden.any():
            part = _table_of(table, crossing, parts[number], hidden)
            found = protected(part, steps, replace(alone, clock=allowed.part(share)))
            new = new if found is None else cells[found & ~hidden]
        suppressed[new] = True
        for again in sorted({other for cell in new.tolist() for other in home[cell]} - {number}):
            waiting.add(again)
        context.progress.advance()
    return suppressed


class Waiting:
    """The sub-tables that wait for protection, each once, by their numbers of cells (at first all of them in turn)."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes, self.cells = sizes, 0
        self._queue: OrderedDict[int, None] = OrderedDict()
        for number in range(len(sizes)):
            self.add(number)

    def __bool__(self) -> bool:
        return bool(self._queue)

    def add(self, number: int) -> None:
        """Let one wait, at the end; one that waits already keeps its place."""
        if number not in self._queue:
            self._queue[number] = None
            self.cells += self.sizes[number]

    def take(self) -> tuple[int, float]:
        """The first, and its share of the time: by its cells among those of all that wait."""
        number, _ = self._queue.popitem(last=False)
        share = self.sizes[number] / self.cells
        self.cells -= self.sizes[number]
        return number, share


def sub_tables(crossing: CrossedAxes) -> list[SubTable]:
    """A family per axis and the cells of that sub-table, for all of them, those nearest to the grand total first."""
    depth = [axis.depth for axis in crossing.axes]
    nodes = product(*(sorted(axis.families) for axis in crossing.axes))
    ranked = sorted(nodes, key=lambda node: (sum(int(depth[d][total]) for d, (total, _) in enumerate(node)), node))
    found = []
    for node in ranked:
        codes = np.ix_(*(np.array([*parts, total]) for total, parts in node))
        cells = crossing.cell_at[np.ravel_multi_index(codes, crossing.shape).ravel()].astype(np.int64)
        cells = cells[cells >= 0]
        if len(cells) > 1:
            found.append((node, cells))
    return found


def protected(table: Table, steps: int, context: Context) -> Mask | None:
    """The cheapest pattern (bool[n]) found in so many steps; None where there is none, or none in time."""
    if len(table) > (MOST_CELLS_TO_PROVE if two_way_table(table) is None else MOST_CELLS_AT_ONCE):
        return None
    try:
        problem = problem_for(table, context.strict, context.clock)
        if problem.done:
            return table.forced.copy()
        search = BranchAndCut(problem, replace(context, progress=Silent(), first=None))
        for _ in islice(search.steps(), steps):
            pass
        return problem.pattern(search.best)
    except (Infeasible, OutOfTime):
        return None


def _table_of(table: Table, crossing: CrossedAxes, one: SubTable, hidden: Mask) -> Table:
    """A sub-table as a table of its own; what is hidden already is sensitive, with at least one unit of level."""
    (node, cells), dimensions, columns = one, [], []
    for axis, (total, parts) in enumerate(node):
        dimensions.append(flat_dimension(f"axis {axis + 1}", [str(code) for code in parts], str(total)))
        position = np.zeros(crossing.axes[axis].codes, np.int32)
        position[[*parts, total]] = np.arange(len(parts) + 1)
        columns.append(position[crossing.coordinate[cells, axis]])
    part = Grid(tuple(dimensions), np.stack(columns, axis=1).astype(np.int32))
    status = np.where(hidden & table.suppressible[cells], Status.SENSITIVE, table.status[cells]).astype(np.uint8)
    needs = [np.where(hidden, np.maximum(level[cells], least), 0) for level, least in _levels(table)]
    lines = grid_lines(part)  # where the table has holes, some of these are none of its equations
    lines = lines.subset(np.flatnonzero(lines.residual(table.value[cells]) == 0))
    return Table.build(
        table.value[cells],
        lines,
        status=status,
        weight=table.weight[cells],
        lb=table.lb[cells],
        ub=table.ub[cells],
        levels=Levels(*needs),
        scale=table.scale,
        weight_scale=table.weight_scale,
        grid=part,
    )


def _levels(table: Table) -> tuple[tuple[Ints, int], ...]:
    """The levels with what is least asked of any hidden cell; a unit upwards, which nearly every cell has room for."""
    levels = table.levels
    return (levels.lower, 0), (levels.upper, 1), (levels.sliding, 0)
