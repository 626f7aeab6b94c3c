"""Boxes one after the other, each cell in turn its cheapest one, as a pattern grows; compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled, inner
from gpuga.kernels.logic.boxes import LENGTH, Boxed, BoxRequest, BoxScratch, Bytes, cheapest
from gpuga.table.table import INFINITE, Ints


@inner
def new_scratch(boxed: Boxed, options: int, cells: int) -> BoxScratch:
    """Working memory for one thread."""
    axes = len(boxed.size)
    rows = options if axes == 3 and boxed.total[2] >= 0 else 0
    return BoxScratch(
        np.empty(options, np.int64),
        np.empty(options, np.int32),
        np.empty(cells, np.int32),
        np.empty(cells, np.int8),
        np.empty((6, axes + 1), np.int64),
        np.empty((rows, boxed.size[axes - 1]), np.int64),
        np.empty(rows, np.int64),
    )


@compiled
def boxes_in_order(
    boxed: Boxed,
    hidden: Bytes,
    inside: bool,
    place: Ints,
    direction: NDArray[np.int8],
    need: Ints,
    options: int,
    cells: int,
) -> tuple[Bytes, Ints, NDArray[np.int32], Ints]:
    """Each requirement in turn its cheapest box, whose cells become suppressed.

    Returns which requirements have one (uint8[T]), the boxes' lengths (int64[T]), places and amounts in a row.
    """
    scratch = new_scratch(boxed, options, cells)
    covered, length = np.zeros(len(place), np.uint8), np.zeros(len(place), np.int64)
    out_place, out_amount, used = np.empty(1024, np.int32), np.empty(1024, np.int64), 0
    for t in range(len(place)):
        if cheapest(BoxRequest(boxed, hidden, inside, place[t], direction[t], need[t]), scratch) >= INFINITE:
            continue
        covered[t], length[t] = 1, scratch.level[LENGTH, len(boxed.size)]
        if used + length[t] > len(out_place):
            more = 2 * max(len(out_place), length[t])
            longer_place, longer_amount = np.empty(more, np.int32), np.empty(more, np.int64)
            for x in range(used):  # loops: to put arrays together takes seconds to compile
                longer_place[x], longer_amount[x] = out_place[x], out_amount[x]
            out_place, out_amount = longer_place, longer_amount
        for x in range(length[t]):
            out_place[used], out_amount[used] = scratch.place[x], scratch.move[x] * need[t]
            hidden[scratch.place[x]] = 1
            used += 1
    return covered, length, out_place[:used].copy(), out_amount[:used].copy()
