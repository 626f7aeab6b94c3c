"""Which requirements one single path covers, all of one pattern at once: 64 requirements to a word.

Requirements are sorted by rising need, so those that a half-arc is wide enough for are the first few.
"""

from __future__ import annotations

import numpy as np

from .arcs import find
from .bits import FULL, ONE, ZERO
from .compile import Truth, bare
from .records import Flood, Needs, Net


@bare
def open_for(needs: Needs, net: Net, flood: Flood, e: int) -> None:
    """Say which requirements may walk arc e."""
    for side in range(2):
        count = needs.passing[net.cell[e], side]
        for w in range(flood.opened.shape[1]):
            left = count - w * 64
            if left >= 64:
                flood.opened[2 * e + side, w] = FULL
            else:
                flood.opened[2 * e + side, w] = (ONE << np.uint64(left)) - ONE if left > 0 else ZERO


@bare
def close_for_all(flood: Flood, e: int) -> None:
    """Let no requirement walk arc e."""
    for w in range(flood.opened.shape[1]):
        flood.opened[2 * e, w] = ZERO
        flood.opened[2 * e + 1, w] = ZERO


@bare
def open_arcs(needs: Needs, net: Net, flood: Flood) -> None:
    """Say which requirements may walk which arcs; none walks its own."""
    for e in range(net.size[0]):
        open_for(needs, net, flood, e)
    for t in range(needs.cell.shape[0]):
        e = find(net, needs.cell[t])
        if e >= 0:
            single = ONE << np.uint64(t & 63)
            flood.opened[2 * e, t >> 6] &= ~single
            flood.opened[2 * e + 1, t >> 6] &= ~single


@bare
def begin(flood: Flood) -> None:
    """Nothing is reached, no node waits."""
    for v in range(flood.reached.shape[0]):
        flood.queued[v] = 0
        for w in range(flood.reached.shape[1]):
            flood.reached[v, w] = ZERO


@bare
def start_at(flood: Flood, v: int, t: int) -> None:
    """Requirement t begins at node v."""
    flood.reached[v, t >> 6] |= ONE << np.uint64(t & 63)


@bare
def wait(flood: Flood, v: int, waiting: int) -> int:
    """Let node v wait for its turn; returns how many wait."""
    if flood.queued[v] != 0:
        return waiting
    flood.queued[v] = 1
    flood.queue[waiting] = v
    return waiting + 1


@bare
def spread(net: Net, flood: Flood, waiting: int) -> None:
    """Carry the requirements from the nodes `queue[:waiting]` to all nodes that they reach."""
    nodes = flood.reached.shape[0]
    head = 0
    while waiting > 0:
        v = flood.queue[head]
        head = head + 1 if head + 1 < nodes else 0
        waiting -= 1
        flood.queued[v] = 0
        h = net.first[v]
        while h >= 0:
            u = net.target[h]
            news = ZERO
            for w in range(flood.reached.shape[1]):
                fresh = flood.reached[v, w] & flood.opened[h, w] & ~flood.reached[u, w]
                flood.reached[u, w] |= fresh
                news |= fresh
            if news != ZERO and flood.queued[u] == 0:
                flood.queued[u] = 1
                tail = head + waiting
                flood.queue[tail if tail < nodes else tail - nodes] = u
                waiting += 1
            h = net.following[h]


@bare
def has_reached(flood: Flood, v: int, t: int) -> Truth:
    """Did requirement t reach node v?"""
    return (flood.reached[v, t >> 6] >> np.uint64(t & 63)) & ONE != ZERO
