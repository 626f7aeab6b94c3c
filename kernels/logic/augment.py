"""Exact cover of one requirement in one pattern: a flow along breadth-first augmenting paths."""

from __future__ import annotations

import numpy as np

from ..layout import Bits
from .bits import ONE, ZERO
from .compile import Integer, device
from .records import Net, Search


@device
def empty_flow(net: Net, own: int) -> None:
    """Begin a flow that must not use arc `own`."""
    for h in range(2 * net.size[0]):
        net.room[h] = net.capacity[h]
    net.room[2 * own] = 0
    net.room[2 * own + 1] = 0


@device
def wide_path(net: Net, search: Search, source: int, sink: int, width: int) -> bool:
    """Whether a path with room for `width` leads from source to sink; `parent` holds it."""
    search.stamp[0] += 1
    stamp = search.stamp[0]
    search.mark[source] = stamp
    search.queue[0] = source
    head, tail = 0, 1
    while head < tail:
        h = net.first[search.queue[head]]
        head += 1
        while h >= 0:
            u = net.target[h]
            if search.mark[u] != stamp and net.room[h] >= width:
                search.mark[u] = stamp
                search.parent[u] = h
                if u == sink:
                    return True
                search.queue[tail] = u
                tail += 1
            h = net.following[h]
    return False


@device
def push(net: Net, search: Search, source: int, sink: int, most: int) -> Integer:
    """Send what fits, at most `most`, along the path that `parent` holds; returns how much."""
    amount = most
    v = sink
    while v != source:
        h = search.parent[v]
        amount = min(amount, net.room[h])
        v = net.target[h ^ 1]
    v = sink
    while v != source:
        h = search.parent[v]
        net.room[h] -= amount
        net.room[h ^ 1] += amount
        v = net.target[h ^ 1]
    return amount


@device
def screened(net: Net, source: int, sink: int, need: int) -> bool:
    """Whether the arcs at both ends could carry the need: without that, no search is worth while."""
    for end in range(2):
        total = 0
        h = net.first[sink if end == 1 else source]
        while h >= 0 and total < need:
            total += min(need, net.room[h ^ end])
            h = net.following[h]
        if total < need:
            return False
    return True


@device
def finer(width: int) -> int:
    """The next narrower width: an eighth, then single units."""
    return width // 8 if width > 4096 else 1


@device
def send(net: Net, search: Search, source: int, sink: int, left: int, width: int) -> Integer:
    """Send up to `left` units, along paths of at least `width` first; returns what could not be sent.

    The last searches, at one unit, make the answer exact.
    """
    while left > 0:
        width = min(width, left)
        if wide_path(net, search, source, sink, width):
            left -= push(net, search, source, sink, left)
        elif width <= 1:
            break
        else:
            width = finer(width)
    return left


@device
def keep_witness(net: Net, own: int, witness: Bits) -> None:
    """Write which arcs carry flow, and arc `own`, into `witness`, one bit per arc."""
    count = net.size[0]
    for w in range((count + 63) // 64):
        word = ZERO
        for e in range(w * 64, min(count, w * 64 + 64)):
            if net.room[2 * e] != net.capacity[2 * e] or e == own:
                word |= ONE << np.uint64(e - w * 64)
        witness[w] = word
