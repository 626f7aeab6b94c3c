"""Exact safety of one task in one pattern: maximum flow between a row and a column on suppressed cells."""

from __future__ import annotations

import numpy as np

from ..layout import SAFE, UNDECIDED, UNSAFE, Bits, Int32, Int64
from .bits import ONE, ZERO
from .compile import Integer, Truth, device


@device
def ends(row: int, column: int, upward: int, rows: int) -> tuple[int, int]:
    """Source and sink of a task's counter-flow: column to row when the cell itself moves forward."""
    if upward != 0:
        return rows + column, row
    return row, rows + column


@device
def search(
    node_start: Int32,
    target: Int32,
    room: Int64,
    source: int,
    sink: int,
    threshold: int,
    parent: Int32,
    queue: Int32,
    mark: Int32,
    stamp: int,
) -> bool:
    """Breadth-first path from source to sink over half-arcs with room for at least `threshold`.

    `parent[v]` becomes the half-arc that reached v; `mark[v] == stamp` says that v was reached.
    """
    mark[source] = stamp
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for h in range(node_start[v], node_start[v + 1]):
            u = target[h]
            if mark[u] != stamp and room[h] >= threshold:
                mark[u] = stamp
                parent[u] = h
                if u == sink:
                    return True
                queue[tail] = u
                tail += 1
    return False


@device
def augment(target: Int32, twin: Int32, room: Int64, source: int, sink: int, remaining: int, parent: Int32) -> Integer:
    """Push as much of `remaining` as fits along the path in `parent`; returns the amount pushed."""
    amount = remaining
    v = sink
    while v != source:
        amount = min(amount, room[parent[v]])
        v = target[twin[parent[v]]]
    v = sink
    while v != source:
        h = parent[v]
        room[h] -= amount
        room[twin[h]] += amount
        v = target[twin[h]]
    return amount


@device
def leaves(node_start: Int32, room: Int64, node: int, cap: int) -> Integer:
    """What can leave a node, counted up to `cap`."""
    total = 0
    for h in range(node_start[node], node_start[node + 1]):
        total += min(cap, room[h])
        if total >= cap:
            return cap
    return total


@device
def enters(node_start: Int32, twin: Int32, room: Int64, node: int, cap: int) -> Integer:
    """What can enter a node, counted up to `cap`."""
    total = 0
    for h in range(node_start[node], node_start[node + 1]):
        total += min(cap, room[twin[h]])
        if total >= cap:
            return cap
    return total


@device
def finer(threshold: int) -> int:
    """The next threshold: an eighth, then single units (measured: more steps cost more searches than they save)."""
    return threshold // 8 if threshold > 4096 else 1


@device
def covers(
    node_start: Int32,
    target: Int32,
    twin: Int32,
    capacity: Int64,
    arcs: int,
    own: int,
    source: int,
    sink: int,
    need: int,
    first_threshold: int,
    room: Int64,
    parent: Int32,
    queue: Int32,
    mark: Int32,
    stamp: Int32,
) -> bool:
    """Can `need` units flow from source to sink without arc `own`?  Leaves what is left of the capacities
    in `room`.

    Paths of at least `first_threshold` units are looked for first, then ever finer ones, so that few
    augmentations are needed; the last round, at one unit, makes the answer exact.  `stamp` int32[1] counts
    the searches, so that `mark` need not be cleared between them.
    """
    for h in range(2 * arcs):
        room[h] = capacity[h]
    room[own] = 0
    room[twin[own]] = 0
    if leaves(node_start, room, source, need) < need or enters(node_start, twin, room, sink, need) < need:
        return False
    remaining = need
    threshold = first_threshold
    while remaining > 0:
        stamp[0] += 1
        threshold = min(threshold, remaining)
        if search(node_start, target, room, source, sink, threshold, parent, queue, mark, stamp[0]):
            remaining -= augment(target, twin, room, source, sink, remaining, parent)
        elif threshold <= 1:
            return False
        else:
            threshold = finer(threshold)
    return True


@device
def keep_witness(capacity: Int64, room: Int64, arcs: int, own: int, witness: Bits) -> None:
    """Write which arcs carry flow, and the task's own arc, into `witness`, one bit per arc."""
    for w in range((arcs + 63) // 64):
        word = ZERO
        for e in range(w * 64, min(arcs, w * 64 + 64)):
            if room[e] != capacity[e] or e == own:
                word |= ONE << np.uint64(e - w * 64)
        witness[w] = word


@device
def depends(witness: Bits, arc: int) -> Truth:
    """Does the stored flow use this arc?"""
    return (witness[arc >> 6] >> np.uint64(arc & 63)) & ONE != ZERO


@device
def reach(
    node_start: Int32,
    target: Int32,
    twin: Int32,
    capacity: Int64,
    lanes: Bits,
    arcs: int,
    own: int,
    source: int,
    sink: int,
    threshold: int,
    asked: Integer,
    reached: Bits,
    queue: Int32,
    queued: Int32,
) -> Integer:
    """In which of the patterns `asked` does a path of capacity `threshold` run from source to sink?

    64 patterns at once: the network is that of their union and `lanes[e]` says which of them hold arc e.
    `reached` uint64[V], `queue` and `queued` int32[V] are scratch.
    """
    nodes = node_start.shape[0] - 1
    for v in range(nodes):
        reached[v] = ZERO
        queued[v] = 0
    reached[source] = asked
    queue[0] = source
    head, waiting = 0, 1
    while waiting > 0 and reached[sink] != asked:
        v = queue[head]
        head = head + 1 if head + 1 < nodes else 0
        waiting -= 1
        queued[v] = 0
        here = reached[v]
        for h in range(node_start[v], node_start[v + 1]):
            e = h if h < arcs else twin[h]
            u = target[h]
            fresh = here & lanes[e] & ~reached[u]
            if fresh == ZERO or e == own or capacity[h] < threshold:
                continue
            reached[u] |= fresh
            if u != sink and queued[u] == 0:
                queued[u] = 1
                tail = head + waiting
                queue[tail if tail < nodes else tail - nodes] = u
                waiting += 1
    return reached[sink]


@device
def lane_verdict(through: np.uint64, any_path: np.uint64, lane: int) -> int:
    """What reachability says of one of 64 patterns: a wide enough path, no path at all, or nothing."""
    if (through >> np.uint64(lane)) & ONE != ZERO:
        return SAFE
    if (any_path >> np.uint64(lane)) & ONE != ZERO:
        return UNDECIDED
    return UNSAFE
