"""Publish a few cells of a general table's pattern that certificates have in common; decoding leads them anew."""

from __future__ import annotations

import numpy as np

from .certificates import toggle
from .compile import bare, whole
from .general_records import CERTIFICATES, FREE, HIDINGS, GeneralTable, State
from .hashing import below, mixed


@bare
def a_secondary(table: GeneralTable, state: State, seed: np.uint64, certificate: int) -> int:
    """A cell of a certificate that is suppressed and not forced, at random; -1: none was met."""
    begin, end = state.begin[certificate], state.begin[certificate + 1]
    for attempt in range(4):
        place = state.cell[begin + below(seed, whole(attempt), whole(end - begin))]
        if state.hidden[place] and table.kind[place] == FREE:
            return whole(place)
    return whole(-1)


@bare
def somewhere(table: GeneralTable, state: State, seed: np.uint64) -> int:
    """A secondary cell of any certificate in use; -1: none was met."""
    for attempt in range(32):
        certificate = below(seed, whole(100 + attempt), state.note[CERTIFICATES])
        if state.uses[certificate] > 0:
            place = a_secondary(table, state, mixed(seed, whole(attempt)), certificate)
            if place >= 0:
                return place
    return whole(-1)


@bare
def beside(table: GeneralTable, state: State, seed: np.uint64, place: int) -> int:
    """A secondary cell of one of the first certificates in use that lean on a cell; -1: none was met."""
    skip, found, e = below(seed, whole(0), whole(8)), whole(-1), whole(state.head[place])
    while e >= 0:
        if state.uses[state.owner[e]] > 0:
            found = whole(state.owner[e])
            if skip == 0:
                break
            skip -= 1
        e = whole(state.next[e])
    return found if found < 0 else a_secondary(table, state, mixed(seed, whole(1)), found)


@bare
def ruin(table: GeneralTable, state: State, seed: np.uint64, strength: int) -> int:
    """Publish up to `strength` cells that certificates have in common; returns how many, the last of `toggled`."""
    count = whole(0)
    for number in range(strength):
        seed = mixed(seed, whole(number))
        place = whole(-1)
        if count > 0:
            near = state.toggled[state.note[HIDINGS] - 1 - below(seed, whole(7), count)]
            place = beside(table, state, seed, whole(near))
        if place < 0:
            place = somewhere(table, state, seed)
        if place >= 0:
            toggle(table, state, place)
            count += 1
    return count
