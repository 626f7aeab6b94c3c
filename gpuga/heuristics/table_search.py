"""Destroy and repair on any linear table: local search around a safe pattern with the attacker's linear programs.

A few related secondary suppressions are published; the tasks that leaned on them get what the rest of the pattern still
gives, else the cheapest change at blurred prices; what became redundant nearby is published; the result is kept if it
is cheaper or, early on, little dearer. Programs are answered in floats here: whoever takes the pattern makes it exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import numpy as np
from numpy.typing import NDArray

from gpuga.context import Clock
from gpuga.lp.highs import Highs
from gpuga.lp.solver import Model, Session, Solver, Status
from gpuga.problem.singletons import Singletons
from gpuga.safety.tasks import Tasks
from gpuga.table.table import Ints, Mask, Table

Floats = NDArray[np.float64]

MOST_DESTROYED = 6
BLUR, DEARER = 0.5, 3.0
"""Prices rise by up to the first share at random; those of cells just published by up to the second besides."""

WARMTH = 0.004
"""How much dearer a pattern may become at the start, as a share of its cost."""

FARTHEST = 1.6
"""A repair that makes the pattern dearer than this factor is given up."""

ROOM = 8.0
"""Cells move by at most so many times the largest level."""

STILL = 1e-7
REACHED = 1 - 1e-9


class Programs:
    """The attacker's two programs on some cells of a table: how far a cell moves inside, and the cheapest change."""

    def __init__(self, table: Table, cells: Ints, hidden: Mask, unit: float, solver: Solver) -> None:
        self.count = len(cells)
        # without limits no program is unbounded; no circuit needs much more room than the largest level
        self.up, self.down = (np.minimum(room[cells], ROOM * 1e3 * unit) / unit for room in (table.up, table.down))
        weight = table.weight[cells].astype(np.float64)
        self.weight = weight / (float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0)
        self._lines(table, cells)
        self.questions = 0
        self._solver = solver
        self._inside = solver.session(self._model(hidden))
        self._change: Session | None = None
        self._asked: int | None = None

    def _lines(self, table: Table, cells: Ints) -> None:
        start, line, coef = table.lines.by_cell(len(table))
        size = start[cells + 1] - start[cells]
        entry = np.repeat(start[cells] - np.cumsum(size) + size, size) + np.arange(int(size.sum()))
        used, index = np.unique(line[entry], return_inverse=True)
        self._rows = len(used)
        self._start = np.concatenate([[0], np.cumsum(size)]).astype(np.int32)
        self._index, self._coef = index.astype(np.int32), coef[entry].astype(np.float64)

    def _model(self, hidden: Mask) -> Model:
        """One column per cell, its deviation; published cells are fixed."""
        zeros = np.zeros(self._rows)
        lower, upper = np.where(hidden, -self.down, 0.0), np.where(hidden, self.up, 0.0)
        return Model(
            np.zeros(self.count), lower, upper, zeros, zeros, self._start, self._index, self._coef, maximise=True
        )

    def _change_model(self) -> Model:
        """Columns are the rises, then the falls."""
        zeros = np.zeros(self._rows)
        return Model(
            cost=np.zeros(2 * self.count),
            lower=np.zeros(2 * self.count),
            upper=np.concatenate([self.up, self.down]),
            row_lower=zeros,
            row_upper=zeros,
            start=np.concatenate([self._start, self._start[1:] + self._start[-1]]).astype(np.int32),
            index=np.concatenate([self._index, self._index]),
            value=np.concatenate([self._coef, -self._coef]),
        )

    def hide(self, columns: Ints) -> None:
        """These cells may move."""
        self._inside.set_bounds(columns.astype(np.int32), -self.down[columns], self.up[columns])

    def publish(self, columns: Ints) -> None:
        """These cells stay where they are."""
        none = np.zeros(len(columns))
        self._inside.set_bounds(columns.astype(np.int32), none, none)

    def inside(self, column: int, direction: int, need: float, seconds: float) -> Floats | None:
        """A change of hidden cells that moves one of them so far, or None."""
        columns, costs = [column], [float(direction)]
        if self._asked is not None and self._asked != column:
            columns, costs = [self._asked, column], [0.0, float(direction)]
        self._inside.set_cost(np.array(columns, np.int32), np.array(costs))
        self._asked = column
        self.questions += 1
        answer = self._inside.solve(seconds)
        if answer.status is not Status.OPTIMAL or answer.objective < need * REACHED:
            return None
        return answer.x

    def cheapest(self, column: int, direction: int, need: float, price: Floats, seconds: float) -> Floats | None:
        """The cheapest change of any cells that moves one of them so far, or None."""
        if self._change is None:
            self._change = self._solver.cold_session(self._change_model())
        both = np.array([column, column + self.count], np.int32)
        fixed = np.zeros(2)
        fixed[0 if direction > 0 else 1] = need
        self._change.set_cost(np.arange(2 * self.count, dtype=np.int32), np.concatenate([price, price]))
        self._change.set_bounds(both, fixed, fixed)
        self.questions += 1
        answer = self._change.solve(seconds)
        self._change.set_bounds(both, np.zeros(2), np.array([self.up[column], self.down[column]]))
        if answer.status is not Status.OPTIMAL:
            return None
        return np.asarray(answer.x[: self.count] - answer.x[self.count :])


