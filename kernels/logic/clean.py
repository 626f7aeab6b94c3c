"""Publishing the redundant secondary cells of one pattern, the heaviest first."""

from __future__ import annotations

import numpy as np

from ..layout import Bits
from .arcs import build, close_arc, find, open_arc
from .augment import keep_witness
from .bits import ONE, ZERO, bit
from .compile import Integer, Truth, device, inner
from .hashing import mixed
from .judge import asked, covered
from .ordering import sort_by_key
from .records import Ground, Needs, Scratch
from .spread import begin, close_for_all, has_reached, open_arcs, open_for, spread, start_at, wait

NOT_ASKED, ONE_PATH, SEVERAL_PATHS = 0, 1, 2

_BLUR = 205
"""1024ths by which a blurred weight is lighter at most."""


@device
def _depends(witness: Bits, e: int) -> Truth:
    return (witness[e >> 6] >> np.uint64(e & 63)) & ONE != ZERO


@device
def _show(needs: Needs, scratch: Scratch, t: int) -> bool:
    """Whether several paths cover requirement t; if so, their arcs are kept."""
    if not covered(needs, scratch.net, scratch.search, t):
        return False
    scratch.lists.state[t] = SEVERAL_PATHS
    keep_witness(scratch.net, find(scratch.net, needs.cell[t]), scratch.lists.witness[t])
    return True


@device
def _flood_asked(needs: Needs, scratch: Scratch) -> None:
    """Which of the requirements that one path covered does one path cover still?"""
    begin(scratch.flood)
    waiting = 0
    for t in range(needs.cell.shape[0]):
        if scratch.lists.state[t] == ONE_PATH:
            start_at(scratch.flood, needs.source[t], t)
            waiting = wait(scratch.flood, needs.source[t], waiting)
    spread(scratch.net, scratch.flood, waiting)


@inner
def _first_states(needs: Needs, scratch: Scratch) -> None:
    """How each requirement is covered; those that are not must not be asked any more."""
    state = scratch.lists.state
    for t in range(needs.cell.shape[0]):
        state[t] = ONE_PATH if needs.need[t] > 0 and asked(needs, scratch.net, t) else NOT_ASKED
    open_arcs(needs, scratch.net, scratch.flood)
    _flood_asked(needs, scratch)
    for t in range(needs.cell.shape[0]):
        if state[t] == ONE_PATH and not has_reached(scratch.flood, needs.sink[t], t) and not _show(needs, scratch, t):
            state[t] = NOT_ASKED


@inner
def _stay_covered(needs: Needs, scratch: Scratch, e: int) -> bool:
    """Whether every requirement is covered without arc e, which is closed."""
    lists = scratch.lists
    for t in range(needs.cell.shape[0] - 1, -1, -1):
        if lists.state[t] == SEVERAL_PATHS and _depends(lists.witness[t], e) and not _show(needs, scratch, t):
            return False
    _flood_asked(needs, scratch)
    for t in range(needs.cell.shape[0] - 1, -1, -1):
        one = lists.state[t] == ONE_PATH
        if one and not has_reached(scratch.flood, needs.sink[t], t) and not _show(needs, scratch, t):
            return False
    return True


@device
def _order_cells(ground: Ground, needs: Needs, scratch: Scratch, seed: np.uint64) -> Integer:
    """The arcs that may go, heaviest first, into `item`; returns how many."""
    net, lists = scratch.net, scratch.lists
    for e in range(net.size[0]):
        c = net.cell[e]
        i = c // ground.columns
        lists.kept[e] = 1 if bit(ground.forced, i, c - i * ground.columns) else 0
    for t in range(needs.cell.shape[0]):
        if lists.state[t] != NOT_ASKED:
            lists.kept[find(net, needs.cell[t])] = 1
    count = 0
    for e in range(net.size[0]):
        if lists.kept[e] == 0:
            c = net.cell[e]
            weight = ground.weights[c]
            if seed != ZERO:
                weight = weight * 1024 - weight * ((_BLUR * np.int64(mixed(seed, c) >> np.uint64(54))) >> 10)
            lists.item[count] = e
            lists.key[count] = -weight
            count += 1
    sort_by_key(lists.item, lists.key, count)
    return count


@inner
def clean_pattern(ground: Ground, needs: Needs, scratch: Scratch, rows: Bits, seed: np.uint64) -> None:
    """Publish in `rows` what no requirement that the pattern covers needs."""
    net = scratch.net
    build(ground, net, rows)
    _first_states(needs, scratch)
    count = _order_cells(ground, needs, scratch, seed)
    for x in range(count):
        e = scratch.lists.item[x]
        close_arc(net, e)
        close_for_all(scratch.flood, e)
        if _stay_covered(needs, scratch, e):
            i = net.cell[e] // ground.columns
            j = net.cell[e] - i * ground.columns
            rows[i, j >> 6] &= ~(ONE << np.uint64(j & 63))
        else:
            open_arc(ground, net, e)
            open_for(needs, net, scratch.flood, e)
