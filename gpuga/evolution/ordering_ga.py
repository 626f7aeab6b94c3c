"""Genetic algorithm and local search over orderings of sensitive cells (Smith et al. 2012).

Population 10, inoculated with the orders of falling and rising weight; binary tournaments; Davis order crossover
with probability 0.7; swap, insert or invert at rate 1/length, or self-adaptive (operator and rate are genes of
their own, each drawn anew with probability 0.1); a child replaces the worst if it is better. The local
search is the same with a population of one. Each step makes a few children, whose orderings are evaluated
side by side. `--variant` names the items, and after a colon the mutation: `ku`, `group-k:swap`. As published a step
makes one child, a child may stay as it was bred, and a population that has become one ends the run with fixed
mutations only, as in the paper's first experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from deap import base
from numpy.typing import NDArray

from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.evolution.engine import Evolution, begin, evolve, new_toolbox
from gpuga.evolution.individual import Cost, assign
from gpuga.evolution.orderings import Evaluator, OrderingVariant, evaluator_of
from gpuga.evolution.stopping import Stop
from gpuga.parameters import MUTATIONS, OrderingGaParameters, OrderingLsParameters, OrderingParameters
from gpuga.protection import Found
from gpuga.table.table import Table
from gpuga.table.two_way import two_way_table

CHILDREN = 4
CROSSOVER = 0.7
REDRAWN = 0.1
ALIKE, ALIKE_STEPS = 0.01, 100
"""The population's mean within this share of the best, for so many evaluations: the end."""

*OPERATORS, SELF_ADAPTIVE = MUTATIONS

Order = NDArray[np.int32]


class Ordering:
    """A permutation of items with its fitness; `operator` and `rate` are the self-adaptive genes."""

    __slots__ = ("fitness", "genes", "operator", "rate")

    def __init__(self, genes: Order, operator: int = 0, rate: float = 0.0) -> None:
        self.genes = np.array(genes, np.int32)
        self.operator, self.rate = operator, rate
        self.fitness = Cost()

    def __len__(self) -> int:
        return len(self.genes)

    def __deepcopy__(self, memo: dict[int, Any]) -> Ordering:
        twin = Ordering(self.genes, self.operator, self.rate)
        if self.fitness.valid:
            twin.fitness.values = self.fitness.values
        return twin


SEARCH, SEARCH_OF_PATHS = 0.7, 0.95
"""The shares of a limited time for the search, in general tables and in two-way ones; the rest completes the best."""


def ordering_ga(table: Table, context: Context, parameters: OrderingGaParameters = OrderingGaParameters()) -> Found:
    """A safe pattern by a genetic algorithm over orderings."""
    return _search(table, context, parameters, parameters.population)


def ordering_ls(table: Table, context: Context, parameters: OrderingLsParameters = OrderingLsParameters()) -> Found:
    """A safe pattern by local search over orderings."""
    return _search(table, context, parameters, 1)


def _search(table: Table, context: Context, parameters: OrderingParameters, size: int) -> Found:
    variant, _, mutation = parameters.variant.partition(":")
    mutation = mutation or SELF_ADAPTIVE
    published = parameters.as_published
    evaluator = evaluator_of(table, OrderingVariant(variant, parameters.groups, published), context)
    if not len(evaluator.items):
        return evaluator.finish(np.zeros(0, np.int32))
    random = np.random.Generator(np.random.PCG64(context.seed))
    breeding = Breeding(random, mutation, 1 if published else CHILDREN, least=0 if published else 1)
    # the best ordering has to be completed as well, which in general tables takes boxes, programs and a clean-up
    share = SEARCH_OF_PATHS if two_way_table(table) is not None else SEARCH
    searching = replace(context, clock=context.clock.part(share))
    toolbox = new_toolbox()
    toolbox.register("evaluate", _evaluated, evaluator, searching.clock)
    toolbox.register("vary", breeding.children)
    toolbox.register("replace", replaced)
    context.progress.stage("orderings")
    run = _begun(first_population(len(evaluator.items), size, random), toolbox, searching.clock)
    stop = Stop.of(searching, _by_evaluations(parameters) if published else parameters)
    watch = Alike(stop, context, breeding.count, watching=not published or mutation != SELF_ADAPTIVE)
    evolve(run, toolbox, stop, watch.note, lambda: None)
    found = evaluator.finish(run.best.genes)
    details = {"variant": variant, "mutation": mutation, "items": len(evaluator.items), "stopped": stop.why}
    return replace(found, generations=run.generation, evaluations=run.evaluations, details=details)


def _by_evaluations(parameters: OrderingParameters) -> OrderingParameters:
    """Limits that count steps of four children, as steps of one."""
    limits = {name: getattr(parameters, name) for name in ("generations", "patience")}
    return replace(parameters, **{name: CHILDREN * limit for name, limit in limits.items() if limit is not None})


def _evaluated(evaluator: Evaluator, clock: Clock, group: Sequence[Ordering]) -> list[tuple[int]]:
    return [(cost,) for cost in evaluator.costs([one.genes for one in group], clock)]


