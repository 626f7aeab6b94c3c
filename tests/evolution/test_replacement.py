"""Replacements keep their word: who has to go."""

from __future__ import annotations

from gpuga.evolution.individual import Cost
from gpuga.evolution.replacement import elite, kill_tournament, similar
from gpuga.kernels.random import Stream


class Individual:
    """Genes and a cost."""

    def __init__(self, cost: int, genes: tuple[int, ...]) -> None:
        self.genes, self.fitness = genes, Cost((cost,))

    @property
    def cost(self) -> int:
        return int(self.fitness.values[0])


def individual(cost: int, *genes: int) -> Individual:
    return Individual(cost, genes)


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
