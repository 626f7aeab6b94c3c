"""Whom offspring replace: a toolbox's `replace(population, offspring)`.

Herrington's three are named as in the paper; `dissimilar` ranks by cost and by how different an individual's
circuits are, so that one family does not fill the population.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.evolution.crossover import nearest
from gpuga.evolution.individual import Individual
from gpuga.evolution.selection import costs_of
from gpuga.kernels.random import Stream
from gpuga.table.table import Ints

TOURNAMENT = 3
REFERENCES = 16
ELITE = 0.1
"""Share of a population that survives by cost alone."""


def elite(population: Sequence[Any], offspring: Sequence[Any]) -> list[Any]:
    """The fittest of both; of equals the older."""
    both = [*population, *offspring]
    order = np.argsort(costs_of(both), kind="stable")[: len(population)]
    return [both[z] for z in order]


def kill_tournament(population: Sequence[Any], offspring: Sequence[Any], stream: Stream) -> list[Any]:
    """Each child competes with the least fit of a few drawn at random, and takes its place if it is fitter."""
    survivors = list(population)
    for child in offspring:
        drawn = stream.integers(0, len(survivors), TOURNAMENT)
        worst = max(drawn.tolist(), key=lambda z: survivors[z].fitness.values[0])
        if child.fitness.values[0] < survivors[worst].fitness.values[0]:
            survivors[worst] = child
    return survivors


def similar(
    population: Sequence[Any],
    offspring: Sequence[Any],
    stream: Stream,
    distance: Callable[[Any, Any], int],
) -> list[Any]:
    """Each child takes the place of the most similar of a few drawn at random, fitter or not."""
    survivors = list(population)
    for child in offspring:
        drawn = stream.integers(0, len(survivors), TOURNAMENT).tolist()
        survivors[min(drawn, key=lambda z: distance(child, survivors[z]))] = child
    return survivors


def distinct(individuals: Sequence[Individual], costs: Ints) -> Ints:
    """Positions by rising cost, the first of each cost before all others (equal costs: likely one pattern)."""
    order = np.argsort(costs, kind="stable")
    repeated = np.zeros(len(order), bool)
    repeated[1:] = costs[order[1:]] == costs[order[:-1]]
    return np.concatenate([order[~repeated], order[repeated]])


def dissimilar(population: Sequence[Individual], offspring: Sequence[Individual], stream: Stream) -> list[Individual]:
    """The best by rank of cost plus rank of dissimilarity; a tenth survives by cost alone."""
    both = [*population, *offspring]
    costs = costs_of(both)
    size, order = len(population), distinct(both, costs)
    genes = np.stack([both[z].genes for z in order])
    reference = np.concatenate([[0], stream.integers(0, len(order), REFERENCES)])
    apart = nearest(genes, genes[reference])
    rank = np.arange(len(order)) + np.argsort(np.argsort(-apart, kind="stable"), kind="stable") // 2
    rank[: max(1, int(ELITE * size))] = -1
    return [both[order[z]] for z in np.argsort(rank, kind="stable")[:size]]


REPLACEMENTS = ("elite", "kill", "similar", "dissimilar")


def find_replacement(
    name: str, stream: Stream, distance: Callable[[Any, Any], int]
) -> Callable[[Sequence[Any], Sequence[Any]], list[Any]]:
    """The replacement of that name, or a sentence that lists the names."""
    made: dict[str, Callable[[Sequence[Any], Sequence[Any]], list[Any]]] = {
        "elite": elite,
        "kill": lambda population, offspring: kill_tournament(population, offspring, stream),
        "similar": lambda population, offspring: similar(population, offspring, stream, distance),
        "dissimilar": lambda population, offspring: dissimilar(population, offspring, stream),
    }
    if name not in made:
        raise InputError(
            f"unknown replacement {printable(name)!r}; choose one of {', '.join(made)}", field="--replacement"
        )
    return made[name]
