"""From floats that are no vertex to an exact change of a table near them.

The components follow from the equations by sparse elimination in integers. The coefficients of tables are -1 and 1, so
nearly all pivots are, too: components that stay free take the nearest whole number, and all the others come out whole.
A few rows without such a pivot are solved in rationals at the end. Only a proposal until it is checked.
"""

from __future__ import annotations

from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled
from gpuga.table.table import Ints

MOST_ENTRIES = 20_000_000
"""Elimination that fills in beyond this is given up."""

MOST_HARD = 40
"""With more rows than this that have no pivot of -1 or 1, fractions would grow without end."""

LARGEST_ENTRY = 2**40

Row = dict[int, Fraction]


def exact_near(
    x: NDArray[np.float64], start: NDArray[np.int32], index: NDArray[np.int32], coef: Ints, parts: int
) -> tuple[NDArray[np.generic], int] | None:
    """Amounts over one denominator with `A amounts = 0`, near `x`; `A` in compressed columns. None: not found.

    Zeros stay, free components are in units of `1/parts`. Amounts are int64 where they fit, Python integers (dtype
    object) where they do not.
    """
    if not np.isfinite(x).all() or np.abs(x).max(initial=0.0) * parts >= 2**52:
        return None
    made = _completed(x * parts, start, index, coef)
    return None if made is None else (made[0], made[1] * parts)


class Eliminated(NamedTuple):
    """Lines of free unknowns, eliminated once for many changes: `begin`, `column`, `value` and `pivot` of each row.

    Pivots are entries of -1 or 1; rows without any have the pivot -1.
    """

    begin: Ints
    column: NDArray[np.int32]
    value: Ints
    pivot: NDArray[np.int32]

    @property
    def hard(self) -> Ints:
        """The unknowns of rows without a pivot: only while there are none can changes be completed."""
        return np.unique(self.column[np.repeat(self.pivot < 0, np.diff(self.begin))]).astype(np.int64)

    @property
    def solvable(self) -> Ints:
        """The rows with a pivot, the last one first."""
        return np.flatnonzero(self.pivot >= 0)[::-1]

    def completed(self, guess: Ints) -> Ints:
        """A change that keeps every line: the free unknowns as they are, the pivots' solved for (int64[columns])."""
        made = _back(self, self.solvable, guess.copy(), LARGEST_ENTRY)
        return np.zeros_like(guess) if made is None else np.asarray(made, np.int64)


def eliminated(
    rows: int, line: NDArray[np.integer], column: Ints, coef: Ints, columns: int, most: int
) -> Eliminated | None:
    """Eliminate homogeneous lines given by their entries; None where that fills in beyond `most` entries."""
    length = np.bincount(line, minlength=rows)
    rank = np.empty(rows, np.int64)
    rank[np.argsort(length, kind="stable")] = np.arange(rows)
    order = np.argsort(rank[line], kind="stable")
    begin = np.concatenate([[0], np.cumsum(np.sort(length))]).astype(np.int64)
    made = _eliminate(begin, column[order].astype(np.int32), coef[order], columns, most, LARGEST_ENTRY)
    return None if made is None else Eliminated(*made)


def _completed(
    x: NDArray[np.float64], start: NDArray[np.int32], index: NDArray[np.int32], coef: Ints
) -> tuple[NDArray[np.generic], int] | None:
    """A change near `x` that keeps every equation; components that are zero stay so."""
    unknown = np.flatnonzero(x)
    if not len(unknown):
        return np.zeros(len(x), np.int64), 1
    column = np.repeat(np.arange(len(x)), np.diff(start))
    number, kept = np.cumsum(x != 0) - 1, x[column] != 0
    lines = eliminated(int(index.max()) + 1, index[kept], number[column[kept]], coef[kept], len(unknown), MOST_ENTRIES)
    if lines is None or (lines.pivot < 0).sum() > MOST_HARD:
        return None
    solved = _hard_rows(lines, x[unknown])
    if not solved:
        whole = _back(lines, lines.solvable, np.rint(x[unknown]).astype(np.int64), LARGEST_ENTRY)
        if whole is None:
            return None
        amounts = np.zeros(len(x), np.int64)
        amounts[unknown] = whole
        return amounts, 1
    parts = _back_in_rationals(lines, x[unknown], solved)
    return _over_one_denominator(len(x), dict(zip(unknown.tolist(), parts, strict=True)))