class TableSearch:
    """A pattern, what each of its tasks leans on, and the search around it.

    `leans[t]` are the secondary cells that task t's circuit uses. With `within` only these cells come and go, and
    only tasks of these cells are asked.
    """

    def __init__(
        self,
        table: Table,
        tasks: Tasks,
        leans: Sequence[Ints],
        seed: int,
        solver: Solver | None = None,
        within: Ints | None = None,
    ) -> None:
        self.table = table
        self.clock = Clock()
        self.random = np.random.default_rng(seed)
        self.suppressed = table.forced.copy()
        self.suppressed[np.concatenate([*leans, np.zeros(0, np.int64)]).astype(np.int64)] = True
        movable = table.suppressible & ((table.up > 0) | (table.down > 0))
        self.cells = np.flatnonzero(movable) if within is None else within[movable[within]]
        self.column = np.full(len(table), -1, np.int64)
        self.column[self.cells] = np.arange(len(self.cells))
        unit = float(tasks.need.max(initial=1)) / 1e3
        self.at, self.direction = self.column[tasks.cell], tasks.direction.astype(np.int64)
        self.need = tasks.need / unit
        self.programs = Programs(table, self.cells, self.suppressed[self.cells], unit, solver or Highs())
        self.lonely = Singletons(table, self.suppressed, tasks.cell)
        self.leans: list[Ints] = [np.zeros(0, np.int64)] * len(tasks)
        self.users: dict[int, set[int]] = {}
        self.failed = np.zeros(len(tasks), np.int64)
        self.cost = int(table.weight[self.suppressed & ~table.forced].sum())
        for task, cells in enumerate(leans):
            self._lean(task, cells)

    def run(self, questions: int, clock: Clock) -> Mask:
        """The cheapest pattern seen until so many questions were asked or the time is up (bool[n])."""
        self.clock = clock
        best, cheapest = self.suppressed.copy(), self.cost
        warmth = WARMTH * cheapest
        while self.programs.questions < questions and not clock.expired():
            heat = warmth * (1 - self.programs.questions / questions)
            if not self._step(heat):
                break
            if self.cost < cheapest:
                best, cheapest = self.suppressed.copy(), self.cost
        return best

    def _step(self, heat: float) -> bool:
        """Destroy, repair, clean up, keep or take back; whether there was anything to destroy."""
        destroyed = self._related()
        if not len(destroyed):
            return False
        before, leaned, cost = self.suppressed.copy(), list(self.leans), self.cost
        fresh = self._repair(destroyed, cost)
        if fresh is not None:
            self._publish_redundant(np.concatenate([destroyed, fresh]))
        worse = self.cost - cost
        if fresh is None or (worse > 0 and self.random.random() >= exp(-worse / max(heat, 1e-9))):
            self._take_back(before, leaned)
        return True

    def _related(self) -> Ints:
        """A few secondary cells that share lines."""
        loose = self.cells[self.suppressed[self.cells] & ~self.table.forced[self.cells]]
        if not len(loose):
            return loose
        chosen = [int(self.random.choice(loose))]
        for _ in range(int(self.random.integers(1, MOST_DESTROYED))):
            others = np.setdiff1d(self._beside(chosen[int(self.random.integers(len(chosen)))]), chosen)
            if len(others):
                chosen.append(int(self.random.choice(others)))
        return np.array([c for c in chosen if self._asked_here(self.users.get(c, set()))], np.int64)

    def _asked_here(self, tasks: set[int]) -> bool:
        return all(self.at[task] >= 0 for task in tasks)

    def _beside(self, cell: int) -> Ints:
        """The secondary cells of our own on the lines of a cell."""
        lines, start = self.table.lines, self.lonely.start
        through = self.lonely.line[start[cell] : start[cell + 1]].tolist()
        cells = np.concatenate([lines.cell[lines.start[line] : lines.start[line + 1]] for line in through])
        return np.unique(cells[self.suppressed[cells] & ~self.table.forced[cells] & (self.column[cells] >= 0)])

    def _repair(self, destroyed: Ints, cost: int) -> Ints | None:
        """Lead the tasks that leaned on destroyed cells anew; the cells suppressed for it, None if it fails."""
        leaning = set().union(*(self.users.get(cell, set()) for cell in destroyed.tolist()))
        self._set(destroyed, hidden=False)
        programs = self.programs
        price = programs.weight * (1 + BLUR * self.random.random(programs.count)) + 1e-3
        price[self.column[destroyed]] *= 1 + DEARER * self.random.random(len(destroyed))
        fresh: list[Ints] = [np.zeros(0, np.int64)]
        order = self.random.permutation(sorted(leaning)).tolist()
        for task in order:
            if self._stands(task):
                continue
            question = int(self.at[task]), int(self.direction[task]), float(self.need[task])
            x = programs.inside(*question, self.clock.left())
            if x is None:
                hidden = self.suppressed[self.cells]
                prices = np.where(hidden, 1e-4, price)
                if (x := programs.cheapest(*question, prices, self.clock.left())) is None:
                    return None
                fresh.append(self.cells[(np.abs(x) > STILL) & ~hidden])
                self._set(fresh[-1], hidden=True)
                if self.cost > FARTHEST * cost:
                    return None
            self._give(x, [other for other in order if other == task or not self._stands(other)])
        return np.concatenate(fresh)

    def _stands(self, task: int) -> bool:
        return bool(self.suppressed[self.leans[task]].all())

    def _give(self, x: Floats, tasks: Sequence[int]) -> None:
        """Let the tasks lean on a change that proves them."""
        cells = self.cells[np.abs(x) > STILL]
        cells = cells[~self.table.forced[cells]]
        for task in self._proven(x, tasks):
            self._lean(task, cells)

    def _proven(self, x: Floats, tasks: Sequence[int]) -> list[int]:
        which = np.array(tasks, np.int64)
        proven = (self.at[which] >= 0) & (x[self.at[which]] * self.direction[which] >= self.need[which] * REACHED)
        return [int(task) for task in which[proven]]

    def _publish_redundant(self, around: Ints) -> None:
        """Publish what is redundant around some cells, heaviest first."""
        near = [self._beside(cell) for cell in around.tolist()]
        own = around[self.suppressed[around]]
        candidates = np.unique(np.concatenate([own, *near]))
        blurred = self.table.weight[candidates] * (1 + 0.2 * self.random.random(len(candidates)))
        for cell in candidates[np.argsort(-blurred, kind="stable")].tolist():
            if self.clock.expired():
                return
            if self.suppressed[cell] and (fallen := self.lonely.fall_with(cell)) is not None:
                self._try_to_publish(fallen)

    def _try_to_publish(self, cells: Ints) -> None:
        """Publish cells if every task that leans on them finds other changes inside the pattern."""
        leaning = set().union(*(self.users.get(cell, set()) for cell in cells.tolist()))
        if (self.column[cells] < 0).any() or not self._asked_here(leaning):
            return
        self._set(cells, hidden=False)
        changes: list[tuple[Floats, list[int]]] = []
        open_ = sorted(leaning, key=lambda task: (-self.failed[task], task))
        while open_:
            task = open_[0]
            question = int(self.at[task]), int(self.direction[task]), float(self.need[task])
            x = self.programs.inside(*question, self.clock.left())
            if x is None:
                self.failed[task] = self.programs.questions
                self._set(cells, hidden=True)
                return
            proven = {task, *self._proven(x, open_)}
            changes.append((x, sorted(proven)))
            open_ = [other for other in open_ if other not in proven]
        for x, proven_tasks in changes:
            self._give(x, proven_tasks)

    def _set(self, cells: Ints, *, hidden: bool) -> None:
        """Suppress or publish cells of our own."""
        self.suppressed[cells] = hidden
        columns, weight = self.column[cells], int(self.table.weight[cells].sum())
        if hidden:
            self.programs.hide(columns)
            self.lonely.suppress(cells)
            self.cost += weight
        else:
            self.programs.publish(columns)
            self.lonely.publish(cells)
            self.cost -= weight

    def _lean(self, task: int, cells: Ints) -> None:
        """Note what a task leans on."""
        for cell in self.leans[task].tolist():
            self.users[cell].discard(task)
        self.leans[task] = cells
        for cell in cells.tolist():
            self.users.setdefault(cell, set()).add(task)

    def _take_back(self, before: Mask, leaned: list[Ints]) -> None:
        """Return to the pattern before a step."""
        self._set(np.flatnonzero(self.suppressed & ~before), hidden=False)
        self._set(np.flatnonzero(before & ~self.suppressed), hidden=True)
        for task, cells in enumerate(leaned):
            if self.leans[task] is not cells:
                self._lean(task, cells)
