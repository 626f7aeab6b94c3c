"""The separator of any linear table: attackers of a fractional pattern; what they cannot move gives cuts.

A cell of value z has z times its room. A requirement that is out of reach gives a knapsack row (see `line_cuts`), which
is kept: its roundings cut off later points. A suppressed cell that cannot move gives a bridge. Both hold in integers
for any multipliers; the duals of the attacker's linear programs only propose some.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gpuga.bounds.cut import Batches, Cut, Effort, Floats
from gpuga.bounds.separators.bridges import LoneCells, bridge
from gpuga.bounds.separators.derivations import Derivations
from gpuga.bounds.separators.line_cuts import Product, SparseCut, level_row, whole_product
from gpuga.bounds.separators.row_pool import RowPool
from gpuga.bounds.separators.zero_half import LARGEST_HALF, OneOf, Statement, half_cuts
from gpuga.context import Clock
from gpuga.lp.highs import Highs
from gpuga.lp.solver import Answer, Model, Status
from gpuga.problem.general import GeneralProblem
from gpuga.safety.tasks import Tasks
from gpuga.table.table import Ints, Mask, Table

VIOLATED = 1e-2
WHOLE_ROOMS = (1.0, 64.0, 1e5)
"""Room of cells, in needs of a requirement, when a whole pattern is judged: most cuts come of narrow ones."""

HALVES_AT_ONCE = 60
HALVES_FROM = 1500
CUTS_AT_ONCE = 150
LONGEST_SILENCE = 3
"""A requirement that is within reach of point after point is still asked for in every such round."""

NOTHING = 1e-9
SHORT = 1e-6
BRIDGE = 1e-2
UNLIMITED = 100.0


class AttackerSeparator:
    """Finds cuts of any linear table; see `Separator`. Columns are its cells."""

    effort = Effort(
        few=(20, 2**31),
        few_at_node=1,
        patience=30,
        spares_tight=False,
        rounds=4,
        gain=0.02,
        tried=(30, 8),
        iterations=150,
    )

    def __init__(self, problem: GeneralProblem) -> None:
        table = problem.table
        self.table, self.requirements = table, problem.plain
        self.cell: Ints = np.arange(len(table))
        self.weight: Ints = table.weight
        self.candidate: Mask = problem.candidate
        self.pool = RowPool()
        self._lone_cells = LoneCells(table, self.cell, self.candidate)
        self._levels, self._movement = FractionalAttacker(table), FractionalAttacker(table)
        self._silent: Ints = np.zeros(len(self.requirements), np.int64)
        self._asked = 0
        self._of_cell: dict[int, list[int]] = {}
        for number, cell in enumerate(self.requirements.cell.tolist()):
            self._of_cell.setdefault(cell, []).append(number)
        for line in range(len(table.lines)):
            if problem.clock is not None and problem.clock.expired():
                break  # any of them may be left out: the bound is only weaker
            self._keep_rows(_product_of(table, line))

    @property
    def core(self) -> Mask:
        """All candidates."""
        return self.candidate

    def first(self) -> Sequence[Cut]:
        """None: the rows of single lines are in the pool."""
        return []

    def at_root(self, x: Floats, cuts: Sequence[Cut], clock: Clock) -> Batches:
        """Roundings and lone cells, then what attackers say, then zero-half cuts."""
        yield from self.at_node(x, False, clock)
        yield self._halves(x, cuts)

    def at_node(self, x: Floats, thorough: bool, clock: Clock) -> Batches:
        """Attackers are asked only where nothing cheaper is found."""
        yield self._cheap(x)
        yield [*self._out_of_reach(x, 1.0, clock), *self._bridges(x, clock)]

    def at_whole(self, x: Floats, clock: Clock) -> Batches:
        """What a whole pattern violates, from narrow to wide rooms."""
        yield self._cheap(x)
        for room in WHOLE_ROOMS:
            yield self._out_of_reach(x, room, clock)

    def deepen(self) -> bool:
        """Everything is asked for already."""
        return False

    def derivations(self, cuts: Sequence[Cut]) -> list[list[Any]]:
        """How cuts are derived, for the checker of proofs."""
        return Derivations().of(cuts)

    # --- kinds of cuts ---------------------------------------------------------------------------------

    def _cheap(self, x: Floats) -> list[Cut]:
        """Roundings of kept rows, and lone cells."""
        return [*self._roundings(x), *self._lone_cells.violated(x)]

    def _roundings(self, x: Floats) -> list[SparseCut]:
        return self.pool.violated(x, VIOLATED, CUTS_AT_ONCE)

    def _pattern(self, x: Floats) -> Floats:
        """The point with the forced cells."""
        return np.where(self.table.forced, 1.0, x)

    def _out_of_reach(self, x: Floats, room: float, clock: Clock) -> list[SparseCut]:
        """Ask the attackers about requirements, keep their rows; the roundings that the point violates.

        Requirements that were within reach of the latest points wait, unless the others give no cut.
        """
        if not len(self.requirements):
            return []
        self._asked += 1
        due = self._asked % np.minimum(self._silent + 1, LONGEST_SILENCE) == 0
        return self._asked_for(np.flatnonzero(due), x, room, clock) or self._asked_for(
            np.flatnonzero(~due), x, room, clock
        )

    def _asked_for(self, which: Ints, x: Floats, room: float, clock: Clock) -> list[SparseCut]:
        kept = 0
        self._silent[which] += 1
        asked = self.requirements.subset(which)
        for number, product in products_of_levels(self._levels, asked, self._pattern(x), room, clock):
            self._silent[which[number]] = 0
            kept += self._keep_rows(product)
        return self._roundings(x) if kept else []

    def _keep_rows(self, product: Product) -> int:
        """Keep the rows that `y M` gives for all requirements whose cell is in it; how many are new."""
        kept = 0
        for cell in np.flatnonzero((product.of_cells != 0) & self.table.primary).tolist():
            for number in self._of_cell.get(cell, []):
                row = level_row(self.table, self.requirements, number, product)
                if row is not None:
                    kept += self.pool.add(row)
        return kept

    def _bridges(self, x: Floats, clock: Clock) -> list[SparseCut]:
        return list(bridges(self._movement, self.candidate, self._pattern(x), clock))

    def _halves(self, x: Floats, cuts: Sequence[Cut]) -> list[SparseCut]:
        """The zero-half cuts of the latest cuts that the point violates most; of sums only where others give none."""
        known, found = {cut.key for cut in cuts}, list[SparseCut]()
        latest = [cut for cut in cuts[-HALVES_FROM:] if isinstance(cut, SparseCut)]
        for some in ([cut for cut in latest if not cut.summed], latest):
            if not found:
                said = [statement for cut in some for statement in _statements(cut)]
                found = [half for half in half_cuts(said, self.cell, x, HALVES_AT_ONCE) if half.key not in known]
        return found


class FractionalAttacker:
    """The linear program `max d_k, M d = 0` between bounds that are shares of the cells."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.cells = np.flatnonzero((table.up > 0) | (table.down > 0))
        start, line, coef = table.lines.by_cell(len(table))
        counts = np.diff(start)[self.cells]
        before = np.concatenate([[0], np.cumsum(counts)])[:-1]
        entries = np.repeat(start[self.cells] - before, counts) + np.arange(int(counts.sum()))
        self.column = np.full(len(table), -1, np.int64)
        self.column[self.cells] = np.arange(len(self.cells))
        self.every = np.arange(len(self.cells), dtype=np.int32)
        self.up, self.down = (room[self.cells].astype(np.float64) for room in (table.up, table.down))
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
        self._asked = -1

    def allow(self, down: Floats, up: Floats) -> None:
        """Bounds of the moves of `cells`, both as sizes."""
        self.session.set_bounds(self.every, -down, up)

    def ask(self, cell: int, direction: int) -> Answer:
        """The furthest move of a cell that has a column."""
        column = int(self.column[cell])
        columns = [column] if self._asked in (-1, column) else [self._asked, column]
        costs = [0.0] * (len(columns) - 1) + [float(direction)]
        self.session.set_cost(np.array(columns, np.int32), np.array(costs))
        self._asked = column
        return self.session.solve()


