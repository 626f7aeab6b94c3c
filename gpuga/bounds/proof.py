"""The proof of a bound: multipliers of cuts, rounded to integers, give a bound that no arithmetic can shake.

For multipliers y >= 0 of cuts `c x >= r` every pattern costs at least `sum(y r) + sum(min(0, w - sum(y c)))`, the
second sum over all columns. Whatever y is, this holds, so the solver's floats only propose y. Here y is an integer in
units of `2**-shift`; shares of columns are rounded up, which can only lower the bound, and the sum of the right-hand
sides is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuga.bounds.cut import Cut, Floats
from gpuga.compiled import compiled, inner
from gpuga.table.table import Ints, Mask

SAFE_BITS = 58
RATIO_BITS = 31


class Proof(NamedTuple):
    """A proven bound before rounding, and the reduced costs of the columns, in units of `2**-shift`.

    `step` divides every cost.
    """

    total: int
    reduced: Ints
    shift: int
    step: int

    @property
    def bound(self) -> int:
        """The bound in units of the weights, rounded up to what costs can be at all."""
        return up_to_step(max(0, -((-self.total) >> self.shift)), self.step)

    def removable(self, cost: int) -> Mask:
        """Columns that no pattern cheaper than `cost` contains."""
        margin = ((cost - self.step) << self.shift) - self.total
        return np.ones(self.reduced.shape, bool) if margin < 0 else self.settled(cost)[0]

    def settled(self, cost: int) -> tuple[Mask, Mask]:
        """Columns that no pattern cheaper than `cost` contains, and those that each of them does."""
        margin = min(max(((cost - self.step) << self.shift) - self.total, 0), 2**62)
        return np.asarray(self.reduced > margin), np.asarray(self.reduced < -margin)

    def exceeds(self, other: Proof) -> bool:
        """Whether this one proves more."""
        return self.total << other.shift > other.total << self.shift


class CutRows:
    """Cuts over the columns of a program as compressed sparse rows, in integers.

    `asks` says which right-hand sides are not zero, `widest` is each cut's own.
    """

    def __init__(self) -> None:
        self.start: Ints = np.zeros(1, np.int64)
        self.index: Ints = np.zeros(0, np.int64)
        self.value: Ints = np.zeros(0, np.int64)
        self.scale: Ints = np.zeros(0, np.int64)
        self.asks: Mask = np.zeros(0, bool)
        self.widest: Floats = np.zeros(0)

    def append(self, cuts: Sequence[Cut], columns: Ints, position: Ints) -> None:
        """More rows over some columns; `position` int64[n] is where a column stands among them, -1: nowhere."""
        parts = [cut.entries(columns, position) for cut in cuts]
        ends = np.cumsum([len(index) for index, _ in parts])
        self.start = np.concatenate([self.start, self.start[-1] + ends]).astype(np.int64)
        self.index = np.concatenate([self.index, *(index for index, _ in parts)])
        self.value = np.concatenate([self.value, *(value for _, value in parts)])
        self.scale = np.concatenate([self.scale, np.array([cut.scale for cut in cuts], np.int64)])
        self.asks = np.concatenate([self.asks, np.array([cut.rhs > 0 for cut in cuts], bool)])
        self.widest = np.concatenate([self.widest, [cut.widest for cut in cuts]])

    def keep(self, which: Mask) -> None:
        """Only some rows."""
        size = np.diff(self.start)
        entries = np.repeat(which, size)
        self.index, self.value = self.index[entries], self.value[entries]
        self.start = np.concatenate([[0], np.cumsum(size[which])])
        self.scale, self.asks, self.widest = self.scale[which], self.asks[which], self.widest[which]

    def prove(self, weight: Ints, multipliers: Floats, low: Floats, high: Floats, step: int) -> Proof:
        """What multipliers prove of the points between `low` and `high`, whole numbers of 0 and 1 each."""
        shift = shift_for(weight, multipliers, self.widest)
        fixed = np.floor(multipliers * 2.0**shift).astype(np.int64)
        reduced = weight << shift
        _subtract(self.start, self.index, self.value, self.scale, fixed, reduced)
        counted = np.where(low > 0, reduced, np.where(high > 0, np.minimum(reduced, 0), 0))
        total = sum(fixed[self.asks].tolist()) + sum(counted[counted != 0].tolist())
        return Proof(total, reduced, shift, step)


def step_of(costs: Ints) -> int:
    """What divides every cost."""
    return max(1, int(np.gcd.reduce(costs)) if len(costs) else 1)


def up_to_step(bound: int, step: int) -> int:
    """A bound, rounded up to what costs can be at all."""
    return -(-bound // step) * step


def certify(weight: Ints, candidate: Mask, cuts: Sequence[Cut], multipliers: Floats, step: int) -> Proof:
    """What multipliers prove of all columns (int64[n], bool[n]), of which a program need not hold all.

    Multipliers are for rows divided by their scale, in units of the weights; what is negative counts as zero.
    """
    used = np.flatnonzero(multipliers > 0).tolist()
    shift = shift_for(weight, multipliers[used], np.array([cuts[c].widest for c in used]))
    reduced, total, every = weight << shift, 0, np.arange(len(weight))
    for c in used:
        fixed = int(np.floor(multipliers[c] * 2.0**shift))
        total += fixed if cuts[c].rhs > 0 else 0
        index, value = cuts[c].entries(every, every)
        _subtract_one(index, value, cuts[c].scale, fixed, reduced)
    negative = reduced[candidate & (reduced < 0)]
    return Proof(total + sum(negative.tolist()), reduced, shift, step)


def shift_for(weight: Ints, multipliers: Floats, widest: Floats) -> int:
    """The finest unit `2**-shift` in which no sum of multipliers overflows."""
    largest = float(weight.max(initial=1)) + float((multipliers * widest).sum())
    return max(0, SAFE_BITS - int(np.ceil(np.log2(largest + 1))))


@inner
def share(multiplier: int, value: int, scale: int) -> int:
    """`multiplier * value / scale`, rounded up, without overflow; beyond 31 bits values are below their scale."""
    if value == scale:
        return multiplier
    if scale >> RATIO_BITS > 0:
        while scale >> RATIO_BITS > 0:
            value = (value >> 1) + 1
            scale = scale >> 1
        if value >= scale:
            return multiplier
    whole, rest = multiplier // scale, multiplier % scale
    return whole * value - (-rest * value) // scale


@compiled
def _subtract(start: Ints, index: Ints, value: Ints, scale: Ints, fixed: Ints, reduced: Ints) -> None:
    """Take each row's share from the reduced costs of its columns."""
    for c in range(len(scale)):
        if fixed[c] > 0:
            for z in range(start[c], start[c + 1]):
                reduced[index[z]] -= share(fixed[c], value[z], scale[c])


@compiled
def _subtract_one(index: Ints, value: Ints, scale: int, fixed: int, reduced: Ints) -> None:
    """Take one row's share from the reduced costs of its columns."""
    for z in range(len(index)):
        reduced[index[z]] -= share(fixed, value[z], scale)
