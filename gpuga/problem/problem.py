"""The problem of a table, whatever its shape: the one place that tells two-way tables from others."""

from __future__ import annotations

from typing import TypeAlias

from gpuga.context import Clock
from gpuga.problem.general import GeneralProblem
from gpuga.problem.two_way import TwoWayProblem, problem_of
from gpuga.table.table import Table
from gpuga.table.two_way import two_way_table

TableProblem: TypeAlias = TwoWayProblem | GeneralProblem
"""What has to be protected, with which cells; masks are over cells, or over the places of a two-way table.

Both have `weight`, `candidate`, `base_cost`, `done`, `cost`, and the way from a pattern of the table to its secondary
suppressions (`secondary`) and back (`pattern`).
"""


def problem_for(table: Table, strict: bool = False, clock: Clock | None = None) -> TableProblem:
    """The problem of a table; `Infeasible` where a two-way table has no safe pattern. The clock ends work on it."""
    plane = two_way_table(table)
    return GeneralProblem.of(table, strict, clock) if plane is None else problem_of(plane, strict, clock)
