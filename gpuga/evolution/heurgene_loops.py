"""The inner loops of HeurGene, compiled: circuits as lists of places, their exchange, redundant places."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled, inner
from gpuga.problem.two_way import Requirements
from gpuga.safety.flow import meets
from gpuga.safety.network import SECONDARY, Flow, Links, Network, add, clear, drop
from gpuga.table.table import Ints

LONGEST = 32
TOO_LONG = -2
"""Stands in the first place of a list that would be longer than 32."""

Lists = NDArray[np.int32]


class Scratch(NamedTuple):
    """Room: use counts of two individuals, and the network of the individual at hand (`loaded[:size[0]]`)."""

    uses: Lists
    other: Lists
    links: Links
    loaded: Ints
    size: Ints


def new_scratch(links: Links, places: int) -> Scratch:
    """Room for a table; `links` hold the forced cells only."""
    return Scratch(
        np.zeros(places, np.int32),
        np.zeros(places, np.int32),
        links,
        np.zeros(places, np.int64),
        np.zeros(1, np.int64),
    )


@inner
def _gather(
    net: Network,
    links: Links,
    flow: Flow,
    levels: Requirements,
    level_of: Ints,
    level_start: Ints,
    s: int,
    out: Lists,
) -> int:
    """The secondary places of flows for all levels of cell s, sorted, into `out`; how many, TOO_LONG, or -1.

    -1: a level is not met.
    """
    columns = flow.amount.shape[1]
    count = 0
    for z in range(level_start[s], level_start[s + 1]):
        q = level_of[z]
        met = meets(net, links, flow, levels.place[q], levels.forth[q], levels.need[q])
        for y in range(flow.used[0]):
            place = flow.touched[y]
            i, j = place // columns, place % columns
            if not met or count < 0 or flow.amount[i, j] == 0 or links.kind[i, j] != SECONDARY:
                continue
            x = 0
            while x < count and out[x] < place:
                x += 1
            if x < count and out[x] == place:
                continue
            if count == LONGEST:
                count = TOO_LONG
                continue
            for y2 in range(count, x, -1):
                out[y2] = out[y2 - 1]
            out[x] = place
            count += 1
        clear(flow)
        if not met:
            return -1
        if count < 0:
            return TOO_LONG
    return count


@compiled
def circuit_lists(
    net: Network, links: Links, flow: Flow, levels: Requirements, level_of: Ints, level_start: Ints, lists: Lists
) -> int:
    """Fill the lists of a pattern (all -1 before); returns how many cells are not protected."""
    failed = 0
    room = np.empty(LONGEST, np.int32)
    for s in range(len(lists)):
        count = _gather(net, links, flow, levels, level_of, level_start, s, room)
        if count == TOO_LONG:
            lists[s, 0] = TOO_LONG
        elif count < 0:
            failed += 1
        for z in range(count):
            lists[s, z] = room[z]
    return failed


@inner
def _count(lists: Lists, rest: Ints, uses: Lists, step: int) -> None:
    for s in range(len(lists)):
        for z in range(LONGEST):
            if lists[s, z] < 0:
                break
            uses[lists[s, z]] += step
    for place in rest:
        uses[place] += step


@inner
def _cost(row: Lists, weight: Ints) -> int:
    total = 0
    for z in range(LONGEST):
        if row[z] < 0:
            break
        total += weight[row[z]]
    return total


@inner
def _contains(row: Lists, place: int) -> bool:
    for z in range(LONGEST):
        if row[z] < 0:
            return False
        if row[z] == place:
            return True
    return False


@inner
def _estimate(cost: int, leaving: Lists, coming: Lists, uses: Lists, weight: Ints) -> int:
    """g + h: what an individual would cost if a list left it whole and another one came.

    Places of the leaving list that others share stay after all; the estimate hopes that mutation finds
    them redundant.
    """
    estimate = cost - _cost(leaving, weight)
    for z in range(LONGEST):
        if coming[z] < 0:
            break
        if uses[coming[z]] == 0 or _contains(leaving, coming[z]):
            estimate += weight[coming[z]]
    return estimate


@inner
def _total(uses: Lists, weight: Ints) -> int:
    total = 0
    for place in range(len(uses)):
        if uses[place] > 0:
            total += weight[place]
    return total


@compiled
def attempt_crossover(
    one: Lists, one_rest: Ints, two: Lists, two_rest: Ints, weight: Ints, drawn: Ints, scratch: Scratch
) -> int:
    """Swap the list of the first drawn cell whose estimate is below the cheaper parent's cost; in place.

    Returns the cell, -1 if there is none.
    """
    _count(one, one_rest, scratch.uses, 1)
    _count(two, two_rest, scratch.other, 1)
    mine, theirs = _total(scratch.uses, weight), _total(scratch.other, weight)
    goal = min(mine, theirs)
    chosen = -1
    for s in drawn:
        # a cell without a list is protected by circuits that are too long to be known: it does not change sides
        if one[s, 0] < 0 or two[s, 0] < 0 or _cost(one[s], weight) == _cost(two[s], weight):
            continue
        first = _estimate(mine, one[s], two[s], scratch.uses, weight)
        second = _estimate(theirs, two[s], one[s], scratch.other, weight)
        if min(first, second) < goal:
            chosen = s
            break
    _count(one, one_rest, scratch.uses, -1)
    _count(two, two_rest, scratch.other, -1)
    if chosen >= 0:
        for z in range(LONGEST):
            one[chosen, z], two[chosen, z] = two[chosen, z], one[chosen, z]
    return chosen


@inner
def _load(lists: Lists, rest: Ints, scratch: Scratch) -> None:
    """Make the network that of an individual."""
    columns = scratch.links.kind.shape[1]
    for z in range(scratch.size[0]):
        place = scratch.loaded[z]
        if scratch.links.kind[place // columns, place % columns] == SECONDARY:
            drop(scratch.links, place // columns, place % columns)
    scratch.size[0] = 0
    for s in range(len(lists)):
        for z in range(LONGEST):
            if lists[s, z] < 0:
                break
            _hide(lists[s, z], scratch, columns)
    for place in rest:
        _hide(place, scratch, columns)


@inner
def _hide(place: int, scratch: Scratch, columns: int) -> None:
    if scratch.links.kind[place // columns, place % columns] == 0:
        add(scratch.links, place // columns, place % columns, SECONDARY)
        scratch.loaded[scratch.size[0]] = place
        scratch.size[0] += 1


@compiled
def drop_redundant(
    net: Network,
    flow: Flow,
    levels: Requirements,
    level_of: Ints,
    level_start: Ints,
    lists: Lists,
    rest: Ints,
    chosen: int,
    weight: Ints,
    scratch: Scratch,
) -> int:
    """Drop the redundant places of the chosen cell's circuit and of the circuits that meet it; returns how many.

    In place, heavy places first. The circuits that a dropped place was part of become what now protects
    their cells: larger circuits, merged from several.
    """
    columns = scratch.links.kind.shape[1]
    _load(lists, rest, scratch)
    room = np.full((len(lists), LONGEST), -1, np.int32)
    dropped = 0
    for place in _nearby(lists, rest, chosen, weight, scratch.uses):
        drop(scratch.links, place // columns, place % columns)
        if _others(net, flow, levels, level_of, level_start, lists, place, scratch.links, room):
            dropped += 1
            for s in range(len(lists)):
                if _contains(lists[s], place):
                    lists[s] = room[s]
        else:
            add(scratch.links, place // columns, place % columns, SECONDARY)
    return dropped


@inner
def _nearby(lists: Lists, rest: Ints, chosen: int, weight: Ints, mark: Lists) -> Ints:
    """The places of all circuits that meet the chosen cell's, by falling weight; `mark` is zero before and after."""
    found = np.empty(len(lists) * LONGEST, np.int64)
    count = 0
    for place in rest:
        mark[place] = 1
    for s in range(len(lists)):
        meets_it = s == chosen
        for z in range(LONGEST):
            if lists[s, z] < 0 or meets_it:
                break
            meets_it = _contains(lists[chosen], lists[s, z])
        if not meets_it:
            continue
        for z in range(LONGEST):
            place = lists[s, z]
            if place < 0:
                break
            if mark[place] == 0:
                mark[place] = 1
                found[count] = place
                count += 1
    places = found[:count].copy()
    mark[places] = 0
    for place in rest:
        mark[place] = 0
    return places[np.argsort(-weight[places], kind="mergesort")]