def products_of_levels(
    attacker: FractionalAttacker, requirements: Tasks, z: Floats, room: float, clock: Clock
) -> Iterator[tuple[int, Product]]:
    """The requirements that a point (float64[n]) leaves out of reach, each with its `y M`.

    No cell gets more room than `room` times what is needed: no row counts more than that anyway.
    """
    share = np.where(z[attacker.cells] < NOTHING, 0.0, z[attacker.cells])
    for number in np.argsort(requirements.need, kind="stable").tolist():
        cell, need = int(requirements.cell[number]), float(requirements.need[number])
        if clock.expired():
            return
        if attacker.column[cell] < 0:
            continue
        attacker.allow(*(np.minimum(most / need, room) * share for most in (attacker.down, attacker.up)))
        answer = attacker.ask(cell, int(requirements.direction[number]))
        if answer.status is Status.OPTIMAL and answer.objective < 1.0 - SHORT:
            yield number, whole_product(attacker.table, answer.row_dual)


def bridges(attacker: FractionalAttacker, free: Mask, z: Floats, clock: Clock) -> Iterator[SparseCut]:
    """Cuts for the free cells (bool[n]) that cannot move as far as a point suppresses them."""
    table, cells = attacker.table, attacker.cells
    share = np.where(table.forced[cells], UNLIMITED, np.where(z[cells] < NOTHING, 0.0, z[cells]))
    attacker.allow(share, share)
    settled = ~free[cells] | (share <= BRIDGE)
    while not settled.all() and not clock.expired():
        column = int(np.argmin(settled))
        cell = int(cells[column])
        answer = attacker.ask(cell, 1)
        settled[column] = True
        if answer.status is not Status.OPTIMAL:
            continue
        settled |= np.abs(answer.x) >= share - SHORT
        if answer.objective < share[column] - BRIDGE:
            cut = bridge(table, whole_product(table, answer.row_dual), z)
            if cut is not None and cut.violation(z) > BRIDGE:
                yield cut


def _product_of(table: Table, line: int) -> Product:
    """One line as it is."""
    lines, product = table.lines, np.zeros(len(table), np.int64)
    entries = slice(int(lines.start[line]), int(lines.start[line + 1]))
    product[lines.cell[entries]] = lines.coef[entries]
    return Product(product, np.array([line]), np.ones(1, np.int64))


def _statements(cut: SparseCut) -> Iterator[Statement]:
    """What a cut says in small integers."""
    if cut.rhs <= LARGEST_HALF:
        yield cut
    if cut.rhs > 1 and not cut.summed:
        yield OneOf(cut)
