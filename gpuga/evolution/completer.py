"""Beside evolution where a prover would take too long: a bound, prices and patterns of large general tables.

Cuts of single lines, of very large tables part by part, bound the cost, and the point of their relaxation prices the
cells for evolution. Linear programs then complete patterns. Tables without axes have no boxes, so that their circuits
come from here alone: there patterns come first. Elsewhere they join those of the back end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gpuga.bounds.incumbent import BY_LINES, BY_PARTS
from gpuga.bounds.master import Master
from gpuga.bounds.parts import PartsBound
from gpuga.bounds.search import MOST_CELLS_AT_ONCE, SHARE_OF_CUTS, master_of
from gpuga.circuits.cover import Cover
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.evolution.prover import Beside, News, Offers
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Bound
from gpuga.table.table import Ints, Mask
from gpuga.table.witnesses import Witnesses

ORDERS = 8
"""Patterns that are made, each in another order of the requirements."""

PROGRAMS = 0.85
"""The share of a limited time in which programs lead requirements; clean-up has the rest."""


class Completions:
    """A bound of one problem, and patterns one after the other: the cheapest changes in some order, then clean-up."""

    lower = 0
    master: Master | None = None
    parts: PartsBound | None = None

    def __init__(self, problem: GeneralProblem, context: Context) -> None:
        self.problem, self.context = problem, context
        self.best: Mask = problem.candidate
        self.cost = problem.cost(self.best)
        self.circuits: Witnesses | None = None
        self.proof: Witnesses | None = None

    def offer(self, pattern: Mask) -> bool:
        """Take over a cheaper pattern; whether it was."""
        if self.problem.cost(pattern) >= self.cost:
            return False
        self.best, self.cost, self.proof = pattern, self.problem.cost(pattern), None
        return True

    def bounded(self, clock: Clock) -> Iterator[None]:
        """Raise the bound by rounds of cuts, of very large tables part by part."""
        if self.problem.weight.size > MOST_CELLS_AT_ONCE:
            self.parts = PartsBound(self.problem.table)
            for _ in self.parts.rounds(clock, most=self.cost):
                self._raise_lower(self.parts.bound)
                yield
            return
        self.master = master_of(replace(self.problem, clock=clock), quick=True)
        for _ in self.master.rounds_of_cuts(clock, most=self.cost):
            self._raise_lower(self.master.bound)
            yield
        self._raise_lower(self.master.bound)

    def _raise_lower(self, bound: int) -> None:
        """A bound that is proven; the best pattern's own cost is the most that can be."""
        self.lower = max(self.lower, min(bound, self.cost))

    def make(self, attempt: int) -> None:
        """A pattern in the order of falling weights, later ones in random orders."""
        problem, order = self.problem, self._order(attempt)
        hurried = replace(self.context, clock=self.context.clock.part(PROGRAMS))
        cover = Cover(problem.table, problem.requirements, hurried)
        cover.presolve()
        try:
            cover.by_lp(order.tolist())
        except OutOfTime:
            self._rest(cover)
        cover.context = self.context
        cover.clean_up()
        self.circuits = cover.proof()
        if self.offer(np.asarray(cover.suppressed & ~problem.forced)):
            self.proof = self.circuits

    def _rest(self, cover: Cover) -> None:
        """What programs had no time for is taken over from the pattern that was made first, where there is one.

        Only for a first pattern of one's own: later ones would cost time, and more than that one.
        """
        first, cover.context = self.context.first, self.context
        if first is not None and first.proof is not None and self.circuits is None:
            cover.by_witnesses(first.proof)
        if cover.open():
            raise OutOfTime("time ran out before linear programs completed a pattern")

    def _order(self, attempt: int) -> Ints:
        requirements = self.problem.requirements
        if not attempt:
            return np.argsort(-self.problem.weight[requirements.cell], kind="stable")
        return np.random.default_rng([self.context.seed, attempt]).permutation(len(requirements))

    def proven_bound(self) -> Bound:
        """What the cuts prove in exact arithmetic."""
        if self.parts is not None:
            return Bound(self.problem.base_cost + self.lower, BY_PARTS, self.context.clock.spent())
        if self.master is None:
            return Bound(self.problem.base_cost, "what is suppressed beforehand")
        self.master.certify()
        self._raise_lower(self.master.bound)
        return Bound(self.problem.base_cost + self.lower, BY_LINES, self.context.clock.spent(), root=self.master)


class Completer(Beside):
    """Bounds and completes in a thread of its own; a step is a round of cuts or a pattern."""

    def __init__(
        self,
        problem: GeneralProblem,
        context: Context,
        paced: bool,
        offers: Offers | None = None,
        patterns_first: bool = False,
    ) -> None:
        self.made, self.patterns_first = Completions(problem, context), patterns_first
        super().__init__(problem, context, paced, offers)

    def _steps(self) -> Iterator[None]:
        self.made.context = replace(self._context)
        self.search = self.made
        if self.patterns_first:
            self.made.make(0)
            yield
        yield from self.made.bounded(self.clock.part(SHARE_OF_CUTS))
        for attempt in range(int(self.patterns_first), ORDERS):
            self.made.make(attempt)
            yield

    def _news(self, steps: int) -> News:
        master, parts = self.made.master, self.made.parts
        point = np.zeros(len(self.made.best)) if parts is None else parts.point.copy()
        if master is not None:
            point = master.point()
        news = News(steps, self.made, point, self.problem.candidate)
        news.circuits = self.made.circuits
        return news
