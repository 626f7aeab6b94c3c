"""Witnesses: consistent tables that reach a protection level, and their check in exact arithmetic.

A witness is a sparse deviation `d` from the true table with `M d = 0`, zero outside the suppressed
cells, inside the attacker's bounds. It is kept as integers over one denominator per witness, so that
the check needs no tolerance: whatever a solver, a heuristic or a GPU proposed, it holds or it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled
from gpuga.safety.basis import Integers, narrow
from gpuga.table.table import INFINITE, Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

LARGEST_PART = 500  # denominators above this are not read from floats
USUAL_PARTS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 36, 48, 60], np.int64)
"""Denominators that are tried for all components at once, before each is read on its own."""

MOST = 2**61  # no product or sum formed in the check may reach this


def witness_of(cells: NDArray[np.int32], amounts: Integers, denominator: int = 1) -> Witnesses:
    """One deviation as `Witnesses`; zero amounts are dropped."""
    moved = np.asarray(amounts != 0, bool)
    cell = cells[moved].astype(np.int32)
    kind = np.int64 if denominator < 2**60 else object
    return Witnesses(np.array([0, len(cell)], np.int64), cell, amounts[moved], np.array([denominator], kind))


class AllowedChanges(NamedTuple):
    """The changes that a pattern allows: lines of each cell, which must hold, and the room of the suppressed ones."""

    cell_start: Ints
    cell_line: NDArray[np.int32]
    cell_coef: Ints
    lines: int
    up: Ints
    down: Ints

    @classmethod
    def of(cls, table: Table, suppressed: Mask) -> AllowedChanges:
        """The allowed of a pattern: published cells have no room at all."""
        start, line, coef = table.lines.by_cell(len(table))
        return cls(
            start, line, coef, len(table.lines), np.where(suppressed, table.up, 0), np.where(suppressed, table.down, 0)
        )


def hold(allowed: AllowedChanges, witnesses: Witnesses) -> Mask:
    """Whether each witness is a consistent table of the attacker's, exactly (bool[W])."""
    if len(witnesses) == 0:
        return np.zeros(0, bool)
    largest = float(np.abs(witnesses.amount.astype(float)).max(initial=0.0))
    longest = float(np.diff(witnesses.start).max(initial=0))
    coef = float(np.abs(allowed.cell_coef.astype(float)).max(initial=1.0))
    wide = witnesses.amount.dtype == object or witnesses.denominator.dtype == object
    if wide or largest * longest * coef >= MOST:
        return np.array([_holds_in_python(allowed, *witnesses.one(w)) for w in range(len(witnesses))], bool)
    return np.asarray(_hold(allowed, witnesses.start, witnesses.cell, witnesses.amount, witnesses.denominator))


@compiled
def _hold(allowed: AllowedChanges, start: Ints, cell: NDArray[np.int32], amount: Ints, denominator: Ints) -> Mask:
    held = np.ones(len(denominator), np.bool_)
    cell_start, cell_line, cell_coef = allowed.cell_start, allowed.cell_line, allowed.cell_coef
    balance = np.zeros(allowed.lines, np.int64)
    seen = np.full(len(allowed.up), -1, np.int64)
    for w in range(len(denominator)):
        if denominator[w] < 1:
            held[w] = False
            continue
        for e in range(start[w], start[w + 1]):
            c, d = cell[e], amount[e]
            if seen[c] == w:  # a cell listed twice could pass its bound in parts
                held[w] = False
            seen[c] = w
            room = allowed.up[c] if d > 0 else allowed.down[c]
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


def _holds_in_python(allowed: AllowedChanges, cells: NDArray[np.int32], amounts: Ints, denominator: int) -> bool:
    """The same check in integers without a limit, for the rare deviation that is too large for int64."""
    balance: dict[int, int] = {}
    if denominator < 1 or len(set(cells.tolist())) < len(cells):
        return False
    for cell, amount in zip(cells.tolist(), amounts.tolist(), strict=True):
        room = int(allowed.up[cell] if amount > 0 else allowed.down[cell])
        if room < INFINITE and abs(amount) > room * denominator:
            return False
        for q in range(int(allowed.cell_start[cell]), int(allowed.cell_start[cell + 1])):
            line = int(allowed.cell_line[q])
            balance[line] = balance.get(line, 0) + int(allowed.cell_coef[q]) * amount
    return not any(balance.values())


