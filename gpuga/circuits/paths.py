"""Cheapest augmenting paths on a plane: what has to be suppressed so that a cell can move.

A level is met by paths that lead the counter-flow from one end of the cell to the other; suppressed
places cost nothing, published ones what `PathCosts` says. A path together with the cell itself is a circuit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import inner, whole
from gpuga.problem.path_costs import NO_PATH, PathCosts
from gpuga.safety.network import (
    SECONDARY,
    Flow,
    Links,
    Network,
    add,
    augment,
    sink_of,
    source_of,
)
from gpuga.table.table import Ints

NOISE = 7919  # a prime number of random factors, so that they do not repeat along rows

Floats = NDArray[np.float64]


class Taste(NamedTuple):
    """How paths are chosen: in one wide piece first, small capacities dearer, costs blurred by noise.

    `factor` float64[NOISE] >= 1 multiplies the cost of place p by `factor[(p + salt) % NOISE]`.
    """

    single: bool
    by_capacity: bool
    factor: Floats
    salt: int


class Log(NamedTuple):
    """The places that were added, in order: `place[:size[0]]`."""

    place: Ints
    size: Ints


def plain(single: bool = False, by_capacity: bool = False) -> Taste:
    """Paths by cost alone."""
    return Taste(single, by_capacity, np.ones(NOISE), 0)


def blurred(seed: int, single: bool, by_capacity: bool) -> Taste:
    """Paths by costs that are up to 30 % dearer at random, mostly much less."""
    random = np.random.default_rng(seed)
    return Taste(single, by_capacity, 1.0 + 0.3 * random.random(NOISE) ** 2, int(random.integers(NOISE)))


def new_log(places: int) -> Log:
    """An empty log for a table of that many places."""
    return Log(np.zeros(places, np.int64), np.zeros(1, np.int64))


@inner
def _reach(
    flow: Flow, distance: Floats, node: int, other: int, reached: float, sink: int, best: float, tail: int
) -> tuple[float, int]:
    """Note a way to `other` over `node` if none was shorter; the best way to the sink, the open count."""
    if reached >= best:
        return best, tail
    stamp = flow.stamp[0]
    if flow.seen[other] != stamp:
        flow.seen[other] = stamp
        flow.queue[tail] = other
        tail += 1
    elif reached >= distance[other]:
        return best, tail
    distance[other] = reached
    flow.parent[other] = node
    return (reached if other == sink else best), tail


@inner
def _charge(costs: PathCosts, taste: Taste, i: int, j: int, capacity: int, need: int) -> float:
    """What a path pays to suppress a published place whose capacity along it is `capacity`."""
    price = costs.cost[i, j]
    if taste.by_capacity and capacity < need:
        price = price * need / capacity
    place = i * costs.cost.shape[1] + j
    return price * taste.factor[(place + taste.salt) % NOISE]  # type: ignore[no-any-return]


@inner
def cheapest_path(
    net: Network,
    links: Links,
    flow: Flow,
    costs: PathCosts,
    taste: Taste,
    own: int,
    source: int,
    sink: int,
    need: int,
    width: int,
) -> float:
    """The cost of a cheapest path of residual width at least `width`; `parent` holds it; `NO_PATH` if none.

    Dijkstra's method; the published places of a node are tried in ascending cost and cut off where they
    cannot lead to anything cheaper than the best path known.
    """
    rows, columns = flow.amount.shape
    own_i, own_j = own // columns, own % columns
    distance = np.empty(rows + columns, np.float64)
    flow.stamp[0] += 1
    flow.seen[source] = flow.stamp[0]
    distance[source] = 0.0
    flow.queue[0] = source
    tail = 1
    best = NO_PATH
    while tail > 0:
        at = 0
        for z in range(1, tail):
            if distance[flow.queue[z]] < distance[flow.queue[at]]:
                at = z
        node = whole(flow.queue[at])
        so_far = distance[node]
        if node == sink or so_far >= best:
            return best
        tail -= 1
        flow.queue[at] = flow.queue[tail]
        if node < rows:
            for z in range(links.row_size[node]):
                j = whole(links.row_list[node, z])
                if net.forth[node, j] - flow.amount[node, j] >= width and not (node == own_i and j == own_j):
                    best, tail = _reach(flow, distance, node, rows + j, so_far, sink, best, tail)
            for z in range(columns):
                j = whole(costs.row_order[node, z])
                if j < 0 or so_far + costs.cost[node, j] >= best:
                    break
                capacity = net.forth[node, j]
                if links.kind[node, j] != 0 or capacity < width:
                    continue
                reached = so_far + _charge(costs, taste, node, j, capacity, need)
                best, tail = _reach(flow, distance, node, rows + j, reached, sink, best, tail)
        else:
            j = node - rows
            for z in range(links.column_size[j]):
                i = whole(links.column_list[j, z])
                if net.back[i, j] + flow.amount[i, j] >= width and not (i == own_i and j == own_j):
                    best, tail = _reach(flow, distance, node, i, so_far, sink, best, tail)
            for z in range(rows):
                i = whole(costs.column_order[j, z])
                if i < 0 or so_far + costs.cost[i, j] >= best:
                    break
                capacity = net.back[i, j]
                if links.kind[i, j] != 0 or capacity < width:
                    continue
                reached = so_far + _charge(costs, taste, i, j, capacity, need)
                best, tail = _reach(flow, distance, node, i, reached, sink, best, tail)
    return best


@inner
def suppress_path(links: Links, flow: Flow, log: Log, source: int, sink: int) -> None:
    """Suppress the published places of the path that `parent` holds and note them in the log."""
    rows, columns = flow.amount.shape
    node = sink
    while node != source:
        before = flow.parent[node]
        if before < rows:
            i, j = before, node - rows
        else:
            i, j = node, before - rows
        if links.kind[i, j] == 0:
            add(links, i, j, SECONDARY)
            log.place[log.size[0]] = i * columns + j
            log.size[0] += 1
        node = before


@inner
def protect_level(
    net: Network,
    links: Links,
    flow: Flow,
    costs: PathCosts,
    taste: Taste,
    log: Log,
    own: int,
    forth: bool,
    need: int,
) -> bool:
    """Suppress cheapest paths until the level is met; the counter-flow stays in `flow`.

    False if the level cannot be met. Starts from whatever `flow` already carries for this level: callers
    pass an empty flow.
    """
    rows, columns = flow.amount.shape
    i, j = own // columns, own % columns
    if (net.forth[i, j] if forth else net.back[i, j]) < need:
        return False
    source = source_of(forth, own, rows, columns)
    sink = sink_of(forth, own, rows, columns)
    left = need
    while left > 0:
        length = NO_PATH
        if taste.single:
            length = cheapest_path(net, links, flow, costs, taste, own, source, sink, left, left)
        if length >= NO_PATH:
            length = cheapest_path(net, links, flow, costs, taste, own, source, sink, left, whole(1))
        if length >= NO_PATH:
            return False
        suppress_path(links, flow, log, source, sink)
        left -= augment(net, flow, source, sink, left)
    return True
