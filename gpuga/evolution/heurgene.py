"""HeurGene (Herrington 2015): whole circuits change sides between parents, so that children stay safe.

Population 10; ends after 1,000 generations, or 100 without improvement. Individuals are seeded by hypercube in
random orders of the sensitive cells and redundancy removal. A chromosome is the set of complementary suppressions
with, per sensitive cell, the list of at most 32 that protect it. Crossover: a random sensitive cell's list changes
sides, cells that other lists share stay; accepted if the estimate g + h of one of the offspring is below the cheaper
parent's cost, lists of one cost count as identical; up to 100 attempts, then new parents. Mutation: redundant cells
that the crossover made go, and the lists that they were part of are merged into larger circuits. Selection and
replacement are drawn from a portfolio. As published the seeds are rectangles until each cell is safe, the attempts of a
mating follow a shuffled list, 100 pairs are tried, mutation looks at one random cell's list and takes one redundant
cell from it, and a run ends after an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from queue import SimpleQueue
from typing import Any

import numpy as np
from deap import base
from numba import get_num_threads

from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.evolution import replacement, selection
from gpuga.evolution.engine import new_toolbox
from gpuga.evolution.group_seeds import GroupSeeds
from gpuga.evolution.heurgene_individual import HeurGeneIndividual, dissimilarity
from gpuga.evolution.heurgene_loops import (
    LONGEST,
    TOO_LONG,
    CellLevels,
    LoopScratch,
    attempt_crossover,
    circuit_lists,
    drop_one_redundant,
    drop_redundant,
    level_supports,
    new_scratch,
)
from gpuga.evolution.heurgene_seeds import UnlikeSeeds
from gpuga.evolution.kernels import kernels_of
from gpuga.evolution.patterns import costs_in_one_call, given_patterns, run_to_pattern
from gpuga.evolution.threads import on_threads
from gpuga.heuristics.hypercube import levels_by_cell
from gpuga.heuristics.repeated_rectangles import rectangles_until_safe
from gpuga.kernels import Stream, get_backend
from gpuga.parameters import HeurGeneParameters
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Found
from gpuga.table.table import Ints, Mask, Table

ATTEMPTS = 100
NEW_PARENTS = 25
"""Pairs that are tried for one mating before the generation goes on without it."""
PUBLISHED_PARENTS = 100
HOUR = 3600.0
"""Experiments that took longer were ended in the paper."""


MATINGS_DRAWN = 64


def heurgene(table: Table, context: Context, parameters: HeurGeneParameters = HeurGeneParameters()) -> Found:
    """The best pattern of HeurGene's population."""
    counted: list[HeurGene] = []
    if parameters.as_published and context.clock.seconds is None:
        context = replace(context, clock=Clock(HOUR))

    def prepare(
        problem: TwoWayProblem,
    ) -> tuple[list[HeurGeneIndividual], base.Toolbox, Callable[[Any, Any], bool]]:
        operators = HeurGene(problem, context, parameters)
        counted.append(operators)
        same = lambda one, other: dissimilarity(one, other) == 0  # noqa: E731
        return operators.first(), heurgene_toolbox(operators), same

    found = run_to_pattern(table, context, parameters, prepare, lambda one, shape: one.grid(shape))
    details = {**found.details, **{name: figure for one in counted for name, figure in one.counts().items()}}
    return replace(found, details=details)


