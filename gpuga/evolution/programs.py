"""Children of general tables that linear programs lead: dearer to make than those of the back end, and far cheaper.

Every requirement gets the cheapest change of the whole table, one after the other in a random order, and a tableau
publishes what is redundant. Children differ in what they begin with and in what is cheap for them: cells of two
parents (crossover), one parent without a part that common lines link (destroy and repair), or nothing but the prices
of the relaxation. Around parents of few suppressed cells, some steps of a local search take the place of half the
repairs. Their circuits come along as certificates, so that the back end works on with them. They are made beside the
many children of the back end: one of each kind in a generation, and none while they have had their share of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, cast

import numpy as np
from scipy.sparse import csr_array

from gpuga.bounds.cut import Floats
from gpuga.bounds.neighbourhood import linked_part
from gpuga.bounds.repair.cover import MOST_FOR_LOCAL, completed, priced, proven_cover, searched, whole_cells
from gpuga.circuits.cover import Cover
from gpuga.circuits.local_search import LocalSearch
from gpuga.context import Context, Silent
from gpuga.evolution.breeding import Breeder
from gpuga.evolution.population import Population, PopulationMember
from gpuga.problem.general import GeneralProblem
from gpuga.table.table import Mask
from gpuga.table.witnesses import Witnesses

BEST = 8
"""Parents are among so many cheapest individuals: so few children are made that more would not be bred with."""

SHARE = 0.9
"""The share of a limited time that programs take at most."""

LOCAL = 0.5
"""The share of local searches where a parent is destroyed that is small enough for them."""

INHERITED = 0.7
"""The share of the price that is left off a cell of one parent; one of both is kept."""

LET_GO, GUIDED, BY_CAPACITY = (0.1, 0.25, 0.5), 0.25, 0.5
"""Shares of a pattern that are let go, and which shares of children follow the prices of the relaxation and are priced
by capacity."""


class Certifying(Protocol):
    """Operations of a table in a back end whose patterns carry certificates."""

    def proven(self, suppressed: Mask, witnesses: Witnesses) -> Any:
        """One pattern, bool[n], with what proves it elsewhere."""

    def proof(self, patterns: Any) -> Witnesses:
        """The exact changes that prove the first of some patterns."""


class Programs:
    """A breeder's operators with programs beside them; `point` float64[n] is the relaxation's latest."""

    def __init__(self, problem: GeneralProblem, breeder: Breeder, context: Context) -> None:
        self.problem, self.breeder = problem, breeder
        self.kernels = cast(Certifying, breeder.kernels)  # those of a general table do
        self.context = replace(context, progress=Silent())
        self.point: Floats = np.zeros(len(problem.table))
        lines = problem.table.lines
        ones = np.ones(len(lines.cell))
        self.lines = csr_array((ones, (lines.cell, lines.line_of_entry)), shape=(len(problem.table), len(lines)))
        self.begun = context.clock.spent()
        self.due = True

    def mate(self, parents: Sequence[PopulationMember]) -> Population:
        """The back end's children of all pairs, and one of two of the cheapest."""
        clock, spent = self.context.clock, self.breeder.elsewhere
        self.due = clock.seconds is None or spent <= SHARE * (clock.spent() - self.begun)
        population = parents[0].population
        return self.breeder.mate(parents).joined(*self._beside(lambda: self.crossed(population)))

    def mutate(self, population: Population) -> Population:
        """The back end's, and one of the cheapest of which more was let go."""
        return self.breeder.mutate(population).joined(*self._beside(lambda: self.destroyed(population)))

    def newcomers(self, count: int) -> Population:
        """The back end's, and one more."""
        return self.breeder.newcomers(count).joined(*self._beside(self.newcomer if count else None))

    def _beside(self, make: Callable[[], Population] | None) -> list[Population]:
        """What programs make, if it is their turn; the time counts as theirs."""
        if make is None or not self.due:
            return []
        begun = self.context.clock.spent()
        made = make()
        self.breeder.elsewhere += self.context.clock.spent() - begun
        return [made]

    def newcomer(self) -> Population:
        """An individual from nothing: what a point suppresses wholly, completed at its prices."""
        random = self._random()
        point = self._point(random)
        start = np.zeros_like(self.problem.forced) if point is None else whole_cells(self.problem.table, point)
        return self._completed(start, point, random)

    def crossed(self, population: Population) -> Population:
        """A child of two of the cheapest: what they share, completed with what is cheap as one of them has it."""
        best = self._best(population)
        if len(best) < 2 or "inherit" in self.breeder.without:
            return population.take([])
        random = self._random()
        first, second = best.unpacked(random.permutation(len(best))[:2].tolist()) & ~self.problem.forced
        return self._completed(first & second, np.where(first | second, INHERITED, 0.0), random)

    def destroyed(self, population: Population) -> Population:
        """A child of one of the cheapest: rebuilt, or the best that a local search finds around it."""
        parent = self.breeder.select(self._best(population), 1)[0]
        if "destroy" in self.breeder.without or not (parent.suppressed & ~self.problem.forced).any():
            return population.take([])
        random = self._random()
        if int(parent.suppressed.sum()) <= MOST_FOR_LOCAL and random.random() < LOCAL:
            return self.searched(parent, random)
        return self.rebuilt(parent, random)

    def searched(self, parent: PopulationMember, random: np.random.Generator) -> Population:
        """The cheapest pattern in some steps of a local search around a parent, if it is cheaper."""
        problem, known = self.problem, self.kernels.proof(parent.population.take([parent.place]).patterns)
        cover = proven_cover(problem, self.context, parent.suppressed, known)
        if cover is None:
            return parent.population.take([])
        local = LocalSearch(problem.table, problem.requirements, int(random.integers(2**31)), self.context.solver)
        local.begin(cover.suppressed, cover.changes())
        local.point = self._point(random)
        made = searched(local, cover, self.context)
        if made is cover:
            return parent.population.take([])
        return self.breeder.newcomers(1, self.kernels.proven(made.suppressed, made.proof()))

    def rebuilt(self, member: PopulationMember, random: np.random.Generator) -> Population:
        """An individual of which a part was let go, completed anew."""
        parent = member.suppressed & ~self.problem.forced
        let_go = linked_part(self.lines, parent, float(random.choice(LET_GO)), random)
        return self._completed(parent & ~let_go, self._point(random), random)

    def _best(self, population: Population) -> Population:
        """The cheapest few, no pattern twice."""
        return population.take(population.distinct()[:BEST])

    def _random(self) -> np.random.Generator:
        return np.random.default_rng(int(self.breeder.stream.seeds(1)[0]))

    def _point(self, random: np.random.Generator) -> Floats | None:
        """The latest point of the relaxation, or none, by chance or because there is none yet."""
        return self.point if self.point.any() and random.random() < GUIDED else None

    def _completed(self, start: Mask, point: Floats | None, random: np.random.Generator) -> Population:
        """A pattern completed in a random order at a point's prices, as an individual with its certificates."""
        table, requirements = self.problem.table, self.problem.requirements
        cover = Cover(table, requirements, self.context, start)
        by_capacity = bool(random.random() < BY_CAPACITY)
        prices = table if point is None else priced(table, point)
        made = completed(cover, prices, random.permutation(len(requirements)), by_capacity=by_capacity)
        return self.breeder.newcomers(1, self.kernels.proven(made.suppressed, made.proof()))
