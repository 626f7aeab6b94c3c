"""Destroy and repair: local search around a safe pattern of a two-dimensional table.

A few related secondary suppressions are published, the levels that leaned on them are led along cheapest
paths again, what became redundant is published, and the result is kept if it is cheaper (or, early on, little
dearer). Every pattern it holds on to is safe.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.draws import Stream, below, new_stream, uniform
from gpuga.circuits.paths import NOISE, Floats, Log, Taste, new_log, protect_level
from gpuga.circuits.witness_lists import WitnessLists, leaning, new_lists, remember, show, show_all, try_to_publish
from gpuga.compiled import compiled, inner
from gpuga.errors import GpugaError
from gpuga.problem.path_costs import PathCosts
from gpuga.problem.two_way import Requirements, TwoWayProblem
from gpuga.safety.network import SECONDARY, Bytes, Flow, Links, Network, add, clear, drop
from gpuga.table.table import Ints, Mask

LARGEST_DESTRUCTION = 6


class Ground(NamedTuple):
    """What the search works on: the pattern with its witness lists, and what paths cost (`weight` flat)."""

    net: Network
    links: Links
    flow: Flow
    levels: Requirements
    lists: WitnessLists
    costs: PathCosts
    weight: Ints


class Desk(NamedTuple):
    """Room for one step: the places before it, those taken away, broken levels, clean-up candidates."""

    before: Ints
    taken: Ints
    broken: Ints
    room: Ints
    candidates: Ints
    place_mark: Ints
    level_mark: Ints
    log: Log


def improve(problem: TwoWayProblem, secondary: Mask, costs: PathCosts, steps: int, seed: int) -> Mask:
    """The best safe pattern found within `steps` steps, never dearer than the given safe one (bool[R, C])."""
    count = len(problem.levels.place)
    if not secondary.any() or not count:
        return secondary
    links = problem.links(secondary)
    lists = new_lists(count, secondary.size)
    if show_all(problem.net, links, problem.flow, problem.levels, lists):
        raise GpugaError("local search was given a pattern that is not safe")
    ground = Ground(problem.net, links, problem.flow, problem.levels, lists, costs, problem.weight.ravel())
    mean = problem.cost(secondary) / int(secondary.sum())
    factor = 1.0 + 0.3 * np.random.default_rng(seed).random(NOISE) ** 2
    best = links.kind.copy()
    _walk(ground, _desk(count, secondary.size), factor, steps, 0.15 * mean, 0.005 * mean, new_stream(seed), best)
    return np.asarray(best == SECONDARY)


def _desk(levels: int, places: int) -> Desk:
    return Desk(
        before=np.zeros(places, np.int64),
        taken=np.zeros(places, np.int64),
        broken=np.zeros(levels, np.int64),
        room=np.zeros(2 * levels + 1, np.int64),
        candidates=np.zeros(places, np.int64),
        place_mark=np.zeros(places, np.int64),
        level_mark=np.zeros(levels, np.int64),
        log=new_log(places),
    )


@compiled
def _walk(
    ground: Ground,
    desk: Desk,
    factor: Floats,
    steps: int,
    warm: float,
    cold: float,
    stream: Stream,
    best: Bytes,
) -> int:
    """Take the steps; the best pattern's kinds go into `best`; how much dearer it is than the first."""
    cost = least = 0
    for step in range(1, steps + 1):
        temperature = warm * (cold / warm) ** (step / steps) if warm > 0 else 0.0
        before = _note_pattern(ground, desk)
        if before == 0:
            break
        taken = _destroy(ground, desk, before, stream)
        saved = _sum(ground.weight, desk.taken, taken)
        broken = _broken_levels(ground, desk, taken, step, stream)
        candidates = _cleanup_candidates(ground, desk, broken, step)
        taste = Taste(uniform(stream) < 0.5, uniform(stream) < 0.7, factor, below(stream, NOISE))
        added = _repair(ground, desk, broken, taste, 1.6 * saved + 30 * temperature)
        if added >= 0:
            saved += _publish_redundant(ground, desk, candidates, step, stream)
        rise = added - saved
        if added >= 0 and (rise <= 0 or (temperature > 0 and uniform(stream) < math.exp(-rise / temperature))):
            cost += rise
            if cost < least:
                least = cost
                best[:] = ground.links.kind
        else:
            _restore(ground, desk, before, step)
    return least


