"""Singletons: what can no longer move when a cell is published, read off the lines alone.

A line in which one suppressed cell is left gives that cell away. So publishing a cell fixes every cell that it leaves
alone in a line, and these fix others. Where a cell with a level is among them, nothing has to be asked of a solver;
where none is, they protect nothing any more and can be published along.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.table.table import Ints, Mask, Table


class Singletons:
    """The suppressed cells of every line that can move: how many they are, and the sum of their numbers.

    When one is left, the sum is its number.
    """

    def __init__(self, table: Table, suppressed: Mask, asked: NDArray[np.integer]) -> None:
        self.forced = table.forced
        self.start, self.line, _ = table.lines.by_cell(len(table))
        self._moves = (table.up > 0) | (table.down > 0)
        self._asked = np.zeros(len(table), bool)
        self._asked[asked] = True
        self.count = np.zeros(len(table.lines), np.int64)
        self.total = np.zeros(len(table.lines), np.int64)
        self.suppress(np.flatnonzero(suppressed))

    def suppress(self, cells: NDArray[np.integer]) -> None:
        """These cells are suppressed from now on."""
        self._change(cells, 1)

    def publish(self, cells: NDArray[np.integer]) -> None:
        """These cells are published from now on."""
        self._change(cells, -1)

    def _change(self, cells: NDArray[np.integer], by: int) -> None:
        cells = cells[self._moves[cells]].astype(np.int64)
        size = self.start[cells + 1] - self.start[cells]
        before = np.cumsum(size) - size
        line = self.line[np.repeat(self.start[cells] - before, size) + np.arange(int(size.sum()))]
        np.add.at(self.count, line, by)
        np.add.at(self.total, line, by * np.repeat(cells, size))

    def fall_with(self, cell: int) -> Ints | None:
        """The secondary cells that protect nothing once a cell is published, itself first.

        None where a cell with a level could not move any more.
        """
        fallen, waiting = {cell}, [cell] if self._moves[cell] else []
        count: dict[int, int] = {}
        total: dict[int, int] = {}
        while waiting:
            one = waiting.pop()
            for line in self.line[self.start[one] : self.start[one + 1]].tolist():
                count[line] = count.get(line, int(self.count[line])) - 1
                total[line] = total.get(line, int(self.total[line])) - one
                if count[line] == 1 and (alone := total[line]) not in fallen:
                    if self._asked[alone]:
                        return None
                    fallen.add(alone)
                    waiting.append(alone)
        return np.array([c for c in fallen if c == cell or not self.forced[c]], np.int64)
