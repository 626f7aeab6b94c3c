"""The inner loops of HeurGene, compiled: circuits as lists of places, their exchange, redundant places."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import bare, compiled, inner
from gpuga.problem.two_way import FlowLevels
from gpuga.safety.network import PUBLISHED, SECONDARY, PatternNetwork, add, clear, drop, flow_at, kind_of, meets
from gpuga.table.table import Ints

LONGEST = 32
TOO_LONG = -2
"""Stands in the first place of a list that would be longer than 32."""

Lists = NDArray[np.int32]


class CellLevels(NamedTuple):
    """The levels of the sensitive cells: those of cell s are `of[start[s]:start[s + 1]]`."""

    levels: FlowLevels
    of: Ints
    start: Ints


class Circuits(NamedTuple):
    """An individual: the lists of its cells' circuits, and the places of circuits too long for a list."""

    lists: Lists
    rest: Ints


class LoopScratch(NamedTuple):
    """Room: use counts of two individuals, and the network of the individual at hand (`loaded[:size[0]]`)."""

    uses: Lists
    other: Lists
    network: PatternNetwork
    loaded: Ints
    size: Ints


def new_scratch(network: PatternNetwork) -> LoopScratch:
    """Room for a table; the network holds the forced cells only."""
    places = network.kind.size
    return LoopScratch(
        np.zeros(places, np.int32),
        np.zeros(places, np.int32),
        network,
        np.zeros(places, np.int64),
        np.zeros(1, np.int64),
    )


@bare
def _insert(out: Lists, count: int, place: int) -> int:
    """Put a place into the sorted list `out[:count]`, if it is not there; the new length, or TOO_LONG."""
    x = 0
    while x < count and out[x] < place:
        x += 1
    if x < count and out[x] == place:
        return count
    if count == LONGEST:
        return TOO_LONG
    for y in range(count, x, -1):
        out[y] = out[y - 1]
    out[x] = place
    return count + 1


@bare
def _gather(network: PatternNetwork, cells: CellLevels, s: int, out: Lists) -> int:
    """The secondary places of flows for all levels of cell s, sorted, into `out`; how many, TOO_LONG, or -1.

    -1: a level is not met.
    """
    levels, count = cells.levels, 0
    for z in range(cells.start[s], cells.start[s + 1]):
        q = cells.of[z]
        met = meets(network, levels.place[q], levels.forward[q], levels.need[q])
        for x in range(network.touched.size[0]):
            place, moved = flow_at(network, x)
            if met and count >= 0 and moved != 0 and kind_of(network, place) == SECONDARY:
                count = _insert(out, count, place)
        clear(network)
        if not met:
            return -1
        if count < 0:
            return TOO_LONG
    return count


@compiled
def circuit_lists(network: PatternNetwork, cells: CellLevels, lists: Lists) -> int:
    """Fill the lists of a pattern (all -1 before); returns how many cells are not protected."""
    failed = 0
    room = np.empty(LONGEST, np.int32)
    for s in range(len(lists)):
        count = _gather(network, cells, s, room)
        if count == TOO_LONG:
            lists[s, 0] = TOO_LONG
        elif count < 0:
            failed += 1
        for z in range(count):
            lists[s, z] = room[z]
    return failed


@inner
def _count(individual: Circuits, uses: Lists, step: int) -> None:
    lists = individual.lists
    for s in range(len(lists)):
        for z in range(LONGEST):
            if lists[s, z] < 0:
                break
            uses[lists[s, z]] += step
    for place in individual.rest:
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
def attempt_crossover(first: Circuits, second: Circuits, weight: Ints, drawn: Ints, scratch: LoopScratch) -> int:
    """Swap the list of the first drawn cell whose estimate is below the cheaper parent's cost; in place.

    Returns the cell, -1 if there is none.
    """
    one, two = first.lists, second.lists
    _count(first, scratch.uses, 1)
    _count(second, scratch.other, 1)
    mine, theirs = _total(scratch.uses, weight), _total(scratch.other, weight)
    goal = min(mine, theirs)
    chosen = -1
    for s in drawn:
        # a cell without a list is protected by circuits that are too long to be known: it does not change sides
        if one[s, 0] < 0 or two[s, 0] < 0 or _cost(one[s], weight) == _cost(two[s], weight):
            continue
        child = _estimate(mine, one[s], two[s], scratch.uses, weight)
        other = _estimate(theirs, two[s], one[s], scratch.other, weight)
        if min(child, other) < goal:
            chosen = s
            break
    _count(first, scratch.uses, -1)
    _count(second, scratch.other, -1)
    if chosen >= 0:
        for z in range(LONGEST):
            one[chosen, z], two[chosen, z] = two[chosen, z], one[chosen, z]
    return chosen


