"""The attacker: one linear program per pattern, whose answers become exact witnesses and exact bounds.

Variables are the deviations of the suppressed cells, rows the equations that hold any. The solver's floats are never
read: its basis is solved again in exact arithmetic (`exact_lp`). What comes out is a witness as far as it holds, and a
bound on the attacker's reach. Where the two do not meet, because the solver's tolerance hid the difference, the
program is magnified around the exact point and solved again (iterative refinement, Gleixner et al. 2016). A question
that neither settles is left undecided, and undecided never means safe.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from gpuga.lp.batch import BatchSolver
from gpuga.lp.highs import WIDEST, Highs, solve_whole
from gpuga.lp.solver import Answer, Model, Session, Solver, SolveStatus
from gpuga.safety.basis import Integers, Solution
from gpuga.safety.exact_lp import IntegerProgram, Vertex
from gpuga.safety.requirements import Requirements
from gpuga.safety.witness import AllowedChanges, hold, rationalise, stretch, times, witness_of
from gpuga.table.table import INFINITE, Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

ROUNDS = 8
"""How often a program is magnified before its question is left undecided."""

ZOOM = 2.0**24
"""How much a program is magnified at a time, at most."""


CLEARLY_SHORT = 0.999
"""Where only a witness is wanted, an answer of the solver below this share of the need is believed."""

FAR = 2**58
"""Where a cell has no limit for the solver but no ray shows it, how far it is asked to go."""


FARTHEST_WHOLE = WIDEST // 4
"""How far cells may move in an integer program."""

FARTHEST_NEAR = 2**16
"""How far a whole move is looked for from a linear one."""

NEAR = 8
"""A change in whole numbers is first looked for among those that move no cell by more than so many times the level."""

NODES, PATIENCE = 2_000, 5.0
"""Branch-and-bound nodes for one question in whole numbers: a count, so that the same question ends the same way. The
seconds are a last resort: rare questions keep the solver busy before its first node, and are left undecided then."""


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

    def __init__(
        self,
        table: Table,
        suppressed: Mask,
        solver: Solver | None = None,
        expired: Callable[[], bool] = bool,
    ) -> None:
        self.table = table
        self.suppressed = suppressed
        self.cells = np.flatnonzero(suppressed).astype(np.int32)
        self.column = np.full(len(table), -1, np.int32)
        self.column[self.cells] = np.arange(len(self.cells), dtype=np.int32)
        self.allowed = AllowedChanges.of(table, suppressed)
        self.up, self.down = table.up[self.cells], table.down[self.cells]
        self.unit = max(1.0, self._size() / 1e4)
        self.solver = solver or Highs()
        self.expired = expired
        self.solves = 0
        self.matrix = self._matrix()
        self._session: Session | None = None
        self._priced = np.zeros(0, np.int32)

    def _size(self) -> float:
        """How large the numbers are that matter: the levels, or the rooms where there are none."""
        level = float(max(x.max(initial=0) for x in vars(self.table.levels).values()))
        rooms = [room[room < INFINITE] for room in (self.up, self.down)]
        return level or float(max(room.max(initial=0) for room in rooms))

    def _matrix(self) -> csc_array:
        """The equations restricted to suppressed cells, renumbered."""
        lines = self.table.lines
        kept = self.suppressed[lines.cell]
        used, row = np.unique(lines.line_of_entry[kept], return_inverse=True)
        column = self.column[lines.cell[kept]]
        matrix = csc_array((lines.coef[kept], (row, column)), shape=(len(used), len(self.cells)), dtype=np.int64)
        matrix.sum_duplicates()
        return matrix

    def reach(
        self,
        cell: int,
        direction: int,
        need: int,
        seconds: float = float("inf"),
        *,
        or_nothing: bool = False,
        witness_only: bool = False,
    ) -> Reach:
        """How far `cell` can move in `direction`; where there is no limit, a witness of `need` comes along.

        With `or_nothing` only whether it can move by `need` matters: the answer goes no further than that. With
        `witness_only` as well, the solver's word is enough where it is clearly short: no bound is proven then.
        """
        column = int(self.column[cell])
        self._price({column: float(direction)})
        if or_nothing:
            return self._capped(column, direction, need, seconds, witness_only)
        reach = self._settled(self._program(), column, direction, None, seconds)
        return self._without_limit(column, direction, need, seconds) if reach.unbounded else reach

    def shared(self, cells: Ints, direction: NDArray[np.int8], need: Ints, seconds: float) -> Witnesses | None:
        """One exact change that moves many cells at once, each towards `need` in its direction, or None."""
        columns = self.column[cells]
        goal = need + np.maximum(need // 1024, 1)
        low, high = -self.down, self.up.copy()
        up = direction > 0
        high[columns[up]] = np.minimum(high[columns[up]], goal[up])
        low[columns[~up]] = np.maximum(low[columns[~up]], -goal[~up])
        self._price(dict(zip(columns.tolist(), (direction / np.maximum(need / self.unit, 1e-9)).tolist(), strict=True)))
        self._bound(columns, low[columns], high[columns])
        try:
            return self._change(self._solve(seconds), IntegerProgram(self.matrix, low, high))
        finally:
            self._bound(columns, -self.down[columns], self.up[columns])

    def towards(self, pull: NDArray[np.float64], seconds: float) -> Witnesses | None:
        """One exact change that goes as far as it can where all suppressed cells are pulled, or None."""
        self._price(dict(enumerate((pull * self.unit).tolist())))
        return self._change(self._solve(seconds), self._program())

    def _change(self, answer: Answer, program: IntegerProgram) -> Witnesses | None:
        """The point of an answer as an exact change: what its floats stand for if that holds, else by its basis."""
        if answer.status is not SolveStatus.OPTIMAL:
            return None
        point = self._read(answer)
        made = None if point is None else self._inside(point)
        if made is not None:
            return made
        vertex = self._vertex(program)
        point = None if vertex is None else vertex.point()
        return None if point is None else self._inside(point)

    def proposals(self, requirements: Requirements, seconds: float = float("inf")) -> Iterator[Witnesses]:
        """Exact changes near what a solver proposes for many requirements at once; none if it takes them one by one."""
        if not isinstance(self.solver, BatchSolver) or not len(requirements):
            return
        asked = zip(
            self.column[requirements.cell].tolist(),
            requirements.direction.tolist(),
            requirements.need.tolist(),
            strict=True,
        )
        for answer in self.solver.solve_all([self._question(*one) for one in asked], seconds):
            point = self._read(answer)
            made = None if point is None else self._inside(point)
            if made is not None:
                yield made

    def _question(self, column: int, direction: int, need: int) -> Model:
        """How far one column can move, no further than `need`: one block without limit would spoil its whole batch."""
        model = self._model()
        model.cost[column] = direction
        if direction > 0:
            model.upper[column] = min(model.upper[column], need / self.unit)
        else:
            model.lower[column] = max(model.lower[column], -need / self.unit)
        return model

    def whole_reach(
        self, cell: int, direction: int, need: int | None, linear: Reach, seconds: float = float("inf")
    ) -> Reach:
        """How far a cell can move in whole numbers of units, to `need` where given, by integer programs.

        Near the linear move first; then anywhere, where numbers are small enough for the solver's floats. Witnesses are
        exact; that there is none further is the solver's word, and can only make a cell count as unsafe.
        """
        until = time.monotonic() + seconds
        near = self._whole_near(cell, direction, need, linear, seconds)
        if near.bound == near.attained or (need is not None and near.attained >= need):
            return near
        if NEAR * (need or 1) >= FARTHEST_WHOLE or (need is None and self._far().any()):
            return near
        if need is not None:
            for far in (NEAR * need, FARTHEST_WHOLE):  # small changes nearly always suffice
                reach = self._in_whole(cell, direction, need, far, until - time.monotonic())
                if reach.attained >= need:
                    return reach
        reach = self._in_whole(cell, direction, None, FARTHEST_WHOLE, until - time.monotonic())
        return reach if reach.attained >= near.attained else near

    def _far(self) -> Mask:
        """Cells whose limits lie farther away than an integer program looks."""
        return np.asarray(
            ((self.up > FARTHEST_WHOLE) & (self.up < INFINITE))
            | ((self.down > FARTHEST_WHOLE) & (self.down < INFINITE))
        )

    def _in_whole(self, cell: int, direction: int, least: int | None, far: int, seconds: float) -> Reach:
        """The farthest move of a cell (or one by `least` or more) with no cell moving further than `far`."""
        column = int(self.column[cell])
        low, high = np.maximum(-self.down, -far), np.minimum(self.up, far)
        cost = np.zeros(len(self.cells))
        cost[column] = direction
        if least is not None:
            if int((high if direction > 0 else -low)[column]) < least:
                return Reach(Fraction(0), None, None)
            (low if direction > 0 else high)[column] = direction * least
            cost = -cost
        answer = self._solve_whole(cost, low, high, np.zeros(self.matrix.shape[0]), seconds)
        everywhere = bool(((self.up <= far) & (self.down <= far)).all())
        proven = answer.status is SolveStatus.OPTIMAL and least is None and everywhere
        return self._whole_answer(answer, np.zeros(len(self.cells), np.int64), column, direction, proven)

    def _whole_near(self, cell: int, direction: int, need: int | None, reach: Reach, seconds: float) -> Reach:
        """The farthest whole move (or one by `need`) near the linear one.

        Proven where it comes within a unit of the linear bound.
        """
        column = int(self.column[cell])
        if reach.witness is None:
            return Reach(Fraction(0), None, None)
        moved, amounts, denominator = reach.witness.one(0)
        base = np.zeros(len(self.cells), np.int64)
        base[self.column[moved]] = amounts // denominator
        missed = -IntegerProgram(self.matrix, -self.down, self.up).times(base)
        if np.abs(missed).max(initial=0) >= FARTHEST_WHOLE:
            return Reach(Fraction(0), None, None)
        low, high = np.maximum(-self.down - base, -FARTHEST_NEAR), np.minimum(self.up - base, FARTHEST_NEAR)
        cost = np.zeros(len(self.cells))
        cost[column] = direction
        if need is not None:
            end = low if direction > 0 else high
            end[column] = direction * max(direction * int(end[column]), need - direction * int(base[column]))
            if low[column] > high[column]:
                return Reach(Fraction(0), None, None)
        answer = self._solve_whole(cost, low, high, missed.astype(float), seconds)
        found = self._whole_answer(answer, base, column, direction, proven=False)
        proven = found.witness is not None and need is None and reach.bound is not None
        return Reach(found.attained, found.witness, Fraction(int(reach.bound)) if proven and reach.bound else None)

    def _solve_whole(
        self, cost: NDArray[np.float64], low: Ints, high: Ints, rows: NDArray[np.float64], seconds: float
    ) -> Answer:
        """The equations with right-hand sides `rows` in whole numbers, within the limits of one question."""
        self.solves += 1
        model = Model(cost, low.astype(float), high.astype(float), rows, rows, *self._compressed(), maximise=True)
        return solve_whole(model, min(seconds, PATIENCE), NODES)

    def _whole_answer(self, answer: Answer, base: Ints, column: int, direction: int, proven: bool) -> Reach:
        """What an integer program found, from `base` on, as a reach."""
        if not len(answer.x):
            return Reach(Fraction(0), None, None)
        moves = base + np.rint(answer.x).astype(np.int64)
        witness = self._inside((moves, 1))
        if witness is None or witness.denominator[0] != 1:
            return Reach(Fraction(0), None, Fraction(0) if proven and not moves.any() else None)
        attained = self._moved(witness, column, direction)
        return Reach(attained, witness, attained if proven else None)

    def publish(self, cells: Ints) -> None:
        """From now on the attacker knows these cells."""
        none = np.zeros(len(cells), np.int64)
        self._set_room(cells, none, none)

    def hide(self, cells: Ints) -> None:
        """Take `publish` back."""
        self._set_room(cells, self.table.up[cells], self.table.down[cells])

    def _set_room(self, cells: Ints, up: Ints, down: Ints) -> None:
        columns = self.column[cells]
        self.up[columns] = self.allowed.up[cells] = up
        self.down[columns] = self.allowed.down[cells] = down
        self._bound(columns, -down, up)

    def _program(self) -> IntegerProgram:
        return IntegerProgram(self.matrix, -self.down, self.up.copy())

    def _capped(self, column: int, direction: int, goal: int, seconds: float, witness_only: bool = False) -> Reach:
        """Whether a cell can move by `goal`: the program goes no further than that."""
        program, at = self._program(), np.array([column])
        if direction > 0:
            program.upper[column] = min(goal, int(program.upper[column]))
        else:
            program.lower[column] = max(-goal, int(program.lower[column]))
        self._bound(at, program.lower[at], program.upper[at])
        try:
            reach = self._settled(program, column, direction, goal, seconds, CLEARLY_SHORT if witness_only else 0.0)
            return replace(reach, unbounded=False)  # whatever the solver says: it is capped
        finally:
            self._bound(at, -self.down[at], self.up[at])

    def _without_limit(self, column: int, direction: int, need: int, seconds: float) -> Reach:
        """A cell that the solver finds no limit for: a ray proves it, and shows a change by `need`."""
        everywhere, length = np.arange(len(self.cells)), max(1, round(self.unit))
        ray = IntegerProgram(
            self.matrix, np.where(self.down < INFINITE, 0, -INFINITE), np.where(self.up < INFINITE, 0, INFINITE)
        )
        if direction > 0:
            ray.upper[column] = min(length, int(ray.upper[column]))
        else:
            ray.lower[column] = max(-length, int(ray.lower[column]))
        self._bound(everywhere, ray.lower, ray.upper)
        try:
            found = self._settled(ray, column, direction, length, seconds)
        finally:
            self._bound(everywhere, -self.down, self.up)
        if found.witness is None or found.attained < length or not self._is_ray(found.witness):
            return self._capped(column, direction, FAR, seconds)
        goal = Fraction(max(need, 1))
        return Reach(goal, times(found.witness, goal / found.attained), None, unbounded=True)

    def _is_ray(self, witness: Witnesses) -> bool:
        """Whether a change can go on for ever: it moves nothing towards a bound."""
        cells, amounts, _ = witness.one(0)
        return bool((np.where(amounts > 0, self.allowed.up[cells], self.allowed.down[cells]) >= INFINITE).all())

    def _settled(
        self, program: IntegerProgram, column: int, direction: int, goal: int | None, seconds: float, short: float = 0.0
    ) -> Reach:
        """The reach of a program that is set up in the session, to the goal or as far as it goes.

        An answer below the share `short` of the goal is not looked at.
        """
        attained, witness, bound = Fraction(0), None, None
        zoom, magnified, until = 1.0, False, time.monotonic() + seconds
        try:
            for _ in range(ROUNDS):
                answer = self._solve(until - time.monotonic())
                if answer.status is SolveStatus.UNBOUNDED and not magnified:
                    return Reach(Fraction(0), None, None, unbounded=True)
                if answer.status is not SolveStatus.OPTIMAL:
                    break
                if short > 0 and not magnified and answer.objective * self.unit < short * (goal or 0):
                    break
                if not magnified and (read := self._as_read(answer, program, column, direction, goal)) is not None:
                    return read
                vertex = self._vertex(program)
                point = self._read(answer) if vertex is None else vertex.point()
                made = None if point is None else self._inside(point)
                if made is not None and (moved := self._moved(made, column, direction)) > attained:
                    attained, witness = moved, made
                if vertex is None or point is None or (goal is not None and attained >= goal):
                    break
                priced = vertex.reduced(column, direction)
                proven = None if priced is None else vertex.bound_of(priced)
                bound = proven if bound is None else bound if proven is None else min(bound, proven)
                if bound is not None and (bound <= attained or (goal is not None and bound <= goal - 1)):
                    break
                if priced is None or self.expired():
                    break
                zoom, magnified = self._magnify(program, point, priced, zoom), True
        finally:
            if magnified:
                self._bound(np.arange(len(self.cells)), -self.down, self.up)
                zeros = np.zeros(self.matrix.shape[0])
                self._open().set_rows(zeros, zeros)
        return Reach(attained, witness, bound)

    def _as_read(
        self, answer: Answer, program: IntegerProgram, column: int, direction: int, goal: int | None
    ) -> Reach | None:
        """The reach as the solver's floats say, where they stand for numbers that prove it exactly; else None.

        Nearly all vertices and multipliers of tables are whole or have small denominators: then no basis has to be
        factorised.
        """
        point, priced = self._read(answer), rationalise(answer.row_dual)
        if point is None or priced is None or len(priced[0]) != self.matrix.shape[0]:
            return None
        witness = witness_of(self.cells, *point)
        if len(witness.cell) and not hold(self.allowed, witness)[0]:
            return None
        attained = self._moved(witness, column, direction)
        if goal is not None and attained >= goal:
            return Reach(attained, witness, None)
        bound = program.bound_by(*priced, column, direction)
        return Reach(attained, witness if attained > 0 else None, bound) if bound == attained else None

    def _moved(self, witness: Witnesses, column: int, direction: int) -> Fraction:
        cells, amounts, denominator = witness.one(0)
        at = np.flatnonzero(cells == self.cells[column])
        return Fraction(direction * int(amounts[at[0]]), denominator) if len(at) else Fraction(0)

    def _read(self, answer: Answer) -> Solution | None:
        """The floats of a solver that has no basis: a proposal like any other."""
        if len(answer.x) != len(self.cells):
            return None
        return rationalise(answer.x * self.unit)

    def _magnify(self, program: IntegerProgram, point: Solution, priced: Solution, zoom: float) -> float:
        """Set the session to what the exact point still misses of bounds, rows and prices, enlarged.

        Returns the zoom: rooms are measured from the point, in units smaller by that factor.
        """
        amounts, denominator = point[0].astype(object), point[1]
        low, high = (bound.astype(object) * denominator - amounts for bound in (program.lower, program.upper))
        finite_low, finite_high = (np.abs(bound) < INFINITE for bound in (program.lower, program.upper))
        missed = -program.times(amounts)
        over = max(
            int(low[finite_low].max(initial=0)),
            int((-high[finite_high]).max(initial=0)),
            int(np.abs(missed).max(initial=0)),
        )
        zoom *= ZOOM
        if over:
            zoom = min(zoom, max(1.0, _float(Fraction(self.unit) * denominator / over)))
        scale = Fraction(zoom) / Fraction(self.unit) / denominator
        session, everywhere = self._open(), np.arange(len(self.cells), dtype=np.int32)
        session.set_bounds(
            everywhere,
            np.where(finite_low, _floats(low, scale), -np.inf),
            np.where(finite_high, _floats(high, scale), np.inf),
        )
        rows = _floats(missed, scale)
        session.set_rows(rows, rows)
        costs, over_costs = priced
        session.set_cost(everywhere, _floats(costs, Fraction(ZOOM) / over_costs))
        self._priced = everywhere
        return zoom

    def _floats(self, bound: Ints) -> NDArray[np.float64]:
        far = np.abs(bound) >= INFINITE
        return np.asarray(np.where(far, np.copysign(np.inf, bound.astype(float)), bound / self.unit), np.float64)

    def _open(self) -> Session:
        if self._session is None:
            self._session = self.solver.session(self._model())
        return self._session

    def _model(self) -> Model:
        """What the attacker knows, without an objective."""
        free, zeros = np.zeros(len(self.cells)), np.zeros(self.matrix.shape[0])
        lower, upper = self._floats(-self.down), self._floats(self.up)
        return Model(free, lower, upper, zeros, zeros, *self._compressed(), maximise=True)

    def _compressed(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """The matrix as a solver takes it."""
        matrix = self.matrix
        return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data.astype(np.float64)

    def _price(self, costs: dict[int, float]) -> None:
        """The objective: these columns, all others nothing."""
        session = self._open()
        columns = dict.fromkeys(self._priced.tolist(), 0.0) | costs
        session.set_cost(np.array(list(columns), np.int32), np.array(list(columns.values())))
        self._priced = np.array(list(costs), np.int32)

    def _bound(self, columns: NDArray[np.integer], lower: Ints, upper: Ints) -> None:
        if len(columns):
            self._open().set_bounds(columns.astype(np.int32), self._floats(lower), self._floats(upper))

    def _solve(self, seconds: float) -> Answer:
        self.solves += 1
        return self._open().solve(seconds)

    def _vertex(self, program: IntegerProgram) -> Vertex | None:
        basis = self._open().basis()
        return None if basis is None else program.at(basis, self.expired)

    def _inside(self, point: Solution) -> Witnesses | None:
        """A point of the equations as a witness, drawn towards the true table until it keeps all bounds."""
        witness = witness_of(self.cells, *point)
        if not len(witness.cell):
            return None
        factor = stretch(self.allowed, witness, 0)
        if factor < 1:
            made = times(witness, factor) if factor > 0 else None
            if made is None:
                return None
            witness = made
        return witness if hold(self.allowed, witness)[0] else None


def _floats(numbers: Integers, factor: Fraction) -> NDArray[np.float64]:
    """Exact numbers times a factor, as floats."""
    return np.array([_float(number * factor) for number in numbers.tolist()], np.float64)


def _float(number: Fraction) -> float:
    """The nearest float; what is out of reach of floats, and of any solver, is infinite."""
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf
