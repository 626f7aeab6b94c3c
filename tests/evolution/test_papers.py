"""The operators of the papers' genetic algorithms: children are made of their parents, and what is kept is safe."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.context import Context
from gpuga.evolution.gapn import Gapn
from gpuga.evolution.gensup import GenSup
from gpuga.evolution.heurgene import HeurGene, HeurGeneIndividual
from gpuga.evolution.heurgene_loops import LONGEST, level_supports
from gpuga.evolution.patterns import PatternIndividual
from gpuga.parameters import GapnParameters, GenSupParameters, HeurGeneParameters
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from gpuga.safety.audit import audit
from gpuga.table.table import Mask, Table


@pytest.fixture(scope="module")
def problem(plane: Table) -> TwoWayProblem:
    return two_way_problem(plane, Context())


def safe(problem: TwoWayProblem, secondary: Mask) -> bool:
    return audit(problem.table, problem.pattern(secondary)).safe


def test_gapn_mixes_the_places_of_its_parents_and_keeps_the_children_that_are_safe(problem: TwoWayProblem) -> None:
    operators = Gapn(problem, Context(), GapnParameters(population=8))
    parents = operators.first()
    children = [child for a, b in zip(parents[::2], parents[1::2], strict=True) for child in operators.mate(a, b)]
    inherited = np.unique(np.concatenate([one.places for one in parents]))
    assert children
    assert all(np.isin(child.places, inherited).all() for child in children)
    broken = PatternIndividual(np.zeros(0, np.int64))
    kept = operators.feasible([*children, broken])
    verdicts = [safe(problem, one.grid(problem.shape)) for one in (*children, broken)]
    assert len(kept) == sum(verdicts) < len(children) + 1
    assert all(safe(problem, one.grid(problem.shape)) for one in kept)


def test_gapns_networks_lie_in_the_individual(problem: TwoWayProblem) -> None:
    operators = Gapn(problem, Context(), GapnParameters(population=2))
    for one in operators.first():
        networks = operators.networks(one)
        assert len(networks) == len(operators.primary)
        assert any(len(places) for places in networks)
        assert all(np.isin(places, one.places).all() for places in networks)


def test_gensup_repairs_four_children_and_keeps_one_individual_per_cost(problem: TwoWayProblem) -> None:
    operators = GenSup(problem, Context(), GenSupParameters(population=6))
    population = operators.first()
    children = operators.repair(operators.mate(population[0], population[-1]))
    assert len(children) == 4
    for child in children:
        assert safe(problem, child.grid(problem.shape))
    shared = np.intersect1d(population[0].places, population[-1].places)
    assert np.isin(shared, children[2].places).all()
    weight = problem.weight.ravel()
    for one in (*population, *children):
        one.fitness.values = (int(weight[one.places].sum()),)
    kept = operators.replace(population, children)
    costs = [one.fitness.values[0] for one in kept]
    assert len(set(costs)) == len(costs) <= 6
    assert min(costs) == min(one.fitness.values[0] for one in (*population, *children))


def test_gensups_mutation_stays_safe_and_never_costs_more(problem: TwoWayProblem) -> None:
    operators = GenSup(problem, Context(), GenSupParameters(population=4))
    before = operators.first()[-1]
    (after,) = operators.mutate([before])
    assert safe(problem, after.grid(problem.shape))
    assert problem.cost(after.grid(problem.shape)) <= problem.cost(before.grid(problem.shape))


def test_heurgenes_circuits_protect_their_cells_and_lie_in_the_pattern(problem: TwoWayProblem) -> None:
    operators = HeurGene(problem, Context(), HeurGeneParameters(population=3))
    for one in operators.first():
        grid = one.grid(problem.shape)
        again = operators.individual(grid)
        assert safe(problem, grid)
        assert not (again.grid(problem.shape) & ~grid).any()
        for row in one.lists:
            places = row[row >= 0]
            assert len(places) <= LONGEST
            assert (np.diff(places) > 0).all()
        start, place = level_supports(problem.network(grid), problem.levels)
        assert start[-1] == len(place)
        assert grid.ravel()[place].all()


def test_a_pattern_that_meets_not_every_level_has_no_supports(problem: TwoWayProblem) -> None:
    start, place = level_supports(problem.network(), problem.levels)
    assert start[-1] == -1
    assert not len(place)


def test_heurgenes_crossover_swaps_one_circuit_and_its_mutation_only_drops_places(problem: TwoWayProblem) -> None:
    operators = HeurGene(problem, Context(), HeurGeneParameters(population=4))
    population, swapped = operators.first(), 0
    for one in population:
        for two in population:
            children = None if one is two else operators.mate(one, two)
            if children is None:
                continue
            swapped += 1
            (cell,) = np.flatnonzero((children[0].lists != one.lists).any(axis=1))
            assert np.array_equal(children[0].lists[cell], two.lists[cell])
            assert np.array_equal(children[1].lists[cell], one.lists[cell])
            for child in children:
                _mutates_safely(problem, operators, child)
    assert swapped


def _mutates_safely(problem: TwoWayProblem, operators: HeurGene, child: HeurGeneIndividual) -> None:
    before = child.grid(problem.shape)
    after = operators.mutate(child).grid(problem.shape)
    assert safe(problem, before)
    assert safe(problem, after)
    assert not (after & ~before).any()
