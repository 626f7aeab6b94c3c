"""A population that lives in the back end: packed patterns with their costs; DEAP sees a sequence of individuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gpuga.evolution.individual import Cost
from gpuga.table.table import Ints, Mask

Words = NDArray[np.uint64]


class PopulationMember:
    """An individual of a population: its place there, its fitness; the pattern stays in the back end."""

    __slots__ = ("fitness", "place", "population")

    def __init__(self, population: Population, place: int) -> None:
        self.population, self.place = population, place
        self.fitness = Cost((int(population.costs[place]),))

    @property
    def cost(self) -> int:
        """The cost of the secondary suppressions, in units of the table's weights."""
        return int(self.population.costs[self.place])

    @property
    def suppressed(self) -> Mask:
        """The pattern in host memory (bool[n])."""
        return np.asarray(self.population.unpacked([self.place])[0], bool)

    def __deepcopy__(self, memo: dict[int, Any]) -> PopulationMember:
        return self.population.take([self.place])[0]


class Population(Sequence[PopulationMember]):
    """Patterns as their back end keeps them, costs int64[P] (forced cells left out) and digests uint64[P]."""

    def __init__(self, patterns: Any, costs: Ints, digests: Words) -> None:
        self.patterns, self.costs, self.digests = patterns, costs, digests
        self._members: list[PopulationMember] | None = None

    def __len__(self) -> int:
        return len(self.costs)

    @overload
    def __getitem__(self, at: int) -> PopulationMember: ...

    @overload
    def __getitem__(self, at: slice) -> list[PopulationMember]: ...

    def __getitem__(self, at: int | slice) -> PopulationMember | list[PopulationMember]:
        return self.members[at]

    def __iter__(self) -> Iterator[PopulationMember]:
        return iter(self.members)

    @property
    def members(self) -> list[PopulationMember]:
        """The individuals, made when first asked for.

        They know a twin of the population, which does not know them: what nobody uses any longer leaves the back end at
        once, not when Python next looks for cycles.
        """
        if self._members is None:
            twin = Population(self.patterns, self.costs, self.digests)
            self._members = [PopulationMember(twin, place) for place in range(len(self))]
        return self._members

    def take(self, places: Sequence[int] | Ints) -> Population:
        """Some of the individuals, in that order."""
        at = np.asarray(places, np.int64)
        return Population(self.patterns.take(at), self.costs[at], self.digests[at])

    def joined(self, *others: Population) -> Population:
        """This population and others behind it."""
        every = [other for other in others if len(other)]
        if not every:
            return self
        return Population(
            self.patterns.joined([other.patterns for other in every]),
            np.concatenate([self.costs, *(other.costs for other in every)]),
            np.concatenate([self.digests, *(other.digests for other in every)]),
        )

    @classmethod
    def of(cls, members: Sequence[PopulationMember]) -> Population:
        """Individuals of any populations, in that order."""
        groups = list({id(one.population): one.population for one in members}.values())
        begins = dict(zip(map(id, groups), np.cumsum([0, *map(len, groups)]).tolist(), strict=False))
        every = groups[0].joined(*groups[1:])
        return every.take([begins[id(one.population)] + one.place for one in members])

    def unpacked(self, places: Sequence[int]) -> NDArray[np.bool_]:
        """Patterns in host memory (bool[k, n])."""
        return np.asarray(self.take(places).patterns.unpacked(), bool)

    @property
    def best(self) -> PopulationMember:
        """The cheapest; of equals the first."""
        return self.members[int(np.argmin(self.costs))]

    def distinct(self) -> Ints:
        """Places of different patterns by rising cost; of equals the first."""
        _, first = np.unique(self.digests, return_index=True)
        first = np.sort(first)
        return first[np.argsort(self.costs[first], kind="stable")]


def places_of(members: Sequence[PopulationMember]) -> Ints:
    """Where individuals stand in their population (int64[k])."""
    return np.array([member.place for member in members], np.int64)


def same_pattern(one: PopulationMember, other: PopulationMember) -> bool:
    """Whether two individuals are the same, for DEAP's hall of fame."""
    return bool(one.population.digests[one.place] == other.population.digests[other.place])


def cells_apart(one: PopulationMember, other: PopulationMember) -> int:
    """In how many cells two individuals differ."""
    return int((one.suppressed ^ other.suppressed).sum())
