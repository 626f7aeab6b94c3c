"""Proven optima of two-dimensional tables: cutting planes, dives, searches nearby, branch and bound.

Cutting planes bound the cost and say which columns a cheaper pattern can contain. Dives lead the fractional pattern to
whole ones, integer programmes over few columns look around the best of them, and a branch and bound in exact
arithmetic decides. Every incumbent is safe. Stops at the proof or when the time is up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from gpuga.bounds.cutting import Cutting
from gpuga.bounds.diving import dive
from gpuga.bounds.general_exact import general_exact
from gpuga.bounds.guided import guided_pattern, led_by
from gpuga.bounds.nearby import MANY_COLUMNS, Nearby
from gpuga.bounds.proof_tree import prove
from gpuga.bounds.relaxation import Relaxation
from gpuga.circuits.paths import Costs, Floats, plain
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.heuristics.plane_problem import PlaneProblem, plane_problem
from gpuga.heuristics.shortest_path import by_paths
from gpuga.protection import Bound, Found
from gpuga.table.plane import plane_of
from gpuga.table.table import Mask, Table

STARTS = 6
DIVES = 20
IDLE_DIVES = 3
MOST_IDLE = 12
DIVE_COLUMNS = 2000
FEW_LOOKS, LOOKS, MANY_LOOKS = 2, 10, 100
MOST_WORK, MUCH_WORK = 3, 30
"""Simplex iterations spent in vain around a pattern, per column left; more, where too many for a tree are left."""

FEW_COLUMNS = 500
"""With fewer columns left than this the tree begins after the first dive."""

MOST_COLUMNS = MANY_COLUMNS
"""With more columns left than this the tree would not get anywhere in a limited time."""

SHARE_OF_STARTS, SHARE_OF_CUTS, SHARE_OF_DIVES = 0.1, 0.4, 0.4
"""Of a limited time: the most that further first patterns, cutting planes, then dives take before the tree."""

BY_TREE = "branch and bound (exact)"


def exact(table: Table, context: Context) -> Found:
    """The cheapest safe pattern, proven, or the best one found with its gap when the time is up."""
    if plane_of(table) is None:
        return general_exact(table, context)
    problem = plane_problem(table, context)
    if not len(problem.levels.place):
        nothing = np.zeros(problem.shape, bool)
        return Found(problem.pattern(nothing), Bound(problem.base_cost, "nothing to protect"))
    search = Search(problem, context)
    search.run()
    bound = search.proven_bound()
    return Found(problem.pattern(search.best), bound, search.dives, search.patterns, search.details)


@dataclass
class Search:
    """The state of one search: the incumbent `best`, the proven bound `lower`, the relaxation between them."""

    problem: PlaneProblem
    context: Context
    patterns: int = 0
    kind: str = "cutting planes"
    details: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.costs: Costs = self.problem.costs()
        self.best: Mask = self._first()
        self.cost = self.problem.cost(self.best)
        self.relaxation = Relaxation(self.problem, self.best)
        self.nearby = Nearby(self.relaxation, self.costs)
        self.lower = 0
        self.dives = 0
        self.questions = 0
        self.idle = 0
        self.exhausted = self.hurried = False

    def run(self) -> None:
        """Bound, guide, look around, then branch and bound until proof or time's end."""
        clock = self.context.clock
        self.context.progress.stage("bound")
        self.relaxation.tighten(clock.part(SHARE_OF_CUTS))
        self._raise_lower(self.relaxation.bound)
        self._offer_made(lambda: guided_pattern(self.relaxation, self.context.seed, clock.part(SHARE_OF_STARTS)))
        self.context.progress.stage("dives")
        self._dive_on(clock.part(SHARE_OF_DIVES))
        self.context.progress.stage("branch and bound")
        while not self.proven and not self.exhausted and not clock.expired():
            if self._columns() <= MOST_COLUMNS or clock.seconds is None or self.idle >= MOST_IDLE:
                self._search_tree(clock)
            else:
                self._dive_on(clock)
            self.context.progress.advance(best=self.cost, bound=self.lower)
        self.details.update(cuts=len(self.relaxation.cuts), columns=len(self.relaxation.places))

    def proven_bound(self) -> Bound:
        """What holds in exact arithmetic."""
        lower = self.problem.base_cost + self.lower
        return Bound(lower, self.kind, self.context.clock.spent(), root=self.relaxation)

    @property
    def proven(self) -> bool:
        """Whether the incumbent cannot be undercut."""
        return self.lower >= self.cost

    def try_point(self, x: Floats) -> int:
        """A safe pattern led by a fractional one, offered; the incumbent's cost."""
        if self._offer_made(lambda: led_by(self.problem, x, self._useful() | self.best)) and not self.hurried:
            self._look_around(self.context.clock)
        return self.cost

    def _useful(self) -> Mask:
        """The candidates that a cheaper pattern could contain."""
        return self.problem.candidate & ~self.relaxation.certificate.removable(self.cost)

    def _columns(self) -> int:
        return int(self._useful().sum())

    def _search_tree(self, clock: Clock) -> None:
        """Branch and bound in exact arithmetic."""
        outcome = prove(self.relaxation, self, clock)
        self.details.update(proof_nodes=outcome.nodes)
        self._raise_lower(outcome.bound, BY_TREE)
        self.exhausted = outcome.undecided

    def _dive_on(self, clock: Clock) -> None:
        """Dives over the columns of lowest reduced cost, until some in a row gained nothing."""
        cutting = Cutting(self.relaxation, self._narrow(), self.cost + self.relaxation.step)
        for _ in range(DIVES):
            if self.proven or clock.expired():
                return
            before = self.cost
            # a dive over few columns ends sooner than a search around what it finds on its way
            self.hurried = self._columns() <= 2 * FEW_COLUMNS
            dive(cutting, self, self.context.seed + self.dives, clock)
            self.dives += 1
            if self.cost == before or self.hurried:
                self.hurried = False
                self._look_around(clock)
            self.idle = 0 if self.cost < before else self.idle + 1
            if self.idle >= IDLE_DIVES or self._columns() <= FEW_COLUMNS:
                return

    def _look_around(self, clock: Clock) -> None:
        """Search near the incumbent until some questions in a row gained nothing; few, where the tree ends soon."""
        columns = self._columns()
        looks = FEW_LOOKS if columns <= FEW_COLUMNS else LOOKS if columns <= MOST_COLUMNS else MANY_LOOKS
        idle, begun, most = 0, self.nearby.work, (MOST_WORK if looks < MANY_LOOKS else MUCH_WORK) * columns
        while idle < looks and self.nearby.work - begun < most and not self.proven and not clock.expired():
            random = np.random.default_rng([self.context.seed, self.questions])
            self.questions += 1
            idle += 1
            if self._offer_made(partial(self.nearby.improve, self.best, random, clock)):
                idle, begun = 0, self.nearby.work

    def _narrow(self) -> Mask:
        """The columns of the lowest reduced costs, and the incumbent's."""
        useful = self._useful()
        if int(useful.sum()) <= DIVE_COLUMNS:
            return np.asarray(useful | self.best)
        reduced = np.where(useful, self.relaxation.certificate.reduced, 2**62)
        limit = np.partition(reduced.ravel(), DIVE_COLUMNS)[DIVE_COLUMNS]
        return np.asarray(useful & (reduced <= limit) | self.best)

    def _first(self) -> Mask:
        """The best of a few shortest-path patterns and of the patterns the user gave."""
        random = np.random.default_rng(self.context.seed)
        clock, found = self.context.clock, []
        for given in self.context.start:
            start = self.problem.grid(given)
            found.append(by_paths(self.problem, self.costs, plain(), start=start, clock=clock.finishing()))
        further = clock.part(SHARE_OF_STARTS)
        for attempt in range(STARTS):
            # by the table's order first: in long tables random ones take many times as long
            order = random.permutation(len(self.problem.levels.place)) if attempt else None
            taste = plain(single=attempt % 3 == 2, by_capacity=attempt % 3 == 1)
            try:
                found.append(by_paths(self.problem, self.costs, taste, order=order, clock=further if found else clock))
            except OutOfTime:
                if not found:
                    raise
                break
        self.patterns += len(found)
        return min(found, key=self.problem.cost)

    def _offer(self, pattern: Mask) -> bool:
        """Take a safe pattern as the incumbent if it is cheaper; whether it was."""
        self.patterns += 1
        if (cost := self.problem.cost(pattern)) >= self.cost:
            return False
        self.best, self.cost = pattern, cost
        return True

    def _offer_made(self, make: Callable[[], Mask]) -> bool:
        """Offer a pattern that is made now, unless the time ends before it is complete."""
        try:
            return self._offer(make())
        except OutOfTime:
            return False

    def _raise_lower(self, bound: int, kind: str = "cutting planes") -> None:
        """A bound and how it was made; the incumbent's own cost is the most that can be proven."""
        if min(bound, self.cost) > self.lower:
            self.lower, self.kind = min(bound, self.cost), kind
