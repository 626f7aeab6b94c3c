"""The suppressed cells of a plane as a sparse network: one arc per suppressed cell, listed by row and by column.

Nodes: rows 0..R-1, then columns R..R+C-1.  Arcs are numbered row by row, so arc numbers rise with cell numbers.
"""

from __future__ import annotations

import numpy as np

from ..layout import Bits, Int32, Int64
from .bits import ONE, ZERO, bit, lowest, popcount, position
from .compile import device


@device
def suppressed_count(rows: Bits) -> int:
    """Number of suppressed cells of one pattern, uint64[R, W]."""
    total = 0
    for i in range(rows.shape[0]):
        for w in range(rows.shape[1]):
            total += popcount(rows[i, w])
    return total


@device
def build_network(
    rows: Bits, row_start: Int32, arc_row: Int32, arc_column: Int32, column_start: Int32, column_arc: Int32
) -> int:
    """Fill the arc lists of one pattern; returns the number of arcs.

    row_start int32[R+1], column_start int32[C+1], the rest int32[at least the number of suppressed cells].
    """
    columns = column_start.shape[0] - 1
    for j in range(columns + 1):
        column_start[j] = 0
    arcs = 0
    for i in range(rows.shape[0]):
        row_start[i] = arcs
        for w in range(rows.shape[1]):
            word = rows[i, w]
            while word != ZERO:
                single = lowest(word)
                word ^= single
                j = w * 64 + position(single)
                arc_row[arcs] = i
                arc_column[arcs] = j
                column_start[j + 1] += 1
                arcs += 1
    row_start[rows.shape[0]] = arcs
    for j in range(columns):
        column_start[j + 1] += column_start[j]
    # Walking the arcs backwards, each column's end moves down to its start and lists stay in row order.
    for e in range(arcs - 1, -1, -1):
        j = arc_column[e] + 1
        column_start[j] -= 1
        column_arc[column_start[j]] = e
    for j in range(columns):
        column_start[j] = column_start[j + 1]
    column_start[columns] = arcs
    return arcs


@device
def gather_capacities(
    forward: Int64, reverse: Int64, arc_row: Int32, arc_column: Int32, arcs: int, ahead: Int64, back: Int64
) -> None:
    """The plane's capacities arc by arc: `ahead` row to column, `back` column to row."""
    for e in range(arcs):
        ahead[e] = forward[arc_row[e], arc_column[e]]
        back[e] = reverse[arc_row[e], arc_column[e]]


@device
def find_arc(row_start: Int32, arc_column: Int32, i: int, j: int) -> int:
    """The arc of cell (i, j), or -1 when it is not suppressed."""
    low, high = np.int64(row_start[i]), np.int64(row_start[i + 1])
    while low < high:
        middle = (low + high) // 2
        if arc_column[middle] < j:
            low = middle + 1
        else:
            high = middle
    if low < row_start[i + 1] and arc_column[low] == j:
        return low
    return -1


@device
def united_word(bits: Bits, first: int, last: int, i: int, w: int) -> np.uint64:
    """Word w of row i of the union of patterns first..last-1."""
    word = ZERO
    for p in range(first, last):
        word |= bits[p, i, w]
    return word


@device
def sliced_word(bits: Bits, first: int, last: int, i: int, j: int) -> np.uint64:
    """One word over patterns: bit b says that pattern first+b suppresses cell (i, j)."""
    word = ZERO
    for p in range(first, last):
        if bit(bits[p], i, j):
            word |= ONE << np.uint64(p - first)
    return word
