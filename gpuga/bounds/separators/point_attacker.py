"""All attackers of one fractional pattern at once, in one small tableau.

Few cells of a point are suppressed at all, and all questions about it share their equations: what each requirement can
reach, and whether each suppressed cell can move. A dense tableau of these cells answers one after the other, each from
the basis that the last one ended with; a general solver would spend most of its time around so small a program. Where
something is out of reach, the basis names multipliers of the lines. They are floats that only propose a cut, so the
tableau needs to be neither exact nor complete; whole points are judged by programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from gpuga.bounds.cut import Floats
from gpuga.bounds.separators.bridges import bridge
from gpuga.bounds.separators.line_cuts import Product, SparseCut, whole_product
from gpuga.circuits.tableau import Tableau, equations_of, reaches, tableau_over
from gpuga.compiled import compiled
from gpuga.safety.requirements import Requirements
from gpuga.table.table import Ints, Mask, Table

NOTHING = 1e-9
SHORT = 1e-6
BRIDGE = 1e-2
UNLIMITED = 100.0


class PointAttacker:
    """The attackers of one point `z` (float64[n]), forced cells included.

    `cells` are those that may move there, `up` and `down` their room, `share` how far the point suppresses them.
    """

    def __init__(self, table: Table, z: Floats) -> None:
        self.table, self.z = table, z
        held = (z >= NOTHING) & ((table.up > 0) | (table.down > 0))
        self.cells: Ints = np.flatnonzero(held)
        self.column = np.full(len(table), -1, np.int64)
        self.column[self.cells] = np.arange(len(self.cells))
        self.share: Floats = z[self.cells]
        self.up, self.down = (room[self.cells].astype(np.float64) for room in (table.up, table.down))

    @property
    def size(self) -> int:
        """The most entries that the tableau can have."""
        columns = len(self.cells)
        rank = min(len(self.table.lines), columns // 2)
        return rank * (columns - rank)

    @cached_property
    def _equations(self) -> tuple[Floats, Ints]:
        return equations_of(self.table, self.column >= 0)

    @cached_property
    def _tableau(self) -> tuple[Tableau, Ints]:
        nothing = np.zeros(len(self.cells))
        return tableau_over(self._equations[0], nothing, nothing.copy())

    def out_of_reach(self, requirements: Requirements, room: float = 1.0) -> Iterator[tuple[int, Product]]:
        """The requirements that the point leaves out of reach, each with its `y M`.

        No cell gets more room than `room` times what is needed: no row counts more than that anyway.
        """
        tableau, rows = self._tableau
        column = self.column[requirements.cell]
        order = np.argsort(requirements.need, kind="stable")
        order = order[column[order] >= 0]
        need, sign = requirements.need[order].astype(np.float64), requirements.direction[order].astype(np.float64)
        limits = (self.down, self.up, self.share)
        short, bases = _short_of(tableau, column[order], sign, need, limits, room)
        for at, basis in zip(short.tolist(), bases, strict=True):
            yield int(order[at]), self._product(rows, basis, int(column[order[at]]))

    def bridges(self, free: Mask) -> Iterator[SparseCut]:
        """Cuts for the free cells (bool[n]) that cannot move as far as the point suppresses them."""
        tableau, rows = self._tableau
        share = np.where(self.table.forced[self.cells], UNLIMITED, self.share)
        stuck, bases = _stuck(tableau, share, ~free[self.cells] | (share <= BRIDGE))
        for column, basis in zip(stuck.tolist(), bases, strict=True):
            cut = bridge(self.table, self._product(rows, basis, column), self.z)
            if cut is not None and cut.violation(self.z) > BRIDGE:
                yield cut

    def _product(self, rows: Ints, basis: Ints, column: int) -> Product:
        """What the lines add up to where, of all columns of a basis, one alone is left."""
        wanted, (matrix, lines) = (basis == column).astype(np.float64), self._equations
        y = np.zeros(len(self.table.lines))
        y[lines[rows]] = _solved(np.ascontiguousarray(matrix[rows][:, basis].T), wanted)
        return whole_product(self.table, y)


@compiled
def _short_of(
    tableau: Tableau, column: Ints, sign: Floats, need: Floats, limits: tuple[Floats, Floats, Floats], room: float
) -> tuple[Ints, Ints]:
    """The questions whose column falls short of its need, and the basis that each ended with (int64[k, r])."""
    down, up, share = limits
    short, bases = np.zeros(len(column), np.int64), np.zeros((len(column), len(tableau.basic)), np.int64)
    count = 0
    for q in range(len(column)):
        for k in range(len(share)):
            tableau.low[k] = -min(down[k] / need[q], room) * share[k]
            tableau.high[k] = min(up[k] / need[q], room) * share[k]
        if not reaches(tableau, column[q], sign[q], 1.0 - SHORT) and tableau.place[column[q]] >= 0:
            short[count] = q
            bases[count] = tableau.basic
            count += 1
    return short[:count], bases[:count]


@compiled
def _stuck(tableau: Tableau, share: Floats, settled: Mask) -> tuple[Ints, Ints]:
    """The columns that cannot move by their share, and the basis that each question ended with (int64[k, r])."""
    stuck, bases = np.zeros(len(share), np.int64), np.zeros((len(share), len(tableau.basic)), np.int64)
    count = 0
    for k in range(len(share)):
        tableau.low[k], tableau.high[k] = -share[k], share[k]
    for column in range(len(share)):
        if settled[column]:
            continue
        reached = reaches(tableau, column, 1.0, share[column])
        for k in range(len(share)):
            if abs(tableau.moved[k]) >= share[k] - SHORT:
                settled[k] = True
        if not reached and tableau.moved[column] < share[column] - BRIDGE and tableau.place[column] >= 0:
            stuck[count] = column
            bases[count] = tableau.basic
            count += 1
    return stuck[:count], bases[:count]


@compiled
def _solved(matrix: Floats, wanted: Floats) -> Floats:
    """The solution of a square system; zeros where it has none that floats can name."""
    size = len(wanted)
    for at in range(size):
        best = at
        for i in range(at + 1, size):
            if abs(matrix[i, at]) > abs(matrix[best, at]):
                best = i
        if abs(matrix[best, at]) < NOTHING:
            return np.zeros(size)
        if best != at:
            for j in range(at, size):
                matrix[at, j], matrix[best, j] = matrix[best, j], matrix[at, j]
            wanted[at], wanted[best] = wanted[best], wanted[at]
        for i in range(at + 1, size):
            factor = matrix[i, at] / matrix[at, at]
            if factor != 0.0:
                for j in range(at + 1, size):
                    matrix[i, j] -= factor * matrix[at, j]
                wanted[i] -= factor * wanted[at]
    for at in range(size - 1, -1, -1):
        for j in range(at + 1, size):
            wanted[at] -= matrix[at, j] * wanted[j]
        wanted[at] /= matrix[at, at]
    return wanted
