"""The attacker: one linear program per pattern, whose answers become exact witnesses and exact bounds.

Variables are the deviations of the suppressed cells, rows the lines that hold any. What the solver
says is only a proposal. A point becomes a witness when it holds in integers; a dual becomes an upper
bound on the attacker's reach, summed in rationals. A question that neither settles is left undecided,
and undecided never means safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpuga.lp.highs import Highs
from gpuga.lp.solver import Answer, Model, Session, Solver, Status
from gpuga.safety.witness import Ground, Witnesses, exact_witness, rationalise
from gpuga.table.table import INFINITE, Ints, Mask, Table


@dataclass(frozen=True, eq=False)
class Reach:
    """How far a cell can move one way: at least `attained` (with `witness`), at most `bound`.

    `attained` is 0 without a witness; `bound` None means that no bound was proven (perhaps none exists).
    """

    attained: Fraction
    witness: Witnesses | None
    bound: Fraction | None
    unbounded: bool = False


class Attacker:
    """The attacker on one pattern; keeps one warm model for all questions."""

    def __init__(self, table: Table, suppressed: Mask, solver: Solver | None = None) -> None:
        self.table = table
        self.suppressed = suppressed
        self.cells = np.flatnonzero(suppressed).astype(np.int32)
        self.column = np.full(len(table), -1, np.int32)
        self.column[self.cells] = np.arange(len(self.cells), dtype=np.int32)
        self.ground = Ground.of(table, suppressed)
        self.up, self.down = table.up[self.cells], table.down[self.cells]
        self.unit = max(1.0, float(max(x.max(initial=0) for x in vars(table.levels).values())) / 1e4)
        self.solver = solver or Highs()
        self.solves = 0
        self._matrix()
        self._session: Session | None = None
        self._objective: int | None = None

    def _matrix(self) -> None:
        """The lines restricted to suppressed cells, in compressed columns, lines renumbered."""
        lines = self.table.lines
        kept = self.suppressed[lines.cell]
        used, row = np.unique(lines.line_of_entry[kept], return_inverse=True)
        column = self.column[lines.cell[kept]]
        order = np.lexsort((row, column))
        self.rows = len(used)
        self.index = row[order].astype(np.int32)
        self.coef = lines.coef[kept][order]
        counts = np.bincount(column, minlength=len(self.cells))
        self.start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    def _open(self) -> Session:
        def bound(room: Ints) -> NDArray[np.float64]:
            return np.where(room >= INFINITE, np.inf, room / self.unit)

        zeros = np.zeros(self.rows)
        model = Model(
            cost=np.zeros(len(self.cells)),
            lower=-bound(self.down),
            upper=bound(self.up),
            row_lower=zeros,
            row_upper=zeros,
            start=self.start,
            index=self.index,
            value=self.coef.astype(np.float64),
            maximise=True,
        )
        return self.solver.session(model)

    def reach(
        self, cell: int, direction: int, need: int, seconds: float = float("inf"), *, or_nothing: bool = False
    ) -> Reach:
        """How far `cell` can move in `direction`; where there is no limit, a witness of `need` is asked for.

        With `or_nothing` an answer that clearly misses `need` is not made exact, and none gets a bound: that saves most
        of the work.
        """
        column = int(self.column[cell])
        answer = self._solve(column, direction, seconds)
        if answer.status is Status.UNBOUNDED:
            return self._reach_far(column, direction, need, seconds)
        if answer.status is not Status.OPTIMAL:
            return Reach(Fraction(0), None, None)
        if or_nothing and answer.objective * self.unit < need - 1e-3 * max(1.0, abs(need)):
            return Reach(Fraction(0), None, None)
        return self._exactly(answer, column, direction, bounded=not or_nothing)

    def publish(self, cells: Ints) -> None:
        """From now on the attacker knows these cells."""
        none = np.zeros(len(cells), np.int64)
        self._set_room(cells, none, none)

    def hide(self, cells: Ints) -> None:
        """Take `publish` back."""
        self._set_room(cells, self.table.up[cells], self.table.down[cells])

    def _set_room(self, cells: Ints, up: Ints, down: Ints) -> None:
        if self._session is None:
            self._session = self._open()
        columns = self.column[cells]
        self.up[columns] = self.ground.up[cells] = up
        self.down[columns] = self.ground.down[cells] = down
        low, high = (np.where(room >= INFINITE, np.inf, room / self.unit) for room in (down, up))
        self._session.set_bounds(columns, -low, high)

    def _solve(self, column: int, direction: int, seconds: float) -> Answer:
        if self._session is None:
            self._session = self._open()
        columns, costs = [column], [float(direction)]
        if self._objective is not None and self._objective != column:
            columns.insert(0, self._objective)
            costs.insert(0, 0.0)
        self._session.set_cost(np.array(columns, np.int32), np.array(costs))
        self._objective = column
        self.solves += 1
        return self._session.solve(seconds)

    def _reach_far(self, column: int, direction: int, need: int, seconds: float) -> Reach:
        """The reach of a cell without limit: bounded for one solve at what is asked for."""
        assert self._session is not None
        at = np.array([column], np.int32)
        goal = max(need, 1) / self.unit
        lower = -self.down[column] / self.unit if self.down[column] < INFINITE else -np.inf
        upper = self.up[column] / self.unit if self.up[column] < INFINITE else np.inf
        room = (lower, goal) if direction > 0 else (-goal, upper)
        self._session.set_bounds(at, np.array([room[0]]), np.array([room[1]]))
        answer = self._session.solve(seconds)
        self._session.set_bounds(at, np.array([lower]), np.array([upper]))
        if answer.status is not Status.OPTIMAL:
            return Reach(Fraction(0), None, None)
        reach = self._exactly(answer, column, direction)
        return Reach(reach.attained, reach.witness, None, unbounded=reach.attained >= need)

    def _exactly(self, answer: Answer, column: int, direction: int, *, bounded: bool = True) -> Reach:
        witness = exact_witness(self.ground, self.cells, answer.x * self.unit, self.start, self.index, self.coef)
        attained = Fraction(0)
        if witness is not None:
            cells, amounts, denominator = witness.one(0)
            at = np.flatnonzero(cells == self.cells[column])
            attained = Fraction(direction * int(amounts[at[0]]), denominator) if len(at) else Fraction(0)
        bound = self._dual_bound(answer.row_dual, column, direction) if bounded else None
        return Reach(attained, witness, bound)

    def _dual_bound(self, dual: NDArray[np.float64], column: int, direction: int) -> Fraction | None:
        """`sum(max over the box of reduced cost * deviation)`: no attacker goes further. None: not finite."""
        proposal = rationalise(dual)
        if proposal is None or not len(self.coef):
            return None if proposal is None else Fraction(int((self.up if direction > 0 else self.down)[column]))
        y, denominator = proposal
        reduced = -np.add.reduceat(np.append(self.coef * y[self.index], 0), self.start[:-1])
        reduced[np.diff(self.start) == 0] = 0
        reduced[column] += direction * denominator
        room = np.where(reduced > 0, self.up, self.down)
        moving = reduced != 0
        if (room[moving] >= INFINITE).any():
            return None
        total = sum(abs(r) * c for r, c in zip(reduced[moving].tolist(), room[moving].tolist(), strict=True))
        return Fraction(total, denominator)