@bare
def _load(individual: Circuits, scratch: LoopScratch) -> None:
    """Make the network that of an individual."""
    for z in range(scratch.size[0]):
        if kind_of(scratch.network, scratch.loaded[z]) == SECONDARY:
            drop(scratch.network, scratch.loaded[z])
    scratch.size[0] = 0
    lists = individual.lists
    for s in range(len(lists)):
        for z in range(LONGEST):
            if lists[s, z] < 0:
                break
            _hide(lists[s, z], scratch)
    for place in individual.rest:
        _hide(place, scratch)


@bare
def _hide(place: int, scratch: LoopScratch) -> None:
    if kind_of(scratch.network, place) == PUBLISHED:
        add(scratch.network, place, SECONDARY)
        scratch.loaded[scratch.size[0]] = place
        scratch.size[0] += 1


@compiled
def drop_redundant(cells: CellLevels, individual: Circuits, chosen: int, weight: Ints, scratch: LoopScratch) -> int:
    """Drop the redundant places of the chosen cell's circuit and of the circuits that meet it; returns how many.

    In place, heavy places first. The circuits that a dropped place was part of become what now protects
    their cells: larger circuits, merged from several.
    """
    lists = individual.lists
    _load(individual, scratch)
    room = np.full((len(lists), LONGEST), -1, np.int32)
    dropped = 0
    for place in _nearby(lists, individual.rest, chosen, weight, scratch.uses):
        drop(scratch.network, place)
        if _others(scratch.network, cells, lists, place, room):
            dropped += 1
            for s in range(len(lists)):
                if _contains(lists[s], place):
                    lists[s] = room[s]
        else:
            add(scratch.network, place, SECONDARY)
    return dropped


@compiled
def drop_one_redundant(cells: CellLevels, individual: Circuits, chosen: int, scratch: LoopScratch) -> bool:
    """Drop the first redundant place of one cell's circuit and merge the circuits that it was part of; in place."""
    lists = individual.lists
    _load(individual, scratch)
    room = np.full((len(lists), LONGEST), -1, np.int32)
    for z in range(LONGEST):
        place = lists[chosen, z]
        if place < 0:
            break
        kept = False
        for other in individual.rest:
            kept = kept or other == place
        if kept:
            continue
        drop(scratch.network, place)
        if _others(scratch.network, cells, lists, place, room):
            for s in range(len(lists)):
                if _contains(lists[s], place):
                    lists[s] = room[s]
            return True
        add(scratch.network, place, SECONDARY)
    return False


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


@bare
def _others(network: PatternNetwork, cells: CellLevels, lists: Lists, place: int, room: Lists) -> bool:
    """Whether every cell that depends on a place just published has another circuit; these go into `room`."""
    for s in range(len(lists)):
        if not _contains(lists[s], place):
            continue
        size = _gather(network, cells, s, room[s])
        if size < 0:
            return False
        for y in range(size, LONGEST):
            room[s, y] = -1
    return True


@compiled
def level_supports(network: PatternNetwork, levels: FlowLevels) -> tuple[Ints, Ints]:
    """The secondary places of one flow per level; the last start is -1 if a level is not met."""
    count = len(levels.place)
    start = np.zeros(count + 1, np.int64)
    out = np.zeros(16 * count + 64, np.int64)
    end = 0
    for q in range(count):
        met = meets(network, levels.place[q], levels.forward[q], levels.need[q])
        used = network.touched.size[0]
        if not met:
            clear(network)
            start[count] = -1
            return start, out[:0].copy()
        if end + used > len(out):
            out = np.concatenate((out, np.zeros(len(out) + used, np.int64)))
        for x in range(used):
            place, moved = flow_at(network, x)
            if moved != 0 and kind_of(network, place) == SECONDARY:
                out[end] = place
                end += 1
        start[q + 1] = end
        clear(network)
    return start, out[:end].copy()
