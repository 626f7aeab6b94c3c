"""The cheapest consistent change of a table that moves one cell by its level: the incremental attacker's LP.

Smith, Clark, Staggemeier and Serpell (2012): minimise `sum c (y+ + y-)` with `M (y+ - y-) = 0`, room
`y+ <= ub - a`, `y- <= a - lb`, the cell's own change fixed at its level, `c = 0` on cells that are
already suppressed and their weight elsewhere. Every cell that moved has to be suppressed; the change
itself is the circuit that proves the level.

A pattern pays for a whole cell, however little it moves. Priced by capacity, a unit costs the weight over what the cell
can carry of the need, as in the linear relaxation of such fixed charges: changes then move fewer cells where the need
is large beside the cells' values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from gpuga.lp.highs import Highs, solve_whole
from gpuga.lp.solver import Answer, Model, Session, Solver, SolveStatus
from gpuga.safety.attacker import FARTHEST_WHOLE
from gpuga.safety.basis import Solution
from gpuga.safety.exact_lp import IntegerProgram
from gpuga.safety.witness import AllowedChanges, hold, rationalise, witness_of
from gpuga.table.table import INFINITE, Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

NODES, GAP = 100, 0.1
"""How long a cheap change in whole numbers is looked for, in nodes, and how far it may be from the cheapest."""

MULTIPLE, LEAST_COST = 8, 1e-3
"""No cell moves further than so many times the level there, and none for nothing: rises and falls of one cell that
cancel each other would keep branch and bound busy without end."""


class CheapestChange:
    """One model for all questions on a table; costs fall to zero as cells become suppressed.

    With `within`, only these cells may move. Units are priced by weight or `by_capacity`.
    """

    def __init__(
        self,
        table: Table,
        suppressed: Mask,
        solver: Solver | None = None,
        *,
        within: Ints | None = None,
        allowed: AllowedChanges | None = None,
        by_capacity: bool = False,
    ) -> None:
        self.table, self.by_capacity = table, by_capacity
        movable = (table.up > 0) | (table.down > 0)
        self.cells = (np.flatnonzero(movable) if within is None else within[movable[within]]).astype(np.int32)
        self.column = np.full(len(table), -1, np.int32)
        self.column[self.cells] = np.arange(len(self.cells), dtype=np.int32)
        self.allowed = allowed or AllowedChanges.of(table, table.suppressible)
        self.unit = max(1.0, float(max(x.max(initial=0) for x in vars(table.levels).values())) / 1e3)
        self.suppressed = suppressed.copy()
        self._rise, self._fall = self._room(table.up[self.cells]), self._room(table.down[self.cells])
        self._session = self._open(solver or Highs())

    def _room(self, room: Ints) -> NDArray[np.float64]:
        return np.where(room >= INFINITE, np.inf, room / self.unit)

    def _open(self, solver: Solver) -> Session:
        """Columns are the rises of all movable cells, then their falls."""
        allowed = self.allowed
        start, line, coef = allowed.cell_start, allowed.cell_line, allowed.cell_coef
        counts = np.diff(start)[self.cells]
        before = np.concatenate([[0], np.cumsum(counts)])[:-1]
        entries = np.repeat(start[self.cells] - before, counts) + np.arange(int(counts.sum()))
        value = coef[entries].astype(np.float64)
        begins = np.concatenate([[0], np.cumsum(np.concatenate([counts, counts]))]).astype(np.int32)
        used, inverse = np.unique(line[entries], return_inverse=True)
        index = inverse.astype(np.int32)
        zeros = np.zeros(len(used))
        both = (np.concatenate([coef[entries], -coef[entries]]), np.concatenate([index, index]), begins)
        self._both_ways = csc_array(both, shape=(len(used), 2 * len(self.cells)))
        cost = self._cost()
        model = Model(
            cost=np.concatenate([cost, cost]),
            lower=np.zeros(2 * len(self.cells)),
            upper=np.concatenate([self._rise, self._fall]),
            row_lower=zeros,
            row_upper=zeros,
            start=begins,
            index=np.concatenate([index, index]),
            value=np.concatenate([value, -value]),
        )
        return solver.cold_session(model)

    def _cost(self) -> NDArray[np.float64]:
        """Weights relative to a typical one; even a weightless cell costs a little, so that it moves for a reason."""
        weight = self.table.weight[self.cells].astype(np.float64)
        typical = float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0
        return np.where(self.suppressed[self.cells], 0.0, np.maximum(weight / typical, 1e-3))

    def _price_by_capacity(self, need: int) -> None:
        """Let a unit cost the weight over what a cell can carry of a need."""
        cost = self._cost()
        rooms = (np.minimum(room[self.cells], need) for room in (self.table.up, self.table.down))
        both = np.concatenate([cost * (need / np.maximum(room, 1)) for room in rooms])
        self._session.set_cost(np.arange(len(both), dtype=np.int32), both)

    def suppress(self, cells: NDArray[np.integer]) -> None:
        """From now on these cells cost nothing."""
        self.suppressed[cells] = True
        columns = self.column[cells]
        columns = columns[columns >= 0]
        both = np.concatenate([columns, columns + len(self.cells)])
        self._session.set_cost(both, np.zeros(len(both)))

    def find(self, cell: int, direction: int, need: int, seconds: float = float("inf")) -> Witnesses | None:
        """The cheapest exact change that moves `cell` by `need` in `direction`, or None where there is none.

        The solver's basis is solved exactly; where the vertex leaves its bounds within the solver's tolerance, the
        change is given up, and the caller decides what to do.
        """
        column, count = int(self.column[cell]), len(self.cells)
        if column < 0:
            return None
        columns = np.array([column, column + count], np.int32)
        fixed, goal = np.zeros(2), need / self.unit
        fixed[0 if direction > 0 else 1] = goal
        if self.by_capacity:
            self._price_by_capacity(need)
        self._session.set_bounds(columns, fixed, fixed)
        answer = self._session.solve(seconds)
        self._session.set_bounds(columns, np.zeros(2), np.array([self._rise[column], self._fall[column]]))
        if answer.status is not SolveStatus.OPTIMAL:
            return None
        return self._exactly(answer, column if direction > 0 else column + count, need)

    def find_whole(self, cell: int, direction: int, need: int, seconds: float = float("inf")) -> Witnesses | None:
        """As `find`, in whole numbers of units, by an integer program; None also where that takes too many nodes."""
        column, count = int(self.column[cell]), len(self.cells)
        upper = np.concatenate([self.table.up[self.cells], self.table.down[self.cells]])
        lower = np.zeros(2 * count)
        upper = np.minimum(upper, MULTIPLE * need).astype(np.float64)
        fixed, other = (column, column + count) if direction > 0 else (column + count, column)
        lower[fixed], upper[other] = need, 0.0  # it may have to go further: parities
        if upper[fixed] < need or MULTIPLE * need >= FARTHEST_WHOLE:
            return None
        zeros, both, cost = np.zeros(self._both_ways.shape[0]), self._both_ways, np.maximum(self._cost(), LEAST_COST)
        start, index = both.indptr.astype(np.int32), both.indices.astype(np.int32)
        model = Model(
            np.concatenate([cost, cost]), lower, upper, zeros, zeros, start, index, both.data.astype(np.float64)
        )
        answer = solve_whole(model, seconds, NODES, GAP)
        if not len(answer.x):
            return None
        amounts = np.rint(answer.x).astype(np.int64)
        witness = witness_of(self.cells, amounts[:count] - amounts[count:])
        return witness if hold(self.allowed, witness)[0] else None

    def _exactly(self, answer: Answer, fixed: int, need: int) -> Witnesses | None:
        """The vertex of the session's basis as a change of the table, None where it does not hold exactly."""
        count, basis = len(self.cells), self._session.basis()
        point: Solution | None
        if basis is None:  # a solver without bases: its floats are a proposal like any other
            point = rationalise(answer.x * self.unit)
        else:
            lower = np.zeros(2 * count, np.int64)
            upper = np.concatenate([self.table.up[self.cells], self.table.down[self.cells]])
            other = fixed + count if fixed < count else fixed - count
            lower[fixed], upper[fixed], upper[other] = need, need, 0
            vertex = IntegerProgram(self._both_ways, lower, upper).at(basis)
            point = None if vertex is None else vertex.point()
        if point is None:
            return None
        amounts, denominator = point
        witness = witness_of(self.cells, amounts[:count] - amounts[count:], denominator)
        return witness if hold(self.allowed, witness)[0] else None
