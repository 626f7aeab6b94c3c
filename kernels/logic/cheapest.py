"""The cheapest augmenting path of one requirement, over suppressed cells (free) and published ones (priced).

Dijkstra's method from both ends.  Of equally near open nodes the one with the smaller number is settled first; whatever
free arcs reach from it is settled with it, breadth first.  So the path is the same on every back end.
"""

from __future__ import annotations

from ..layout import INFINITE, Int32
from .bits import bit
from .compile import Integer, Truth, bare, whole
from .decoding_price import BY_CAPACITY, blurred, decoding_price, narrowed
from .records import Amounts, Ask, Job, Net, Scratch, TableRecord, Wing


@bare
def rise(heap: Int32, key: Amounts, position: Int32, at: int, v: int, reached: float) -> None:
    """Let node v rise from place `at` of the heap to where its distance belongs."""
    while at > 0:
        above = (at - 1) >> 1
        if key[above] < reached or (key[above] == reached and heap[above] < v):
            break
        heap[at], key[at] = heap[above], key[above]
        position[heap[at]] = at
        at = above
    heap[at], key[at] = v, reached
    position[v] = at


@bare
def drop_first(heap: Int32, key: Amounts, position: Int32, count: int) -> None:
    """Take the nearest node off a heap that holds `count` nodes without it."""
    last, reached = heap[count], key[count]
    at = 0
    while 2 * at + 1 < count:
        below = 2 * at + 1
        if below + 1 < count and (
            key[below + 1] < key[below] or (key[below + 1] == key[below] and heap[below + 1] < heap[below])
        ):
            below += 1
        if reached < key[below] or (reached == key[below] and last < heap[below]):
            break
        heap[at], key[at] = heap[below], key[below]
        position[heap[at]] = at
        at = below
    heap[at], key[at] = last, reached
    position[last] = at


@bare
def _improves(wing: Wing, u: int, reached: int) -> Truth:
    """Is a way of length `reached` to node u shorter than the ways known?"""
    return wing.mark[u] != wing.stamp[0] or reached < wing.distance[u]


@bare
def _label(wing: Wing, other: Wing, u: int, reached: int, step: int) -> None:
    """Note a shorter way to u whose last step is this half-arc or cell; the two ends may meet there."""
    wing.mark[u] = wing.stamp[0]
    wing.distance[u] = reached
    wing.step[u] = step
    if other.mark[u] == other.stamp[0] and reached + other.distance[u] < wing.best[0]:
        wing.best[0], other.best[0] = reached + other.distance[u], reached + other.distance[u]
        wing.best[1], other.best[1] = u, u


@bare
def _offer(wing: Wing, other: Wing, u: int, reached: int, step: int, count: int) -> Integer:
    """As `_label`, and u is open; returns the number of open nodes."""
    at = whole(wing.position[u])
    if wing.mark[u] != wing.stamp[0]:
        at = count
        count += 1
    _label(wing, other, u, reached, step)
    rise(wing.heap, wing.key, wing.position, at, u, reached)
    return count


@bare
def _settle_free(net: Net, wing: Wing, other: Wing, v: int, width: int) -> Integer:
    """Settle all that free arcs reach from v at the same distance, into `queue`; returns how many nodes."""
    here = wing.distance[v]
    wing.queue[0] = v
    head, tail = 0, 1
    while head < tail:
        h = net.first[wing.queue[head]]
        head += 1
        while h >= 0:
            u = whole(net.target[h])
            if net.room[h ^ wing.side] >= width and _improves(wing, u, here):
                _label(wing, other, u, here, h ^ wing.side)
                wing.queue[tail] = u
                tail += 1
            h = net.following[h]
    return tail


@bare
def _try_cell(job: Job, ask: Ask, wing: Wing, other: Wing, v: int, u: int, charge: int, count: int) -> Integer:
    """Try to go on from v to u over their common cell, if it is published; returns the number of open nodes."""
    table, here = job.table, wing.distance[v]
    i, j = min(v, u), max(v, u) - table.rows
    c = i * table.columns + j
    capacity = table.capacity[c, wing.side if i == v else 1 - wing.side]
    if capacity < ask.width:
        return count
    if job.child.style & BY_CAPACITY:
        charge = narrowed(charge, ask.need, capacity)
    # what the other end has not settled is at least as far from it as its nearest open node
    cheap = here + charge + other.key[0] < wing.best[0]
    if cheap and _improves(wing, u, here + charge) and not bit(job.child.rows, i, j):
        return _offer(wing, other, u, here + charge, -1 - c, count)
    return count


@bare
def _offer_core(job: Job, ask: Ask, wing: Wing, other: Wing, v: int, count: int) -> Integer:
    """Try the core cells of node v, those of the parents, then all by price; returns the number of open nodes."""
    inherited, child = job.inherited, job.child
    h = inherited.first[v]
    while h >= 0:
        count = _try_cell(job, ask, wing, other, v, whole(inherited.target[h]), inherited.price[h >> 1], count)
        h = inherited.following[h]
    prices, across = job.prices.core_price[child.snapshot], job.prices.core_across[child.snapshot]
    beyond = wing.distance[v] + other.key[0]
    for q in range(job.prices.start[v], job.prices.start[v + 1]):
        if beyond + prices[q] + 1 >= wing.best[0]:
            break
        u = whole(across[q])
        if not _improves(wing, u, wing.distance[v] + prices[q]):
            continue
        c = min(v, u) * job.table.columns + max(v, u) - job.table.rows
        count = _try_cell(job, ask, wing, other, v, u, blurred(child, prices[q], c) + 1, count)
    return count


