"""A two-dimensional pattern as a network: rows and columns are nodes, suppressed places are arcs.

A place (row i, column j) is an arc that carries a signed flow, positive from the row to the column. Its
capacities are `forward[i, j]` (row to column) and `backward[i, j]` (column to row). A circulation of this network
is exactly a consistent change of the suppressed cells, so what a cell can rise or fall is a maximum flow
between its own row and column that leaves the cell itself out. Nodes are numbered rows first: row i is
node i, column j is node R + j. Everything is int64 and exact. The flows themselves are those of the kernels
(`kernels/logic/arcs.py`, `maximum.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import bare, compiled, whole
from gpuga.kernels.logic.arcs import add_arc, carried, find, remove_arc
from gpuga.kernels.logic.augment import wide_path
from gpuga.kernels.logic.maximum import clear as clear_touched
from gpuga.kernels.logic.maximum import push_noted, reach, send_in_parts, shut
from gpuga.kernels.logic.records import Amounts, Descent, Net, Search, Touched
from gpuga.table.table import INFINITE, Ints, Mask
from gpuga.table.two_way import TwoWayTable

UNBOUNDED = INFINITE // 2
"""A flow as large as this has no limit: every level and every finite sum of a table is smaller."""

PUBLISHED, FORCED, SECONDARY = 0, 1, 2

Bytes = NDArray[np.uint8]
Nodes = NDArray[np.int32]


class Network(NamedTuple):
    """Capacities of all places, suppressed or not (int64[R, C] each)."""

    forward: Ints
    backward: Ints


class PatternNetwork(NamedTuple):
    """The suppressed places of one pattern, open to additions and removals, and a flow under construction.

    `kind` uint8[R, C] says published, forced (primary or suppressed beforehand) or secondary; `capacity` int64[R C, 2]
    holds the capacities of all places, forward and backward.
    """

    rows: int
    columns: int
    capacity: Ints
    kind: Bytes
    net: Net
    search: Search
    descent: Descent
    touched: Touched


def network_of(plane: TwoWayTable) -> Network:
    """The capacities of a plane: a rise of an internal cell flows forward, of a marginal backward."""
    inner = plane.sign > 0
    return Network(
        np.ascontiguousarray(np.where(inner, plane.up, plane.down)),
        np.ascontiguousarray(np.where(inner, plane.down, plane.up)),
    )


def capacity_of(network: Network) -> Ints:
    """The capacities by place and side (int64[R C, 2]: forward, backward)."""
    return np.ascontiguousarray(np.stack([network.forward.ravel(), network.backward.ravel()], axis=1))


def pattern_network(
    capacity: Ints, forced: Mask, secondary: Mask | None = None, most: int | None = None
) -> PatternNetwork:
    """The network of a pattern given as grids (bool[R, C]), with room for `most` suppressed places (default: all)."""
    rows, columns = forced.shape
    places = forced.size if most is None else most
    network = PatternNetwork(
        rows=rows,
        columns=columns,
        capacity=capacity,
        kind=np.zeros(forced.shape, np.uint8),
        net=new_net(rows + columns, places, forced.size, np.int64),
        search=new_search(rows + columns, np.int64),
        descent=Descent(np.zeros(rows + columns, np.int32), np.zeros(rows + columns, np.int32)),
        touched=Touched(np.zeros(places, np.int32), np.zeros(places, np.uint8), np.zeros(1, np.int64)),
    )
    # the last of a chain goes in first: forced places come before secondary ones then, each in their order
    if secondary is not None:
        _add_all(network, np.flatnonzero(secondary & ~forced)[::-1].copy(), SECONDARY)
    _add_all(network, np.flatnonzero(forced)[::-1].copy(), FORCED)
    return network


def new_net(nodes: int, arcs: int, cells: int, dtype: type[np.generic]) -> Net:
    """A network without arcs; what is not set is written before it is read."""
    half = 2 * arcs
    capacity: Amounts = np.empty(half, dtype)
    room: Amounts = np.empty(half, dtype)
    return Net(
        first=np.full(nodes, -1, np.int32),
        following=np.empty(half, np.int32),
        target=np.empty(half, np.int32),
        capacity=capacity,
        room=room,
        cell=np.empty(arcs, np.int32),
        arc_of=np.full(cells, -1, np.int32),
        size=np.zeros(1, np.int64),
    )


def new_search(nodes: int, dtype: type[np.generic]) -> Search:
    """Room for searches in a network with so many nodes."""
    refused: Amounts = np.zeros(2, dtype)
    return Search(
        parent=np.zeros(nodes, np.int32),
        onward=np.zeros(nodes, np.int32),
        mark=np.zeros(nodes, np.int64),
        queue=np.zeros(nodes, np.int32),
        back_queue=np.zeros(nodes, np.int32),
        side=np.zeros(2, np.int64),
        refused=refused,
        stamp=np.zeros(1, np.int64),
    )


@compiled
def _add_all(network: PatternNetwork, places: Ints, kind: int) -> None:
    for place in places:
        add(network, place, kind)


@bare
def kind_of(network: PatternNetwork, place: int) -> int:
    """Whether a place is published, forced or secondary."""
    return network.kind[place // network.columns, place % network.columns]  # type: ignore[no-any-return]


@bare
def add(network: PatternNetwork, place: int, kind: int) -> None:
    """Suppress a published place."""
    i, j = place // network.columns, place % network.columns
    network.kind[i, j] = kind
    add_arc(network, network.net, i, j)


@bare
def drop(network: PatternNetwork, place: int) -> None:
    """Publish a suppressed place."""
    network.kind[place // network.columns, place % network.columns] = PUBLISHED
    remove_arc(network.net, find(network.net, place))


@bare
def clear(network: PatternNetwork) -> None:
    """Set the flow back to zero."""
    clear_touched(network.net, network.touched)


@bare
def leave_out(network: PatternNetwork, place: int) -> None:
    """Let the flow under construction do without a suppressed place."""
    shut(network.net, network.touched, find(network.net, place))


@bare
def flow_at(network: PatternNetwork, x: int) -> tuple[int, int]:
    """The place of touched arc number x and what it carries, positive forward."""
    e = whole(network.touched.arc[x])
    return whole(network.net.cell[e]), carried(network.net, e)


@bare
def augment(network: PatternNetwork, source: int, sink: int, limit: int) -> int:
    """Send what fits, at most `limit`, along the path that the search found; returns how much."""
    return push_noted(network.net, network.search, network.touched, source, sink, limit)  # type: ignore[no-any-return]


@bare
def send(network: PatternNetwork, own: int, forward: bool, limit: int) -> int:
    """The largest counter-flow of the suppressed place `own`, at most `limit`; it stays in the network.

    One wide path serves most levels, and it has the fewest cells.
    """
    leave_out(network, own)
    source, sink = ends_of(network, own, forward)
    if reach(network.net, network.search, source, sink, limit, whole(0)):
        return augment(network, source, sink, limit)
    return _send_in_parts(network, source, sink, limit)


@bare
def largest(network: PatternNetwork, own: int, forward: bool, limit: int) -> int:
    """As `send`, where only the amount is asked for: any path for all of it will do, and nothing is sent over it."""
    leave_out(network, own)
    source, sink = ends_of(network, own, forward)
    if wide_path(network.net, network.search, source, sink, limit):
        return limit
    return _send_in_parts(network, source, sink, limit)


@bare
def _send_in_parts(network: PatternNetwork, source: int, sink: int, limit: int) -> int:
    return send_in_parts(  # type: ignore[no-any-return]
        network.net, network.search, network.descent, network.touched, source, sink, limit
    )


@bare
def ends_of(network: PatternNetwork, own: int, forward: bool) -> tuple[int, int]:
    """Where the counter-flow of a place starts and ends."""
    rows, columns = network.rows, network.columns
    return source_of(forward, own, rows, columns), sink_of(forward, own, rows, columns)


@bare
def source_of(requirement_forth: bool, own: int, rows: int, columns: int) -> int:
    """Where the counter-flow starts: a cell that carries flow forward (row to column) needs it back."""
    return rows + own % columns if requirement_forth else own // columns


@bare
def sink_of(requirement_forth: bool, own: int, rows: int, columns: int) -> int:
    """Where the counter-flow ends."""
    return own // columns if requirement_forth else rows + own % columns


@bare
def moves_alone(network: PatternNetwork, own: int, forward: bool, need: int) -> bool:
    """Whether the place `own` is suppressed and its own bounds let it move by `need` in its direction."""
    return kind_of(network, own) != PUBLISHED and network.capacity[own, 0 if forward else 1] >= need


@bare
def meets(network: PatternNetwork, own: int, forward: bool, need: int) -> bool:
    """Whether the place `own` can move by `need` in its direction; the counter-flow stays in the network."""
    return moves_alone(network, own, forward, need) and send(network, own, forward, need) >= need
