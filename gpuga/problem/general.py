"""The problem of any linear table: its protection requirements, and the cells that may be suppressed for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuga.context import Clock
from gpuga.errors import OutOfTime
from gpuga.safety.attacker import Attacker
from gpuga.safety.requirements import Requirements, level_requirements
from gpuga.table.table import Ints, Mask, Table


def requirements_of(table: Table, strict: bool, clock: Clock | None = None) -> Requirements:
    """The levels of all sensitive cells as requirements, sliding levels laid on the upper side as far as it reaches.

    Raises `OutOfTime` where the time ends before it is known how far that is.
    """
    clock = clock or Clock()
    plain = level_requirements(table, strict)
    extra = 1 if strict else 0
    levels = table.levels
    sliding = np.where(levels.sliding > 0, levels.sliding + extra, 0)
    upper, lower = levels.upper + extra, levels.lower + extra
    wide = np.flatnonzero(table.primary & (sliding > upper + lower))
    if not len(wide):
        return plain
    everything = Attacker(table, table.suppressible, expired=clock.expired)
    for cell in wide.tolist():
        goal = int(sliding[cell] - lower[cell])
        reach = everything.reach(cell, 1, goal, clock.left())
        if clock.expired():
            raise OutOfTime("time ran out before the sliding levels were prepared; allow more with --seconds")
        upper[cell] = max(int(upper[cell]), min(goal, goal if reach.unbounded else int(reach.attained)))
        lower[cell] = max(int(lower[cell]), int(sliding[cell] - upper[cell]))
    cells = np.repeat(table.sensitive, 2)
    direction = np.tile(np.array([1, -1], np.int8), len(table.sensitive))
    need = np.where(direction > 0, upper[cells], lower[cells])
    return Requirements(cells.astype(np.int32), direction, need.astype(np.int64)).subset(need > 0)


@dataclass(frozen=True, eq=False)
class GeneralProblem:
    """What methods for any linear table work on; masks and weights are over the cells.

    `plain` are the requirements that every safe pattern must meet, so that bounds may rely on them; `requirements` are
    what a pattern is built for, sliding levels turned into wider fixed ones.
    """

    table: Table
    strict: bool
    plain: Requirements
    clock: Clock | None = None

    @classmethod
    def of(cls, table: Table, strict: bool = False, clock: Clock | None = None) -> GeneralProblem:
        """The problem of a table; the clock ends what takes long to find out about it."""
        # the strict attacker is left with less, so bounds for the other one hold as well
        return cls(table, strict, level_requirements(table), clock)

    @cached_property
    def requirements(self) -> Requirements:
        """What a pattern has to meet, one per sensitive cell and direction."""
        return requirements_of(self.table, self.strict, self.clock)

    @property
    def weight(self) -> Ints:
        """What cells cost."""
        return self.table.weight

    @property
    def forced(self) -> Mask:
        """What is suppressed in any case (bool[n])."""
        return self.table.forced

    @cached_property
    def candidate(self) -> Mask:
        """The cells that may become secondary suppressions (bool[n])."""
        table = self.table
        return np.asarray(table.suppressible & ~table.forced & ((table.up > 0) | (table.down > 0)))

    @cached_property
    def base_cost(self) -> int:
        """The cost of the forced cells."""
        return self.table.cost(self.table.forced)

    @property
    def done(self) -> bool:
        """Whether nothing has to be protected."""
        return not len(self.requirements)

    def cost(self, secondary: Mask) -> int:
        """The weights of the secondary suppressions (bool[n])."""
        return int(self.weight[secondary].sum())

    def pattern(self, secondary: Mask) -> Mask:
        """The whole pattern, forced cells included."""
        return np.asarray(self.table.forced | secondary)

    def secondary(self, suppressed: Mask) -> Mask:
        """The secondary suppressions of a pattern, without what may not be used."""
        return np.asarray(suppressed & self.candidate)
