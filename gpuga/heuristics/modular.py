"""HiTaS, the modular method: sub-tables without sub-totals, one after the other from the top down.

A sub-table is one node per dimension with its parts: a plain table without hierarchies. What is suppressed in
one is suppressed in all; in sub-tables below, a suppressed cell is protected like a primary (any movement will
do), since a narrow interval above would carry down. When a later sub-table suppresses a cell of an earlier one, that
one is protected again. Each sub-table has levels that hold inside it, which says little about the whole: the
audit judges the whole table at the end, and what falls short is repaired there.
"""

from __future__ import annotations

from collections import deque
from itertools import product

import numpy as np

from gpuga.circuits.cover import Cover, tasks_for
from gpuga.context import Context
from gpuga.errors import Infeasible
from gpuga.heuristics.hypercube import hypercube
from gpuga.protection import Found
from gpuga.table.grid import grid_lines
from gpuga.table.table import Dimension, Grid, Ints, Levels, Mask, Status, Table

ROUNDS = 20
"""How often, on average, a sub-table may be protected again before the repair of the whole takes over."""


def modular(table: Table, context: Context) -> Found:
    """A safe pattern by sub-tables, then repaired and cleaned up as a whole."""
    start = table.forced.copy() if table.grid is None else by_sub_tables(table, table.grid, context)
    cover = Cover(table, tasks_for(table, context.strict), context, start)
    order = np.argsort(-cover.tasks.need, kind="stable").tolist()
    cover.by_boxes(order)
    cover.by_lp(order)
    cover.clean_up()
    return Found(cover.suppressed, evaluations=1, proof=cover.proof())


def by_sub_tables(table: Table, grid: Grid, context: Context) -> Mask:
    """The union of the sub-tables' patterns, top down, with backtracking (bool[n])."""
    parts = sub_tables(grid)
    home: dict[int, list[int]] = {}
    for number, cells in enumerate(parts):
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
        new = _protected(table, grid, parts[number], suppressed, context)
        suppressed[new] = True
        for again in sorted({other for cell in new.tolist() for other in home[cell]} - {number} - queued):
            waiting.append(again)
            queued.add(again)
        context.progress.advance()
    return suppressed


def sub_tables(grid: Grid) -> list[Ints]:
    """The cells of every sub-table, those nearest to the grand total first."""
    families = [_families(dimension) for dimension in grid.dimensions]
    depth = [d.depth for d in grid.dimensions]
    nodes = product(*(sorted(f) for f in families))
    ranked = sorted(nodes, key=lambda node: (sum(int(depth[d][code]) for d, code in enumerate(node)), node))
    position = {int(flat): cell for cell, flat in enumerate(grid.flat)}
    found = []
    for node in ranked:
        codes = np.ix_(*(np.array(families[d][code]) for d, code in enumerate(node)))
        flat = np.ravel_multi_index(codes, grid.shape).ravel()
        cells = np.array([position[f] for f in flat.tolist() if f in position], np.int64)
        if len(cells) > 1:
            found.append(cells)
    return found


def _families(dimension: Dimension) -> dict[int, list[int]]:
    """Each code that has parts, with its parts and itself, the total last."""
    parts: dict[int, list[int]] = {}
    for code, parent in enumerate(dimension.parent.tolist()):
        if parent >= 0:
            parts.setdefault(parent, []).append(code)
    return {total: [*codes, total] for total, codes in parts.items()}


def _protected(table: Table, grid: Grid, cells: Ints, suppressed: Mask, context: Context) -> Ints:
    """The cells that one sub-table suppresses in addition; none where it cannot be protected on its own."""
    hidden = suppressed[cells]
    if not hidden.any():
        return np.zeros(0, np.int64)
    sub = _table_of(table, grid, cells, hidden)
    try:
        found = hypercube(sub, context)
    except Infeasible:
        return np.zeros(0, np.int64)
    return cells[found.suppressed & ~hidden]


def _table_of(table: Table, grid: Grid, cells: Ints, hidden: Mask) -> Table:
    """A sub-table as a table of its own; what is hidden already is sensitive, with at least one unit of level."""
    dimensions, columns = [], []
    for axis, dimension in enumerate(grid.dimensions):
        codes, column = np.unique(grid.coordinate[cells, axis], return_inverse=True)
        total = codes[np.argmin(dimension.depth[codes])]
        parent = np.full(len(codes), int(np.flatnonzero(codes == total)[0]), np.int32)
        parent[codes == total] = -1
        dimensions.append(Dimension(dimension.name, tuple(dimension.codes[c] for c in codes), parent))
        columns.append(column)
    part = Grid(tuple(dimensions), np.stack(columns, axis=1).astype(np.int32))
    status = np.where(hidden & table.suppressible[cells], Status.SENSITIVE, table.status[cells]).astype(np.uint8)
    needs = [np.where(hidden, np.maximum(level[cells], least), 0) for level, least in _levels(table)]
    return Table.build(
        table.value[cells],
        grid_lines(part),
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
