"""HeurGene's first population in groups is the one that is made one individual after the other."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.evolution.heurgene import HeurGene
from gpuga.evolution.heurgene_individual import HeurGeneIndividual, dissimilarity
from gpuga.evolution.heurgene_seeds import KnownCircuits
from gpuga.heuristics.hypercube import levels_by_cell, rectangles
from gpuga.parameters import HeurGeneParameters
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from gpuga.table.generate import herrington
from gpuga.table.table import Table

COUNT = 24


def one_by_one(operators: HeurGene) -> tuple[list[HeurGeneIndividual], list[bool]]:
    """The individuals, and which of them were made again."""
    problem, stream, cells = operators.problem, operators.stream, len(operators.cells)
    found: list[HeurGeneIndividual] = []
    again = []
    while len(found) < COUNT:
        order = levels_by_cell(problem, stream.permutation(cells))
        made = operators.individual(by_paths(problem, problem.costs(), plain(), start=rectangles(problem, order)))
        again.append(any(2 * dissimilarity(made, other) < cells for other in found))
        if again[-1]:
            blurred = rectangles(problem, order, 0.7 + 0.6 * stream.uniform(len(problem.table)))
            made = operators.individual(by_paths(problem, problem.costs(), plain(), start=blurred))
        found.append(made)
    return found, again


def operators_of(table: Table) -> HeurGene:
    problem: TwoWayProblem = two_way_problem(table, Context())
    return HeurGene(problem, Context(seed=5), HeurGeneParameters(population=COUNT))


@pytest.mark.parametrize(
    ("table", "kinds"),
    [
        (herrington(15, 12, 0.06, 3), {False, True}),
        (herrington(30, 30, 0.03, 2), {False, True}),
        (herrington(70, 70, 0.015, 1), {False}),
    ],
)
def test_groups_change_nothing(table: Table, kinds: set[bool]) -> None:
    alone, together = operators_of(table), operators_of(table)
    wanted, again = one_by_one(alone)
    assert set(again) == kinds
    made = together.first()
    assert [one.lists.tobytes() for one in made] == [one.lists.tobytes() for one in wanted]
    assert [one.rest.tobytes() for one in made] == [one.rest.tobytes() for one in wanted]
    assert together.stream.position == alone.stream.position


def test_individuals_are_much_alike_where_most_circuits_are_the_same() -> None:
    random, known = np.random.default_rng(1), KnownCircuits(7, 40)
    found: list[HeurGeneIndividual] = []
    answers = set()
    for _ in range(40):
        lists = random.integers(0, 2, (7, 32)).astype(np.int32) * (np.arange(32) < 1)
        one = HeurGeneIndividual(lists, np.zeros(0, np.int64))
        alike = any(2 * dissimilarity(one, other) < 7 for other in found)
        assert known.much_alike(one) == alike
        answers.add(alike)
        found.append(one)
        known.add(one)
    assert answers == {False, True}