@inner
def _sum(weight: Ints, places: Ints, count: int) -> int:
    total = 0
    for z in range(count):
        total += weight[places[z]]
    return total


@inner
def _sort(items: Ints, rank: NDArray[Any]) -> None:
    """Sort the first items by rising rank, both in place; they are few and equal ranks keep their order."""
    for z in range(1, len(rank)):
        item, key = items[z], rank[z]
        y = z - 1
        while y >= 0 and rank[y] > key:
            items[y + 1], rank[y + 1] = items[y], rank[y]
            y -= 1
        items[y + 1], rank[y + 1] = item, key


@inner
def _note_pattern(ground: Ground, desk: Desk) -> int:
    """The secondary places of now into `before`; returns how many."""
    rows, columns = ground.links.kind.shape
    count = 0
    for i in range(rows):
        for z in range(ground.links.row_size[i]):
            j = ground.links.row_list[i, z]
            if ground.links.kind[i, j] == SECONDARY:
                desk.before[count] = i * columns + j
                count += 1
    return count


@inner
def _take(ground: Ground, desk: Desk, taken: int, place: int) -> int:
    """Publish a place if it is still a secondary suppression; returns how many were taken so far."""
    columns = ground.links.kind.shape[1]
    i, j = place // columns, place % columns
    if ground.links.kind[i, j] != SECONDARY:
        return taken
    drop(ground.links, i, j)
    desk.taken[taken] = place
    return taken + 1


@inner
def _random_leaner(ground: Ground, place: int, stream: Stream) -> int:
    """A random level that leans on the place, -1 if none does."""
    count = 0
    entry = ground.lists.place_first[place]
    while entry >= 0:
        count += 1
        entry = ground.lists.place_next[entry]
    if count == 0:
        return -1
    entry = ground.lists.place_first[place]
    for _ in range(below(stream, count)):
        entry = ground.lists.place_next[entry]
    return int(ground.lists.level[entry])


@inner
def _random_support(ground: Ground, q: int, stream: Stream) -> int:
    """A random place that level q leans on; it must lean on some."""
    count = 0
    entry = ground.lists.first[q]
    while entry >= 0:
        count += 1
        entry = ground.lists.following[entry]
    entry = ground.lists.first[q]
    for _ in range(below(stream, count)):
        entry = ground.lists.following[entry]
    return int(ground.lists.at[entry])


@inner
def _destroy(ground: Ground, desk: Desk, before: int, stream: Stream) -> int:
    """Publish some places: anywhere, chained by common levels, of one level, or of one line."""
    columns = ground.links.kind.shape[1]
    size = 1 + below(stream, LARGEST_DESTRUCTION)
    first = desk.before[below(stream, before)]
    way = below(stream, 4)
    taken = _take(ground, desk, 0, first)
    if way == 0:
        for _ in range(min(size, 3) - 1):
            taken = _take(ground, desk, taken, desk.before[below(stream, before)])
    elif way == 1:
        for _ in range(size):
            q = _random_leaner(ground, desk.taken[below(stream, taken)], stream)
            if q >= 0:
                taken = _take(ground, desk, taken, _random_support(ground, q, stream))
    elif way == 2:
        q = _random_leaner(ground, first, stream)
        entry = ground.lists.first[q] if q >= 0 else -1
        while entry >= 0 and taken < size + 3:
            taken = _take(ground, desk, taken, int(ground.lists.at[entry]))
            entry = ground.lists.following[entry]
    else:
        along_row = uniform(stream) < 0.5
        for z in range(before):
            place = desk.before[z]
            same = place // columns == first // columns if along_row else place % columns == first % columns
            if same and taken < size + 4:
                taken = _take(ground, desk, taken, place)
    return taken


