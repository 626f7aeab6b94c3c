"""`circuits`: evolution of proof-carrying patterns, one certified circuit per sensitive cell and direction.

Chromosomes point into a pool of circuits. Seeds come from several heuristics and orders and from shortest
paths at the costs of the linear relaxation; crossover exchanges circuits where the kernels price that as a
gain; mutation drops redundant cells, and destroys and re-protects regions; polishing solves a small MIP on
the elite's cells. Whatever is found joins the pool. Selection and replacement look at costs and at the circuits
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numba
import numpy as np
from deap import base

from gpuga.context import Context
from gpuga.evolution import replacement, selection
from gpuga.evolution.crossover import best_of_pool, exchanged
from gpuga.evolution.engine import new_toolbox
from gpuga.evolution.individual import Genes, Individual
from gpuga.evolution.pool import CircuitPool, Supports
from gpuga.kernels import Backend, Stream
from gpuga.table.table import Ints, Mask

CLEANED = 2
"""Children per generation whose redundant cells are removed."""

POOL_SEARCH = 0.25
"""Share of the children that look for better circuits in the whole pool."""

ELITE = 16
"""Individuals whose cells the polishing may use."""

MOST_CIRCUITS = 100_000
"""A larger pool is cut down to what the population uses."""

MIXING, BLENDS_AT_ONCE, QUICKLY_MIXED = 0.2, 8, 500_000
"""The share of a limited time in which seeds are mixed, so many at once; and genes that need no look at the clock."""


class Workshop(Protocol):
    """Makes circuits for one table; the engine knows no table, only tasks, weights and supports."""

    weight: Ints
    tasks: int

    @property
    def lower(self) -> int:
        """What no pattern can undercut, without what is suppressed beforehand."""

    def seeds(self, stream: Stream, variety: bool) -> Iterator[tuple[str, Supports]]:
        """Safe individuals from heuristics; the user's own patterns first."""

    def guide(self) -> None:
        """Find prices of cells from a relaxation, where there is one; runs beside the seeds."""

    def guided_seeds(self, stream: Stream) -> Iterator[tuple[str, Supports]]:
        """Safe individuals made at those prices."""

    def refined(self, supports: Supports, guided: bool, seed: int) -> Supports:
        """An individual no dearer, by destroying and re-protecting a region; several may run in threads."""

    def cleaned(self, supports: Supports) -> Supports:
        """An individual without redundant cells."""

    def polish(self, best: Mask, elite: Sequence[Supports], seed: int) -> list[Supports]:
        """New individuals, such as the cheapest that a small MIP finds among the elite's cells or circuits."""


