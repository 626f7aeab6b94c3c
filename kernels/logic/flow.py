"""Exact safety of one task in one pattern: maximum flow between a row and a column on suppressed cells."""

from __future__ import annotations

import numpy as np

from ..layout import Bits, Int32, Int64
from .bits import ONE, ZERO
from .compile import device


@device
def search(
    row_start: Int32,
    arc_row: Int32,
    arc_column: Int32,
    column_start: Int32,
    column_arc: Int32,
    ahead: Int64,
    back: Int64,
    flow: Int64,
    own: int,
    source: int,
    sink: int,
    threshold: int,
    parent: Int32,
    queue: Int32,
    mark: Int32,
    stamp: int,
) -> bool:
    """Breadth-first path from source to sink over residual capacities of at least `threshold`, without arc `own`.

    `parent[v]` becomes the arc that reached v; `mark[v] == stamp` says that v was reached.
    """
    rows = row_start.shape[0] - 1
    mark[source] = stamp
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        if v < rows:
            for e in range(row_start[v], row_start[v + 1]):
                u = rows + arc_column[e]
                if mark[u] != stamp and ahead[e] - flow[e] >= threshold and e != own:
                    mark[u] = stamp
                    parent[u] = e
                    if u == sink:
                        return True
                    queue[tail] = u
                    tail += 1
        else:
            for q in range(column_start[v - rows], column_start[v - rows + 1]):
                e = column_arc[q]
                u = arc_row[e]
                if mark[u] != stamp and back[e] + flow[e] >= threshold and e != own:
                    mark[u] = stamp
                    parent[u] = e
                    if u == sink:
                        return True
                    queue[tail] = u
                    tail += 1
    return False


@device
def augment(
    arc_row: Int32,
    arc_column: Int32,
    rows: int,
    ahead: Int64,
    back: Int64,
    flow: Int64,
    source: int,
    sink: int,
    remaining: int,
    parent: Int32,
) -> int:
    """Push as much of `remaining` as fits along the path in `parent`; returns the amount pushed."""
    amount = remaining
    v = sink
    while v != source:
        e = parent[v]
        if v >= rows:
            amount = min(amount, ahead[e] - flow[e])
            v = arc_row[e]
        else:
            amount = min(amount, back[e] + flow[e])
            v = rows + arc_column[e]
    v = sink
    while v != source:
        e = parent[v]
        if v >= rows:
            flow[e] += amount
            v = arc_row[e]
        else:
            flow[e] -= amount
            v = rows + arc_column[e]
    return amount


@device
def covers(
    row_start: Int32,
    arc_row: Int32,
    arc_column: Int32,
    column_start: Int32,
    column_arc: Int32,
    ahead: Int64,
    back: Int64,
    arcs: int,
    own: int,
    source: int,
    sink: int,
    need: int,
    flow: Int64,
    parent: Int32,
    queue: Int32,
    mark: Int32,
    stamp: Int32,
) -> bool:
    """Can `need` units flow from source to sink without arc `own`?  Leaves the flow that was found in `flow`.

    Capacities are tried coarse to fine, so that few augmentations are needed; the last round, at one unit, makes the
    answer exact.  `stamp` int32[1] counts the searches, so that `mark` need not be cleared between them.
    """
    rows = row_start.shape[0] - 1
    for e in range(arcs):
        flow[e] = 0
    remaining = need
    threshold = need
    while remaining > 0:
        stamp[0] += 1
        threshold = min(threshold, remaining)
        if search(
            row_start, arc_row, arc_column, column_start, column_arc, ahead, back, flow, own,
            source, sink, threshold, parent, queue, mark, stamp[0],
        ):  # fmt: skip
            remaining -= augment(
                arc_row, arc_column, rows, ahead, back, flow, source, sink, remaining, parent
            )
        elif threshold <= 1:
            return False
        else:
            threshold = threshold // 8 if threshold > 64 else 1
    return True


@device
def reach(
    row_start: Int32,
    arc_row: Int32,
    arc_column: Int32,
    column_start: Int32,
    column_arc: Int32,
    ahead: Int64,
    back: Int64,
    lanes: Bits,
    own: int,
    source: int,
    sink: int,
    threshold: int,
    asked: np.uint64,
    reached: Bits,
    queue: Int32,
    queued: Int32,
) -> np.uint64:
    """In which of the patterns `asked` does a path of capacity `threshold` run from source to sink?

    64 patterns at once: the network is that of their union and `lanes[e]` says which of them hold arc e.
    `reached` uint64[V], `queue` and `queued` int32[V] are scratch.
    """
    rows = row_start.shape[0] - 1
    nodes = rows + column_start.shape[0] - 1
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
        from_row = v < rows
        first = row_start[v] if from_row else column_start[v - rows]
        last = row_start[v + 1] if from_row else column_start[v - rows + 1]
        for q in range(first, last):
            e = q if from_row else column_arc[q]
            u = rows + arc_column[e] if from_row else arc_row[e]
            fresh = here & lanes[e] & ~reached[u]
            if fresh == ZERO or e == own or (ahead[e] if from_row else back[e]) < threshold:
                continue
            reached[u] |= fresh
            if u != sink and queued[u] == 0:
                queued[u] = 1
                tail = head + waiting
                queue[tail if tail < nodes else tail - nodes] = u
                waiting += 1
    return reached[sink]


@device
def ends(row: int, column: int, upward: int, rows: int) -> tuple[int, int]:
    """Source and sink of a task's counter-flow: column to row when the cell itself moves forward."""
    if upward != 0:
        return rows + column, row
    return row, rows + column


@device
def keep_witness(flow: Int64, arcs: int, witness: Bits) -> None:
    """Write which arcs carry flow into `witness`, one bit per arc."""
    for w in range((arcs + 63) // 64):
        word = ZERO
        for e in range(w * 64, min(arcs, w * 64 + 64)):
            if flow[e] != 0:
                word |= ONE << np.uint64(e - w * 64)
        witness[w] = word


@device
def depends(witness: Bits, arc: int) -> bool:
    """Does the stored flow use this arc?"""
    return (witness[arc >> 6] >> np.uint64(arc & 63)) & ONE != ZERO
