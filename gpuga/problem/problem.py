"""The problem of a table, whatever its shape: the protocol, and the one place that tells two-way tables from others."""

from __future__ import annotations

from typing import Protocol

from gpuga.context import Clock
from gpuga.problem.general import GeneralProblem
from gpuga.problem.two_way import TwoWayProblem, problem_of
from gpuga.table.plane import plane_of
from gpuga.table.table import Ints, Mask, Table


class TableProblem(Protocol):
    """What has to be protected, with which cells; masks are over cells, or over the places of a two-way table."""

    @property
    def table(self) -> Table:
        """The table, as the attacker is judged on it."""

    @property
    def weight(self) -> Ints:
        """What suppressions cost."""

    @property
    def candidate(self) -> Mask:
        """What may be suppressed besides the forced cells."""

    @property
    def forced(self) -> Mask:
        """What is suppressed in any case."""

    @property
    def base_cost(self) -> int:
        """The cost of the forced cells."""

    @property
    def done(self) -> bool:
        """Whether nothing has to be protected."""

    def cost(self, secondary: Mask) -> int:
        """The cost of secondary suppressions."""

    def pattern(self, secondary: Mask) -> Mask:
        """The way back: the whole pattern per cell of the table."""

    def secondary(self, suppressed: Mask) -> Mask:
        """The secondary suppressions of a pattern of the table, without what may not be used."""


def problem_for(table: Table, strict: bool = False, clock: Clock | None = None) -> TwoWayProblem | GeneralProblem:
    """The problem of a table; `Infeasible` where a two-way table has no safe pattern. The clock ends work on it."""
    plane = plane_of(table)
    return GeneralProblem.of(table, strict, clock) if plane is None else problem_of(plane, strict, clock)
