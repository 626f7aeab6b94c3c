"""Whole patterns of a general table: decoding at prices, cleaning, and whether all is proven, one at a time."""

from __future__ import annotations

import numpy as np

from ..layout import INFINITE, Bits, Int64
from .bits import ONE, ZERO, flag
from .certificates import certify, certify_inside, chain, here, share, stands, sweep, sweep_in_time, take_back, toggle
from .compile import bare, whole
from .general_records import (
    BARRED,
    BY_NEED,
    BY_WEIGHT,
    CERTIFICATES,
    COST,
    ENTRIES,
    FINE,
    FORCED,
    LARGEST_KEY,
    NOTES,
    GeneralTable,
    Genes,
    State,
)
from .hashing import below

OFTEN_FAILED = (5, 1, 0)
"""Requirements that failed so often, or more often, are asked in one go."""


@bare
def set_prices(table: GeneralTable, state: State, prices: Int64, first: Bits, second: Bits, seed: np.uint64) -> None:
    """What cells cost to a child: next to nothing in both parents, 0.3 in one, else blurred upwards by up to 0.3.

    Patterns are one row here, uint64[W].
    """
    for x in range(len(state.price)):
        if table.kind[x] == BARRED:
            state.price[x] = -1
            continue
        full = prices[x] * FINE
        in_first, in_second = flag(first, x), flag(second, x)
        if in_first or in_second:
            price = full // 50 if in_first and in_second else full * 3 // 10
        else:
            price = full + full * below(seed, x, whole(308)) // 1024
        state.price[x] = max(price, 1)


@bare
def load(table: GeneralTable, state: State, start: Bits, genes: Genes, p: int) -> None:
    """Begin with a pattern, and with the certificates of an individual that stand in it."""
    note = state.note
    for x in range(NOTES):
        note[x] = 0
    for x in range(len(state.hidden)):
        state.hidden[x] = table.kind[x] == FORCED or (flag(start, x) and table.kind[x] != BARRED)
        state.cost[x] = 0 if state.hidden[x] else state.price[x]
        state.moved[x], state.seen[x] = 0, 0
        if state.hidden[x]:
            note[COST] += table.weight[x]
    count = genes.certificates[p]
    state.begin[0] = 0
    for certificate in range(count):
        begin, end = genes.begin[p, certificate], genes.begin[p, certificate + 1]
        missing = whole(0)
        for e in range(begin, end):
            state.cell[e], state.amount[e] = genes.cell[p, e], genes.amount[p, e]
            missing += not state.hidden[state.cell[e]]
        state.begin[certificate + 1], state.missing[certificate] = end, missing
        state.uses[certificate], state.weak[certificate] = 0, 0
    note[CERTIFICATES], note[ENTRIES] = count, state.begin[count]
    for requirement in range(len(state.proof)):
        certificate = genes.proof[p, requirement]
        if certificate >= 0 and not stands(state, certificate):
            certificate = -1
        state.proof[requirement] = certificate
        if certificate >= 0:
            state.uses[certificate] += 1
    chain(state)


@bare
def write(state: State, pattern: Bits) -> None:
    """Write the pattern at work."""
    for w in range(len(pattern)):
        word = ZERO
        for x in range(w * 64, min(w * 64 + 64, len(state.hidden))):
            if state.hidden[x] != 0:
                word |= ONE << np.uint64(x & 63)
        pattern[w] = word


@bare
def store(state: State, pattern: Bits, genes: Genes, p: int) -> bool:
    """Write the pattern and its certificates; False, and nothing is written, where the genes have no room for them."""
    sweep(state)
    count, entries = state.note[CERTIFICATES], state.note[ENTRIES]
    if count >= genes.begin.shape[1] or entries > genes.cell.shape[1]:
        return False
    write(state, pattern)
    for certificate in range(count + 1):
        genes.begin[p, certificate] = state.begin[certificate]
    for e in range(entries):
        genes.cell[p, e], genes.amount[p, e] = state.cell[e], state.amount[e]
    genes.certificates[p] = count
    for requirement in range(len(state.proof)):
        genes.proof[p, requirement] = state.proof[requirement]
    return True


