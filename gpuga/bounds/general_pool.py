"""Knapsack rows of a general table that are kept, and their roundings that a point violates.

A row stays useful long after it was found: with other cells taken as suppressed, or divided by another size, it cuts
off other points, also such that the attacker's linear program finds nothing wrong with.
"""

from __future__ import annotations

import numpy as np

from gpuga.bounds.general_cuts import Floats, Key, LineCut
from gpuga.bounds.knapsack import appended, best_rounding
from gpuga.safety.compiled import compiled
from gpuga.table.table import Ints, Mask


class Pool:
    """Knapsack rows one after the other; `position` int64[n] says where a cell is among the free ones."""

    def __init__(self, position: Ints) -> None:
        self.position = position
        self.rows: list[LineCut] = []
        self._known: set[Key] = set()
        self._parts: tuple[Ints, Ints, Ints, Ints] | None = None

    def add(self, row: LineCut) -> bool:
        """Keep a row; whether it is new."""
        if row.key in self._known:
            return False
        self._known.add(row.key)
        self.rows.append(row)
        self._parts = None
        return True

    def violated(self, x: Floats, least: float, most: int) -> list[LineCut]:
        """The best rounding of each row that a point (float64[free]) violates by more than `least`, worst first."""
        if not self.rows:
            return []
        rank = np.empty(len(x), np.int64)
        rank[np.argsort(-x, kind="stable")] = np.arange(len(x))
        violation, divisor, start, cover = _best_roundings(*self._arrays(), x, rank, least)
        found: list[LineCut] = []
        worst = np.argsort(-violation, kind="stable")
        for r in worst[violation[worst] > least].tolist():
            row = self.rows[r]
            covered: Mask = np.isin(self.position[row.cell], cover[start[r] : start[r + 1]])
            cut = row.rounded(covered, int(divisor[r]))
            if cut is not None:
                found.append(cut)
            if len(found) == most:
                break
        return found

    def _arrays(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The rows as compressed sparse rows: starts, places, coefficients, right-hand sides."""
        if self._parts is None:
            start = np.concatenate([[0], np.cumsum([len(row.cell) for row in self.rows])]).astype(np.int64)
            place = self.position[np.concatenate([row.cell for row in self.rows])]
            coef = np.concatenate([row.coef for row in self.rows])
            self._parts = start, place, coef, np.array([row.rhs for row in self.rows], np.int64)
        return self._parts


@compiled
def _best_roundings(
    start: Ints, place: Ints, coef: Ints, rhs: Ints, x: Floats, rank: Ints, least: float
) -> tuple[Floats, Ints, Ints, Ints]:
    """Violation, divisor and cover of the best rounding of each row, covers one after the other."""
    count = len(rhs)
    violation, divisor, ends = np.zeros(count), np.ones(count, np.int64), np.zeros(count + 1, np.int64)
    covers = np.zeros(256, np.int64)
    cover = np.zeros(len(x), np.int64)
    for r in range(count):
        used = 0
        for e in range(start[r], start[r + 1]):
            used += x[place[e]] > 1e-9
        entry, order = np.zeros(used, np.int64), np.zeros(used, np.int64)
        used = 0
        for e in range(start[r], start[r + 1]):
            if x[place[e]] > 1e-9:
                entry[used], order[used] = e, rank[place[e]]
                used += 1
        entry = entry[np.argsort(order)]
        violation[r], size, divisor[r] = best_rounding(coef[entry], x[place[entry]], place[entry], rhs[r], cover)
        ends[r + 1] = ends[r]
        if violation[r] > least:
            ends[r + 1] += size
            covers = appended(covers, ends[r], cover, size)
    return violation, divisor, ends, covers