class HeurGene:
    """HeurGene's operators on one problem."""

    def __init__(self, problem: TwoWayProblem, context: Context, parameters: HeurGeneParameters) -> None:
        self.problem, self.context, self.parameters = problem, context, parameters
        self.stream = context.stream(4)
        self.weight: Ints = problem.weight.ravel()
        self.cells, of_level = np.unique(problem.levels.place, return_inverse=True)
        order = np.argsort(of_level, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(of_level))]).astype(np.int64)
        self.cell_levels = CellLevels(problem.levels, order.astype(np.int64), start)
        self._attempts: list[Ints] = []
        self._known: set[bytes] = set()
        self._free: SimpleQueue[LoopScratch] = SimpleQueue()
        for _ in range(get_num_threads()):
            self._free.put(new_scratch(problem.network()))
        self.kernels = kernels_of(problem, context, get_num_threads())
        self.offspring = self.refused = self.infeasible = 0

    def counts(self) -> dict[str, int]:
        """Offspring and pairs that had none; as published also offspring that were not safe, each checked by flows."""
        counted = {"offspring": self.offspring, "pairs_without_offspring": self.refused}
        return counted | ({"infeasible_offspring": self.infeasible} if self.parameters.as_published else {})

    def _unsafe(self, children: Sequence[HeurGeneIndividual]) -> int:
        """How many children leave a cell without its protection, by the kernels in one call: the paper's question."""
        if not children:
            return 0
        rows = np.stack([child.grid(self.problem.shape).ravel() for child in children])
        return int((~self.kernels.safe(self.kernels.pack(rows))).sum())

    def first(self) -> list[HeurGeneIndividual]:
        """Hypercube in random orders of the sensitive cells, redundant cells removed.

        The paper wants every individual to be unique. Where many levels are met by sensitive cells alone,
        other orders give the same rectangles: an individual that is much like another one is made again
        at blurred weights.
        """
        problem, count = self.problem, self.parameters.population
        found = [self.individual(pattern) for pattern in given_patterns(problem, problem.costs(), self.context)]
        if not self.parameters.as_published:
            UnlikeSeeds(GroupSeeds(problem, self.kernels), self.stream, self.individual).grow(found, count)
            return found
        while len(found) < count and not (found and self.context.clock.expired()):
            order = levels_by_cell(problem, self.stream.permutation(len(self.cells)))
            try:
                found.append(self.individual(rectangles_until_safe(problem, order).secondary))
            except OutOfTime:
                if not found:
                    raise
        return found

    def individual(self, secondary: Mask) -> HeurGeneIndividual:
        """A safe pattern with its circuits: the places that one flow per level uses."""
        problem = self.problem
        lists = np.full((len(self.cells), LONGEST), -1, np.int32)
        network = problem.network(secondary)
        circuit_lists(network, self.cell_levels, lists)
        long = np.flatnonzero(lists[:, 0] == TOO_LONG)
        if not len(long):
            return HeurGeneIndividual(lists, np.zeros(0, np.int64))
        lists[long] = -1
        start, place = level_supports(network, problem.levels)
        levels = [q for s in long for q in self._levels(s)]
        return HeurGeneIndividual(lists, np.unique(np.concatenate([place[start[q] : start[q + 1]] for q in levels])))

    def _levels(self, s: int | np.integer[Any]) -> Ints:
        """The levels of sensitive cell number s."""
        return self.cell_levels.of[self.cell_levels.start[s] : self.cell_levels.start[s + 1]]

    def mate(
        self, one: HeurGeneIndividual, two: HeurGeneIndividual
    ) -> tuple[HeurGeneIndividual, HeurGeneIndividual] | None:
        """Two offspring, or None after 100 attempts without a cheaper one."""
        first, second = HeurGeneIndividual(one.lists, one.rest), HeurGeneIndividual(two.lists, two.rest)
        published = self.parameters.as_published
        drawn = self.stream.permutation(len(self.cells))[:ATTEMPTS] if published else self._drawn()
        with self._scratch() as scratch:
            swapped = attempt_crossover(first.circuits, second.circuits, self.weight, drawn, scratch)
        if swapped < 0 or (not published and self._seen(first, second)):
            self.refused += 1
            return None
        self.offspring += 2
        for child in (first, second):
            child.mutates_at = self._any_cell() if published else swapped
        return first, second

    def _any_cell(self) -> int:
        return self.stream.integer(0, len(self.cells))

    def _seen(self, *offspring: HeurGeneIndividual) -> bool:
        """Whether both offspring have been there before: as patterns converge, most have."""
        names = [blake2b(child.lists.tobytes(), digest_size=16).digest() for child in offspring]
        known = all(name in self._known for name in names)
        self._known.update(names)
        return known

    def _drawn(self) -> Ints:
        """The sensitive cells of one mating's attempts; drawn for many matings at once."""
        if not self._attempts:
            many = self.stream.integers(0, len(self.cells), MATINGS_DRAWN * ATTEMPTS)
            self._attempts = list(many.reshape(MATINGS_DRAWN, ATTEMPTS))
        return self._attempts.pop()

    def mutate(self, offspring: Sequence[HeurGeneIndividual]) -> list[HeurGeneIndividual]:
        """Drop the redundant cells that the crossover made, and merge the circuits that they were part of; in place.

        A random circuit is looked at where no crossover came before, and as published always; then one redundant
        cell of that circuit goes. Whole generations mutate on all threads.
        """
        for child in offspring:
            if child.mutates_at < 0:
                child.mutates_at = self._any_cell()
        return on_threads(self._mutated, offspring)

    def _mutated(self, child: HeurGeneIndividual) -> HeurGeneIndividual:
        with self._scratch() as scratch:
            if self.parameters.as_published:
                drop_one_redundant(self.cell_levels, child.circuits, child.mutates_at, scratch)
            else:
                drop_redundant(self.cell_levels, child.circuits, child.mutates_at, self.weight, scratch)
        return child

    @contextmanager
    def _scratch(self) -> Iterator[LoopScratch]:
        """Scratch that nobody else uses meanwhile."""
        scratch = self._free.get()
        try:
            yield scratch
        finally:
            self._free.put(scratch)

    def vary(self, population: Sequence[HeurGeneIndividual], toolbox: base.Toolbox) -> list[HeurGeneIndividual]:
        """A generation: half as many matings as individuals, each with two offspring; all of them mutate at once."""
        offspring: list[HeurGeneIndividual] = []
        matings = len(population) // 2
        pairs = PUBLISHED_PARENTS if self.parameters.as_published else NEW_PARENTS
        parents = iter(toolbox.select(population, 2 * matings * pairs))
        for _ in range(matings):
            for _ in range(pairs):
                one, two = next(parents), next(parents)
                children = None if one is two else toolbox.mate(one, two)
                if children is not None:
                    offspring += children
                    break
        if self.parameters.as_published:
            self.infeasible += self._unsafe(offspring)
        return list(toolbox.mutate(offspring))

    def evaluate(self, backend: Any, group: Sequence[HeurGeneIndividual]) -> list[tuple[int]]:
        """The costs of a whole group: the lists become circuits, and the kernels unite them in one call."""
        lists = np.concatenate([one.lists for one in group])
        sizes = [*(lists >= 0).sum(1).tolist(), *(len(one.rest) for one in group)]
        cells = np.concatenate([lists[lists >= 0], *(one.rest for one in group)]).astype(np.int32)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        own = np.arange(len(lists), dtype=np.int32).reshape(len(group), -1)
        rest = len(lists) + np.arange(len(group), dtype=np.int32)[:, None]
        return costs_in_one_call(backend, self.weight, start, cells, np.concatenate([own, rest], axis=1))