def together(parts: Sequence[Witnesses]) -> Witnesses:
    """Many witnesses as one collection, in their order."""
    lengths = [np.diff(part.start) for part in parts]
    start = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))]).astype(np.int64)
    return Witnesses(
        start,
        np.concatenate([np.zeros(0, np.int32), *(part.cell for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.amount for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.denominator for part in parts)]),
    )


def stretch(allowed: AllowedChanges, witness: Witnesses, w: int, direction: int = 1) -> Fraction:
    """The largest factor by which a witness (its reverse: `direction` -1) still keeps all bounds."""
    cells, amounts, denominator = witness.one(w)
    forward = np.asarray(amounts > 0, bool) == (direction > 0)
    room = np.where(forward, allowed.up[cells], allowed.down[cells])
    if amounts.dtype == object:
        tight = np.arange(len(cells))
    else:
        ratio = room.astype(float) / np.abs(amounts.astype(float))
        tight = np.flatnonzero(ratio <= ratio.min(initial=np.inf) * (1 + 1e-9))
        tight = _without_equals(room, np.abs(amounts), tight)
    factors = [Fraction(int(room[i]) * denominator, int(abs(amounts[i]))) for i in tight.tolist()]
    return min(factors, default=Fraction(0))


def _without_equals(room: Ints, amount: Ints, which: NDArray[np.intp]) -> NDArray[np.intp]:
    """One of those with the same ratio of room and amount: at a vertex most rooms are just used up."""
    shared = np.gcd(room[which], amount[which])
    ratios = np.column_stack([room[which] // shared, amount[which] // shared])
    return which[np.unique(ratios, axis=0, return_index=True)[1]]


def reversal(allowed: AllowedChanges, witnesses: Witnesses, w: int) -> Fraction:
    """The largest factor by which the reverse of a witness still is a witness (0: none)."""
    return stretch(allowed, witnesses, w, -1)


def times(witness: Witnesses, factor: Fraction) -> Witnesses:
    """One witness times a rational."""
    cells, amounts, denominator = witness.one(0)
    ratio = factor / denominator
    scaled = narrow(amounts.astype(object) * ratio.numerator)
    return witness_of(cells, scaled, ratio.denominator)


def rationalise(x: NDArray[np.float64]) -> tuple[Ints, int] | None:
    """Integers over one denominator that a solver's floats stand for, or None.

    Only a proposal: the caller checks it exactly. Vertices of tables have small denominators, different
    ones in different corners of the table, so each component is read on its own and the common
    denominator comes last.
    """
    if not np.isfinite(x).all() or np.abs(x).max(initial=0.0) >= 2**52:
        return None
    nearest = np.rint(x)
    fractional = np.flatnonzero(np.abs(x - nearest) > 1e-6)
    if not len(fractional):
        return nearest.astype(np.int64), 1
    parts_of_all = x[fractional, None] * USUAL_PARTS
    common = np.flatnonzero((np.abs(parts_of_all - np.rint(parts_of_all)) <= 1e-6 * USUAL_PARTS).all(axis=0))
    if len(common) and np.abs(x).max(initial=0.0) < 2**45:
        denominator = int(USUAL_PARTS[common[0]])
        return np.rint(x * denominator).astype(np.int64), denominator
    parts: dict[int, Fraction] = {}
    denominator = 1
    for i in fractional.tolist():
        part = Fraction(float(x[i])).limit_denominator(LARGEST_PART)
        if abs(float(part) - x[i]) > 1e-6:
            return None
        parts[i] = part
        denominator = lcm(denominator, part.denominator)
        if denominator * max(1.0, float(np.abs(x).max())) >= 2**60:
            return None
    whole = nearest.astype(np.int64) * denominator
    for i, part in parts.items():
        whole[i] = part.numerator * (denominator // part.denominator)
    return whole, denominator
