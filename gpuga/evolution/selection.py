"""Who mates with whom: selections that a toolbox's `select(individuals, k)` can be.

All draw from a stream of their own, never from the global generator that DEAP's selections use. They are named as in
Herrington's paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.evolution.population import Population
from gpuga.kernels.random import Stream
from gpuga.table.table import Ints

TOURNAMENT = 3


def costs_of(individuals: Sequence[Any]) -> Ints:
    """The costs of evaluated individuals (int64[P])."""
    if isinstance(individuals, Population):
        return individuals.costs
    return np.array([individual.fitness.values[0] for individual in individuals], np.int64)


def elite(individuals: Sequence[Any], k: int) -> list[Any]:
    """The k fittest; again from the fittest where there are fewer."""
    order = np.argsort(costs_of(individuals), kind="stable")
    return [individuals[order[z % len(order)]] for z in range(k)]


def roulette(individuals: Sequence[Any], k: int, stream: Stream) -> list[Any]:
    """Fitness-proportional roulette wheel; fitness is how much cheaper one is than the dearest."""
    costs = costs_of(individuals).astype(np.float64)
    fitness = costs.max() - costs
    fitness += max(1.0, float(fitness.max())) / len(individuals)
    return [individuals[z] for z in stream.choice(fitness, k)]


def rank(individuals: Sequence[Any], k: int, stream: Stream) -> list[Any]:
    """Rank-based roulette wheel: the chance is the rank, the dearest first; equals keep the order they stand in."""
    order = np.argsort(-costs_of(individuals), kind="stable")
    return [individuals[order[z]] for z in stream.choice(np.arange(1.0, len(order) + 1.0), k)]


def tournament(individuals: Sequence[Any], k: int, stream: Stream, size: int = TOURNAMENT) -> list[Any]:
    """Random tournament: k times the fittest of a few drawn at random."""
    costs = costs_of(individuals)
    drawn = stream.integers(0, len(individuals), k * size).reshape(k, size)
    won = drawn[np.arange(k), np.argmin(costs[drawn], axis=1)]
    return [individuals[z] for z in won]


SELECTIONS: dict[str, Callable[..., list[Any]]] = {
    "elite": lambda individuals, k, stream: elite(individuals, k),
    "roulette": roulette,
    "rank": rank,
    "tournament": tournament,
}


def find_selection(name: str) -> Callable[..., list[Any]]:
    """The selection of that name, or a sentence that lists the names."""
    if name not in SELECTIONS:
        names = ", ".join(SELECTIONS)
        raise InputError(f"unknown selection {printable(name)!r}; choose one of {names}", field="--selection")
    return SELECTIONS[name]
