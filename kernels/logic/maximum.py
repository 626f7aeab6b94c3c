"""Maximum flows in one pattern's network by Dinic's method: each path from the one end is one with the fewest arcs.

`augment` searches from both ends and is quicker where any path will do, as for children that are decoded by the
thousand. Here flows are kept as witnesses and shown to people: they should use few cells, and what an end reaches has
to be complete, so that it is one side of a minimum cut. Arcs that carry something are noted, so that a network of many
arcs is emptied in no time.
"""

from __future__ import annotations

from .augment import lacking, push
from .compile import Integer, bare, whole
from .records import Descent, Net, Search, Touched


@bare
def reach(net: Net, search: Search, start: int, goal: int, width: float, side: int) -> bool:
    """Whether arcs with room for `width` lead from `start` to `goal`; breadth first, `parent` holds the path.

    With `side` 1 the search goes against the flow. Nodes that were reached have the stamp as `mark`, and stand in
    `queue[:side[0]]` in their order.
    """
    search.stamp[0] += 1
    stamp = search.stamp[0]
    search.mark[start] = stamp
    search.queue[0] = start
    head, tail = 0, 1
    while head < tail:
        h = net.first[search.queue[head]]
        head += 1
        while h >= 0:
            u = net.target[h]
            if search.mark[u] != stamp and net.room[h ^ side] >= width:
                search.mark[u] = stamp
                search.parent[u] = h
                search.queue[tail] = u
                tail += 1
                if u == goal:
                    search.side[0] = tail
                    return True
            h = net.following[h]
    search.side[0] = tail
    return False


@bare
def _measure(net: Net, search: Search, descent: Descent, source: int, sink: int) -> bool:
    """Distances to the sink in what has room, up to the source's; False if it is out of reach.

    Counted from the sink, so that a descent meets no dead ends but full arcs.
    """
    if not reach(net, search, sink, source, whole(1), whole(1)):
        return False
    descent.depth[sink] = 0
    for x in range(1, search.side[0]):
        u = search.queue[x]
        descent.depth[u] = descent.depth[net.target[search.parent[u] ^ 1]] + 1
        descent.trying[u] = net.first[u]
    return True


@bare
def _descend(net: Net, search: Search, descent: Descent, source: int, sink: int) -> bool:
    """Follow falling distances from source to sink, backing out of dead ends; `parent` holds the path."""
    stamp = search.stamp[0]
    v = source
    while v != sink:
        h = descent.trying[v]
        while h >= 0:
            u = net.target[h]
            if search.mark[u] == stamp and descent.depth[u] == descent.depth[v] - 1 and net.room[h] > 0:
                break
            h = net.following[h]
        descent.trying[v] = h
        if h >= 0:
            v = net.target[h]
            search.parent[v] = h
        elif v == source:
            return False
        else:
            v = net.target[search.parent[v] ^ 1]
            descent.trying[v] = net.following[descent.trying[v]]
    return True


@bare
def note(touched: Touched, e: int) -> None:
    """Note that the room of arc e may differ from its capacity."""
    if touched.noted[e] == 0:
        touched.noted[e] = 1
        touched.arc[touched.size[0]] = e
        touched.size[0] += 1


@bare
def shut(net: Net, touched: Touched, e: int) -> None:
    """Let the flow under construction pass arc e neither way."""
    net.room[2 * e] = 0
    net.room[2 * e + 1] = 0
    note(touched, e)


@bare
def clear(net: Net, touched: Touched) -> None:
    """Give up the flow under construction; arcs that were shut are open again."""
    for x in range(touched.size[0]):
        e = touched.arc[x]
        touched.noted[e] = 0
        net.room[2 * e] = net.capacity[2 * e]
        net.room[2 * e + 1] = net.capacity[2 * e + 1]
    touched.size[0] = 0


@bare
def push_noted(net: Net, search: Search, touched: Touched, source: int, sink: int, most: int) -> Integer:
    """Send what fits, at most `most`, along the path that `parent` holds, and note its arcs; returns how much."""
    v = sink
    while v != source:
        note(touched, search.parent[v] >> 1)
        v = net.target[search.parent[v] ^ 1]
    return push(net, search, source, sink, most)


@bare
def send_in_parts(
    net: Net, search: Search, descent: Descent, touched: Touched, source: int, sink: int, limit: int
) -> Integer:
    """The largest flow from source to sink, at most `limit`, where no single path carries that; it stays in `room`.

    It ends without a last search where the arcs at one of the two ends are full.
    """
    most = limit - lacking(net, search, source, sink, limit)
    left = most
    while left > 0 and _measure(net, search, descent, source, sink):
        while left > 0 and _descend(net, search, descent, source, sink):
            left -= push_noted(net, search, touched, source, sink, left)
    return most - left
