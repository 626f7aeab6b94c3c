"""Certificates of a pattern at work: the store, who leans on what, and how changes are taken back.

A cell knows the certificates that lean on it by a chain through the entries; what is dropped stays there until the
store is swept, and may be taken up again.
"""

from __future__ import annotations

from ..layout import INFINITE
from .box_sums import INSIDE, flat, forget_sum, in_parts, price_of_sum, sum_of_boxes
from .combinations import combined, scaled_fits
from .compile import Integer, Truth, bare, whole
from .general_records import (
    CERTIFICATES,
    CHANGES,
    COST,
    ENTRIES,
    FAILED,
    FEW_PARTS,
    HIDINGS,
    LONG,
    MOST_KNOWN,
    MOST_PARTS,
    TOUCHED,
    GeneralTable,
    State,
)


@bare
def proves(table: GeneralTable, state: State, entry: int, requirement: int) -> Truth:
    """Whether a certificate, scaled to a requirement's need (and reversed where that is asked), fits all rooms.

    `entry` is the certificate's entry of the requirement's cell. What did not fit last time is asked first.
    """
    certificate, lead, need = state.owner[entry], state.amount[entry], table.need[requirement]
    way = 1 if (lead > 0) == (table.direction[requirement] > 0) else -1
    begin, end = state.begin[certificate], state.begin[certificate + 1]
    e = begin + state.weak[certificate]
    if not scaled_fits(table, whole(state.cell[e]), way * state.amount[e], abs(lead), need):
        return False
    for e in range(begin, end):
        if not scaled_fits(table, whole(state.cell[e]), way * state.amount[e], abs(lead), need):
            state.weak[certificate] = e - begin
            return False
    return True


@bare
def stands(state: State, certificate: int) -> Truth:
    """Whether all cells of a certificate are suppressed."""
    return state.missing[certificate] == 0


@bare
def room_for(state: State, entries: int) -> Truth:
    """Whether the store takes one more certificate of so many entries; that it does not is noted."""
    certificates, used = state.note[CERTIFICATES], state.note[ENTRIES]
    fits = certificates + 1 < len(state.uses) and used + entries <= len(state.cell)
    if not fits:
        state.note[FAILED] = 1
    return fits


@bare
def add_entry(state: State, place: int, amount: int) -> None:
    """Append a cell to the certificate that is being written."""
    at = state.note[ENTRIES]
    state.cell[at], state.amount[at], state.owner[at] = place, amount, state.note[CERTIFICATES]
    state.next[at] = state.head[place]
    state.head[place] = at
    state.note[ENTRIES] = at + 1


@bare
def close_certificate(state: State) -> Integer:
    """End the certificate that is being written; returns its number."""
    certificate = state.note[CERTIFICATES]
    state.uses[certificate], state.missing[certificate], state.weak[certificate] = 0, 0, 0
    for e in range(state.begin[certificate], state.note[ENTRIES]):
        if not state.hidden[state.cell[e]]:
            state.missing[certificate] += 1
    state.begin[certificate + 1] = state.note[ENTRIES]
    state.note[CERTIFICATES] = certificate + 1
    return certificate


@bare
def keep_sum(state: State) -> Integer:
    """The sum of boxes at hand as a new certificate, -1 where the store is full."""
    if not room_for(state, state.note[TOUCHED]):
        forget_sum(state)
        return -1
    for x in range(state.note[TOUCHED]):
        place = state.touched[x]
        if state.moved[place] != 0:
            add_entry(state, place, state.moved[place])
    forget_sum(state)
    return close_certificate(state)


@bare
def keep_pooled(table: GeneralTable, state: State, circuit: int) -> Integer:
    """A pooled circuit as a new certificate, -1 where the store is full."""
    begin, end = table.pool_start[circuit], table.pool_start[circuit + 1]
    if not room_for(state, end - begin):
        return -1
    for e in range(begin, end):
        add_entry(state, whole(table.pool_cell[e]), table.pool_amount[e])
    return close_certificate(state)


@bare
def set_proof(state: State, requirement: int, certificate: int) -> None:
    """Let a requirement lean on a certificate (-1: on none), and write down what it leant on."""
    former = state.proof[requirement]
    at = state.note[CHANGES]
    if at < state.log.shape[1]:
        state.log[0, at], state.log[1, at] = requirement, former
        state.note[CHANGES] = at + 1
    else:
        state.note[FAILED] = 1
    if former >= 0:
        state.uses[former] -= 1
    if certificate >= 0:
        state.uses[certificate] += 1
    state.proof[requirement] = certificate


@bare
def share(table: GeneralTable, state: State, certificate: int, own: int) -> None:
    """Give a certificate to all open requirements that it proves; a long one only to those of its own cell.

    What leans on a long certificate has to be led anew whenever one of its many cells goes.
    """
    long = state.begin[certificate + 1] - state.begin[certificate] > LONG
    for e in range(state.begin[certificate], state.begin[certificate + 1]):
        if long and state.cell[e] != own:
            continue
        for way in range(2):
            requirement = table.asked[state.cell[e], way]
            if requirement >= 0 and state.proof[requirement] < 0 and proves(table, state, whole(e), requirement):
                set_proof(state, whole(requirement), certificate)


