"""Ruin and recreate around one pattern of a general table: publish a few cells, lead anew what leant on them."""

from __future__ import annotations

import numpy as np

from ..layout import Int64
from .box_decode import sort_order, try_to_publish
from .certificates import certify, here, in_use, set_proof, sweep_in_time, take_back, toggle
from .compile import Truth, bare, whole
from .general_records import (
    AT_RANDOM,
    BARRED,
    BY_NEED,
    CERTIFICATES,
    CHANGES,
    COST,
    FAILED,
    FARTHEST,
    FINE,
    FREE,
    HIDINGS,
    LARGEST_KEY,
    MOST_NEAR,
    OPEN,
    STEPS_PER_BLUR,
    Ground,
    State,
)
from .hashing import below, mixed


@bare
def a_secondary(ground: Ground, state: State, seed: np.uint64, certificate: int) -> int:
    """A cell of a certificate that is suppressed and not forced, at random; -1: none was met."""
    begin, end = state.begin[certificate], state.begin[certificate + 1]
    for attempt in range(4):
        place = state.cell[begin + below(seed, whole(attempt), whole(end - begin))]
        if state.hidden[place] and ground.kind[place] == FREE:
            return whole(place)
    return whole(-1)


@bare
def somewhere(ground: Ground, state: State, seed: np.uint64) -> int:
    """A secondary cell of any certificate in use; -1: none was met."""
    for attempt in range(32):
        certificate = below(seed, whole(100 + attempt), state.note[CERTIFICATES])
        if state.uses[certificate] > 0:
            place = a_secondary(ground, state, mixed(seed, whole(attempt)), certificate)
            if place >= 0:
                return place
    return whole(-1)


@bare
def beside(ground: Ground, state: State, seed: np.uint64, place: int) -> int:
    """A secondary cell of one of the first certificates in use that lean on a cell; -1: none was met."""
    skip, found, e = below(seed, whole(0), whole(8)), whole(-1), whole(state.head[place])
    while e >= 0:
        if state.uses[state.owner[e]] > 0:
            found = whole(state.owner[e])
            if skip == 0:
                break
            skip -= 1
        e = whole(state.next[e])
    return found if found < 0 else a_secondary(ground, state, mixed(seed, whole(1)), found)


@bare
def ruin(ground: Ground, state: State, seed: np.uint64, strength: int) -> int:
    """Publish up to `strength` cells that certificates have in common; returns how many, the last of `toggled`."""
    count = whole(0)
    for number in range(strength):
        seed = mixed(seed, whole(number))
        place = whole(-1)
        if count > 0:
            near = state.toggled[state.note[HIDINGS] - 1 - below(seed, whole(7), count)]
            place = beside(ground, state, seed, whole(near))
        if place < 0:
            place = somewhere(ground, state, seed)
        if place >= 0:
            toggle(ground, state, place)
            count += 1
    return count


@bare
def lose_proofs(ground: Ground, state: State, place: int) -> None:
    """Open the requirements that lean on a published cell, and list them in `order`."""
    e = state.head[place]
    while e >= 0:
        certificate = state.owner[e]
        if state.uses[certificate] > 0:
            for at in range(state.begin[certificate], state.begin[certificate + 1]):
                for way in range(2):
                    requirement = ground.asked[state.cell[at], way]
                    if requirement >= 0 and state.proof[requirement] == certificate:
                        set_proof(state, whole(requirement), whole(-1))
                        state.before[requirement] = certificate
                        state.order[state.note[OPEN]] = requirement
                        state.note[OPEN] += 1
        e = state.next[e]


