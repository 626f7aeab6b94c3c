"""What a pattern takes away: how many cells and how much value, by level of every dimension, and which totals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpuga.table.table import Dimension, Ints, Mask, Table


@dataclass(frozen=True)
class LevelLoss:
    """One level of one dimension (0: the total): its cells, the suppressed ones, and both as sums of |value|."""

    dimension: str
    depth: int
    cells: int
    suppressed: int
    value: int
    value_suppressed: int

    @property
    def share(self) -> float:
        """The share of its cells that is suppressed."""
        return self.suppressed / self.cells

    @property
    def value_share(self) -> float:
        """The share of its value that is suppressed; 0 where there is none."""
        return self.value_suppressed / self.value if self.value else 0.0


@dataclass(frozen=True, eq=False)
class Losses:
    """What a pattern takes away. `totals` are the suppressed cells that others add up to, from the top."""

    cells: int
    primary: int
    secondary: int
    levels: tuple[LevelLoss, ...]
    totals: tuple[int, ...]

    @property
    def suppressed(self) -> int:
        """How many cells are suppressed."""
        return self.primary + self.secondary

    @property
    def share(self) -> float:
        """The share of the cells that is suppressed."""
        return self.suppressed / self.cells


def losses_of(table: Table, suppressed: Mask) -> Losses:
    """What a pattern (bool[n], primaries included) takes away; groups are no cells and do not count."""
    cells = len(table) - table.groups
    hidden, primary = suppressed[:cells], table.primary[:cells]
    return Losses(
        cells=cells,
        primary=int((hidden & primary).sum()),
        secondary=int((hidden & ~primary).sum()),
        levels=tuple(_levels(table, hidden)),
        totals=tuple(_totals(table, hidden).tolist()),
    )


def _levels(table: Table, hidden: Mask) -> list[LevelLoss]:
    if table.grid is None:
        return []
    found = []
    value = np.abs(table.value[: len(hidden)])
    for axis, dimension in enumerate(table.grid.dimensions):
        depth = dimension.depth[table.grid.coordinate[:, axis]]
        for level in range(int(depth.max()) + 1):
            here = depth == level
            if here.any():
                sums = int(value[here].sum()), int(value[here & hidden].sum())
                found.append(LevelLoss(dimension.name, level, int(here.sum()), int((here & hidden).sum()), *sums))
    return found


def _totals(table: Table, hidden: Mask) -> Ints:
    """The suppressed cells that are the total of an equation, those that stand above most dimensions first."""
    if table.grid is None:
        start, cell, coef = table.lines.start, table.lines.cell, table.lines.coef
        sums = {int(cell[e]) for a, b in pairwise(start.tolist()) for e in range(a, b) if coef[e] < 0}
        # in the order of the file: one by value would tell how large suppressed totals are
        return np.array([c for c in sorted(sums) if c < len(hidden) and hidden[c]], np.int64)
    steps = np.zeros(len(hidden), np.int64)
    inner = np.zeros(len(hidden), bool)
    for axis, dimension in enumerate(table.grid.dimensions):
        code = table.grid.coordinate[:, axis]
        steps += dimension.depth[code]
        inner |= ~dimension.is_leaf[code]
    cells = np.flatnonzero(inner & hidden)
    return cells[np.argsort(steps[cells], kind="stable")]


def level_word(dimension: Dimension, depth: int) -> str:
    """A level of a dimension in a word."""
    deepest = int(dimension.depth.max())
    if depth == 0:
        return "total"
    return "detail" if depth == deepest else f"level {depth}"
