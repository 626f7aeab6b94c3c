"""Interval propagation along equations.

It works on movements, not values: every suppressed cell may fall by `fall` and rise by
`rise`, a published cell by nothing, and along a line `sum(coef * movement) = 0`.  One sweep tightens every
cell by all of its lines as they stood before the sweep, so the result does not depend on the order in which
lines or cells are visited.
"""

from __future__ import annotations

from ..layout import INFINITE, Int32, Int64
from .compile import device


@device
def line_room(start: Int64, cell: Int32, coef: Int64, fall: Int64, rise: Int64, line: int) -> tuple[int, int, int, int]:
    """What all cells of a line together can do: (fall, unbounded falls, rise, unbounded rises) of the line's sum."""
    falls, rises, endless_falls, endless_rises = 0, 0, 0, 0
    for e in range(start[line], start[line + 1]):
        c = cell[e]
        factor = coef[e] if coef[e] > 0 else -coef[e]
        lower = fall[c] if coef[e] > 0 else rise[c]
        upper = rise[c] if coef[e] > 0 else fall[c]
        if lower >= INFINITE:
            endless_falls += 1
        else:
            falls += lower * factor
        if upper >= INFINITE:
            endless_rises += 1
        else:
            rises += upper * factor
    return falls, endless_falls, rises, endless_rises


@device
def others_room(total: int, endless: int, own: int, factor: int) -> int:
    """The room of a line's other cells, in units of this cell, rounded outwards (the attacker's values are real)."""
    if own >= INFINITE:
        endless -= 1
    else:
        total -= own * factor
    if endless > 0:
        return INFINITE
    return (total + factor - 1) // factor


@device
def tightened(
    cell_start: Int64,
    cell_line: Int32,
    line_coef: Int64,
    room: Int64,
    fall: int,
    rise: int,
    cell: int,
) -> tuple[int, int]:
    """New (fall, rise) of a cell after one sweep; `room` int64[m, 4] holds `line_room` of every line."""
    new_fall, new_rise = fall, rise
    for q in range(cell_start[cell], cell_start[cell + 1]):
        line = cell_line[q]
        positive = line_coef[q] > 0
        factor = line_coef[q] if positive else -line_coef[q]
        falling = others_room(room[line, 0], room[line, 1], fall if positive else rise, factor)
        rising = others_room(room[line, 2], room[line, 3], rise if positive else fall, factor)
        # The line's other cells must give back what this cell takes: it rises as far as they make the sum
        # fall.
        new_rise = min(new_rise, falling if positive else rising)
        new_fall = min(new_fall, rising if positive else falling)
    return new_fall, new_rise
