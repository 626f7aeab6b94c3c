"""Flows that show how requirements are covered, kept so that a lost arc asks only for a detour; and arcs that must stay.

A flow that uses an arc can do without it exactly if what it carries there can be led round it in what the flow leaves of
the capacities.  If not, the nodes that the detour reaches are one side of a cut, which settles other arcs as well: one
without which the cut would be too narrow has to stay.  Patterns only shrink during a clean-up, so it stays for good.
"""

from __future__ import annotations

import numpy as np

from .arcs import find
from .augment import empty_flow, finer, lacking, send
from .bits import ONE, ZERO
from .compile import Integer, Truth, bare
from .records import Needs, Net, Scratch, Search, Witnesses

NOT_ASKED, ONE_PATH, FLOW, LONG_FLOW = 0, 1, 2, 3
"""How a requirement is covered: by one path, by a flow that is kept, or by one with too many arcs to be kept."""

LONGEST_FLOW = 96


@bare
def leans(witnesses: Witnesses, e: int, t: int) -> Truth:
    """Does the flow of requirement t use arc e?"""
    return (witnesses.leaning[e, t >> 6] >> np.uint64(t & 63)) & ONE != ZERO


@bare
def _forget(witnesses: Witnesses, t: int) -> None:
    """Requirement t leans on nothing that is known."""
    single = ONE << np.uint64(t & 63)
    for x in range(witnesses.length[t]):
        witnesses.leaning[witnesses.arc[t, x], t >> 6] &= ~single
    witnesses.length[t] = 0


@bare
def _remember(net: Net, witnesses: Witnesses, own: int, t: int) -> None:
    """Keep the flow that `room` holds as that of requirement t."""
    _forget(witnesses, t)
    single = ONE << np.uint64(t & 63)
    length = 0
    witnesses.state[t] = FLOW
    for e in range(net.size[0]):
        amount = net.capacity[2 * e] - net.room[2 * e]
        if amount == 0 or e == own:
            continue
        if length == LONGEST_FLOW:
            witnesses.length[t] = length
            _forget(witnesses, t)
            witnesses.state[t] = LONG_FLOW
            return
        witnesses.arc[t, length] = e
        witnesses.amount[t, length] = amount
        witnesses.leaning[e, t >> 6] |= single
        length += 1
    witnesses.length[t] = length


@bare
def _keep_cut(net: Net, search: Search, witnesses: Witnesses, slack: int) -> None:
    """Keep all arcs of the cut that the last search ended at whose capacity is above `slack`."""
    stamp = search.stamp[0]
    for x in range(search.side[0]):
        h = net.first[search.queue[x]]
        while h >= 0:
            if net.capacity[h] > slack and search.mark[net.target[h]] != stamp:
                witnesses.kept[h >> 1] = 1
            h = net.following[h]
    for x in range(search.side[1]):
        h = net.first[search.back_queue[x]]
        while h >= 0:
            if net.capacity[h ^ 1] > slack and search.mark[net.target[h]] != -stamp:
                witnesses.kept[h >> 1] = 1
            h = net.following[h]


@bare
def _sent_afresh(needs: Needs, net: Net, search: Search, t: int) -> Integer:
    """What a flow of requirement t, begun anew, lacks of its need; it stays in `room`."""
    empty_flow(net, find(net, needs.cell[t]))
    source, sink, need = needs.source[t], needs.sink[t], needs.need[t]
    left = lacking(net, search, source, sink, need)
    return left if left > 0 else send(net, search, source, sink, need, finer(need))


@bare
def _sent_round(needs: Needs, net: Net, search: Search, witnesses: Witnesses, t: int, lost: int) -> Integer:
    """What the kept flow of requirement t lacks without arc `lost`, after all detours."""
    empty_flow(net, find(net, needs.cell[t]))
    carried = np.int64(0)
    for x in range(witnesses.length[t]):
        e, amount = witnesses.arc[t, x], witnesses.amount[t, x]
        if e == lost:
            carried = amount
        else:
            net.room[2 * e] -= amount
            net.room[2 * e + 1] += amount
    column, row = net.target[2 * lost], net.target[2 * lost + 1]
    if carried > 0:
        return send(net, search, row, column, carried, carried)
    return send(net, search, column, row, -carried, -carried)


@bare
def show(needs: Needs, scratch: Scratch, t: int) -> bool:
    """Whether requirement t is covered, over as many paths as it takes; if so, the flow is kept."""
    if _sent_afresh(needs, scratch.net, scratch.search, t) > 0:
        return False
    _remember(scratch.net, scratch.witnesses, find(scratch.net, needs.cell[t]), t)
    return True


@bare
def show_without(needs: Needs, scratch: Scratch, t: int, lost: int, capacity: tuple[int, int]) -> bool:
    """Whether requirement t is covered without arc `lost`, which is closed and had these capacities.

    If so, the flow is kept; if not, the arcs that this shows to be indispensable.
    """
    net, search, witnesses = scratch.net, scratch.search, scratch.witnesses
    if witnesses.state[t] == FLOW:
        left = _sent_round(needs, net, search, witnesses, t, lost)
    else:
        left = _sent_afresh(needs, net, search, t)
    if left == 0:
        _remember(net, witnesses, find(net, needs.cell[t]), t)
        return True
    row_inside = search.mark[net.target[2 * lost + 1]] == search.stamp[0]
    if search.side[1] > 0:
        row_inside = search.mark[net.target[2 * lost + 1]] != -search.stamp[0]
    _keep_cut(net, search, witnesses, (capacity[0] if row_inside else capacity[1]) - left)
    return False
