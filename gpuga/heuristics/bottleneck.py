"""Circuits of any table from one elimination: the widest way round for every cell, in integers and without a solver.

Cells are ranked by how far they can move. The lines are eliminated so that each gives its highest ranked cell by the
others; what no line gives stays free. Let one free cell move, and the cells that follow from it are all ranked above
it: they have room for whatever it has room for. So each free cell has a circuit both ways (the fundamental circuit of a
basis of greatest weight). With sensitive cells ranked by what they need instead of by their room, nearly all of them
are free, and the others have no simple circuit of enough room at all.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled, inner, whole
from gpuga.safety.witness import AllowedChanges
from gpuga.table.table import Ints
from gpuga.table.witnesses import Witnesses

MOST_ENTRIES = 30_000_000
"""Elimination that fills in beyond this is given up."""

LARGEST = 2**40
"""So are entries and amounts beyond this."""


class CircuitBasis(NamedTuple):
    """The eliminated lines of some cells, numbered by rank, the widest first.

    `cell` int32[k] are the table's cells by rank. Row r gives cell `pivot[r]` by lower ranked ones; `row_of`
    int64[k] is the row that gives a cell (-1: free); `rows_with` lists for every rank the rows it occurs in.
    """

    cell: NDArray[np.int32]
    begin: Ints
    column: NDArray[np.int32]
    value: Ints
    pivot: NDArray[np.int32]
    row_of: Ints
    first: Ints
    rows_with: NDArray[np.int32]

    @classmethod
    def of(cls, allowed: AllowedChanges, ranked: Ints) -> CircuitBasis | None:
        """The basis of the lines of some cells, the widest first; None where it fills in too much."""
        size = np.diff(allowed.cell_start)[ranked]
        before = np.cumsum(size) - size
        entry = np.repeat(allowed.cell_start[ranked] - before, size) + np.arange(int(size.sum()))
        line = allowed.cell_line[entry]
        by_line = np.argsort(line, kind="stable")
        length = np.unique(line, return_counts=True)[1]
        begin = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        column = np.repeat(np.arange(len(ranked), dtype=np.int32), size)[by_line]
        coef = allowed.cell_coef[entry][by_line]
        made = _eliminated(begin, column, coef, len(ranked), MOST_ENTRIES, LARGEST)
        if made is None:
            return None
        begin, column, value, pivot = made
        row_of = np.full(len(ranked), -1, np.int64)
        row_of[pivot] = np.arange(len(pivot))
        by_column = np.argsort(column, kind="stable")
        rows_with = np.repeat(np.arange(len(pivot), dtype=np.int32), np.diff(begin))[by_column]
        first = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=len(ranked)))]).astype(np.int64)
        return cls(ranked.astype(np.int32), begin, column, value, pivot, row_of, first, rows_with)

    def circuits(self, places: Ints, amounts: Ints) -> Witnesses:
        """The circuits of those of the ranks that are free, each moved by its amount; without what is not whole."""
        free = self.row_of[places] < 0
        start, column, amount = _circuits(self, places[free], amounts[free], LARGEST)
        start = np.append(start[:-1][np.diff(start) > 0], start[-1:])
        return Witnesses(start, self.cell[column], amount, np.ones(len(start) - 1, np.int64))


@inner
def _gcd(a: int, b: int) -> int:
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


@compiled
def _eliminated(
    begin: Ints, column: NDArray[np.int32], value: Ints, columns: int, most: int, largest: int
) -> tuple[Ints, NDArray[np.int32], Ints, NDArray[np.int32]] | None:
    """Rows in which the first column (the least rank) occurs in no other row's reduction; short rows first.

    A row that a reduction makes longer than another one waits for its turn. None: too many or too large entries.
    """
    rows = len(begin) - 1
    row_of = np.full(columns, -1, np.int64)
    work, listed, members = np.zeros(columns, np.int64), np.zeros(columns, np.bool_), np.empty(columns, np.int64)
    at, end = begin[:-1].copy(), begin[1:].copy()
    pool_column, pool_value, used = column.copy(), value.copy(), len(column)
    made_at, made_end = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    waiting = [(end[r] - at[r], np.int64(r)) for r in range(rows)]
    heapify(waiting)
    made = 0
    while len(waiting) > 0:
        _, r = heappop(waiting)
        count = 0
        heap = [np.int64(0) for _ in range(0)]
        for e in range(at[r], end[r]):
            c = np.int64(pool_column[e])
            if not listed[c]:
                listed[c] = True
                members[count] = c
                count += 1
            work[c] += pool_value[e]
            if row_of[c] >= 0:
                heappush(heap, c)
        before = np.int64(-1)
        while len(heap) > 0:
            c = heappop(heap)
            if c == before or work[c] == 0:
                continue
            before = c
            p = row_of[c]
            lead = pool_value[made_at[p]]  # the pivot comes first in its row
            common = _gcd(lead, work[c])
            times, factor = lead // common, work[c] // common
            if times != 1:
                for q in range(count):
                    work[members[q]] *= times
                    if abs(work[members[q]]) > largest:
                        return None
            for e in range(made_at[p], made_end[p]):
                k = np.int64(pool_column[e])
                if not listed[k]:
                    listed[k] = True
                    members[count] = k
                    count += 1
                if work[k] == 0 and row_of[k] >= 0:
                    heappush(heap, k)
                work[k] -= factor * pool_value[e]
                if abs(work[k]) > largest:
                    return None
        filled, top, common = 0, whole(columns), whole(0)
        for q in range(count):
            c = members[q]
            if work[c] != 0:
                filled += 1
                top = min(top, c)
                common = _gcd(common, work[c])
        if used + filled > most:
            return None
        while used + filled > len(pool_column):
            pool_column = np.concatenate((pool_column, np.empty(len(pool_column), np.int32)))
            pool_value = np.concatenate((pool_value, np.empty(len(pool_value), np.int64)))
        first = used
        if filled > 0:
            pool_column[used], pool_value[used] = top, work[top] // common
            used += 1
        for q in range(count):
            c = members[q]
            if work[c] != 0 and c != top:
                pool_column[used], pool_value[used] = c, work[c] // common
                used += 1
            work[c] = 0
            listed[c] = False
        if filled == 0:
            continue
        if len(waiting) > 0 and filled > waiting[0][0]:
            at[r], end[r] = first, used
            heappush(waiting, (np.int64(filled), r))
            continue
        made_at[made], made_end[made], row_of[top] = first, used, made
        made += 1
    out_begin = np.zeros(made + 1, np.int64)
    for row in range(made):
        out_begin[row + 1] = out_begin[row] + made_end[row] - made_at[row]
    out_column, out_value = np.empty(out_begin[made], np.int32), np.empty(out_begin[made], np.int64)
    pivot = np.empty(made, np.int32)
    for row in range(made):
        out_column[out_begin[row] : out_begin[row + 1]] = pool_column[made_at[row] : made_end[row]]
        out_value[out_begin[row] : out_begin[row + 1]] = pool_value[made_at[row] : made_end[row]]
        pivot[row] = pool_column[made_at[row]]
    return out_begin, out_column, out_value, pivot


@compiled
def _circuits(basis: CircuitBasis, free: Ints, amounts: Ints, largest: int) -> tuple[Ints, NDArray[np.int32], Ints]:
    """What follows from each free column alone; empty where it does not come out whole."""
    begin, column, value = basis.begin, basis.column, basis.value
    pivot, first, rows_with = basis.pivot, basis.first, basis.rows_with
    columns = len(first) - 1
    moved, waits = np.zeros(columns, np.int64), np.zeros(columns, np.bool_)
    start = np.zeros(len(free) + 1, np.int64)
    out_column, out_amount, used = np.empty(1024, np.int32), np.empty(1024, np.int64), 0
    touched = np.empty(columns, np.int64)
    for z in range(len(free)):
        count, whole = 1, True
        touched[0] = free[z]
        moved[free[z]] = amounts[z]
        heap = [np.int64(0) for _ in range(0)]
        for q in range(first[free[z]], first[free[z] + 1]):
            p = np.int64(pivot[rows_with[q]])
            if not waits[p]:
                waits[p] = True
                heappush(heap, -p * (rows_with.shape[0] + 1) - rows_with[q])
        while len(heap) > 0:
            key = -heappop(heap)
            p, r = key // (rows_with.shape[0] + 1), key % (rows_with.shape[0] + 1)
            waits[p] = False
            total = np.int64(0)
            for e in range(begin[r] + 1, begin[r + 1]):
                total += value[e] * moved[column[e]]
            lead = value[begin[r]]
            if total % lead != 0 or abs(total) > largest:
                whole = False
            if total == 0 or not whole:
                continue
            moved[p] = -total // lead
            touched[count] = p
            count += 1
            for q in range(first[p], first[p + 1]):
                other = np.int64(pivot[rows_with[q]])
                if other != p and not waits[other]:
                    waits[other] = True
                    heappush(heap, -other * (rows_with.shape[0] + 1) - rows_with[q])
        if whole:
            while used + count > len(out_column):
                out_column = np.concatenate((out_column, np.empty(len(out_column), np.int32)))
                out_amount = np.concatenate((out_amount, np.empty(len(out_amount), np.int64)))
        for q in range(count):
            if whole:
                out_column[used], out_amount[used] = touched[q], moved[touched[q]]
                used += 1
            moved[touched[q]] = 0
        start[z + 1] = used
    return start, out_column[:used].copy(), out_amount[:used].copy()