@bare
def recreate(ground: Ground, state: State, style: int, seed: np.uint64, most: int) -> Truth:
    """Lead the open requirements anew; False where one has no certificate or the pattern costs more than `most`."""
    count = state.note[OPEN]
    for x in range(count):
        requirement = state.order[x]
        blur = below(seed, whole(requirement), whole(1 << 20))
        by_need = style == BY_NEED
        state.key[x] = -min(ground.need[requirement], LARGEST_KEY) * (2048 + blur // 1024) if by_need else blur
    sort_order(state, count)
    for x in range(count):
        requirement = whole(state.order[x])
        if state.proof[requirement] < 0 and not certify(ground, state, requirement, whole(state.before[requirement])):
            return False
        if state.note[COST] > most:
            return False
    return state.note[FAILED] == 0


@bare
def clean_around(ground: Ground, state: State, changes: int, certificates: int) -> None:
    """Publish what is redundant among the cells that changed proofs leant on or lean on, heaviest first."""
    count = whole(0)
    for at in range(changes, state.note[CHANGES]):
        former = state.former[at]
        if former >= 0:
            count = gather(ground, state, whole(former), count)
    for certificate in range(certificates, state.note[CERTIFICATES]):
        count = gather(ground, state, whole(certificate), count)
    sort_near(state, count)
    tried = whole(0)
    for x in range(count):
        place = whole(state.near[x])
        if not state.hidden[place] or (x > 0 and state.near[x - 1] == place):
            continue
        if not in_use(state, place):
            toggle(ground, state, place)
        elif tried < MOST_NEAR:
            try_to_publish(ground, state, place)
            tried += 1


@bare
def gather(ground: Ground, state: State, certificate: int, count: int) -> int:
    """List the secondary cells of a certificate in `near`, as far as there is room; a cell may come twice."""
    for e in range(state.begin[certificate], state.begin[certificate + 1]):
        place = state.cell[e]
        if state.hidden[place] and ground.kind[place] == FREE and count < len(state.near):
            state.near[count], state.rank[count] = place, -ground.weight[place]
            count += 1
    return count


@bare
def sort_near(state: State, count: int) -> None:
    """Shell sort of `near` by rank, then by cell."""
    gap = whole(1)
    while gap * 3 < count:
        gap = gap * 3 + 1
    while gap > 0:
        for x in range(gap, count):
            value, item, y = state.rank[x], state.near[x], x - gap
            while y >= 0 and (state.rank[y] > value or (state.rank[y] == value and state.near[y] > item)):
                state.rank[y + gap], state.near[y + gap] = state.rank[y], state.near[y]
                y -= gap
            state.rank[y + gap], state.near[y + gap] = value, item
        gap //= 3


@bare
def step(ground: Ground, state: State, seed: np.uint64, strength: int, heat: int) -> Truth:
    """Ruin, recreate, clean around; kept if the pattern is at most `heat` dearer, else taken back."""
    sweep_in_time(state)
    mark, before = here(state), state.note[COST]
    state.note[OPEN] = 0
    count = ruin(ground, state, seed, whole(1 + below(seed, whole(1), strength)))
    first = state.note[HIDINGS] - count
    for at in range(first, first + count):
        place = state.toggled[at]
        lose_proofs(ground, state, whole(place))
        # what was just published must not simply come back
        state.price[place] *= 1 + below(seed, whole(place), whole(4))
        state.cost[place] = state.price[place]
    style = whole(BY_NEED if below(seed, whole(2), whole(2)) else AT_RANDOM)
    kept = recreate(ground, state, style, mixed(seed, whole(3)), before + before // FARTHEST + heat)
    for at in range(first, first + count):
        place = state.toggled[at]
        state.price[place] //= 1 + below(seed, whole(place), whole(4))
        state.cost[place] = 0 if state.hidden[place] else state.price[place]
    if kept:
        clean_around(ground, state, mark[1], mark[0])
    kept = kept and state.note[COST] <= before + heat and state.note[FAILED] == 0
    if not kept:
        take_back(ground, state, mark)
        state.note[FAILED] = 0
    return kept


@bare
def blur_prices(ground: Ground, state: State, prices: Int64, seed: np.uint64) -> None:
    """New blurred prices for a pattern at work."""
    for x in range(len(state.price)):
        if ground.kind[x] == BARRED:
            continue
        full = prices[x] * FINE
        state.price[x] = max(full + full * below(seed, whole(x), whole(512)) // 1024, 1)
        state.cost[x] = 0 if state.hidden[x] else state.price[x]


@bare
def improve(ground: Ground, state: State, prices: Int64, seed: np.uint64, plan: tuple[int, int, int]) -> None:
    """Steps of ruin and recreate on a loaded pattern; `plan` is steps, strength and heat, which falls to nothing."""
    steps, strength, heat = plan
    for number in range(steps):
        if number % STEPS_PER_BLUR == 0:
            blur_prices(ground, state, prices, mixed(seed, whole(number)))
        now = heat * (steps - 1 - number) // steps
        allowed = below(seed, whole(2 * number), whole(1 << 20)) * now >> 20
        step(ground, state, mixed(seed, whole(2 * number + 1)), strength, allowed)