@dataclass
class Circuits:
    """The operators of one run, and what they share: the pool, the stream, the kernels, the workshop."""

    workshop: Workshop
    context: Context
    backend: Backend
    pool: CircuitPool
    stream: Stream
    without: frozenset[str]
    refined: int
    launches: dict[str, int] = field(default_factory=dict)
    generation: int = 0
    hall: Sequence[Individual] = ()
    _uses: Any = None

    # --- evaluation ------------------------------------------------------------------------------------

    def evaluate(self, group: Sequence[Individual]) -> list[tuple[int]]:
        """The costs of a whole group in one call to the kernels."""
        genes = np.stack([individual.genes for individual in group])
        width = self.pool.width
        union = self.backend.union(self.pool.arrays(), genes, self.pool.weights(), np.zeros(width, bool))
        self._count("union")
        self._fresh = union.uses
        for row, individual in enumerate(group):
            individual.row = -2 - row
        return [(cost,) for cost in union.costs.tolist()]

    def settle(self, population: Sequence[Individual]) -> None:
        """Gather the use counts of the survivors from the last evaluation and the one before."""
        rows = np.array([individual.row for individual in population])
        fresh = rows <= -2
        if self._uses is None or self._uses.shape[1] != self._fresh.shape[1]:
            if not fresh.all():
                self.evaluate(population)
                rows = np.array([individual.row for individual in population])
            self._uses = self._fresh[-2 - rows]
        else:
            uses = self._uses[np.where(fresh, 0, rows)]
            uses[np.flatnonzero(fresh)] = self._fresh[-2 - rows[fresh]]
            self._uses = uses
        for row, individual in enumerate(population):
            individual.row = row

    def _count(self, operation: str) -> None:
        self.launches[operation] = self.launches.get(operation, 0) + 1

    # --- operators -------------------------------------------------------------------------------------

    def vary(self, population: Sequence[Individual], toolbox: base.Toolbox) -> list[Individual]:
        """A generation's offspring: children of pairs, mutants, and what polishing finds, at the same time."""
        with ThreadPoolExecutor(max(2, numba.get_num_threads())) as threads:
            polishing = toolbox.polish(population, threads.submit)
            children = toolbox.mate(toolbox.select(population, 2 * len(population)))
            mutants = toolbox.mutate(population, children, threads.map)
            found = [] if polishing is None else polishing.result()
            polished = [Individual(self.pool.add(supports)) for supports in found]
        return [*children, *mutants, *polished]

    def mate(self, parents: Sequence[Individual]) -> list[Individual]:
        """One child per pair (taker, giver): the taker with every circuit of the giver's that makes it cheaper."""
        takers, givers = parents[0::2], parents[1::2]
        if "crossover" in self.without or not givers:
            return []
        genes, pairs, uses = self._pairs(takers, givers)
        pool, weights = self.pool.arrays(), self.pool.weights()
        gains = self.backend.swap_gains(pool, genes, uses, weights, np.zeros(len(weights), bool), pairs)
        self._count("swap_gains")
        neutral = self.stream.uniform(gains.size).reshape(gains.shape) < 0.5
        children, _ = exchanged(genes, pool.start, pool.cell, weights, pairs, gains, neutral)
        self._search_pool(children, POOL_SEARCH)
        return [Individual(child) for child in children]

    def _pairs(self, takers: Sequence[Individual], givers: Sequence[Individual]) -> tuple[Genes, Genes, Any]:
        """Genes and use counts of the parents, and each pair's rows among them."""
        row = {id(parent): z for z, parent in enumerate({id(p): p for p in (*takers, *givers)}.values())}
        parents = list({id(p): p for p in (*takers, *givers)}.values())
        genes = np.stack([parent.genes for parent in parents])
        pairs = np.array([[row[id(a)], row[id(b)]] for a, b in zip(takers, givers, strict=True)], np.int32)
        return genes, pairs, self._uses[np.array([parent.row for parent in parents])]

    def _search_pool(self, children: Genes, share: float) -> None:
        """Give some of the children the pool's cheapest circuits, task by task in random order; in place."""
        count = int(share * len(children))
        if not count:
            return
        pool = self.pool.arrays()
        of_task, circuits = self.pool.by_task()
        orders = self.stream.permutations(count, self.pool.tasks).astype(np.int32)
        children[:count], _ = best_of_pool(
            children[:count], pool.start, pool.cell, self.pool.weights(), of_task, circuits, orders
        )

    def mutate(
        self,
        population: Sequence[Individual],
        children: Sequence[Individual],
        run: Callable[..., Any] = map,
    ) -> list[Individual]:
        """The cheapest children without redundant cells, and individuals with regions protected anew."""
        supports = []
        if "redundancy" not in self.without and children:
            supports += [self.workshop.cleaned(self.pool.supports(child.genes)) for child in self._cheapest(children)]
        if "destroy" not in self.without:
            supports += self._destroyed(population, run)
        return [Individual(self.pool.add(one)) for one in supports]

    def _cheapest(self, children: Sequence[Individual]) -> list[Individual]:
        weight = self.pool.weight
        drawn = self.stream.integers(0, len(children), 4 * CLEANED).tolist()
        costs = [int(weight[self.pool.union(children[z].genes)].sum()) for z in drawn]
        order = np.argsort(costs, kind="stable")[:CLEANED]
        return [children[drawn[z]] for z in order]

    def _destroyed(self, population: Sequence[Individual], run: Callable[..., Any]) -> list[Supports]:
        order = replacement.distinct(population, selection.costs_of(population))[:ELITE]
        drawn = self.stream.integers(0, len(order), self.refined - 1)
        chosen = [population[z] for z in (order[0], *order[drawn])]
        seeds = self.stream.integers(0, 2**31, self.refined).tolist()
        guided = [z % 2 == 1 and "lp" not in self.without for z in range(self.refined)]
        supports = [self.pool.supports(individual.genes) for individual in chosen]
        return list(run(self.workshop.refined, supports, guided, seeds))

    def polish(self, population: Sequence[Individual], submit: Callable[..., Any]) -> Any:
        """Let the workshop polish the best individuals; `submit` starts it and returns what to wait for."""
        if "polish" in self.without:
            return None
        order = replacement.distinct(population, selection.costs_of(population))[:ELITE]
        elite = [self.pool.supports(population[z].genes) for z in order]
        best = self.pool.union(population[order[0]].genes)
        seed = self.stream.spawn(self.generation).integer(0, 2**31)
        return submit(self.workshop.polish, best, elite, seed)

    def replace(
        self, population: Sequence[Individual], offspring: Sequence[Individual], toolbox: base.Toolbox
    ) -> list[Individual]:
        """The survivors by `toolbox.survive`; the pool forgets what is no longer used when it is too large."""
        survivors: list[Individual] = toolbox.survive(population, offspring)
        self.settle(survivors)
        self.generation += 1
        if len(self.pool) > MOST_CIRCUITS:
            self._shrink(survivors)
        return survivors

    def _shrink(self, population: Sequence[Individual]) -> None:
        both = [*population, *self.hall]
        self.pool, renamed = self.pool.kept(np.concatenate([individual.genes for individual in both]))
        for individual in both:
            individual.genes = renamed[individual.genes]

    # --- the first population --------------------------------------------------------------------------

    def first(self, size: int, most_counts: int) -> list[Individual]:
        """Seeds of all kinds, and mixtures of them up to the population's size.

        It is smaller where use counts for all of them would be more than `most_counts`.
        """
        progress = self.context.progress
        progress.stage("seeds")
        with ThreadPoolExecutor(1) as threads:
            guiding = None if "lp" in self.without else threads.submit(self.workshop.guide)
            found = self._seeded(self.workshop.seeds(self.stream, "variety" not in self.without))
            if guiding is not None:
                guiding.result()
                found += self._seeded(self.workshop.guided_seeds(self.stream))
        size = max(2, min(size, most_counts // max(1, self.pool.width)))
        found = self._cheapest_seeds(found, size)
        blends = self._blends_in_time(np.stack(found), size - len(found))
        return [Individual(row) for row in (*found, *blends)]

    def _cheapest_seeds(self, found: list[Genes], size: int) -> list[Genes]:
        costs = [int(self.pool.weight[self.pool.union(genes)].sum()) for genes in found]
        order = np.argsort(costs, kind="stable")[:size]
        return [found[z] for z in sorted(order.tolist())]

    def _blends_in_time(self, genes: Genes, count: int) -> Genes:
        """As many mixtures as a share of a limited time allows; all of them where they are quickly made."""
        clock = self.context.clock
        if clock.seconds is None or count * genes.shape[1] <= QUICKLY_MIXED:
            return self._blends(genes, count)
        made, until = [genes[:0]], (1 - MIXING) * clock.left()
        while count > 0 and clock.left() > until and not clock.expired():
            made.append(self._blends(genes, min(count, BLENDS_AT_ONCE)))
            count -= BLENDS_AT_ONCE
        return np.concatenate(made)

    def _blends(self, genes: Genes, count: int) -> Genes:
        """Mixtures of three seeds each, with the pool's best circuits (int32[count, T])."""
        tasks = genes.shape[1]
        if not count:
            return genes[:0]
        parents = self.stream.integers(0, len(genes), count * 3).reshape(count, 3)
        pick = self.stream.integers(0, 3, count * tasks).reshape(count, tasks)
        blends = genes[np.take_along_axis(parents, pick, axis=1), np.arange(tasks)]
        self._search_pool(blends, 1.0)
        return blends

    def _seeded(self, seeds: Iterator[tuple[str, Supports]]) -> list[Genes]:
        found = []
        for _, supports in seeds:
            found.append(self.pool.add(supports))
            self.context.progress.advance()
        return found


def circuits_toolbox(run: Circuits) -> base.Toolbox:
    """The operators of a run as a DEAP toolbox; each may be replaced.

    `select(population, k)`, `mate(parents)`, `mutate(population, children, map)`, `polish(population)`,
    `survive(population, offspring)`, and `vary`, `replace` and `evaluate` made of them.
    """
    toolbox = new_toolbox()
    toolbox.register("evaluate", run.evaluate)
    if "dissimilarity" in run.without:
        toolbox.register("select", partial(selection.tournament, stream=run.stream))
        toolbox.register("survive", replacement.elite)
    else:
        toolbox.register("select", partial(selection.dissimilar, stream=run.stream))
        toolbox.register("survive", partial(replacement.dissimilar, stream=run.stream))
    toolbox.register("mate", run.mate)
    toolbox.register("mutate", run.mutate)
    toolbox.register("polish", run.polish)
    toolbox.register("vary", run.vary, toolbox=toolbox)
    toolbox.register("replace", run.replace, toolbox=toolbox)
    return toolbox


def diversity(population: Sequence[Individual]) -> float:
    """The mean share of circuits in which an individual differs from the best (0: all are alike)."""
    genes = np.stack([individual.genes for individual in population])
    best = int(np.argmin(selection.costs_of(population)))
    return float((genes != genes[best]).mean())
