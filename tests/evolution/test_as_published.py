"""The papers' genetic algorithms to the letter (`as_published`)."""

from __future__ import annotations

import numpy as np
import pytest

import gpuga
from gpuga.context import Clock, Context
from gpuga.evolution.gensup import GenSup
from gpuga.evolution.heurgene import HOUR, HeurGene, heurgene
from gpuga.evolution.heurgene_individual import HeurGeneIndividual
from gpuga.evolution.ordering_ga import Breeding, Ordering, mutate, ordering_ga, ordering_ls
from gpuga.evolution.orderings import (
    FlowEvaluator,
    GroupEvaluator,
    OrderingVariant,
    ProgramEvaluator,
    evaluator_of,
    items_of,
)
from gpuga.evolution.replacement import find_replacement
from gpuga.evolution.selection import find_selection
from gpuga.heuristics.incremental import by_flows
from gpuga.kernels import Stream
from gpuga.parameters import (
    ITEMS,
    GenSupParameters,
    HeurGeneParameters,
    OrderingGaParameters,
    OrderingLsParameters,
)
from gpuga.problem.two_way import two_way_problem
from gpuga.safety.audit import audit
from gpuga.table.generate import herrington, smith2d, smith3d
from gpuga.table.table import Table


@pytest.mark.parametrize("variant", ITEMS)
@pytest.mark.parametrize("shape", [(12, 6), (6, 5, 4)])
def test_orderings_by_programs_end_in_safe_patterns(variant: str, shape: tuple[int, ...]) -> None:
    table = smith2d(*shape, 0.1, 0.1, 3) if len(shape) == 2 else smith3d(shape, 0.1, 0.1, 3)
    wanted = OrderingGaParameters(variant=variant, generations=2, as_published=True, groups=3)
    found = gpuga.protect(table, method="ordering-ga", parameters=wanted)
    assert found.audit.safe


def test_the_evaluators_are_programs_by_cell_and_by_group() -> None:
    plane, cube = smith2d(12, 6, 0.1, 0.1, 3), smith3d((6, 5, 4), 0.1, 0.1, 3)
    kinds = [
        type(evaluator_of(table, OrderingVariant(variant, 4, True), Context()))
        for table in (plane, cube)
        for variant in ("one-p", "group-k")
    ]
    assert kinds == [FlowEvaluator, GroupEvaluator, ProgramEvaluator, GroupEvaluator]


def test_the_cost_of_an_ordering_in_a_plane_is_that_of_its_flows_without_clean_up() -> None:
    table = smith2d(30, 6, 0.1, 0.1, 5)
    evaluator = evaluator_of(table, OrderingVariant("one-p", as_published=True), Context())
    problem = two_way_problem(table, Context())
    order = np.random.default_rng(1).permutation(len(evaluator.items)).astype(np.int32)
    cells = problem.plane.cell.ravel()[problem.levels.place]
    levels = np.concatenate([np.flatnonzero(cells == int(evaluator.items[i][0])) for i in order])
    (cost,) = evaluator.costs([order], Clock())
    assert cost == problem.cost(by_flows(problem, Clock(), levels.astype(np.int64)))
    assert evaluator.finish(order).suppressed.sum() >= len(table.sensitive)


@pytest.mark.parametrize("seed", range(5))
def test_ku_lies_inside_k_and_k_inside_the_primaries(seed: int) -> None:
    for table in (smith2d(14, 6, 0.15, 0.2, seed), smith3d((5, 4, 4), 0.2, 0.1, seed)):
        sets = [
            {int(cell) for item in items_of(table, OrderingVariant(variant, as_published=True), False) for cell in item}
            for variant in ("ku", "one-k", "one-p")
        ]
        assert sets[0] <= sets[1] <= sets[2]


def test_groups_are_as_many_as_asked_for() -> None:
    table = smith2d(60, 10, 0.05, 0.1, 1)
    assert len(items_of(table, OrderingVariant("one-k", as_published=True), False)) > 10
    for groups in (2, 10):
        assert len(items_of(table, OrderingVariant("group-k", groups, True), False)) == groups


def test_an_inserted_item_stands_just_behind_the_other() -> None:
    for seed in range(50):
        random, same = np.random.default_rng(seed), np.random.default_rng(seed)
        genes = np.arange(9, dtype=np.int32)
        mutate(genes, "insert", random)
        first, second = sorted(same.integers(0, 9, size=2).tolist())
        if first != second:
            assert genes.tolist().index(second) == genes.tolist().index(first) + 1


def test_a_step_makes_one_child_which_may_stay_as_it_was_bred() -> None:
    parent = Ordering(np.arange(30, dtype=np.int32), rate=1 / 30)
    parent.fitness.values = (5,)
    breeding = Breeding(np.random.default_rng(2), "swap", 1, least=0)
    children = [breeding.children([parent]) for _ in range(60)]
    assert all(len(made) == 1 for made in children)
    same = sum((made[0].genes == parent.genes).all() for made in children)
    assert 5 < same < 45
    always = Breeding(np.random.default_rng(2), "swap", 1, least=1)
    assert sum((always.children([parent])[0].genes == parent.genes).all() for _ in range(60)) < same


