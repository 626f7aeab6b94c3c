"""Capacity cuts: inequalities that every safe pattern of a two-way table satisfies, in exact integers.

A requirement asks for `need` units of flow from its source to its sink. For every set of nodes that holds the
source and not the sink, the suppressed places that lead out of the set must carry them together
(Fischetti, Salazar 1999). Forced places are subtracted from the need; no place counts for more than what is left.

Such a knapsack row is strengthened by rounding (Nemhauser, Wolsey 1990): complement the places of a `cover`
(count 1 - x instead of x), divide by a `divisor`, round up. With a divisor so large that everything is a
fraction, this takes the cover out and lowers the right-hand side by what it carries: a knapsack cover (Carr et al.
2000). With a small divisor it counts how many places of about that size are needed. All coefficients are integers,
so validity needs no tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpuga.bounds.cut import Floats
from gpuga.bounds.knapsack import appended, best_rounding, compiled_step, step
from gpuga.compiled import compiled, inner
from gpuga.problem.two_way import FlowLevels
from gpuga.safety.network import Bytes, Network
from gpuga.table.table import Ints

Shape = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class CapacityCut:
    """`sum(coefficient * x) >= rhs` over the candidates out of the node set.

    `rows` uint8[R] and `columns` uint8[C] mark the node set, `need` is what its suppressed places must carry,
    `cover` int64[] are the complemented places in rising order, `divisor` what the row is divided by.
    """

    net: Network
    rows: Bytes
    columns: Bytes
    need: int
    cover: Ints
    divisor: int
    rest: int
    rhs: int
    widest: float = 1.0

    @property
    def key(self) -> tuple[bytes, bytes, int, bytes, int]:
        """Equal for equal cuts."""
        return self.rows.tobytes(), self.columns.tobytes(), self.need, self.cover.tobytes(), self.divisor

    @property
    def scale(self) -> int:
        """What rows of a solver are divided by."""
        return self.rhs

    @property
    def shape(self) -> Shape:
        """What the coefficient of a place depends on besides its capacity."""
        return self.need, self.divisor, self.rest, self.rhs

    def coefficients(self, columns: Ints) -> Ints:
        """The coefficients of the given candidate places (int64)."""
        return _coefficients(self.net, columns, self.rows, self.columns, self.cover, self.shape)

    def entries(self, columns: Ints, position: Ints) -> tuple[Ints, Ints]:
        """Where its columns stand among `columns` (`position` int64[n] says it, -1: nowhere), and coefficients."""
        coef = self.coefficients(columns)
        at = np.flatnonzero(coef)
        return at, coef[at]

    def plain(self) -> CapacityCut:
        """The cut that this one was made of."""
        return plain_cut(self.net, self.rows, self.columns, self.need)

    def rounded(self, cover: Ints, divisor: int) -> CapacityCut | None:
        """This plain cut with a cover complemented, divided and rounded; None if that asks for nothing."""
        capacity = crossing(self.net, cover, self.rows, self.columns, self.need)
        left = self.need - int(capacity.sum())
        rest = left % divisor
        given_back = sum(-step(-c, divisor, rest) for c in capacity.tolist())
        rhs = rest * -(-left // divisor) + given_back
        if rest == 0 or rhs <= 0:
            return None
        return CapacityCut(self.net, self.rows, self.columns, self.need, np.sort(cover), divisor, rest, rhs)


def cut_of(net: Network, forced: Ints, levels: FlowLevels, q: int, rows: Bytes, columns: Bytes) -> CapacityCut | None:
    """The plain cut of level q over a node set; None where forced places already carry the need."""
    need = int(levels.need[q])
    left = residual_need(net, forced, rows, columns, int(levels.place[q]), need)
    return plain_cut(net, rows.copy(), columns.copy(), left) if left > 0 else None


def plain_cut(net: Network, rows: Bytes, columns: Bytes, need: int) -> CapacityCut:
    """The cut over a node set as it is; its divisor is so large that nothing is divided."""
    return CapacityCut(net, rows, columns, need, np.zeros(0, np.int64), 2 * need + 1, need, need)


@compiled
def crossing(net: Network, places: Ints, rows: Bytes, columns: Bytes, most: int) -> Ints:
    """What each place can carry out of the node set, at most `most` (int64)."""
    width = len(columns)
    out = np.zeros(len(places), np.int64)
    for z in range(len(places)):
        i, j = places[z] // width, places[z] % width
        if rows[i] and not columns[j]:
            out[z] = min(net.forward[i, j], most)
        elif columns[j] and not rows[i]:
            out[z] = min(net.backward[i, j], most)
    return out


@inner
def coefficient(capacity: int, covered: bool, shape: Shape) -> int:
    """The coefficient of a place with this capacity out of the node set; no larger than the right-hand side."""
    need, divisor, rest, rhs = shape
    capacity = min(capacity, need)
    if covered:
        return min(rhs, -compiled_step(-capacity, divisor, rest))
    return min(rhs, compiled_step(capacity, divisor, rest))


@compiled
def _coefficients(net: Network, places: Ints, rows: Bytes, columns: Bytes, cover: Ints, shape: Shape) -> Ints:
    """Coefficients at places (int64): capacities out of the node set, rounded; complemented in the cover."""
    out = crossing(net, places, rows, columns, shape[0])
    at = np.searchsorted(cover, places)
    for z in range(len(places)):
        if out[z] > 0:
            covered = at[z] < len(cover) and cover[at[z]] == places[z]
            out[z] = coefficient(out[z], covered, shape)
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
            left -= min(net.forward[i, j], need)
        elif columns[j] and not rows[i]:
            left -= min(net.backward[i, j], need)
        if left <= 0:
            return 0
    return left


class Stack(NamedTuple):
    """Plain cuts one above the other: node sets (uint8[K, R], uint8[K, C]) and needs (int64[K])."""

    rows: Bytes
    columns: Bytes
    need: Ints


def stacked(cuts: Sequence[CapacityCut]) -> Stack:
    """The node sets and needs of plain cuts, at least one."""
    need = np.array([cut.need for cut in cuts], np.int64)
    return Stack(np.array([cut.rows for cut in cuts]), np.array([cut.columns for cut in cuts]), need)


def violated_roundings(
    cuts: Sequence[CapacityCut], stack: Stack, places: Ints, x: Floats, least: float
) -> list[tuple[float, CapacityCut]]:
    """The best rounding of each plain cut that a point violates by more than `least`, the worst first.

    `places` are the candidates with positive `x` (float64), by falling x.
    """
    violation, divisor, start, cover = _best_roundings(cuts[0].net, places, x, stack, least)
    found = []
    for c in np.flatnonzero(violation > least).tolist():
        rounded = cuts[c].rounded(cover[start[c] : start[c + 1]], int(divisor[c]))
        if rounded is not None:
            found.append((float(violation[c]), rounded))
    return sorted(found, key=lambda pair: -pair[0])


@compiled
def _best_roundings(
    net: Network, places: Ints, x: Floats, stack: Stack, least: float
) -> tuple[Floats, Ints, Ints, Ints]:
    """Violation, divisor and cover of the best rounding of each cut, covers one after the other."""
    count = len(stack.need)
    violation, divisor, start = np.zeros(count), np.ones(count, np.int64), np.zeros(count + 1, np.int64)
    covers = np.zeros(256, np.int64)
    cover = np.zeros(len(places), np.int64)
    for c in range(count):
        violation[c], size, divisor[c] = _best_rounding(
            net, places, x, stack.rows[c], stack.columns[c], stack.need[c], cover
        )
        start[c + 1] = start[c]
        if violation[c] > least:
            start[c + 1] += size
            covers = appended(covers, start[c], cover, size)
    return violation, divisor, start, covers


@inner
def _best_rounding(
    net: Network, places: Ints, x: Floats, rows: Bytes, columns: Bytes, need: int, cover: Ints
) -> tuple[float, int, int]:
    """How much the point violates the best rounding of a plain cut, the size of its cover and its divisor.

    Covers are prefixes of `places`; the best one is left in `cover`.
    """
    capacity = crossing(net, places, rows, columns, need)
    value, place = np.zeros(len(places)), np.zeros(len(places), np.int64)
    used = 0
    for z in range(len(places)):
        if capacity[z] > 0:
            capacity[used], value[used], place[used] = capacity[z], x[z], places[z]
            used += 1
    capacity, value = capacity[:used], value[:used]
    return best_rounding(capacity, value, place[:used], need, cover)
