"""Cuts of any linear table: inequalities over its cells, in integers.

For any multipliers y of the lines, the attacker's reach of a cell k is at most the sum of what each suppressed cell
can add to `(e_k - y M) d` inside its room. So a safe pattern z satisfies `sum(g_i z_i) >= level` with the integers g_i
that y gives, whatever y is; a solver's duals only propose it. No coefficient counts for more than what is missing.

Such a knapsack row is strengthened by rounding, as capacity cuts are (see `capacity_cuts`): the cells of a cover are
complemented, the row is divided and rounded up. Halves of sums of cuts are rounded up, too (see `zero_half`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gpuga.bounds.cut import Floats, Key
from gpuga.bounds.knapsack import compiled_step
from gpuga.compiled import compiled, whole
from gpuga.safety.requirements import Requirements
from gpuga.safety.witness import rationalise
from gpuga.table.table import INFINITE, Ints, Mask, Table

BITS = 30
PARTS = 1024
LARGEST_SCALE = 2**20
MOST = 2**61


Origin = tuple[Any, ...]
"""How a cut was made: a word and what it is about, arrays and other origins included; empty where nobody can tell."""


@dataclass(frozen=True, eq=False)
class Product:
    """`y M` at the cells where it is not zero, and the multipliers by line, in lowest terms, the first one positive."""

    cell: Ints
    of_cells: Ints
    line: Ints
    y: Ints

    @classmethod
    def of(cls, product: Ints, line: Ints, y: Ints) -> Product:
        """From `y M` at all cells (int64[n])."""
        cell = np.flatnonzero(product)
        return cls(cell, product[cell], line, y)


@dataclass(frozen=True, eq=False)
class SparseCut:
    """`sum(coef * z[cell]) >= rhs` in integers, cells in rising order.

    Holds for every safe pattern whose secondary cells can all move.
    Covers have positive numbers only; `summed` cuts are made of others. Rows of a solver are divided by `scale`.
    `origin` is how the cut is derived, for the checker of proofs.
    """

    cell: Ints
    coef: Ints
    rhs: int
    summed: bool = False
    origin: Origin = ()

    @property
    def scale(self) -> int:
        """The right-hand side, where there is one."""
        return max(1, self.rhs)

    @property
    def widest(self) -> float:
        """How far a coefficient is beyond the scale."""
        return max(1.0, float(np.abs(self.coef).max()) / self.scale)

    @cached_property
    def key(self) -> Key:
        """Equal for equal cuts."""
        return self.cell.tobytes(), self.coef.tobytes(), self.rhs

    def coefficients(self, columns: Ints) -> Ints:
        """The coefficients of the given cells (int64)."""
        at = np.minimum(np.searchsorted(self.cell, columns), len(self.cell) - 1)
        return np.where(self.cell[at] == columns, self.coef[at], 0)

    def entries(self, columns: Ints, position: Ints) -> tuple[Ints, Ints]:
        """Where its columns stand among `columns` (`position` int64[n] says it, -1: nowhere), and coefficients."""
        at = position[self.cell]
        there = at >= 0
        return at[there], self.coef[there]

    def violation(self, z: Floats) -> float:
        """How far a point misses the cut, as a share of its scale."""
        return (self.rhs - float(self.coef @ z[self.cell])) / self.scale

    def rounded(self, covered: Mask, divisor: int) -> SparseCut | None:
        """This row with some of its cells complemented, divided and rounded; None if that asks for nothing."""
        coef, rhs = rounded_row(self.coef, self.rhs, covered, divisor)
        made = self.origin_of_rounding(self.cell[covered], divisor)
        return SparseCut(self.cell[coef > 0], coef[coef > 0], int(rhs), origin=made) if rhs > 0 else None

    def origin_of_rounding(self, cover: Ints, divisor: int) -> Origin:
        """How this row is rounded; a divisor beyond all numbers only takes the cover out."""
        if divisor > 2 * self.rhs:
            return ("small", ("cover", cover, self.origin)) if len(cover) else self.origin
        return "small", ("divide", divisor, cover, self.origin)


@compiled
def rounded_row(coef: Ints, rhs: int, covered: Mask, divisor: int) -> tuple[Ints, int]:
    """A row with the covered entries complemented, divided, rounded and reduced; its right-hand side 0 for nothing."""
    made = np.zeros(len(coef), np.int64)
    left = rhs
    for e in range(len(coef)):
        left -= coef[e] if covered[e] else 0
    rest = left % divisor
    asked = rest * -(-left // divisor)
    for e in range(len(coef)):
        signed = -coef[e] if covered[e] else coef[e]
        steps = compiled_step(signed, divisor, rest)
        made[e] = -steps if covered[e] else steps
        asked -= steps if covered[e] else 0
    if rest == 0 or asked <= 0:
        return made, whole(0)
    for e in range(len(coef)):
        made[e] = min(made[e], asked)
    return made, reduce(made, asked)


@compiled
def reduce(coef: Ints, rhs: int) -> int:
    """A row in small integers: divided by what is common, then rounded to its weak side; its right-hand side."""
    common = rhs
    for e in range(len(coef)):
        other = coef[e]
        while other:
            common, other = other, common % other
    shift = 0
    while (rhs // common) >> (shift + BITS):
        shift += 1
    asked = (rhs // common) >> shift
    for e in range(len(coef)):
        if coef[e] > 0:
            coef[e] = min((coef[e] // common >> shift) + (1 if shift else 0), asked)
    return asked


def whole_product(table: Table, dual: Floats) -> Product:
    """`y M` for whole multipliers y that a solver's are a fraction of, or nearly so."""
    made = rationalise(dual)
    # any multipliers give a cut: where the solver's cannot be named, nearby ones will do
    y = made[0] if made is not None and made[1] <= LARGEST_SCALE else np.rint(dual * PARTS).astype(np.int64)
    lines = table.lines
    product = np.zeros(len(table), np.int64)
    np.add.at(product, lines.cell, lines.coef * y[lines.line_of_entry])
    used = np.flatnonzero(y)
    common = max(1, int(np.gcd.reduce(y[used]))) * (-1 if len(used) and y[used[0]] < 0 else 1)
    return Product.of(product, used, y[used] // common)


def level_row(table: Table, requirements: Requirements, requirement: int, of_lines: Product) -> SparseCut | None:
    """The knapsack row of a requirement that `y M` gives, where its cell is in it; None if forced cells suffice."""
    cell, cells, product = int(requirements.cell[requirement]), of_lines.cell, of_lines.of_cells
    at = int(np.searchsorted(cells, cell))
    own = int(product[at]) if at < len(cells) and cells[at] == cell else 0
    limit = int(requirements.need[requirement]) * abs(own)
    if own == 0 or float(limit) * len(cells) >= MOST:
        return None
    signed = (cells, product if own * int(requirements.direction[requirement]) < 0 else -product)
    coef = np.zeros(len(cells), np.int64)
    missing = _gains(signed, at, limit, (table.up, table.down, table.forced, table.suppressible), coef)
    counts = coef > 0
    if missing <= 0 or not counts.any():
        return None
    coef = coef[counts]
    way = "up" if requirements.direction[requirement] > 0 else "down"
    made = "small", ("level", cell, way, of_lines.line, of_lines.y)
    return SparseCut(cells[counts], coef, int(reduce(coef, missing)), origin=made)


@compiled
def _gains(
    product: tuple[Ints, Ints], own: int, limit: int, cells_of_table: tuple[Ints, Ints, Mask, Mask], coef: Ints
) -> int:
    """What each cell of a product adds to the reach of the one at `own`, at most what is missing; that is returned.

    Sizes are compared as floats before they are multiplied: what counts is capped, and must not overflow.
    """
    (cells, reduced), (up, down, forced, suppressible) = product, cells_of_table
    missing = limit
    for e in range(len(cells)):
        size = abs(reduced[e])
        room = up[cells[e]] if reduced[e] > 0 else down[cells[e]]
        if e == own or room == 0:
            continue
        large = room >= INFINITE or float(room) * float(size) >= limit
        coef[e] = limit if large else room * size
        if forced[cells[e]]:
            missing -= coef[e]
            coef[e] = 0
        elif not suppressible[cells[e]]:
            coef[e] = 0
    for e in range(len(cells)):
        coef[e] = min(coef[e], max(missing, 0))
    return whole(missing)
