"""A two-dimensional pattern as a network: rows and columns are nodes, suppressed places are arcs.

A place (row i, column j) is an arc that carries a signed flow, positive from the row to the column. Its
capacities are `forth[i, j]` (row to column) and `back[i, j]` (column to row). A circulation of this network
is exactly a consistent change of the suppressed cells, so what a cell can rise or fall is a maximum flow
between its own row and column that leaves the cell itself out. Nodes are numbered rows first: row i is
node i, column j is node R + j. Everything is int64 and exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled, inner, whole
from gpuga.table.plane import Plane
from gpuga.table.table import INFINITE, Ints, Mask

UNBOUNDED = INFINITE // 2
"""A flow as large as this has no limit: every level and every finite sum of a table is smaller."""

PUBLISHED, FORCED, SECONDARY = 0, 1, 2

Bytes = NDArray[np.uint8]
Nodes = NDArray[np.int32]


class Network(NamedTuple):
    """Capacities of all places, suppressed or not (int64[R, C] each)."""

    forth: Ints
    back: Ints


class Links(NamedTuple):
    """The suppressed places as lists per row and per column, open to additions and removals.

    `kind` uint8[R, C] says published, forced (primary or suppressed beforehand) or secondary;
    `row_list[i, :row_size[i]]` are the columns suppressed in row i, `row_at[i, j]` the position of column j
    there; the same for columns.
    """

    kind: Bytes
    row_list: Nodes
    row_size: Nodes
    row_at: Nodes
    column_list: Nodes
    column_size: Nodes
    column_at: Nodes


class Flow(NamedTuple):
    """A flow under construction and the room to search for paths.

    `amount` int64[R, C] is the signed flow; `touched[:used[0]]` the places where it may differ from 0.
    `seen[v] == stamp[0]` marks the nodes of the current search, `parent[v]` where it came from, `depth` and
    `next_arc` serve the level graph.
    """

    amount: Ints
    touched: Nodes
    is_touched: Bytes
    used: Ints
    parent: Nodes
    queue: Nodes
    seen: Ints
    stamp: Ints
    depth: Nodes
    next_arc: Nodes


def network_of(plane: Plane) -> Network:
    """The capacities of a plane: a rise of an internal cell flows forth, of a marginal back."""
    inner = plane.sign > 0
    return Network(
        np.ascontiguousarray(np.where(inner, plane.up, plane.down)),
        np.ascontiguousarray(np.where(inner, plane.down, plane.up)),
    )


def new_flow(rows: int, columns: int) -> Flow:
    """An empty flow on a table of this shape."""
    nodes, places = rows + columns, rows * columns
    return Flow(
        amount=np.zeros((rows, columns), np.int64),
        touched=np.zeros(places, np.int32),
        is_touched=np.zeros((rows, columns), np.uint8),
        used=np.zeros(1, np.int64),
        parent=np.zeros(nodes, np.int32),
        queue=np.zeros(nodes, np.int32),
        seen=np.zeros(nodes, np.int64),
        stamp=np.zeros(1, np.int64),
        depth=np.zeros(nodes, np.int32),
        next_arc=np.zeros(nodes, np.int32),
    )


def new_links(forced: Mask, secondary: Mask | None = None) -> Links:
    """The lists of a pattern given as grids (bool[R, C])."""
    rows, columns = forced.shape
    links = Links(
        kind=np.zeros((rows, columns), np.uint8),
        row_list=np.zeros((rows, columns), np.int32),
        row_size=np.zeros(rows, np.int32),
        row_at=np.zeros((rows, columns), np.int32),
        column_list=np.zeros((columns, rows), np.int32),
        column_size=np.zeros(columns, np.int32),
        column_at=np.zeros((rows, columns), np.int32),
    )
    add_all(links, np.flatnonzero(forced), FORCED)
    if secondary is not None:
        add_all(links, np.flatnonzero(secondary & ~forced), SECONDARY)
    return links


@compiled
def add_all(links: Links, places: Ints, kind: int) -> None:
    """Suppress the given places."""
    columns = links.kind.shape[1]
    for place in places:
        add(links, place // columns, place % columns, kind)


@inner
def add(links: Links, i: int, j: int, kind: int) -> None:
    """Suppress a published place."""
    links.kind[i, j] = kind
    links.row_list[i, links.row_size[i]] = j
    links.row_at[i, j] = links.row_size[i]
    links.row_size[i] += 1
    links.column_list[j, links.column_size[j]] = i
    links.column_at[i, j] = links.column_size[j]
    links.column_size[j] += 1


@inner
def drop(links: Links, i: int, j: int) -> None:
    """Publish a suppressed place; the last of its lists takes its position."""
    links.kind[i, j] = 0
    links.row_size[i] -= 1
    last = links.row_list[i, links.row_size[i]]
    links.row_list[i, links.row_at[i, j]] = last
    links.row_at[i, last] = links.row_at[i, j]
    links.column_size[j] -= 1
    last = links.column_list[j, links.column_size[j]]
    links.column_list[j, links.column_at[i, j]] = last
    links.column_at[last, j] = links.column_at[i, j]


@inner
def clear(flow: Flow) -> None:
    """Set the flow back to zero."""
    columns = flow.amount.shape[1]
    for z in range(flow.used[0]):
        i, j = flow.touched[z] // columns, flow.touched[z] % columns
        flow.amount[i, j] = 0
        flow.is_touched[i, j] = 0
    flow.used[0] = 0


@inner
def wide_path(net: Network, links: Links, flow: Flow, own: int, source: int, sink: int, width: int) -> bool:
    """Whether a path of residual width at least `width` leads from source to sink; `parent` holds it.

    Breadth first, so it has the fewest cells; the place `own` is left out.
    """
    rows, columns = flow.amount.shape
    own_i, own_j = own // columns, own % columns
    flow.stamp[0] += 1
    stamp = flow.stamp[0]
    flow.seen[source] = stamp
    flow.queue[0] = source
    head, tail = 0, 1
    while head < tail:
        node = flow.queue[head]
        head += 1
        if node < rows:
            for z in range(links.row_size[node]):
                j = links.row_list[node, z]
                other = rows + j
                if flow.seen[other] == stamp or (node == own_i and j == own_j):
                    continue
                if net.forth[node, j] - flow.amount[node, j] < width:
                    continue
                flow.seen[other] = stamp
                flow.parent[other] = node
                if other == sink:
                    return True
                flow.queue[tail] = other
                tail += 1
        else:
            j = node - rows
            for z in range(links.column_size[j]):
                i = links.column_list[j, z]
                if flow.seen[i] == stamp or (i == own_i and j == own_j):
                    continue
                if net.back[i, j] + flow.amount[i, j] < width:
                    continue
                flow.seen[i] = stamp
                flow.parent[i] = node
                if i == sink:
                    return True
                flow.queue[tail] = i
                tail += 1
    return False


@inner
def push(flow: Flow, node: int, other: int, amount: int) -> None:
    """Send `amount` over the arc from node to other."""
    rows, columns = flow.amount.shape
    if node < rows:
        i, j = node, other - rows
        flow.amount[i, j] += amount
    else:
        i, j = other, node - rows
        flow.amount[i, j] -= amount
    if flow.is_touched[i, j] == 0:
        flow.is_touched[i, j] = 1
        flow.touched[flow.used[0]] = i * columns + j
        flow.used[0] += 1


@inner
def room(net: Network, flow: Flow, node: int, other: int) -> int:
    """The residual capacity of the arc from node to other."""
    rows = flow.amount.shape[0]
    if node < rows:
        return net.forth[node, other - rows] - flow.amount[node, other - rows]  # type: ignore[no-any-return]
    return net.back[other, node - rows] + flow.amount[other, node - rows]  # type: ignore[no-any-return]


@inner
def augment(net: Network, flow: Flow, source: int, sink: int, limit: int) -> int:
    """Send what fits, at most `limit`, along the path that `parent` holds; returns how much."""
    amount = limit
    node = sink
    while node != source:
        amount = min(amount, room(net, flow, whole(flow.parent[node]), node))
        node = flow.parent[node]
    node = sink
    while node != source:
        push(flow, flow.parent[node], node, amount)
        node = flow.parent[node]
    return amount


@inner
def _build_depths(net: Network, links: Links, flow: Flow, own: int, source: int, sink: int) -> bool:
    """Distances to the sink in the residual network, up to the source's; False if it is out of reach.

    Counted from the sink, so that a descent meets no dead ends but saturated ones.
    """
    rows, columns = flow.amount.shape
    own_i, own_j = own // columns, own % columns
    flow.stamp[0] += 1
    stamp = flow.stamp[0]
    flow.seen[sink] = stamp
    flow.depth[sink] = 0
    flow.queue[0] = sink
    head, tail = 0, 1
    while head < tail:
        node = flow.queue[head]
        head += 1
        size = links.row_size[node] if node < rows else links.column_size[node - rows]
        for z in range(size):
            if node < rows:
                i, j = node, links.row_list[node, z]
                other = rows + j
                if flow.seen[other] == stamp or net.back[i, j] + flow.amount[i, j] <= 0:
                    continue
            else:
                i, j = links.column_list[node - rows, z], node - rows
                other = i
                if flow.seen[other] == stamp or net.forth[i, j] - flow.amount[i, j] <= 0:
                    continue
            if i == own_i and j == own_j:
                continue
            flow.seen[other] = stamp
            flow.depth[other] = flow.depth[node] + 1
            flow.next_arc[other] = 0
            if other == source:
                return True
            flow.queue[tail] = other
            tail += 1
    return False


@inner
def _descend(net: Network, links: Links, flow: Flow, own: int, source: int, sink: int) -> bool:
    """Follow falling distances from source to sink, backing out of dead ends; `parent` holds the path."""
    rows, columns = flow.amount.shape
    stamp = flow.stamp[0]
    node = source
    while node != sink:
        size = links.row_size[node] if node < rows else links.column_size[node - rows]
        found = False
        while flow.next_arc[node] < size:
            z = flow.next_arc[node]
            if node < rows:
                i, j = node, links.row_list[node, z]
                other = rows + j
            else:
                i, j = links.column_list[node - rows, z], node - rows
                other = i
            nearer = flow.seen[other] == stamp and flow.depth[other] == flow.depth[node] - 1
            if nearer and i * columns + j != own and room(net, flow, node, other) > 0:
                found = True
                break
            flow.next_arc[node] += 1
        if found:
            flow.parent[other] = node
            node = other
        elif node == source:
            return False
        else:
            node = flow.parent[node]
            flow.next_arc[node] += 1
    return True


@inner
def _leaving(net: Network, links: Links, own: int, source: int, limit: int) -> int:
    """What the arcs out of the source can carry together without the place `own`, at most `limit`."""
    rows, columns = links.kind.shape
    total = 0
    for z in range(links.row_size[source] if source < rows else links.column_size[source - rows]):
        if source < rows:
            i, j = source, links.row_list[source, z]
            capacity = net.forth[i, j]
        else:
            i, j = links.column_list[source - rows, z], source - rows
            capacity = net.back[i, j]
        if i * columns + j != own:
            total += min(capacity, limit)
            if total >= limit:
                return limit
    return total


@inner
def _entering(net: Network, links: Links, own: int, sink: int, limit: int) -> int:
    """What the arcs into the sink can carry together without the place `own`, at most `limit`."""
    return _leaving(Network(net.back, net.forth), links, own, sink, limit)


@inner
def send(net: Network, links: Links, flow: Flow, own: int, source: int, sink: int, limit: int) -> int:
    """The largest flow from source to sink without the place `own`, at most `limit`; it stays in `flow`.

    One wide path serves most levels; the rest is Dinic's method, which ends without a last search where the
    arcs at one of the two ends are full.
    """
    if wide_path(net, links, flow, own, source, sink, limit):
        return augment(net, flow, source, sink, limit)
    most = _entering(net, links, own, sink, _leaving(net, links, own, source, limit))
    left = most
    while left > 0 and _build_depths(net, links, flow, own, source, sink):
        while left > 0 and _descend(net, links, flow, own, source, sink):
            left -= augment(net, flow, source, sink, left)
    return most - left


@inner
def source_of(task_forth: bool, own: int, rows: int, columns: int) -> int:
    """Where the counter-flow starts: a cell that carries flow forth (row to column) needs it back."""
    return rows + own % columns if task_forth else own // columns


@inner
def sink_of(task_forth: bool, own: int, rows: int, columns: int) -> int:
    """Where the counter-flow ends."""
    return own // columns if task_forth else rows + own % columns
