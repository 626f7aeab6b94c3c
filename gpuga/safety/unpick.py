"""Unpicking: interval propagation along the lines until nothing moves, without any solver.

Each line bounds each of its cells by what the others can be. The result encloses the attacker's
interval, so a cell that is already too narrow here is exposed for certain. The work is the kernels'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels.backend import get_backend
from gpuga.kernels.layout import EquationLines
from gpuga.safety.basis import Integers
from gpuga.table.table import INFINITE, Ints, Mask, Table

SMALL = 2000
"""Up to so many cells plain numpy is as good, and nothing has to be compiled for it."""

WIDE_SWEEPS = 20
"""Sweeps in Python's integers."""

SWEEPS = 1000
"""Propagation may creep towards its limit; any stop encloses the attacker's interval, so it may be cut."""


def unpick(table: Table, suppressed: Mask) -> tuple[Ints, Ints]:
    """How far every cell can rise and fall at most, by propagation (int64[n] each, `INFINITE`: no limit)."""
    return _sweeps(table, suppressed, SWEEPS)


def one_line_each(table: Table, suppressed: Mask) -> tuple[Ints, Ints]:
    """The same by each line alone, no conclusion used for another: one sweep."""
    return _sweeps(table, suppressed, 1)


def _sweeps(table: Table, suppressed: Mask, sweeps: int) -> tuple[Ints, Ints]:
    if _may_overflow(table, suppressed):
        return _wide_sweeps(table, suppressed, min(sweeps, WIDE_SWEEPS))
    lines = EquationLines.of(table.lines.start, table.lines.cell, table.lines.coef, len(table))
    backend = get_backend("numpy" if len(table) <= SMALL else "cpu")
    fall, rise = backend.unpick(suppressed[None, :], lines, table.up, table.down, sweeps)
    return rise[0], fall[0]


def _may_overflow(table: Table, suppressed: Mask) -> bool:
    """Whether sums of rooms, and sums of what these leave, could pass the limits of 64-bit integers."""
    rooms = [room[suppressed & (room < INFINITE)] for room in (table.up, table.down)]
    largest = max(int(room.max(initial=0)) for room in rooms)
    longest = int(np.bincount(table.lines.line_of_entry, weights=np.abs(table.lines.coef)).max(initial=1))
    return largest * longest**2 >= INFINITE


def _wide_sweeps(table: Table, suppressed: Mask, sweeps: int) -> tuple[Ints, Ints]:
    """The same in Python's integers, for the rare table whose sums do not fit."""
    lines, entry_line = table.lines, table.lines.line_of_entry
    factor, positive = np.abs(lines.coef).astype(object), lines.coef > 0
    rooms = [np.where(suppressed, room, 0).astype(object) for room in (table.up, table.down)]
    for _ in range(sweeps):
        rise, fall = rooms
        sums_up = np.where(positive, rise[lines.cell], fall[lines.cell])
        sums_down = np.where(positive, fall[lines.cell], rise[lines.cell])
        up, down = (_others(side, factor, entry_line, len(lines)) for side in (sums_up, sums_down))
        new = rise.copy(), fall.copy()
        # what a cell takes in a line, the others must give back
        np.minimum.at(new[0], lines.cell, np.where(positive, down, up))
        np.minimum.at(new[1], lines.cell, np.where(positive, up, down))
        if all((a == b).all() for a, b in zip(new, rooms, strict=True)):
            break
        rooms = list(new)
    return rooms[0].astype(np.int64), rooms[1].astype(np.int64)


def _others(room: Integers, factor: Integers, line: NDArray[np.int32], lines: int) -> Integers:
    """For every entry of a line, what the other entries can do together, in its own units, rounded outwards."""
    endless = np.asarray(room >= INFINITE, bool)
    parts = np.where(endless, 0, room * factor)
    total = np.zeros(lines, dtype=object)
    np.add.at(total, line, parts)
    unlimited = np.bincount(line[endless], minlength=lines)[line] > endless
    left = -((parts - total[line]) // factor)
    return np.where(unlimited | (left >= INFINITE), INFINITE, left)