@bare
def arrange(table: GeneralTable, state: State, style: int, seed: np.uint64) -> None:
    """The order in which requirements are asked: at random, or largest need or heaviest cell first, blurred."""
    count = len(state.proof)
    for requirement in range(count):
        blur = below(seed, whole(requirement), whole(1 << 20))
        if style == BY_NEED:
            blur = -min(table.need[requirement], LARGEST_KEY) * (2048 + blur // 1024)
        elif style == BY_WEIGHT:
            blur = -min(table.size_of[requirement], LARGEST_KEY) * (2048 + blur // 1024)
        state.order[requirement], state.key[requirement] = requirement, blur
    sort_order(state, count)


@bare
def sort_order(state: State, count: int) -> None:
    """Shell sort of `order` by key, then by number."""
    key, order, gap = state.key, state.order, whole(1)
    while gap * 3 < count:
        gap = gap * 3 + 1
    while gap > 0:
        for x in range(gap, count):
            value, item, y = key[x], order[x], x - gap
            while y >= 0 and (key[y] > value or (key[y] == value and order[y] > item)):
                key[y + gap], order[y + gap] = key[y], order[y]
                y -= gap
            key[y + gap], order[y + gap] = value, item
        gap //= 3


@bare
def decode(table: GeneralTable, state: State, style: int, seed: np.uint64) -> bool:
    """Give every requirement of a loaded pattern a certificate; False where one has none."""
    arrange(table, state, style, seed)
    complete = True
    for x in range(len(state.proof)):
        if table.halt[0] != 0:
            return False
        requirement = whole(state.order[x])
        if state.proof[requirement] < 0 and not certify(table, state, requirement, whole(-1)):
            complete = False
        sweep_in_time(state)
    return complete


@bare
def leaning(table: GeneralTable, state: State, place: int) -> int:
    """List the requirements whose certificates move a cell, in `order`; how many there are."""
    count, e = whole(0), state.head[place]
    while e >= 0:
        certificate = state.owner[e]
        left = state.uses[certificate]
        x, end = state.begin[certificate], state.begin[certificate + 1]
        while left > 0 and x < end:
            for way in range(2):
                requirement = table.asked[state.cell[x], way]
                if requirement >= 0 and state.proof[requirement] == certificate:
                    state.order[count] = requirement
                    count += 1
                    left -= 1
            x += 1
        e = state.next[e]
    return count


@bare
def try_to_publish(table: GeneralTable, state: State, place: int) -> bool:
    """Publish a cell if every requirement that leans on it finds another certificate inside the pattern.

    Requirements that found none before, for other cells, are asked first: where one finds none again, whatever the
    others find would have to be taken back. How often each failed during this clean-up stands in `key`.
    """
    mark, count, most = here(state), leaning(table, state, place), whole(INFINITE)
    toggle(table, state, place)
    for least in OFTEN_FAILED:
        for x in range(count):
            requirement = whole(state.order[x])
            if state.key[requirement] < least or state.key[requirement] >= most:
                continue
            if not certify_inside(table, state, requirement, whole(state.proof[requirement])):
                state.key[requirement] += 1
                take_back(table, state, mark)
                return False
        most = whole(least)
    return True


@bare
def clean(table: GeneralTable, state: State) -> None:
    """Publish what is redundant, heaviest first."""
    for requirement in range(len(state.key)):
        state.key[requirement] = 0
    for x in range(len(table.heaviest)):
        if table.halt[0] != 0:
            return
        place = whole(table.heaviest[x])
        if state.hidden[place]:
            try_to_publish(table, state, place)
            sweep_in_time(state)


@bare
def certified(table: GeneralTable, state: State) -> bool:
    """Whether every requirement of a loaded pattern has a certificate inside."""
    for requirement in range(len(state.proof)):
        if table.halt[0] != 0:
            return False
        if state.proof[requirement] < 0:
            if not certify_inside(table, state, whole(requirement), whole(-1)):
                return False
            share(table, state, whole(state.proof[requirement]), whole(table.own[requirement]))
        sweep_in_time(state)
    return True
