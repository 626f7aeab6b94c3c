"""Patterns as networks: lists that grow and shrink, and flows that are what a plain maximum flow finds."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from gpuga.kernels.logic.maximum import reach
from gpuga.safety.network import (
    FORCED,
    PUBLISHED,
    SECONDARY,
    Network,
    PatternNetwork,
    add,
    capacity_of,
    clear,
    drop,
    ends_of,
    flow_at,
    leave_out,
    pattern_network,
    send,
)


@njit
def change(network, place, kind):
    if kind == 0:
        drop(network, place)
    else:
        add(network, place, kind)


@njit
def sent(network, own, forward, limit):
    return send(network, own, forward, limit)


@njit
def has_path(network, own, forward, width):
    leave_out(network, own)
    source, sink = ends_of(network, own, forward)
    return reach(network.net, network.search, source, sink, width, 0)


@njit
def amounts(network):
    """What every place carries (int64[R C])."""
    out = np.zeros(network.kind.size, np.int64)
    for x in range(network.touched.size[0]):
        place, amount = flow_at(network, x)
        out[place] = amount
    return out


@njit
def emptied(network):
    clear(network)


def chained(network: PatternNetwork, node: int) -> list[int]:
    """The places of a node's chain of half-arcs, each of which must leave the node for the other end of its place."""
    net, found = network.net, []
    h = int(net.first[node])
    while h >= 0:
        place = int(net.cell[h >> 1])
        ends = (place // network.columns, network.rows + place % network.columns)
        assert h >> 1 < net.size[0]
        assert ends[h & 1] == node
        assert ends[1 - (h & 1)] == net.target[h]
        assert net.capacity[h] == net.room[h] == network.capacity[place, h & 1]
        assert net.arc_of[place] == h >> 1
        found.append(place)
        h = int(net.following[h])
    return found


def consistent(network: PatternNetwork, kind: np.ndarray) -> bool:
    """Whether the chains hold just the suppressed places."""
    rows, columns = kind.shape
    hidden = np.flatnonzero(kind)
    good = np.array_equal(network.kind, kind) and network.net.size[0] == len(hidden)
    for node in range(rows + columns):
        ours = hidden[(hidden // columns == node) | (rows + hidden % columns == node)]
        good &= sorted(chained(network, node)) == ours.tolist()
    return bool(good)


def random_network(rng: np.random.Generator, rows: int, columns: int) -> Network:
    return Network(rng.integers(0, 9, (rows, columns)), rng.integers(0, 9, (rows, columns)))


def test_chains_follow_what_is_suppressed_and_published() -> None:
    rng = np.random.default_rng(1)
    forced = rng.random((5, 6)) < 0.3
    capacity = capacity_of(random_network(rng, 5, 6))
    network = pattern_network(capacity, forced, rng.random((5, 6)) < 0.3)
    kind = network.kind.copy()
    assert (kind[forced] == FORCED).all()
    assert set(np.unique(kind)) == {PUBLISHED, FORCED, SECONDARY}
    assert consistent(network, kind)
    assert consistent(pattern_network(capacity, forced), np.where(forced, FORCED, 0).astype(np.uint8))
    for _ in range(200):
        place = int(rng.integers(30))
        kind.flat[place] = 0 if kind.flat[place] else SECONDARY
        change(network, place, int(kind.flat[place]))
        assert consistent(network, kind)


def test_forced_places_come_first_in_a_chain_and_places_in_their_order() -> None:
    forced = np.array([[True, False, True, False, True]])
    network = pattern_network(capacity_of(Network(np.ones((1, 5), int), np.ones((1, 5), int))), forced, ~forced)
    assert chained(network, 0) == [0, 2, 4, 1, 3]


def plain_flow(net: Network, hidden: np.ndarray, own: int, forward: bool) -> int:
    """The largest counter-flow of a place by scipy, on arcs of its own."""
    rows, columns = hidden.shape
    capacity = np.zeros((rows + columns, rows + columns), np.int32)
    for i, j in np.argwhere(hidden):
        if i * columns + j != own:
            capacity[i, rows + j] = net.forward[i, j]
            capacity[rows + j, i] = net.backward[i, j]
    row, column = own // columns, rows + own % columns
    ends = (column, row) if forward else (row, column)
    return int(maximum_flow(csr_array(capacity), *ends).flow_value)


def plain_path(net: Network, hidden: np.ndarray, own: int, forward: bool, width: int) -> bool:
    """Whether a path of arcs of at least this width leads from one end of a place to the other without it."""
    rows, columns = hidden.shape
    row, column = own // columns, rows + own % columns
    source, sink = (column, row) if forward else (row, column)
    reached, waiting = {source}, [source]
    while waiting:
        node = waiting.pop()
        for other in range(rows + columns):
            if (node < rows) == (other < rows):
                continue
            i, j = (node, other - rows) if node < rows else (other, node - rows)
            capacity = net.forward[i, j] if node < rows else net.backward[i, j]
            if hidden[i, j] and i * columns + j != own and capacity >= width and other not in reached:
                reached.add(other)
                waiting.append(other)
    return sink in reached


def test_flows_are_largest_and_balanced_after_any_changes_of_the_pattern() -> None:
    rng = np.random.default_rng(2)
    positive = cut = 0
    for _ in range(40):
        rows, columns = (int(x) for x in rng.integers(2, 6, 2))
        net = random_network(rng, rows, columns)
        network = pattern_network(capacity_of(net), rng.random((rows, columns)) < 0.6)
        for _ in range(6):
            place = int(rng.integers(rows * columns))
            change(network, place, 0 if network.kind.flat[place] else SECONDARY)
        hidden = network.kind > 0
        for own in np.flatnonzero(hidden).tolist():
            for forward in (True, False):
                most = plain_flow(net, hidden, own, forward)
                for limit in (1, 4, 100):
                    found = sent(network, own, forward, limit)
                    assert found == min(most, limit)
                    positive += found > 0
                    cut += most > limit
                    amount = amounts(network).reshape(rows, columns)
                    assert amount.ravel()[own] == 0
                    assert (amount <= net.forward).all()
                    assert (-amount <= net.backward).all()
                    assert not amount[~hidden].any()
                    across = amount.copy()
                    across.ravel()[own] = found if forward else -found
                    assert not across.sum(0).any()
                    assert not across.sum(1).any()
                    left = Network(net.forward - amount, net.backward + amount)
                    further = has_path(network, own, forward, 2)
                    assert further == plain_path(left, hidden, own, forward, 2)
                    emptied(network)
                    assert network.touched.size[0] == 0
                    assert not network.touched.noted.any()
                    assert consistent(network, network.kind.copy())
                    wide = has_path(network, own, forward, limit)
                    assert wide == plain_path(net, hidden, own, forward, limit)
                    emptied(network)
    assert positive > 300
    assert cut > 100