class Portfolio:
    """The probabilistic portfolio: each generation draws a selection and the replacement that goes with it.

    Roulette 45 %, tournament 45 %, elite with elite 10 %; kill tournament and similar evenly.
    """

    def __init__(self, stream: Stream, selecting: str | None, replacing: str | None) -> None:
        self.stream, self.selecting, self.replacing = stream, selecting, replacing
        for name in filter(None, (selecting,)):
            selection.find_selection(name)
        for name in filter(None, (replacing,)):
            replacement.find_replacement(name, stream, dissimilarity)
        self.draw()

    def draw(self) -> None:
        """Draw the pair for the next generation; what the user named is kept."""
        first, second = self.stream.uniform(2)
        chosen = "roulette" if first < 0.45 else "tournament" if first < 0.9 else "elite"
        answer = "elite" if chosen == "elite" else "kill" if second < 0.5 else "similar"
        self.selection, self.replacement = self.selecting or chosen, self.replacing or answer

    def select(self, population: Sequence[Any], k: int) -> list[Any]:
        """Parents by the selection drawn."""
        return selection.find_selection(self.selection)(population, k, self.stream)

    def replace(self, population: Sequence[Any], offspring: Sequence[Any]) -> list[Any]:
        """Survivors by the replacement drawn; then the next pair is drawn."""
        chosen = replacement.find_replacement(self.replacement, self.stream, dissimilarity)
        survivors = chosen(population, offspring)
        self.draw()
        return survivors


def heurgene_toolbox(operators: HeurGene) -> base.Toolbox:
    """HeurGene as a toolbox: `select(population, k)`, `mate(a, b)`, `mutate(offspring)`, `vary`, `replace`."""
    toolbox = new_toolbox()
    wanted = operators.parameters
    portfolio = Portfolio(operators.stream, wanted.selection, wanted.replacement)
    toolbox.register("evaluate", partial(operators.evaluate, get_backend(operators.context.backend)))
    toolbox.register("select", portfolio.select)
    toolbox.register("mate", operators.mate)
    toolbox.register("mutate", operators.mutate)
    toolbox.register("vary", operators.vary, toolbox=toolbox)
    toolbox.register("replace", portfolio.replace)
    return toolbox
