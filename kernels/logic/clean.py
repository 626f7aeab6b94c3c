"""Publishing the redundant secondary cells of one pattern, the heaviest first."""

from __future__ import annotations

import numpy as np

from ..layout import Bits
from .arcs import build, close_arc, find, open_arc
from .bits import ONE, ZERO, bit
from .compile import Integer, bare
from .hashing import mixed
from .judge import asked
from .ordering import sort_by_key
from .records import Ground, Needs, Net, Scratch
from .spread import begin, close_for_all, has_reached, open_arcs, open_for, spread, start_at, wait
from .witnesses import FLOW, LONG_FLOW, NOT_ASKED, ONE_PATH, leans, show, show_without

_BLUR = 205
"""1024ths by which a blurred weight is lighter at most."""


@bare
def _flood_asked(needs: Needs, scratch: Scratch) -> None:
    """Which of the requirements that one path covered does one path cover still?"""
    begin(scratch.flood)
    waiting = 0
    for t in range(needs.cell.shape[0]):
        if scratch.witnesses.state[t] == ONE_PATH:
            start_at(scratch.flood, needs.source[t], t)
            waiting = wait(scratch.flood, needs.source[t], waiting)
    spread(scratch.net, scratch.flood, waiting)


@bare
def _first_states(needs: Needs, scratch: Scratch) -> None:
    """How each requirement is covered; those that are not must not be asked any more."""
    state = scratch.witnesses.state
    for t in range(needs.cell.shape[0]):
        state[t] = ONE_PATH if needs.need[t] > 0 and asked(needs, scratch.net, t) else NOT_ASKED
        scratch.witnesses.length[t] = 0
    for e in range(scratch.net.size[0]):
        for w in range(scratch.witnesses.leaning.shape[1]):
            scratch.witnesses.leaning[e, w] = ZERO
    open_arcs(needs, scratch.net, scratch.flood)
    _flood_asked(needs, scratch)
    for t in range(needs.cell.shape[0]):
        if state[t] == ONE_PATH and not has_reached(scratch.flood, needs.sink[t], t) and not show(needs, scratch, t):
            state[t] = NOT_ASKED


@bare
def _end_needs(needs: Needs, net: Net, scratch: Scratch, v: int, e: int) -> bool:
    """Whether the arcs at node v are too narrow without arc e, which is closed, for a requirement that ends there."""
    for x in range(needs.end_start[v], needs.end_start[v + 1]):
        t = needs.ending[x]
        if scratch.witnesses.state[t] == NOT_ASKED:
            continue
        end = 1 if needs.sink[t] == v else 0
        own = find(net, needs.cell[t])
        left = needs.need[t]
        h = net.first[v]
        while h >= 0 and left > 0:
            if h >> 1 != own:
                left -= min(left, net.capacity[h ^ end])
            h = net.following[h]
        if left > 0:
            return True
    return False


@bare
def _stay_covered(ground: Ground, needs: Needs, scratch: Scratch, e: int) -> bool:
    """Whether every requirement is covered without arc e, which is closed."""
    net, state = scratch.net, scratch.witnesses.state
    for side in range(2):
        if _end_needs(needs, net, scratch, net.target[2 * e + side], e):
            return False
    capacity = (ground.capacity[net.cell[e], 0], ground.capacity[net.cell[e], 1])
    for t in range(needs.cell.shape[0] - 1, -1, -1):
        depends = state[t] == LONG_FLOW or (state[t] == FLOW and leans(scratch.witnesses, e, t))
        if depends and not show_without(needs, scratch, t, e, capacity):
            return False
    _flood_asked(needs, scratch)
    for t in range(needs.cell.shape[0] - 1, -1, -1):
        lost = state[t] == ONE_PATH and not has_reached(scratch.flood, needs.sink[t], t)
        if lost and not show_without(needs, scratch, t, e, capacity):
            return False
    return True


@bare
def _order_cells(ground: Ground, needs: Needs, scratch: Scratch, seed: np.uint64) -> Integer:
    """The arcs that may go, heaviest first, into `item`; returns how many."""
    net, lists, kept = scratch.net, scratch.lists, scratch.witnesses.kept
    for e in range(net.size[0]):
        c = net.cell[e]
        i = c // ground.columns
        kept[e] = 1 if bit(ground.forced, i, c - i * ground.columns) else 0
    for t in range(needs.cell.shape[0]):
        if scratch.witnesses.state[t] != NOT_ASKED:
            kept[find(net, needs.cell[t])] = 1
    count = 0
    for e in range(net.size[0]):
        if kept[e] == 0:
            c = net.cell[e]
            weight = ground.weights[c]
            if seed != ZERO:
                weight = weight * 1024 - weight * ((_BLUR * np.int64(mixed(seed, c) >> np.uint64(54))) >> 10)
            lists.item[count] = e
            lists.key[count] = -weight
            count += 1
    sort_by_key(lists.item, lists.key, count)
    return count


@bare
def clean_pattern(ground: Ground, needs: Needs, scratch: Scratch, rows: Bits, seed: np.uint64) -> None:
    """Publish in `rows` what no requirement that the pattern covers needs."""
    net = scratch.net
    build(ground, net, rows)
    _first_states(needs, scratch)
    count = _order_cells(ground, needs, scratch, seed)
    for x in range(count):
        e = scratch.lists.item[x]
        if scratch.witnesses.kept[e] != 0:
            continue
        close_arc(net, e)
        close_for_all(scratch.flood, e)
        if _stay_covered(ground, needs, scratch, e):
            i = net.cell[e] // ground.columns
            j = net.cell[e] - i * ground.columns
            rows[i, j >> 6] &= ~(ONE << np.uint64(j & 63))
        else:
            open_arc(ground, net, e)
            open_for(needs, net, scratch.flood, e)
