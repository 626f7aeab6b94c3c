"""The cheapest augmenting path of one requirement, over suppressed cells (free) and published ones (priced).

Dijkstra's method.  Of equally near open nodes the one with the smaller number is settled first; whatever free arcs
reach from it is settled with it, breadth first.  So the path is the same on every back end.
"""

from __future__ import annotations

from ..layout import INFINITE, Int32, Int64
from .bits import bit
from .compile import Integer, Truth, bare
from .decoding_price import BY_CAPACITY, decoding_price, narrowed
from .records import Ask, Child, Ground, Net, Prices, Scratch, Search


@bare
def _rise(heap: Int32, key: Int64, position: Int32, at: int, v: int, reached: int) -> None:
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
def _drop_first(heap: Int32, key: Int64, position: Int32, count: int) -> None:
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
def _improves(search: Search, u: int, reached: int) -> Truth:
    """Is a way of length `reached` to node u shorter than the ways known?"""
    return search.mark[u] != search.stamp[0] or reached < search.distance[u]


@bare
def _offer(search: Search, u: int, reached: int, parent: int, count: int) -> Integer:
    """Note a shorter way to u that ends with `parent`; returns the number of open nodes."""
    at = search.position[u]
    if search.mark[u] != search.stamp[0]:
        search.mark[u] = search.stamp[0]
        at = count
        count += 1
    search.distance[u] = reached
    search.parent[u] = parent
    _rise(search.heap, search.key, search.position, at, u, reached)
    return count


@bare
def _settle_free(net: Net, search: Search, v: int, width: int) -> Integer:
    """Settle all that free arcs reach from v at the same distance, into `queue`; returns how many nodes."""
    here = search.distance[v]
    search.queue[0] = v
    head, tail = 0, 1
    while head < tail:
        h = net.first[search.queue[head]]
        head += 1
        while h >= 0:
            u = net.target[h]
            if net.room[h] >= width and _improves(search, u, here):
                search.mark[u] = search.stamp[0]
                search.distance[u] = here
                search.parent[u] = h
                search.queue[tail] = u
                tail += 1
            h = net.following[h]
    return tail


@bare
def _offer_core(
    ground: Ground, prices: Prices, child: Child, scratch: Scratch, ask: Ask, v: int, count: int
) -> Integer:
    """Try the published core cells of node v, cheapest first; returns the number of open nodes."""
    search, columns = scratch.search, scratch.columns
    here = search.distance[v]
    for q in range(prices.start[v], prices.start[v + 1]):
        charge = columns.price[q]
        if here + charge >= search.distance[ask.sink]:
            break
        capacity = columns.capacity[q]
        if child.style & BY_CAPACITY:
            charge = narrowed(charge, ask.need, capacity)
        u, c = columns.target[q], columns.cell[q]
        if (
            capacity < ask.width
            or here + charge >= search.distance[ask.sink]
            or not _improves(search, u, here + charge)
        ):
            continue
        i = u if u < ground.rows else v
        if not bit(child.rows, i, c - i * ground.columns):
            count = _offer(search, u, here + charge, -1 - c, count)
    return count


@bare
def _offer_all(ground: Ground, prices: Prices, child: Child, scratch: Scratch, ask: Ask, v: int, count: int) -> Integer:
    """Try all published candidates of node v; returns the number of open nodes."""
    search = scratch.search
    here = search.distance[v]
    from_row = v < ground.rows
    for other in range(ground.columns if from_row else ground.rows):
        i, j = (v, other) if from_row else (other, v - ground.rows)
        c = i * ground.columns + j
        capacity = ground.capacity[c, 0 if from_row else 1]
        if ground.candidate[c] == 0 or capacity < ask.width or bit(child.rows, i, j):
            continue
        charge = decoding_price(prices, child, c, i, j)
        if child.style & BY_CAPACITY:
            charge = narrowed(charge, ask.need, capacity)
        u = ground.rows + j if from_row else i
        if here + charge < search.distance[ask.sink] and _improves(search, u, here + charge):
            count = _offer(search, u, here + charge, -1 - c, count)
    return count


@bare
def cheapest_path(ground: Ground, prices: Prices, child: Child, scratch: Scratch, ask: Ask) -> Integer:
    """The cost of a cheapest path that has room for `ask.width`, INFINITE if there is none; `parent` holds it."""
    search = scratch.search
    search.stamp[0] += 1
    search.mark[ask.sink] = search.stamp[0]
    search.distance[ask.sink] = INFINITE
    search.position[ask.sink] = 0
    count = 1
    search.heap[0], search.key[0] = ask.sink, INFINITE
    count = _offer(search, ask.source, 0, -1, count)
    while count > 0:
        v, reached = search.heap[0], search.key[0]
        if reached >= search.distance[ask.sink]:
            break
        count -= 1
        _drop_first(search.heap, search.key, search.position, count)
        if reached > search.distance[v]:
            continue  # settled since, along free arcs
        tail = _settle_free(scratch.net, search, v, ask.width)
        for q in range(tail):
            if ask.everywhere:
                count = _offer_all(ground, prices, child, scratch, ask, search.queue[q], count)
            else:
                count = _offer_core(ground, prices, child, scratch, ask, search.queue[q], count)
    return search.distance[ask.sink]
