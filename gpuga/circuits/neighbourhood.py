"""The neighbourhood of a cell: a small part of a large table in which a cheap change can be looked for.

From the cell outwards, line by line: every line that is reached gets a few cells, so that its balance can
be kept. Cells that lie on many lines already reached come first; in a grid these are the missing corners
of boxes, so the neighbourhood closes upon itself instead of growing without end. A change inside the
neighbourhood is a change of the whole table; that none is found there says nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled, inner, whole
from gpuga.table.table import Ints, Mask, Table


class Neighbourhoods:
    """Neighbourhoods of one table's cells."""

    def __init__(self, table: Table) -> None:
        self.lines = table.lines
        self.cell_start, self.cell_line, _ = table.lines.by_cell(len(table))
        self.room = np.minimum(table.up, table.down)
        self.weight = table.weight

    def around(self, cell: int, room: int, suppressed: Mask, per_line: int, most: int) -> Ints:
        """At most about `most` cells around `cell`, ascending; about `per_line` in each line that is reached.

        Only cells with that much room both ways come in.
        """
        return self.inside_out(cell, room, suppressed, per_line, most)[0]

    def inside_out(self, cell: int, room: int, suppressed: Mask, per_line: int, most: int) -> tuple[Ints, Mask]:
        """As `around`, and whether all lines of a cell have their full number of cells: what lies inside."""
        lines = self.lines
        cells, reached = _around(
            lines.start,
            lines.cell,
            self.cell_start,
            self.cell_line,
            self.room,
            self.weight,
            suppressed,
            whole(cell),
            whole(room),
            whole(per_line),
            whole(most),
        )
        cells = np.sort(cells)
        return cells, _inside(self.cell_start, self.cell_line, reached, cells, whole(per_line))


@compiled
def _around(
    line_start: Ints,
    line_cell: NDArray[np.int32],
    cell_start: Ints,
    cell_line: NDArray[np.int32],
    room: Ints,
    weight: Ints,
    suppressed: Mask,
    cell: int,
    least: int,
    per_line: int,
    most: int,
) -> tuple[Ints, NDArray[np.int32]]:
    """The cells in the order in which they come in, and how many of them each line has (int32[m])."""
    chosen = np.zeros(len(room), np.bool_)
    reached = np.zeros(len(line_start) - 1, np.int32)
    queue = np.empty(len(room), np.int64)
    queue[0], size, at = cell, 1, 0
    chosen[cell] = True
    for e in range(cell_start[cell], cell_start[cell + 1]):
        reached[cell_line[e]] += 1
    while at < size < most:
        own = queue[at]
        at += 1
        for e in range(cell_start[own], cell_start[own + 1]):
            line = cell_line[e]
            # ranked as the line is found, before any of its cells comes in
            wanted = _wanted(
                line_start, line_cell, cell_start, cell_line, room, weight, suppressed, chosen, reached, line, least,
                per_line - reached[line],
            )  # fmt: skip
            for other in wanted:
                chosen[other] = True
                queue[size] = other
                size += 1
                for q in range(cell_start[other], cell_start[other + 1]):
                    reached[cell_line[q]] += 1
    return queue[:size].copy(), reached


@inner
def _wanted(
    line_start: Ints,
    line_cell: NDArray[np.int32],
    cell_start: Ints,
    cell_line: NDArray[np.int32],
    room: Ints,
    weight: Ints,
    suppressed: Mask,
    chosen: Mask,
    reached: NDArray[np.int32],
    line: int,
    least: int,
    short: int,
) -> Ints:
    """The cells that a line still needs: corners of boxes first, then hidden, simple and cheap ones."""
    found = np.empty(max(short, 0), np.int64)
    away, price = np.empty(max(short, 0), np.int64), np.empty(max(short, 0), np.int64)
    count = 0
    if short <= 0:
        return found
    for e in range(line_start[line], line_start[line + 1]):
        cell = np.int64(line_cell[e])
        if chosen[cell] or room[cell] < least:
            continue
        alone = np.int64(0)
        for q in range(cell_start[cell], cell_start[cell + 1]):
            if reached[cell_line[q]] == 0:
                alone += 1
        cost = np.int64(0) if suppressed[cell] else weight[cell]
        at = count
        while at > 0 and (
            away[at - 1] > alone
            or (away[at - 1] == alone and (price[at - 1] > cost or (price[at - 1] == cost and found[at - 1] > cell)))
        ):
            at -= 1
        if at == short:
            continue
        count = min(count + 1, short)
        for z in range(count - 1, at, -1):
            found[z], away[z], price[z] = found[z - 1], away[z - 1], price[z - 1]
        found[at], away[at], price[at] = cell, alone, cost
    return found[:count]


@compiled
def _inside(
    cell_start: Ints, cell_line: NDArray[np.int32], reached: NDArray[np.int32], cells: Ints, per_line: int
) -> Mask:
    inside = np.ones(len(cells), np.bool_)
    for z in range(len(cells)):
        for e in range(cell_start[cells[z]], cell_start[cells[z] + 1]):
            if reached[cell_line[e]] < per_line:
                inside[z] = False
    return inside
