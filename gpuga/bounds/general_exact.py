"""Bounds and proven optima of any linear table: cuts, branch and bound, repair, in turn until they meet.

As in two dimensions: the cuts found so far are solved to integers over the cells that can still be part of a
cheaper pattern; a pattern that is not safe is cut off and repaired into a new incumbent; one that is safe is
the cheapest, which a tree whose every leaf is closed in integers then proves.
"""

from __future__ import annotations

import highspy
import numpy as np

from gpuga.bounds.general_relaxation import Floats, GeneralRelaxation
from gpuga.circuits.cover import Cover, tasks_for
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.protection import Bound, Found
from gpuga.safety.audit import audit
from gpuga.table.table import Ints, Mask, Table

MOST_NODES = 20_000
WHOLE = 1e-6
ROUNDS_BETWEEN = 10
"""Rounds of cuts on the relaxation between two branch and bounds."""

WIDEST_GAP, GAP_SHARE = 0.02, 0.2
"""Branch and bound may stop at this gap, or at this share of the gap that is open, while it still finds cuts."""

KIND = "Benders cuts"


def general_bound(table: Table, context: Context) -> Bound:
    """A proven lower bound for any linear table; weak in three and more dimensions."""
    context.progress.stage("bound")
    relaxation = GeneralRelaxation(table)
    relaxation.tighten(context.clock)
    return Bound(relaxation.base_cost + relaxation.bound, KIND, context.clock.spent())


def general_exact(table: Table, context: Context) -> Found:
    """The cheapest safe pattern, proven, or the best one found with its gap when the time is up."""
    search = GeneralSearch(table, context)
    search.run()
    kind = "branch and bound on Benders cuts" if search.rounds else KIND
    bound = Bound(search.relaxation.base_cost + search.lower, kind, context.clock.spent())
    details = {"cuts": len(search.relaxation.cuts), "nodes": search.nodes}
    return Found(search.best, bound, search.rounds, search.patterns, details)


class GeneralSearch:
    """The incumbent `best`, the bound `lower` and the relaxation between them."""

    def __init__(self, table: Table, context: Context) -> None:
        self.table, self.context = table, context
        self.tasks = tasks_for(table, context.strict)
        self.relaxation = GeneralRelaxation(table)
        self.lower = self.rounds = self.patterns = self.nodes = 0
        self.settling = False
        by_weight = np.argsort(-table.weight[self.tasks.cell], kind="stable")
        self.best = self._repaired(table.forced, by_weight)
        for given in context.start:
            self._offer_repaired(given & table.suppressible, by_weight)

    @property
    def cost(self) -> int:
        """The incumbent's cost beyond that of the forced cells."""
        return self.table.cost(self.best) - self.relaxation.base_cost

    def run(self) -> None:
        """Cuts, then rounds of branch and bound until proof or time's end."""
        clock = self.context.clock
        self.context.progress.stage("bound")
        self.relaxation.tighten(clock.part(0.5))
        self._raise(self.relaxation.bound)
        self._offer_repaired(self._rounded_up(), np.arange(len(self.tasks)))
        self.context.progress.stage("branch and bound")
        while self.lower < self.cost and not clock.expired():
            self.rounds += 1
            settled = self._round()
            self.context.progress.advance(best=self.cost, bound=self.lower)
            if settled:
                if self._prove():
                    self._raise(self.cost)
                return

    def _round(self) -> bool:
        """One branch and bound; whether its pattern is safe and no other is cheaper, by the solver's word."""
        relaxation, clock = self.relaxation, self.context.clock
        # while its patterns are cut off anyway, branch and bound need not end
        gap = 0.0 if self.settling else min(WIDEST_GAP, GAP_SHARE * (self.cost - self.lower) / max(1, self.cost))
        pattern = solved_to_integers(relaxation, relaxation.useful(self.cost), self.best, gap, clock)
        if pattern is None:
            return False
        added = relaxation.separate(pattern.astype(np.float64), clock)
        self.settling = not added
        if not added and gap == 0.0:
            if audit(self.table, pattern, strict=self.context.strict, intervals=False).safe:
                self._offer(pattern)
                return True
            self._offer_repaired(pattern, np.arange(len(self.tasks)))
            return True
        random = np.random.default_rng([self.context.seed, self.rounds])
        self._offer_repaired(pattern, random.permutation(len(self.tasks)))
        relaxation.solve()
        relaxation.tighten(clock, ROUNDS_BETWEEN)
        self._raise(relaxation.bound)
        return False

    def _rounded_up(self) -> Mask:
        """The cells that the relaxation wants most."""
        return np.asarray((self.relaxation.z > 0.5) & self.table.suppressible)

    def _repaired(self, start: Mask, order: Ints) -> Mask:
        cover = Cover(self.table, self.tasks, self.context, start)
        cover.by_lp(order.tolist())
        cover.clean_up()
        self.patterns += 1
        return cover.suppressed

    def _offer_repaired(self, start: Mask, order: Ints) -> None:
        """Complete a pattern and offer it, unless the time is up before it is complete."""
        try:
            self._offer(self._repaired(start, order))
        except OutOfTime:
            return

    def _offer(self, pattern: Mask) -> None:
        if self.table.cost(pattern) < self.table.cost(self.best):
            self.best = pattern

    def _raise(self, bound: int) -> None:
        self.lower = max(self.lower, min(bound, self.cost))

    def _prove(self) -> bool:
        proven, self.nodes = prove(self.relaxation, self.cost, self.context.clock)
        return proven


