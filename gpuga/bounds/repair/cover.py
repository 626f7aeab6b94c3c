"""Safe patterns of any linear table by covers: the cheapest changes for what is open, then clean-up."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from gpuga.bounds.cut import Floats
from gpuga.bounds.repair.repair import left_over, wholly
from gpuga.bounds.separators.row_pool import RowPool
from gpuga.circuits.cover import Cover
from gpuga.circuits.local_search import LocalSearch
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.problem.general import GeneralProblem
from gpuga.safety.audit import judge
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.table import LARGEST, Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

FINEST = 1000
"""Guided weights are in parts of this."""

MOST_FOR_LOCAL = 250
"""Suppressed cells from which on steps of a local search take too long."""

LOCAL_STEPS = 20
"""Steps of a local search between two patterns that are made exact."""

MOST_REMEMBERED = 8
"""Patterns whose circuits are kept."""

C = TypeVar("C", bound=Cover)


class CoverRepair:
    """Completes patterns by the attacker's linear programs; see `Repair`.

    The rows of a `pool`, where there is one, say at once what a pattern cannot do without.
    """

    starts = 2
    guided_starts = 8
    quick = False

    def __init__(self, problem: GeneralProblem, context: Context, pool: RowPool | None = None) -> None:
        self.problem, self.context, self.pool = problem, context, pool
        self._circuits: dict[bytes, tuple[int, Witnesses]] = {}
        self._orders = 0
        self._local: LocalSearch | None = None
        self._around: Cover | None = None

    def circuits(self, pattern: Mask) -> Witnesses | None:
        """The circuits of a pattern that was made here and is among the cheapest."""
        return self._circuits.get(pattern.tobytes(), (0, None))[1]

    def _remember(self, pattern: Mask, circuits: Witnesses) -> None:
        """Keep the circuits of the cheapest patterns: finding them again could take an audit more time than it has."""
        self._circuits[pattern.tobytes()] = (self.problem.cost(pattern), circuits)
        if len(self._circuits) > MOST_REMEMBERED:
            del self._circuits[max(self._circuits, key=lambda known: self._circuits[known][0])]

    def first(self, attempt: int, clock: Clock) -> Mask:
        """The heaviest cells first, then the same by capacity."""
        table = self.problem.table
        return self._completed(table, table.forced, self._heaviest_first(), clock, by_capacity=attempt % 2 == 1)

    def given(self, suppressed: Mask, clock: Clock) -> Mask:
        """The user's pattern, completed."""
        table = self.problem.table
        return self._completed(table, suppressed & table.suppressible, self._heaviest_first(), clock)

    def guided(self, x: Floats, attempt: int, clock: Clock, allowed: Mask | None = None) -> Mask:
        """What the point suppresses wholly, completed at its prices in a random order, another one each time.

        Costs of one point's patterns differ by a tenth and more, whatever the point.
        """
        table, prices, by_capacity = self.problem.table, priced(self.problem.table, x), attempt % 2 == 1
        return self._completed(prices, whole_cells(table, x), self._another_order(), clock, by_capacity)

    def rebuilt(self, kept: Mask, x: Floats | None, clock: Clock, by_capacity: bool = False) -> Mask:
        """What is kept of a pattern, completed in a random order at a point's prices, without one at the weights."""
        table = self.problem.table
        prices = table if x is None else priced(table, x)
        return self._completed(prices, kept, self._another_order(), clock, by_capacity)

    def searched(self, pattern: Mask, x: Floats, clock: Clock) -> Mask:
        """The cheapest pattern that some steps of a local search find around a safe one, which may be itself.

        Asked about the same pattern again, the search goes on from where it was.
        """
        table, context = self.problem.table, replace(self.context, clock=clock)
        if self._local is None:
            self._local = LocalSearch(table, self.problem.requirements, self.context.seed, self.context.solver)
        if self._around is None or not np.array_equal(pattern, self._around.suppressed & ~table.forced):
            self._around = proven_cover(self.problem, context, pattern, self.circuits(pattern))
            if self._around is None:
                return pattern
            self._local.begin(self._around.suppressed, self._around.changes())
        self._local.point = x
        made = searched(self._local, self._around, context)
        if made.table.cost(made.suppressed) >= table.cost(self._around.suppressed):
            return pattern
        self._around = made
        found = np.asarray(made.suppressed & ~table.forced)
        self._remember(found, made.proof())
        return found

    def mended(self, pattern: Mask, clock: Clock) -> Mask | None:
        """The pattern itself where it is safe, else completed at the weights."""
        table = self.problem.table
        model = AttackerModel(self.context.strict)
        verdict = judge(table, pattern | table.forced, model, proofs=True, context=self.context)
        if verdict.safe:
            if verdict.proof is not None:
                self._remember(pattern, verdict.proof.witnesses)
            return pattern
        try:
            return self._completed(table, pattern, self._heaviest_first(), clock)
        except OutOfTime:
            return None

    def _another_order(self) -> Ints:
        random = np.random.default_rng([self.context.seed, self._orders])
        self._orders += 1
        return random.permutation(len(self.problem.requirements))

    def _heaviest_first(self) -> Ints:
        return np.argsort(-self.problem.weight[self.problem.requirements.cell], kind="stable")

    def _completed(self, prices: Table, start: Mask, order: Ints, clock: Clock, by_capacity: bool = False) -> Mask:
        """A pattern completed at the weights of one table and cleaned up at those of the table itself."""
        table = self.problem.table
        cover = Cover(table, self.problem.requirements, replace(self.context, clock=clock), start)
        made = completed(cover, prices, order, self.pool, by_capacity)
        pattern = np.asarray(made.suppressed & ~table.forced)
        self._remember(pattern, made.proof())
        return pattern


