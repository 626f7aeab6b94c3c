"""Beside evolution where a prover would take too long: patterns of large general tables by linear programs.

Tables without axes have no boxes, so that their circuits come from here alone; elsewhere they join those of the back
end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gpuga.circuits.cover import Cover
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.evolution.prover import News, Offers, Prover
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Bound
from gpuga.safety.witness import Witnesses
from gpuga.table.table import Ints, Mask

ORDERS = 8
"""Patterns that are made, each in another order of the requirements."""

PROGRAMS = 0.85
"""The share of a limited time in which programs lead requirements; clean-up has the rest."""


class Completions:
    """Patterns of one problem, made one after the other: the cheapest changes in some order, then clean-up."""

    lower = 0

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

    def make(self, attempt: int) -> None:
        """A pattern in the order of falling weights, later ones in random orders."""
        problem, order = self.problem, self._order(attempt)
        hurried = replace(self.context, clock=self.context.clock.part(PROGRAMS))
        cover = Cover(problem.table, problem.requirements, hurried)
        cover.boost()
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
        """Nothing is proven here."""
        return Bound(self.problem.base_cost, "what is suppressed beforehand")


class Completer(Prover):
    """Makes patterns in a thread of its own; a step is a pattern."""

    def __init__(self, problem: GeneralProblem, context: Context, paced: bool, offers: Offers | None = None) -> None:
        self.made = Completions(problem, context)
        super().__init__(problem, context, paced, offers)

    def _steps(self) -> Iterator[None]:
        if self.paced:
            self._may_step.acquire()
        self.made.context = replace(self._context)
        self.search = self.made
        for attempt in range(ORDERS):
            self.made.make(attempt)
            yield

    def _news(self, steps: int) -> News:
        nothing = np.zeros(len(self.made.best))
        news = News(steps, self.made, nothing, self.problem.candidate)
        news.circuits = self.made.circuits
        return news
