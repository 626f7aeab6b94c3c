"""Which secondary suppressions each level of a plane depends on: a removal re-checks only what it may break.

Every level keeps the secondary places of one flow that meets it; every place knows the levels that use it.
Entries live in one pool. A level whose flow does not fit any more counts as depending on everything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuga.compiled import bare, compiled
from gpuga.problem.two_way import FlowLevels
from gpuga.safety.network import SECONDARY, Bytes, Nodes, PatternNetwork, add, clear, drop, flow_at, kind_of, meets
from gpuga.table.table import Ints

ENTRIES_PER_LEVEL = 48
"""Room in the pool; levels of ordinary tables depend on 3 to 15 places."""


class WitnessLists(NamedTuple):
    """The pool: entry e says that level `level[e]` depends on place `at[e]`.

    `first[q]` and `following[e]` chain the entries of a level, `place_first[p]`, `place_next[e]` and
    `place_before[e]` those of a place; -1 ends a chain; `free[0]` chains the unused entries over `following`.
    `everything[q]` marks a level whose flow was too long to be kept, or is not known.
    """

    first: Nodes
    everything: Bytes
    place_first: Nodes
    at: Nodes
    level: Nodes
    following: Nodes
    place_next: Nodes
    place_before: Nodes
    free: Nodes


def new_lists(levels: int, places: int) -> WitnessLists:
    """No level depends on anything that is known: all count as depending on everything."""
    size = ENTRIES_PER_LEVEL * levels + 1024
    following = np.arange(1, size + 1, dtype=np.int32)
    following[-1] = -1
    return WitnessLists(
        first=np.full(levels, -1, np.int32),
        everything=np.ones(levels, np.uint8),
        place_first=np.full(places, -1, np.int32),
        at=np.zeros(size, np.int32),
        level=np.zeros(size, np.int32),
        following=following,
        place_next=np.zeros(size, np.int32),
        place_before=np.zeros(size, np.int32),
        free=np.zeros(1, np.int32),
    )


@bare
def forget(lists: WitnessLists, q: int) -> None:
    """Return the entries of level q to the pool."""
    entry = lists.first[q]
    while entry >= 0:
        after, before = lists.place_next[entry], lists.place_before[entry]
        if before >= 0:
            lists.place_next[before] = after
        else:
            lists.place_first[lists.at[entry]] = after
        if after >= 0:
            lists.place_before[after] = before
        following = lists.following[entry]
        lists.following[entry] = lists.free[0]
        lists.free[0] = entry
        entry = following
    lists.first[q] = -1
    lists.everything[q] = 1


@bare
def remember(lists: WitnessLists, network: PatternNetwork, q: int) -> None:
    """Keep the secondary places of the current flow as what level q depends on, and clear the flow."""
    forget(lists, q)
    lists.everything[q] = 0
    for x in range(network.touched.size[0]):
        place, moved = flow_at(network, x)
        if moved == 0 or kind_of(network, place) != SECONDARY:
            continue
        entry = lists.free[0]
        if entry < 0:
            forget(lists, q)
            break
        lists.free[0] = lists.following[entry]
        lists.at[entry] = place
        lists.level[entry] = q
        lists.following[entry] = lists.first[q]
        lists.first[q] = entry
        after = lists.place_first[place]
        lists.place_next[entry] = after
        lists.place_before[entry] = -1
        if after >= 0:
            lists.place_before[after] = entry
        lists.place_first[place] = entry
    clear(network)


@bare
def depending(lists: WitnessLists, place: int, out: Ints) -> int:
    """The levels that may depend on a place, into `out`; returns how many."""
    size = 0
    entry = lists.place_first[place]
    while entry >= 0:
        out[size] = lists.level[entry]
        size += 1
        entry = lists.place_next[entry]
    for q in range(len(lists.everything)):
        if lists.everything[q]:
            out[size] = q
            size += 1
    return size


@bare
def show(network: PatternNetwork, levels: FlowLevels, lists: WitnessLists, q: int) -> bool:
    """Whether the pattern meets level q; if so, remember what it depends on."""
    if meets(network, levels.place[q], levels.forward[q], levels.need[q]):
        remember(lists, network, q)
        return True
    clear(network)
    return False


@compiled
def show_all(network: PatternNetwork, levels: FlowLevels, lists: WitnessLists) -> int:
    """How many levels the pattern does not meet; what the others depend on is remembered."""
    failed = 0
    for q in range(len(levels.place)):
        if not show(network, levels, lists, q):
            forget(lists, q)
            failed += 1
    return failed


@bare
def try_to_publish(network: PatternNetwork, levels: FlowLevels, lists: WitnessLists, place: int, room: Ints) -> bool:
    """Publish a secondary place if every level that depends on it is still met; `room` int64[2 L].

    Requirements led round the place keep their new flows even where it has to stay: those flows do not use it.
    """
    drop(network, place)
    size = depending(lists, place, room)
    for z in range(size):
        if not show(network, levels, lists, room[z]):
            add(network, place, SECONDARY)
            return False
    return True
