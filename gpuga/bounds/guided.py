"""Patterns led by the relaxation: shortest paths that find cheap what the fractional pattern likes."""

from __future__ import annotations

import numpy as np

from gpuga.bounds.relaxation import Relaxation
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import Floats, plain
from gpuga.context import Clock
from gpuga.errors import OutOfTime
from gpuga.problem.path_costs import Costs, costs_of
from gpuga.problem.two_way import TwoWayProblem
from gpuga.table.table import Mask

STARTS = 4


def guided_costs(problem: TwoWayProblem, x: Floats, allowed: Mask | None = None) -> Costs:
    """Weights times what a fractional pattern (float64[R, C]) leaves of each cell, a little to order ties.

    Of the candidates only those `allowed` are used, among which there must be a safe pattern.
    """
    usable = problem.candidate if allowed is None else problem.candidate & allowed
    return costs_of(problem.weight * (1.02 - np.clip(x, 0.0, 1.0)), usable)


def led_by(problem: TwoWayProblem, x: Floats, allowed: Mask | None = None) -> Mask:
    """A safe pattern that keeps what a fractional one (float64[R, C]) suppresses wholly, completed at guided costs."""
    whole = (x > 1 - 1e-6) & ~problem.forced
    return by_paths(problem, guided_costs(problem, x, allowed), plain(by_capacity=True), start=whole)


def guided_pattern(relaxation: Relaxation, seed: int, clock: Clock) -> Mask:
    """The cheapest of a few patterns by shortest paths on the guided costs, in the table's and in random orders."""
    problem, x = relaxation.problem, relaxation.grid(relaxation.x)
    best = led_by(problem, x)
    costs, random = guided_costs(problem, x), np.random.default_rng(seed)
    for attempt in range(STARTS):
        order = random.permutation(len(problem.levels.place))
        taste = plain(single=attempt % 2 == 1, by_capacity=True)
        try:
            pattern = by_paths(problem, costs, taste, order=order, clock=clock)
        except OutOfTime:
            break
        best = min(best, pattern, key=problem.cost)
    return best
