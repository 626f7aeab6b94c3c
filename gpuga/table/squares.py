"""Squares between the lines of a table: which lines run side by side, and which cross.

Two lines through a cell x lie along different axes of a product when y on the one and z on the other have a fourth
corner w, which lies on neither, on a line with y and on a line with z. Compiled, since a table has many of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled

Ints = NDArray[np.int64]
Cells = NDArray[np.int32]

TRIES = 4
"""How many cells of each line are tried as y and z."""


class Incidence(NamedTuple):
    """Which cells lie on which lines, both ways round, each list ascending.

    Line k has the cells `cell[start[k]:start[k + 1]]`, cell x the lines `cell_line[cell_start[x]:cell_start[x + 1]]`.
    """

    start: Ints
    cell: Cells
    cell_start: Ints
    cell_line: Cells


@compiled
def root_of(group: Ints, at: int) -> int:
    """The representative of a group; ways are shortened as they are walked."""
    while group[at] != at:
        group[at] = group[group[at]]
        at = group[at]
    return at


@compiled
def shared(web: Incidence, one: int, two: int, out: Cells) -> int:
    """How many cells two lines share; the first two of them are written to `out`."""
    start, cell = web.start, web.cell
    p, q, found = start[one], start[two], 0
    while p < start[one + 1] and q < start[two + 1]:
        if cell[p] == cell[q]:
            if found < 2:
                out[found] = cell[p]
            found += 1
            p += 1
            q += 1
        elif cell[p] < cell[q]:
            p += 1
        else:
            q += 1
    return found


@compiled
def lies_on(web: Incidence, line: int, x: int) -> bool:
    """Whether a cell lies on a line."""
    low, high = web.start[line], web.start[line + 1]
    while low < high:
        middle = (low + high) // 2
        if web.cell[middle] < x:
            low = middle + 1
        else:
            high = middle
    return bool(low < web.start[line + 1] and web.cell[low] == x)


@compiled
def corner(web: Incidence, one: int, two: int, x: int, y: int, z: int, sides: Ints) -> bool:
    """Whether y on line `one` and z on line `two`, which meet in x, have a fourth corner.

    If so, the lines opposite to `one` and `two` are written to `sides`.
    """
    room = np.zeros(2, np.int32)
    for p in range(web.cell_start[y], web.cell_start[y + 1]):
        beside_two = web.cell_line[p]
        if lies_on(web, beside_two, x) or lies_on(web, beside_two, z):
            continue
        for q in range(web.cell_start[z], web.cell_start[z + 1]):
            beside_one = web.cell_line[q]
            if lies_on(web, beside_one, x) or lies_on(web, beside_one, y):
                continue
            if shared(web, beside_one, beside_two, room) == 1:
                w = room[0]
                if not lies_on(web, one, w) and not lies_on(web, two, w):
                    sides[0], sides[1] = beside_one, beside_two
                    return True
    return False


@compiled
def corners(web: Incidence, one: int, two: int, x: int, first: bool, sides: Ints) -> tuple[int, int]:
    """How many pairs of neighbours of x on two lines have a fourth corner, and how many were tried.

    With `first`, the search ends at the first one.
    """
    start, cell = web.start, web.cell
    length_one, length_two = start[one + 1] - start[one], start[two + 1] - start[two]
    at_one, at_two, found, tried = 0, 0, 0, 0
    while cell[start[one] + at_one] != x:
        at_one += 1
    while cell[start[two] + at_two] != x:
        at_two += 1
    for a in range(1, min(TRIES, length_one - 1) + 1):
        y = cell[start[one] + (at_one + a) % length_one]
        for b in range(1, min(TRIES, length_two - 1) + 1):
            z = cell[start[two] + (at_two + b) % length_two]
            tried += 1
            if corner(web, one, two, x, y, z, sides):
                found += 1
                if first:
                    return found, tried
    return found, tried


@compiled
def join_parallels(web: Incidence, group: Ints) -> None:
    """Join lines that share two cells, and opposite sides of squares, in the union-find `group` (int64[lines])."""
    room, sides = np.zeros(2, np.int32), np.zeros(2, np.int64)
    for x in range(len(web.cell_start) - 1):
        for p in range(web.cell_start[x], web.cell_start[x + 1]):
            for q in range(p + 1, web.cell_start[x + 1]):
                one, two = web.cell_line[p], web.cell_line[q]
                if shared(web, one, two, room) > 1:
                    group[root_of(group, one)] = root_of(group, two)
                elif corners(web, one, two, x, True, sides)[0]:
                    group[root_of(group, one)] = root_of(group, sides[0])
                    group[root_of(group, two)] = root_of(group, sides[1])


@compiled
def span_squares(web: Incidence, number: Ints, count: int, step: int) -> tuple[Ints, Ints]:
    """How many squares lines of two kinds span where they meet, and how many could be (int64[count, count] each).

    Only every `step`-th cell is looked at.
    """
    squares, tries = np.zeros((count, count), np.int64), np.zeros((count, count), np.int64)
    sides = np.zeros(2, np.int64)
    for x in range(0, len(web.cell_start) - 1, step):
        for p in range(web.cell_start[x], web.cell_start[x + 1]):
            for q in range(p + 1, web.cell_start[x + 1]):
                one, two = web.cell_line[p], web.cell_line[q]
                a, b = number[one], number[two]
                if a == b:
                    continue
                found, tried = corners(web, one, two, x, False, sides)
                squares[a, b] += found
                squares[b, a] += found
                tries[a, b] += tried
                tries[b, a] += tried
    return squares, tries
