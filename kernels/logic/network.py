"""The suppressed cells of a plane as a sparse network: every cell is an arc that can be walked in both
directions.

Nodes: rows 0..R-1, then columns R..R+C-1.  An arc is a pair of half-arcs.  Half-arc e < arcs leads from the
row to the column of the e-th suppressed cell (numbered row by row); its twin, at arcs or above, leads back.
 The half-arcs that leave node v are node_start[v]..node_start[v+1]; `target` is where they lead, `capacity`
 what they carry.
"""

from __future__ import annotations

import numpy as np

from ..layout import Bits, Int32, Int64
from .bits import ONE, ZERO, bit, lowest, popcount, position
from .compile import Integer, device


@device
def suppressed_count(rows: Bits) -> Integer:
    """Number of suppressed cells of one pattern, uint64[R, W]."""
    total = 0
    for i in range(rows.shape[0]):
        for w in range(rows.shape[1]):
            total += popcount(rows[i, w])
    return total


@device
def build_network(
    rows: Bits, forward: Int64, reverse: Int64, node_start: Int32, target: Int32, twin: Int32, capacity: Int64
) -> Integer:
    """Fill the half-arc lists of one pattern; returns the number of arcs.

    node_start int32[R+C+1]; target, twin int32 and capacity int64 need room for twice the suppressed cells.
    """
    height, width = forward.shape[0], forward.shape[1]
    for v in range(height, height + width + 1):
        node_start[v] = 0
    arcs = 0
    for i in range(height):
        node_start[i] = arcs
        for w in range(rows.shape[1]):
            word = rows[i, w]
            while word != ZERO:
                single = lowest(word)
                word ^= single
                j = w * 64 + position(single)
                target[arcs] = height + j
                capacity[arcs] = forward[i, j]
                node_start[height + j + 1] += 1
                arcs += 1
    node_start[height] = arcs
    for v in range(height, height + width):
        node_start[v + 1] += node_start[v]
    add_twins(forward, reverse, arcs, node_start, target, twin, capacity)
    return arcs


@device
def add_twins(
    forward: Int64, reverse: Int64, arcs: int, node_start: Int32, target: Int32, twin: Int32, capacity: Int64
) -> None:
    """Add the half-arcs that lead back from columns to rows; node_start[v+1] holds where column v's list ends."""
    height, width = forward.shape[0], forward.shape[1]
    i = height - 1
    # Walking the arcs backwards, the end of each column's list moves down to its start and lists stay in
    # row order.
    for e in range(arcs - 1, -1, -1):
        while node_start[i] > e:
            i -= 1
        v = target[e]
        node_start[v + 1] -= 1
        h = node_start[v + 1]
        target[h] = i
        capacity[h] = reverse[i, v - height]
        twin[h] = e
        twin[e] = h
    for v in range(height, height + width):
        node_start[v] = node_start[v + 1]
    node_start[height + width] = 2 * arcs


@device
def find_arc(node_start: Int32, target: Int32, i: int, column: int) -> Integer:
    """The arc from row i to the node `column`, or -1 when that cell is not suppressed."""
    low, high = np.int64(node_start[i]), np.int64(node_start[i + 1])
    while low < high:
        middle = (low + high) // 2
        if target[middle] < column:
            low = middle + 1
        else:
            high = middle
    if low < node_start[i + 1] and target[low] == column:
        return low
    return np.int64(-1)


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