@bare
def toggle(table: GeneralTable, state: State, place: int) -> None:
    """Suppress a cell that is published, publish one that is suppressed, and write it down."""
    at = state.note[HIDINGS]
    if at < len(state.toggled):
        state.toggled[at] = place
        state.note[HIDINGS] = at + 1
    else:
        state.note[FAILED] = 1
    flip(table, state, place)


@bare
def flip(table: GeneralTable, state: State, place: int) -> None:
    """As `toggle`, unwritten."""
    if state.hidden[place]:
        state.hidden[place] = 0
        state.cost[place] = state.price[place]
        state.note[COST] -= table.weight[place]
        more = 1
    else:
        state.hidden[place] = 1
        state.cost[place] = 0
        state.note[COST] += table.weight[place]
        more = -1
    e = state.head[place]
    while e >= 0:
        state.missing[state.owner[e]] += more
        e = state.next[e]


@bare
def hide(table: GeneralTable, state: State, certificate: int) -> None:
    """Suppress the cells of a certificate."""
    for e in range(state.begin[certificate], state.begin[certificate + 1]):
        if not state.hidden[state.cell[e]]:
            toggle(table, state, whole(state.cell[e]))


@bare
def known_inside(table: GeneralTable, state: State, requirement: int) -> int:
    """A certificate in the store, used or not, that stands and proves a requirement; -1: none among the latest."""
    e = state.head[table.own[requirement]]
    for _ in range(MOST_KNOWN):
        if e < 0:
            break
        certificate = whole(state.owner[e])
        if stands(state, certificate) and proves(table, state, whole(e), requirement):
            return certificate
        e = state.next[e]
    return whole(-1)


@bare
def pooled_price(table: GeneralTable, state: State, circuit: int, limit: int) -> int:
    """What a pooled circuit costs now, `limit` where that is not less."""
    price = whole(0)
    for e in range(table.pool_start[circuit], table.pool_start[circuit + 1]):
        part = state.cost[table.pool_cell[e]]
        if part < 0 or price + part >= limit:
            return limit
        price += part
    return price


@bare
def cheapest_pooled(table: GeneralTable, state: State, requirement: int, limit: int) -> int:
    """The pooled circuit of a requirement that costs least, below `limit`; -1: none."""
    best, found = limit, whole(-1)
    for at in range(table.pool_first[requirement], table.pool_first[requirement + 1]):
        price = pooled_price(table, state, whole(table.pool_of[at]), best)
        if price < best:
            best, found = price, whole(table.pool_of[at])
            if best == 0:
                break
    return found


@bare
def lay_certificate(table: GeneralTable, state: State, certificate: int, requirement: int) -> bool:
    """A certificate, scaled to a requirement's need, as the sum at hand; False where it does not fit in whole units."""
    own, begin, end = table.own[requirement], state.begin[certificate], state.begin[certificate + 1]
    lead = whole(0)
    for e in range(begin, end):
        if state.cell[e] == own:
            lead = state.amount[e]
    if lead == 0 or end - begin + len(state.place) > len(state.touched):
        return False
    times = (table.need[requirement] + abs(lead) - 1) // abs(lead)
    times = times if (lead > 0) == (table.direction[requirement] > 0) else -times
    state.note[TOUCHED] = 0
    for e in range(begin, end):
        place, by = state.cell[e], times * state.amount[e]
        if abs(by) > (table.up[place] if by > 0 else table.down[place]):
            forget_sum(state)
            return False
        state.touched[state.note[TOUCHED]] = place
        state.note[TOUCHED] += 1
        state.moved[place], state.seen[place] = by, 1
    return True


@bare
def patched(table: GeneralTable, state: State, certificate: int, requirement: int, limit: int) -> bool:
    """A certificate of which some cells are published, with boxes that take these cells back, as the sum at hand."""
    if certificate < 0 or not lay_certificate(table, state, certificate, requirement):
        return False
    state.cost[table.own[requirement]] = -1  # it has to move as it does
    for e in range(state.begin[certificate], state.begin[certificate + 1]):
        place = whole(state.cell[e])
        by = state.moved[place]
        if state.hidden[place] or by == 0:
            continue
        move = whole(-1 if by > 0 else 1)
        if not in_parts(table, state, place, move, abs(by), limit, whole(FEW_PARTS)):
            forget_sum(state)
            return False
    return True


@bare
def certify_inside(table: GeneralTable, state: State, requirement: int, former: int) -> bool:
    """Let a requirement lean on a certificate inside the pattern: known, pooled, `former` combined, patched, or new.

    Where no axis has sub-totals nothing is combined: boxes are short there, sums of certificates grow long, and what
    leans on a long one holds many cells. (Children of ten such tables cost 1.2 % more with them, and took longer.)
    """
    certificate = known_inside(table, state, requirement)
    if certificate < 0:
        pooled = cheapest_pooled(table, state, requirement, whole(INSIDE))
        if pooled >= 0:
            certificate = keep_pooled(table, state, pooled)
        elif (
            (not flat(table) and combined(table, state, former, requirement))
            or patched(table, state, former, requirement, whole(INSIDE))
            or sum_of_boxes(table, state, requirement, whole(INSIDE), whole(FEW_PARTS))
        ):
            certificate = keep_sum(state)
    if certificate < 0:
        return False
    set_proof(state, requirement, certificate)
    return True


