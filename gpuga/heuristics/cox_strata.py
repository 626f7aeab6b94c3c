"""Castro's shortest paths with Cox's strata as published (Castro 2005; Almeida et al. 2008, section 3.1).

Cells are layered for each level: suppressed and wide enough, published and wide enough, suppressed but too narrow,
published and too narrow. One cell of a layer costs a path more than all that it could save in the layers before. Paths
for one level share no cell, and every sensitive cell on a path is credited with what the circuit carries. Where
disjoint paths do not suffice, the level has failed: it is counted, and a minimum-cost flow recovers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.min_cost_flow import Priced, priced, protect_by_flow
from gpuga.compiled import bare, compiled
from gpuga.context import Context
from gpuga.errors import GpugaError, OutOfTime
from gpuga.problem.two_way import FlowLevels, TwoWayProblem
from gpuga.safety.network import PUBLISHED, SECONDARY, UNBOUNDED, PatternNetwork, add, kind_of
from gpuga.table.table import Ints, Mask

LEVELS_AT_ONCE = 4
"""Levels between two looks at the clock."""

FAR = 1e300


class Strata(NamedTuple):
    """The pattern so far, what cells cost, what levels are credited with, and room for searches.

    `level_at` int64[2, places] is the level of a place by direction (1: forward), -1 where it has none; `used`
    bool[places] what earlier paths of a level passed; `layer` is more than any path pays in one stratum.
    """

    network: PatternNetwork
    everything: Priced
    weight: Ints
    usable: Mask
    credit: Ints
    level_at: Ints
    used: Mask
    distance: NDArray[np.float64]
    parent: Ints
    closed: Mask
    layer: float


def by_strata(problem: TwoWayProblem, context: Context) -> tuple[Mask, int]:
    """Secondary suppressions before clean-up, and how many levels disjoint paths could not meet."""
    work, levels, failed = _new(problem), problem.levels, 0
    for begin in range(0, len(levels.place), LEVELS_AT_ONCE):
        if context.clock.expired():
            raise OutOfTime("time ran out before the first safe pattern was found; allow more with --seconds")
        count = _protect(work, levels, np.arange(begin, min(begin + LEVELS_AT_ONCE, len(levels.place))))
        if count < 0:
            raise GpugaError("internal error: the flow recovery missed a level that can be met")
        failed += count
    return np.asarray(work.network.kind == SECONDARY), failed


def _new(problem: TwoWayProblem) -> Strata:
    levels, places, nodes = problem.levels, problem.weight.size, sum(problem.shape)
    level_at = np.full((2, places), -1, np.int64)
    level_at[levels.forward.astype(np.int64), levels.place] = np.arange(len(levels.place))
    return Strata(
        network=problem.network(),
        everything=priced(problem),
        weight=problem.weight.ravel(),
        usable=(problem.candidate | problem.forced).ravel(),
        credit=np.zeros(len(levels.place), np.int64),
        level_at=level_at,
        used=np.zeros(places, bool),
        distance=np.zeros(nodes),
        parent=np.zeros(nodes, np.int64),
        closed=np.zeros(nodes, bool),
        layer=float(nodes) * (float(problem.weight.max(initial=0)) + 1.0),
    )


@compiled
def _protect(work: Strata, levels: FlowLevels, order: Ints) -> int:
    """Protect the levels in order; returns how many failed, -1 if one cannot be met at all."""
    failed = 0
    for q in order:
        own, forward, need = levels.place[q], levels.forward[q], levels.need[q]
        if work.credit[q] >= need:
            continue
        work.used[:] = False
        work.used[own] = True
        reached = 0
        while reached < need and _path(work, own, forward, need):
            reached += min(_take(work, own, forward), need - reached)
        if reached < need:
            failed += 1
            if not protect_by_flow(work.network, work.everything, own, forward, need):
                return -1
    return failed


@bare
def _price(work: Strata, place: int, capacity: int, need: int) -> float:
    """What a path pays for a place: its stratum, and its weight where it is published."""
    published = kind_of(work.network, place) == PUBLISHED
    price = float(work.weight[place]) if published else 0.0
    if capacity < need:
        price += work.layer * work.layer if published else work.layer
    return price


@bare
def _path(work: Strata, own: int, forward: bool, need: int) -> bool:
    """A cheapest path from one end of a place to the other over places not used yet; `parent` holds its places."""
    network, rows, columns = work.network, work.network.rows, work.network.columns
    nodes = rows + columns
    source, sink = rows + own % columns, own // columns
    if not forward:
        source, sink = sink, source
    for v in range(nodes):
        work.distance[v] = FAR
        work.closed[v] = False
    work.distance[source] = 0.0
    while True:
        v = _nearest(work, nodes)
        if v < 0 or v == sink:
            return v == sink
        work.closed[v] = True
        from_row = v < rows
        for x in range(columns if from_row else rows):
            place = v * columns + x if from_row else x * columns + v - rows
            u = rows + x if from_row else x
            capacity = network.capacity[place, 0 if from_row else 1]
            if work.closed[u] or work.used[place] or not work.usable[place] or capacity <= 0:
                continue
            length = work.distance[v] + _price(work, place, capacity, need)
            if length < work.distance[u]:
                work.distance[u] = length
                work.parent[u] = place


@bare
def _nearest(work: Strata, nodes: int) -> int:
    """The open node at the smallest distance, -1 if none was reached."""
    best = -1
    for v in range(nodes):
        if not work.closed[v] and work.distance[v] < FAR and (best < 0 or work.distance[v] < work.distance[best]):
            best = v
    return best


@bare
def _take(work: Strata, own: int, forward: bool) -> int:
    """Suppress the path found and credit the sensitive cells on its circuit; returns what it carries."""
    network, rows, columns = work.network, work.network.rows, work.network.columns
    source, sink = rows + own % columns, own // columns
    if not forward:
        source, sink = sink, source
    along, against = UNBOUNDED, UNBOUNDED
    v = sink
    while v != source:
        place = work.parent[v]
        side = 0 if v >= rows else 1  # reached at a column: passed from its row, forward
        along = min(along, network.capacity[place, side])
        against = min(against, network.capacity[place, 1 - side])
        v = place // columns if v >= rows else rows + place % columns
    mine = 0 if forward else 1
    carried = along
    along, against = min(along, network.capacity[own, mine]), min(against, network.capacity[own, 1 - mine])
    credit_place(work.level_at, work.credit, own, forward, along, against)
    v = sink
    while v != source:
        place = work.parent[v]
        credit_place(work.level_at, work.credit, place, v >= rows, along, against)
        if kind_of(network, place) == PUBLISHED:
            add(network, place, SECONDARY)
        work.everything.price[place] = 0
        work.used[place] = True
        v = place // columns if v >= rows else rows + place % columns
    return carried


@bare
def credit_place(level_at: Ints, credit: Ints, place: int, forward: bool, along: int, against: int) -> None:
    """A circuit moves the place by `along` in the sense it is passed, by `against` in the other."""
    sense = 1 if forward else 0
    q = level_at[sense, place]
    if q >= 0:
        credit[q] = max(credit[q], along)
    q = level_at[1 - sense, place]
    if q >= 0:
        credit[q] = max(credit[q], against)
