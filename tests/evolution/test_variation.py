"""Crossover and replacement keep their word: what a child costs, who is near whom, who has to go."""

from __future__ import annotations

import numpy as np

from gpuga.evolution.crossover import best_of_pool, exchanged, nearest
from gpuga.evolution.individual import Individual
from gpuga.evolution.replacement import dissimilar, elite, kill_tournament, similar
from gpuga.kernels.random import Stream

CELLS, TASKS, CIRCUITS = 30, 6, 24


def pool(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random circuits as `start` and `cell`, and the weights of the cells."""
    cells = [rng.choice(CELLS, rng.integers(1, 6), replace=False) for _ in range(CIRCUITS)]
    start = np.concatenate([[0], np.cumsum([len(c) for c in cells])])
    return start, np.concatenate(cells).astype(np.int32), rng.integers(0, 20, CELLS)


def cost(genes: np.ndarray, start: np.ndarray, cell: np.ndarray, weight: np.ndarray) -> int:
    """The weight of the union of the circuits, straight from the definition."""
    used = {c for g in genes.tolist() if g >= 0 for c in cell[start[g] : start[g + 1]].tolist()}
    return int(weight[sorted(used)].sum())


def test_a_child_is_never_dearer_than_its_taker_and_costs_what_is_said() -> None:
    rng = np.random.default_rng(1)
    cheaper = 0
    for _ in range(40):
        start, cell, weight = pool(rng)
        genes = rng.integers(-1, CIRCUITS, (5, TASKS)).astype(np.int32)
        pairs = np.array([(a, b) for a in range(5) for b in range(5)], np.int32)
        gains = rng.integers(-9, 9, (len(pairs), TASKS))
        neutral = rng.random((len(pairs), TASKS)) < 0.5
        children, rise = exchanged(genes, start, cell, weight, pairs, gains, neutral)
        for (taker, giver), child, said in zip(pairs, children, rise.tolist(), strict=True):
            before = cost(genes[taker], start, cell, weight)
            assert cost(child, start, cell, weight) == before + said <= before
            assert ((child == genes[taker]) | (child == genes[giver])).all()
            cheaper += said < 0
    assert cheaper > 100


def test_the_pools_cheapest_circuits_never_make_an_individual_dearer() -> None:
    rng = np.random.default_rng(2)
    cheaper = 0
    for _ in range(40):
        start, cell, weight = pool(rng)
        of_task = np.arange(0, CIRCUITS + 1, CIRCUITS // TASKS)
        circuits = np.arange(CIRCUITS, dtype=np.int32)
        genes = (of_task[:-1] + rng.integers(0, CIRCUITS // TASKS, (4, TASKS))).astype(np.int32)
        orders = np.stack([rng.permutation(TASKS) for _ in range(4)]).astype(np.int32)
        better, rise = best_of_pool(genes, start, cell, weight, of_task, circuits, orders)
        for old, new, said in zip(genes, better, rise.tolist(), strict=True):
            before = cost(old, start, cell, weight)
            assert cost(new, start, cell, weight) == before + said <= before
            assert (new // (CIRCUITS // TASKS) == np.arange(TASKS)).all()
            cheaper += said < 0
    assert cheaper > 40


def test_nobody_is_their_own_nearest() -> None:
    genes = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [5, 6, 7, 8]], np.int32)
    assert nearest(genes, genes).tolist() == [1, 1, 4]
    assert nearest(genes[:1], genes[:1]).tolist() == [4]


def individual(cost: int, *genes: int) -> Individual:
    one = Individual(genes)
    one.fitness.values = (cost,)
    return one


def test_of_equally_ranked_ones_those_unlike_the_rest_survive() -> None:
    """The best, its four near-twins and one of another family: the stranger stays, though it is the dearest."""
    family = [individual(10 + z, *[1] * 7, z) for z in range(5)]
    stranger = individual(15, *range(20, 28))
    for seed in range(10):
        left = dissimilar(family, [stranger], Stream(seed))
        assert len(left) == 5
        assert left[0] is family[0]
        assert stranger in left


def test_a_kill_tournament_takes_the_least_fit_of_those_drawn() -> None:
    population = [individual(cost, cost) for cost in (1, 5, 9)]
    for seed in range(30):
        drawn = Stream(seed).integers(0, 3, 3).tolist()
        worst = max(population[z].cost for z in drawn)
        for child in (individual(4, 4), individual(100, 100)):
            left = kill_tournament(population, [child], Stream(seed))
            wanted = sorted([1, 5, 9, child.cost]) if child.cost < worst else [1, 5, 9]
            if child.cost < worst:
                wanted.remove(worst)
            assert sorted(i.cost for i in left) == wanted


def test_the_most_similar_of_those_drawn_makes_room() -> None:
    population = [individual(cost, cost) for cost in (1, 50, 90)]
    child = individual(52, 52)
    for seed in range(30):
        drawn = Stream(seed).integers(0, 3, 3).tolist()
        near = min(drawn, key=lambda z: abs(population[z].cost - 52))
        left = similar(population, [child], Stream(seed), lambda a, b: abs(a.cost - b.cost))
        assert left[near] is child
        assert sum(i is child for i in left) == 1


def test_the_fittest_of_both_survive_and_of_equals_the_older() -> None:
    old, young = [individual(c, 0) for c in (3, 7)], [individual(c, 1) for c in (5, 3)]
    assert elite(old, young) == [old[0], young[1]]
