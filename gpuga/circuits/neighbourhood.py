"""The neighbourhood of a cell: a small part of a large table in which a cheap change can be looked for.

From the cell outwards, line by line: every line that is reached gets a few cells, so that its balance can
be kept. Cells that lie on many lines already reached come first; in a grid these are the missing corners
of boxes, so the neighbourhood closes upon itself instead of growing without end. A change inside the
neighbourhood is a change of the whole table; that none is found there says nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled, inner, whole
from gpuga.table.squares import Incidence
from gpuga.table.table import Ints, Mask, Table


class Growth(NamedTuple):
    """A neighbourhood that grows: what is `chosen` (bool[n]), and how many of these cells each line has (int32[m]).

    `room` int64[n] is how far each cell can move both ways, `weight` int64[n] what it costs unless it is `suppressed`.
    """

    room: Ints
    weight: Ints
    suppressed: Mask
    chosen: Mask
    reached: NDArray[np.int32]


class Neighbourhoods:
    """Neighbourhoods of one table's cells."""

    def __init__(self, table: Table) -> None:
        lines = table.lines
        cell_start, cell_line, _ = lines.by_cell(len(table))
        self.web = Incidence(lines.start, lines.cell, cell_start, cell_line)
        self.room, self.weight = np.minimum(table.up, table.down), table.weight

    def around(self, cell: int, room: int, suppressed: Mask, per_line: int, most: int) -> Ints:
        """At most about `most` cells around `cell`, ascending; about `per_line` in each line that is reached.

        Only cells with that much room both ways come in.
        """
        return self.inside_out(cell, room, suppressed, per_line, most)[0]

    def inside_out(self, cell: int, room: int, suppressed: Mask, per_line: int, most: int) -> tuple[Ints, Mask]:
        """As `around`, and whether all lines of a cell have their full number of cells: what lies inside."""
        chosen, reached = np.zeros(len(suppressed), bool), np.zeros(len(self.web.start) - 1, np.int32)
        growth = Growth(self.room, self.weight, suppressed, chosen, reached)
        cells = np.sort(_around(self.web, growth, whole(cell), whole(room), whole(per_line), whole(most)))
        return cells, _inside(self.web, reached, cells, whole(per_line))


@compiled
def _around(web: Incidence, growth: Growth, cell: int, least: int, per_line: int, most: int) -> Ints:
    """The cells in the order in which they come in."""
    queue = np.empty(len(growth.room), np.int64)
    queue[0], size, at = cell, 1, 0
    _take(web, growth, cell)
    while at < size < most:
        own = queue[at]
        at += 1
        for e in range(web.cell_start[own], web.cell_start[own + 1]):
            line = web.cell_line[e]
            # ranked as the line is found, before any of its cells comes in
            for other in _wanted(web, growth, line, least, per_line - growth.reached[line]):
                _take(web, growth, other)
                queue[size] = other
                size += 1
    return queue[:size].copy()


@inner
def _take(web: Incidence, growth: Growth, cell: int) -> None:
    growth.chosen[cell] = True
    for e in range(web.cell_start[cell], web.cell_start[cell + 1]):
        growth.reached[web.cell_line[e]] += 1


@inner
def _wanted(web: Incidence, growth: Growth, line: int, least: int, short: int) -> Ints:
    """The cells that a line still needs: corners of boxes first, then hidden, simple and cheap ones."""
    found = np.empty(max(short, 0), np.int64)
    away, price = np.empty(max(short, 0), np.int64), np.empty(max(short, 0), np.int64)
    count = 0
    if short <= 0:
        return found
    for e in range(web.start[line], web.start[line + 1]):
        cell = np.int64(web.cell[e])
        if growth.chosen[cell] or growth.room[cell] < least:
            continue
        alone = np.int64(0)
        for q in range(web.cell_start[cell], web.cell_start[cell + 1]):
            if growth.reached[web.cell_line[q]] == 0:
                alone += 1
        cost = np.int64(0) if growth.suppressed[cell] else growth.weight[cell]
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
def _inside(web: Incidence, reached: NDArray[np.int32], cells: Ints, per_line: int) -> Mask:
    inside = np.ones(len(cells), np.bool_)
    for z in range(len(cells)):
        for e in range(web.cell_start[cells[z]], web.cell_start[cells[z] + 1]):
            if reached[web.cell_line[e]] < per_line:
                inside[z] = False
    return inside
