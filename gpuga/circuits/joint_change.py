"""One change of a table that moves many cells at once: the incremental attacker's LP for a group of requirements.

Smith, Clark, Staggemeier and Serpell (2012) ask one pair of LPs per group where single questions take too
long. Here the goals of a group are elastic: what contradicts the others falls short instead of making the
whole impossible. The solver's point need not be a vertex; an exact change near it is found by elimination, and
what it proves is checked in integers, so a wide margin is asked for and none is trusted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.lp.highs import Highs
from gpuga.lp.solver import Model, Solver, SolveStatus
from gpuga.safety.requirements import Requirements
from gpuga.safety.vertex import exact_near
from gpuga.safety.witness import AllowedChanges, hold, witness_of
from gpuga.table.table import INFINITE, Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

MARGIN = 1.02
"""Goals are asked for with this factor, so that what exactness takes away does not matter."""

PARTS = 64
"""Free components of the exact change are multiples of this part of a unit."""

SUPPRESSED_COST = 1e-3
"""What moving a suppressed cell costs, against a typical weight: enough that it moves for a reason only."""

SHORT_COST = 100.0
"""What a unit of a goal that is missed costs, against the dearest cell."""


class JointChange:
    """Changes of one table for groups of requirements; suppressed cells are cheap."""

    def __init__(self, table: Table, allowed: AllowedChanges, solver: Solver | None = None) -> None:
        self.table, self.allowed = table, allowed
        self.solver = solver or Highs()
        self.cells = np.flatnonzero((table.up > 0) | (table.down > 0)).astype(np.int32)
        self.column = np.full(len(table), -1, np.int64)
        self.column[self.cells] = np.arange(len(self.cells))
        self.unit = max(1.0, float(max(x.max(initial=0) for x in vars(table.levels).values())) / 1e3)
        self._lines()

    def _lines(self) -> None:
        """The lines of the movable cells in compressed columns, lines renumbered."""
        allowed = self.allowed
        counts = np.diff(allowed.cell_start)[self.cells]
        first = allowed.cell_start[self.cells]
        entries = np.repeat(first - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts) + np.arange(counts.sum())
        used, index = np.unique(allowed.cell_line[entries], return_inverse=True)
        self.rows = len(used)
        self.start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self.index, self.coef = index.astype(np.int32), allowed.cell_coef[entries]

    def find(self, requirements: Requirements, suppressed: Mask, seconds: float = float("inf")) -> Witnesses | None:
        """An exact change that reaches most of the requirements' goals (one requirement per cell), or None."""
        answer = self.solver.interior_session(self._model(requirements, suppressed)).solve(seconds)
        if answer.status is not SolveStatus.OPTIMAL:
            return None
        count = len(self.cells)
        x = (answer.x[:count] - answer.x[count : 2 * count]) * self.unit
        x[np.abs(x) < 1e-3 * float(requirements.need.min())] = 0.0
        made = exact_near(x, self.start, self.index, self.coef, PARTS)
        return None if made is None else self._inside(*made)

    def _model(self, requirements: Requirements, suppressed: Mask) -> Model:
        """Columns: rises, falls, what each goal misses; rows: lines, then goals."""
        count, goals = len(self.cells), len(requirements)
        weight = self.table.weight[self.cells].astype(np.float64)
        typical = float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0
        cost = np.where(suppressed[self.cells], 0.0, weight / typical) + SUPPRESSED_COST
        matrix = self._matrix(requirements)
        return Model(
            cost=np.concatenate([cost, cost, np.full(goals, SHORT_COST * cost.max(initial=1.0))]),
            lower=np.zeros(2 * count + goals),
            upper=np.concatenate([self._room(self.table.up), self._room(self.table.down), np.full(goals, np.inf)]),
            row_lower=np.concatenate([np.zeros(self.rows), requirements.need * MARGIN / self.unit]),
            row_upper=np.concatenate([np.zeros(self.rows), np.full(goals, np.inf)]),
            start=matrix[0],
            index=matrix[1],
            value=matrix[2],
        )

    def _room(self, room: Ints) -> NDArray[np.float64]:
        room = room[self.cells]
        return np.where(room >= INFINITE, np.inf, room / self.unit)

    def _matrix(self, requirements: Requirements) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        from scipy.sparse import csc_array, hstack, vstack

        count, goals = len(self.cells), len(requirements)
        lines = csc_array((self.coef.astype(np.float64), self.index, self.start), shape=(self.rows, count))
        at = (np.arange(goals), self.column[requirements.cell])
        goal = csc_array((requirements.direction.astype(np.float64), at), shape=(goals, count))
        change = vstack([lines, goal])
        missed = vstack([csc_array((self.rows, goals)), csc_array(np.eye(goals))])
        whole = hstack([change, -change, missed]).tocsc()
        return whole.indptr.astype(np.int32), whole.indices.astype(np.int32), whole.data

    def _inside(self, amounts: NDArray[np.generic], denominator: int) -> Witnesses | None:
        """The change scaled down until it keeps all bounds; None where it does not hold even then."""
        if amounts.dtype == object:
            return None
        whole = amounts.astype(np.int64)
        room = np.where(whole > 0, self.table.up[self.cells], self.table.down[self.cells])
        moved = whole != 0
        factor = float((room[moved].astype(float) * denominator / np.abs(whole[moved])).min(initial=1.0))
        if factor < 1.0:
            share = int(np.floor(factor * 1024 * (1 - 1e-12)))
            if float(np.abs(whole).max(initial=0)) * 1024 >= 2**60:
                return None
            whole, denominator = whole * share, denominator * 1024
        witness = witness_of(self.cells, whole, denominator)
        return witness if len(witness.cell) and hold(self.allowed, witness)[0] else None
