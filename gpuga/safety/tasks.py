"""Tasks: what has to be shown of a pattern, one per sensitive cell and direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.table.table import Ints, Table


@dataclass(frozen=True, eq=False)
class Tasks:
    """`cell[t]` must be able to move by `need[t]` in `direction[t]` (+1 up, -1 down).

    `cell` int32[T], `direction` int8[T], `need` int64[T] > 0; by ascending cell, up before down.
    """

    cell: NDArray[np.int32]
    direction: NDArray[np.int8]
    need: Ints

    def __len__(self) -> int:
        return len(self.cell)

    def subset(self, which: NDArray[np.generic]) -> Tasks:
        """The tasks chosen by a mask or by positions."""
        return Tasks(self.cell[which], self.direction[which], self.need[which])


def level_tasks(table: Table, strict: bool = False) -> Tasks:
    """The upper and lower levels of all sensitive cells as tasks.

    In the strict reading a level must be exceeded; integers exceed a level by at least one unit of the
    table's scale, so the need grows by one unit. (In tables whose attackers reach fractions this asks
    for slightly more than the reading; the audit itself decides strictness in rationals.)
    """
    extra = 1 if strict else 0
    cells = np.repeat(table.sensitive, 2)
    direction = np.tile(np.array([1, -1], np.int8), len(table.sensitive))
    need = np.where(direction > 0, table.levels.upper[cells], table.levels.lower[cells]) + extra
    wanted = need > 0
    return Tasks(cells[wanted].astype(np.int32), direction[wanted], need[wanted].astype(np.int64))
