"""Local search around a safe pattern of any linear table: a few cells go, and what leaned on them is led anew.

A few related secondary suppressions are published. The requirements that leaned on them get what the rest of the
pattern still gives, else the cheapest change at blurred prices; what became redundant nearby is published; the result
is kept if it is cheaper or, while the search is warm, little dearer. So small a change takes a few linear programs,
where the pattern is small enough for a tableau. All answers are floats: whoever takes the pattern makes it exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.redundancy import NO_CHANGE, Change, Redundancy, nothing_blocked
from gpuga.context import Clock
from gpuga.lp.highs import Highs
from gpuga.lp.solver import Model, Solver, SolveStatus
from gpuga.safety.requirements import Requirements
from gpuga.table.table import Ints, Mask, Table

Floats = NDArray[np.float64]

MOST_DESTROYED = 6
"""Cells that are published at once."""

BLUR, DEARER = 0.5, 3.0
"""Prices rise by up to the first share at random; those of cells just published by up to the second besides."""

CHEAP, LEAST = 1e-4, 1e-3
"""The price of a suppressed cell, and what any other costs at least: cells move for a reason."""

BY_CAPACITY, GUIDED = 0.5, 0.25
"""The share of steps that price a cell by what it can carry of the need (see `cheapest_change`), and of those that
follow the prices of a fractional pattern."""

WARMTH = 0.004
"""How much dearer a pattern may become at the start, as a share of its cost."""

FARTHEST = 1.6
"""A repair that makes the pattern dearer than this factor is given up."""

PARTS, ROOM = 1e3, 8e3
"""The largest need has so many parts, and no cell moves by more than so many of them: no program is unbounded."""

TIES = 1.02
STILL = 1e-7


class ChangeProgram:
    """The cheapest change of a table that moves one cell so far, at prices that are given with each question."""

    def __init__(self, table: Table, cells: Ints, unit: float, solver: Solver) -> None:
        self.count = len(cells)
        self.up, self.down = (np.minimum(room[cells] / unit, ROOM) for room in (table.up, table.down))
        start, line, coef = table.lines.by_cell(len(table))
        size = start[cells + 1] - start[cells]
        entry = np.repeat(start[cells] - np.cumsum(size) + size, size) + np.arange(int(size.sum()))
        used, index = np.unique(line[entry], return_inverse=True)
        begins, value, zeros = np.concatenate([[0], np.cumsum(size)]), coef[entry].astype(np.float64), len(used)
        self._session = solver.cold_session(
            Model(  # columns are the rises, then the falls
                cost=np.zeros(2 * self.count),
                lower=np.zeros(2 * self.count),
                upper=np.concatenate([self.up, self.down]),
                row_lower=np.zeros(zeros),
                row_upper=np.zeros(zeros),
                start=np.concatenate([begins, begins[1:] + begins[-1]]).astype(np.int32),
                index=np.concatenate([index, index]).astype(np.int32),
                value=np.concatenate([value, -value]),
            )
        )
        self._both = np.arange(2 * self.count, dtype=np.int32)

    def moved(self, column: int, direction: int, need: float, price: Floats, by_capacity: bool) -> Mask | None:
        """The cells that the cheapest change moves (bool[count]); None where there is none."""
        both, fixed = np.array([column, column + self.count]), np.zeros(2)
        fixed[0 if direction > 0 else 1] = need
        prices = np.concatenate([price, price])
        if by_capacity:
            prices *= need / np.clip(np.concatenate([self.up, self.down]), STILL, need)
        self._session.set_cost(self._both, prices)
        self._session.set_bounds(both, fixed, fixed)
        answer = self._session.solve()
        self._session.set_bounds(both, np.zeros(2), np.array([self.up[column], self.down[column]]))
        if answer.status is not SolveStatus.OPTIMAL:
            return None
        return np.asarray(np.abs(answer.x[: self.count] - answer.x[self.count :]) > STILL)


class LocalSearch:
    """The search around a pattern, `suppressed` bool[n], whose requirements have the `changes`.

    `point` float64[n] is a fractional pattern, where one is known: what it suppresses is cheaper in some steps.
    """

    def __init__(self, table: Table, requirements: Requirements, seed: int, solver: Solver | None = None) -> None:
        self.table, self.requirements = table, requirements
        self.random = np.random.default_rng(seed)
        self.cells = np.flatnonzero(table.suppressible & ((table.up > 0) | (table.down > 0)))
        self.column = np.full(len(table), -1, np.int64)
        self.column[self.cells] = np.arange(len(self.cells))
        unit = float(requirements.need.max(initial=1)) / PARTS
        self.at, self.direction = self.column[requirements.cell], requirements.direction.astype(np.int64)
        self.need = requirements.need / unit
        weight = table.weight[self.cells].astype(np.float64)
        self.price = weight / (float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0)
        self.program = ChangeProgram(table, self.cells, unit, solver or Highs())
        self._start, self._line, _ = table.lines.by_cell(len(table))
        self.suppressed = table.forced.copy()
        self.changes: list[Change] = []
        self.cost = 0
        self.point: Floats | None = None
        self._blocked = nothing_blocked(table)

    def begin(self, pattern: Mask, changes: Sequence[Change]) -> None:
        """Search around a pattern (bool[n]) from now on, whose requirements are proven by these changes."""
        self.suppressed, self.changes = pattern | self.table.forced, list(changes)
        self.cost = self._cost(self.suppressed)

    def run(self, steps: int, clock: Clock) -> Mask:
        """The cheapest pattern seen in so many steps, or until the time is up (bool[n])."""
        best, cheapest = self.suppressed, self.cost
        for made in range(steps):
            if clock.expired():
                break
            self._step(WARMTH * cheapest * (1 - made / steps), clock)
            if self.cost < cheapest:
                best, cheapest = self.suppressed, self.cost
        return best

    def _cost(self, suppressed: Mask) -> int:
        return int(self.table.weight[suppressed & ~self.table.forced].sum())

    def _step(self, heat: float, clock: Clock) -> None:
        """Destroy, repair and clean up a copy; keep it where it is cheaper, or not much dearer."""
        destroyed, suppressed = self._related(), self.suppressed.copy()
        suppressed[destroyed] = False
        made = self._led(suppressed, destroyed) if len(destroyed) else None
        if made is None:
            return
        new = np.flatnonzero(suppressed & ~self.suppressed)
        suppressed[made.found(self._near(np.concatenate([destroyed, new]), suppressed), clock.expired)] = False
        worse = self._cost(suppressed) - self.cost
        if worse <= 0 or self.random.random() < exp(-worse / max(heat, 1e-9)):
            self.suppressed, self.cost = suppressed, self.cost + worse
            self.changes = [made.change(r) for r in range(len(self.changes))]

    def _related(self) -> Ints:
        """A few secondary cells that share lines."""
        loose = np.flatnonzero(self.suppressed & ~self.table.forced)
        if not len(loose):
            return loose
        chosen = [int(self.random.choice(loose))]
        for _ in range(int(self.random.integers(1, MOST_DESTROYED))):
            beside = np.flatnonzero(self._near(self.random.choice(chosen, 1), self.suppressed))
            others = np.setdiff1d(beside, chosen)
            if len(others):
                chosen.append(int(self.random.choice(others)))
        return np.array(chosen, np.int64)

    def _near(self, cells: Ints, suppressed: Mask) -> Mask:
        """The secondary cells of a pattern on the lines of some cells (bool[n])."""
        lines, near = self.table.lines, np.zeros(len(self.table), bool)
        through = np.unique(np.concatenate([self._line[self._start[c] : self._start[c + 1]] for c in cells.tolist()]))
        for line in through.tolist():
            near[lines.cell[lines.start[line] : lines.start[line + 1]]] = True
        return np.asarray(near & suppressed & ~self.table.forced)

    def _led(self, suppressed: Mask, destroyed: Ints) -> Redundancy | None:
        """Lead what leaned on destroyed cells inside a pattern, else by cheapest changes, which it then holds too.

        None where that fails, or makes the pattern far dearer.
        """
        random = self.random
        price = self.price * (1 + BLUR * random.random(len(self.price)))
        if self.point is not None and random.random() < GUIDED:
            price *= TIES - self.point[self.cells]
        price += LEAST
        price[self.column[destroyed]] *= 1 + DEARER * random.random(len(destroyed))
        by_capacity, changes = bool(random.random() < BY_CAPACITY), self.changes.copy()
        open_ = random.permutation([r for r, (cells, _) in enumerate(changes) if not suppressed[cells].all()])
        open_ = open_.astype(np.int64)
        for r in open_.tolist():
            changes[r] = NO_CHANGE
        while True:
            inside = Redundancy(self.table, suppressed, self.requirements, changes, self._blocked)
            open_ = open_[~inside.reach(open_)]
            if not len(open_):
                return inside
            r, now = int(open_[0]), np.where(suppressed[self.cells], CHEAP, price)
            moved = self.program.moved(int(self.at[r]), int(self.direction[r]), float(self.need[r]), now, by_capacity)
            if moved is None or suppressed[self.cells[moved]].all():  # a need may be smaller than floats tell from none
                return None
            changes = [inside.change(z) for z in range(len(changes))]
            suppressed[self.cells[moved]] = True
            if self._cost(suppressed) > FARTHEST * self.cost:
                return None
