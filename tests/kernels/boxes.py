"""The cheapest box of each of many (pattern, requirement) pairs, as the product and as the oracle search them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels import Requirements
from gpuga.kernels.layout import AxisGrid
from gpuga.kernels.logic.boxes import Boxed
from gpuga.kernels.numpy_backend import cheapest_box
from gpuga.safety.box_search import boxes_in_order

Bools = NDArray[np.bool_]
Int64 = NDArray[np.int64]
Box = dict[int, int]
"""Cells and how far they move; empty where there is no box."""


def searched(
    patterns: Bools,
    grid: AxisGrid,
    bounds: tuple[Int64, Int64],
    requirements: Requirements,
    weights: Int64,
    inside: bool,
) -> list[Box]:
    """The compiled search, one pair at a time, patterns first."""
    room = grid.room()
    boxed = Boxed(*grid.arrays, *(np.ascontiguousarray(part, np.int64) for part in (*bounds, weights)))
    found = []
    for pattern in patterns:
        for t in range(len(requirements)):
            asked = (
                requirements.cell[t : t + 1].astype(np.int64),
                requirements.direction[t : t + 1],
                requirements.need[t : t + 1],
            )
            hidden = pattern.astype(np.uint8)
            _, _, place, amount = boxes_in_order(boxed, hidden, inside, *asked, room.options, room.box)
            found.append(dict(zip(place.tolist(), amount.tolist(), strict=True)))
    return found


def by_trying(
    patterns: Bools,
    grid: AxisGrid,
    bounds: tuple[Int64, Int64],
    requirements: Requirements,
    weights: Int64,
    inside: bool,
) -> list[Box]:
    """The oracle: all boxes are tried."""
    found = []
    for pattern in patterns:
        price = np.where(pattern, 0, -1 if inside else weights)
        for cell, direction, need in zip(requirements.cell, requirements.direction, requirements.need, strict=True):
            found.append(cheapest_box(grid, bounds, price, int(cell), int(direction), int(need)))
    return found


def cost(box: Box, pattern: Bools, weights: Int64) -> int:
    """What the published cells of a box cost."""
    return sum(int(weights[cell]) for cell in box if not pattern[cell])
