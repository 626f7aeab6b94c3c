"""Bridges: cuts against secondary suppressions that cannot move, and so protect nothing.

A pattern is as safe without such cells, and cheaper. So among the cheapest safe patterns there are some in which every
secondary cell can move, and it is these that are bounded. For any multipliers y of the lines, a cell of `y M` moves
only if another one does: the others outweigh each of them (after Fischetti, Salazar 2000). In a single line this says
that no secondary cell is alone among published ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuga.bounds.cut import Floats, Key
from gpuga.bounds.separators.line_cuts import Product, SparseCut
from gpuga.problem.two_way import TwoWayProblem
from gpuga.table.table import Ints, Mask, Table

VIOLATED = 0.01
LONGEST_LINE = 32
"""Candidates in a line; in longer ones these cuts say little and make the linear programs slow."""


@dataclass(frozen=True)
class LoneCell:
    """`sum(other places of the line) - x[place] >= 0` in a two-way table; the line is the place's row, or its column.

    `width` is the number of columns of the table.
    """

    place: int
    in_row: bool
    width: int
    rhs: int = 0
    scale: int = 1
    widest: float = 1.0

    @property
    def key(self) -> Key:
        """Equal for equal cuts."""
        return self.place, self.in_row

    def coefficients(self, columns: Ints) -> Ints:
        """The coefficients of the given places (int64)."""
        width = self.width
        line, own = (columns // width, self.place // width) if self.in_row else (columns % width, self.place % width)
        return np.where(columns == self.place, -1, line == own).astype(np.int64)


def lone_cells(problem: TwoWayProblem, x: Floats) -> list[LoneCell]:
    """The cuts of single lines that a point (float64[R, C], zero outside the candidates) violates."""
    found = []
    for in_row in (True, False):
        axis = 1 if in_row else 0
        excess = 2.0 * x - x.sum(axis=axis, keepdims=True)
        silent = problem.forced.any(axis=axis) | (problem.candidate.sum(axis=axis) > LONGEST_LINE)
        excess[np.broadcast_to(np.expand_dims(silent, axis), x.shape)] = 0.0
        places = np.flatnonzero(excess.ravel() > VIOLATED).tolist()
        found += [LoneCell(place, in_row, x.shape[1]) for place in places]
    return found


def lone_in_lines(table: Table, candidate: Mask, z: Floats) -> list[SparseCut]:
    """The same for the lines of any table, and a point over its cells (float64[n], 1 where forced)."""
    lines = table.lines
    total = np.bincount(lines.line_of_entry, weights=z[lines.cell], minlength=len(lines))
    hidden = np.bincount(lines.line_of_entry, weights=table.forced[lines.cell], minlength=len(lines)) > 0
    more = 2.0 * z[lines.cell] - total[lines.line_of_entry] > VIOLATED
    found = []
    for entry in np.flatnonzero(more & candidate[lines.cell] & ~hidden[lines.line_of_entry]).tolist():
        line, cell = int(lines.line_of_entry[entry]), int(lines.cell[entry])
        cells = np.sort(lines.cell[lines.start[line] : lines.start[line + 1]].astype(np.int64))
        found.append(_others_outweigh(cells[candidate[cells]], cell, np.array([line]), np.ones(1, np.int64)))
    return found


def bridge(table: Table, product: Product, z: Floats) -> SparseCut | None:
    """The bridge of `y M` that a point violates most; None where a forced cell is in it.

    Of the cells of `y M` none moves alone: it holds for each of them.
    """
    cells = np.flatnonzero((product.of_cells != 0) & table.suppressible & ((table.up > 0) | (table.down > 0)))
    if not len(cells) or table.forced[cells].any():
        return None
    return _others_outweigh(cells, int(cells[np.argmax(z[cells])]), product.line, product.y)


def _others_outweigh(cells: Ints, one: int, line: Ints, y: Ints) -> SparseCut:
    coef = np.where(cells == one, -1, 1).astype(np.int64)
    return SparseCut(cells, coef, 0, origin=("alone", one, line, y))