@compiled
def _eliminate(
    begin: Ints, column: NDArray[np.int32], value: Ints, columns: int, most: int, largest: int
) -> tuple[Ints, NDArray[np.int32], Ints, NDArray[np.int32]] | None:
    """Reduce the rows, always the one that is shortest by now; its pivot is an entry of -1 or 1 in a rare column.

    A row is reduced by the pivots before it; if that makes it longer than another one, it waits for its turn. So rows
    stay short and numbers small. Returns the reduced rows (compressed) and their pivots; pivot -1: the row has no
    entry of -1 or 1.
    """
    rows = len(begin) - 1
    rare, row_of = np.zeros(columns, np.int64), np.full(columns, -1, np.int64)
    for e in range(len(column)):
        rare[column[e]] += 1
    work, listed, members = np.zeros(columns, np.int64), np.zeros(columns, np.bool_), np.empty(columns, np.int32)
    # rows that wait: where they lie in the pool of entries, to which every reduced row is added
    at, end = begin[:-1].copy(), begin[1:].copy()
    pool_column, pool_value, used = column.copy(), value.copy(), len(column)
    made_at, made_end = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    out_pivot = np.full(rows, -1, np.int32)
    waiting = [(end[r] - at[r], np.int64(r)) for r in range(rows)]
    heapify(waiting)
    made = 0
    while len(waiting) > 0:
        _, r = heappop(waiting)
        count = 0
        heap = [(np.int64(0), np.int64(0)) for _ in range(0)]
        for e in range(at[r], end[r]):
            c = pool_column[e]
            rare[c] -= 1
            listed[c] = True
            members[count] = c
            count += 1
            work[c] += pool_value[e]
            if row_of[c] >= 0:
                heappush(heap, (row_of[c], np.int64(c)))
        while len(heap) > 0:
            p, c = heappop(heap)
            if work[c] == 0:
                continue
            factor = np.int64(0)
            for e in range(made_at[p], made_end[p]):
                if pool_column[e] == c:
                    factor = work[c] * pool_value[e]  # the pivot is its own inverse
            for e in range(made_at[p], made_end[p]):
                k = pool_column[e]
                if not listed[k]:
                    listed[k] = True
                    members[count] = k
                    count += 1
                    if row_of[k] >= 0:
                        heappush(heap, (row_of[k], np.int64(k)))
                elif work[k] == 0 and row_of[k] > p:
                    heappush(heap, (row_of[k], np.int64(k)))
                work[k] -= factor * pool_value[e]
                if abs(work[k]) > largest:
                    return None
        best, filled = -1, 0
        for q in range(count):
            c = members[q]
            if work[c] != 0:
                filled += 1
                if abs(work[c]) == 1 and (best < 0 or rare[c] < rare[best] or (rare[c] == rare[best] and c < best)):
                    best = c
        if used + filled > most:
            return None
        while used + filled > len(pool_column):
            pool_column = np.concatenate((pool_column, np.empty(len(pool_column), np.int32)))
            pool_value = np.concatenate((pool_value, np.empty(len(pool_value), np.int64)))
        first = used
        for q in range(count):
            c = members[q]
            if work[c] != 0:
                pool_column[used], pool_value[used] = c, work[c]
                used += 1
            work[c] = 0
            listed[c] = False
        if filled > 0 and len(waiting) > 0 and filled > waiting[0][0]:
            at[r], end[r] = first, used
            for e in range(first, used):
                rare[pool_column[e]] += 1
            heappush(waiting, (np.int64(filled), r))
        elif filled > 0:
            made_at[made], made_end[made], out_pivot[made] = first, used, best
            if best >= 0:
                row_of[best] = made
            made += 1
    out_begin = np.zeros(made + 1, np.int64)
    for row in range(made):
        out_begin[row + 1] = out_begin[row] + made_end[row] - made_at[row]
    out_column, out_value = np.empty(out_begin[made], np.int32), np.empty(out_begin[made], np.int64)
    for row in range(made):
        out_column[out_begin[row] : out_begin[row + 1]] = pool_column[made_at[row] : made_end[row]]
        out_value[out_begin[row] : out_begin[row + 1]] = pool_value[made_at[row] : made_end[row]]
    return out_begin, out_column, out_value, out_pivot[:made]


