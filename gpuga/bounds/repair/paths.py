"""Safe patterns of two-way tables by cheapest paths."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from gpuga.bounds.cut import Floats
from gpuga.bounds.repair.repair import left_over, wholly
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Clock
from gpuga.errors import OutOfTime
from gpuga.problem.path_costs import PathCosts, costs_of
from gpuga.problem.two_way import TwoWayProblem
from gpuga.table.table import Ints, Mask


class PathRepair:
    """Completes patterns by shortest paths; see `Repair`."""

    starts = 6
    guided_starts = 5
    quick = True

    def __init__(self, problem: TwoWayProblem, seed: int = 0) -> None:
        self.problem, self.seed = problem, seed
        self.costs: PathCosts = problem.costs()

    def first(self, attempt: int, clock: Clock | None) -> Mask:
        """By the table's order first, then by random ones and other policies."""
        # in long tables random orders take many times as long
        order = self._order(attempt) if attempt else None
        policy = plain(single=attempt % 3 == 2, by_capacity=attempt % 3 == 1)
        return by_paths(self.problem, self.costs, policy, order=order, clock=clock).ravel()

    def given(self, suppressed: Mask, clock: Clock) -> Mask:
        """The user's pattern, completed."""
        start = self.problem.secondary(suppressed)
        return by_paths(self.problem, self.costs, plain(), start=start, clock=clock).ravel()

    def guided(self, x: Floats, attempt: int, clock: Clock | None, allowed: Mask | None = None) -> Mask:
        """What the point suppresses wholly, completed at guided costs; later attempts in random orders from nothing."""
        problem = self.problem
        costs = guided_costs(problem, x, allowed)
        if not attempt:
            start = wholly(x).reshape(problem.shape) & ~problem.forced
            return by_paths(problem, costs, plain(by_capacity=True), start=start).ravel()
        policy = plain(single=attempt % 2 == 0, by_capacity=True)
        return by_paths(problem, costs, policy, order=self._order(attempt), clock=clock).ravel()

    def circuits(self, pattern: Mask) -> None:
        """None: audits of two-way tables find theirs in no time."""

    def mended(self, pattern: Mask, clock: Clock) -> Mask | None:
        """The cheaper one of two completions."""
        problem, start, made = self.problem, pattern.reshape(self.problem.shape), []
        for single in (True, False):
            with suppress(OutOfTime):
                made.append(by_paths(problem, self.costs, plain(single, True), start=start))
        return min(made, key=problem.cost).ravel() if made else None

    def _order(self, attempt: int) -> Ints:
        return np.random.default_rng([self.seed, attempt]).permutation(len(self.problem.levels.place))


def guided_costs(problem: TwoWayProblem, x: Floats, allowed: Mask | None = None) -> PathCosts:
    """Weights times what a fractional pattern (float64[R * C]) leaves of each cell; only what is allowed is used."""
    usable = problem.candidate if allowed is None else problem.candidate & allowed.reshape(problem.shape)
    return costs_of(problem.weight * left_over(x).reshape(problem.shape), usable)