def solved_to_integers(
    relaxation: GeneralRelaxation, allowed: Mask, incumbent: Mask, gap: float, clock: Clock
) -> Mask | None:
    """The cheapest pattern of the cuts so far over the allowed cells, within a gap, by HiGHS (bool[n])."""
    solver, count = relaxation.solver, len(relaxation.free)
    every = np.arange(count, dtype=np.int32)
    allowed = allowed | incumbent[relaxation.free]
    solver.changeColsBounds(count, every, np.zeros(count), allowed.astype(np.float64))
    solver.changeColsIntegrality(count, every, np.full(count, highspy.HighsVarType.kInteger))
    solver.setOptionValue("mip_rel_gap", gap)
    solver.setOptionValue("mip_abs_gap", 0.999 * relaxation.step / relaxation.unit)
    solver.setOptionValue("time_limit", float(min(solver.getRunTime() + max(0.0, clock.left()), 1e9)))
    solver.run()
    feasible = solver.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    value = np.array(solver.getSolution().col_value)[:count]
    solver.changeColsIntegrality(count, every, np.full(count, highspy.HighsVarType.kContinuous))
    solver.changeColsBounds(count, every, np.zeros(count), np.ones(count))
    solver.setOptionValue("time_limit", highspy.kHighsInf)
    if not feasible or len(value) != count:
        return None
    pattern = relaxation.table.forced.copy()
    pattern[relaxation.free[value > 0.5]] = True
    return pattern


def prove(relaxation: GeneralRelaxation, cost: int, clock: Clock) -> tuple[bool, int]:
    """Whether every pattern that satisfies the cuts costs at least `cost`, each leaf closed in integers; nodes."""
    solver, count = relaxation.solver, len(relaxation.free)
    every = np.arange(count, dtype=np.int32)
    ruled_out = ~relaxation.useful(cost)
    pending: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())]
    nodes, closed = 0, True
    relaxation.open_spare(cost + relaxation.step)
    while pending and closed:
        published, suppressed = pending.pop()
        nodes += 1
        low, high = np.zeros(count), np.where(ruled_out, 0.0, 1.0)
        low[list(suppressed)], high[list(published)] = 1.0, 0.0
        solver.changeColsBounds(count, every, low, high)
        solver.run()
        solution = solver.getSolution()
        total, _, shift = relaxation.exact(np.array(solution.row_dual), high < 0.5, low > 0.5)
        if relaxation.rounded(total, shift) >= cost:
            continue
        at = _most_fractional(np.array(solution.col_value)[:count], relaxation.table.weight[relaxation.free], low, high)
        if at is None or nodes >= MOST_NODES or clock.expired():
            closed = False
        else:
            pending += [((*published, at), suppressed), (published, (*suppressed, at))]
    relaxation.open_spare(None)
    solver.changeColsBounds(count, every, np.zeros(count), np.ones(count))
    return closed, nodes


def _most_fractional(x: Floats, weight: Ints, low: Floats, high: Floats) -> int | None:
    """The cell to branch on, None where all are whole."""
    distance = np.where(low < high, np.minimum(x, 1.0 - x), 0.0)
    if distance.max(initial=0.0) < WHOLE:
        return None
    return int(np.argmax(distance * np.sqrt(weight + 1.0)))
