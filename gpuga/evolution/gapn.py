"""GAPN, genetic algorithm on protection networks (Ditrich 2010, as Herrington 2015 describes it).

Cells are kept in sets by the primary that they protect, as far as a simple rectangle of suppressed cells shows it.
One-point crossover exchanges the sets behind a point; infeasible children are rejected; mutation removes
over-suppressions from the best child; parents and children compete for a constant population.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from deap import base
from numba import get_num_threads

from gpuga.circuits.path_cover import by_paths, clean_up
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.evolution import replacement, selection
from gpuga.evolution.engine import new_toolbox
from gpuga.evolution.kernels import kernels_of
from gpuga.evolution.patterns import (
    PatternIndividual,
    evaluate_patterns,
    given_patterns,
    run_to_pattern,
    same_places,
)
from gpuga.heuristics.hypercube import rectangles
from gpuga.kernels import get_backend
from gpuga.kernels.layout import Requirements
from gpuga.parameters import GapnParameters
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Found
from gpuga.safety.boxes import BoxSearch, box_grid
from gpuga.table.table import Ints, Table


def gapn(table: Table, context: Context, parameters: GapnParameters = GapnParameters()) -> Found:
    """The best pattern of GAPN's population."""

    def prepare(problem: TwoWayProblem) -> tuple[list[PatternIndividual], base.Toolbox, Callable[[Any, Any], bool]]:
        operators = Gapn(problem, context, parameters)
        return operators.first(), gapn_toolbox(operators), same_places

    return run_to_pattern(table, context, parameters, prepare, lambda one, shape: one.grid(shape))


class Gapn:
    """GAPN's operators on one problem."""

    def __init__(self, problem: TwoWayProblem, context: Context, parameters: GapnParameters) -> None:
        self.problem, self.context, self.parameters = problem, context, parameters
        self.stream = context.stream(3)
        self.backend = get_backend(context.backend)
        levels, plane = problem.levels, problem.plane
        sign = plane.sign.ravel()[levels.place].astype(np.int64)
        direction = np.where(levels.forward, 1, -1) * sign
        cells = plane.cell.ravel()[levels.place].astype(np.int32)
        self.requirements = Requirements(cells, direction.astype(np.int8), levels.need)
        self.primary, self.of_level = np.unique(levels.place, return_inverse=True)
        self.kernels = kernels_of(problem, context, get_num_threads())

    def first(self) -> list[PatternIndividual]:
        """Hypercube patterns in random orders of the levels."""
        problem, costs = self.problem, self.problem.costs()
        found = given_patterns(problem, costs, self.context)
        while len(found) < self.parameters.population and not (found and self.context.clock.expired()):
            boxed = rectangles(problem, self.stream.permutation(len(problem.levels.place)))
            try:
                found.append(by_paths(problem, costs, plain(), start=boxed))
            except OutOfTime:
                if not found:
                    raise
        return [PatternIndividual.of(pattern) for pattern in found]

    def networks(self, individual: PatternIndividual) -> list[Ints]:
        """Per primary the secondary places of the rectangles that show its levels; empty where none does."""
        boxes = box_grid(self.problem.plane.table)
        assert boxes is not None, "a plane always has a box grid"
        secondary = individual.grid(self.problem.shape)
        covered, witnesses = BoxSearch(boxes, self.problem.pattern(secondary)).certify(self.requirements)
        sets: list[list[Ints]] = [[] for _ in self.primary]
        short = set(self.of_level[~covered].tolist())
        for w, level in enumerate(np.flatnonzero(covered)):
            places = self.problem.plane.place[witnesses.one(w)[0]]
            sets[self.of_level[level]].append(places[secondary.ravel()[places]])
        none = np.zeros(0, np.int64)
        return [none if p in short else np.unique(np.concatenate([none, *one])) for p, one in enumerate(sets)]

    def mate(self, one: PatternIndividual, two: PatternIndividual) -> list[PatternIndividual]:
        """Two children: the sets behind a random point change sides; cells in no set stay."""
        mine, theirs = self.networks(one), self.networks(two)
        point = self.stream.integer(0, len(mine))
        available = [p for p in range(point, len(mine)) if len(mine[p]) and len(theirs[p])]
        if not available:
            return []
        children = []
        for own, other, individual in ((mine, theirs, one), (theirs, mine, two)):
            leaving = np.concatenate([own[p] for p in available])
            others = [own[p] for p in range(len(own)) if p not in set(available)]
            staying = np.concatenate([np.zeros(0, np.int64), *others])
            kept = individual.places[~np.isin(individual.places, np.setdiff1d(leaving, staying))]
            children.append(PatternIndividual(np.unique(np.concatenate([kept, *(other[p] for p in available)]))))
        return children

    def feasible(self, children: Sequence[PatternIndividual]) -> list[PatternIndividual]:
        """The children that protect everything, decided by the kernels in one call."""
        if not children:
            return []
        grids = np.stack([child.grid(self.problem.shape).ravel() for child in children])
        safe = self.kernels.safe(self.kernels.pack(grids))
        return [children[z] for z in np.flatnonzero(safe).tolist()]

    def mutate(self, individual: PatternIndividual) -> PatternIndividual:
        """The individual without over-suppressions."""
        return PatternIndividual.of(clean_up(self.problem, individual.grid(self.problem.shape)))

    def vary(self, population: Sequence[PatternIndividual], toolbox: base.Toolbox) -> list[PatternIndividual]:
        """A generation's feasible children, the best of them mutated."""
        parents = toolbox.select(population, 2 * (len(population) // 2))
        pairs = zip(parents[0::2], parents[1::2], strict=True)
        children = self.feasible([child for a, b in pairs for child in toolbox.mate(a, b)])
        if children:
            weight = self.problem.weight.ravel()
            best = min(range(len(children)), key=lambda z: int(weight[children[z].places].sum()))
            children[best] = toolbox.mutate(children[best])
        return children


def gapn_toolbox(operators: Gapn) -> base.Toolbox:
    """GAPN as a toolbox: `select(population, k)`, `mate(a, b)`, `mutate(individual)`, `vary`, `replace`."""
    toolbox = new_toolbox()
    toolbox.register("evaluate", partial(evaluate_patterns, operators.backend, operators.problem.weight.ravel()))
    chosen = selection.find_selection(operators.parameters.selection)
    toolbox.register("select", chosen, stream=operators.stream)
    toolbox.register("mate", operators.mate)
    toolbox.register("mutate", operators.mutate)
    toolbox.register("vary", operators.vary, toolbox=toolbox)
    toolbox.register("replace", replacement.elite)
    return toolbox