@compiled
def _back(lines: Eliminated, order: Ints, guess: Ints, largest: int) -> Ints | None:
    """Solve for the pivots of rows, in order; `guess` holds the free components. None: a number grew too large."""
    begin, column, value, pivot = lines.begin, lines.column, lines.value, lines.pivot
    for r in order:
        total = np.int64(0)
        sign = np.int64(1)
        for e in range(begin[r], begin[r + 1]):
            if column[e] == pivot[r]:
                sign = value[e]
            else:
                total -= value[e] * guess[column[e]]
        if abs(total) > largest * 1024:
            return None
        guess[pivot[r]] = sign * total
    return guess


def _hard_rows(lines: Eliminated, guess: NDArray[np.float64]) -> dict[int, Fraction]:
    """Solve the rows without a pivot of -1 or 1 in rationals; the components that stay free are whole."""
    pivots: list[tuple[int, Row]] = []
    for r in np.flatnonzero(lines.pivot < 0).tolist():
        span = range(int(lines.begin[r]), int(lines.begin[r + 1]))
        row: Row = {int(lines.column[e]): Fraction(int(lines.value[e])) for e in span}
        for j, earlier in pivots:
            if (ratio := row.get(j, Fraction(0))) != 0:
                for k, v in earlier.items():
                    row[k] = row.get(k, Fraction(0)) - ratio * v
        row = {k: v for k, v in row.items() if v}
        if row:
            j = min(row, key=lambda k: (abs(row[k].numerator), k))
            lead = row[j]
            pivots.append((j, {k: v / lead for k, v in row.items()}))
    solution: dict[int, Fraction] = {}
    for j, row in reversed(pivots):
        others = ((k, v) for k, v in row.items() if k != j)
        solution[j] = -sum((v * solution.setdefault(k, Fraction(round(guess[k]))) for k, v in others), Fraction(0))
    return solution


def _back_in_rationals(lines: Eliminated, guess: NDArray[np.float64], solved: dict[int, Fraction]) -> list[Fraction]:
    """As `_back`, with some components already solved as fractions; whole numbers stay Python integers."""
    begin, column, value, pivot = lines.begin, lines.column, lines.value, lines.pivot
    parts: list[int | Fraction] = [round(g) for g in guess.tolist()]
    for j, part in solved.items():
        parts[j] = part.numerator if part.denominator == 1 else part
    for r in lines.solvable.tolist():
        total: int | Fraction = 0
        sign = 1
        for e in range(int(begin[r]), int(begin[r + 1])):
            if column[e] == pivot[r]:
                sign = int(value[e])
            else:
                total -= int(value[e]) * parts[column[e]]
        parts[pivot[r]] = sign * total
    return [Fraction(part) for part in parts]


def _over_one_denominator(count: int, parts: dict[int, Fraction]) -> tuple[NDArray[np.generic], int]:
    """So many numbers, zero where there is no part, over the denominator that the parts share."""
    denominator = lcm(*(p.denominator for p in parts.values()))
    amounts = [0] * count
    for j, part in parts.items():
        amounts[j] = part.numerator * (denominator // part.denominator)
    if max(abs(a) for a in amounts) < 2**60 and denominator < 2**60:
        return np.array(amounts, np.int64), denominator
    return np.array(amounts, dtype=object), denominator