@bare
def certify(table: GeneralTable, state: State, requirement: int, former: int) -> bool:
    """Let an open requirement lean on the cheapest certificate, suppress its cells, and share it. False: none."""
    certificate = known_inside(table, state, requirement)
    if certificate < 0:
        certificate = priced(table, state, requirement, former)
    if certificate < 0:
        return False
    hide(table, state, certificate)
    set_proof(state, requirement, certificate)
    share(table, state, certificate, whole(table.own[requirement]))
    return True


@bare
def priced(table: GeneralTable, state: State, requirement: int, former: int) -> Integer:
    """The cheapest of a new sum of boxes, the pooled circuits and `former` patched, as a certificate; -1: none.

    A long certificate that can be patched is not compared with a new one, which would take many times as long.
    """
    dear = whole(INFINITE)
    price, patch = dear, dear
    if patched(table, state, former, requirement, dear):
        patch = price_of_sum(state)
        if patch == 0 or state.note[TOUCHED] > LONG:
            return keep_sum(state)
        forget_sum(state)
    if sum_of_boxes(table, state, requirement, dear, whole(MOST_PARTS)):
        price = price_of_sum(state)
    pooled = cheapest_pooled(table, state, requirement, min(price, patch))
    if pooled < 0 and price <= patch:
        return keep_sum(state) if price < dear else whole(-1)
    forget_sum(state)
    if pooled >= 0:
        return keep_pooled(table, state, pooled)
    patched(table, state, former, requirement, dear)
    return keep_sum(state)


@bare
def take_back(table: GeneralTable, state: State, mark: tuple[int, int, int]) -> None:
    """Undo what was written down since a mark: certificates, proofs and cells."""
    certificates, changes, hidings = mark
    for at in range(state.note[CHANGES] - 1, changes - 1, -1):
        requirement, former = state.log[0, at], state.log[1, at]
        now = state.proof[requirement]
        if now >= 0:
            state.uses[now] -= 1
        if former >= 0:
            state.uses[former] += 1
        state.proof[requirement] = former
    for at in range(state.note[HIDINGS] - 1, hidings - 1, -1):
        flip(table, state, whole(state.toggled[at]))
    for e in range(state.note[ENTRIES] - 1, state.begin[certificates] - 1, -1):
        state.head[state.cell[e]] = state.next[e]
    state.note[ENTRIES] = state.begin[certificates]
    state.note[CERTIFICATES], state.note[CHANGES], state.note[HIDINGS] = certificates, changes, hidings


@bare
def here(state: State) -> tuple[int, int, int]:
    """A mark for `take_back`."""
    return state.note[CERTIFICATES], state.note[CHANGES], state.note[HIDINGS]


@bare
def sweep(state: State) -> None:
    """Throw away the certificates that nothing leans on; the logs begin anew."""
    entries, kept = whole(0), whole(0)
    for certificate in range(state.note[CERTIFICATES]):
        begin, end = state.begin[certificate], state.begin[certificate + 1]
        if state.uses[certificate] == 0:
            continue
        state.weak[certificate] = kept
        state.begin[kept], state.uses[kept] = entries, state.uses[certificate]
        state.missing[kept] = state.missing[certificate]
        for e in range(begin, end):
            state.cell[entries], state.amount[entries] = state.cell[e], state.amount[e]
            entries += 1
        kept += 1
    state.begin[kept] = entries
    state.note[CERTIFICATES], state.note[ENTRIES] = kept, entries
    state.note[CHANGES], state.note[HIDINGS] = 0, 0
    for requirement in range(len(state.proof)):
        if state.proof[requirement] >= 0:
            state.proof[requirement] = state.weak[state.proof[requirement]]
    for certificate in range(kept):
        state.weak[certificate] = 0
    chain(state)


@bare
def chain(state: State) -> None:
    """Chain the entries of every cell anew."""
    for x in range(len(state.head)):
        state.head[x] = -1
    for certificate in range(state.note[CERTIFICATES]):
        for e in range(state.begin[certificate], state.begin[certificate + 1]):
            state.owner[e] = certificate
            state.next[e] = state.head[state.cell[e]]
            state.head[state.cell[e]] = e


@bare
def sweep_in_time(state: State) -> None:
    """Sweep when a store or a log is more than half full."""
    if (
        2 * state.note[ENTRIES] > len(state.cell)
        or 2 * state.note[CERTIFICATES] > len(state.uses)
        or 2 * state.note[CHANGES] > state.log.shape[1]
        or 2 * state.note[HIDINGS] > len(state.toggled)
    ):
        sweep(state)
