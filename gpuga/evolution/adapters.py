"""DEAP's own crossovers and mutations as operators of `circuits`, over lists of 0 and 1.

`operators={"mate": mate_by(tools.cxTwoPoint), "mutate": mutate_by(tools.mutShuffleIndexes, indpb=0.02)}` gives them to
`protect`. Individuals become lists, one entry per cell that may be suppressed; what comes out is completed to safe
patterns and freed of redundant cells, all children in one call. Selections such as `tools.selTournament` need no
adapter but a `functools.partial` for their arguments. DEAP draws from Python's global generator: it is seeded from the
run's own stream for every call, and put back.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuga.evolution.breeding import Breeder
from gpuga.evolution.population import Population, PopulationMember, places_of
from gpuga.table.table import Mask

MUTATED = 0.25
"""The share of a population that is mutated in a generation."""


@dataclass
class DeapOperator(ABC):
    """An operator of DEAP's with its arguments; a run binds it to its own population. `calls` counts its calls."""

    operator: Callable[..., Any]
    arguments: dict[str, Any] = field(default_factory=dict)
    calls: int = 0

    @abstractmethod
    def bound(self, breeder: Breeder, candidate: Mask) -> Callable[[Any], Population]:
        """As an operator of whole populations, over the cells that may be suppressed (bool[n])."""

    def call(self, *individuals: list[int]) -> None:
        """Change lists in place, as DEAP's operators do."""
        self.calls += 1
        self.operator(*individuals, **self.arguments)


class Mating(DeapOperator):
    """A crossover of two individuals."""

    def bound(self, breeder: Breeder, candidate: Mask) -> Callable[[Sequence[PopulationMember]], Population]:
        """Children of pairs of parents, two each."""

        def mate(parents: Sequence[PopulationMember]) -> Population:
            population = parents[0].population
            lists = _lists(population, places_of(parents).tolist(), candidate)
            with _drawing(breeder):
                for one, other in zip(lists[0::2], lists[1::2], strict=False):
                    self.call(one, other)
            return _completed(breeder, lists[: len(lists) // 2 * 2], candidate)

        return mate


class Mutation(DeapOperator):
    """A mutation of one individual."""

    def bound(self, breeder: Breeder, candidate: Mask) -> Callable[[Population], Population]:
        """Mutants of some individuals, chosen by tournament."""

        def mutate(population: Population) -> Population:
            chosen = breeder.select(population, max(1, int(MUTATED * len(population))))
            lists = _lists(population, places_of(chosen).tolist(), candidate)
            with _drawing(breeder):
                for one in lists:
                    self.call(one)
            return _completed(breeder, lists, candidate)

        return mutate


def mate_by(operator: Callable[..., Any], **arguments: Any) -> Mating:
    """A crossover of DEAP's such as `tools.cxTwoPoint` or `tools.cxUniform`, for `mate`."""
    return Mating(operator, arguments)


def mutate_by(operator: Callable[..., Any], **arguments: Any) -> Mutation:
    """A mutation of DEAP's such as `tools.mutShuffleIndexes` or `tools.mutFlipBit`, for `mutate`."""
    return Mutation(operator, arguments)


def _lists(population: Population, places: list[int], candidate: Mask) -> list[list[int]]:
    rows: list[list[int]] = population.unpacked(places)[:, candidate].astype(int).tolist()
    return rows


def _completed(breeder: Breeder, lists: list[list[int]], candidate: Mask) -> Population:
    """Safe patterns of what the operator left, without redundant cells."""
    start = np.zeros((len(lists), len(candidate)), bool)
    start[:, candidate] = np.array(lists, bool).reshape(len(lists), int(candidate.sum()))
    return breeder.newcomers(len(lists), breeder.kernels.pack(start))


@contextmanager
def _drawing(breeder: Breeder) -> Iterator[None]:
    """Let the global generator draw what the run's stream says."""
    before = random.getstate()
    random.seed(int(breeder.stream.words(1)[0]))
    try:
        yield
    finally:
        random.setstate(before)
