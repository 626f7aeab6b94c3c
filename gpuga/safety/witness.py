"""Witnesses: consistent tables that reach a protection level, and their check in exact arithmetic.

A witness is a sparse deviation `d` from the true table with `M d = 0`, zero outside the suppressed
cells, inside the attacker's bounds. It is kept as integers over one denominator per witness, so that
the check needs no tolerance: whatever a solver, a heuristic or a GPU proposed, it holds or it does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpuga.safety.compiled import compiled
from gpuga.table.table import INFINITE, Ints, Mask, Table

MOST = 2**61  # no product or sum formed in the check may reach this


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Many sparse deviations: `amount / denominator` on the cells `cell[start[w]:start[w+1]]`.

    `start` int64[W+1], `cell` int32[nnz], `amount` int64[nnz], `denominator` int64[W] >= 1.
    """

    start: Ints
    cell: NDArray[np.int32]
    amount: Ints
    denominator: Ints

    def __len__(self) -> int:
        return len(self.denominator)

    def one(self, w: int) -> tuple[NDArray[np.int32], Ints, int]:
        """Cells, amounts and denominator of one witness."""
        span = slice(int(self.start[w]), int(self.start[w + 1]))
        return self.cell[span], self.amount[span], int(self.denominator[w])


def witness_of(cells: NDArray[np.int32], amounts: Ints, denominator: int = 1) -> Witnesses:
    """One deviation as `Witnesses`; zero amounts are dropped."""
    moved = amounts != 0
    cell = cells[moved].astype(np.int32)
    return Witnesses(
        np.array([0, len(cell)], np.int64), cell, amounts[moved].astype(np.int64), np.array([denominator], np.int64)
    )


@dataclass(frozen=True, eq=False)
class Ground:
    """What witnesses are checked against: the lines of each cell and the room of the suppressed ones."""

    cell_start: Ints
    cell_line: NDArray[np.int32]
    cell_coef: Ints
    lines: int
    up: Ints
    down: Ints

    @classmethod
    def of(cls, table: Table, suppressed: Mask) -> Ground:
        """The ground of a pattern: published cells have no room at all."""
        start, line, coef = table.lines.by_cell(len(table))
        return cls(
            start, line, coef, len(table.lines), np.where(suppressed, table.up, 0), np.where(suppressed, table.down, 0)
        )


def hold(ground: Ground, witnesses: Witnesses) -> Mask:
    """Whether each witness is a consistent table of the attacker's, exactly (bool[W])."""
    if len(witnesses) == 0:
        return np.zeros(0, bool)
    largest = float(np.abs(witnesses.amount.astype(float)).max(initial=0.0))
    longest = float(np.diff(witnesses.start).max(initial=0))
    coef = float(np.abs(ground.cell_coef.astype(float)).max(initial=1.0))
    if largest * longest * coef >= MOST:
        return np.array([_holds_in_python(ground, *witnesses.one(w)) for w in range(len(witnesses))], bool)
    return np.asarray(
        _hold(
            witnesses.start,
            witnesses.cell,
            witnesses.amount,
            witnesses.denominator,
            ground.cell_start,
            ground.cell_line,
            ground.cell_coef,
            ground.lines,
            ground.up,
            ground.down,
        )
    )


@compiled
def _hold(
    start: Ints,
    cell: NDArray[np.int32],
    amount: Ints,
    denominator: Ints,
    cell_start: Ints,
    cell_line: NDArray[np.int32],
    cell_coef: Ints,
    lines: int,
    up: Ints,
    down: Ints,
) -> Mask:
    held = np.ones(len(denominator), np.bool_)
    balance = np.zeros(lines, np.int64)
    for w in range(len(denominator)):
        for e in range(start[w], start[w + 1]):
            c, d = cell[e], amount[e]
            room = up[c] if d > 0 else down[c]
            # |d| <= room * denominator without forming a product that could overflow
            if room < INFINITE and -(-abs(d) // denominator[w]) > room:
                held[w] = False
            for q in range(cell_start[c], cell_start[c + 1]):
                balance[cell_line[q]] += cell_coef[q] * d
        for e in range(start[w], start[w + 1]):
            c = cell[e]
            for q in range(cell_start[c], cell_start[c + 1]):
                if balance[cell_line[q]] != 0:
                    held[w] = False
                balance[cell_line[q]] = 0
    return held


def _holds_in_python(ground: Ground, cells: NDArray[np.int32], amounts: Ints, denominator: int) -> bool:
    """The same check in integers without a limit, for the rare deviation that is too large for int64."""
    balance: dict[int, int] = {}
    for cell, amount in zip(cells.tolist(), amounts.tolist(), strict=True):
        room = int(ground.up[cell] if amount > 0 else ground.down[cell])
        if room < INFINITE and abs(amount) > room * denominator:
            return False
        for q in range(int(ground.cell_start[cell]), int(ground.cell_start[cell + 1])):
            line = int(ground.cell_line[q])
            balance[line] = balance.get(line, 0) + int(ground.cell_coef[q]) * amount
    return not any(balance.values())


def reversal(ground: Ground, witnesses: Witnesses, w: int) -> Fraction:
    """The largest factor by which the reverse of a witness still is a witness (0: none; at most 2**40)."""
    cells, amounts, denominator = witnesses.one(w)
    room = np.where(amounts > 0, ground.down[cells], ground.up[cells])
    ratio = room.astype(float) / np.abs(amounts)
    tight = np.flatnonzero(ratio <= ratio.min(initial=np.inf) * (1 + 1e-9))
    factors = [Fraction(int(room[i]) * denominator, int(abs(amounts[i]))) for i in tight]
    return min(factors, default=Fraction(0))


def rationalise(x: NDArray[np.float64], largest_denominator: int = 5040) -> tuple[Ints, int] | None:
    """Integers over one small denominator that a solver's floats stand for, or None.

    Only a proposal: the caller checks it exactly. A vertex of a table's polytope has a small common
    denominator, nearly always 1, so the worst component is asked for its denominator until none is left.
    """
    if not np.isfinite(x).all() or np.abs(x).max(initial=0.0) >= 2**52:
        return None
    denominator = 1
    while True:
        scaled = x * denominator
        nearest = np.rint(scaled)
        error = np.abs(scaled - nearest)
        worst = int(np.argmax(error)) if len(error) else 0
        if len(error) == 0 or error[worst] <= 1e-4 * min(denominator, 100):
            return nearest.astype(np.int64), denominator
        denominator *= Fraction(float(scaled[worst])).limit_denominator(64).denominator
        if denominator > largest_denominator or error[worst] <= 1e-3 * denominator / largest_denominator:
            return None
