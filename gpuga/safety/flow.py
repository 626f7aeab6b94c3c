"""Exact attacker of two-dimensional tables: what each suppressed cell can rise and fall, by maximum flows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled
from gpuga.safety.network import (
    PUBLISHED,
    UNBOUNDED,
    PatternNetwork,
    capacity_of,
    clear,
    flow_at,
    kind_of,
    largest,
    meets,
    moves_alone,
    network_of,
    pattern_network,
)
from gpuga.safety.requirements import Requirements
from gpuga.table.table import INFINITE, Ints, Mask
from gpuga.table.two_way import TwoWayTable


@dataclass(frozen=True, eq=False)
class FlowReach:
    """Which requirements a pattern meets and, where asked for, the change of the table that shows it.

    `met` bool[T]. Requirement t's witness are the entries `start[t]:start[t+1]` of `cell` (int32) and `amount`
    (int64, signed change of the cell, the requirement's own included); empty where the requirement is not met.
    """

    met: Mask
    start: Ints
    cell: NDArray[np.int32]
    amount: Ints


def reachable(plane: TwoWayTable, suppressed: Mask, requirements: Requirements, witnesses: bool = False) -> FlowReach:
    """Decide each requirement exactly in the pattern `suppressed` (bool[R, C]), with witnesses if asked for."""
    place, forward = oriented(plane, requirements)
    network = _prepared(plane, suppressed)
    if not witnesses:
        met = _decide(network, place, forward, requirements.need)
        empty = np.zeros(0, np.int64)
        return FlowReach(met, np.zeros(len(requirements) + 1, np.int64), empty.astype(np.int32), empty)
    met, start, at, amount = _witness(network, place, forward, requirements.need)
    return FlowReach(met, start, plane.cell.ravel()[at], amount * plane.sign.ravel()[at])


def extreme(plane: TwoWayTable, suppressed: Mask, cells: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """How far each of the cells can rise and fall in the pattern (int64 each, `INFINITE` without limit)."""
    place = plane.place[cells]
    if not len(place):
        return place, place
    network = _prepared(plane, suppressed)
    inner = plane.sign.ravel()[place] > 0
    forward = _largest(network, place, True)
    back = _largest(network, place, False)
    return np.where(inner, forward, back), np.where(inner, back, forward)


def oriented(plane: TwoWayTable, requirements: Requirements) -> tuple[Ints, Mask]:
    """Each requirement's place and whether its cell carries flow forward (row to column) when it is met."""
    place = plane.place[requirements.cell]
    return place, np.asarray(requirements.direction * plane.sign.ravel()[place] > 0)


def _prepared(plane: TwoWayTable, suppressed: Mask) -> PatternNetwork:
    hidden = np.asarray(suppressed & (plane.cell >= 0))
    return pattern_network(capacity_of(network_of(plane)), hidden, most=int(hidden.sum()))


@compiled
def _decide(network: PatternNetwork, place: Ints, forward: Mask, need: Ints) -> Mask:
    met = np.zeros(len(place), np.bool_)
    for t in range(len(place)):
        if moves_alone(network, place[t], forward[t], need[t]):
            met[t] = largest(network, place[t], forward[t], need[t]) >= need[t]
            clear(network)
    return met


@compiled
def _witness(network: PatternNetwork, place: Ints, forward: Mask, need: Ints) -> tuple[Mask, Ints, Ints, Ints]:
    """As `_decide`, with the flows (own place included) as places and signed amounts."""
    met = np.zeros(len(place), np.bool_)
    start = np.zeros(len(place) + 1, np.int64)
    at = np.zeros(8 * len(place) + 64, np.int64)
    amount = np.zeros(8 * len(place) + 64, np.int64)
    end = 0
    for t in range(len(place)):
        met[t] = meets(network, place[t], forward[t], need[t])
        if met[t]:
            used = network.touched.size[0]
            if end + used + 1 > len(at):
                grown = 2 * (end + used + 1)
                at = np.concatenate((at, np.zeros(grown, np.int64)))
                amount = np.concatenate((amount, np.zeros(grown, np.int64)))
            at[end] = place[t]
            amount[end] = need[t] if forward[t] else -need[t]
            end += 1
            for x in range(used):
                other, moved = flow_at(network, x)
                if moved != 0:
                    at[end] = other
                    amount[end] = moved
                    end += 1
        start[t + 1] = end
        clear(network)
    return met, start, at[:end].copy(), amount[:end].copy()


@compiled
def _largest(network: PatternNetwork, place: Ints, forward: bool) -> Ints:
    """The largest movement of each place in one direction of flow, its own capacity respected."""
    out = np.zeros(len(place), np.int64)
    for t in range(len(place)):
        limit = min(UNBOUNDED, network.capacity[place[t], 0 if forward else 1])
        if kind_of(network, place[t]) == PUBLISHED or limit == 0:
            continue
        out[t] = largest(network, place[t], forward, limit)
        if out[t] >= UNBOUNDED:
            out[t] = INFINITE
        clear(network)
    return out
