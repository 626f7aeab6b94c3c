"""The suppressed cells of one pattern as a network that can grow and shrink."""

from __future__ import annotations

from ..layout import Bits
from .bits import ZERO, lowest, position
from .compile import Integer, bare
from .records import Ground, Net


@bare
def add_arc(ground: Ground, net: Net, i: int, j: int) -> Integer:
    """Suppress cell (i, j), which must be published; returns its arc."""
    e = net.size[0]
    net.size[0] = e + 1
    c = i * ground.columns + j
    net.cell[e] = c
    net.arc_of[c] = e
    ends = (i, ground.rows + j)
    for side in range(2):
        h = 2 * e + side
        v = ends[side]
        net.target[h] = ends[1 - side]
        net.capacity[h] = ground.capacity[c, side]
        net.room[h] = ground.capacity[c, side]
        net.following[h] = net.first[v]
        net.first[v] = h
    return e


@bare
def build(ground: Ground, net: Net, rows: Bits) -> None:
    """The network of the pattern `rows` uint64[R, W]."""
    for v in range(ground.rows + ground.columns):
        net.first[v] = -1
    net.size[0] = 0
    for i in range(ground.rows):
        for w in range(rows.shape[1]):
            word = rows[i, w]
            while word != ZERO:
                single = lowest(word)
                word ^= single
                add_arc(ground, net, i, w * 64 + position(single))


@bare
def find(net: Net, c: int) -> Integer:
    """The arc of cell c, -1 where it is published."""
    e = net.arc_of[c]
    if 0 <= e < net.size[0] and net.cell[e] == c:
        return e
    return -1


@bare
def close_arc(net: Net, e: int) -> None:
    """Let nothing pass arc e any more."""
    net.capacity[2 * e] = 0
    net.capacity[2 * e + 1] = 0


@bare
def open_arc(ground: Ground, net: Net, e: int) -> None:
    """Give arc e its capacities back."""
    for side in range(2):
        net.capacity[2 * e + side] = ground.capacity[net.cell[e], side]
