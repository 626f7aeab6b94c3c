"""An attacker who has nothing but a public file and the hierarchies: linear programs over its blanks, by scipy.

Written for the tests alone; it shares no code with the product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

Cell = tuple[str, ...]
Parts = Mapping[str, list[str]]
"""Of a dimension: the codes that each total is the sum of."""


def parts_of(path: Path) -> dict[str, list[str]]:
    """A hierarchy of two levels from its .hrc file."""
    parts: dict[str, list[str]] = {"Total": []}
    above = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            parts[above].append(line[1:])
        else:
            above = line
            parts["Total"].append(line)
            parts[above] = []
    return {total: codes for total, codes in parts.items() if codes}


class PublicAttacker:
    """The published figures and the equations that everybody knows."""

    def __init__(self, rows: Iterable[Mapping[str, str]], axes: Mapping[str, Parts], figure: str = "value") -> None:
        self.axes = axes
        cells = [(tuple(row[name] for name in axes), row[figure]) for row in rows]
        self.known = {cell: float(text) for cell, text in cells if text}
        self.blank = {cell: at for at, cell in enumerate(cell for cell, text in cells if not text)}
        matrix, self.right = [], []
        for terms in self.equations():
            hidden = {self.blank[cell]: sign for cell, sign in terms.items() if cell in self.blank}
            if hidden:
                matrix.append(hidden)
                self.right.append(-sum(sign * self.known[c] for c, sign in terms.items() if c in self.known))
        entries = [(row, at, sign) for row, hidden in enumerate(matrix) for at, sign in hidden.items()]
        row, at, sign = zip(*entries, strict=True)
        self.matrix = csr_matrix((sign, (row, at)), shape=(len(matrix), len(self.blank)))

    def equations(self) -> Iterator[dict[Cell, int]]:
        """Every total as the sum of its parts; combinations that are not in the file are absent, not blank."""
        there = self.known.keys() | self.blank.keys()
        for axis, parts in enumerate(self.axes.values()):
            others = {(*cell[:axis], *cell[axis + 1 :]) for cell in there}
            for total, codes in parts.items():
                for other in others:
                    line = {(*other[:axis], code, *other[axis:]): 1 for code in codes}
                    line[(*other[:axis], total, *other[axis:])] = -1
                    yield {cell: sign for cell, sign in line.items() if cell in there}

    def interval(self, cell: Cell, least: float = 0.0) -> tuple[float, float]:
        """What the blank cell can be at least and at most, where every blank is at least `least`."""
        goal = np.zeros(len(self.blank))
        goal[self.blank[cell]] = 1
        ends = []
        for sign in (1, -1):
            found = linprog(sign * goal, A_eq=self.matrix, b_eq=self.right, bounds=(least, None))
            assert found.status in (0, 3), found.message
            ends.append(float("inf") if found.status == 3 else abs(found.fun))
        return ends[0], ends[1]

    def too_close(self, levels: Mapping[Cell, tuple[float, float, float]], slack: float = 1e-6) -> list[Cell]:
        """The sensitive cells, given with value, lower and upper level, that can be narrowed down below a level."""
        found = []
        for cell, (value, lower, upper) in levels.items():
            low, high = self.interval(cell)
            allowed = slack * max(1.0, value)
            if low > value - lower + allowed or high < value + upper - allowed:
                found.append(cell)
        return found
