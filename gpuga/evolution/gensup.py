"""GenSup (Almeida, Schütz, Carvalho 2008): a genetic algorithm on sets of cells with shortest-path repair.

Population 20, 20 iterations or 10 without improvement. First population: shortest paths, shortest paths on the
linear bound's solution (its positive cells cost nothing), parallel bound and path. Each of the best 25 % mates
with a random one of the others: two children by 1-point crossover, one with the shared cells, one with the
shared cells and the parents' own with probabilities 0.75 and 0.25. Repair by shortest paths with inherited cells
at cost 0, of all children of a generation at once. No two individuals of one cost. As published, mutation and
parallel bound and path do not clean up, and the linear bound is solved to its end; Herrington (2015) ran it from
hypercube's patterns (`--seeds hypercube`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from deap import base

from gpuga.bounds.search import master_of
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.evolution.engine import new_toolbox
from gpuga.evolution.group_repair import GroupRepair
from gpuga.evolution.patterns import (
    PatternIndividual,
    evaluate_patterns,
    given_patterns,
    run_to_pattern,
    same_places,
)
from gpuga.evolution.selection import costs_of as fitness_of
from gpuga.heuristics.hypercube import levels_by_cell
from gpuga.heuristics.pbp import pbp_patterns
from gpuga.heuristics.repeated_rectangles import rectangles_until_safe
from gpuga.kernels import get_backend
from gpuga.parameters import GenSupParameters
from gpuga.problem.path_costs import PathCosts, costs_of
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Found
from gpuga.table.table import Ints, Mask, Table

BEST, OTHER = 0.75, 0.25
CHILDREN = 4
BOUND_ROUNDS, ALL_ROUNDS = 10, 10_000


def gensup(table: Table, context: Context, parameters: GenSupParameters = GenSupParameters()) -> Found:
    """The best pattern of GenSup's population."""

    def prepare(problem: TwoWayProblem) -> tuple[list[PatternIndividual], base.Toolbox, Callable[[Any, Any], bool]]:
        operators = GenSup(problem, context, parameters)
        return operators.first(), gensup_toolbox(operators), same_places

    return run_to_pattern(table, context, parameters, prepare, lambda one, shape: one.grid(shape))


