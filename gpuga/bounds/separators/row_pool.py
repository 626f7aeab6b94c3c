"""Knapsack rows of a general table that are kept, and their roundings that a point violates.

A row stays useful long after it was found: with other cells taken as suppressed, or divided by another size, it cuts
off other points, also such that the attacker's linear program finds nothing wrong with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuga.bounds.cut import Floats, Key
from gpuga.bounds.knapsack import appended, best_rounding
from gpuga.bounds.separators.line_cuts import SparseCut, rounded_row
from gpuga.compiled import compiled
from gpuga.table.table import Ints, Mask

LONGEST_SILENCE = 32
"""A row whose roundings are met by point after point is still looked at for every such point."""


class SparseRows(NamedTuple):
    """Rows one after the other: starts, cells, coefficients, right-hand sides."""

    start: Ints
    cell: Ints
    coef: Ints
    rhs: Ints


class RowPool:
    """Knapsack rows one after the other."""

    def __init__(self) -> None:
        self.rows: list[SparseCut] = []
        self._known: set[Key] = set()
        nothing = np.zeros(0, np.int64)
        self._parts = SparseRows(np.zeros(1, np.int64), nothing, nothing, nothing)
        self._room = [Growing(part) for part in self._parts]
        self._silent: Ints = np.zeros(0, np.int64)
        self._asked = 0

    def add(self, row: SparseCut) -> bool:
        """Keep a row; whether it is new."""
        if row.key in self._known:
            return False
        self._known.add(row.key)
        self.rows.append(row)
        return True

    def violated(self, x: Floats, least: float, most: int) -> list[SparseCut]:
        """The best rounding of each row that a point (float64[n]) violates by more than `least`, worst first."""
        if not self.rows:
            return []
        rows, rank = self._arrays(), np.empty(len(x), np.int64)
        rank[np.argsort(-x, kind="stable")] = np.arange(len(x))
        due = self._due()
        for some in (due, ~due):
            violation, divisor, start, cover = _best_roundings(rows, x, rank, least, some)
            self._silent[some] += 1
            self._silent[violation > least] = 0
            if (violation > least).any():
                break
        worst = np.argsort(-violation, kind="stable")
        chosen = worst[violation[worst] > least][:most]
        ends, cell, coef, rhs = _rounded_rows(rows, chosen, divisor, start, cover, np.zeros(len(x), bool))
        made = [
            self.rows[r].origin_of_rounding(cover[start[r] : start[r + 1]], int(divisor[r])) for r in chosen.tolist()
        ]
        return [
            SparseCut(cell[a:b], coef[a:b], asked, origin=origin)
            for a, b, asked, origin in zip(ends[:-1].tolist(), ends[1:].tolist(), rhs.tolist(), made, strict=True)
            if asked > 0
        ]

    def _due(self) -> Mask:
        """The rows whose turn it is: the longer a row had nothing to say, the more seldom it is asked."""
        self._silent = np.concatenate([self._silent, np.zeros(len(self.rows) - len(self._silent), np.int64)])
        self._asked += 1
        return np.asarray(
            (self._asked + np.arange(len(self.rows))) % np.minimum(self._silent // 2 + 1, LONGEST_SILENCE) == 0
        )

    def indispensable(self, hidden: Mask) -> Mask:
        """The cells that a pattern (bool[n]) cannot do without: published alone, each would leave a row unmet."""
        if not self.rows:
            return np.zeros(len(hidden), bool)
        return _indispensable(self._arrays(), hidden)

    def _arrays(self) -> SparseRows:
        """All rows one after the other; only those that came since the last call are copied."""
        known, rows = len(self._parts.rhs), self.rows
        if known < len(rows):
            parts, fresh = self._parts, rows[known:]
            ends = parts.start[-1] + np.cumsum([len(row.cell) for row in fresh])
            self._parts = SparseRows(
                self._room[0].append(ends),
                self._room[1].append(np.concatenate([row.cell for row in fresh])),
                self._room[2].append(np.concatenate([row.coef for row in fresh])),
                self._room[3].append(np.array([row.rhs for row in fresh], np.int64)),
            )
        return self._parts


class Growing:
    """Whole numbers that grow at their end, in an array that is copied the more seldom the longer it is."""

    def __init__(self, first: Ints) -> None:
        self._held, self._size = first, len(first)

    def append(self, more: Ints) -> Ints:
        """All numbers with more behind them; a view that further ones leave as it is."""
        size = self._size + len(more)
        if size > len(self._held):
            longer = np.zeros(2 * size, np.int64)
            longer[: self._size] = self._held[: self._size]
            self._held = longer
        self._held[self._size : size] = more
        self._size = size
        return self._held[:size]


@compiled
def _indispensable(rows: SparseRows, hidden: Mask) -> Mask:
    """The cells of more than what their row has to spare."""
    start, cell, coef, needed = rows.start, rows.cell, rows.coef, np.zeros(len(hidden), np.bool_)
    for r in range(len(rows.rhs)):
        spare = -rows.rhs[r]
        for e in range(start[r], start[r + 1]):
            spare += coef[e] if hidden[cell[e]] else 0
        for e in range(start[r], start[r + 1]):
            if coef[e] > spare:
                needed[cell[e]] = True
    return needed


@compiled
def _rounded_rows(
    rows: SparseRows, chosen: Ints, divisor: Ints, first: Ints, cover: Ints, covered: Mask
) -> tuple[Ints, Ints, Ints, Ints]:
    """The chosen rows rounded, one after the other: ends, places, coefficients, right-hand sides."""
    start, place, total = rows.start, rows.cell, 0
    for r in chosen:
        total += start[r + 1] - start[r]
    ends, asked = np.zeros(len(chosen) + 1, np.int64), np.zeros(len(chosen), np.int64)
    places, made = np.zeros(total, np.int64), np.zeros(total, np.int64)
    for k in range(len(chosen)):
        r, used = chosen[k], ends[k]
        row = slice(start[r], start[r + 1])
        covered[cover[first[r] : first[r + 1]]] = True
        new, asked[k] = rounded_row(rows.coef[row], rows.rhs[r], covered[place[row]], divisor[r])
        covered[cover[first[r] : first[r + 1]]] = False
        for e in range(len(new)):
            if new[e] > 0:
                places[used], made[used] = place[start[r] + e], new[e]
                used += 1
        ends[k + 1] = used
    return ends, places, made, asked


@compiled
def _best_roundings(
    rows: SparseRows, x: Floats, rank: Ints, least: float, asked: Mask
) -> tuple[Floats, Ints, Ints, Ints]:
    """Violation, divisor and cover of the best rounding of each row asked, covers one after the other."""
    start, place, coef = rows.start, rows.cell, rows.coef
    count = len(rows.rhs)
    violation, divisor, ends = np.zeros(count), np.ones(count, np.int64), np.zeros(count + 1, np.int64)
    covers = np.zeros(256, np.int64)
    cover = np.zeros(len(x), np.int64)
    for r in range(count):
        ends[r + 1] = ends[r]
        if not asked[r]:
            continue
        used, settled = 0, 0
        for e in range(start[r], start[r + 1]):
            value = x[place[e]]
            used += value > 1e-9
            settled += coef[e] if value > 1.0 - 1e-9 else 0
        # a row that the wholly suppressed cells meet is met by all patterns with them: no rounding of it fails
        if settled >= rows.rhs[r]:
            continue
        entry, order = np.zeros(used, np.int64), np.zeros(used, np.int64)
        used = 0
        for e in range(start[r], start[r + 1]):
            if x[place[e]] > 1e-9:
                entry[used], order[used] = e, rank[place[e]]
                used += 1
        entry = entry[np.argsort(order)]
        violation[r], size, divisor[r] = best_rounding(coef[entry], x[place[entry]], place[entry], rows.rhs[r], cover)
        if violation[r] > least:
            ends[r + 1] += size
            covers = appended(covers, ends[r], cover, size)
    return violation, divisor, ends, covers
