"""The optimum of a small two-dimensional table at once: cutting planes, a little branch and bound, an exact proof.

Most tables of a few hundred cells are settled here within a second, before anything longer is begun. Every limit is
a count, none is a time, so that the outcome does not depend on the machine.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from gpuga.bounds.branching import branch
from gpuga.bounds.guided import guided_pattern, led_by
from gpuga.bounds.proof_tree import prove
from gpuga.bounds.relaxation import Relaxation
from gpuga.circuits.paths import Costs, Floats, plain
from gpuga.context import Clock
from gpuga.errors import OutOfTime
from gpuga.heuristics.plane_problem import PlaneProblem
from gpuga.heuristics.shortest_path import by_paths
from gpuga.table.table import Mask

MOST_PLACES = 1000
MOST_LEVELS = 200
"""Larger tables are left to the longer methods."""

MOST_COLUMNS = 400
"""Columns left after the first bound; with more, branch and bound is unlikely to end soon."""

ROUNDS = 8
NODES = 200
PROOF_NODES = 100


@dataclass
class AtOnce:
    """A safe pattern (bool[R, C]), its cost, and what no pattern can undercut, in exact arithmetic."""

    problem: PlaneProblem
    best: Mask
    cost: int
    costs: Costs
    lower: int = 0
    root: Relaxation | None = None

    @property
    def proven(self) -> bool:
        """Whether no pattern is cheaper."""
        return self.lower >= self.cost

    def offer(self, pattern: Mask) -> None:
        """Take a safe pattern if it is cheaper."""
        if (cost := self.problem.cost(pattern)) < self.cost:
            self.best, self.cost = pattern, cost

    def try_point(self, x: Floats) -> int:
        """A safe pattern led by a fractional one, offered; the best cost."""
        with suppress(OutOfTime):  # there is a pattern
            self.offer(led_by(self.problem, x))
        return self.cost


def small(problem: PlaneProblem) -> bool:
    """Whether it is worth trying."""
    return problem.weight.size <= MOST_PLACES and len(problem.levels.place) <= MOST_LEVELS


def at_once(problem: PlaneProblem, clock: Clock) -> AtOnce:
    """The best pattern of a short search, proven where it could be; the time may end it earlier."""
    costs = problem.costs()
    first = by_paths(problem, costs, plain())
    found = AtOnce(problem, first, problem.cost(first), costs)
    relaxation = found.root = Relaxation(problem, first)
    relaxation.tighten(clock)
    with suppress(OutOfTime):
        found.offer(guided_pattern(relaxation, 0, clock))
    for _ in range(ROUNDS):
        found.lower = min(relaxation.bound, found.cost)
        if found.proven:
            return found
        useful = (problem.candidate & ~relaxation.certificate.removable(found.cost)) | found.best
        if clock.expired() or int(useful.sum()) > MOST_COLUMNS or not _branched(relaxation, found, useful, clock):
            break
    if int(useful.sum()) <= MOST_COLUMNS and prove(relaxation, found, clock, PROOF_NODES).closed:
        found.lower = found.cost
    return found


def _branched(relaxation: Relaxation, found: AtOnce, useful: Mask, clock: Clock) -> int:
    """One branch and bound; its pattern repaired and offered. Returns how many cuts that pattern violates."""
    answer = branch(relaxation, useful, found.best, 0.0, NODES, clock)
    if answer.pattern is None:
        return 0
    point = answer.pattern.astype(np.float64)
    mask = np.asarray(relaxation.grid(point) > 0.5)
    for single in (True, False):
        with suppress(OutOfTime):
            found.offer(by_paths(found.problem, found.costs, plain(single, True), start=mask))
    return relaxation.separate(point, 1e-7, keep=True)
