"""Minimum-cost flow on a plane: the cheapest change of the table per unit, where single paths fail.

Cost grows with the amount that flows, so it overstates small flows over dear cells: a fallback, not a first
choice (Kelly, Golden, Assad 1992).
"""

from __future__ import annotations

import numpy as np

from gpuga.circuits.paths import Log
from gpuga.compiled import inner
from gpuga.safety.network import SECONDARY, Flow, Links, Network, add, push, sink_of, source_of
from gpuga.table.table import Ints, Mask

FAR = 2**61


@inner
def _unit_cost(links: Links, weight: Ints, i: int, j: int) -> int:
    return 0 if links.kind[i, j] != 0 else weight[i, j]  # type: ignore[no-any-return]


@inner
def _usable(links: Links, candidate: Mask, own: int, i: int, j: int) -> bool:
    columns = links.kind.shape[1]
    return i * columns + j != own and (links.kind[i, j] != 0 or bool(candidate[i, j]))


@inner
def _arc(net: Network, links: Links, flow: Flow, weight: Ints, i: int, j: int, forth: bool) -> tuple[int, int]:
    """Room and unit cost of sending more over a place: taking flow back earns its cost again."""
    amount = flow.amount[i, j] if forth else -flow.amount[i, j]
    price = _unit_cost(links, weight, i, j)
    if amount < 0:
        return -amount, -price
    return (net.forth[i, j] if forth else net.back[i, j]) - amount, price


@inner
def _cheapest_way(
    net: Network, links: Links, flow: Flow, weight: Ints, candidate: Mask, own: int, source: int, sink: int
) -> bool:
    """A cheapest residual path by Bellman and Ford's method with a queue; `parent` holds it."""
    rows, columns = flow.amount.shape
    nodes = rows + columns
    distance = np.full(nodes, FAR, np.int64)
    waiting = np.zeros(nodes, np.bool_)
    distance[source] = 0
    flow.queue[0] = source
    head, size = 0, 1
    while size > 0:
        node = flow.queue[head]
        head = (head + 1) % nodes
        size -= 1
        waiting[node] = False
        forth = node < rows
        for z in range(columns if forth else rows):
            i, j = (node, z) if forth else (z, node - rows)
            if not _usable(links, candidate, own, i, j):
                continue
            free, price = _arc(net, links, flow, weight, i, j, forth)
            other = rows + j if forth else i
            if free <= 0 or distance[node] + price >= distance[other]:
                continue
            distance[other] = distance[node] + price
            flow.parent[other] = node
            if not waiting[other]:
                waiting[other] = True
                flow.queue[(head + size) % nodes] = other
                size += 1
    return bool(distance[sink] < FAR)


@inner
def _send_along(net: Network, links: Links, flow: Flow, weight: Ints, source: int, sink: int, limit: int) -> int:
    """Send what fits at the path's price; returns how much."""
    rows = flow.amount.shape[0]
    amount = limit
    node = sink
    while node != source:
        before = flow.parent[node]
        if before < rows:
            free, _ = _arc(net, links, flow, weight, before, node - rows, True)
        else:
            free, _ = _arc(net, links, flow, weight, node, before - rows, False)
        amount = min(amount, free)
        node = before
    node = sink
    while node != source:
        push(flow, flow.parent[node], node, amount)
        node = flow.parent[node]
    return amount


@inner
def protect_by_flow(
    net: Network,
    links: Links,
    flow: Flow,
    weight: Ints,
    candidate: Mask,
    log: Log,
    own: int,
    forth: bool,
    need: int,
) -> bool:
    """Meet a level by a minimum-cost flow and suppress what carries it; False if it cannot be met."""
    rows, columns = flow.amount.shape
    source = source_of(forth, own, rows, columns)
    sink = sink_of(forth, own, rows, columns)
    left = need
    while left > 0:
        if not _cheapest_way(net, links, flow, weight, candidate, own, source, sink):
            return False
        left -= _send_along(net, links, flow, weight, source, sink, left)
    for z in range(flow.used[0]):
        i, j = flow.touched[z] // columns, flow.touched[z] % columns
        if flow.amount[i, j] != 0 and links.kind[i, j] == 0:
            add(links, i, j, SECONDARY)
            log.place[log.size[0]] = flow.touched[z]
            log.size[0] += 1
    return True
