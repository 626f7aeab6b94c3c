"""Flows in one pattern's network along augmenting paths, found breadth first from both ends at once."""

from __future__ import annotations

from .compile import Integer, bare, whole
from .records import Net, Search


@bare
def empty_flow(net: Net, own: int) -> None:
    """Begin a flow that must not use arc `own`."""
    for h in range(2 * net.size[0]):
        net.room[h] = net.capacity[h]
    net.room[2 * own] = 0
    net.room[2 * own + 1] = 0


@bare
def _link(net: Net, search: Search, middle: int, sink: int) -> None:
    """Turn the way from the middle to the sink, which was found backwards, into `parent`."""
    v = middle
    while v != sink:
        h = search.onward[v]
        v = net.target[h]
        search.parent[v] = h


@bare
def _expand(net: Net, search: Search, v: int, width: int, tail: int) -> tuple[int, int]:
    """Go one step on from v, away from the source: the new end of `queue`, and where the sink's side was met or -1."""
    stamp = search.stamp[0]
    h = net.first[v]
    while h >= 0:
        u = net.target[h]
        mark = search.mark[u]
        if mark != stamp:
            if net.room[h] >= width:
                search.parent[u] = h
                if mark == -stamp:
                    return tail, u
                search.mark[u] = stamp
                search.queue[tail] = u
                tail += 1
            else:
                search.refused[0] = max(search.refused[0], net.room[h])
        h = net.following[h]
    return tail, whole(-1)


@bare
def _expand_back(net: Net, search: Search, v: int, width: int, tail: int) -> tuple[int, int]:
    """As `_expand`, from the sink against the direction of flow, into `back_queue`."""
    stamp = search.stamp[0]
    h = net.first[v]
    while h >= 0:
        u = net.target[h]
        mark = search.mark[u]
        if mark != -stamp:
            if net.room[h ^ 1] >= width:
                search.onward[u] = h ^ 1
                if mark == stamp:
                    return tail, u
                search.mark[u] = -stamp
                search.back_queue[tail] = u
                tail += 1
            else:
                search.refused[1] = max(search.refused[1], net.room[h ^ 1])
        h = net.following[h]
    return tail, whole(-1)


@bare
def wide_path(net: Net, search: Search, source: int, sink: int, width: int) -> bool:
    """Whether a path with room for `width` leads from source to sink; `parent` holds it.

    The search goes on from both ends, where fewer nodes wait.  If one end cannot go on, its nodes are one side of a
    cut: those of the source (`mark` is the stamp) in `queue[:side[0]]`, or those of the sink (`mark` is minus the
    stamp) in `back_queue[:side[1]]`; the other size is 0.  No path is wider than what that end `refused` as too narrow.
    """
    search.stamp[0] += 1
    search.mark[source] = search.stamp[0]
    search.mark[sink] = -search.stamp[0]
    search.queue[0] = source
    search.back_queue[0] = sink
    search.refused[0], search.refused[1] = 0, 0
    head, tail, back_head, back_tail = whole(0), whole(1), whole(0), whole(1)
    while head < tail and back_head < back_tail:
        if tail - head <= back_tail - back_head:
            tail, met = _expand(net, search, whole(search.queue[head]), width, tail)
            head += 1
        else:
            back_tail, met = _expand_back(net, search, whole(search.back_queue[back_head]), width, back_tail)
            back_head += 1
        if met >= 0:
            _link(net, search, met, sink)
            return True
    search.side[0] = tail if head == tail else 0
    search.side[1] = 0 if head == tail else back_tail
    return False


@bare
def push(net: Net, search: Search, source: int, sink: int, most: float) -> Integer:
    """Send what fits, at most `most`, along the path that `parent` holds; returns how much."""
    amount = most
    v = sink
    while v != source:
        h = search.parent[v]
        amount = min(amount, net.room[h])
        v = net.target[h ^ 1]
    v = sink
    while v != source:
        h = search.parent[v]
        net.room[h] -= amount
        net.room[h ^ 1] += amount
        v = net.target[h ^ 1]
    return amount


@bare
def lacking(net: Net, search: Search, source: int, sink: int, need: int) -> Integer:
    """What the arcs at one of the two ends lack of the need, 0 if nothing: then a search may be worth while.

    Where something lacks, that end is left as one side of a cut, as `wide_path` leaves it.
    """
    search.stamp[0] += 1
    for end in range(2):
        v = sink if end == 1 else source
        left = need
        h = net.first[v]
        while h >= 0 and left > 0:
            left -= min(left, net.room[h ^ end])
            h = net.following[h]
        if left > 0:
            search.mark[v] = -search.stamp[0] if end == 1 else search.stamp[0]
            search.queue[0] = v
            search.back_queue[0] = v
            search.side[0] = 1 - end
            search.side[1] = end
            return left
    return 0


@bare
def finer(width: int) -> int:
    """The next narrower width: half of it, which takes fewer searches than larger steps."""
    return max(width >> 1, 1)


@bare
def send(net: Net, search: Search, source: int, sink: int, left: int, width: int) -> Integer:
    """Send up to `left` units, along paths of at least `width` first; returns what could not be sent.

    If some could not, no path at all is left, and the search says why: the answer is exact.
    """
    while left > 0:
        width = min(width, left)
        if wide_path(net, search, source, sink, width):
            left -= push(net, search, source, sink, left)
            continue
        widest = search.refused[0] if search.side[0] > 0 else search.refused[1]
        if widest == 0:
            break
        width = min(widest, finer(width))
    return left
