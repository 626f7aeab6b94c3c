"""Cuts of any linear table: inequalities over its cells, in integers.

For any multipliers y of the lines, the attacker's reach of a cell k is at most the sum of what each suppressed cell
can add to `(e_k - y M) d` inside its room. So a safe pattern z satisfies `sum(g_i z_i) >= level` with the integers g_i
that y gives, whatever y is; a solver's duals only propose it. No coefficient counts for more than what is missing.

Such a knapsack row is strengthened by rounding, as the cuts of a plane are (see `cuts`): the cells of a cover are
complemented, the row is divided and rounded up. Halves of sums of cuts are rounded up, too (see `rounding`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.rounding import odd_combinations
from gpuga.safety.tasks import Tasks
from gpuga.safety.witness import rationalise
from gpuga.table.table import INFINITE, Ints, Mask, Table

Floats = NDArray[np.float64]
Key = tuple[bytes, bytes, int]

BITS = 30
PARTS = 1024
LARGEST_SCALE = 2**20
MOST = 2**61
LEAST_HALF = 0.02
LARGEST_HALF = 50
MOST_SLACK = 0.4


@dataclass(frozen=True, eq=False)
class LineCut:
    """`sum(coef * z[cell]) >= rhs` in integers; holds for every safe pattern whose secondary cells can all move.

    Covers have positive numbers only; `summed` cuts are made of others. Rows of a solver are divided by `scale`.
    """

    cell: Ints
    coef: Ints
    rhs: int
    summed: bool = False

    @property
    def scale(self) -> int:
        """The right-hand side, where there is one."""
        return max(1, self.rhs)

    @cached_property
    def key(self) -> Key:
        """Equal for equal cuts."""
        return self.cell.tobytes(), self.coef.tobytes(), self.rhs

    def violation(self, z: Floats) -> float:
        """How far a point misses the cut, as a share of its scale."""
        return (self.rhs - float(self.coef @ z[self.cell])) / self.scale

    def rounded(self, covered: Mask, divisor: int) -> LineCut | None:
        """This row with some of its cells complemented, divided and rounded; None if that asks for nothing."""
        left = self.rhs - int(self.coef[covered].sum())
        rest = left % divisor
        signed = np.where(covered, -self.coef, self.coef)
        steps = rest * (signed // divisor) + np.minimum(rest, signed % divisor)
        rhs = rest * -(-left // divisor) - int(steps[covered].sum())
        if rest == 0 or rhs <= 0:
            return None
        coef = np.minimum(np.where(covered, -steps, steps), rhs)
        return reduced_cut(self.cell[coef > 0], coef[coef > 0], rhs)


def reduced_cut(cells: Ints, coef: Ints, rhs: int) -> LineCut:
    """The cut in small integers: divided by what is common, then rounded to its weak side."""
    common = gcd(rhs, *np.unique(coef).tolist())
    coef, rhs = coef // common, rhs // common
    shift = max(0, rhs.bit_length() - BITS)
    if shift:
        coef, rhs = (coef >> shift) + 1, rhs >> shift
    return LineCut(cells, np.minimum(coef, rhs), rhs)


def whole_product(table: Table, dual: Floats) -> Ints:
    """`y M` (int64[n]) for whole multipliers y that a solver's are a fraction of, or nearly so."""
    made = rationalise(dual)
    # any multipliers give a cut: where the solver's cannot be named, nearby ones will do
    y = made[0] if made is not None and made[1] <= LARGEST_SCALE else np.rint(dual * PARTS).astype(np.int64)
    lines = table.lines
    product = np.zeros(len(table), np.int64)
    np.add.at(product, lines.cell, lines.coef * y[lines.line_of_entry])
    return product


def level_row(table: Table, tasks: Tasks, task: int, product: Ints) -> LineCut | None:
    """The knapsack row of a task that `y M` gives, where its cell is in it; None where forced cells are enough."""
    cell, own = int(tasks.cell[task]), int(product[tasks.cell[task]])
    limit = int(tasks.need[task]) * abs(own)
    if own == 0 or float(limit) * len(table) >= MOST:
        return None
    reduced = product if own * int(tasks.direction[task]) < 0 else -product
    size = np.abs(reduced)
    size[cell] = 0
    room = np.where(reduced > 0, table.up, table.down)
    # a product that is too large is not looked at: what counts is capped anyway
    large = (room >= INFINITE) | (room.astype(np.float64) * size >= limit)
    gain = np.where(size == 0, 0, np.where(large, limit, np.minimum(room, limit) * np.minimum(size, limit)))
    missing = limit - int(gain[table.forced].sum())
    cells = np.flatnonzero((gain > 0) & ~table.forced & table.suppressible)
    if missing <= 0 or not len(cells):
        return None
    return reduced_cut(cells, np.minimum(gain[cells], missing), missing)


def half_sums(cuts: Sequence[LineCut], free: Ints, z: Floats, most: int) -> list[LineCut]:
    """Zero-half cuts: halves of sums of cuts, rounded up, that a point violates (see `rounding`).

    A cover counts here as "one of its cells is suppressed"; bridges and halves as what they are.
    """
    at = free[z[free] > 1e-9]
    position = np.full(len(z), -1, np.int64)
    position[at] = np.arange(len(at))
    matrix = np.zeros((len(cuts), len(at)), np.int16)
    for row, cut in enumerate(cuts):
        places = position[cut.cell]
        matrix[row, places[places >= 0]] = _plain(cut)[places >= 0]
    rhs = np.array([_asked(cut) for cut in cuts], np.int64)
    x = z[at]
    slack = matrix @ x - rhs
    rows = np.flatnonzero(slack < MOST_SLACK)
    upper = x > 0.5
    odd = matrix[rows] % 2 != 0
    parity = (rhs[rows] + (odd & upper).sum(1)) % 2
    found = []
    for members in odd_combinations(odd, parity, np.maximum(slack[rows], 0.0), np.minimum(x, 1.0 - x), most):
        half = _half([cuts[int(rows[m])] for m in members], z)
        if half is not None and half.violation(z) * half.scale > LEAST_HALF:
            found.append(half)
    return found


def _plain(cut: LineCut) -> Ints:
    """The coefficients of a cut in a sum of cuts."""
    return cut.coef if cut.summed else np.sign(cut.coef)


def _asked(cut: LineCut) -> int:
    """The right-hand side of a cut in a sum of cuts."""
    return cut.rhs if cut.summed else min(1, cut.rhs)


def _half(members: Sequence[LineCut], z: Floats) -> LineCut | None:
    """Half the sum of some cuts and of `-z >= -1` where that makes a coefficient of a likely cell even, rounded up."""
    total = np.zeros(len(z), np.int64)
    for cut in members:
        total[cut.cell] += _plain(cut)
    likely = (total % 2 == 1) & (z > 0.5)
    total[likely] -= 1
    rhs = -(-(sum(_asked(cut) for cut in members) - int(likely.sum())) // 2)
    cells = np.flatnonzero(total)
    if not 0 < rhs <= LARGEST_HALF or not len(cells):
        return None
    coef = -(-total[cells] // 2)
    cells, coef = cells[coef != 0], coef[coef != 0]
    if (coef > 0).all():
        coef = np.minimum(coef, rhs)
    return LineCut(cells, coef, rhs, summed=True)