def priced(table: Table, z: Floats) -> Table:
    """The table at weights times what a point (float64[n]) leaves of each cell."""
    finest = min(FINEST, LARGEST // max(1, int(table.weight.sum())))
    return replace(table, weight=np.rint(table.weight * (finest * left_over(z))).astype(np.int64))


def whole_cells(table: Table, z: Floats) -> Mask:
    """What a point suppresses wholly."""
    return np.asarray(wholly(z) & table.suppressible)


def proven_cover(problem: GeneralProblem, context: Context, pattern: Mask, known: Witnesses | None) -> Cover | None:
    """A cover of a safe pattern (bool[n]) by known circuits and what is found inside; None if the time is up."""
    cover = Cover(problem.table, problem.requirements, context, pattern)
    if known is not None:
        cover.by_witnesses(known)
    cover.inside(cover.open())
    return None if cover.open() else cover


def searched(local: LocalSearch, around: Cover, context: Context) -> Cover:
    """A cover of the cheapest pattern that some steps of a local search find; the same one where that is not cheaper.

    The search must have begun around it. What it finds in floats is proven exactly here.
    """
    found = local.run(LOCAL_STEPS, context.clock)
    if around.table.cost(found) >= around.table.cost(around.suppressed):
        return around
    made = Cover(around.table, around.requirements, context, found)
    made.take_over(around.circuit)
    made.inside(made.open())
    if made.open():
        try:
            made.by_lp(made.open())
        except OutOfTime:
            return around
    return made


def completed(cover: C, prices: Table, order: Ints, pool: RowPool | None = None, by_capacity: bool = False) -> C:
    """A cover completed at the weights of another table, in the given order, then cleaned up at its own."""
    bought = Cover(prices, cover.requirements, cover.context, cover.suppressed)
    bought.circuit, bought.users, bought.by_capacity = cover.circuit, cover.users, by_capacity
    bought.by_lp(order.tolist())
    made = type(cover)(cover.table, cover.requirements, cover.context, bought.suppressed)
    made.circuit, made.users = bought.circuit, bought.users
    made.clean_up(None if pool is None else pool.indispensable)
    return made
