"""HiTaS, the modular method: sub-tables without sub-totals, one after the other from the top down.

A sub-table is one family (a total with its parts) per axis: a plain table without hierarchies. What is suppressed in
one is suppressed in all; in sub-tables below, a suppressed cell is protected like a primary (any movement will
do), since a narrow interval above would carry down. When a later sub-table suppresses a cell of an earlier one, that
one is protected again. Each sub-table has levels that hold inside it, which says little about the whole: the
audit judges the whole table at the end, and what falls short is repaired there.
"""

from __future__ import annotations

from collections import deque
from itertools import product

import numpy as np

from gpuga.circuits.cover import Cover
from gpuga.context import Context
from gpuga.errors import Infeasible
from gpuga.heuristics.hypercube import hypercube
from gpuga.problem.general import requirements_of
from gpuga.protection import Found
from gpuga.table.crossing import Crossing, Family, crossing_of
from gpuga.table.grid import flat_dimension, grid_lines
from gpuga.table.table import Grid, Ints, Levels, Mask, Status, Table

Node = tuple[Family, ...]
"""One family per axis."""

ROUNDS = 20
"""How often, on average, a sub-table may be protected again before the repair of the whole takes over."""


def modular(table: Table, context: Context) -> Found:
    """A safe pattern by sub-tables, then repaired and cleaned up as a whole."""
    crossing = crossing_of(table, context.clock.expired)
    start = table.forced.copy() if crossing is None else by_sub_tables(table, crossing, context)
    cover = Cover(table, requirements_of(table, context.strict, context.clock), context, start)
    order = np.argsort(-cover.tasks.need, kind="stable").tolist()
    cover.boost()
    cover.by_boxes(order)
    cover.by_lp(order)
    cover.clean_up()
    return Found(cover.suppressed, evaluations=1, proof=cover.proof())


def by_sub_tables(table: Table, crossing: Crossing, context: Context) -> Mask:
    """The union of the sub-tables' patterns, top down, with backtracking (bool[n])."""
    parts = sub_tables(crossing)
    home: dict[int, list[int]] = {}
    for number, (_, cells) in enumerate(parts):
        for cell in cells.tolist():
            home.setdefault(cell, []).append(number)
    suppressed = table.forced.copy()
    waiting, queued = deque(range(len(parts))), set(range(len(parts)))
    context.progress.stage("sub-tables", len(parts))
    left = ROUNDS * len(parts)
    while waiting and left and not context.clock.expired():
        left -= 1
        number = waiting.popleft()
        queued.discard(number)
        new = _protected(table, crossing, *parts[number], suppressed, context)
        suppressed[new] = True
        for again in sorted({other for cell in new.tolist() for other in home[cell]} - {number} - queued):
            waiting.append(again)
            queued.add(again)
        context.progress.advance()
    return suppressed


def sub_tables(crossing: Crossing) -> list[tuple[Node, Ints]]:
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


def _protected(table: Table, crossing: Crossing, node: Node, cells: Ints, suppressed: Mask, context: Context) -> Ints:
    """The cells that one sub-table suppresses in addition; none where it cannot be protected on its own."""
    hidden = suppressed[cells]
    if not hidden.any():
        return np.zeros(0, np.int64)
    sub = _table_of(table, crossing, node, cells, hidden)
    try:
        found = hypercube(sub, context)
    except Infeasible:
        return np.zeros(0, np.int64)
    return cells[found.suppressed & ~hidden]


def _table_of(table: Table, crossing: Crossing, node: Node, cells: Ints, hidden: Mask) -> Table:
    """A sub-table as a table of its own; what is hidden already is sensitive, with at least one unit of level."""
    dimensions, columns = [], []
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