def _begun(orderings: Sequence[Ordering], toolbox: base.Toolbox, clock: Clock) -> Evolution:
    """The first population as far as the time goes: one ordering at least, then as many at once as there are children.

    Raises `OutOfTime` where there is no time for the first.
    """
    known = 0
    while known < len(orderings) and not (known and clock.expired()):
        try:
            known += assign(toolbox, orderings[known : known + (CHILDREN if known else 1)])
        except OutOfTime:
            if not known:
                raise
    run = begin(orderings[:known], toolbox)
    run.evaluations += known
    return run


def first_population(items: int, size: int, random: np.random.Generator) -> list[Ordering]:
    """Falling weight (the items' own order), rising weight, then random orders."""
    falling = np.arange(items, dtype=np.int32)
    orders = [falling, falling[::-1], *(random.permutation(falling) for _ in range(max(0, size - 2)))]
    return [Ordering(order, int(random.integers(3)), 1.0 / items) for order in orders[:size]]


class Breeding:
    """Children of a population, from one random stream; each changes at least `least` times."""

    def __init__(
        self, random: np.random.Generator, mutation: str, count: int = CHILDREN, least: int = 1
    ) -> None:  # fmt: skip
        self.random, self.mutation, self.count, self.least = random, mutation, count, least

    def children(self, population: Sequence[Ordering]) -> list[Ordering]:
        """As many children as are evaluated side by side."""
        return [self._child(population) for _ in range(self.count)]

    def _child(self, population: Sequence[Ordering]) -> Ordering:
        parent = self._selected(population)
        genes = parent.genes
        if len(population) > 1 and self.random.random() < CROSSOVER:
            genes = order_crossover(genes, self._selected(population).genes, self.random)
        child = Ordering(genes, parent.operator, parent.rate)
        operator = self._operator(child)
        changes = max(self.least, int(self.random.binomial(len(child), min(1.0, child.rate))))
        for _ in range(changes):
            mutate(child.genes, operator, self.random)
        return child

    def _selected(self, population: Sequence[Ordering]) -> Ordering:
        """The better of two drawn at random."""
        one, two = (population[int(i)] for i in self.random.integers(len(population), size=2))
        return one if one.fitness.values[0] <= two.fitness.values[0] else two

    def _operator(self, child: Ordering) -> str:
        """The fixed operator at rate 1/length, or the child's own, now and then drawn anew."""
        if self.mutation != SELF_ADAPTIVE:
            child.rate = 1.0 / len(child)
            return self.mutation
        if self.random.random() < REDRAWN:
            child.operator = int(self.random.integers(len(OPERATORS)))
        if self.random.random() < REDRAWN:
            child.rate = float(self.random.uniform(0.5, 5.0)) / len(child)
        return OPERATORS[child.operator]


def order_crossover(one: Order, two: Order, random: np.random.Generator) -> Order:
    """Davis: a section of the first parent stays in place, the rest follows in the order of the second."""
    begin_, end = sorted(random.integers(0, len(one) + 1, size=2).tolist())
    section = one[begin_:end]
    taken = np.zeros(len(one), bool)
    taken[section] = True
    rolled = np.roll(two, -end)
    others = rolled[~taken[rolled]]
    after = len(one) - end
    return np.concatenate([others[after:], section, others[:after]]).astype(np.int32)


def mutate(genes: Order, operator: str, random: np.random.Generator) -> None:
    """Swap two items, move one to just behind another, or turn a section round; in place."""
    a, b = sorted(random.integers(0, len(genes), size=2).tolist())
    if operator == "swap":
        genes[[a, b]] = genes[[b, a]]
    elif operator == "insert":
        genes[a + 1 : b + 1] = np.roll(genes[a + 1 : b + 1], 1)
    else:
        genes[a : b + 1] = genes[a : b + 1][::-1].copy()


def replaced(population: Sequence[Ordering], offspring: Sequence[Ordering]) -> list[Ordering]:
    """Each child takes the place of the worst if it is better."""
    kept = list(population)
    for child in offspring:
        worst = max(range(len(kept)), key=lambda z: kept[z].fitness.values[0])
        if child.fitness.values[0] < kept[worst].fitness.values[0]:
            kept[worst] = child
    return kept


class Alike:
    """Ends a run whose population has become one, and tells how far it is."""

    def __init__(self, stop: Stop, context: Context, children: int, watching: bool) -> None:
        self.stop, self.context, self.steps = stop, context, 0
        self.children, self.watching = children, watching

    def note(self, run: Evolution) -> None:
        """One more generation."""
        costs = [one.fitness.values[0] for one in run.population]
        best = min(costs)
        alike = self.watching and len(costs) > 1 and sum(costs) <= best * len(costs) * (1 + ALIKE)
        self.steps = self.steps + self.children if alike else 0
        if self.steps >= ALIKE_STEPS:
            self.stop.generations = run.generation
        self.context.progress.advance(best=best)
        if self.context.on_generation is not None:
            self.context.on_generation(run)
