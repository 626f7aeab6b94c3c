"""Shortest paths for two-dimensional tables (Carvalho et al. 1994; Almeida et al. 2008, section 3.1).

Each level in turn gets a sequence of cheapest augmenting paths until their capacity covers it; what is
suppressed costs nothing from then on. Then clean-up.
"""

from __future__ import annotations

from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.problem.two_way import two_way_problem
from gpuga.protection import Found
from gpuga.table.table import Table


def shortest_path(table: Table, context: Context) -> Found:
    """A safe pattern by shortest paths in the order of the table, cleaned up."""
    problem = two_way_problem(table, context)
    context.progress.stage("shortest paths", len(problem.levels.place))
    secondary = by_paths(problem, problem.costs(), plain())
    return Found(problem.pattern(secondary), evaluations=1)
