"""What a box is made of along one axis: the simplest changes of the codes that keep every family's total.

In a tree these are "leaf a up, leaf b down", carried up both branches to where they meet, and "leaf a up", carried up
to the top. Where a total has several families, they are read off the solutions of the families' equations: few
free codes move by one unit, the others follow; what contains a simpler one is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels.layout import Options
from gpuga.table.crossing import Axis, Expired, leave_in_time

MOST_FREE = 3
"""Free codes that move at once, where a total has several families."""

FEW = 12
"""Free codes up to this many move in all combinations."""

LONGEST = 24
"""Codes in one change; longer ones make boxes of too many cells."""

Change = tuple[tuple[int, int], ...]
"""Codes with the unit, +1 or -1, by which they move."""

Row = dict[int, int | Fraction]
"""Codes with what an equation multiplies them by."""


MOVES_AT_ONCE = 256
"""Moves between two looks at the clock."""


def options_of(axis: Axis, expired: Expired = bool) -> Options:
    """The options of all codes of an axis; raises `OutOfTime` where the time is up before they are listed."""
    if len(axis.families) == 1 and len(axis.families[0][1]) == axis.codes - 1:
        none = np.zeros(1, np.int64)
        return Options(axis.codes, axis.families[0][0], none, none, np.zeros(0, np.int32), np.zeros(0, np.int8))
    parent = axis.parent
    changes = _general_changes(axis, expired) if parent is None else _tree_changes(axis, parent)
    return _by_code(axis.codes, changes)


def _by_code(codes: int, changes: list[Change]) -> Options:
    """Every change from the point of view of each of its codes."""
    of_code: list[list[Change]] = [[] for _ in range(codes)]
    for change in changes:
        for own, unit in change:
            of_code[own].append(tuple((code, sign * unit) for code, sign in change if code != own))
    first = np.concatenate([[0], np.cumsum([len(options) for options in of_code])]).astype(np.int64)
    listed = [option for options in of_code for option in options]
    start = np.concatenate([[0], np.cumsum([len(option) for option in listed])]).astype(np.int64)
    code = np.array([c for option in listed for c, _ in option], np.int32)
    sign = np.array([s for option in listed for _, s in option], np.int8)
    return Options(codes, -1, first, start, code, sign)


def _tree_changes(axis: Axis, parent: NDArray[np.int32]) -> list[Change]:
    """Leaf against leaf, and leaf up to the top, in a tree (or several)."""
    totals = {total for total, _ in axis.families}
    ways: dict[int, list[int]] = {}
    for leaf in range(axis.codes):
        if leaf not in totals:
            ways[leaf] = [leaf]
            while parent[ways[leaf][-1]] >= 0:
                ways[leaf].append(int(parent[ways[leaf][-1]]))
    changes: list[Change] = [tuple((code, 1) for code in way) for way in ways.values()]
    for a, b in combinations(ways, 2):
        common = set(ways[a]) & set(ways[b])
        if common:
            up = [(code, 1) for code in ways[a] if code not in common]
            changes.append((*up, *((code, -1) for code in ways[b] if code not in common)))
    return [change for change in changes if len(change) <= LONGEST]


def _general_changes(axis: Axis, expired: Expired) -> list[Change]:
    """Small solutions of the families' equations, those without a simpler one inside."""
    free, follows = _solved(axis, expired)
    changes: list[dict[int, int]] = []
    for number, (chosen, signs) in enumerate(_moves(axis, free)):
        if number % MOVES_AT_ONCE == 0:
            leave_in_time(expired)
        moved: Row = {}
        for z, sign in zip(chosen, signs, strict=True):
            for code, by in follows[z].items():
                moved[code] = moved.get(code, 0) + sign * by
        whole = {code: int(by) for code, by in moved.items() if by}
        if whole and len(whole) <= LONGEST and all(abs(moved[code]) == 1 for code in whole):
            changes.append(whole)
    return _simplest(changes)


def _moves(axis: Axis, free: list[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Which free codes move, and how; the first one up, since a change and its reverse are one.

    Where there are many free codes, only those of one family move against each other.
    """
    sizes = range(1, MOST_FREE + 1) if len(free) <= FEW else (1,)
    for size in sizes:
        signs = [(1, *rest) for rest in product((1, -1), repeat=size - 1)]
        yield from ((chosen, sign) for chosen in combinations(range(len(free)), size) for sign in signs)
    if len(free) > FEW:
        number = {code: z for z, code in enumerate(free)}
        together = {
            pair
            for _, parts in axis.families
            for pair in combinations(sorted(number[part] for part in parts if part in number), 2)
        }
        yield from ((pair, (1, -1)) for pair in sorted(together))


def _simplest(changes: list[dict[int, int]]) -> list[Change]:
    """The changes whose codes contain no other change's codes."""
    kept: list[Change] = []
    by_first: dict[int, list[frozenset[int]]] = {}
    for change in sorted(changes, key=lambda c: (len(c), sorted(c.items()))):
        codes = frozenset(change)
        if not any(smaller <= codes for code in change for smaller in by_first.get(code, ())):
            by_first.setdefault(min(codes), []).append(codes)
            kept.append(tuple(sorted(change.items())))
    return kept


def _solved(axis: Axis, expired: Expired) -> tuple[list[int], list[Row]]:
    """Free codes, and for each what moves when it alone moves by one unit (itself included)."""
    rows: list[Row] = [{total: -1, **dict.fromkeys(parts, 1)} for total, parts in axis.families]
    pivots: dict[int, Row] = {}
    having: dict[int, set[int]] = {}  # the pivots whose rows contain a code
    depth = axis.depth
    for row in rows:
        leave_in_time(expired)
        for at in [code for code in row if code in pivots]:  # solved rows contain no other pivot
            row = _combined(row, pivots[at], row[at])
        if not row:
            continue
        # totals follow from their parts: what is highest is solved for
        at = min(row, key=lambda code: (int(depth[code]), code))
        lead = row[at]  # nearly always a unit: numbers stay whole, which is many times as quick
        row = {code: by * lead if abs(lead) == 1 else Fraction(by) / lead for code, by in row.items()}
        for other in sorted(having.get(at, ())):
            pivots[other] = _combined(pivots[other], row, pivots[other][at])
            for code in row:
                if code in pivots[other]:
                    having.setdefault(code, set()).add(other)
                elif code in having:
                    having[code].discard(other)
        pivots[at] = row
        for code in row:
            having.setdefault(code, set()).add(at)
    order = {at: number for number, at in enumerate(pivots)}
    free = [code for code in range(axis.codes) if code not in pivots]
    follows: list[Row] = []
    for code in free:
        moved = {at: -pivots[at][code] for at in sorted(having.get(code, ()), key=order.__getitem__)}
        follows.append({code: 1, **moved})
    return free, follows


def _combined(row: Row, known: Row, factor: int | Fraction) -> Row:
    """`row - factor * known`, zeros left out."""
    made = dict(row)
    for code, by in known.items():
        made[code] = made.get(code, 0) - factor * by
    return {code: by for code, by in made.items() if by}
