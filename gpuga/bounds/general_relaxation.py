"""The linear program that bounds any linear table, grown by cuts; its bounds are recomputed in integers.

The solver proposes multipliers of the cuts; whatever they are, every pattern costs at least
`sum(y r) + sum(min(0, w - y c))`. Here they are integers in units of a power of two, and shares of cells are rounded
up. Fixed cells of a node of a tree are taken into account.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import highspy
import numpy as np

from gpuga.bounds.certificate import SAFE_BITS
from gpuga.bounds.general_attackers import FractionalAttacker, bridges, products_of_levels
from gpuga.bounds.general_cuts import Floats, Key, LineCut, Origin, Product, half_sums, level_row
from gpuga.bounds.general_pool import Pool
from gpuga.bounds.relaxation import new_solver
from gpuga.compiled import compiled
from gpuga.context import Clock
from gpuga.safety.tasks import level_tasks
from gpuga.table.table import Ints, Mask, Table

VIOLATED = 1e-2
LONELY = 1e-2
WHOLE_ROOMS = (1.0, 64.0, 1e5)
"""Room of cells, in needs of a task, when a whole pattern is judged: most cuts come of narrow ones."""

HALVES_AT_ONCE = 60
HALVES_FROM = 1500
CUTS_AT_ONCE = 150
ENOUGH = 20
"""With so many violated roundings of rows that are there already, the attackers are not asked."""

LONGEST_SILENCE = 3
"""A task that is within reach of point after point is still asked for in every such round."""

STALLED_ROUNDS = 30
STALLED = 2e-4
SOLVES_IDLE = 6
LEAST_PURGED = 0.3
NO_LIMIT = 2**31 - 1
LEAST_MULTIPLIER = 1e-9
MOST_WORDS = 200_000

Proof = tuple[int, Ints, int]
"""A bound and the reduced costs that go with it, both in units of a power of two, and which."""


class GeneralRelaxation:
    """Cuts over the `free` cells, those that may become secondary suppressions.

    `x` float64[free] is the latest point; `low` and `high` are its bounds (fixed cells of a node); `proof` is the
    latest bound with its reduced costs. An artificial column that meets every cut at a high price keeps all programs
    feasible.
    """

    def __init__(self, table: Table, clock: Clock | None = None) -> None:
        self.table = table
        self.tasks = level_tasks(table)
        self.free = np.flatnonzero(table.suppressible & ~table.forced & ((table.up > 0) | (table.down > 0)))
        self.base_cost = table.cost(table.forced)
        self.weight: Ints = table.weight[self.free]
        self.step = max(1, int(np.gcd.reduce(self.weight)) if len(self.free) else 1)
        self.unit = max(1.0, float(np.median(self.weight)) if len(self.free) else 1.0)
        self.position = np.full(len(table), -1, np.int64)
        self.position[self.free] = np.arange(len(self.free))
        self.every = np.arange(len(self.free), dtype=np.int32)
        self.solver = new_solver(np.append(self.weight, self.weight.sum() + self.step) / self.unit)
        self.solver.changeColBounds(len(self.free), 0.0, highspy.kHighsInf)
        self.cuts: list[LineCut] = []
        self.known: set[Key] = set()
        self.rows = _Rows()
        self.idle: Ints = np.zeros(0, np.int64)
        self.x = np.zeros(len(self.free))
        self.low, self.high = np.zeros(len(self.free)), np.ones(len(self.free))
        self.objective = 0.0
        self.proof: Proof = (0, self.weight, 0)
        self.bound = 0
        self.behind: list[Origin] = []
        self.pool = Pool(self.free, self.position)
        self.levels, self.movement = FractionalAttacker(table), FractionalAttacker(table)
        self.silent: Ints = np.zeros(len(self.tasks), np.int64)
        self.asked = 0
        self._tasks_of: dict[int, list[int]] = {}
        for task, cell in enumerate(self.tasks.cell.tolist()):
            self._tasks_of.setdefault(cell, []).append(task)
        for line in range(len(table.lines)):
            if clock is not None and clock.expired():
                break  # any of them may be left out: the bound is only weaker
            self._take(self._product_of(line))

    # --- the program -----------------------------------------------------------------------------------

    def add(self, cuts: Iterable[LineCut]) -> int:
        """Add rows that are not there yet; how many."""
        fresh = [cut for cut in {cut.key: cut for cut in cuts}.values() if cut.key not in self.known]
        if not fresh:
            return 0
        self.known.update(cut.key for cut in fresh)
        self.cuts += fresh
        size = np.array([len(cut.cell) for cut in fresh])
        place = self.position[np.concatenate([cut.cell for cut in fresh])]
        value = np.concatenate([cut.coef for cut in fresh])
        scale = np.array([cut.scale for cut in fresh], np.int64)
        ends = np.cumsum(size)
        start = np.concatenate([[0], np.cumsum(size + 1)])
        # every row ends with its share of the artificial column
        self.solver.addRows(
            len(fresh),
            np.array([float(cut.rhs > 0) for cut in fresh]),
            np.full(len(fresh), highspy.kHighsInf),
            int(start[-1]),
            start[:-1].astype(np.int32),
            np.insert(place, ends, len(self.free)).astype(np.int32),
            np.insert(value / np.repeat(scale, size), ends, 1.0),
        )
        self.rows.append(ends, place, value, scale, np.array([cut.rhs > 0 for cut in fresh]))
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
        self.rows.keep(stay)
        self.idle = self.idle[stay]

    def set_price(self, cost: int) -> None:
        """No program need show more than that cost: it ends once it does."""
        self.solver.changeColCost(len(self.free), (cost + self.step) / self.unit)
        self.solver.setOptionValue("objective_bound", cost / self.unit)

    def fix(self, low: Floats, high: Floats) -> None:
        """Let the programs be those of a node: bounds of the free cells."""
        self.low[:], self.high[:] = low, high
        self.solver.changeColsBounds(len(self.free), self.every, self.low, self.high)

    def fix_one(self, at: int, low: float, high: float) -> None:
        """Change the bounds of one position."""
        self.low[at], self.high[at] = low, high
        self.solver.changeColBounds(at, low, high)

    def estimate(self, iterations: int) -> float:
        """What the solver says of the program after some iterations, in units of the weights; nothing is proven."""
        self.solver.setOptionValue("simplex_iteration_limit", iterations)
        self.solver.run()
        return float(self.solver.getInfo().objective_function_value) * self.unit

    def solve(self) -> int:
        """Solve; the proven bound, rounded up to what costs can be at all."""
        self.solver.setOptionValue("simplex_iteration_limit", NO_LIMIT)
        self.solver.run()
        return self.proven()

    def proven(self) -> int:
        """What the solver's latest multipliers prove."""
        solution = self.solver.getSolution()
        self.x = np.clip(np.array(solution.col_value)[:-1], 0.0, 1.0)
        self.objective = float(self.solver.getInfo().objective_function_value) * self.unit
        multipliers = np.maximum(np.array(solution.row_dual), 0.0) * self.unit
        self.idle = np.where(multipliers > 0, 0, self.idle + 1)
        return self._proven(multipliers)

    def _proven(self, multipliers: Floats) -> int:
        """The bound of the multipliers as integers in units of a power of two."""
        largest = float(self.weight.max(initial=1)) + float((multipliers * self.rows.widest).sum())
        shift = max(0, SAFE_BITS - int(np.ceil(np.log2(largest + 1))))
        fixed = np.floor(multipliers * 2.0**shift).astype(np.int64)
        reduced = self.weight << shift
        rows = self.rows
        _subtract(rows.start, rows.place, rows.value, rows.scale, fixed, reduced)
        counted = np.where(self.low > 0, reduced, np.where(self.high > 0, np.minimum(reduced, 0), 0))
        total = sum(fixed[(fixed > 0) & rows.asks].tolist()) + sum(counted[counted != 0].tolist())
        self.proof = total, reduced, shift
        return self.rounded(total, shift)

    def rounded(self, total: int, shift: int) -> int:
        """A bound in units of the weights, rounded up to what costs can be."""
        bound = max(0, -((-total) >> shift))
        return -(-bound // self.step) * self.step

    def settled(self, cost: int, proof: Proof) -> tuple[Mask, Mask]:
        """The open cells that no pattern cheaper than `cost` contains, and those that each contains (of the node)."""
        total, reduced, shift = proof
        margin = min(max(((cost - self.step) << shift) - total, 0), 2**62)
        free = self.low < self.high
        return np.asarray(free & (reduced > margin)), np.asarray(free & (reduced < -margin))

    # --- cuts ------------------------------------------------------------------------------------------

    @property
    def z(self) -> Floats:
        """The latest point for all cells (float64[n])."""
        z = self.table.forced.astype(np.float64)
        z[self.free] = self.x
        return z

    def tighten(self, clock: Clock, rounds: int = NO_LIMIT, most: int = NO_LIMIT) -> None:
        """Cut off the points until none is, the bound stalls or reaches `most`, the rounds or the time are up."""
        stalled = made = 0
        while not clock.expired() and stalled < STALLED_ROUNDS and made < rounds and self.bound < most:
            before = self.bound
            if (proven := self.solve()) >= self.bound:
                self.bound, self.behind = proven, self._with_multipliers()
            added = self.roundings() + self.lonely()
            if added < ENOUGH or stalled:
                added += self.out_of_reach(clock) + self.unmoved(clock)
            if added < ENOUGH or stalled:
                added += self.halves()
            if not added:
                return
            made += 1
            stalled = stalled + 1 if self.bound <= before * (1 + STALLED) else 0
            self.purge()

    def _with_multipliers(self) -> list[Origin]:
        """How the cuts were made that the latest bound leans on."""
        dual = self.solver.getSolution().row_dual
        return [cut.origin for cut, y in zip(self.cuts, dual, strict=True) if y > LEAST_MULTIPLIER and cut.origin]

    def said(self) -> list[list[Any]]:
        """The cuts behind the bound, in the words of the checker; where they are too many, the longest are left out."""
        known: dict[int, int] = {}
        length = np.array([_length(origin, known) for origin in self.behind], np.float64)
        order = np.argsort(length, kind="stable")
        kept = order[np.cumsum(length[order]) <= MOST_WORDS]
        return [spelled(self.behind[at]) for at in np.sort(kept).tolist()]

    def roundings(self) -> int:
        """Add the roundings of kept rows that the point violates."""
        return self.add(self.pool.violated(self.x, VIOLATED, CUTS_AT_ONCE))

    def out_of_reach(self, clock: Clock, room: float = 1.0) -> int:
        """Ask the attackers about levels, keep their rows and add the roundings that the point violates.

        Tasks that were within reach of the latest points wait, unless the others give no cut.
        """
        if not len(self.tasks):
            return 0
        self.asked += 1
        due = self.asked % np.minimum(self.silent + 1, LONGEST_SILENCE) == 0
        added = self._asked_for(np.flatnonzero(due), room, clock)
        return added or self._asked_for(np.flatnonzero(~due), room, clock)

    def _asked_for(self, tasks: Ints, room: float, clock: Clock) -> int:
        kept = 0
        self.silent[tasks] += 1
        for task, product in products_of_levels(self.levels, self.tasks.subset(tasks), self.z, room, clock):
            self.silent[tasks[task]] = 0
            kept += self._take(product)
        return self.roundings() if kept else 0

    def unmoved(self, clock: Clock) -> int:
        """Add bridges that the point violates."""
        return self.add(bridges(self.movement, self.position >= 0, self.z, clock))

    def halves(self) -> int:
        """Add the zero-half cuts that the point violates most."""
        z, latest = self.z, self.cuts[-HALVES_FROM:]
        added = self.add(half_sums([cut for cut in latest if not cut.summed], self.free, z, HALVES_AT_ONCE))
        return added or self.add(half_sums(latest, self.free, z, HALVES_AT_ONCE))

    def lonely(self) -> int:
        """Add the bridges of single lines that the point violates."""
        lines, z = self.table.lines, self.z
        total = np.bincount(lines.line_of_entry, weights=z[lines.cell], minlength=len(lines))
        hidden = np.bincount(lines.line_of_entry, weights=self.table.forced[lines.cell], minlength=len(lines)) > 0
        free = self.position[lines.cell] >= 0
        more = 2.0 * z[lines.cell] - total[lines.line_of_entry] > LONELY
        cuts = []
        for entry in np.flatnonzero(more & free & ~hidden[lines.line_of_entry]).tolist():
            line, cell = int(lines.line_of_entry[entry]), int(lines.cell[entry])
            cells = lines.cell[lines.start[line] : lines.start[line + 1]].astype(np.int64)
            cells = cells[self.position[cells] >= 0]
            made = ("alone", cell, [line], [1])
            cuts.append(LineCut(cells, np.where(cells == cell, -1, 1).astype(np.int64), 0, origin=made))
        return self.add(cuts)

    def cut_off(self, clock: Clock) -> int:
        """Add cuts that a whole point violates, if it is no safe pattern."""
        added = self.roundings() + self.lonely()
        for room in WHOLE_ROOMS:
            if added:
                break
            added = self.out_of_reach(clock, room)
        return added

    def _product_of(self, line: int) -> Product:
        lines, product = self.table.lines, np.zeros(len(self.table), np.int64)
        entries = slice(int(lines.start[line]), int(lines.start[line + 1]))
        product[lines.cell[entries]] = lines.coef[entries]
        return Product(product, np.array([line]), np.ones(1, np.int64))

    def _take(self, product: Product) -> int:
        """Keep the rows that `y M` gives for all tasks whose cell is in it; how many are new."""
        kept = 0
        for cell in np.flatnonzero((product.of_cells != 0) & self.table.primary).tolist():
            for task in self._tasks_of.get(cell, []):
                row = level_row(self.table, self.tasks, task, product)
                if row is not None:
                    kept += self.pool.add(row)
        return kept


def _length(origin: Any, known: dict[int, int]) -> int:
    """How many cuts an origin names, counted as often as they are named: halves of halves of halves grow quickly."""
    if not isinstance(origin, tuple | list):
        return 0
    if id(origin) not in known:
        known[id(origin)] = 1 + sum(_length(part, known) for part in origin)
    return known[id(origin)]


def spelled(origin: Any) -> Any:
    """An origin as nested lists of words and whole numbers."""
    if isinstance(origin, np.ndarray):
        return origin.tolist()
    return [spelled(part) for part in origin] if isinstance(origin, tuple | list) else origin


class _Rows:
    """The cuts as compressed sparse rows over the free cells; `asks` says which right-hand sides are not zero."""

    def __init__(self) -> None:
        self.start: Ints = np.zeros(1, np.int64)
        self.place: Ints = np.zeros(0, np.int64)
        self.value: Ints = np.zeros(0, np.int64)
        self.scale: Ints = np.zeros(0, np.int64)
        self.widest: Floats = np.zeros(0)
        self.asks: Mask = np.zeros(0, bool)

    def append(self, ends: Ints, place: Ints, value: Ints, scale: Ints, asks: Mask) -> None:
        """More rows; `ends` are counted from their first entry."""
        largest = np.maximum.reduceat(np.abs(value), np.concatenate([[0], ends[:-1]]))
        self.start = np.concatenate([self.start, self.start[-1] + ends])
        self.place, self.value = np.concatenate([self.place, place]), np.concatenate([self.value, value])
        self.scale, self.asks = np.concatenate([self.scale, scale]), np.concatenate([self.asks, asks])
        self.widest = np.concatenate([self.widest, np.maximum(1.0, largest / scale)])

    def keep(self, which: Mask) -> None:
        """Only some rows."""
        size = np.diff(self.start)
        entries = np.repeat(which, size)
        self.place, self.value = self.place[entries], self.value[entries]
        self.start = np.concatenate([[0], np.cumsum(size[which])])
        self.scale, self.asks, self.widest = self.scale[which], self.asks[which], self.widest[which]


@compiled
def _subtract(start: Ints, place: Ints, value: Ints, scale: Ints, fixed: Ints, reduced: Ints) -> None:
    """Take each cut's share, rounded up, from the reduced costs of its cells."""
    for c in range(len(scale)):
        if fixed[c] <= 0:
            continue
        whole, rest = fixed[c] // scale[c], fixed[c] % scale[c]
        for e in range(start[c], start[c + 1]):
            reduced[place[e]] -= whole * value[e] - (-rest * value[e]) // scale[c]
