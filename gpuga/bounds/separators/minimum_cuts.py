"""The minimum cuts of a fractional pattern that some requirement of a two-way table violates.

Capacities are `x * min(capacity, need) / need`, so a requirement is met when one unit flows. Floats only choose
which node sets become cuts; the cuts themselves are exact whatever is chosen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gpuga.bounds.cut import Floats
from gpuga.bounds.knapsack import LIKELY
from gpuga.compiled import compiled, inner
from gpuga.problem.two_way import Requirements
from gpuga.safety.network import Bytes, Network, sink_of, source_of
from gpuga.table.table import Ints

MOST_CUTS = 2000


class Support(NamedTuple):
    """The places with positive x as a graph: arcs sorted by row, and by column through `column_arc`."""

    i: Ints
    j: Ints
    x: Floats
    row_start: Ints
    column_start: Ints
    column_arc: Ints


class View(NamedTuple):
    """How the places are looked at: which roundings of cuts (see `capacity_cuts`) a minimum cut is a guess for.

    With no `parts`, places that are likely suppressed count in full and the others for at most `share` of the
    need: covers that leave about that share. With several, the need is divided into them, the last one being
    `share` of a part. One part is the plain view.
    """

    parts: int
    share: float


PLAIN = View(1, 1.0)


class Violated(NamedTuple):
    """Node sets whose cuts are violated: the level, and the sides as masks (uint8[K, R], uint8[K, C])."""

    level: Ints
    rows: Bytes
    columns: Bytes


def support_of(places: Ints, x: Floats, rows: int, columns: int) -> Support:
    """The support graph of places with their values."""
    order = np.argsort(places, kind="stable")
    i, j = np.divmod(places[order], columns)
    starts = [
        np.concatenate([[0], np.cumsum(np.bincount(side, minlength=count))]).astype(np.int64)
        for side, count in ((i, rows), (j, columns))
    ]
    return Support(i, j, x[order], starts[0], starts[1], np.argsort(j, kind="stable").astype(np.int64))


def violated_cuts(net: Network, support: Support, levels: Requirements, slack: float, view: View = PLAIN) -> Violated:
    """Minimum cuts, from the source's and from the sink's side, of the levels short by more than `slack`."""
    rows, columns = net.forth.shape
    level = np.zeros(MOST_CUTS, np.int64)
    row_side = np.zeros((MOST_CUTS, rows), np.uint8)
    column_side = np.zeros((MOST_CUTS, columns), np.uint8)
    found = Violated(level, row_side, column_side)
    count = _separate(net, support, levels, view, slack, found, _workspace(len(support.i), rows + columns))
    return Violated(level[:count], row_side[:count], column_side[:count])


class Workspace(NamedTuple):
    """One flow and the search in its residual network: flow and capacities of arcs, marks and parents of nodes."""

    flow: Floats
    forth: Floats
    back: Floats
    seen: Ints
    parent: Ints
    queue: Ints


def _workspace(arcs: int, nodes: int) -> Workspace:
    flow, forth, back = np.zeros((3, arcs))
    seen, parent, queue = np.zeros((3, nodes), np.int64)
    return Workspace(flow, forth, back, seen, parent, queue)


@inner
def _search(support: Support, work: Workspace, start: int, goal: int, least: float, to_goal: bool, stamp: int) -> bool:
    """Mark what `start` reaches over arcs wider than `least`, or (`to_goal` false) what reaches it."""
    seen, parent, queue = work.seen, work.parent, work.queue
    rows = len(support.row_start) - 1
    seen[start] = stamp
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        if node < rows:
            begin, end = support.row_start[node], support.row_start[node + 1]
        else:
            begin, end = support.column_start[node - rows], support.column_start[node - rows + 1]
        for z in range(begin, end):
            e = z if node < rows else support.column_arc[z]
            other = rows + support.j[e] if node < rows else support.i[e]
            if seen[other] == stamp:
                continue
            leaves_row = (node < rows) == to_goal
            free = work.forth[e] - work.flow[e] if leaves_row else work.back[e] + work.flow[e]
            if free <= least:
                continue
            seen[other] = stamp
            parent[other] = e
            if other == goal:
                return True
            queue[tail] = other
            tail += 1
    return False


@inner
def _augment(support: Support, work: Workspace, source: int, sink: int) -> float:
    """Send the bottleneck along the path; returns it."""
    flow, parent = work.flow, work.parent
    rows = len(support.row_start) - 1
    amount = 1.0
    node = sink
    while node != source:
        e = parent[node]
        if node >= rows:
            amount = min(amount, work.forth[e] - flow[e])
            node = support.i[e]
        else:
            amount = min(amount, work.back[e] + flow[e])
            node = rows + support.j[e]
    node = sink
    while node != source:
        e = parent[node]
        if node >= rows:
            flow[e] += amount
            node = support.i[e]
        else:
            flow[e] -= amount
            node = rows + support.j[e]
    return amount


@inner
def _set_capacities(net: Network, support: Support, work: Workspace, own: int, need: int, view: View) -> None:
    columns = net.forth.shape[1]
    for e in range(len(support.i)):
        i, j = support.i[e], support.j[e]
        work.flow[e] = 0.0
        if i * columns + j == own:
            work.forth[e], work.back[e] = 0.0, 0.0
        else:
            work.forth[e] = _seen(view, support.x[e], min(1.0, net.forth[i, j] / need))
            work.back[e] = _seen(view, support.x[e], min(1.0, net.back[i, j] / need))


@inner
def _seen(view: View, x: float, capacity: float) -> float:
    """What a place counts for; `capacity` as a share of the need."""
    if view.parts == 0:
        return capacity if x >= LIKELY else x * min(capacity, view.share)
    divisor = 1.0 / (view.parts - 1 + view.share)
    times = math.floor(capacity / divisor)
    return x * (times + min(1.0, (capacity / divisor - times) / view.share)) / view.parts


@compiled
def _separate(
    net: Network, support: Support, levels: Requirements, view: View, slack: float, found: Violated, work: Workspace
) -> int:
    rows, columns = net.forth.shape
    stamp, count = 0, 0
    for q in range(len(levels.place)):
        if count + 2 > len(found.level):
            break
        source = source_of(levels.forth[q], levels.place[q], rows, columns)
        sink = sink_of(levels.forth[q], levels.place[q], rows, columns)
        _set_capacities(net, support, work, levels.place[q], levels.need[q], view)
        sent, least = 0.0, 0.05
        while sent < 1.0 - slack:
            stamp += 1
            if _search(support, work, source, sink, least, True, stamp):
                sent += _augment(support, work, source, sink)
            elif least > 1e-8:
                least = 1e-9 if least < 1e-4 else least * 0.05
            else:
                break
        if sent >= 1.0 - slack:
            continue
        _note_side(work.seen, stamp, True, found.rows[count], found.columns[count])
        stamp += 1
        _search(support, work, sink, -1, 1e-9, False, stamp)
        _note_side(work.seen, stamp, False, found.rows[count + 1], found.columns[count + 1])
        found.level[count : count + 2] = q
        count += 2
    return count


@inner
def _note_side(seen: Ints, stamp: int, inside: bool, row_side: Bytes, column_side: Bytes) -> None:
    """The source's side of a cut: what was seen from the source, or what was not seen from the sink."""
    rows = len(row_side)
    for i in range(rows):
        row_side[i] = (seen[i] == stamp) == inside
    for j in range(len(column_side)):
        column_side[j] = (seen[rows + j] == stamp) == inside
