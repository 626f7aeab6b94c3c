"""Cuts: inequalities over the cells that every safe pattern of a plane satisfies, in exact integers.

A level asks for `need` units of flow from its source to its sink. For every set of nodes that holds the
source and not the sink, the suppressed places that lead out of the set must carry them together
(Fischetti, Salazar 1999). Forced places are subtracted from the need; what is left is the right-hand
side r, and no place counts for more than r. Taking out places T whose capacities sum to less than r and
lowering r by that sum gives a knapsack cover: still valid, often much stronger, since a place in T can never
do the work of the others. Coefficients are `min(capacity, r)`, so validity needs no rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.witness_lists import Levels
from gpuga.safety.compiled import compiled
from gpuga.safety.network import Bytes, Network
from gpuga.table.table import Ints

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cut:
    """`sum(min(capacity, rhs) * x) >= rhs` over the candidates out of the node set, without `cover`.

    `rows` uint8[R] and `columns` uint8[C] mark the node set; `cover` int64[] are the places taken out.
    """

    rows: Bytes
    columns: Bytes
    rhs: int
    cover: Ints

    @property
    def key(self) -> tuple[bytes, bytes, int, bytes]:
        """Equal for equal cuts."""
        return self.rows.tobytes(), self.columns.tobytes(), self.rhs, self.cover.tobytes()

    def coefficients(self, net: Network, places: Ints) -> Ints:
        """The coefficients of the given candidate places (int64)."""
        found = crossing(net, places, self.rows, self.columns, self.rhs)
        if len(self.cover):
            found[np.isin(places, self.cover)] = 0
        return found

    def covered(self, net: Network, cover: Ints) -> Cut | None:
        """The knapsack cover that takes the places `cover` out; None if they leave nothing to ask for."""
        capacity = crossing(net, cover, self.rows, self.columns, self.rhs)
        rhs = self.rhs - int(capacity.sum())
        return Cut(self.rows, self.columns, rhs, np.sort(cover)) if rhs > 0 else None


def cut_of(net: Network, forced: Ints, levels: Levels, q: int, rows: Bytes, columns: Bytes) -> Cut | None:
    """The cut of level q over a node set; None where forced places already carry the need."""
    need = int(levels.need[q])
    rhs = residual_need(net, forced, rows, columns, int(levels.place[q]), need)
    return Cut(rows.copy(), columns.copy(), rhs, np.zeros(0, np.int64)) if rhs > 0 else None


@compiled
def crossing(net: Network, places: Ints, rows: Bytes, columns: Bytes, most: int) -> Ints:
    """What each place can carry out of the node set, at most `most` (int64)."""
    width = len(columns)
    out = np.zeros(len(places), np.int64)
    for z in range(len(places)):
        i, j = places[z] // width, places[z] % width
        if rows[i] and not columns[j]:
            out[z] = min(net.forth[i, j], most)
        elif columns[j] and not rows[i]:
            out[z] = min(net.back[i, j], most)
    return out


@compiled
def residual_need(net: Network, forced: Ints, rows: Bytes, columns: Bytes, own: int, need: int) -> int:
    """What the forced places without the level's own leave to the candidates."""
    width = len(columns)
    left = need
    for place in forced:
        if place == own:
            continue
        i, j = place // width, place % width
        if rows[i] and not columns[j]:
            left -= min(net.forth[i, j], need)
        elif columns[j] and not rows[i]:
            left -= min(net.back[i, j], need)
        if left <= 0:
            return 0
    return left


@compiled
def best_cover(net: Network, places: Ints, x: Floats, rows: Bytes, columns: Bytes, rhs: int) -> tuple[float, Ints]:
    """How much the point violates the best cover among prefixes by falling x, and the places it takes out.

    `places` are the candidates with positive `x` (float64), by falling x.
    """
    capacity = crossing(net, places, rows, columns, rhs)
    used = np.flatnonzero(capacity > 0)
    capacity, value, place = capacity[used], x[used], places[used]
    inside = np.ones(len(used), np.bool_)
    cover = np.zeros(len(used), np.int64)
    left, size, best_size, best = rhs, 0, 0, -1.0
    for e in range(-1, len(used)):
        if e >= 0:
            if capacity[e] >= rhs or capacity[e] >= left or value[e] < 0.02:
                continue
            left -= capacity[e]
            inside[e] = False
            cover[size] = place[e]
            size += 1
        reached = 0.0
        for z in range(len(used)):
            if inside[z]:
                reached += value[z] * min(capacity[z], left) / left
        if 1.0 - reached > best + 1e-9:
            best, best_size = 1.0 - reached, size
    return best, cover[:best_size].copy()
