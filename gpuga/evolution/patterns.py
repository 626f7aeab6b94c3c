"""What the papers' genetic algorithms share on two-dimensional tables: pattern individuals and their evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from deap import base
from numpy.typing import NDArray

from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.evolution.engine import Evolution, begin, evolve, with_operators
from gpuga.evolution.individual import Cost
from gpuga.evolution.progress import Reporter
from gpuga.evolution.stopping import Stop
from gpuga.kernels import Backend
from gpuga.kernels.layout import Pool
from gpuga.parameters import EvolutionParameters
from gpuga.problem.path_costs import PathCosts
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from gpuga.protection import Bound, Found
from gpuga.table.table import Ints, Mask, Table


class PatternIndividual:
    """A safe pattern as a sorted vector of suppressed places (GenSup's encoding) and its cost."""

    __slots__ = ("fitness", "places")

    def __init__(self, places: Ints) -> None:
        self.places: Ints = np.array(places, np.int64)
        self.fitness = Cost()

    @classmethod
    def of(cls, secondary: Mask) -> PatternIndividual:
        """From a grid of secondary suppressions."""
        return cls(np.flatnonzero(secondary))

    def grid(self, shape: tuple[int, int]) -> Mask:
        """As a grid of secondary suppressions."""
        out = np.zeros(shape, bool)
        out.reshape(-1)[self.places] = True
        return out

    def __deepcopy__(self, memo: dict[int, Any]) -> PatternIndividual:
        twin = PatternIndividual(self.places)
        if self.fitness.valid:
            twin.fitness.values = self.fitness.values
        return twin


def same_places(one: PatternIndividual, other: PatternIndividual) -> bool:
    """Whether two individuals are one pattern."""
    return bool(np.array_equal(one.places, other.places))


def given_patterns(problem: TwoWayProblem, costs: PathCosts, context: Context) -> list[Mask]:
    """The patterns that the user gave, completed where they are not safe; they count even when the time is up."""
    clock = context.clock.finishing()
    return [by_paths(problem, costs, plain(), start=problem.secondary(given), clock=clock) for given in context.start]


def costs_in_one_call(
    backend: Backend, weight: Ints, start: Ints, cell: NDArray[np.int32], chromosomes: NDArray[np.int32]
) -> list[tuple[int]]:
    """Costs of unions of cell lists, by the kernels: individual p consists of the lists `chromosomes[p]`."""
    pool = Pool.of(start, cell, np.zeros(len(cell), np.int64))
    union = backend.union(pool, chromosomes, weight, np.zeros(len(weight), bool))
    return [(cost,) for cost in union.costs.tolist()]


def evaluate_patterns(backend: Backend, weight: Ints, group: Sequence[PatternIndividual]) -> list[tuple[int]]:
    """The costs of a whole group of patterns."""
    start = np.concatenate([[0], np.cumsum([len(one.places) for one in group])]).astype(np.int64)
    cell = np.concatenate([*(one.places for one in group), np.zeros(0, np.int64)]).astype(np.int32)
    chromosomes = np.arange(len(group), dtype=np.int32)[:, None]
    return costs_in_one_call(backend, weight, start, cell, chromosomes)


def run_to_pattern(
    table: Table,
    context: Context,
    parameters: EvolutionParameters,
    prepare: Callable[[TwoWayProblem], tuple[list[Any], base.Toolbox, Callable[[Any, Any], bool]]],
    grid: Callable[[Any, tuple[int, int]], Mask],
) -> Found:
    """The walk that the papers' algorithms share: problem, first population, generations, best pattern."""
    problem = two_way_problem(table, context)
    if not len(problem.levels.place):
        nothing = np.zeros(problem.shape, bool)
        return Found(problem.pattern(nothing), Bound(problem.base_cost, "nothing to protect"))
    context.progress.stage("seeds")
    population, toolbox, similar = prepare(problem)
    with_operators(toolbox, context.operators)
    stop = Stop.of(context, parameters)
    reporter = Reporter(table, context, problem.base_cost, parameters.log)
    evolution = begin(population, toolbox, similar)
    context.progress.stage("evolution", stop.generations)
    evolve(evolution, toolbox, stop, partial(_tell, reporter), lambda: None)
    secondary = grid(evolution.best, problem.shape)
    details = {"stopped": stop.why}
    return Found(problem.pattern(secondary), None, evolution.generation, evolution.evaluations, details)


def _tell(reporter: Reporter, evolution: Evolution) -> None:
    if reporter.context.on_generation is not None:
        reporter.context.on_generation(evolution)
    costs = {individual.fitness.values[0] for individual in evolution.population}
    reporter.tell(evolution, 0, len(costs) / len(evolution.population))
