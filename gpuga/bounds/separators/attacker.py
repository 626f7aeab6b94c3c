"""The separator of any linear table: attackers of a fractional pattern; what they cannot move gives cuts.

A cell of value z has z times its room. A requirement that is out of reach gives a knapsack row (see `line_cuts`), which
is kept: its roundings cut off later points. A suppressed cell that cannot move gives a bridge. Both hold in integers
for any multipliers; the duals of the attacker's linear programs only propose some. So the programs may be solved
anywhere (`Attackers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np

from gpuga.bounds.cut import Batches, Cut, Floats
from gpuga.bounds.separators.bridges import bridge
from gpuga.bounds.separators.line_cuts import SparseCut, whole_product
from gpuga.bounds.separators.lines import LineSeparator
from gpuga.context import Clock
from gpuga.lp.highs import Highs
from gpuga.lp.solver import Answer, Model, Status
from gpuga.problem.general import GeneralProblem
from gpuga.safety.tasks import Tasks
from gpuga.table.table import Ints, Mask, Table

WHOLE_ROOMS = (1.0, 64.0, 1e5)
"""Room of cells, in needs of a requirement, when a whole pattern is judged: most cuts come of narrow ones."""

LONGEST_SILENCE = 3
"""A requirement that is within reach of point after point is still asked for in every such round."""

NOTHING = 1e-9
SHORT = 1e-6
BRIDGE = 1e-2
UNLIMITED = 100.0


class Attackers(Protocol):
    """Who solves the attackers' programs of points (float64[n]); what they answer only proposes multipliers."""

    def levels(self, which: Ints, z: Floats, room: float, clock: Clock) -> Iterable[tuple[int, Floats]]:
        """Those of some requirements (by number) that a point leaves out of reach, each with multipliers of the lines.

        No cell gets more room than `room` times what is needed: no row counts more than that anyway.
        """

    def stuck(self, z: Floats, clock: Clock) -> Iterable[Floats]:
        """Multipliers of the lines that show why free cells cannot move as far as a point suppresses them."""


class AttackerSeparator(LineSeparator):
    """Finds cuts of any linear table; see `Separator`. Columns are its cells."""

    def __init__(self, problem: GeneralProblem, attackers: Attackers | None = None) -> None:
        super().__init__(problem)
        self.attackers = OwnAttackers(problem) if attackers is None else attackers
        self._silent: Ints = np.zeros(len(self.requirements), np.int64)
        self._asked = 0

    def at_root(self, x: Floats, cuts: Sequence[Cut], clock: Clock) -> Batches:
        """Roundings and lone cells, then what attackers say, then zero-half cuts."""
        yield self._cheap(x)
        stuck = self.attackers.stuck(self._pattern(x), clock)  # named first: others may begin with both at once
        yield [*self._out_of_reach(x, 1.0, clock), *self._bridges(x, stuck)]
        yield self._halves(x, cuts)

    def at_node(self, x: Floats, cuts: Sequence[Cut], thorough: bool, clock: Clock) -> Batches:
        """Attackers are asked only where nothing cheaper is found; zero-half cuts come with what they say."""
        yield self._cheap(x)
        stuck = self.attackers.stuck(self._pattern(x), clock)
        yield [*self._out_of_reach(x, 1.0, clock), *self._bridges(x, stuck), *self._halves(x, cuts)]

    def at_whole(self, x: Floats, clock: Clock) -> Batches:
        """What a whole pattern violates, from narrow to wide rooms."""
        yield self._cheap(x)
        for room in WHOLE_ROOMS:
            yield self._out_of_reach(x, room, clock)

    # --- kinds of cuts ---------------------------------------------------------------------------------

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
        for number, multipliers in self.attackers.levels(which, self._pattern(x), room, clock):
            self._silent[number] = 0
            kept += self._keep_rows(whole_product(self.table, multipliers))
        return self._roundings(x) if kept else []

    def _bridges(self, x: Floats, stuck: Iterable[Floats]) -> list[SparseCut]:
        z = self._pattern(x)
        made = (bridge(self.table, whole_product(self.table, multipliers), z) for multipliers in stuck)
        return [cut for cut in made if cut is not None and cut.violation(z) > BRIDGE]


class OwnAttackers:
    """The attackers of a problem in this process, each program warm from the one before it; see `Attackers`."""

    def __init__(self, problem: GeneralProblem) -> None:
        self.requirements, self.free = problem.plain, problem.candidate
        self._levels, self._movement = FractionalAttacker(problem.table), FractionalAttacker(problem.table)

    def levels(self, which: Ints, z: Floats, room: float, clock: Clock) -> Iterator[tuple[int, Floats]]:
        """See `Attackers`."""
        for number, multipliers in out_of_reach(self._levels, self.requirements.subset(which), z, room, clock):
            yield int(which[number]), multipliers

    def stuck(self, z: Floats, clock: Clock) -> Iterator[Floats]:
        """See `Attackers`."""
        return stuck_cells(self._movement, self.free, z, clock)


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


def out_of_reach(
    attacker: FractionalAttacker, requirements: Tasks, z: Floats, room: float, clock: Clock
) -> Iterator[tuple[int, Floats]]:
    """The requirements that a point (float64[n]) leaves out of reach, each with multipliers of the lines that show it.

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
            yield number, answer.row_dual


def stuck_cells(attacker: FractionalAttacker, free: Mask, z: Floats, clock: Clock) -> Iterator[Floats]:
    """Multipliers of the lines that show why free cells (bool[n]) cannot move as far as a point suppresses them."""
    table, cells = attacker.table, attacker.cells
    share = np.where(table.forced[cells], UNLIMITED, np.where(z[cells] < NOTHING, 0.0, z[cells]))
    attacker.allow(share, share)
    settled = ~free[cells] | (share <= BRIDGE)
    while not settled.all() and not clock.expired():
        column = int(np.argmin(settled))
        answer = attacker.ask(int(cells[column]), 1)
        settled[column] = True
        if answer.status is not Status.OPTIMAL:
            continue
        settled |= np.abs(answer.x) >= share - SHORT
        if answer.objective < share[column] - BRIDGE:
            yield answer.row_dual