@inner
def _broken_levels(ground: Ground, desk: Desk, taken: int, step: int, stream: Stream) -> int:
    """The levels that leaned on what was taken, in random order or by falling need, into `broken`."""
    count = 0
    for z in range(taken):
        size = leaning(ground.lists, desk.taken[z], desk.room)
        for y in range(size):
            q = desk.room[y]
            if desk.level_mark[q] != step:
                desk.level_mark[q] = step
                desk.broken[count] = q
                count += 1
    if uniform(stream) < 0.7:
        for z in range(count - 1, 0, -1):
            y = below(stream, z + 1)
            desk.broken[z], desk.broken[y] = desk.broken[y], desk.broken[z]
    else:
        _sort(desk.broken, -ground.levels.need[desk.broken[:count]])
    return count


@inner
def _cleanup_candidates(ground: Ground, desk: Desk, broken: int, step: int) -> int:
    """The places that the broken levels lean on and that are still suppressed, into `candidates`."""
    columns = ground.links.kind.shape[1]
    count = 0
    for z in range(broken):
        entry = ground.lists.first[desk.broken[z]]
        while entry >= 0:
            place = ground.lists.at[entry]
            still = ground.links.kind[place // columns, place % columns] == SECONDARY
            if still and desk.place_mark[place] != step:
                desk.place_mark[place] = step
                desk.candidates[count] = place
                count += 1
            entry = ground.lists.following[entry]
    return count


@inner
def _repair(ground: Ground, desk: Desk, broken: int, taste: Taste, limit: float) -> int:
    """Protect the broken levels again; what that cost, or -1 if it became dearer than the limit."""
    net, links, flow, levels = ground.net, ground.links, ground.flow, ground.levels
    desk.log.size[0] = 0
    added, counted = 0, 0
    for z in range(broken):
        q = desk.broken[z]
        if show(net, links, flow, levels, ground.lists, q):
            continue
        met = protect_level(
            net,
            links,
            flow,
            ground.costs,
            taste,
            desk.log,
            levels.place[q],
            levels.forth[q],
            levels.need[q],
        )
        if not met:
            clear(flow)
            return -1
        remember(ground.lists, links, flow, q)
        while counted < desk.log.size[0]:
            added += ground.weight[desk.log.place[counted]]
            counted += 1
        if added > limit:
            return -1
    return added


@inner
def _publish_redundant(ground: Ground, desk: Desk, candidates: int, step: int, stream: Stream) -> int:
    """Publish what the repair made redundant, heavy places first, roughly; what that saves."""
    for z in range(desk.log.size[0]):
        place = desk.log.place[z]
        if desk.place_mark[place] != step:
            desk.place_mark[place] = step
            desk.candidates[candidates] = place
            candidates += 1
    rank = np.empty(candidates, np.float64)
    for z in range(candidates):
        rank[z] = -ground.weight[desk.candidates[z]] * (0.6 + 0.4 * uniform(stream))
    _sort(desk.candidates, rank)
    saved = 0
    for z in range(candidates):
        place = desk.candidates[z]
        if try_to_publish(ground.net, ground.links, ground.flow, ground.levels, ground.lists, place, desk.room):
            saved += ground.weight[place]
    return saved


@inner
def _restore(ground: Ground, desk: Desk, before: int, step: int) -> None:
    """Back to the pattern before the step; levels that lean on places given up again find another flow."""
    columns = ground.links.kind.shape[1]
    for z in range(before):
        place = desk.before[z]
        desk.place_mark[place] = -step
        if ground.links.kind[place // columns, place % columns] == 0:
            add(ground.links, place // columns, place % columns, SECONDARY)
    for z in range(desk.log.size[0]):
        place = desk.log.place[z]
        i, j = place // columns, place % columns
        if desk.place_mark[place] == -step or ground.links.kind[i, j] != SECONDARY:
            continue
        drop(ground.links, i, j)
        size = leaning(ground.lists, place, desk.room)
        for y in range(size):
            show(ground.net, ground.links, ground.flow, ground.levels, ground.lists, desk.room[y])
