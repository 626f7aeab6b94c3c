"""The cheapest safe pattern of a tiny plane by trying all patterns, with its own judge of safety."""

from __future__ import annotations

import numpy as np

from gpuga.safety.flow import extreme
from gpuga.table import Table, plane_of


def is_safe(table: Table, suppressed: np.ndarray, strict: bool = False) -> bool:
    """Straight from the definition: intervals of all sensitive cells, by largest movements."""
    plane = plane_of(table)
    rise, fall = extreme(plane, plane.lay(suppressed).astype(bool), table.sensitive)
    levels, cells = table.levels, table.sensitive
    extra = 1 if strict else 0
    width = np.minimum(rise, 2**61) + np.minimum(fall, 2**61)
    slides = (levels.sliding[cells] == 0) | (width >= levels.sliding[cells] + extra)
    enough = (rise >= levels.upper[cells] + extra) & (fall >= levels.lower[cells] + extra) & slides
    return bool(enough.all())


def cheapest_cost(table: Table, strict: bool = False) -> int | None:
    """The least cost of a safe pattern, None if there is none."""
    free = np.flatnonzero(table.suppressible & ~table.forced)
    weight = table.weight[free]
    choices = np.array(np.meshgrid(*[[False, True]] * len(free), indexing="ij")).reshape(len(free), -1).T
    costs = choices @ weight
    for pick in np.argsort(costs, kind="stable"):
        suppressed = table.forced.copy()
        suppressed[free[choices[pick]]] = True
        if is_safe(table, suppressed, strict):
            return table.cost(suppressed)
    return None
