"""Patterns led by the relaxation: shortest paths that find cheap what the fractional pattern likes."""

from __future__ import annotations

import numpy as np

from gpuga.bounds.relaxation import Relaxation
from gpuga.circuits.paths import Costs, costs_of, plain
from gpuga.context import Clock
from gpuga.heuristics.shortest_path import by_paths
from gpuga.table.table import Mask

STARTS = 4


def guided_costs(relaxation: Relaxation) -> Costs:
    """Weights times what the fractional pattern leaves of each cell, a little kept to order ties."""
    problem = relaxation.problem
    share = np.clip(relaxation.grid(relaxation.x), 0.0, 1.0)
    return costs_of(problem.weight * (1.02 - share), problem.candidate)


def guided_pattern(relaxation: Relaxation, seed: int, clock: Clock) -> Mask:
    """The cheapest of a few patterns by shortest paths on the guided costs, in random orders."""
    problem, costs = relaxation.problem, guided_costs(relaxation)
    random = np.random.default_rng(seed)
    best = None
    for attempt in range(STARTS):
        order = random.permutation(len(problem.levels.place))
        taste = plain(single=attempt % 2 == 1, by_capacity=True)
        pattern = by_paths(problem, costs, taste, order=order)
        if best is None or problem.cost(pattern) < problem.cost(best):
            best = pattern
        if clock.expired():
            break
    assert best is not None
    return best
