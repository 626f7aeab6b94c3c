"""Cheapest augmenting paths on a plane: what has to be suppressed so that a cell can move.

A level is met by paths that lead the counter-flow from one end of the cell to the other; suppressed
places cost nothing, published ones what `PathCosts` says. A path together with the cell itself is a circuit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import bare, whole
from gpuga.kernels.logic.arcs import find
from gpuga.kernels.logic.cheapest import drop_first, rise
from gpuga.problem.path_costs import NO_PATH, PathCosts
from gpuga.safety.network import PUBLISHED, SECONDARY, PatternNetwork, add, augment, ends_of, leave_out

NOISE = 7919  # a prime number of random factors, so that they do not repeat along rows

Floats = NDArray[np.float64]


class PathPolicy(NamedTuple):
    """How paths are chosen: in one wide piece first, small capacities dearer, costs blurred by noise.

    `factor` float64[NOISE] >= 1 multiplies the cost of place p by `factor[(p + salt) % NOISE]`.
    """

    single: bool
    by_capacity: bool
    factor: Floats
    salt: int


def plain(single: bool = False, by_capacity: bool = False) -> PathPolicy:
    """Paths by cost alone."""
    return PathPolicy(single, by_capacity, np.ones(NOISE), 0)


def blurred(seed: int, single: bool, by_capacity: bool) -> PathPolicy:
    """Paths by costs that are up to 30 % dearer at random, mostly much less."""
    random = np.random.default_rng(seed)
    return PathPolicy(single, by_capacity, 1.0 + 0.3 * random.random(NOISE) ** 2, int(random.integers(NOISE)))


class Reached(NamedTuple):
    """The nodes that a search reached: their distances, and those still open as a heap with its keys."""

    distance: Floats
    heap: NDArray[np.int32]
    key: Floats
    position: NDArray[np.int32]


def new_reached(nodes: int) -> Reached:
    """Room for searches among so many nodes."""
    return Reached(np.zeros(nodes), np.zeros(nodes, np.int32), np.zeros(nodes), np.zeros(nodes, np.int32))


class PathRequest(NamedTuple):
    """A path that is looked for: its ends, what is still needed, how wide it must be."""

    source: int
    sink: int
    need: int
    width: int


@bare
def _offer(network: PatternNetwork, reached: Reached, u: int, distance: float, step: int, count: int) -> int:
    """Note a way to node u over a half-arc, or over the published place -1 - `step`, if none known is as short.

    Returns the number of open nodes.
    """
    search = network.search
    at = count
    if search.mark[u] == search.stamp[0]:
        if distance >= reached.distance[u]:
            return count
        at = whole(reached.position[u])
    else:
        search.mark[u] = search.stamp[0]
        count += 1
    reached.distance[u] = distance
    search.parent[u] = step
    rise(reached.heap, reached.key, reached.position, at, u, distance)
    return count


@bare
def _charge(costs: PathCosts, policy: PathPolicy, place: int, capacity: int, need: int) -> float:
    """What a path pays to suppress a published place whose capacity along it is `capacity`."""
    columns = costs.cost.shape[1]
    price = costs.cost[place // columns, place % columns]
    if policy.by_capacity and capacity < need:
        price = price * need / capacity
    return price * policy.factor[(place + policy.salt) % NOISE]  # type: ignore[no-any-return]


@bare
def _go_on(
    network: PatternNetwork,
    costs: PathCosts,
    policy: PathPolicy,
    ask: PathRequest,
    reached: Reached,
    v: int,
    count: int,
) -> int:
    """Go on from node v, over suppressed places and then over published ones; returns the number of open nodes.

    The published places of a node are tried in ascending cost, up to where they cannot lead to anything cheaper than
    the best path known.
    """
    net, rows, here = network.net, network.rows, reached.distance[v]
    h = net.first[v]
    while h >= 0:
        if net.room[h] >= ask.width:
            count = _offer(network, reached, whole(net.target[h]), here, whole(h), count)
        h = net.following[h]
    order = costs.row_order[v] if v < rows else costs.column_order[v - rows]
    for x in order:
        if x < 0:
            break
        i, j = (v, whole(x)) if v < rows else (whole(x), v - rows)
        least, u = here + costs.cost[i, j], rows + whole(x) if v < rows else whole(x)
        if least >= reached.distance[ask.sink]:
            break
        if network.search.mark[u] == network.search.stamp[0] and least >= reached.distance[u]:
            continue  # most nodes are known by then; a path never pays less than the cost
        place = i * network.columns + j
        capacity = network.capacity[place, 0 if v < rows else 1]
        if network.kind[i, j] == PUBLISHED and capacity >= ask.width:
            distance = here + _charge(costs, policy, place, capacity, ask.need)
            if distance < reached.distance[ask.sink]:
                count = _offer(network, reached, u, distance, -1 - place, count)
    return count


@bare
def cheapest_path(
    network: PatternNetwork, costs: PathCosts, policy: PathPolicy, reached: Reached, ask: PathRequest
) -> float:
    """The cost of a cheapest path of residual width at least `ask.width`; `parent` holds it; `NO_PATH` if none.

    Dijkstra's method from one end: the costs may come from linear programs and are fractions, so the search of the
    kernels, which relies on exact sums from both ends, does not serve here.
    """
    network.search.stamp[0] += 1
    reached.distance[ask.sink] = NO_PATH
    count = _offer(network, reached, ask.source, 0.0, whole(0), whole(0))
    while count > 0:
        v, here = whole(reached.heap[0]), reached.key[0]
        if v == ask.sink or here >= reached.distance[ask.sink]:
            break
        count -= 1
        drop_first(reached.heap, reached.key, reached.position, count)
        count = _go_on(network, costs, policy, ask, reached, v, count)
    return reached.distance[ask.sink]  # type: ignore[no-any-return]


@bare
def suppress_path(network: PatternNetwork, ask: PathRequest) -> None:
    """Suppress the published places of the path that `parent` holds."""
    net, parent = network.net, network.search.parent
    v = ask.sink
    while v != ask.source:
        if parent[v] < 0:
            place = -1 - whole(parent[v])
            add(network, place, SECONDARY)
            parent[v] = 2 * find(net, place) + (0 if v >= network.rows else 1)
        v = whole(net.target[parent[v] ^ 1])


@bare
def wide_or_any(
    network: PatternNetwork, costs: PathCosts, policy: PathPolicy, reached: Reached, ask: PathRequest
) -> float:
    """The cost of a cheapest path that carries all that is needed, or else of one that carries something."""
    length = cheapest_path(network, costs, policy, reached, ask)
    if length >= NO_PATH:
        length = cheapest_path(network, costs, policy, reached, PathRequest(ask.source, ask.sink, ask.need, whole(1)))
    return length


@bare
def protect_level(
    network: PatternNetwork, costs: PathCosts, policy: PathPolicy, reached: Reached, own: int, forward: bool, need: int
) -> bool:
    """Suppress cheapest paths until the level is met; the counter-flow stays in the network, which has none before.

    False if the level cannot be met.
    """
    if network.capacity[own, 0 if forward else 1] < need:
        return False
    leave_out(network, own)
    source, sink = ends_of(network, own, forward)
    left = need
    while left > 0:
        ask = PathRequest(source, sink, left, left if policy.single else whole(1))
        if wide_or_any(network, costs, policy, reached, ask) >= NO_PATH:
            return False
        suppress_path(network, ask)
        left -= augment(network, source, sink, left)
    return True
