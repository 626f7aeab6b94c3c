"""The optimum of a small two-way table at once: cutting planes, a little branch and bound, an exact proof.

Most tables of a few hundred cells are settled here within a second, before anything longer is begun. Every limit is
a count, none is a time, so that the outcome does not depend on the machine.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from gpuga.bounds.cut import first_of
from gpuga.bounds.incumbent import Best
from gpuga.bounds.master import useful_columns
from gpuga.bounds.neighbourhood import WholeProgram
from gpuga.bounds.repair.paths import PathRepair
from gpuga.bounds.search import master_of
from gpuga.bounds.tree import prove
from gpuga.context import Clock
from gpuga.errors import OutOfTime
from gpuga.problem.two_way import TwoWayProblem
from gpuga.table.table import Mask

MOST_PLACES = 1000
MOST_LEVELS = 200
"""Larger tables are left to the longer methods."""

MOST_COLUMNS = 400
"""Columns left after the first bound; with more, branch and bound is unlikely to end soon."""

ROUNDS = 8
NODES = 200
PROOF_NODES = 100


def small(problem: TwoWayProblem) -> bool:
    """Whether it is worth trying."""
    return problem.weight.size <= MOST_PLACES and len(problem.levels.place) <= MOST_LEVELS


def solve_small(problem: TwoWayProblem, clock: Clock) -> Best:
    """The best pattern of a short search, proven where it could be; the time may end it earlier."""
    repair = PathRepair(problem)
    first = repair.first(0, None)
    found = Best(master_of(problem, first), repair, first, clock)
    master = found.master
    master.tighten(clock)
    for attempt in range(repair.guided_starts):
        with suppress(OutOfTime):  # there is a pattern
            found.offer(repair.guided(master.point(), attempt, None))
    for _ in range(ROUNDS):
        found.raise_lower(master.bound)
        if found.proven:
            return found
        useful = useful_columns(master, found.cost) | found.best
        if clock.expired() or int(useful.sum()) > MOST_COLUMNS or not _branched(found, useful, clock):
            break
    if int(useful.sum()) <= MOST_COLUMNS and prove(master, found, clock, PROOF_NODES).closed:
        found.lower = found.cost
    return found


def _branched(found: Best, useful: Mask, clock: Clock) -> int:
    """One branch and bound; its pattern mended and offered. Returns how many cuts that pattern violates."""
    answer = WholeProgram(found.master, useful, np.zeros(len(useful), bool)).solve(found.best, NODES, clock)
    if answer.pattern is None:
        return 0
    found.offer(found.repair.mended(answer.pattern, clock))
    violated = first_of(found.master.separator.at_whole(answer.pattern.astype(np.float64), clock))
    return found.master.add(violated, keep=True)
