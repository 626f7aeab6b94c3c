"""Bounds and proven optima of any linear table: cuts, patterns led by them, branch and cut until they meet.

Every incumbent is safe, and every bound holds in integers. Patterns are made of the relaxation's points: cells that it
suppresses are cheap, tasks that they leave open get the cheapest changes, redundant cells go.
"""

from __future__ import annotations

import numpy as np

from gpuga.bounds.general_cuts import Floats
from gpuga.bounds.general_guided import completed, priced, whole_cells
from gpuga.bounds.general_nearby import search_nearby
from gpuga.bounds.general_relaxation import GeneralRelaxation
from gpuga.bounds.general_tree import Tree
from gpuga.circuits.cover import Cover, tasks_for
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.protection import Bound, Found
from gpuga.safety.audit import judge
from gpuga.safety.model import AttackerModel
from gpuga.table.table import Ints, Mask, Table

KIND = "cutting planes"
BY_TREE = "branch and cut"
SHARE_OF_CUTS = 0.5
GUIDED_STARTS = 3


def general_bound(table: Table, context: Context) -> Bound:
    """A proven lower bound for any linear table."""
    context.progress.stage("bound")
    relaxation = GeneralRelaxation(table, context.clock)
    relaxation.tighten(context.clock)
    return Bound(relaxation.base_cost + relaxation.bound, KIND, context.clock.spent(), root=relaxation)


def general_exact(table: Table, context: Context) -> Found:
    """The cheapest safe pattern, proven, or the best one found with its gap when the time is up."""
    search = GeneralSearch(table, context)
    search.run()
    root = search.relaxation
    bound = Bound(root.base_cost + search.lower, search.kind, context.clock.spent(), root=root)
    details = {"cuts": len(search.relaxation.cuts), "nodes": search.nodes}
    return Found(search.best, bound, search.nodes, search.patterns, details)


class GeneralSearch:
    """The incumbent `best`, the bound `lower` and the relaxation between them."""

    def __init__(self, table: Table, context: Context) -> None:
        self.table, self.context = table, context
        self.tasks = tasks_for(table, context.strict, context.clock)
        self.relaxation = GeneralRelaxation(table, context.clock)
        self.lower = self.patterns = self.nodes = 0
        self.kind = KIND
        by_weight = np.argsort(-table.weight[self.tasks.cell], kind="stable")
        self.best = self._repaired(table, table.forced, by_weight)
        for given in context.start:
            self._offer_repaired(table, given & table.suppressible, by_weight)

    @property
    def cost(self) -> int:
        """The incumbent's cost beyond that of the forced cells."""
        return self.table.cost(self.best) - self.relaxation.base_cost

    def run(self) -> None:
        """Cuts at the root, patterns led by them and near the best one, then the tree."""
        clock, relaxation = self.context.clock, self.relaxation
        self.context.progress.stage("bound")
        relaxation.tighten(clock.part(SHARE_OF_CUTS), most=self.cost)
        self._raise(relaxation.bound)
        for _ in range(GUIDED_STARTS):
            if self.lower >= self.cost or clock.expired():
                return
            self.try_point(relaxation.z)
        self.context.progress.stage(BY_TREE)
        tree = Tree(relaxation, self, clock)
        tree.dive()
        self.try_point(relaxation.z)
        search_nearby(tree)
        outcome = tree.run()
        self.nodes, self.kind = outcome.nodes, BY_TREE
        self._raise(outcome.bound)

    # --- patterns --------------------------------------------------------------------------------------

    def try_whole(self, pattern: Mask) -> bool:
        """Judge a pattern, keep it if it is safe and cheaper; whether it is safe."""
        self.patterns += 1
        safe = judge(self.table, pattern, AttackerModel(self.context.strict), context=self.context).safe
        if safe:
            self._offer(pattern)
        return safe

    def try_point(self, z: Floats) -> None:
        """Make a safe pattern of a fractional one: what it suppresses is cheap; keep it if it is cheaper."""
        random = np.random.default_rng([self.context.seed, self.patterns])
        order = random.permutation(len(self.tasks))
        self._offer_repaired(priced(self.table, z), whole_cells(self.table, z), order)

    def _repaired(self, prices: Table, start: Mask, order: Ints) -> Mask:
        """A pattern completed at the weights of one table and cleaned up at those of the table itself."""
        self.patterns += 1
        return completed(Cover(self.table, self.tasks, self.context, start), prices, order).suppressed

    def _offer_repaired(self, prices: Table, start: Mask, order: Ints) -> None:
        """Complete a pattern and offer it, unless the time is up before it is complete."""
        try:
            self._offer(self._repaired(prices, start, order))
        except OutOfTime:
            return

    def _offer(self, pattern: Mask) -> None:
        if self.table.cost(pattern) < self.table.cost(self.best):
            self.best = pattern
            self.context.progress.advance(best=self.cost, bound=self.lower)

    def _raise(self, bound: int) -> None:
        self.lower = max(self.lower, min(bound, self.cost))