@inner
def _others(
    net: Network,
    flow: Flow,
    levels: Requirements,
    level_of: Ints,
    level_start: Ints,
    lists: Lists,
    place: int,
    links: Links,
    room: Lists,
) -> bool:
    """Whether every cell that leans on a place just published has another circuit; these go into `room`."""
    for s in range(len(lists)):
        if not _contains(lists[s], place):
            continue
        size = _gather(net, links, flow, levels, level_of, level_start, s, room[s])
        if size < 0:
            return False
        for y in range(size, LONGEST):
            room[s, y] = -1
    return True


@compiled
def level_supports(net: Network, links: Links, flow: Flow, levels: Requirements) -> tuple[Ints, Ints]:
    """The secondary places of one flow per level; the last start is -1 if a level is not met."""
    columns = flow.amount.shape[1]
    count = len(levels.place)
    start = np.zeros(count + 1, np.int64)
    out = np.zeros(16 * count + 64, np.int64)
    end = 0
    for q in range(count):
        met = meets(net, links, flow, levels.place[q], levels.forth[q], levels.need[q])
        if not met:
            clear(flow)
            start[count] = -1
            return start, out[:0].copy()
        if end + flow.used[0] > len(out):
            out = np.concatenate((out, np.zeros(len(out) + flow.used[0], np.int64)))
        for z in range(flow.used[0]):
            place = flow.touched[z]
            i, j = place // columns, place % columns
            if flow.amount[i, j] != 0 and links.kind[i, j] == SECONDARY:
                out[end] = place
                end += 1
        start[q + 1] = end
        clear(flow)
    return start, out[:end].copy()