class GenSup:
    """GenSup's operators on one problem."""

    def __init__(self, problem: TwoWayProblem, context: Context, parameters: GenSupParameters) -> None:
        self.problem, self.context, self.parameters = problem, context, parameters
        self.stream = context.stream(2)
        self.costs: PathCosts = problem.costs()
        self.paths = GroupRepair(problem, context, self.stream)
        self.iteration = 0

    def first(self) -> list[PatternIndividual]:
        """The patterns given, and the seeds asked for; one per cost."""
        patterns = given_patterns(self.problem, self.costs, self.context)
        seeds = self._by_hypercube if self.parameters.seeds == "hypercube" else self._by_paths_and_bounds
        for pattern in seeds(self.parameters.population - len(patterns)):
            patterns.append(pattern)
        return self._of_different_costs([PatternIndividual.of(pattern) for pattern in patterns])

    def _by_paths_and_bounds(self, count: int) -> Iterator[Mask]:
        """Shortest paths, shortest paths on the bound's solution, and parallel bound and path for the rest."""
        problem, clock, published = self.problem, self.context.clock, self.parameters.as_published
        first = by_paths(problem, self.costs, plain())
        yield first
        try:
            if not clock.expired():
                master = master_of(problem, first)
                master.tighten(clock.part(0.3), ALL_ROUNDS if published else BOUND_ROUNDS)
                free = np.where(master.point().reshape(problem.shape) > 1e-6, 0, problem.weight)
                yield by_paths(problem, costs_of(free.astype(np.float64), problem.candidate), plain())
            yield from pbp_patterns(problem, max(0, count - 2), self.context, clean=not published)
        except OutOfTime:
            return  # there are patterns

    def _by_hypercube(self, count: int) -> Iterator[Mask]:
        """Rectangles in random orders of the sensitive cells."""
        sensitive = len(np.unique(self.problem.levels.place))
        for number in range(max(1, count)):
            if number and self.context.clock.expired():
                return
            try:
                order = levels_by_cell(self.problem, self.stream.permutation(sensitive))
                yield rectangles_until_safe(self.problem, order).secondary
            except OutOfTime:
                if number == 0:
                    raise
                return

    def _of_different_costs(self, individuals: Sequence[PatternIndividual]) -> list[PatternIndividual]:
        """One individual per cost, the one with the fewest cells."""
        kept: dict[int, PatternIndividual] = {}
        for one in individuals:
            cost = int(self.problem.weight.ravel()[one.places].sum())
            if cost not in kept or len(one.places) < len(kept[cost].places):
                kept[cost] = one
        return list(kept.values())

    def select(self, population: Sequence[PatternIndividual], k: int | None = None) -> list[PatternIndividual]:
        """Pairs: each of the best quarter with a random one of the others."""
        order = np.argsort(fitness_of(population), kind="stable")
        quarter = max(1, len(order) // 4)
        rest = order[quarter:] if len(order) > quarter else order
        mates = rest[self.stream.integers(0, len(rest), quarter)]
        pairs = zip(order[:quarter].tolist(), mates.tolist(), strict=True)
        return [population[z] for pair in pairs for z in pair]

    def mate(self, better: PatternIndividual, other: PatternIndividual) -> list[Ints]:
        """What the four children of a pair inherit, to be repaired."""
        one, two = better.places, other.places
        cut = int(self.stream.integer(0, max(1, min(len(one), len(two)))))
        shared = np.intersect1d(one, two)
        return [
            np.concatenate([one[:cut], two[cut:]]),
            np.concatenate([two[:cut], one[cut:]]),
            shared,
            np.concatenate([shared, self._some(one, shared, BEST), self._some(two, shared, OTHER)]),
        ]

    def _some(self, places: Ints, shared: Ints, probability: float) -> Ints:
        own = np.setdiff1d(places, shared)
        return own[self.stream.uniform(len(own)) < probability]

    def repair(self, inherited: Sequence[Ints]) -> list[PatternIndividual]:
        """Safe patterns by shortest paths, with what they inherit at cost 0; fewer where the time ends."""
        starts = [self._flat(places) for places in inherited]
        return [PatternIndividual.of(made) for made in self.paths.repaired(starts, clean=False)]

    def _flat(self, places: Ints) -> Mask:
        out = np.zeros(self.problem.weight.size, bool)
        out[places] = True
        return out

    def mutate(self, individuals: Sequence[PatternIndividual]) -> list[PatternIndividual]:
        """For each cell in turn: all others cost nothing, shortest paths; what is not used goes (as published: stays).

        All individuals take their steps side by side.
        """
        weight, best = self.problem.weight.ravel(), [self._flat(one.places) for one in individuals]
        tried = [one.places[np.argsort(-weight[one.places], kind="stable")] for one in individuals]
        for step in range(max(map(len, tried), default=0)):
            moving = [at for at, places in enumerate(tried) if step < len(places)]
            starts = [best[at].copy() for at in moving]
            for start, at in zip(starts, moving, strict=True):
                start[tried[at][step]] = False
            made = self.paths.repaired(starts, clean=not self.parameters.as_published)
            for at, found in zip(moving, made, strict=False):
                if weight[found].sum() < weight[best[at]].sum():
                    best[at] = found
            if len(made) < len(moving):
                break
        return [PatternIndividual.of(pattern) for pattern in best]

    def vary(self, population: Sequence[PatternIndividual], toolbox: base.Toolbox) -> list[PatternIndividual]:
        """A generation: four children per pair; new bests, and at half time the best child of each pair, mutate."""
        self.iteration += 1
        weight = self.problem.weight.ravel()
        least = int(fitness_of(population).min())
        parents = toolbox.select(population)
        mated = [toolbox.mate(better, other) for better, other in zip(parents[0::2], parents[1::2], strict=True)]
        offspring: list[PatternIndividual] = toolbox.repair([places for four in mated for places in four])
        promising = []
        for begin in range(0, len(offspring), CHILDREN):
            best = min(offspring[begin : begin + CHILDREN], key=lambda child: int(weight[child.places].sum()))
            cost = int(weight[best.places].sum())
            if cost < least or self.iteration == self.parameters.generations // 2:
                promising.append(best)
                least = min(least, cost)
        if self.iteration == 1:
            promising.append(min(population, key=lambda one: int(one.fitness.values[0])))
        return [*offspring, *toolbox.mutate(promising)]

    def replace(
        self, population: Sequence[PatternIndividual], offspring: Sequence[PatternIndividual]
    ) -> list[PatternIndividual]:
        """The best of both, no two of one cost."""
        both = self._of_different_costs([*population, *offspring])
        order = np.argsort(fitness_of(both), kind="stable")[: self.parameters.population]
        return [both[z] for z in order]


def gensup_toolbox(operators: GenSup) -> base.Toolbox:
    """As a toolbox: `select(population)`, `mate(a, b)`, `repair(inherited)`, `mutate(group)`, `replace`, `vary`."""
    toolbox = new_toolbox()
    backend = get_backend(operators.context.backend)
    toolbox.register("evaluate", partial(evaluate_patterns, backend, operators.problem.weight.ravel()))
    toolbox.register("select", operators.select)
    toolbox.register("mate", operators.mate)
    toolbox.register("repair", operators.repair)
    toolbox.register("mutate", operators.mutate)
    toolbox.register("vary", operators.vary, toolbox=toolbox)
    toolbox.register("replace", operators.replace)
    return toolbox