def test_the_rule_of_one_per_cent_ends_runs_with_fixed_mutations_only() -> None:
    table = smith2d(12, 6, 0.1, 0.1, 3)
    evaluations = {}
    for mutation in ("swap", "self-adaptive"):
        wanted = OrderingGaParameters(
            variant=f"one-p:{mutation}", generations=75, patience=1000, as_published=True, population=4
        )
        evaluations[mutation] = ordering_ga(table, Context(), wanted).evaluations
    assert evaluations["self-adaptive"] == 4 * 75 + 4  # limits count four evaluations each
    assert evaluations["swap"] < evaluations["self-adaptive"]
    local = OrderingLsParameters(variant="one-p:swap", generations=75, patience=1000, as_published=True)
    assert ordering_ls(table, Context(), local).evaluations == 4 * 75 + 1


def test_gensup_starts_from_hypercubes_patterns_where_asked_and_repeats(plane: Table) -> None:
    runs = [
        gpuga.protect(plane, method="gensup", options={"seeds": "hypercube", "generations": 3}, seed=4)
        for _ in range(2)
    ]
    assert (runs[0].suppressed == runs[1].suppressed).all()
    assert runs[0].audit.safe
    problem = two_way_problem(plane, Context())
    operators = GenSup(problem, Context(), GenSupParameters(seeds="hypercube", population=5))
    for one in operators.first():
        assert audit(plane, problem.pattern(one.grid(problem.shape)), intervals=False).safe


def test_gensups_mutation_as_published_only_replaces_one_cell_at_a_time(plane: Table) -> None:
    problem = two_way_problem(plane, Context())
    operators = GenSup(problem, Context(), GenSupParameters(as_published=True, population=4))
    one = operators.first()[-1]
    (mutated,) = operators.mutate([one])
    assert problem.cost(mutated.grid(problem.shape)) <= problem.cost(one.grid(problem.shape))
    assert audit(plane, problem.pattern(mutated.grid(problem.shape)), intervals=False).safe


def test_heurgene_as_published_has_only_safe_offspring_and_counts_them() -> None:
    table = herrington(20, 20, 0.02, 3)
    found = heurgene(table, Context(seed=2), HeurGeneParameters(as_published=True, generations=12))
    assert found.details["offspring"] > 0
    assert found.details["infeasible_offspring"] == 0
    assert audit(table, found.suppressed, intervals=False).safe
    again = heurgene(table, Context(seed=2), HeurGeneParameters(as_published=True, generations=12))
    assert (again.suppressed == found.suppressed).all()


def test_offspring_that_lost_a_circuit_would_be_counted() -> None:
    problem = two_way_problem(herrington(20, 20, 0.02, 3), Context())
    operators = HeurGene(problem, Context(), HeurGeneParameters(as_published=True, population=2))
    whole = operators.first()[0]
    broken = HeurGeneIndividual(np.full_like(whole.lists, -1), np.zeros(0, np.int64))
    assert operators._unsafe([whole]) == 0
    assert operators._unsafe([broken, whole, broken]) == 2


def test_mutation_as_published_takes_one_cell_at_most_and_stays_safe() -> None:
    table = herrington(20, 20, 0.03, 3)
    problem = two_way_problem(table, Context())
    operators = HeurGene(problem, Context(), HeurGeneParameters(as_published=True, population=3))
    full = operators.individual(problem.candidate)
    before = int(full.grid(problem.shape).sum())
    operators.mutate([full])
    assert audit(table, problem.pattern(full.grid(problem.shape)), intervals=False).safe
    assert int(full.grid(problem.shape).sum()) <= before + 32  # merged circuits may be other ones
    assert HOUR == 3600


class Costing:
    """An individual of a given cost and place."""

    def __init__(self, cost: int, place: int) -> None:
        self.place = place
        self.fitness = type("F", (), {"values": (cost,)})()


def test_rank_roulette_prefers_the_cheap_whatever_the_distances() -> None:
    population = [Costing(cost, 0) for cost in (1, 2, 10**9)]
    drawn = find_selection("rank")(population, 6000, Stream(1, 1))
    share = [sum(one is other for other in drawn) / 6000 for one in population]
    assert share == pytest.approx([3 / 6, 2 / 6, 1 / 6], abs=0.03)


def test_replacements_of_the_review() -> None:
    distance = lambda one, other: abs(one.place - other.place)  # noqa: E731
    population = [Costing(10 * place, place) for place in (1, 5, 9)]
    child = Costing(45, 6)
    near = find_replacement("crowding", Stream(1, 1), distance)(population, [child])
    assert near == [population[0], child, population[2]]
    dear = find_replacement("crowding", Stream(1, 1), distance)(population, [Costing(55, 6)])
    assert dear == population
    kept = 0
    for seed in range(200):
        chance = find_replacement("probabilistic-crowding", Stream(seed, 1), distance)
        kept += chance(population, [Costing(150, 5)])[1] is population[1]
    assert kept / 200 == pytest.approx(0.75, abs=0.1)
    anywhere = {
        next(
            z
            for z, one in enumerate(find_replacement("random", Stream(s, 1), distance)(population, [child]))
            if one is child
        )
        for s in range(30)
    }
    assert anywhere == {0, 1, 2}
