"""The proof of a bound: multipliers of cuts, rounded to integers, give a bound that no arithmetic can shake.

For multipliers y >= 0 of cuts `c x >= r` every pattern costs at least
`sum(y r) + sum(min(0, w - sum(y c)))`, the second sum over all candidates. Whatever y is, this holds, so the
solver's floats only propose y. Here y is an integer in units of `2**-shift`; shares of cells are rounded
up, which can only lower the bound, and the sum of the right-hand sides is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.cuts import Cut, coefficient
from gpuga.bounds.lone_cells import PlaneCut
from gpuga.compiled import compiled, inner
from gpuga.problem.two_way import TwoWayProblem
from gpuga.safety.network import Bytes, Network
from gpuga.table.table import Ints

SAFE_BITS = 58
RATIO_BITS = 31


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proven bound on the cost of the secondary suppressions.

    `bound` in units of the weights (rounded up to what costs can be at all); `total` is the same before
    rounding and `reduced` int64[R, C] the reduced costs, both in units of `2**-shift`.
    """

    bound: int
    total: int
    reduced: Ints
    shift: int
    step: int

    def removable(self, cost: int) -> NDArray[np.bool_]:
        """Places that no pattern cheaper than `cost` contains (bool[R, C])."""
        margin = ((cost - self.step) << self.shift) - self.total
        if margin < 0:
            return np.ones(self.reduced.shape, bool)
        return np.asarray(self.reduced > min(margin, 2**62))


def certify(
    problem: TwoWayProblem, cuts: Sequence[PlaneCut], multipliers: NDArray[np.float64], step: int
) -> Certificate:
    """The bound of multipliers for `sum(coefficient/rhs * x) >= 1`, in units of the weights (float64).

    `step` divides every cost; negative and tiny multipliers count as zero.
    """
    used = np.flatnonzero(multipliers > 0)
    largest = float(problem.weight.max(initial=1)) + float(multipliers[used].sum())
    shift = max(0, SAFE_BITS - int(np.ceil(np.log2(largest + 1))))
    fixed = np.floor(multipliers[used] * 2.0**shift).astype(np.int64)
    used, fixed = used[fixed > 0], fixed[fixed > 0]
    reduced = problem.weight << shift
    taken = [cuts[int(c)] for c in used]
    for cut, multiplier in zip(taken, fixed.tolist(), strict=True):
        if not isinstance(cut, Cut):
            coefficient = cut.dense(problem.net).reshape(problem.shape)
            whole, rest = divmod(multiplier, cut.scale)
            reduced -= whole * coefficient + -(-rest * coefficient // cut.scale)
    simple = np.array([isinstance(cut, Cut) for cut in taken], bool)
    chosen = [cut for cut in taken if isinstance(cut, Cut)]
    if chosen:
        rows = np.array([cut.rows for cut in chosen])
        columns = np.array([cut.columns for cut in chosen])
        shapes = np.array([cut.shape for cut in chosen], np.int64)
        start = np.concatenate([[0], np.cumsum([len(cut.cover) for cut in chosen])]).astype(np.int64)
        cover = np.concatenate([cut.cover for cut in chosen]).astype(np.int64)
        _subtract(problem.net, rows, columns, shapes, fixed[simple], start, cover, reduced)
    negative = reduced[problem.candidate & (reduced < 0)]
    asks = np.array([cut.rhs > 0 for cut in taken], bool)
    total = int(fixed[asks].sum()) + sum(negative.tolist())
    bound = max(0, -((-total) >> shift))
    return Certificate(-(-bound // step) * step, total, reduced, shift, step)


@inner
def share(multiplier: int, capacity: int, rhs: int) -> int:
    """`multiplier * min(capacity, rhs) / rhs`, rounded up, without overflow."""
    if capacity >= rhs:
        return multiplier
    while rhs >> RATIO_BITS > 0:
        capacity = (capacity >> 1) + 1
        rhs = rhs >> 1
    if capacity >= rhs:
        return multiplier
    whole, rest = multiplier // rhs, multiplier % rhs
    return whole * capacity + (rest * capacity + rhs - 1) // rhs


@compiled
def _subtract(
    net: Network, rows: Bytes, columns: Bytes, shapes: Ints, fixed: Ints, start: Ints, cover: Ints, reduced: Ints
) -> None:
    """Take each cut's share from the reduced costs of its places."""
    height, width = reduced.shape
    covered = np.zeros(reduced.shape, np.bool_)
    for c in range(len(shapes)):
        shape = (shapes[c, 0], shapes[c, 1], shapes[c, 2], shapes[c, 3])
        for place in cover[start[c] : start[c + 1]]:
            covered[place // width, place % width] = True
        for i in range(height):
            for j in range(width):
                if rows[c, i] and not columns[c, j]:
                    capacity = net.forth[i, j]
                elif columns[c, j] and not rows[c, i]:
                    capacity = net.back[i, j]
                else:
                    continue
                if capacity > 0:
                    own = coefficient(capacity, covered[i, j], shape)
                    reduced[i, j] -= share(fixed[c], own, shape[3])
        for place in cover[start[c] : start[c + 1]]:
            covered[place // width, place % width] = False
