"""The separator of any linear table: attackers of a fractional pattern; what they cannot move gives cuts.

A cell of value z has z times its room. A requirement that is out of reach gives a knapsack row (see `line_cuts`), which
is kept: its roundings cut off later points. A suppressed cell that cannot move gives a bridge. Both hold in integers
for any multipliers; the duals of the attacker's linear programs only propose some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gpuga.bounds.cut import Batches, Cut, Floats
from gpuga.bounds.separators.bridges import bridge
from gpuga.bounds.separators.line_cuts import Product, SparseCut, whole_product
from gpuga.bounds.separators.lines import CUTS_AT_NODE, LONG_HALVES, LineSeparator
from gpuga.bounds.separators.point_attacker import PointAttacker
from gpuga.context import Clock
from gpuga.lp.highs import Highs
from gpuga.lp.solver import Answer, Model, SolveStatus
from gpuga.problem.general import GeneralProblem
from gpuga.safety.requirements import Requirements
from gpuga.table.table import Ints, Mask, Table

WHOLE_ROOMS = (1.0, 64.0, 1e5)
"""Room of cells, in needs of a requirement, when a whole pattern is judged: most cuts come of narrow ones."""

LONGEST_SILENCE = 3
"""A requirement that is within reach of point after point is still asked for in every such round."""

MOST_ENTRIES = 200_000
"""Points whose attackers share a tableau of no more entries than this are asked about there."""

NOTHING = 1e-9
SHORT = 1e-6
BRIDGE = 1e-2
UNLIMITED = 100.0


Attackers = Callable[[Requirements], Iterator[tuple[int, Product]]]
"""Of some requirements those out of reach, by their number, each with its `y M`."""


class AttackerSeparator(LineSeparator):
    """Finds cuts of any linear table; see `Separator`. Columns are its cells."""

    def __init__(self, problem: GeneralProblem) -> None:
        super().__init__(problem)
        self._levels, self._movement = FractionalAttacker(self.table), FractionalAttacker(self.table)
        self._silent: Ints = np.zeros(len(self.requirements), np.int64)
        self._asked = 0

    def at_root(self, x: Floats, cuts: Sequence[Cut], clock: Clock) -> Batches:
        """Roundings and lone cells, then what attackers say, then zero-half cuts."""
        yield self._cheap(x, self.at_once)
        yield self._of_attackers(x, clock)
        yield self._halves(x, cuts, LONG_HALVES)

    def at_node(self, x: Floats, cuts: Sequence[Cut], thorough: bool, clock: Clock) -> Batches:
        """In a small tableau, attackers are asked first: rows of a node's own point are what closes it soonest.

        Else only where nothing cheaper is found. Zero-half cuts come with what all of them say.
        """
        point = self._point(x)
        if point is not None:
            due = self._due()
            self._ask(due, point.out_of_reach)
            yield self._cheap(x, CUTS_AT_NODE)
            rounded = self._roundings(x, CUTS_AT_NODE) if self._ask(~due, point.out_of_reach) else []
            yield [*rounded, *point.bridges(self.candidate), *self._halves(x, cuts)]
        else:
            yield self._cheap(x, CUTS_AT_NODE)
            yield [
                *self._out_of_reach(x, 1.0, CUTS_AT_NODE, clock),
                *self._bridges(x, clock),
                *self._halves(x, cuts),
            ]

    def at_whole(self, x: Floats, clock: Clock) -> Batches:
        """What a whole pattern violates, from narrow to wide rooms."""
        yield self._cheap(x, CUTS_AT_NODE)
        for room in WHOLE_ROOMS:
            yield self._out_of_reach(x, room, CUTS_AT_NODE, clock)

    # --- kinds of cuts ---------------------------------------------------------------------------------

    def _pattern(self, x: Floats) -> Floats:
        """The point with the forced cells."""
        return np.where(self.table.forced, 1.0, x)

    def _of_attackers(self, x: Floats, clock: Clock) -> list[SparseCut]:
        """What attackers of a fractional point say: in one tableau, where it is small."""
        point = self._point(x)
        if point is None:
            return [*self._out_of_reach(x, 1.0, self.at_once, clock), *self._bridges(x, clock)]
        return [*self._from_the_due(x, self.at_once, point.out_of_reach), *point.bridges(self.candidate)]

    def _point(self, x: Floats) -> PointAttacker | None:
        """The attackers of a point in one tableau; None where it would be large."""
        point = PointAttacker(self.table, self._pattern(x))
        return point if point.size <= MOST_ENTRIES else None

    def _out_of_reach(self, x: Floats, room: float, most: int, clock: Clock) -> list[SparseCut]:
        """What attackers say of levels, by programs."""
        z = self._pattern(x)
        return self._from_the_due(x, most, lambda asked: products_of_levels(self._levels, asked, z, room, clock))

    def _from_the_due(self, x: Floats, most: int, attackers: Attackers) -> list[SparseCut]:
        """Ask about requirements; the roundings of their rows that the point violates, at most so many.

        Requirements that were within reach of the latest points wait, unless the others give no cut.
        """
        due = self._due()
        for which in (due, ~due):
            if self._ask(which, attackers) and (found := self._roundings(x, most)):
                return found
        return []

    def _due(self) -> Mask:
        """Whose turn it is (bool[requirements])."""
        self._asked += 1
        return np.asarray(self._asked % np.minimum(self._silent + 1, LONGEST_SILENCE) == 0)

    def _ask(self, asked: Mask, attackers: Attackers) -> int:
        """Ask attackers about some requirements and keep the rows of what is out of reach; how many are new."""
        which, kept = np.flatnonzero(asked), 0
        self._silent[which] += 1
        if len(which):
            for number, product in attackers(self.requirements.subset(which)):
                self._silent[which[number]] = 0
                kept += self._keep_rows(product)
        return kept

    def _bridges(self, x: Floats, clock: Clock) -> list[SparseCut]:
        return list(bridges(self._movement, self.candidate, self._pattern(x), clock))


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
    attacker: FractionalAttacker, requirements: Requirements, z: Floats, room: float, clock: Clock
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
        if answer.status is SolveStatus.OPTIMAL and answer.objective < 1.0 - SHORT:
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
        if answer.status is not SolveStatus.OPTIMAL:
            continue
        settled |= np.abs(answer.x) >= share - SHORT
        if answer.objective < share[column] - BRIDGE:
            cut = bridge(table, whole_product(table, answer.row_dual), z)
            if cut is not None and cut.violation(z) > BRIDGE:
                yield cut
