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
from gpuga.compiled import compiled, inner, whole
from gpuga.kernels.logic.arcs import link
from gpuga.kernels.logic.augment import push
from gpuga.kernels.logic.maximum import reach
from gpuga.kernels.logic.records import Net, Search
from gpuga.problem.two_way import FlowLevels
from gpuga.safety.network import Bytes, Network, new_net, new_search, sink_of, source_of
from gpuga.table.table import Ints

MOST_CUTS = 2000


class Support(NamedTuple):
    """The places with positive x, an arc each: `place` int64[A] falls, `x` float64[A]; `net` is room for a flow."""

    place: Ints
    x: Floats
    net: Net


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
    """The network of places with their values; its capacities depend on the requirement."""
    order = np.argsort(places, kind="stable")[::-1]  # the last of a chain goes in first
    net = new_net(rows + columns, len(places), rows * columns, np.float64)
    _link(net, places[order], np.array([rows, columns]))
    return Support(places[order], x[order], net)


@compiled
def _link(net: Net, places: Ints, shape: Ints) -> None:
    for place in places:
        link(net, place, place // shape[1], shape[0] + place % shape[1])


def violated_cuts(net: Network, support: Support, levels: FlowLevels, slack: float, view: View = PLAIN) -> Violated:
    """Minimum cuts, from the source's and from the sink's side, of the levels short by more than `slack`."""
    rows, columns = net.forward.shape
    level = np.zeros(MOST_CUTS, np.int64)
    row_side = np.zeros((MOST_CUTS, rows), np.uint8)
    column_side = np.zeros((MOST_CUTS, columns), np.uint8)
    found = Violated(level, row_side, column_side)
    count = _separate(net, support, levels, view, slack, found, new_search(rows + columns, np.float64))
    return Violated(level[:count], row_side[:count], column_side[:count])


@inner
def _set_capacities(network: Network, support: Support, own: int, need: int, view: View) -> None:
    """Begin a flow for one requirement, which must not use its own place."""
    columns, room = network.forward.shape[1], support.net.room
    for e in range(len(support.place)):
        i, j = support.place[e] // columns, support.place[e] % columns
        if support.place[e] == own:
            room[2 * e], room[2 * e + 1] = 0.0, 0.0
        else:
            room[2 * e] = _seen(view, support.x[e], min(1.0, network.forward[i, j] / need))
            room[2 * e + 1] = _seen(view, support.x[e], min(1.0, network.backward[i, j] / need))


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
    network: Network, support: Support, levels: FlowLevels, view: View, slack: float, found: Violated, search: Search
) -> int:
    rows, columns = network.forward.shape
    net, count = support.net, 0
    for q in range(len(levels.place)):
        if count + 2 > len(found.level):
            break
        source = source_of(levels.forward[q], levels.place[q], rows, columns)
        sink = sink_of(levels.forward[q], levels.place[q], rows, columns)
        _set_capacities(network, support, levels.place[q], levels.need[q], view)
        sent, least = 0.0, 0.05
        while sent < 1.0 - slack:
            if reach(net, search, source, sink, least, whole(0)):
                sent += push(net, search, source, sink, 1.0)
            elif least > 1e-8:
                least = 1e-9 if least < 1e-4 else least * 0.05
            else:
                break
        if sent >= 1.0 - slack:
            continue
        _note_side(search, True, found.rows[count], found.columns[count])
        reach(net, search, sink, whole(-1), 1e-9, whole(1))
        _note_side(search, False, found.rows[count + 1], found.columns[count + 1])
        found.level[count : count + 2] = q
        count += 2
    return count


@inner
def _note_side(search: Search, inside: bool, row_side: Bytes, column_side: Bytes) -> None:
    """The source's side of a cut: what was reached from the source, or what was not reached from the sink."""
    rows, seen, stamp = len(row_side), search.mark, search.stamp[0]
    for i in range(rows):
        row_side[i] = (seen[i] == stamp) == inside
    for j in range(len(column_side)):
        column_side[j] = (seen[rows + j] == stamp) == inside
