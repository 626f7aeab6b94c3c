"""The suppressed cells of one pattern as a network that can grow and shrink."""

from __future__ import annotations

from ..layout import Bits
from .bits import ZERO, lowest, position
from .compile import Integer, bare, whole
from .records import Arcs, Net, TableRecord


@bare
def link(net: Net, c: int, row: int, column: int) -> Integer:
    """Join the nodes of cell c by an arc, whose capacities are still to be set; returns the arc."""
    e = net.size[0]
    net.size[0] = e + 1
    net.cell[e] = c
    net.arc_of[c] = e
    ends = (row, column)
    for side in range(2):
        h = 2 * e + side
        v = ends[side]
        net.target[h] = ends[1 - side]
        net.following[h] = net.first[v]
        net.first[v] = h
    return e


@bare
def add_arc(table: Arcs, net: Net, i: int, j: int) -> Integer:
    """Suppress cell (i, j), which must be published; returns its arc."""
    c = i * table.columns + j
    e = link(net, c, i, table.rows + j)
    for side in range(2):
        net.capacity[2 * e + side] = table.capacity[c, side]
        net.room[2 * e + side] = table.capacity[c, side]
    return e


@bare
def _instead(net: Net, v: int, h: int, other: int) -> None:
    """Let the chain of node v hold `other` where it holds half-arc h."""
    if net.first[v] == h:
        net.first[v] = other
        return
    g = net.first[v]
    while net.following[g] != h:
        g = net.following[g]
    net.following[g] = other


@bare
def remove_arc(net: Net, e: int) -> None:
    """Publish the cell of arc e; the last arc takes its number. No flow may be under construction."""
    last = net.size[0] - 1
    for h in range(2 * e, 2 * e + 2):
        _instead(net, net.target[h ^ 1], h, net.following[h])
    if last != e:
        for side in range(2):
            _instead(net, net.target[2 * last + 1 - side], 2 * last + side, 2 * e + side)
        for side in range(2):
            h, moved = 2 * e + side, 2 * last + side
            net.following[h], net.target[h] = net.following[moved], net.target[moved]
            net.capacity[h], net.room[h] = net.capacity[moved], net.room[moved]
        net.cell[e] = net.cell[last]
        net.arc_of[net.cell[e]] = e
    net.size[0] = last


@bare
def build(table: TableRecord, net: Net, rows: Bits) -> None:
    """The network of the pattern `rows` uint64[R, W]."""
    for v in range(table.rows + table.columns):
        net.first[v] = -1
    net.size[0] = 0
    for i in range(table.rows):
        for w in range(rows.shape[1]):
            word = rows[i, w]
            while word != ZERO:
                single = lowest(word)
                word ^= single
                add_arc(table, net, i, w * 64 + position(single))


@bare
def find(net: Net, c: int) -> Integer:
    """The arc of cell c, -1 where it is published."""
    e = net.arc_of[c]
    if 0 <= e < net.size[0] and net.cell[e] == c:
        return e
    return -1


@bare
def carried(net: Net, e: int) -> Integer:
    """What flows over arc e, positive from row to column; nothing over an arc without room both ways, which is shut."""
    if net.room[2 * e] + net.room[2 * e + 1] == 0:
        return whole(0)
    return net.capacity[2 * e] - net.room[2 * e]


@bare
def close_arc(net: Net, e: int) -> None:
    """Let nothing pass arc e any more."""
    net.capacity[2 * e] = 0
    net.capacity[2 * e + 1] = 0


@bare
def open_arc(table: TableRecord, net: Net, e: int) -> None:
    """Give arc e its capacities back."""
    for side in range(2):
        net.capacity[2 * e + side] = table.capacity[net.cell[e], side]
