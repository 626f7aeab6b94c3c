"""Publishing the redundant secondary cells of one pattern, the heaviest first."""

from __future__ import annotations

import numpy as np

from ..layout import Bits
from .arcs import build, close_arc, find, open_arc
from .bits import ONE, ZERO, bit
from .compile import Integer, bare, whole
from .hashing import mixed
from .judge import asked
from .ordering import sort_by_key
from .records import Needs, Scratch, TableRecord
from .spread import begin, close_for_all, has_reached, open_arcs, spread, start_at, wait
from .witnesses import ASKED, NOT_ASKED, begin_witnesses, forget, keep, show, show_without

_BLUR = 205
"""1024ths by which a blurred weight is lighter at most."""


@bare
def _find_covered(needs: Needs, scratch: Scratch) -> None:
    """Which requirements are covered: the others must not be asked.  Flows over several paths are kept."""
    state, flood = scratch.witnesses.state, scratch.flood
    begin_witnesses(scratch.net, scratch.witnesses)
    begin(flood)
    waiting = whole(0)
    for t in range(needs.cell.shape[0]):
        state[t] = ASKED if needs.need[t] > 0 and asked(needs, scratch.net, t) else NOT_ASKED
        if state[t] == ASKED:
            start_at(flood, needs.source[t], t)
            waiting = wait(flood, whole(needs.source[t]), waiting)
    open_arcs(needs, scratch.net, flood)
    spread(scratch.net, flood, waiting)
    for t in range(needs.cell.shape[0]):
        if state[t] == ASKED and not has_reached(flood, whole(needs.sink[t]), t) and not show(needs, scratch, t):
            state[t] = NOT_ASKED


@bare
def _keep_ends(needs: Needs, scratch: Scratch, v: int, waiting: int) -> Integer:
    """Keep the arcs at node v without which those left would be too narrow for a requirement that ends there."""
    net = scratch.net
    for x in range(needs.end_start[v], needs.end_start[v + 1]):
        t = needs.ending[x]
        if scratch.witnesses.state[t] == NOT_ASKED:
            continue
        end = 1 if needs.sink[t] == v else 0
        own, need = find(net, needs.cell[t]), needs.need[t]
        total = -need
        h = net.first[v]
        while h >= 0 and total < need:
            if h >> 1 != own:
                total += min(need, net.capacity[h ^ end])
            h = net.following[h]
        h = net.first[v]
        while h >= 0 and total < need:
            if h >> 1 != own and total < min(need, net.capacity[h ^ end]):
                waiting = keep(needs, scratch, whole(h >> 1), waiting)
            h = net.following[h]
    return waiting


@bare
def _first_kept(table: TableRecord, needs: Needs, scratch: Scratch) -> None:
    """Keep what need not be tried: forced cells, cells of requirements, and what the ends of requirements need."""
    net, flood, witnesses = scratch.net, scratch.flood, scratch.witnesses
    begin(flood)
    waiting = whole(0)
    for t in range(needs.cell.shape[0]):
        if witnesses.state[t] == ASKED:
            start_at(flood, needs.source[t], t)
            waiting = wait(flood, whole(needs.source[t]), waiting)
    for e in range(net.size[0]):
        c = net.cell[e]
        i = c // table.columns
        witnesses.kept[e] = 1 if bit(table.forced, i, c - i * table.columns) else 0
    for t in range(needs.cell.shape[0]):
        if witnesses.state[t] == ASKED:
            witnesses.kept[find(net, needs.cell[t])] = 1
    for e in range(net.size[0]):
        if witnesses.kept[e] == 0:
            close_for_all(flood, e)
    for v in range(table.rows + table.columns):
        waiting = _keep_ends(needs, scratch, v, waiting)
    spread(net, flood, waiting)


@bare
def _prepare(table: TableRecord, needs: Needs, scratch: Scratch) -> None:
    """Leave only requirements to be asked that are covered, but not by a path of arcs that stay; keep their flows."""
    _find_covered(needs, scratch)
    _first_kept(table, needs, scratch)
    for t in range(needs.cell.shape[0]):
        unknown = scratch.witnesses.state[t] == ASKED and scratch.witnesses.length[t] == 0
        if unknown and not has_reached(scratch.flood, whole(needs.sink[t]), t):
            show(needs, scratch, t)


@bare
def _stay_covered(table: TableRecord, needs: Needs, scratch: Scratch, e: int) -> bool:
    """Whether every requirement is covered without arc e, which is closed; those of large need are asked first."""
    net, witnesses = scratch.net, scratch.witnesses
    capacity = (table.capacity[net.cell[e], 0], table.capacity[net.cell[e], 1])
    for w in range(witnesses.leaning.shape[1] - 1, -1, -1):
        word = witnesses.leaning[e, w]
        for b in range(63, -1, -1):
            if word >> np.uint64(b) == ZERO or (word >> np.uint64(b)) & ONE == ZERO:
                continue
            t = 64 * w + b
            if has_reached(scratch.flood, whole(needs.sink[t]), t):
                forget(net, witnesses, t)
            elif not show_without(needs, scratch, t, e, capacity):
                return False
    return True


@bare
def _order_cells(table: TableRecord, scratch: Scratch, seed: np.uint64) -> Integer:
    """The arcs that are not kept, heaviest first, into `item`; returns how many."""
    net, lists = scratch.net, scratch.lists
    count = whole(0)
    for e in range(net.size[0]):
        if scratch.witnesses.kept[e] == 0:
            c = net.cell[e]
            weight = table.weights[c]
            if seed != ZERO:
                weight = weight * 1024 - weight * ((_BLUR * np.int64(mixed(seed, whole(c)) >> np.uint64(54))) >> 10)
            lists.item[count] = e
            lists.key[count] = -weight
            count += 1
    sort_by_key(lists.item, lists.key, count)
    return count


@bare
def clean_pattern(table: TableRecord, needs: Needs, scratch: Scratch, rows: Bits, seed: np.uint64) -> None:
    """Publish in `rows` what no requirement that the pattern covers needs."""
    net = scratch.net
    build(table, net, rows)
    _prepare(table, needs, scratch)
    count = _order_cells(table, scratch, seed)
    for x in range(count):
        e = whole(scratch.lists.item[x])
        if scratch.witnesses.kept[e] != 0:
            continue
        close_arc(net, e)
        if not _stay_covered(table, needs, scratch, e):
            open_arc(table, net, e)
            spread(net, scratch.flood, keep(needs, scratch, e, whole(0)))
            continue
        i = net.cell[e] // table.columns
        j = net.cell[e] - i * table.columns
        rows[i, j >> 6] &= ~(ONE << np.uint64(j & 63))
        waiting = _keep_ends(needs, scratch, whole(i), whole(0))
        spread(net, scratch.flood, _keep_ends(needs, scratch, table.rows + j, waiting))
