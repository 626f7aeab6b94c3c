"""The linear program of a branch and bound over a few places, and its counterpart in exact integers.

The solver proposes multipliers of the cuts; the bound they give is recomputed in integers (see `certificate`), with
the node's fixed cells taken into account. So a bound never rests on the solver's word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.certificate import SAFE_BITS, share
from gpuga.bounds.lone_cells import PlaneCut
from gpuga.bounds.relaxation import Relaxation, new_solver
from gpuga.bounds.rounding import Key
from gpuga.compiled import compiled
from gpuga.table.table import Ints, Mask

Floats = NDArray[np.float64]

NO_LIMIT = 2**31 - 1
SOLVES_IDLE = 10
LEAST_PURGED = 0.3


class Proof(NamedTuple):
    """A proven bound before rounding, and the reduced costs of the places, in units of `2**-shift`."""

    total: int
    reduced: Ints
    shift: int
    step: int

    def removable(self, cost: int) -> Mask:
        """Positions that no pattern cheaper than `cost` contains."""
        margin = ((cost - self.step) << self.shift) - self.total
        return np.asarray(self.reduced > min(max(margin, 0), 2**62))


class Program:
    """Cuts over `places` with weights.

    `x` is the latest point, `objective` its cost in the solver's unit, `proof` its bound. An
    artificial column that meets every cut at the price `most` keeps all programs feasible.
    """

    def __init__(self, relaxation: Relaxation, places: Ints, most: int) -> None:
        self.net, self.places = relaxation.problem.net, places
        self.weight = relaxation.problem.weight.ravel()[places]
        self.unit, self.step = relaxation.unit, relaxation.step
        self.solver = new_solver(np.append(self.weight, most) / self.unit)
        self.solver.changeColBounds(len(places), 0.0, highspy.kHighsInf)
        self.known: set[Key] = set()
        self.cuts: list[PlaneCut] = []
        self.start = np.zeros(1, np.int64)
        self.index = np.zeros(0, np.int64)
        self.value = np.zeros(0, np.int64)
        self.scale = np.zeros(0, np.int64)
        self.asks = np.zeros(0, bool)
        self.idle = np.zeros(0, np.int64)
        self.every = np.arange(len(places), dtype=np.int32)
        self.x = np.zeros(len(places))
        self.objective = 0.0
        self.proof = Proof(0, self.weight, 0, self.step)
        self.low, self.high = np.zeros(len(places)), np.ones(len(places))

    def add(self, cuts: Sequence[PlaneCut]) -> int:
        """Add rows that are not there yet; how many."""
        fresh = [cut for cut in {cut.key: cut for cut in cuts}.values() if cut.key not in self.known]
        if not fresh:
            return 0
        self.known.update(cut.key for cut in fresh)
        self.cuts += fresh
        coefficient = np.array([cut.coefficients(self.net, self.places) for cut in fresh])
        scale = np.array([cut.scale for cut in fresh], np.int64)
        asks = np.array([cut.rhs > 0 for cut in fresh], bool)
        row, column = np.nonzero(coefficient)
        value = coefficient[row, column]
        size = np.bincount(row, minlength=len(fresh))
        # every row ends with its share of the artificial column
        start = np.concatenate([[0], np.cumsum(size + 1)])
        ends = np.cumsum(size)
        self.solver.addRows(
            len(fresh),
            asks.astype(np.float64),
            np.full(len(fresh), highspy.kHighsInf),
            int(start[-1]),
            start[:-1].astype(np.int32),
            np.insert(column, ends, len(self.places)).astype(np.int32),
            np.insert(value / scale[row], ends, 1.0),
        )
        self.start = np.concatenate([self.start, self.start[-1] + ends])
        self.index = np.concatenate([self.index, column])
        self.value = np.concatenate([self.value, value])
        self.scale = np.concatenate([self.scale, scale])
        self.asks = np.concatenate([self.asks, asks])
        self.idle = np.concatenate([self.idle, np.zeros(len(fresh), np.int64)])
        return len(fresh)

    def purge(self) -> None:
        """Drop the rows that have not borne on any of the latest bounds; they are found again when needed."""
        stay = self.idle < SOLVES_IDLE
        drop = np.flatnonzero(~stay)
        if len(drop) < LEAST_PURGED * len(stay):
            return
        self.solver.deleteRows(len(drop), drop.astype(np.int32))
        self.known.difference_update(self.cuts[c].key for c in drop)
        self.cuts = [self.cuts[c] for c in np.flatnonzero(stay)]
        entries = np.repeat(stay, np.diff(self.start))
        self.index, self.value = self.index[entries], self.value[entries]
        self.start = np.concatenate([[0], np.cumsum(np.diff(self.start)[stay])])
        self.scale, self.asks, self.idle = self.scale[stay], self.asks[stay], self.idle[stay]

    def fix(self, published: Sequence[int], suppressed: Sequence[int]) -> None:
        """Let the programs be those of a node: positions that are published or suppressed."""
        self.low[:], self.high[:] = 0.0, 1.0
        self.high[list(published)] = 0.0
        self.low[list(suppressed)] = 1.0
        self.solver.changeColsBounds(len(self.places), self.every, self.low, self.high)

    def fix_one(self, at: int, low: float, high: float) -> None:
        """Change the bounds of one position."""
        self.low[at], self.high[at] = low, high
        self.solver.changeColBounds(at, low, high)

    def solve(self, iterations: int = NO_LIMIT) -> int:
        """Solve, or try to within some iterations; the proven bound, rounded up to what costs can be at all."""
        self.solver.setOptionValue("simplex_iteration_limit", iterations)
        self.solver.run()
        solution = self.solver.getSolution()
        self.x = np.clip(np.array(solution.col_value)[:-1], 0.0, 1.0)
        self.objective = float(self.solver.getInfo().objective_function_value)
        multipliers = np.maximum(np.array(solution.row_dual), 0.0) * self.unit
        self.idle = np.where(multipliers > 0, 0, self.idle + 1)
        return self._proven(multipliers)

    def _proven(self, multipliers: Floats) -> int:
        """The bound of the multipliers as integers in units of a power of two."""
        largest = float(self.weight.max(initial=1)) + float(multipliers.sum())
        shift = max(0, SAFE_BITS - int(np.ceil(np.log2(largest + 1))))
        fixed = np.floor(multipliers * 2.0**shift).astype(np.int64)
        reduced = self.weight << shift
        _subtract(self.start, self.index, self.value, self.scale, fixed, reduced)
        counted = np.where(self.low > 0, reduced, np.where(self.high > 0, np.minimum(reduced, 0), 0))
        total = sum(fixed[self.asks].tolist()) + sum(counted[counted != 0].tolist())
        self.proof = Proof(total, reduced, shift, self.step)
        bound = -((-total) >> shift)
        return int(-(-bound // self.step) * self.step)


@compiled
def _subtract(start: Ints, index: Ints, value: Ints, scale: Ints, fixed: Ints, reduced: Ints) -> None:
    """Take each cut's share from the reduced costs of its places."""
    for c in range(len(scale)):
        if fixed[c] > 0:
            for z in range(start[c], start[c + 1]):
                reduced[index[z]] -= share(fixed[c], value[z], scale[c])
