"""Equations: what is suppressed in a line, which tasks a line alone proves unsafe, and interval propagation.

Interval propagation works on movements, not values: every suppressed cell may fall by `fall` and rise by
`rise`, a published cell by nothing, and along a line `sum(coef * movement) = 0`.  One sweep tightens every
cell by all of its lines as they stood before the sweep, so the result does not depend on the order in which
lines or cells are visited.
"""

from __future__ import annotations

from ..layout import INFINITE, Bits, Int32, Int64
from .bits import cell_bit
from .compile import device


@device
def line_exposes(
    rows: Bits,
    columns: int,
    cell_start: Int64,
    cell_line: Int32,
    line_coef: Int64,
    up: Int64,
    down: Int64,
    rise_of: Int64,
    fall_of: Int64,
    rises: Int64,
    falls: Int64,
    own: int,
    direction: int,
    need: int,
) -> bool:
    """Does some single line prove that cell `own` cannot move by `need`?  (Also when it is published.)

    `rise_of` and `fall_of` say how far each cell can push the sum of each of its lines up and down (no further than
    any task needs), `rises` and `falls` int64[m] what the suppressed cells of a line can do together.
    """
    if need <= 0:
        return False
    if (up[own] if direction > 0 else down[own]) < need or not cell_bit(rows, columns, own):
        return True
    for q in range(cell_start[own], cell_start[own + 1]):
        line = cell_line[q]
        factor = line_coef[q] if line_coef[q] > 0 else -line_coef[q]
        # What pushes the line's sum up must be taken back by the fall of its other cells.
        pushes_up = (line_coef[q] > 0) == (direction > 0)
        others = falls[line] - fall_of[q] if pushes_up else rises[line] - rise_of[q]
        if others < need * factor:
            return True
    return False


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
