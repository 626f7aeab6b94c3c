"""Proven optima of two-dimensional tables: cutting planes, branch and bound, repair, in turn until they meet.

Where few columns can still be part of a cheaper pattern, a branch and bound in exact arithmetic decides. Where
many can, each round solves the cuts found so far to integers over them, by HiGHS. If the integer pattern violates
a level, its cuts are added for good and the pattern is repaired, cleaned up and polished into a new incumbent; if
it violates none, it is optimal among those columns. Every incumbent is safe. Stops at the proof or when the time
is up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gpuga.bounds.branching import Branched, branch
from gpuga.bounds.general_exact import general_exact
from gpuga.bounds.guided import guided_pattern, led_by
from gpuga.bounds.proof_tree import prove
from gpuga.bounds.relaxation import Relaxation
from gpuga.circuits.paths import Costs, Floats, plain
from gpuga.context import Clock, Context
from gpuga.heuristics.destroy_repair import improve
from gpuga.heuristics.plane_problem import PlaneProblem, plane_problem
from gpuga.heuristics.shortest_path import by_paths
from gpuga.protection import Bound, Found
from gpuga.table.plane import plane_of
from gpuga.table.table import Mask, Table

STARTS = 6
POLISH_WORK = 30_000
"""Steps of local search times secondary suppressions, per round."""

MOST_EXACT_COLUMNS = 3500
CORE_COLUMNS = 1500
NODES = 2000
TREE_COLUMNS = 800
FIRST_NODES = 400

BY_TREE = "branch and bound (exact)"

SHARE_OF_TREE = 0.4
"""Of a limited time, the last part that is kept for bounding in exact arithmetic."""


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
    return Found(problem.pattern(search.best), bound, search.rounds, search.patterns, search.details)


@dataclass
class Search:
    """The state of one search: the incumbent `best`, the proven bound `lower`, the relaxation between them.

    `believed` is what the solver's floats say no pattern undercuts: it steers the search, and is never printed
    as proven.
    """

    problem: PlaneProblem
    context: Context
    rounds: int = 0
    patterns: int = 0
    kind: str = "cutting planes"
    details: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.costs: Costs = self.problem.costs()
        self.best: Mask = self._first()
        self.cost = self.problem.cost(self.best)
        self.relaxation = Relaxation(self.problem, self.best)
        self.lower = 0
        self.believed = 0
        self.exhausted = False
        self.learnt = False
        self.tree_columns = float("inf")
        self.core = CORE_COLUMNS
        self.widest = MOST_EXACT_COLUMNS

    def run(self) -> None:
        """Bound, guide, polish, then rounds of branch and bound until proof or time's end."""
        clock = self.context.clock
        self.context.progress.stage("bound")
        self.relaxation.tighten(clock.part(0.4))
        self._raise_lower(self.relaxation.bound)
        self._offer(guided_pattern(self.relaxation, self.context.seed, clock))
        self._polish(self.best, 1)
        if self._columns() > TREE_COLUMNS:
            self._polish_on(clock.part(0.12))
        self.context.progress.stage("branch and bound")
        settled = 0
        while not self.proven and not self.exhausted and not clock.expired():
            if self._columns() <= min(TREE_COLUMNS, 0.7 * self.tree_columns):
                self._search_tree(clock.part(0.7), FIRST_NODES)
            elif self._nothing_to_learn() or self.believed >= self.cost:
                self._search_tree(clock)
            else:
                settled = self._round(settled)
            self.context.progress.advance(best=self.cost, bound=self.lower)
        self.details.update(cuts=len(self.relaxation.cuts), columns=len(self.relaxation.places))

    def proven_bound(self) -> Bound:
        """What holds in exact arithmetic."""
        return Bound(self.problem.base_cost + self.lower, self.kind, self.context.clock.spent())

    @property
    def proven(self) -> bool:
        """Whether the incumbent cannot be undercut."""
        return self.lower >= self.cost

    def try_point(self, x: Floats) -> int:
        """A safe pattern led by a fractional one, offered; the incumbent's cost."""
        self._offer(led_by(self.problem, x))
        return self.cost

    def _columns(self) -> int:
        """How many candidates a cheaper pattern could contain."""
        return int((self.problem.candidate & ~self.relaxation.certificate.removable(self.cost)).sum())

    def _nothing_to_learn(self) -> bool:
        """Whether more integer patterns of the solver would not help, or the time left is better spent on bounds."""
        return self.learnt or self._time_to_learn() < 0.1

    def _time_to_learn(self) -> float:
        """The share of the time left that is not kept for the tree; with many columns left the tree is no use."""
        clock = self.context.clock
        if clock.seconds is None or self._columns() > MOST_EXACT_COLUMNS:
            return 1.0
        return 1.0 - SHARE_OF_TREE * clock.seconds / max(1e-9, clock.left())

    def _time_of_a_round(self) -> Clock:
        share = 0.6 * self._time_to_learn()
        return self.context.clock.part(min(share, 0.25) if self._columns() > MOST_EXACT_COLUMNS else share)

    def _search_tree(self, clock: Clock, most_nodes: float = math.inf) -> None:
        """Branch and bound in exact arithmetic; with few columns left it ends soonest."""
        self.tree_columns = self._columns()
        outcome = prove(self.relaxation, self, clock, most_nodes)
        self.details.update(proof_nodes=outcome.nodes)
        self._raise_lower(outcome.bound, BY_TREE)
        self.exhausted = outcome.undecided

    def _round(self, settled: int) -> int:
        """One branch and bound; returns how many rounds in a row ended without a violated level."""
        self.rounds += 1
        useful = (self.problem.candidate & ~self.relaxation.certificate.removable(self.cost)) | self.best
        whole = int(useful.sum()) <= self.widest
        allowed = useful if whole else self._narrow(useful)
        gap = min(0.02, 0.3 * (self.cost - self.believed) / max(1, self.cost)) if not settled else 0.0
        answer = branch(self.relaxation, allowed, self.best, gap, NODES, self._time_of_a_round())
        if whole:
            self.believed = max(self.believed, min(self.cost, self._rounded(answer.dual_bound)))
        added = self._learn(answer)
        if added:
            self.relaxation.tighten(self.context.clock.part(0.15))
            self._raise_lower(self.relaxation.bound)
            return 0
        self.learnt = whole and gap == 0.0
        if not whole and settled:
            self.core = int(1.6 * self.core)
            if self.core >= int(useful.sum()):
                self.widest = self.core
            return 0
        return settled + 1

    def _learn(self, answer: Branched) -> int:
        """Cut off the integer pattern if it is not safe, and repair it to a new incumbent; cuts added."""
        if answer.pattern is None:
            return 0
        added = self.relaxation.separate(answer.pattern.astype(np.float64), 1e-7, keep=True)
        mask = self.relaxation.grid(answer.pattern.astype(np.float64)) > 0.5
        order = np.random.default_rng([self.context.seed, self.rounds]).permutation(len(self.problem.levels.place))
        repaired = min(
            (
                by_paths(self.problem, self.costs, plain(single, True), order=order, start=mask)
                for single in (True, False)
            ),
            key=self.problem.cost,
        )
        self._offer(repaired)
        self._polish(repaired, self.rounds)
        return added

    def _narrow(self, useful: Mask) -> Mask:
        """The columns of the lowest reduced costs, and the incumbent's."""
        reduced = np.where(useful, self.relaxation.certificate.reduced, 2**62)
        limit = np.partition(reduced.ravel(), self.core)[self.core]
        return np.asarray(useful & (reduced <= limit) | self.best)

    def _first(self) -> Mask:
        """The best of a few shortest-path patterns and of the patterns the user gave."""
        random = np.random.default_rng(self.context.seed)
        clock, found = self.context.clock, []
        for given in self.context.start:
            found.append(by_paths(self.problem, self.costs, plain(), start=self.problem.grid(given)))
        for attempt in range(STARTS):
            order = random.permutation(len(self.problem.levels.place))
            taste = plain(single=attempt % 3 == 2, by_capacity=attempt % 3 == 1)
            found.append(by_paths(self.problem, self.costs, taste, order=order, clock=clock))
            if clock.expired():
                break
        self.patterns += len(found)
        return min(found, key=self.problem.cost)

    def _offer(self, pattern: Mask) -> None:
        """Take a safe pattern as the incumbent if it is cheaper."""
        self.patterns += 1
        if self.problem.cost(pattern) < self.cost:
            self.best, self.cost = pattern, self.problem.cost(pattern)

    def _polish(self, pattern: Mask, seed: int) -> None:
        steps = max(20, min(300, POLISH_WORK // max(1, int(pattern.sum()))))
        if not self.proven and not self.context.clock.expired():
            self._offer(improve(self.problem, pattern, self.costs, steps, seed))

    def _polish_on(self, clock: Clock) -> None:
        """Where time is limited, local search from the incumbent for a part of it, while it gains.

        Branch and bound finds better patterns, but late.
        """
        idle, seed = 0, 2
        while clock.seconds is not None and idle < 3 and not self.proven and not clock.expired():
            before = self.cost
            self._polish(self.best, seed)
            idle = idle + 1 if self.cost == before else 0
            seed += 1

    def _rounded(self, bound: float) -> int:
        """A float's bound as a cost that patterns can have, after allowing for its tolerance."""
        step = self.relaxation.step
        return int(np.ceil(bound / step - 1e-6 * max(1.0, abs(bound / step) * 1e-3))) * step

    def _raise_lower(self, bound: int, kind: str = "cutting planes") -> None:
        """A bound and how it was made; the incumbent's own cost is the most that can be proven."""
        if min(bound, self.cost) > self.lower:
            self.lower, self.kind = min(bound, self.cost), kind
        self.believed = max(self.believed, self.lower)
