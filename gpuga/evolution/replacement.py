"""Whom offspring replace: a toolbox's `replace(population, offspring)`.

They are named as in Herrington's paper; `circuits` has its own, which also looks at how different patterns are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.evolution.selection import costs_of
from gpuga.kernels.random import Stream

TOURNAMENT = 3


def elite(population: Sequence[Any], offspring: Sequence[Any]) -> list[Any]:
    """The fittest of both; of equals the older."""
    both = [*population, *offspring]
    order = np.argsort(costs_of(both), kind="stable")[: len(population)]
    return [both[z] for z in order]


def _drawn(survivors: Sequence[Any], offspring: Sequence[Any], stream: Stream, each: int) -> list[list[int]]:
    """Places drawn at random, so many for each child."""
    drawn: list[list[int]] = stream.integers(0, len(survivors), each * len(offspring)).reshape(-1, each).tolist()
    return drawn


def kill_tournament(population: Sequence[Any], offspring: Sequence[Any], stream: Stream) -> list[Any]:
    """Each child competes with the least fit of a few drawn at random, and takes its place if it is fitter."""
    survivors = list(population)
    for child, drawn in zip(offspring, _drawn(survivors, offspring, stream, TOURNAMENT), strict=True):
        worst = max(drawn, key=lambda z: survivors[z].fitness.values[0])
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
    for child, drawn in zip(offspring, _drawn(survivors, offspring, stream, TOURNAMENT), strict=True):
        survivors[min(drawn, key=lambda z: distance(child, survivors[z]))] = child
    return survivors


def replace_random(population: Sequence[Any], offspring: Sequence[Any], stream: Stream) -> list[Any]:
    """Each child takes the place of one drawn at random, fitter or not."""
    survivors = list(population)
    for child, (place,) in zip(offspring, _drawn(survivors, offspring, stream, 1), strict=True):
        survivors[place] = child
    return survivors


def crowding(
    population: Sequence[Any],
    offspring: Sequence[Any],
    distance: Callable[[Any, Any], int],
    stream: Stream | None = None,
) -> list[Any]:
    """Each child competes with the most similar of all: the cheaper stays.

    With a stream the cheaper only stays more often: each with a chance in proportion to the other's cost.
    """
    survivors = list(population)
    for child in offspring:
        nearest = min(range(len(survivors)), key=lambda z: distance(child, survivors[z]))
        mine, its = child.fitness.values[0], survivors[nearest].fitness.values[0]
        stays = mine < its if stream is None else float(stream.uniform(1)[0]) * (mine + its) < its
        if stays:
            survivors[nearest] = child
    return survivors


REPLACEMENTS: dict[str, Callable[..., list[Any]]] = {
    "elite": lambda population, offspring, stream, distance: elite(population, offspring),
    "kill": lambda population, offspring, stream, distance: kill_tournament(population, offspring, stream),
    "similar": similar,
    "random": lambda population, offspring, stream, distance: replace_random(population, offspring, stream),
    "crowding": lambda population, offspring, stream, distance: crowding(population, offspring, distance),
    "probabilistic-crowding": lambda population, offspring, stream, distance: crowding(
        population, offspring, distance, stream
    ),
}


def find_replacement(
    name: str, stream: Stream, distance: Callable[[Any, Any], int]
) -> Callable[[Sequence[Any], Sequence[Any]], list[Any]]:
    """The replacement of that name, or a sentence that lists the names."""
    if name not in REPLACEMENTS:
        names = ", ".join(REPLACEMENTS)
        raise InputError(f"unknown replacement {printable(name)!r}; choose one of {names}", field="--replacement")
    return partial(REPLACEMENTS[name], stream=stream, distance=distance)
