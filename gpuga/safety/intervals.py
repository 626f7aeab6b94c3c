"""The attacker's interval of every suppressed cell: how far each can rise and fall, in exact arithmetic.

Propagation along the lines limits every cell. Programs then pull many cells at once towards their limits: a cell that
an exact change takes there needs no program of its own. Only the others are asked one by one, and each answer is tried
on all cells (filtered bound tightening, Gleixner, Berthold, Müller and Weltge 2017).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpuga.context import Clock, Context
from gpuga.safety.attacker import Attacker, Reach
from gpuga.safety.evidence import Evidence, whole_ones
from gpuga.safety.flow import extreme
from gpuga.safety.unpick import unpick
from gpuga.safety.witness import together
from gpuga.table.table import INFINITE, Ints, Mask, Table
from gpuga.table.two_way import suppressed_grid, two_way_table
from gpuga.table.witnesses import Witnesses

PATIENCE = 6
"""Pulls of many cells at once that may take next to none to its limit before cells are asked one by one."""

WORTH_IT = 0.01
"""The share of the open questions that such a pull has to answer."""

MOST_ENTRIES = 5_000_000
"""With so many entries of changes, no more are kept."""


@dataclass(frozen=True, eq=False)
class Reaches:
    """How far every suppressed cell can rise and fall, how many programs were solved for it, and what they found."""

    by_cell: dict[int, tuple[Reach, Reach]]
    solves: int = 0
    changes: Witnesses | None = None


def reaches(table: Table, suppressed: Mask, evidence: Evidence, context: Context) -> Reaches:
    """The reaches of a pattern; where `evidence` keeps its witnesses, the changes that were found are kept as well."""
    cells = np.flatnonzero(suppressed)
    plane = two_way_table(table)
    if plane is not None:
        rises, falls = extreme(plane, suppressed_grid(plane, suppressed), cells)
        pairs = zip(cells.tolist(), rises.tolist(), falls.tolist(), strict=True)
        return Reaches({cell: (_exactly(rise), _exactly(fall)) for cell, rise, fall in pairs})
    search = ReachSearch(table, suppressed, evidence, context)
    search.together()
    search.one_by_one()
    by_cell = {cell: (search.reach(cell, 1), search.reach(cell, -1)) for cell in cells.tolist()}
    return Reaches(by_cell, search.attacker.solves, together(search.changes) if evidence.keep else None)


def _exactly(amount: int) -> Reach:
    exact = Fraction(amount)
    return Reach(exact, None, exact, unbounded=amount >= INFINITE)


def farthest(attacker: Attacker, evidence: Evidence, cell: int, direction: int, clock: Clock) -> Reach:
    """The attacker's extreme of one cell, in whole numbers where he knows of them."""
    reach = attacker.reach(cell, direction, max(evidence.goal(cell, direction), 1), clock.left())
    fraction = reach.witness is not None and reach.witness.denominator[0] != 1
    if not evidence.whole or not fraction or reach.unbounded:
        return reach
    return attacker.whole_reach(cell, direction, None, reach, clock.left())


class ReachSearch:
    """What is known of the reaches: limits that hold, whole amounts that exact changes attain, settled answers."""

    def __init__(self, table: Table, suppressed: Mask, evidence: Evidence, context: Context) -> None:
        self.evidence, self.context = evidence, context
        self.cells = np.flatnonzero(suppressed)
        self.limit = dict(zip((1, -1), unpick(table, suppressed), strict=True))
        self.attained = {1: evidence.whole_rise.copy(), -1: evidence.whole_fall.copy()}
        self.changes: list[Witnesses] = []
        self.entries = 0
        self.found: dict[tuple[int, int], Reach] = {}
        self.attacker = Attacker(table, suppressed, expired=context.clock.expired)
        context.progress.stage("intervals", self._open(1).size + self._open(-1).size)

    def _open(self, direction: int) -> Ints:
        """The cells whose limit no change has attained yet."""
        return self.cells[self.attained[direction][self.cells] < self.limit[direction][self.cells]]

    def together(self) -> None:
        """Pull all open cells towards their limits at once, as long as that pays."""
        random, failures = np.random.default_rng(0), 0
        while failures < PATIENCE and not self.context.clock.expired():
            pull = self._pull(random)
            before = np.count_nonzero(pull)
            if not before:
                return
            change = self.attacker.towards(pull, self.context.clock.left())
            taken = 0 if change is None else self._use(change)
            failures += int(taken < WORTH_IT * before)

    def _pull(self, random: np.random.Generator) -> NDArray[np.float64]:
        """What moves each open cell as far as the others, up or down by chance (float64[cells]); 0 where not open."""
        pull = np.zeros(len(self.cells))
        chance = np.where(random.random(len(self.cells)) < 0.5, 1, -1)
        for preferred in (False, True):
            for direction in (1, -1):
                limit = self.limit[direction][self.cells]
                chosen = (self.attained[direction][self.cells] < limit) & (limit < INFINITE)
                chosen &= (chance == direction) | (not preferred)
                pull[chosen] = direction / limit[chosen]
        return pull

    def _use(self, change: Witnesses) -> int:
        """Note what an exact change attains; how many questions that answers."""
        if self.evidence.whole:
            change = whole_ones(change)
        if not len(change):
            return 0
        if self.evidence.keep and self.entries < MOST_ENTRIES:
            self.changes.append(change)
            self.entries += len(change.cell)
        moved, amounts, denominator = change.one(0)
        taken = 0
        for direction in (1, -1):
            limit, attained = self.limit[direction][moved], self.attained[direction]
            amount = np.clip(direction * amounts // denominator, 0, limit).astype(np.int64)
            taken += int(((amount == limit) & (attained[moved] < limit)).sum())
            attained[moved] = np.maximum(attained[moved], amount)
        self.context.progress.advance(taken)
        return taken

    def one_by_one(self) -> None:
        """Ask what is left of each cell alone, as long as there is time."""
        for direction in (1, -1):
            for cell in self._open(direction).tolist():
                if self.context.clock.expired():
                    return
                if (cell, direction) in self.found or self.attained[direction][cell] >= self.limit[direction][cell]:
                    continue
                reach = farthest(self.attacker, self.evidence, cell, direction, self.context.clock)
                self.found[cell, direction] = replace(reach, witness=None)
                if reach.witness is not None:
                    self._use(reach.witness)
                    if reach.unbounded:
                        self._without_limit(reach.witness)
                if self.attained[direction][cell] < self.limit[direction][cell]:  # else it is counted already
                    self.context.progress.advance()

    def _without_limit(self, ray: Witnesses) -> None:
        """A change that can go on for ever: none of the cells that it moves has a limit."""
        moved, amounts, _ = ray.one(0)
        known = len(self.found)
        for cell, amount in zip(moved.tolist(), amounts.tolist(), strict=True):
            self.found[cell, 1 if amount > 0 else -1] = Reach(Fraction(0), None, None, unbounded=True)
        self.context.progress.advance(len(self.found) - known)

    def reach(self, cell: int, direction: int) -> Reach:
        """What was found out; what has been shown at least, where the time was up."""
        limit = int(self.limit[direction][cell])
        if self.attained[direction][cell] >= limit:
            return _exactly(limit)
        if (cell, direction) in self.found:
            return self.found[cell, direction]
        least = Fraction(int(self.attained[direction][cell]))
        return Reach(max(least, self.evidence.reached(cell, direction)), None, None)
