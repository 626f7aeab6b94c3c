"""The search of the method `exact`: cutting planes, LP-guided rounding, dives, neighbourhoods, branch and cut.

Cutting planes bound the cost and say which columns a cheaper pattern can contain. Dives lead the fractional pattern to
whole ones, integer programs over few columns look around the best of them, and a tree in exact arithmetic decides.
Every incumbent is safe. Stops at the proof or when the time is up; each part has its share of a limited time, the tree
what the others leave.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from gpuga.bounds.cut import Floats, Separator
from gpuga.bounds.incumbent import BY_TREE, Best
from gpuga.bounds.master import NO_LIMIT, Master, cheapest, useful_columns
from gpuga.bounds.neighbourhood import MANY_COLUMNS, Neighbourhood
from gpuga.bounds.repair.cover import MOST_FOR_LOCAL, CoverRepair
from gpuga.bounds.repair.paths import PathRepair
from gpuga.bounds.repair.repair import Repair
from gpuga.bounds.separators.attacker import AttackerSeparator
from gpuga.bounds.separators.flow import FlowSeparator
from gpuga.bounds.separators.lines import LineSeparator
from gpuga.bounds.tree import Tree
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.problem.problem import TableProblem
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Bound
from gpuga.table.table import Mask
from gpuga.table.witnesses import Witnesses

MOST_CELLS_TO_PROVE = 3_000
"""Larger general tables are bounded line by line: programs of their attackers would take too long."""

MOST_CELLS_AT_ONCE = 60_000
"""Still larger ones are bounded part by part: one program over all lines would not end in time."""

NODES_AT_ONCE = 20
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

SHARE_OF_STARTS, SHARE_OF_CUTS, SHARE_OF_REBUILDS, SHARE_OF_DIVES = 0.1, 0.4, 0.2, 0.4
"""Of a limited time: the most that further first patterns, cutting planes, rebuilds and dives take before the tree."""

CUTS_OF_GENERAL, ALL_REBUILDS = 0.25, 0.95
"""The same for cutting planes of general tables, which gain little after that, and for rebuilds of those whose tree
would not get anywhere."""

SMALL_GAP, FEW_STARTS, REBUILDS = 0.05, 3, 150
"""Above this gap the tree does not end soon: more than a few first patterns led by the root's point of a general table
pay then, and rebuilds of the best one until so many were in vain."""

LET_GO, GUIDED_REBUILDS, BY_CAPACITY = (0.1, 0.25, 0.5), 0.25, 0.5
"""Shares of a pattern that are let go, which share of rebuilds follows the prices of the root's point, and which is
priced by capacity."""

TURNS = 4
"""Of how many turns one is a look around where the tree would not get anywhere; every other one is a local search where
few enough cells are suppressed."""


def separator_of(problem: TableProblem, quick: bool = False) -> Separator:
    """Who finds the cuts of a problem; of a general one, where it must be quick, in single lines only."""
    if isinstance(problem, TwoWayProblem):
        return FlowSeparator(problem)
    return LineSeparator(problem) if quick else AttackerSeparator(problem)


def repair_of(problem: TableProblem, context: Context, separator: Separator | None = None) -> Repair:
    """Who makes safe patterns of a problem; of a general one with the help of the rows that a separator keeps."""
    if isinstance(problem, TwoWayProblem):
        return PathRepair(problem, context.seed)
    return CoverRepair(problem, context, separator.pool if isinstance(separator, LineSeparator) else None)


def master_of(problem: TableProblem, pattern: Mask | None = None, quick: bool = False) -> Master:
    """The master program of a problem; its first columns hold a pattern, if one is known."""
    return master_over(separator_of(problem, quick), pattern)


def master_over(separator: Separator, pattern: Mask | None = None) -> Master:
    """The same with the cuts of a separator."""
    master = Master(separator, separator.core if pattern is None else separator.core | pattern.ravel())
    master.add(separator.first())
    return master


class BranchAndCut(Best):
    """The state of one search: the incumbent, the bound, the master program between them."""

    def __init__(self, problem: TableProblem, context: Context) -> None:
        self.problem, self.context = problem, context
        separator = separator_of(problem)
        repair = repair_of(problem, context, separator)
        found = self._first(repair)
        best = min(found, key=lambda pattern: int(problem.weight.ravel()[pattern].sum()))
        super().__init__(master_over(separator, best), repair, best, context.clock)
        self.patterns = len(found)
        self.neighbourhood = Neighbourhood(self.master, repair)
        self.dives = self.questions = self.idle = self.nodes = 0
        self.exhausted = self.hurried = False
        self.tree: Tree | None = None
        self.next_look = self.pause = separator.effort.look

    def run(self) -> None:
        """Bound, guide, look around, then branch and cut until proof or time's end."""
        for _ in self.steps():
            self.context.progress.advance(best=self.cost, bound=self.lower)

    def steps(self) -> Iterator[None]:
        """The same in steps of counted work; between two of them others may offer patterns."""
        clock, progress = self.context.clock, self.context.progress
        progress.stage("bound")
        cuts = SHARE_OF_CUTS if self.repair.quick else CUTS_OF_GENERAL
        for _ in self.master.rounds_of_cuts(clock.part(cuts), most=self.cost):
            self.raise_lower(self.master.bound)
            yield
        self.raise_lower(self.master.bound)
        yield from self._guided(clock.part(SHARE_OF_STARTS))
        yield from self._rebuilds(clock)
        progress.stage("dives")
        yield from self._dives(clock.part(SHARE_OF_DIVES))
        progress.stage(BY_TREE)
        while not self.proven and not self.exhausted and not clock.expired():
            if self._columns() <= MOST_COLUMNS or clock.seconds is None or self.idle >= MOST_IDLE:
                self._branch(clock)
                yield
            else:
                yield from self._dives(clock)

    @property
    def proof(self) -> Witnesses | None:
        """The circuits that prove the incumbent, where they are known."""
        return self.repair.circuits(self.best)

    @property
    def details(self) -> dict[str, Any]:
        """How far the search came."""
        return {"nodes": self.nodes, "cuts": len(self.master.cuts), "columns": len(self.master.columns)}

    def proven_bound(self) -> Bound:
        """What holds in exact arithmetic."""
        if self.tree is None:  # rounds of cuts may have been left between two certificates
            self.master.certify()
            self.raise_lower(self.master.bound)
        lower = self.problem.base_cost + self.lower
        return Bound(lower, self.kind, self.context.clock.spent(), root=self.master)

    def try_point(self, x: Floats) -> int:
        """A safe pattern led by a fractional one, offered and looked around; the incumbent's cost."""
        if self.offer(self.rounded(x)) and not self.hurried:
            self._look_around(self.context.clock)
        return self.cost

    def _first(self, repair: Repair) -> list[Mask]:
        """A few patterns from nothing, and those that the user gave, completed."""
        clock, found = self.context.clock, []
        for given in self.context.start:
            with suppress(OutOfTime):
                found.append(repair.given(given, clock.finishing()))
        further = clock.part(SHARE_OF_STARTS)
        for attempt in range(repair.starts):
            try:
                found.append(repair.first(attempt, further if found else clock))
            except OutOfTime:
                if not found:
                    raise
                break
        return found

    def _guided(self, clock: Clock) -> Iterator[None]:
        """Patterns led by the point of the root."""
        x = self.master.point()
        for attempt in range(self.repair.guided_starts):
            if self.proven or (attempt and clock.expired()):
                return
            if not self.repair.quick and attempt >= FEW_STARTS and self._gap < SMALL_GAP:
                return
            try:
                self.offer(self.repair.guided(x, attempt, clock if attempt else self.context.clock))
            except OutOfTime:
                return
            yield

    def _rebuilds(self, clock: Clock) -> Iterator[None]:
        """A general table's incumbent with a part let go and completed anew, where the gap is wide.

        That takes far less time than to cut off what an integer program says around it. Where so many columns are left
        that the tree would not get anywhere, the time is better spent here, and on looks around the incumbent.
        """
        if not isinstance(self.repair, CoverRepair):
            return
        vast = self._columns() > FEW_COLUMNS
        clock, most = clock.part(ALL_REBUILDS if vast else SHARE_OF_REBUILDS), REBUILDS
        if vast and clock.seconds is not None:
            most = NO_LIMIT
        x, random, idle, made = self.master.point(), np.random.default_rng([self.context.seed, 7]), 0, 0
        while self._gap >= SMALL_GAP and idle < most and not clock.expired():
            made += 1
            try:
                if vast and made % TURNS == 0:
                    gained = self.offer(self.neighbourhood.improve(self.best, random, clock))
                elif made % 2 and self._few_suppressed():
                    gained = self.offer(self.repair.searched(self.best, x, clock))
                else:
                    gained = self.offer(self._rebuilt(x, random, clock))
            except OutOfTime:
                return
            idle = 0 if gained else idle + 1
            yield

    def _few_suppressed(self) -> bool:
        return int(self.best.sum()) + int(self.problem.forced.sum()) <= MOST_FOR_LOCAL

    def _rebuilt(self, x: Floats, random: np.random.Generator, clock: Clock) -> Mask:
        """The incumbent with a part let go and completed anew; the prices of the root's point lead some."""
        assert isinstance(self.repair, CoverRepair), "only these let go"
        let_go = self.neighbourhood.around(self.best, float(random.choice(LET_GO)), random)
        prices, by_capacity = x if random.random() < GUIDED_REBUILDS else None, random.random() < BY_CAPACITY
        return self.repair.rebuilt(self.best & ~let_go, prices, clock, by_capacity)

    @property
    def _gap(self) -> float:
        return (self.cost - self.lower) / max(1, self.cost)

    def _columns(self) -> int:
        return int(useful_columns(self.master, self.cost).sum())

    def _branch(self, clock: Clock) -> None:
        """Some nodes of branch and cut in exact arithmetic over all columns that are useful."""
        self.clock = clock
        tree = self._tree_over(useful_columns(self.master, self.cost))
        before = tree.nodes
        outcome = tree.run(clock, before + NODES_AT_ONCE)
        self.nodes += tree.nodes - before
        self.raise_lower(outcome.bound, BY_TREE)
        self.exhausted = outcome.undecided
        if 0 < self.next_look <= self.nodes and not self.proven:
            self._look_again(tree, clock)

    def _look_again(self, tree: Tree, clock: Clock) -> None:
        """Search near the incumbent with the cuts that the tree knows by now; each time in vain, the more seldom."""
        before = self.cost
        self.neighbourhood.latest = tree.master.cuts
        self._look_around(clock, LOOKS)
        self.pause = self.master.separator.effort.look if self.cost < before else 2 * self.pause
        self.next_look = self.nodes + self.pause

    def _tree_over(self, columns: Mask) -> Tree:
        """The tree over some columns: the latest one, unless it lacks some, or most of its own are useless by now."""
        if self.tree is not None:
            held = np.zeros(len(columns), bool)
            held[self.tree.master.columns] = True
            if not (columns & ~held).any() and 2 * int(columns.sum()) >= int(held.sum()):
                return self.tree
        self.tree = Tree(self.master, columns | self.best, self)
        return self.tree

    def _dives(self, clock: Clock) -> Iterator[None]:
        """Dives over the columns of lowest reduced cost, until some in a row gained nothing."""
        if self.proven:
            return
        useful, self.clock = useful_columns(self.master, self.cost), clock
        tree = self._tree_over(cheapest(self.master.certificate.reduced, useful, DIVE_COLUMNS))
        for _ in range(DIVES):
            if self.proven or clock.expired():
                return
            before = self.cost
            # a dive over few columns ends sooner than a search around what it finds on its way
            self.hurried = self._columns() <= 2 * FEW_COLUMNS
            tree.dive(self.context.seed + self.dives, clock)
            self.dives += 1
            if self.cost == before or self.hurried:
                self.hurried = False
                self._look_around(self.context.clock)
            self.idle = 0 if self.cost < before else self.idle + 1
            yield
            if self.idle >= IDLE_DIVES or self._columns() <= FEW_COLUMNS:
                return

    def _look_around(self, clock: Clock, least: int = FEW_LOOKS) -> None:
        """Search near the incumbent until some questions in a row gained nothing; few, where the tree ends soon."""
        columns, near = self._columns(), self.neighbourhood
        looks = least if columns <= FEW_COLUMNS else LOOKS if columns <= MOST_COLUMNS else MANY_LOOKS
        idle, begun, most = 0, near.work, (MOST_WORK if looks < MANY_LOOKS else MUCH_WORK) * columns
        while idle < looks and near.work - begun < most and not self.proven and not clock.expired():
            random = np.random.default_rng([self.context.seed, self.questions])
            self.questions += 1
            idle += 1
            if self.offer(near.improve(self.best, random, clock)):
                idle, begun = 0, near.work
