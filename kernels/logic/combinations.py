"""Certificates made of two others: where a cell of one is published, a multiple of another that moves it as well is
subtracted, so that the cell stays where it is.

Sums of circuits are circuits, so that this finds what no single box is. It serves where boxes are large or there are
none: in tables with sub-totals, where up to 5 % of the cost is saved by it.
"""

from __future__ import annotations

from ..layout import INFINITE
from .box_sums import forget_sum
from .compile import Truth, bare, whole
from .general_records import TOUCHED, WIDEST, GeneralTable, State

MOST_COMBINED = 48
"""Certificates through a published cell that are tried against it."""

LONGEST = 512
"""Entries of two certificates that are worth combining."""


@bare
def scaled_fits(table: GeneralTable, place: int, amount: int, lead: int, need: int) -> Truth:
    """Whether a cell has room for `amount` scaled by need / |lead|; `amount` is signed."""
    room = table.up[place] if amount > 0 else table.down[place]
    size = abs(amount)
    if room >= INFINITE:
        return True
    if size == lead:
        return room >= need
    if size >= WIDEST or need >= WIDEST:
        return False
    asked = need * size
    if room < WIDEST and lead < WIDEST:  # a division takes ten times as long
        return asked <= room * lead
    return (asked + lead - 1) // lead <= room


@bare
def only_published(state: State, certificate: int) -> int:
    """The entry of the one cell of a certificate that is published; -1 where there is none, or more than one."""
    if state.missing[certificate] == 1:
        for e in range(state.begin[certificate], state.begin[certificate + 1]):
            if not state.hidden[state.cell[e]]:
                return whole(e)
    return whole(-1)


@bare
def lay(state: State, certificate: int, times: int) -> bool:
    """Add a multiple of a certificate to the sum at hand; False where a number becomes too large for products."""
    for e in range(state.begin[certificate], state.begin[certificate + 1]):
        place = state.cell[e]
        if not state.seen[place]:
            state.touched[state.note[TOUCHED]] = place
            state.note[TOUCHED] += 1
            state.seen[place] = 1
        state.moved[place] += times * state.amount[e]
        if abs(state.moved[place]) >= WIDEST:
            return False
    return True


@bare
def divided(state: State) -> None:
    """Divide the sum at hand by its greatest common divisor."""
    divisor = whole(0)
    for x in range(state.note[TOUCHED]):
        a, b = abs(state.moved[state.touched[x]]), divisor
        while b != 0 and a != b:
            a, b = b, a % b
        divisor = a
        if divisor == 1:
            return
    if divisor > 1:
        for x in range(state.note[TOUCHED]):
            state.moved[state.touched[x]] //= divisor


@bare
def sum_proves(table: GeneralTable, state: State, requirement: int) -> bool:
    """Whether the sum at hand, scaled to a requirement's need, fits all rooms."""
    lead, need = state.moved[table.own[requirement]], table.need[requirement]
    if lead == 0:
        return False
    way = 1 if (lead > 0) == (table.direction[requirement] > 0) else -1
    for x in range(state.note[TOUCHED]):
        place = whole(state.touched[x])
        by = way * state.moved[place]
        if by != 0 and not scaled_fits(table, place, by, abs(lead), need):
            return False
    return True


@bare
def other_fits(table: GeneralTable, state: State, requirement: int, times: int, other: int, back: int) -> bool:
    """Whether the cells of `other` have room in `times` the certificate at hand and `back` times that one.

    If not, the sum does not prove the requirement either: most sums need not be formed.
    """
    own, lead = table.own[requirement], times * state.moved[table.own[requirement]]
    for e in range(state.begin[other], state.begin[other + 1]):
        if state.cell[e] == own:
            lead += back * state.amount[e]
    if lead == 0 or abs(lead) >= WIDEST:
        return False
    way = 1 if (lead > 0) == (table.direction[requirement] > 0) else -1
    for e in range(state.begin[other], state.begin[other + 1]):
        place = whole(state.cell[e])
        by = way * (times * state.moved[place] + back * state.amount[e])
        if by != 0 and not scaled_fits(table, place, by, abs(lead), table.need[requirement]):
            return False
    return True


@bare
def summed(table: GeneralTable, state: State, requirement: int, times: int, other: int, back: int) -> bool:
    """`times` the sum at hand and `back` times a certificate; False, and no sum, where that proves nothing."""
    small = True
    for x in range(state.note[TOUCHED]):
        state.moved[state.touched[x]] *= times
        small &= abs(state.moved[state.touched[x]]) < WIDEST
    if small and lay(state, other, back):
        divided(state)
        if sum_proves(table, state, requirement):
            return True
    forget_sum(state)
    return False


@bare
def combined(table: GeneralTable, state: State, certificate: int, requirement: int) -> bool:
    """A certificate and another one against its only published cell, as the sum at hand; False: none fits."""
    if certificate < 0:
        return False
    entry = only_published(state, certificate)
    if entry < 0:
        return False
    place, by = whole(state.cell[entry]), state.amount[entry]
    size = state.begin[certificate + 1] - state.begin[certificate]
    state.note[TOUCHED] = 0
    e = state.head[place]
    for _ in range(MOST_COMBINED):
        if e < 0:
            break
        other = whole(state.owner[e])
        long = size + state.begin[other + 1] - state.begin[other] > LONGEST
        if other != certificate and not long and state.missing[other] == 1:  # it is the cell at hand
            if state.note[TOUCHED] == 0 and not lay(state, certificate, whole(1)):
                break
            times, back = abs(state.amount[e]), -by if state.amount[e] > 0 else by
            fits = times < WIDEST and other_fits(table, state, requirement, times, other, back)
            if fits and summed(table, state, requirement, times, other, back):
                return True
        e = state.next[e]
    forget_sum(state)
    return False
