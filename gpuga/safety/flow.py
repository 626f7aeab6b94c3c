"""Exact attacker of two-dimensional tables: what each suppressed cell can rise and fall, by maximum flows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled, inner
from gpuga.safety.network import (
    UNBOUNDED,
    Flow,
    Links,
    Network,
    clear,
    network_of,
    new_flow,
    new_links,
    send,
    sink_of,
    source_of,
)
from gpuga.safety.tasks import Tasks
from gpuga.table.plane import Plane
from gpuga.table.table import INFINITE, Ints, Mask


@dataclass(frozen=True, eq=False)
class FlowReach:
    """Which tasks a pattern meets and, where asked for, the change of the table that shows it.

    `met` bool[T]. Task t's witness are the entries `start[t]:start[t+1]` of `cell` (int32) and `amount`
    (int64, signed change of the cell, the task's own included); empty where the task is not met.
    """

    met: Mask
    start: Ints
    cell: NDArray[np.int32]
    amount: Ints


def reachable(plane: Plane, suppressed: Mask, tasks: Tasks, witnesses: bool = False) -> FlowReach:
    """Decide each task exactly in the pattern `suppressed` (bool[R, C]), with witnesses if asked for."""
    place, forth = oriented(plane, tasks)
    net, links, flow = _prepared(plane, suppressed)
    if not witnesses:
        met = _decide(net, links, flow, place, forth, tasks.need)
        empty = np.zeros(0, np.int64)
        return FlowReach(met, np.zeros(len(tasks) + 1, np.int64), empty.astype(np.int32), empty)
    met, start, at, amount = _witness(net, links, flow, place, forth, tasks.need)
    return FlowReach(met, start, plane.cell.ravel()[at], amount * plane.sign.ravel()[at])


def extreme(plane: Plane, suppressed: Mask, cells: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """How far each of the cells can rise and fall in the pattern (int64 each, `INFINITE` without limit)."""
    place = plane.place[cells]
    if not len(place):
        return place, place
    net, links, flow = _prepared(plane, suppressed)
    inner = plane.sign.ravel()[place] > 0
    forth = _largest(net, links, flow, place, True)
    back = _largest(net, links, flow, place, False)
    return np.where(inner, forth, back), np.where(inner, back, forth)


def oriented(plane: Plane, tasks: Tasks) -> tuple[Ints, Mask]:
    """Each task's place and whether its cell carries flow forth (row to column) when it is met."""
    place = plane.place[tasks.cell]
    return place, np.asarray(tasks.direction * plane.sign.ravel()[place] > 0)


def _prepared(plane: Plane, suppressed: Mask) -> tuple[Network, Links, Flow]:
    hidden = np.asarray(suppressed & (plane.cell >= 0))
    return network_of(plane), new_links(hidden), new_flow(*plane.shape)


@inner
def meets(net: Network, links: Links, flow: Flow, own: int, forth: bool, need: int) -> bool:
    """Whether the place `own` can move by `need` in its direction; the counter-flow stays in `flow`."""
    rows, columns = flow.amount.shape
    i, j = own // columns, own % columns
    if links.kind[i, j] == 0 or (net.forth[i, j] if forth else net.back[i, j]) < need:
        return False
    source = source_of(forth, own, rows, columns)
    sink = sink_of(forth, own, rows, columns)
    return send(net, links, flow, own, source, sink, need) >= need


@compiled
def _decide(net: Network, links: Links, flow: Flow, place: Ints, forth: Mask, need: Ints) -> Mask:
    met = np.zeros(len(place), np.bool_)
    for t in range(len(place)):
        met[t] = meets(net, links, flow, place[t], forth[t], need[t])
        clear(flow)
    return met


@compiled
def _witness(
    net: Network, links: Links, flow: Flow, place: Ints, forth: Mask, need: Ints
) -> tuple[Mask, Ints, Ints, Ints]:
    """As `_decide`, with the flows (own place included) as places and signed amounts."""
    columns = flow.amount.shape[1]
    met = np.zeros(len(place), np.bool_)
    start = np.zeros(len(place) + 1, np.int64)
    at = np.zeros(8 * len(place) + 64, np.int64)
    amount = np.zeros(8 * len(place) + 64, np.int64)
    end = 0
    for t in range(len(place)):
        met[t] = meets(net, links, flow, place[t], forth[t], need[t])
        if met[t]:
            if end + flow.used[0] + 1 > len(at):
                grown = 2 * (end + flow.used[0] + 1)
                at = np.concatenate((at, np.zeros(grown, np.int64)))
                amount = np.concatenate((amount, np.zeros(grown, np.int64)))
            at[end] = place[t]
            amount[end] = need[t] if forth[t] else -need[t]
            end += 1
            for z in range(flow.used[0]):
                i, j = flow.touched[z] // columns, flow.touched[z] % columns
                if flow.amount[i, j] != 0:
                    at[end] = flow.touched[z]
                    amount[end] = flow.amount[i, j]
                    end += 1
        start[t + 1] = end
        clear(flow)
    return met, start, at[:end].copy(), amount[:end].copy()


@compiled
def _largest(net: Network, links: Links, flow: Flow, place: Ints, forth: bool) -> Ints:
    """The largest movement of each place in one direction of flow, its own capacity respected."""
    rows, columns = flow.amount.shape
    out = np.zeros(len(place), np.int64)
    for t in range(len(place)):
        own = place[t]
        i, j = own // columns, own % columns
        limit = min(UNBOUNDED, net.forth[i, j] if forth else net.back[i, j])
        if links.kind[i, j] == 0 or limit == 0:
            continue
        source = source_of(forth, own, rows, columns)
        sink = sink_of(forth, own, rows, columns)
        out[t] = send(net, links, flow, own, source, sink, limit)
        if out[t] >= UNBOUNDED:
            out[t] = INFINITE
        clear(flow)
    return out
