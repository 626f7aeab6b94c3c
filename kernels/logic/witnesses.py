"""Flows that show how requirements are covered, so that a lost arc asks for a detour only; and arcs that must stay.

A flow that uses an arc can do without it exactly if what it carries there can be led round it in what the flow leaves
of the capacities.  If not, the nodes that the detour reaches are one side of a cut, which settles other arcs as well:
one without which the cut would be too narrow has to stay.  Patterns only shrink during a clean-up, so it stays for
good, and a requirement that a path of such arcs covers need not be asked again.
"""

from __future__ import annotations

import numpy as np

from .arcs import carried, find
from .augment import empty_flow, lacking, send
from .bits import FULL, ONE, ZERO
from .compile import Integer, bare, whole
from .records import Needs, Net, PatternWitnesses, Scratch, Search
from .spread import open_for, spread, wait

NOT_ASKED, ASKED = 0, 1

LONGEST_FLOW = 96
"""Arcs of a flow that is kept; a requirement with a longer one counts as leaning on every arc."""


@bare
def begin_witnesses(net: Net, witnesses: PatternWitnesses) -> None:
    """No requirement leans on anything."""
    for t in range(witnesses.length.shape[0]):
        witnesses.length[t] = 0
    for e in range(net.size[0]):
        for w in range(witnesses.leaning.shape[1]):
            witnesses.leaning[e, w] = ZERO


@bare
def forget(net: Net, witnesses: PatternWitnesses, t: int) -> None:
    """Requirement t leans on nothing any more."""
    others = FULL ^ (ONE << np.uint64(t & 63))
    for x in range(witnesses.length[t]):
        witnesses.leaning[witnesses.arc[t, x], t >> 6] &= others
    if witnesses.length[t] < 0:
        for e in range(net.size[0]):
            witnesses.leaning[e, t >> 6] &= others
    witnesses.length[t] = 0


@bare
def _remember(net: Net, witnesses: PatternWitnesses, t: int) -> None:
    """Keep the flow that `room` holds as that of requirement t."""
    forget(net, witnesses, t)
    single = ONE << np.uint64(t & 63)
    length = 0
    for e in range(net.size[0]):
        amount = carried(net, e)
        if amount == 0:
            continue
        if length < LONGEST_FLOW:
            witnesses.arc[t, length] = e
            witnesses.amount[t, length] = amount
            witnesses.leaning[e, t >> 6] |= single
        length += 1
    witnesses.length[t] = length
    if length > LONGEST_FLOW:
        witnesses.length[t] = -1
        for e in range(net.size[0]):
            witnesses.leaning[e, t >> 6] |= single


@bare
def keep(needs: Needs, scratch: Scratch, e: int, waiting: int) -> Integer:
    """Arc e stays for good: requirements may spread over it; returns how many nodes wait for that."""
    if scratch.witnesses.kept[e] != 0:
        return waiting
    scratch.witnesses.kept[e] = 1
    open_for(needs, scratch.net, scratch.flood, e)
    waiting = wait(scratch.flood, whole(scratch.net.target[2 * e]), waiting)
    return wait(scratch.flood, whole(scratch.net.target[2 * e + 1]), waiting)


@bare
def _keep_cut(needs: Needs, scratch: Scratch, slack: int, waiting: int) -> Integer:
    """Keep all arcs of the cut that the last search ended at whose capacity is above `slack`."""
    net, search = scratch.net, scratch.search
    stamp = search.stamp[0]
    for x in range(search.side[0]):
        h = net.first[search.queue[x]]
        while h >= 0:
            if net.capacity[h] > slack and search.mark[net.target[h]] != stamp:
                waiting = keep(needs, scratch, whole(h >> 1), waiting)
            h = net.following[h]
    for x in range(search.side[1]):
        h = net.first[search.back_queue[x]]
        while h >= 0:
            if net.capacity[h ^ 1] > slack and search.mark[net.target[h]] != -stamp:
                waiting = keep(needs, scratch, whole(h >> 1), waiting)
            h = net.following[h]
    return waiting


@bare
def _sent_afresh(needs: Needs, net: Net, search: Search, t: int) -> Integer:
    """What a flow of requirement t, begun anew, lacks of its need; it stays in `room`."""
    empty_flow(net, find(net, needs.cell[t]))
    source, sink, need = whole(needs.source[t]), whole(needs.sink[t]), needs.need[t]
    left = lacking(net, search, source, sink, need)
    return left if left > 0 else send(net, search, source, sink, need, need)


@bare
def _sent_round(needs: Needs, net: Net, search: Search, witnesses: PatternWitnesses, t: int, lost: int) -> Integer:
    """What the kept flow of requirement t lacks without arc `lost`, after all detours."""
    empty_flow(net, find(net, needs.cell[t]))
    carried = whole(0)
    for x in range(witnesses.length[t]):
        e, amount = witnesses.arc[t, x], witnesses.amount[t, x]
        if e == lost:
            carried = amount
        else:
            net.room[2 * e] -= amount
            net.room[2 * e + 1] += amount
    column, row = whole(net.target[2 * lost]), whole(net.target[2 * lost + 1])
    if carried > 0:
        return send(net, search, row, column, carried, carried)
    return send(net, search, column, row, -carried, -carried)


@bare
def show(needs: Needs, scratch: Scratch, t: int) -> bool:
    """Whether requirement t is covered, over as many paths as it takes; if so, the flow is kept."""
    if _sent_afresh(needs, scratch.net, scratch.search, t) > 0:
        return False
    _remember(scratch.net, scratch.witnesses, t)
    return True


@bare
def show_without(needs: Needs, scratch: Scratch, t: int, lost: int, capacity: tuple[int, int]) -> bool:
    """Whether requirement t is covered without arc `lost`, which is closed and had these capacities.

    If so, the flow is kept; if not, the arcs that this shows to be indispensable.
    """
    net, search, witnesses = scratch.net, scratch.search, scratch.witnesses
    if witnesses.length[t] >= 0:
        left = _sent_round(needs, net, search, witnesses, t, lost)
    else:
        left = _sent_afresh(needs, net, search, t)
    if left == 0:
        _remember(net, witnesses, t)
        return True
    row = net.target[2 * lost + 1]
    row_inside = search.mark[row] != -search.stamp[0] if search.side[1] > 0 else search.mark[row] == search.stamp[0]
    waiting = _keep_cut(needs, scratch, (capacity[0] if row_inside else capacity[1]) - left, whole(0))
    spread(net, scratch.flood, waiting)
    return False
