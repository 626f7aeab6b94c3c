"""What has to be shown of a pattern: protection requirements, one per sensitive cell and direction."""

from __future__ import annotations

import numpy as np

from gpuga.kernels.layout import Requirements
from gpuga.table.table import Table

__all__ = ["Requirements", "level_requirements"]


def level_requirements(table: Table, strict: bool = False) -> Requirements:
    """The upper and lower levels of all sensitive cells as requirements, by ascending cell, up before down.

    In the strict reading a level must be exceeded; integers exceed a level by at least one unit of the
    table's scale, so the need grows by one unit. (In tables whose attackers reach fractions this asks
    for slightly more than the reading; the audit itself decides strictness in rationals.)
    """
    extra = 1 if strict else 0
    cells = np.repeat(table.sensitive, 2)
    direction = np.tile(np.array([1, -1], np.int8), len(table.sensitive))
    need = np.where(direction > 0, table.levels.upper[cells], table.levels.lower[cells]) + extra
    wanted = need > 0
    return Requirements(cells[wanted].astype(np.int32), direction[wanted], need[wanted].astype(np.int64))