@bare
def _offer_all(job: Job, ask: Ask, wing: Wing, other: Wing, v: int, count: int) -> Integer:
    """Try all candidates of node v; returns the number of open nodes."""
    table = job.table
    for x in range(table.columns if v < table.rows else table.rows):
        u = table.rows + x if v < table.rows else x
        i, j = min(v, u), max(v, u) - table.rows
        c = i * table.columns + j
        if table.candidate[c] != 0:
            count = _try_cell(job, ask, wing, other, v, u, decoding_price(job.prices, job.child, c, i, j), count)
    return count


@bare
def _offer_from(job: Job, ask: Ask, wing: Wing, other: Wing, settled: int, count: int) -> Integer:
    """Go on from the nodes `queue[:settled]` over published cells; returns the number of open nodes."""
    for q in range(settled):
        v = whole(wing.queue[q])
        if ask.everywhere:
            count = _offer_all(job, ask, wing, other, v, count)
        else:
            count = _offer_core(job, ask, wing, other, v, count)
    return count


@bare
def _go_on(job: Job, net: Net, ask: Ask, wing: Wing, other: Wing, count: int) -> Integer:
    """Settle the nearest open node of one end, and what is as near; returns the number of open nodes."""
    v, reached = whole(wing.heap[0]), wing.key[0]
    count -= 1
    drop_first(wing.heap, wing.key, wing.position, count)
    if reached > wing.distance[v]:
        return count  # settled since, along free arcs
    return _offer_from(job, ask, wing, other, _settle_free(net, wing, other, v, ask.width), count)


@bare
def _across(table: TableRecord, net: Net, step: int, v: int) -> Integer:
    """The other end of a step, a half-arc or a published cell, that begins or ends at node v."""
    if step >= 0:
        u = whole(net.target[step])
        return u if u != v else whole(net.target[step ^ 1])
    c = -1 - step
    return table.rows + c % table.columns if v < table.rows else c // table.columns


@bare
def _join(table: TableRecord, scratch: Scratch, ask: Ask) -> None:
    """Write the steps of both ends as one path into `parent`."""
    net, ahead, back, parent = scratch.net, scratch.ahead, scratch.back, scratch.search.parent
    v = whole(ahead.best[1])
    middle = v
    # free arcs may have led the one end along the way of the other: they part at the last node that both reach so
    while v != ask.sink:
        v = _across(table, net, whole(back.step[v]), v)
        if ahead.mark[v] == ahead.stamp[0] and ahead.distance[v] + back.distance[v] == ahead.best[0]:
            middle = v
    v = middle
    while v != ask.sink:
        step = whole(back.step[v])
        v = _across(table, net, step, v)
        parent[v] = step
    v = middle
    while v != ask.source:
        parent[v] = ahead.step[v]
        v = _across(table, net, whole(ahead.step[v]), v)


@bare
def _begin(net: Net, wing: Wing, other: Wing, v: int, width: int) -> Integer:
    """Begin at one end: settle what is free from there; returns how many nodes."""
    wing.key[0] = 0
    _label(wing, other, v, whole(0), whole(-1))
    return _settle_free(net, wing, other, v, width)


@bare
def cheapest_path(job: Job, scratch: Scratch, ask: Ask) -> Integer:
    """The cost of a cheapest path that has room for `ask.width`, INFINITE if there is none; `parent` holds it.

    What is free from either end is settled before any published cell is tried: where both ends meet soon, most cells
    are too dear to be tried.
    """
    net, ahead, back = scratch.net, scratch.ahead, scratch.back
    ahead.stamp[0] += 1
    back.stamp[0] += 1
    ahead.best[0], back.best[0] = INFINITE, INFINITE
    settled = _begin(net, ahead, back, ask.source, ask.width)
    back_settled = _begin(net, back, ahead, ask.sink, ask.width)
    if settled <= back_settled:
        waiting = _offer_from(job, ask, ahead, back, settled, whole(0))
        back_waiting = _offer_from(job, ask, back, ahead, back_settled, whole(0)) if waiting > 0 else whole(0)
    else:
        back_waiting = _offer_from(job, ask, back, ahead, back_settled, whole(0))
        waiting = _offer_from(job, ask, ahead, back, settled, whole(0)) if back_waiting > 0 else whole(0)
    while waiting > 0 and back_waiting > 0 and ahead.key[0] + back.key[0] < ahead.best[0]:
        if waiting <= back_waiting:
            waiting = _go_on(job, net, ask, ahead, back, waiting)
        else:
            back_waiting = _go_on(job, net, ask, back, ahead, back_waiting)
    if ahead.best[0] < INFINITE:
        _join(job.table, scratch, ask)
    return ahead.best[0]
