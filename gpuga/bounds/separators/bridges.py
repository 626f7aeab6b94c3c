"""Bridges: cuts against secondary suppressions that cannot move, and so protect nothing.

A pattern is as safe without such cells, and cheaper. So among the cheapest safe patterns there are some in which every
secondary cell can move, and it is these that are bounded. For any multipliers y of the lines, a cell of `y M` moves
only if another one does: the others outweigh each of them (after Fischetti, Salazar 2000). In a single line this says
that no secondary cell is alone among published ones.
"""

from __future__ import annotations

import numpy as np

from gpuga.bounds.cut import Floats
from gpuga.bounds.separators.line_cuts import Origin, Product, SparseCut
from gpuga.table.table import Ints, Mask, Table

VIOLATED = 0.01

AT_ONCE = 2_000
"""Of more lone cells than this the worst are named."""


class LoneCells:
    """The bridges of single lines: in a line without forced cells no secondary one is alone.

    `cell` int64[n] is the table's cell of each column; lines of more than `longest` candidates are left out.
    """

    def __init__(self, table: Table, cell: Ints, candidate: Mask, longest: int = 2**31) -> None:
        lines = table.lines
        column = np.full(len(table), -1, np.int64)
        column[cell[candidate]] = np.flatnonzero(candidate)
        forced = np.bincount(lines.line_of_entry, weights=table.forced[lines.cell], minlength=len(lines)) > 0
        free = np.bincount(lines.line_of_entry, weights=column[lines.cell] >= 0, minlength=len(lines))
        used = (column[lines.cell] >= 0) & ~(forced | (free > longest))[lines.line_of_entry]
        self.cell, self.count = cell, len(lines)
        self.line, self.column = lines.line_of_entry[used], column[lines.cell[used]]
        self.start = np.searchsorted(self.line, np.arange(self.count + 1))

    def violated(self, x: Floats) -> list[SparseCut]:
        """The bridges that a point (float64[n], zero outside the candidates) violates."""
        total = np.bincount(self.line, weights=x[self.column], minlength=self.count)
        violation = 2.0 * x[self.column] - total[self.line]
        more = np.flatnonzero(violation > VIOLATED)
        if len(more) > AT_ONCE:
            more = np.sort(more[np.argsort(-violation[more], kind="stable")[:AT_ONCE]])
        found = []
        for line, one in zip(self.line[more].tolist(), self.column[more].tolist(), strict=True):
            columns = np.sort(self.column[self.start[line] : self.start[line + 1]])
            made = "alone", int(self.cell[one]), [line], [1]
            found.append(_others_outweigh(columns, one, made))
        return found


def bridge(table: Table, product: Product, z: Floats) -> SparseCut | None:
    """The bridge of `y M` that a point violates most; None where a forced cell is in it.

    Of the cells of `y M` none moves alone: it holds for each of them.
    """
    cells = product.cell[table.suppressible[product.cell] & ((table.up > 0) | (table.down > 0))[product.cell]]
    if not len(cells) or table.forced[cells].any():
        return None
    one = int(cells[np.argmax(z[cells])])
    return _others_outweigh(cells, one, ("alone", one, product.line, product.y))


def _others_outweigh(columns: Ints, one: int, origin: Origin) -> SparseCut:
    return SparseCut(columns, np.where(columns == one, -1, 1).astype(np.int64), 0, origin=origin)
