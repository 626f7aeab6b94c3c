"""GAPN, genetic algorithm on protection networks (Ditrich 2010, as Herrington 2015 describes it).

Cells are kept in sets by the primary that they protect, as far as a simple rectangle of suppressed cells shows it.
One-point crossover exchanges the sets behind a point; infeasible children are rejected; mutation removes
over-suppressions from the best child; parents and children compete for a constant population. All children of a
generation are judged in one call of the back end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from deap import base
from numba import get_num_threads

from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.evolution import replacement, selection
from gpuga.evolution.engine import new_toolbox
from gpuga.evolution.group_seeds import GroupSeeds
from gpuga.evolution.kernels import kernels_of
from gpuga.evolution.patterns import (
    PatternIndividual,
    evaluate_patterns,
    given_patterns,
    run_to_pattern,
    same_places,
)
from gpuga.evolution.threads import on_threads
from gpuga.kernels import get_backend
from gpuga.parameters import GapnParameters
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Found
from gpuga.table.table import Ints, Mask, Table


class Networks(NamedTuple):
    """The sets of an individual: place `place[e]` protects primary number `primary[e]`; `shown` bool[S] have a set."""

    primary: Ints
    place: Ints
    shown: Mask


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
        self.primary, self.of_level = np.unique(problem.levels.place, return_inverse=True)
        self.kernels = kernels_of(problem, context, get_num_threads())
        self.seeds = GroupSeeds(problem, self.kernels)
        self._known: dict[bytes, Networks] = {}

    def first(self) -> list[PatternIndividual]:
        """Hypercube patterns in random orders of the levels, made in groups."""
        problem, count, size = self.problem, self.parameters.population, 1
        found = given_patterns(problem, problem.costs(), self.context)
        while len(found) < count and not (found and self.context.clock.expired()):
            size = min(size, self.seeds.at_once, count - len(found))
            orders = self.stream.permutations(size, len(problem.levels.place))
            try:
                found += self.seeds.made(list(orders), [None] * size)
            except OutOfTime:
                if not found:
                    raise
            size *= 2
        return [PatternIndividual.of(pattern) for pattern in found]

    def networks(self, individual: PatternIndividual) -> Networks:
        """Per primary the secondary places of the rectangles that show its levels; none where one is not shown."""
        secondary = individual.grid(self.problem.shape)
        level, place = self.seeds.rectangles.inside(self.problem.pattern(secondary))
        open_levels = np.ones(len(self.of_level), bool)
        open_levels[level] = False
        whole = np.bincount(self.of_level[open_levels], minlength=len(self.primary)) == 0
        primary = self.of_level[level]
        kept = whole[primary] & secondary.ravel()[place]
        shown = np.bincount(primary[kept], minlength=len(self.primary)) > 0
        return Networks(primary[kept], place[kept], shown)

    def mate(self, parents: Sequence[PatternIndividual]) -> list[PatternIndividual]:
        """Two children of each pair in a row: the sets behind a random point change sides; cells in no set stay.

        A pair that has no sets to exchange has no children.
        """
        networks = self._networks_of(parents)
        points = self.stream.integers(0, len(self.primary), len(parents) // 2)
        children = []
        for pair, point in enumerate(points.tolist()):
            one, two = 2 * pair, 2 * pair + 1
            swapped = networks[one].shown & networks[two].shown
            swapped[:point] = False
            if swapped.any():
                children.append(self._child(parents[one], networks[one], networks[two], swapped))
                children.append(self._child(parents[two], networks[two], networks[one], swapped))
        return children

    def _networks_of(self, parents: Sequence[PatternIndividual]) -> list[Networks]:
        """The sets of all parents; those of the generation before are still known."""
        names = [one.places.tobytes() for one in parents]
        new = {name: one for name, one in zip(names, parents, strict=True) if name not in self._known}
        made = dict(zip(new, on_threads(self.networks, list(new.values())), strict=True))
        self._known = {name: made[name] if name in made else self._known[name] for name in names}
        return [self._known[name] for name in names]

    def _child(self, parent: PatternIndividual, own: Networks, other: Networks, swapped: Mask) -> PatternIndividual:
        """The parent with another's sets of some primaries instead of its own; what its other sets share stays."""
        child = parent.grid(self.problem.shape).ravel()
        leaving = swapped[own.primary]
        child[own.place[leaving]] = False
        child[own.place[~leaving]] = True
        child[other.place[swapped[other.primary]]] = True
        return PatternIndividual.of(child)

    def feasible(self, children: Sequence[PatternIndividual]) -> list[PatternIndividual]:
        """The children that protect everything, decided by the kernels in one call."""
        if not children:
            return []
        safe = self.kernels.safe(self.kernels.pack(self._rows(children)))
        return [children[z] for z in np.flatnonzero(safe).tolist()]

    def _rows(self, individuals: Sequence[PatternIndividual]) -> Mask:
        return np.stack([one.grid(self.problem.shape).ravel() for one in individuals])

    def mutate(self, individual: PatternIndividual) -> PatternIndividual:
        """The individual without over-suppressions, the heaviest first."""
        cleaned = self.kernels.clean(self.kernels.pack(self._rows([individual])), np.zeros(1, np.uint64))
        return PatternIndividual.of(cleaned.unpacked()[0] & ~self.problem.forced.ravel())

    def vary(self, population: Sequence[PatternIndividual], toolbox: base.Toolbox) -> list[PatternIndividual]:
        """A generation's feasible children, the best of them mutated."""
        children = self.feasible(toolbox.mate(toolbox.select(population, 2 * (len(population) // 2))))
        if children:
            weight = self.problem.weight.ravel()
            best = min(range(len(children)), key=lambda z: int(weight[children[z].places].sum()))
            children[best] = toolbox.mutate(children[best])
        return children


def gapn_toolbox(operators: Gapn) -> base.Toolbox:
    """GAPN as a toolbox: `select(population, k)`, `mate(parents)`, `mutate(individual)`, `vary`, `replace`."""
    toolbox = new_toolbox()
    toolbox.register("evaluate", partial(evaluate_patterns, operators.backend, operators.problem.weight.ravel()))
    chosen = selection.find_selection(operators.parameters.selection)
    toolbox.register("select", chosen, stream=operators.stream)
    toolbox.register("mate", operators.mate)
    toolbox.register("mutate", operators.mutate)
    toolbox.register("vary", operators.vary, toolbox=toolbox)
    toolbox.register("replace", replacement.elite)
    return toolbox
