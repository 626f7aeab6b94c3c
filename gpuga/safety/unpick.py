"""Unpicking: interval propagation along the lines until nothing moves, without any solver.

Each line bounds each of its cells by what the others can be. The result encloses the attacker's
interval, so a cell that is already too narrow here is exposed for certain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.safety.compiled import compiled
from gpuga.table.table import INFINITE, Ints, Mask, Table

VISITS_PER_LINE = 1000
"""Propagation may creep towards its limit; any stop encloses the attacker's interval, so it may be cut."""


def unpick(table: Table, suppressed: Mask) -> tuple[Ints, Ints]:
    """Lowest and highest value of every cell that the lines allow (int64[n] each, `INFINITE`: no limit)."""
    low = np.where(suppressed, table.lb, table.value)
    high = np.where(suppressed, table.ub, table.value)
    lines = table.lines
    cell_start, cell_line, _ = lines.by_cell(len(table))
    _propagate(
        lines.start, lines.cell, lines.coef, lines.rhs, cell_start, cell_line, suppressed, low, high, VISITS_PER_LINE
    )
    return low, high


def one_line_each(table: Table, suppressed: Mask) -> tuple[Ints, Ints]:
    """What each line alone says of each of its cells, no conclusion used for another (int64[n] each)."""
    low = np.where(suppressed, table.lb, table.value)
    high = np.where(suppressed, table.ub, table.value)
    lines = table.lines
    new_low, new_high = low.copy(), high.copy()
    for line in _lines_with(lines.start, lines.cell, suppressed):
        _tighten(lines.start, lines.cell, lines.coef, lines.rhs, line, suppressed, low, high, new_low, new_high)
    return new_low, new_high


def _lines_with(start: Ints, cell: NDArray[np.int32], suppressed: Mask) -> list[int]:
    hits = np.concatenate([[0], np.cumsum(suppressed[cell])])
    return np.flatnonzero(hits[start[1:]] > hits[start[:-1]]).tolist()


@compiled
def _tighten(
    start: Ints,
    cell: NDArray[np.int32],
    coef: Ints,
    rhs: Ints,
    line: int,
    suppressed: Mask,
    low: Ints,
    high: Ints,
    new_low: Ints,
    new_high: Ints,
) -> bool:
    """Bound each suppressed cell of a line by the others' `low` and `high`; True if a bound moved."""
    least = most = -rhs[line]
    open_least = open_most = 0  # how many terms have no lower (upper) limit
    for e in range(start[line], start[line + 1]):
        c, k = cell[e], coef[e]
        at_least, at_most = (low[c], high[c]) if k > 0 else (high[c], low[c])
        if abs(at_least) >= INFINITE:
            open_least += 1
        else:
            least += k * at_least
        if abs(at_most) >= INFINITE:
            open_most += 1
        else:
            most += k * at_most
    moved = False
    for e in range(start[line], start[line + 1]):
        c, k = cell[e], coef[e]
        if not suppressed[c]:
            continue
        at_least, at_most = (low[c], high[c]) if k > 0 else (high[c], low[c])
        # k*x = -(the others), so k*x <= -(their least) and k*x >= -(their most)
        others_open = open_least - (1 if abs(at_least) >= INFINITE else 0)
        if others_open == 0:
            ceiling = -(least - (0 if abs(at_least) >= INFINITE else k * at_least))
            if k > 0:
                bound = -((-ceiling) // k)
                if bound < new_high[c]:
                    new_high[c] = bound
                    moved = True
            else:
                bound = ceiling // k
                if bound > new_low[c]:
                    new_low[c] = bound
                    moved = True
        others_open = open_most - (1 if abs(at_most) >= INFINITE else 0)
        if others_open == 0:
            floor = -(most - (0 if abs(at_most) >= INFINITE else k * at_most))
            if k > 0:
                bound = floor // k
                if bound > new_low[c]:
                    new_low[c] = bound
                    moved = True
            else:
                bound = -((-floor) // k)
                if bound < new_high[c]:
                    new_high[c] = bound
                    moved = True
    return moved


@compiled
def _propagate(
    start: Ints,
    cell: NDArray[np.int32],
    coef: Ints,
    rhs: Ints,
    cell_start: Ints,
    cell_line: NDArray[np.int32],
    suppressed: Mask,
    low: Ints,
    high: Ints,
    visits_per_line: int,
) -> None:
    """Visit dirty lines in rounds until none is left."""
    lines = len(start) - 1
    dirty = np.ones(lines, np.bool_)
    for _ in range(visits_per_line):
        any_dirty = False
        for line in range(lines):
            if not dirty[line]:
                continue
            dirty[line] = False
            if _tighten(start, cell, coef, rhs, line, suppressed, low, high, low, high):
                any_dirty = True
                for e in range(start[line], start[line + 1]):
                    c = cell[e]
                    if suppressed[c]:
                        for q in range(cell_start[c], cell_start[c + 1]):
                            dirty[cell_line[q]] = True
        if not any_dirty:
            return
