"""What paths on a two-way table pay for each published cell, and where the cheapest cells are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.safety.network import Nodes
from gpuga.table.table import Mask

NO_PATH = 1e300

Floats = NDArray[np.float64]


class PathCosts(NamedTuple):
    """What a path pays for each published place, and the cheapest places of each row and column first.

    `cost` float64[R, C] (`NO_PATH` where nothing may be suppressed); `row_order` int32[R, C] columns by
    ascending cost, -1 after the last one of use; `column_order` int32[C, R] the same for columns.
    """

    cost: Floats
    row_order: Nodes
    column_order: Nodes


def costs_of(cost: Floats, candidate: Mask) -> PathCosts:
    """Costs with their orders; places that are no candidates are never used."""
    usable = np.where(candidate, cost, NO_PATH)
    return PathCosts(usable, _cheapest_first(usable), _cheapest_first(np.ascontiguousarray(usable.T)))


def _cheapest_first(cost: Floats) -> Nodes:
    order = np.argsort(cost, axis=1, kind="stable").astype(np.int32)
    order[np.take_along_axis(cost, order, 1) >= NO_PATH] = -1
    return order
