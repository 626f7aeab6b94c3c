"""Several patterns out of one population: alternatives to the best one, and a front of several objectives.

The front is that of NSGA-II (Deb et al. 2002) in DEAP's version: survivors by rank of domination and by crowding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from deap import tools

from gpuga.evolution.breeding import Kernels
from gpuga.evolution.individual import Cost, fitness_of
from gpuga.evolution.objectives import Objectives
from gpuga.evolution.population import Population
from gpuga.table.table import Ints

APART = 0.1
"""Alternatives differ in this share of the best pattern's secondary suppressions, if enough of them do."""


def alternatives(kernels: Kernels, pool: Population, best: Population, secondary: int, count: int) -> Population:
    """The cheapest individuals that differ from the best pattern and from each other.

    At first in a share of its `secondary` suppressions; where too few do, in half as many cells, and so on.
    """
    pool = pool.take(pool.distinct())
    pool = pool.take(np.flatnonzero(pool.digests != best.digests[0]))
    chosen: list[int] = []
    apart, least = kernels.nearest(pool.patterns, best.patterns), max(1, int(APART * secondary))
    while len(chosen) < count and least:
        far = np.flatnonzero(apart >= least)
        if not len(far):
            least //= 2
            continue
        cheapest = int(far[np.argmin(pool.costs[far])])
        chosen.append(cheapest)
        apart = np.minimum(apart, kernels.nearest(pool.patterns, pool.take([cheapest]).patterns))
        apart[cheapest] = 0
    return pool.take(sorted(chosen, key=lambda z: (pool.costs[z], z)))


class Point:
    """Where an individual lies in the space of objectives, for DEAP's selections."""

    __slots__ = ("fitness", "place")

    def __init__(self, place: int, fitness: Cost) -> None:
        self.place, self.fitness = place, fitness


@dataclass
class Front:
    """NSGA-II over populations: `survive` replaces that of a single objective."""

    objectives: Objectives
    size: int

    def survive(self, population: Population, offspring: Population) -> Population:
        """The survivors by rank of domination and crowding; no pattern twice, the cheapest always among them."""
        both = population.joined(offspring)
        both = both.take(both.distinct())
        if len(both) <= self.size:
            return both
        points = self._points(both)
        chosen = {point.place for point in tools.selNSGA2(points, self.size)}
        return both.take(sorted({0, *chosen}))

    def best(self, pool: Population, most: int) -> Population:
        """The individuals that no other one dominates, one per point; of too many the least crowded."""
        pool = pool.take(pool.distinct())
        values = self.objectives.values(pool)
        pool = pool.take(np.sort(np.unique(values, axis=0, return_index=True)[1]))
        first = tools.sortNondominated(self._points(pool), len(pool), first_front_only=True)[0]
        chosen = first if len(first) <= most else tools.selNSGA2(first, most)
        return pool.take(sorted(point.place for point in chosen))

    def _points(self, population: Population) -> list[Point]:
        values: Ints = self.objectives.values(population)
        kind = fitness_of(values.shape[1])
        return [Point(place, kind(row)) for place, row in enumerate(values.tolist())]
