"""An attacker who reads labels: published rows and hierarchies in, intervals out, by scipy's linear programs.

It shares nothing with `gpuga`, not even the equations: they are made here from the codes of the rows. Cells of
different tables with the same codes (totals left out) are one cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.optimize import linprog

Place = frozenset[tuple[str, str]]
Row = Mapping[str, str]
Families = Mapping[str, Sequence[tuple[str, Sequence[str]]]]
"""By dimension: totals with their parts, of one or several hierarchies."""


def place_of(row: Row, dimensions: Iterable[str], total: str = "Total") -> Place:
    """What a row is about: its codes, totals left out."""
    return frozenset((name, row[name]) for name in dimensions if row[name] != total)


class LabelledAttacker:
    """Knows all rows of all tables, with the values of those that are published."""

    def __init__(self, families: Families) -> None:
        self.families = families
        self.value: dict[Place, float] = {}
        self.hidden: set[Place] = set()
        self.sums: list[tuple[Place, list[Place]]] = []

    def reads(self, rows: Sequence[Row], hidden: Sequence[bool], dimensions: Sequence[str]) -> None:
        """One table: all of its rows, and which of them are suppressed."""
        places = {place_of(row, dimensions): row for row in rows}
        for row, blank in zip(rows, hidden, strict=True):
            place = place_of(row, dimensions)
            self.value[place] = float(row["value"])
            if blank:
                self.hidden.add(place)
        for name in dimensions:
            for total, parts in self.families[name]:
                for place in places:
                    if dict(place).get(name, "Total") == total:
                        rest = frozenset(pair for pair in place if pair[0] != name)
                        there = [cell for part in parts if (cell := rest | {(name, part)}) in places]
                        if there:
                            self.sums.append((place, there))

    def interval(self, place: Place) -> tuple[float, float]:
        """What is left possible for a suppressed cell, given that no value is negative."""
        cells = sorted(self.hidden, key=sorted)
        column = {cell: at for at, cell in enumerate(cells)}
        rows, right = [], []
        for total, parts in self.sums:
            row, known = np.zeros(len(cells)), 0.0
            for cell, sign in [*((part, 1.0) for part in parts), (total, -1.0)]:
                if cell in column:
                    row[column[cell]] += sign
                else:
                    known += sign * self.value[cell]
            rows.append(row)
            right.append(-known)
        ends = []
        for sign in (1.0, -1.0):
            goal = np.zeros(len(cells))
            goal[column[place]] = sign
            found = linprog(goal, A_eq=np.array(rows), b_eq=np.array(right), bounds=(0, None), method="highs")
            assert found.status in (0, 3), found.message
            ends.append(sign * found.fun if found.status == 0 else np.inf)
        return ends[0], ends[1]

    def exposed(self, rows: Sequence[Row], dimensions: Sequence[str], share: float) -> list[Place]:
        """The sensitive rows (status u) whose interval is narrower than `share` of the value in some direction."""
        found = []
        for row in rows:
            if row.get("status") == "u":
                place, value = place_of(row, dimensions), float(row["value"])
                low, high = self.interval(place)
                if low > value * (1 - share) + 1e-6 or high < value * (1 + share) - 1e-6:
                    found.append(place)
        return found
