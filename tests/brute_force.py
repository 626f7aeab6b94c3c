"""The cheapest safe pattern of a tiny table by trying all patterns, judged by the attacker in rationals."""

from __future__ import annotations

import numpy as np

from gpuga.table import Table
from tests.support.exact_attacker import intervals


def is_safe(table: Table, suppressed: np.ndarray, strict: bool = False) -> bool:
    """Straight from the definition: the intervals of all sensitive cells against their levels."""
    levels, extra = table.levels, 1 if strict else 0
    asked = [
        (c, int(levels.upper[c]) + extra, int(levels.lower[c]) + extra, int(levels.sliding[c])) for c in table.sensitive
    ]
    if any((up > 0 or down > 0 or slide > 0) and _alone(table, suppressed, c) for c, up, down, slide in asked):
        return False
    reach = intervals(table, suppressed, [c for c, *_ in asked])
    for cell, up, down, slide in asked:
        rise, fall = reach[cell]
        if (rise is not None and rise < up) or (fall is not None and fall < down):
            return False
        if slide and rise is not None and fall is not None and rise + fall < slide + extra:
            return False
    return True


def _alone(table: Table, suppressed: np.ndarray, cell: int) -> bool:
    """Whether a line shows a cell because nothing else in it is hidden: no simplex is needed then."""
    lines = table.lines
    for line in lines.line_of_entry[lines.cell == cell]:
        others = lines.cell[lines.start[line] : lines.start[line + 1]]
        if suppressed[others[others != cell]].sum() == 0:
            return True
    return False


def cheapest_cost(table: Table, strict: bool = False) -> int | None:
    """The least cost of a safe pattern, None if there is none."""
    free = np.flatnonzero(table.suppressible & ~table.forced)
    if not is_safe(table, table.suppressible, strict):
        return None
    weight = table.weight[free]
    choices = np.array(np.meshgrid(*[[False, True]] * len(free), indexing="ij")).reshape(len(free), -1).T
    costs = choices @ weight
    for pick in np.argsort(costs, kind="stable"):
        suppressed = table.forced.copy()
        suppressed[free[choices[pick]]] = True
        if is_safe(table, suppressed, strict):
            return table.cost(suppressed)
    return None
