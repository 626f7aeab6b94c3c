"""Decoding one child: every requirement is led along cheapest paths, at the prices of the child, in its order."""

from __future__ import annotations

import numpy as np

from ..layout import INFINITE
from .arcs import add_arc, build, find
from .augment import empty_flow, finer, lacking, push, send
from .bits import ONE, ZERO, lowest, position
from .cheapest import cheapest_path
from .compile import Truth, bare, whole
from .decoding_price import BY_NEED, BY_WEIGHT, SINGLE, decoding_price
from .hashing import mixed
from .judge import spread_all
from .ordering import sort_by_key
from .records import Ask, Child, Inherited, Job, Needs, Prices, Scratch, TableRecord
from .spread import has_reached, open_for, spread, wait

_ORDER_SALT = np.uint64(0x5851F42D4C957F2D)
_TOP = np.uint64(2)


@bare
def inherit(table: TableRecord, prices: Prices, child: Child, inherited: Inherited) -> None:
    """Chain the published core cells of the parents, which cost this child less than the snapshot says."""
    for v in range(table.rows + table.columns):
        inherited.first[v] = -1
    size = 0
    for i in range(table.rows):
        for w in range(child.rows.shape[1]):
            word = (child.first[i, w] | child.second[i, w]) & prices.core[i, w] & ~child.rows[i, w]
            while word != ZERO:
                single = lowest(word)
                word ^= single
                j = w * 64 + position(single)
                inherited.price[size] = decoding_price(prices, child, i * table.columns + j, i, j)
                inherited.target[2 * size], inherited.target[2 * size + 1] = table.rows + j, i
                inherited.following[2 * size] = inherited.first[i]
                inherited.following[2 * size + 1] = inherited.first[table.rows + j]
                inherited.first[i], inherited.first[table.rows + j] = 2 * size, 2 * size + 1
                size += 1


@bare
def order_requirements(table: TableRecord, needs: Needs, child: Child, scratch: Scratch) -> None:
    """The requirements in this child's order into `item`."""
    count = needs.cell.shape[0]
    for t in range(count):
        scratch.lists.item[t] = t
        if child.style & BY_NEED:
            scratch.lists.key[t] = -needs.need[t]
        elif child.style & BY_WEIGHT:
            scratch.lists.key[t] = -table.weights[needs.cell[t]]
        else:
            scratch.lists.key[t] = np.int64(mixed(child.seed ^ _ORDER_SALT, t) >> _TOP)
    sort_by_key(scratch.lists.item, scratch.lists.key, count)


@bare
def suppress_path(table: TableRecord, needs: Needs, child: Child, scratch: Scratch, ask: Ask) -> None:
    """Suppress the published cells of the path that `parent` holds; requirements spread over them."""
    net, search = scratch.net, scratch.search
    waiting = whole(0)
    v = ask.sink
    while v != ask.source:
        h = search.parent[v]
        if h < 0:
            i = (-1 - h) // table.columns
            j = (-1 - h) - i * table.columns
            child.rows[i, j >> 6] |= ONE << np.uint64(j & 63)
            e = add_arc(table, net, i, j)
            open_for(needs, net, scratch.flood, e)
            waiting = wait(scratch.flood, whole(i), waiting)
            waiting = wait(scratch.flood, whole(table.rows + j), waiting)
            h = 2 * e if v >= table.rows else 2 * e + 1
            search.parent[v] = h
        v = net.target[h ^ 1]
    spread(net, scratch.flood, waiting)


@bare
def _find_path(job: Job, scratch: Scratch, ask: Ask) -> Truth:
    """A cheapest path: a wide one first if the child's style says so, over all candidates if the core has none."""
    if job.child.style & SINGLE:
        wide = Ask(ask.source, ask.sink, ask.need, ask.need, False)
        if cheapest_path(job, scratch, wide) < INFINITE:
            return True
    if cheapest_path(job, scratch, ask) < INFINITE:
        return True
    return cheapest_path(job, scratch, Ask(ask.source, ask.sink, ask.need, ask.width, True)) < INFINITE


@bare
def _lead(job: Job, needs: Needs, scratch: Scratch, t: int) -> bool:
    """Cover requirement t; False where that is not possible at all."""
    net, search = scratch.net, scratch.search
    source, sink, left = whole(needs.source[t]), whole(needs.sink[t]), needs.need[t]
    own = find(net, needs.cell[t])
    empty_flow(net, own)
    if lacking(net, search, source, sink, left) == 0:
        left = send(net, search, source, sink, left, finer(left))
    if left > 0 and job.child.style & SINGLE:
        empty_flow(net, own)
        left = needs.need[t]
    while left > 0:
        ask = Ask(source, sink, left, whole(1), False)
        if not _find_path(job, scratch, ask):
            return False
        suppress_path(job.table, needs, job.child, scratch, ask)
        left -= push(net, search, source, sink, left)
        # searches for free paths are much cheaper than those for cheapest ones
        left = send(net, search, source, sink, left, finer(left))
    return True


@bare
def decode_child(table: TableRecord, needs: Needs, prices: Prices, child: Child, scratch: Scratch) -> bool:
    """Suppress in `child.rows` what covers every requirement; False where one cannot be covered."""
    net, flood = scratch.net, scratch.flood
    build(table, net, child.rows)
    order_requirements(table, needs, child, scratch)
    inherit(table, prices, child, scratch.inherited)
    if not spread_all(needs, net, flood):
        return False
    job = Job(table, prices, child, scratch.inherited)
    for x in range(needs.cell.shape[0]):
        t = whole(scratch.lists.item[x])
        if needs.need[t] <= 0 or has_reached(flood, whole(needs.sink[t]), t):
            continue
        if not _lead(job, needs, scratch, t):
            return False
    return True
