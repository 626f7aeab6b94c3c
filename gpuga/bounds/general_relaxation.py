"""Lower bounds for any linear table: Benders cuts from the attacker's duals, strengthened as knapsack covers.

For any multipliers y of the lines, the attacker's reach of a cell k is at most the sum of what each suppressed cell
can add to `(e_k - y M) d` inside its room. So a safe pattern z satisfies `sum(g_i z_i) >= level` with the integers
g_i that y gives, whatever y is; the solver's duals only propose it. A coefficient above what is missing counts as
what is missing, also after some cells are taken as suppressed (knapsack covers). Secondary cells that are alone in a
line are cut off, since the pattern is as safe without them; halves of sums of cuts are rounded up. Bounds are
recomputed in integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

import highspy
import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.rounding import odd_combinations
from gpuga.context import Clock
from gpuga.lp.highs import Highs
from gpuga.lp.solver import Model, Status
from gpuga.safety.tasks import Tasks, level_tasks
from gpuga.safety.witness import rationalise
from gpuga.table.table import INFINITE, Ints, Mask, Table

Floats = NDArray[np.float64]

VIOLATED = 1e-3
LONELY = 1e-2
TAKEN = (2.0, 0.99, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
"""Cells whose value in the relaxation reaches these are taken as suppressed when covers are looked for."""

HALVES_AT_ONCE = 60
LEAST_VIOLATION = 0.02
BITS = 30
PARTS = 1024
STALLED_ROUNDS = 40
STALLED = 1e-4


@dataclass(frozen=True, eq=False)
class LineCut:
    """`sum(coef * z[cell]) >= rhs` in integers; holds for every safe pattern, or for the cheapest ones (`lonely`).

    Covers have positive numbers only; `summed` cuts are made of others. Rows of the solver are divided by `scale`.
    """

    cell: Ints
    coef: Ints
    rhs: int
    summed: bool = False

    @property
    def scale(self) -> int:
        """The right-hand side, where there is one."""
        return max(1, self.rhs)

    def violation(self, z: Floats) -> float:
        """How far a point misses the cut, as a share of its scale."""
        return (self.rhs - float(self.coef @ z[self.cell])) / self.scale


class GeneralRelaxation:
    """The linear program over `z` of all cells that may become secondary suppressions, grown by cuts."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.tasks = level_tasks(table)
        self.free = np.flatnonzero(table.suppressible & ~table.forced & ((table.up > 0) | (table.down > 0)))
        self.base_cost = table.cost(table.forced)
        self.step = int(np.gcd.reduce(table.weight[self.free])) if len(self.free) else 1
        self.step = max(1, self.step)
        self.unit = max(1.0, float(np.median(table.weight[self.free])) if len(self.free) else 1.0)
        self.cuts: list[LineCut] = []
        self.position = np.full(len(table), -1, np.int64)
        self.position[self.free] = np.arange(len(self.free))
        self.solver = new_solver(table.weight[self.free] / self.unit)
        self.spare = len(self.free)  # the column that meets every cut, for proofs only
        self.z = np.where(table.forced, 1.0, 0.0)
        self.bound = 0
        self.reduced: Ints = table.weight[self.free].astype(np.int64)
        self.slack = 0
        self.shift = 0
        self.attacker = FractionalAttacker(table)

    def tighten(self, clock: Clock, rounds: int | None = None) -> None:
        """Cut off the relaxation's points until none is cut off, the bound stalls, the rounds or the time are up."""
        stalled = made = 0
        while not clock.expired() and stalled < STALLED_ROUNDS and made != rounds:
            added = self.separate(self.z, clock)
            if not added or stalled:
                added += self._halves()
            if not added:
                return
            before = self.bound
            self.solve()
            made += 1
            stalled = stalled + 1 if self.bound <= before * (1 + STALLED) else 0

    def _halves(self) -> int:
        """Add the zero-half cuts that the point of the relaxation violates most; returns how many."""
        simple = [cut for cut in self.cuts if not cut.summed]
        found = half_sums(simple, self.free, self.z, HALVES_AT_ONCE)
        for cut in found:
            self.add(cut)
        return len(found)

    def separate(self, z: Floats, clock: Clock) -> int:
        """Add the cuts that a point (float64[n]) violates; returns how many."""
        added = 0
        self.attacker.set_point(z)
        for task in range(len(self.tasks)):
            if clock.expired():
                break
            cut = self._best_cut(task, z)
            if cut is not None:
                self.add(cut)
                added += 1
        for cut in self._lonely(z):
            self.add(cut)
            added += 1
        return added

    def _lonely(self, z: Floats) -> Iterator[LineCut]:
        """Cells that are suppressed more than all others of a line together: `sum of the others >= the cell`.

        A suppressed cell that is alone in a line cannot move, so the pattern is as safe without it: among the
        cheapest safe patterns there are some without such cells, and it is these that are bounded.
        """
        lines, free = self.table.lines, self.position >= 0
        total = np.bincount(lines.line_of_entry, weights=z[lines.cell], minlength=len(lines))
        hidden = np.bincount(lines.line_of_entry, weights=self.table.forced[lines.cell], minlength=len(lines)) > 0
        more = 2.0 * z[lines.cell] - total[lines.line_of_entry] > LONELY
        for entry in np.flatnonzero(more & free[lines.cell] & ~hidden[lines.line_of_entry]).tolist():
            line, cell = int(lines.line_of_entry[entry]), int(lines.cell[entry])
            cells = lines.cell[lines.start[line] : lines.start[line + 1]].astype(np.int64)
            cells = cells[free[cells]]
            yield LineCut(cells, np.where(cells == cell, -1, 1).astype(np.int64), 0)

    def _best_cut(self, task: int, z: Floats) -> LineCut | None:
        dual = self.attacker.dual(self.tasks, task)
        if dual is None:
            return None
        found = max(covers(self.table, self.tasks, task, dual, z), key=lambda c: c.violation(z), default=None)
        return found if found is not None and found.violation(z) > VIOLATED else None

    def add(self, cut: LineCut) -> None:
        """One more cut."""
        self.cuts.append(cut)
        columns = np.append(self.position[cut.cell], self.spare).astype(np.int32)
        least = cut.rhs / cut.scale
        self.solver.addRow(least, highspy.kHighsInf, len(columns), columns, np.append(cut.coef / cut.scale, 1.0))

    def open_spare(self, price: int | None) -> None:
        """Let the spare column meet cuts at a price, so that no program is infeasible; None: close it."""
        self.solver.changeColBounds(self.spare, 0.0, 0.0 if price is None else highspy.kHighsInf)
        self.solver.changeColCost(self.spare, 0.0 if price is None else price / self.unit)

    def solve(self) -> None:
        """Solve the relaxation and prove its bound."""
        self.solver.run()
        solution = self.solver.getSolution()
        self.z = np.where(self.table.forced, 1.0, 0.0)
        self.z[self.free] = np.clip(np.array(solution.col_value)[: self.spare], 0.0, 1.0)
        count = len(self.free)
        total, reduced, shift = self.exact(np.array(solution.row_dual), np.zeros(count, bool), np.zeros(count, bool))
        bound = self.rounded(total, shift)
        if bound >= self.bound:
            self.bound, self.reduced, self.slack, self.shift = bound, reduced, total, shift

    def exact(self, dual: Floats, published: Mask, suppressed: Mask) -> tuple[int, Ints, int]:
        """The bound of multipliers where some free cells are fixed, its reduced costs, both times `2**shift`."""
        multiplier = np.maximum(dual, 0.0) * self.unit
        largest = float(self.table.weight.max(initial=1)) + float(multiplier.sum())
        shift = max(0, min(BITS, 60 - BITS - int(np.ceil(np.log2(largest + 1)))))
        fixed = np.floor(multiplier * 2.0**shift).astype(np.int64)
        reduced = self.table.weight[self.free] << shift
        for c in np.flatnonzero(fixed > 0).tolist():
            cut = self.cuts[c]
            whole, rest = divmod(int(fixed[c]), cut.scale)
            reduced[self.position[cut.cell]] -= whole * cut.coef + -(-rest * cut.coef // cut.scale)
        taken = (suppressed | (reduced < 0)) & ~published
        earned = sum(f for f, cut in zip(fixed.tolist(), self.cuts, strict=True) if cut.rhs)
        return earned + sum(reduced[taken].tolist()), reduced, shift

    def rounded(self, total: int, shift: int) -> int:
        """A bound in units of the weights, rounded up to what costs can be."""
        bound = max(0, -((-total) >> shift))
        return -(-bound // self.step) * self.step

    def useful(self, cost: int) -> Mask:
        """The free cells that a pattern cheaper than `cost` can contain (bool over `free`)."""
        margin = ((cost - self.step) << self.shift) - self.slack
        return np.asarray(self.reduced <= margin)


def new_solver(cost: Floats) -> highspy.Highs:
    """A silent HiGHS with columns between 0 and 1 of the given costs, one more fixed at 0, and no rows."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    count = len(cost)
    solver.addVars(count + 1, np.zeros(count + 1), np.append(np.ones(count), 0.0))
    solver.changeColsCost(count, np.arange(count, dtype=np.int32), cost)
    return solver


class FractionalAttacker:
    """The attacker on a point of the relaxation: a cell of value z has z times its room."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.cells = np.flatnonzero((table.up > 0) | (table.down > 0))
        start, line, coef = table.lines.by_cell(len(table))
        counts = np.diff(start)[self.cells]
        before = np.concatenate([[0], np.cumsum(counts)])[:-1]
        entries = np.repeat(start[self.cells] - before, counts) + np.arange(int(counts.sum()))
        self.column = np.full(len(table), -1, np.int64)
        self.column[self.cells] = np.arange(len(self.cells))
        levels = max(int(x.max(initial=1)) for x in vars(table.levels).values())
        self.unit = max(1.0, levels / 1e3)
        # no cell needs more room than the largest level: a cut counts no more than what is missing anyway
        self.up, self.down = (np.minimum(room[self.cells], 8 * levels) / self.unit for room in (table.up, table.down))
        count, zeros = len(self.cells), np.zeros(len(table.lines))
        self.session = Highs().session(
            Model(
                cost=np.zeros(count),
                lower=np.zeros(count),
                upper=np.zeros(count),
                row_lower=zeros,
                row_upper=zeros,
                start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
                index=line[entries],
                value=coef[entries].astype(np.float64),
                maximise=True,
            )
        )
        self.asked = -1

    def set_point(self, z: Floats) -> None:
        """The rooms of a point (float64[n])."""
        share = z[self.cells]
        self.session.set_bounds(np.arange(len(self.cells), dtype=np.int32), -self.down * share, self.up * share)

    def dual(self, tasks: Tasks, task: int) -> Floats | None:
        """The lines' multipliers when a task's level is out of reach, else None."""
        column = int(self.column[tasks.cell[task]])
        if column < 0:
            return np.zeros(len(self.table.lines))
        columns = [column] if self.asked in (-1, column) else [self.asked, column]
        costs = [0.0] * (len(columns) - 1) + [float(tasks.direction[task])]
        self.session.set_cost(np.array(columns, np.int32), np.array(costs))
        self.asked = column
        answer = self.session.solve()
        if answer.status is not Status.OPTIMAL:
            return None
        short = answer.objective * self.unit < int(tasks.need[task]) * (1 - 1e-6)
        return answer.row_dual if short else None


def covers(table: Table, tasks: Tasks, task: int, dual: Floats, z: Floats) -> Iterator[LineCut]:
    """The cuts of a task's multipliers: plain, and with the cells of large value taken as suppressed."""
    # any multipliers give a cut: where the solver's cannot be named, nearby ones will do
    y, scale = rationalise(dual) or (np.rint(dual * PARTS).astype(np.int64), PARTS)
    reduced = -table_product(table, y)
    reduced[tasks.cell[task]] += int(tasks.direction[task]) * scale
    room = np.where(reduced > 0, table.up, table.down)
    if float(np.abs(reduced).max(initial=0)) * float(room[room < INFINITE].max(initial=1)) >= 2**61:
        return
    limit = int(tasks.need[task]) * scale
    gain = np.where(room >= INFINITE, np.where(reduced != 0, limit, 0), np.abs(reduced) * np.minimum(room, 2**61))
    gain = np.minimum(gain, limit)
    missing = limit - int(gain[table.forced].sum())
    cells = np.flatnonzero((gain > 0) & ~table.forced & table.suppressible)
    for share in TAKEN:
        taken = z[cells] >= share
        left = missing - int(gain[cells[taken]].sum())
        if left > 0:
            yield reduced_cut(cells[~taken], np.minimum(gain[cells[~taken]], left), left)


def table_product(table: Table, y: Ints) -> Ints:
    """`y M` for whole multipliers of the lines (int64[n])."""
    lines = table.lines
    product = np.zeros(len(table), np.int64)
    np.add.at(product, lines.cell, lines.coef * y[lines.line_of_entry])
    return product


def reduced_cut(cells: Ints, coef: Ints, rhs: int) -> LineCut:
    """The cut in small integers: divided by what is common, then rounded to its weak side."""
    common = gcd(rhs, *np.unique(coef).tolist())
    coef, rhs = coef // common, rhs // common
    shift = max(0, rhs.bit_length() - BITS)
    if shift:
        coef, rhs = (coef >> shift) + 1, rhs >> shift
    return LineCut(cells, np.minimum(coef, rhs), rhs)


def half_sums(cuts: Sequence[LineCut], free: Ints, z: Floats, most: int) -> list[LineCut]:
    """Zero-half cuts: halves of sums of cuts, rounded up, that a point violates (see `rounding`).

    A cover counts here as "one of its cells is suppressed"; lonely cells as what they are.
    """
    at = free[z[free] > 1e-9]
    position = np.full(len(z), -1, np.int64)
    position[at] = np.arange(len(at))
    matrix = np.zeros((len(cuts), len(at)), np.int8)
    for row, cut in enumerate(cuts):
        places = position[cut.cell]
        matrix[row, places[places >= 0]] = np.sign(cut.coef)[places >= 0]
    rhs = np.array([min(1, cut.rhs) for cut in cuts], np.int64)
    x = z[at]
    slack = matrix @ x - rhs
    rows = np.flatnonzero(slack < 0.999)
    upper = x > 0.5
    odd = matrix[rows] != 0
    parity = (rhs[rows] + (odd & upper).sum(1)) % 2
    found = []
    for members in odd_combinations(odd, parity, np.maximum(slack[rows], 0.0), np.minimum(x, 1.0 - x), most):
        half = _half([cuts[int(rows[m])] for m in members], z)
        if half is not None and half.violation(z) * half.scale > LEAST_VIOLATION:
            found.append(half)
    return found


def _half(members: Sequence[LineCut], z: Floats) -> LineCut | None:
    """Half the sum of some cuts and of `-z >= -1` where that makes a coefficient of a likely cell even, rounded up."""
    total = np.zeros(len(z), np.int64)
    for cut in members:
        total[cut.cell] += np.sign(cut.coef)
    likely = (total % 2 == 1) & (z > 0.5)
    total[likely] -= 1
    rhs = -(-(sum(min(1, cut.rhs) for cut in members) - int(likely.sum())) // 2)
    cells = np.flatnonzero(total)
    if rhs <= 0 or not len(cells):
        return None
    coef = -(-total[cells] // 2)
    cells, coef = cells[coef != 0], coef[coef != 0]
    if (coef > 0).all():
        coef = np.minimum(coef, rhs)
    return LineCut(cells, coef, rhs, summed=True)
