"""The operators of the papers' genetic algorithms: children are made of their parents, and what is kept is safe."""

from __future__ import annotations

from copy import deepcopy

import numba
import numpy as np
import pytest

import gpuga
from gpuga.circuits.path_cover import clean_up
from gpuga.context import Context
from gpuga.evolution.gapn import Gapn
from gpuga.evolution.gensup import GenSup
from gpuga.evolution.heurgene import HeurGene
from gpuga.evolution.heurgene_individual import HeurGeneIndividual
from gpuga.evolution.heurgene_loops import LONGEST, drop_redundant, level_supports, new_scratch
from gpuga.evolution.patterns import PatternIndividual, same_places
from gpuga.parameters import GapnParameters, GenSupParameters, HeurGeneParameters
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from gpuga.safety.audit import audit
from gpuga.safety.boxes import BoxSearch, box_grid
from gpuga.safety.requirements import Requirements
from gpuga.table.table import Ints, Mask, Table


@pytest.fixture(scope="module")
def problem(plane: Table) -> TwoWayProblem:
    return two_way_problem(plane, Context())


def safe(problem: TwoWayProblem, secondary: Mask) -> bool:
    return audit(problem.table, problem.pattern(secondary)).safe


def test_gapn_mixes_the_places_of_its_parents_and_keeps_the_children_that_are_safe(problem: TwoWayProblem) -> None:
    operators = Gapn(problem, Context(), GapnParameters(population=8))
    parents = operators.first()
    children = operators.mate(parents)
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
        assert len(networks.shown) == len(operators.primary)
        assert networks.shown.any()
        assert (np.flatnonzero(networks.shown) == np.unique(networks.primary)).all()
        assert np.isin(networks.place, one.places).all()


def sets_of(operators: Gapn, one: PatternIndividual) -> list[Ints]:
    """Per primary the places of the rectangles that show its levels, as the paper has them."""
    problem = operators.problem
    levels, plane = problem.levels, problem.plane
    cells = plane.cell.ravel()[levels.place]
    direction = np.where(levels.forward, 1, -1) * plane.sign.ravel()[levels.place]
    boxes = box_grid(problem.table)
    assert boxes is not None
    secondary = one.grid(problem.shape)
    search = BoxSearch(boxes, problem.pattern(secondary))
    covered, witnesses = search.certify(Requirements.of(cells, direction, levels.need))
    sets: list[set[int]] = [set() for _ in operators.primary]
    for w, level in enumerate(np.flatnonzero(covered)):
        places = plane.place[witnesses.one(w)[0]]
        sets[operators.of_level[level]] |= set(places[secondary.ravel()[places]].tolist())
    for level in np.flatnonzero(~covered):
        sets[operators.of_level[level]] = set()
    return [np.array(sorted(places), np.int64) for places in sets]


def pair_by_pair(operators: Gapn, parents: list[PatternIndividual]) -> list[list[int]]:
    """The children's places: the sets behind a point drawn for each pair change sides."""
    children = []
    for one, two in zip(parents[::2], parents[1::2], strict=True):
        mine, theirs = sets_of(operators, one), sets_of(operators, two)
        point = operators.stream.integer(0, len(mine))
        swapped = [p for p in range(point, len(mine)) if len(mine[p]) and len(theirs[p])]
        if not swapped:
            continue
        for own, other, parent in ((mine, theirs, one), (theirs, mine, two)):
            staying = {place for p, places in enumerate(own) if p not in swapped for place in places.tolist()}
            leaving = {place for p in swapped for place in own[p].tolist()} - staying
            coming = {place for p in swapped for place in other[p].tolist()}
            children.append(sorted(set(parent.places.tolist()) - leaving | coming))
    return children


def test_gapns_children_of_a_generation_are_those_of_its_pairs(problem: TwoWayProblem) -> None:
    parameters = GapnParameters(population=20)
    together, alone = (Gapn(problem, Context(seed=2), parameters) for _ in range(2))
    parents = together.first()
    alone.first()
    for _ in range(2):  # the second time the sets are known
        wanted = pair_by_pair(alone, parents)
        assert wanted
        assert [child.places.tolist() for child in together.mate(parents)] == wanted


def test_gapns_mutation_is_clean_up(problem: TwoWayProblem) -> None:
    operators = Gapn(problem, Context(), GapnParameters(population=2))
    full = PatternIndividual.of(problem.candidate)
    assert same_places(operators.mutate(full), PatternIndividual.of(clean_up(problem, problem.candidate)))


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
    (mutated,) = operators.mutate([child])
    after = mutated.grid(problem.shape)
    assert safe(problem, before)
    assert safe(problem, after)
    assert not (after & ~before).any()


def test_heurgenes_offspring_mutate_together_as_they_do_alone(problem: TwoWayProblem) -> None:
    operators = HeurGene(problem, Context(seed=3), HeurGeneParameters(population=12))
    population = operators.first()
    mated = [operators.mate(one, two) for one in population for two in population if one is not two]
    offspring = [child for children in mated if children is not None for child in children]
    alone = [deepcopy(child) for child in offspring]
    dropped = 0
    for child, twin in zip(offspring, alone, strict=True):
        at, fresh = child.mutates_at, new_scratch(problem.network())
        dropped += drop_redundant(operators.cell_levels, twin.circuits, at, operators.weight, fresh)
    assert dropped
    for mutated, twin in zip(operators.mutate(offspring), alone, strict=True):
        assert np.array_equal(mutated.lists, twin.lists)


@pytest.mark.parametrize("method", ["heurgene", "gapn"])
def test_populations_of_thousands_are_the_same_on_any_back_end_and_number_of_threads(plane: Table, method: str) -> None:
    before, found = numba.get_num_threads(), []
    try:
        for backend, threads in (("cpu", before), ("numpy", 1)):
            numba.set_num_threads(threads)
            wanted = {"population": 4096, "generations": 1}
            found.append(gpuga.protect(plane, method, backend=backend, options=wanted, seed=2))
    finally:
        numba.set_num_threads(before)
    assert found[0].audit.safe
    assert (found[0].suppressed == found[1].suppressed).all()
    few = gpuga.protect(plane, method, options={"generations": 1}, seed=2)
    assert found[0].scaled_cost <= few.scaled_cost
