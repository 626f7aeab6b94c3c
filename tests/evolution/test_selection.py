"""Selections: whom they prefer, and that a seed repeats them."""

from __future__ import annotations

import random

import pytest

from gpuga.evolution.individual import Cost
from gpuga.evolution.selection import SELECTIONS, find_selection
from gpuga.kernels.random import Stream


class Individual:
    """A cost and nothing else."""

    def __init__(self, cost: int) -> None:
        self.fitness = Cost((cost,))


def chosen_costs(name: str, seed: int, k: int = 400) -> list[int]:
    """The costs of k parents chosen of three, by their number in the population."""
    population = [Individual(cost) for cost in (90, 10, 50)]
    return [int(one.fitness.values[0]) for one in find_selection(name)(population, k, Stream(seed))]


@pytest.mark.parametrize("name", SELECTIONS)
def test_the_fittest_are_chosen_most_often_and_the_least_fit_least(name: str) -> None:
    chosen = chosen_costs(name, 1)
    assert len(chosen) == 400
    assert chosen.count(10) >= chosen.count(50) >= chosen.count(90)


@pytest.mark.parametrize("name", sorted(set(SELECTIONS) - {"elite"}))
def test_selections_draw_from_their_stream_and_from_nothing_else(name: str) -> None:
    first = chosen_costs(name, 1)
    random.seed(7)
    assert chosen_costs(name, 1) == first
    assert chosen_costs(name, 2) != first


def test_elite_takes_the_fittest_in_turn() -> None:
    assert chosen_costs("elite", 1, 5) == [10, 50, 90, 10, 50]
