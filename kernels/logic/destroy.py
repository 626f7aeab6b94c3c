"""Publishing some related secondary cells of one pattern at random, so that it can be repaired another way."""

from __future__ import annotations

import numpy as np

from ..layout import Bits
from .arcs import build, find
from .augment import empty_flow, send
from .bits import ONE, bit
from .compile import Integer, bare, whole
from .hashing import below
from .judge import asked
from .records import Needs, Scratch, TableRecord

ANYWHERE, LINE, WALK, FLOW = 0, 1, 2, 3
_DRAWS = 8
"""Draws with smaller numbers choose the way and where it begins."""


@bare
def _publish(table: TableRecord, rows: Bits, c: int) -> Integer:
    """Publish cell c; returns 1 if it was a secondary suppression, else 0 and nothing happens."""
    i = c // table.columns
    j = c - i * table.columns
    if bit(table.forced, i, j) or not bit(rows, i, j):
        return 0
    rows[i, j >> 6] &= ~(ONE << np.uint64(j & 63))
    return 1


@bare
def _secondary(table: TableRecord, scratch: Scratch) -> Integer:
    """The arcs of secondary cells into `item`; returns how many."""
    count = whole(0)
    for e in range(scratch.net.size[0]):
        c = scratch.net.cell[e]
        i = c // table.columns
        if not bit(table.forced, i, c - i * table.columns):
            scratch.lists.item[count] = e
            count += 1
    return count


@bare
def _along_line(table: TableRecord, scratch: Scratch, rows: Bits, v: int, seed: np.uint64, most: int) -> None:
    """Publish up to `most` cells of the line of node v, beginning anywhere in it."""
    net, size = scratch.net, 0
    h = net.first[v]
    while h >= 0:
        scratch.lists.item[size] = h >> 1
        size += 1
        h = net.following[h]
    begin, taken = below(seed, whole(2), size), 0
    for x in range(size):
        if taken < most:
            taken += _publish(table, rows, whole(net.cell[scratch.lists.item[(begin + x) % size]]))


@bare
def _walk(table: TableRecord, scratch: Scratch, rows: Bits, e: int, seed: np.uint64, most: int) -> None:
    """Walk from cell to cell over common lines and publish what is met."""
    net, taken = scratch.net, 0
    for step in range(4 * most):
        taken += _publish(table, rows, whole(net.cell[e]))
        if taken >= most:
            return
        v = net.target[2 * e + below(seed, _DRAWS + 2 * step, whole(2))]
        degree = 0
        h = net.first[v]
        while h >= 0:
            degree += 1
            h = net.following[h]
        h = net.first[v]
        for _ in range(below(seed, _DRAWS + 2 * step + 1, degree)):
            h = net.following[h]
        e = h >> 1


@bare
def _along_flow(
    table: TableRecord, needs: Needs, scratch: Scratch, rows: Bits, t: int, seed: np.uint64, most: int
) -> Integer:
    """Publish up to `most` cells of a flow of requirement t; returns how many."""
    net = scratch.net
    if needs.need[t] <= 0 or not asked(needs, net, t):
        return 0
    empty_flow(net, find(net, needs.cell[t]))
    send(net, scratch.search, whole(needs.source[t]), whole(needs.sink[t]), needs.need[t], needs.need[t])
    own = find(net, needs.cell[t])
    begin, taken = below(seed, whole(3), net.size[0]), 0
    for x in range(net.size[0]):
        e = (begin + x) % net.size[0]
        if taken < most and e != own and net.room[2 * e] != net.capacity[2 * e]:
            taken += _publish(table, rows, whole(net.cell[e]))
    return taken


@bare
def destroy_pattern(
    table: TableRecord, needs: Needs, scratch: Scratch, rows: Bits, seed: np.uint64, strength: int
) -> None:
    """Publish up to `strength` secondary cells: anywhere, of one line, along a walk, or of one requirement's flow."""
    net, item = scratch.net, scratch.lists.item
    build(table, net, rows)
    count = _secondary(table, scratch)
    if count == 0 or strength <= 0:
        return
    way, e = below(seed, whole(0), whole(4)), whole(item[below(seed, whole(1), count)])
    if way == LINE:
        _along_line(table, scratch, rows, net.target[2 * e + below(seed, whole(4), whole(2))], seed, strength)
        return
    if way == WALK:
        _walk(table, scratch, rows, e, seed, strength)
        return
    requirements = needs.cell.shape[0]
    if way == FLOW and requirements > 0:
        t = below(seed, whole(5), requirements)
        if _along_flow(table, needs, scratch, rows, t, seed, strength) > 0:
            return
    for x in range(min(strength, count)):
        e = whole(item[below(seed, _DRAWS + x, count)])
        _publish(table, rows, whole(net.cell[e]))
