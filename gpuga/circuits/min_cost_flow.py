"""Minimum-cost flow on a plane: the cheapest change of the table per unit, where single paths fail.

Cost grows with the amount that flows, so it overstates small flows over dear cells: a fallback, not a first
choice (Kelly, Golden, Assad 1992).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuga.compiled import bare, whole
from gpuga.kernels.logic.arcs import carried
from gpuga.problem.two_way import TwoWayProblem
from gpuga.safety.network import (
    PUBLISHED,
    SECONDARY,
    PatternNetwork,
    add,
    augment,
    clear,
    ends_of,
    flow_at,
    kind_of,
    leave_out,
    pattern_network,
)
from gpuga.table.table import Ints, Mask

FAR = 2**61


class Priced(NamedTuple):
    """The network of all that may be suppressed, and what a unit of flow pays at each place (int64[R C]).

    A place costs its weight until it is suppressed, then nothing. `distance` int64[R + C] and `waiting` bool[R + C] are
    room for searches.
    """

    network: PatternNetwork
    price: Ints
    distance: Ints
    waiting: Mask


def priced(problem: TwoWayProblem) -> Priced:
    """The prices of a pattern that suppresses only what is forced."""
    price = np.where(problem.forced, 0, problem.weight).ravel()
    network, nodes = pattern_network(problem.capacity, problem.forced | problem.candidate), sum(problem.shape)
    return Priced(network, price, np.zeros(nodes, np.int64), np.zeros(nodes, bool))


@bare
def _room(everything: Priced, h: int) -> tuple[int, int]:
    """Room and unit cost of sending more over half-arc h: taking flow back earns its cost again."""
    net = everything.network.net
    price = everything.price[net.cell[h >> 1]]
    amount = carried(net, h >> 1) if h & 1 == 0 else -carried(net, h >> 1)
    return (-amount, -price) if amount < 0 else (net.room[h], price)


@bare
def _cheapest_way(everything: Priced, source: int, sink: int) -> bool:
    """A cheapest residual path by Bellman and Ford's method with a queue; `parent` holds it."""
    net, search = everything.network.net, everything.network.search
    distance, waiting, nodes = everything.distance, everything.waiting, len(net.first)
    for v in range(nodes):
        distance[v] = FAR
    distance[source] = 0
    search.queue[0] = source
    head, size = 0, 1
    while size > 0:
        v = search.queue[head]
        head = (head + 1) % nodes
        size -= 1
        waiting[v] = False
        h = net.first[v]
        while h >= 0:
            free, price = _room(everything, h)
            u = net.target[h]
            if free > 0 and distance[v] + price < distance[u]:
                distance[u] = distance[v] + price
                search.parent[u] = h
                if not waiting[u]:
                    waiting[u] = True
                    search.queue[(head + size) % nodes] = u
                    size += 1
            h = net.following[h]
    return bool(distance[sink] < FAR)


@bare
def _send_along(everything: Priced, source: int, sink: int, limit: int) -> int:
    """Send what fits at the path's price; returns how much."""
    net, search = everything.network.net, everything.network.search
    amount = limit
    v = sink
    while v != source:
        free, _ = _room(everything, search.parent[v])
        amount = min(amount, free)
        v = whole(net.target[search.parent[v] ^ 1])
    return augment(everything.network, source, sink, amount)


@bare
def protect_by_flow(pattern: PatternNetwork, everything: Priced, own: int, forward: bool, need: int) -> bool:
    """Meet a level by a minimum-cost flow and suppress what carries it; False if it cannot be met."""
    leave_out(everything.network, own)
    source, sink = ends_of(everything.network, own, forward)
    left = need
    while left > 0 and _cheapest_way(everything, source, sink):
        left -= _send_along(everything, source, sink, left)
    for x in range(everything.network.touched.size[0]):
        place, amount = flow_at(everything.network, x)
        if left == 0 and amount != 0:
            everything.price[place] = 0
            if kind_of(pattern, place) == PUBLISHED:
                add(pattern, place, SECONDARY)
    clear(everything.network)
    return left == 0
