"""A population is arrays in the back end and a sequence of individuals for DEAP."""

from __future__ import annotations

import gc
from copy import deepcopy
from weakref import ref

import numpy as np
import pytest
from deap import tools

from gpuga.context import Context
from gpuga.evolution.breeding import Breeder
from gpuga.evolution.kernels import kernels_of
from gpuga.evolution.population import Population, cells_apart, places_of, same_pattern
from gpuga.evolution.run import prices_of
from gpuga.kernels.random import Stream
from gpuga.problem.problem import problem_for
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table

TABLES = (herrington(12, 12, 0.05, 1), smith3d((5, 4, 4), 0.08, 0.1, 1))


def made(table: Table, count: int = 6) -> Population:
    problem = problem_for(table)
    breeder = Breeder(kernels_of(problem, Context()), Stream(1, 1), count)
    weight = problem.weight.ravel()
    breeder.price([prices_of(weight, np.zeros(len(weight)))], problem.candidate.ravel())
    return breeder.newcomers(count)


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "3-D"])
def test_individuals_are_views_with_the_costs_of_their_patterns(table: Table) -> None:
    population, problem = made(table), problem_for(table)
    weight, forced = problem.weight.ravel(), problem.forced.ravel()
    assert len(population) == 6 == len(list(population))
    for member in population:
        assert member.cost == member.fitness.values[0] == weight[member.suppressed & ~forced].sum()
    assert population.best.cost == min(population.costs)


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "3-D"])
def test_some_of_several_populations_come_together_in_order(table: Table) -> None:
    one, two = made(table, 3), made(table, 4)
    mixed = Population.of([two[3], one[0], two[1]])
    assert mixed.costs.tolist() == [two.costs[3], one.costs[0], two.costs[1]]
    assert np.array_equal(mixed[1].suppressed, one[0].suppressed)
    assert one.joined(two.take([]), two).costs.tolist() == [*one.costs, *two.costs]
    assert places_of(list(one)).tolist() == [0, 1, 2]


def test_equal_patterns_count_once() -> None:
    population = made(TABLES[0], 3)
    doubled = population.joined(population)
    assert sorted(doubled.distinct().tolist()) == sorted(set(population.distinct().tolist()))
    assert same_pattern(doubled[0], doubled[3])
    assert cells_apart(doubled[0], doubled[3]) == 0


def test_deap_selects_copies_and_remembers_individuals() -> None:
    population, hall = made(TABLES[0], 8), tools.HallOfFame(2, same_pattern)
    hall.update(population)
    assert hall[0].cost == population.costs.min()
    assert all(one in list(population) for one in tools.selTournament(population, 5, 3))
    twin = deepcopy(population[2])
    assert twin.population is not population
    assert same_pattern(twin, population[2])


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "3-D"])
def test_what_nobody_uses_any_longer_is_freed_at_once(table: Table) -> None:
    population = made(table)
    kept = population[2]
    patterns, alone = ref(population.patterns), made(table)
    assert alone.members
    gone = ref(alone.patterns)
    gc.disable()
    try:
        del population, alone
        assert gone() is None
        assert patterns() is not None, "an individual that is kept keeps its pattern"
        assert kept.suppressed.any()
    finally:
        gc.enable()
