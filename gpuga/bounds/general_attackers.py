"""Attackers of a fractional pattern: what they cannot move gives the multipliers of cuts.

A cell of value z has z times its room. A task that is out of reach gives a knapsack row (see `general_cuts`).
A suppressed cell that cannot move at all is as well published: among the cheapest safe patterns there are some
without such cells, and it is these that are bounded. For any multipliers y, a cell of `y M` moves only if another one
does: the others outweigh each of them (a bridge, after Fischetti, Salazar 2000).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuga.bounds.general_cuts import Floats, LineCut, Product, whole_product
from gpuga.context import Clock
from gpuga.lp.highs import Highs
from gpuga.lp.solver import Answer, Model, Status
from gpuga.safety.tasks import Tasks
from gpuga.table.table import Mask, Table

NOTHING = 1e-9
SHORT = 1e-6
BRIDGE = 1e-2
UNLIMITED = 100.0


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
    attacker: FractionalAttacker, tasks: Tasks, z: Floats, room: float, clock: Clock
) -> Iterator[tuple[int, Product]]:
    """The tasks that a point (float64[n]) leaves out of reach, each with its `y M`.

    No cell gets more room than `room` times what the task needs: no row counts more than that anyway.
    """
    share = np.where(z[attacker.cells] < NOTHING, 0.0, z[attacker.cells])
    for task in np.argsort(tasks.need, kind="stable").tolist():
        cell, need = int(tasks.cell[task]), float(tasks.need[task])
        if clock.expired():
            return
        if attacker.column[cell] < 0:
            continue
        attacker.allow(*(np.minimum(most / need, room) * share for most in (attacker.down, attacker.up)))
        answer = attacker.ask(cell, int(tasks.direction[task]))
        if answer.status is Status.OPTIMAL and answer.objective < 1.0 - SHORT:
            yield task, whole_product(attacker.table, answer.row_dual)


def bridges(attacker: FractionalAttacker, free: Mask, z: Floats, clock: Clock) -> Iterator[LineCut]:
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


def bridge(table: Table, product: Product, z: Floats) -> LineCut | None:
    """The bridge of `y M` that a point violates most; None where a forced cell is in it.

    Of the cells of `y M` none moves alone: it holds for each of them.
    """
    cells = np.flatnonzero((product.of_cells != 0) & table.suppressible & ((table.up > 0) | (table.down > 0)))
    if not len(cells) or table.forced[cells].any():
        return None
    one = int(cells[np.argmax(z[cells])])
    made = ("alone", one, product.line, product.y)
    return LineCut(cells, np.where(cells == one, -1, 1).astype(np.int64), 0, origin=made)
