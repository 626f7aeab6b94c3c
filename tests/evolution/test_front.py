"""Several patterns out of one population: alternatives and fronts, two-way and general."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.context import Context
from gpuga.evolution.breeding import Breeder, Kernels
from gpuga.evolution.front import Front, alternatives
from gpuga.evolution.kernels import kernels_of
from gpuga.evolution.objectives import Objectives
from gpuga.evolution.population import Population
from gpuga.evolution.run import prices_of
from gpuga.kernels.random import Stream
from gpuga.problem.problem import TableProblem, problem_for
from gpuga.table.generate import herrington, smith3d
from gpuga.table.likeness import Likeness
from gpuga.table.table import Table

TABLES = [herrington(14, 14, 0.05, 3), smith3d((6, 5, 4), 0.15, 0.1, 2)]


def made(table: Table, count: int = 40) -> tuple[TableProblem, Kernels, Population]:
    """A population at the weights as prices."""
    problem = problem_for(table)
    kernels = kernels_of(problem, Context())
    breeder = Breeder(kernels, Stream(1, 1), count)
    weight = problem.weight.ravel()
    breeder.price([prices_of(weight, np.zeros(len(weight)))], problem.candidate.ravel())
    return problem, kernels, breeder.newcomers(count)


@pytest.fixture(params=TABLES, ids=["two-way", "three-way"], scope="module")
def group(request: pytest.FixtureRequest) -> tuple[TableProblem, Kernels, Population]:
    return made(request.param)


def test_alternatives_are_the_cheapest_that_differ_enough(group: tuple[TableProblem, Kernels, Population]) -> None:
    _, kernels, pool = group
    best = pool.take(pool.distinct()[:1])
    chosen = alternatives(kernels, pool, best, 10, 4)
    assert 0 < len(chosen) <= 4
    assert (np.diff(chosen.costs) >= 0).all()
    every = np.concatenate([best.unpacked([0]), chosen.unpacked(range(len(chosen)))])
    apart = (every[:, None] ^ every[None]).sum(2)
    assert (apart[~np.eye(len(every), dtype=bool)] >= 1).all()
    far = [int((row ^ every[0]).sum()) for row in pool.unpacked(range(len(pool)))]
    cheap = [int(c) for c, d in zip(pool.costs, far, strict=True) if d >= 1]
    assert chosen.costs[0] >= min(cheap)


def test_fewer_alternatives_are_returned_where_there_are_no_more(
    group: tuple[TableProblem, Kernels, Population],
) -> None:
    _, kernels, pool = group
    two = pool.take(pool.distinct()[:2])
    assert len(alternatives(kernels, two, two.take([0]), 50, 5)) == 1


def test_objectives_are_what_they_say(group: tuple[TableProblem, Kernels, Population]) -> None:
    problem, _, pool = group
    table = problem.table
    before = np.arange(len(table)) % 3 == 0
    likeness = Likeness(before)
    # the weights of the problem stand for priced ones here
    values = Objectives(problem, ("cost", "cells", "totals")).values(pool)
    apart = Objectives(problem, ("cells", "difference"), likeness).values(pool)
    shape = problem.weight.shape
    totals = np.zeros(len(table), bool)
    totals[table.lines.cell[table.lines.coef < 0]] = True
    for z, row in enumerate(pool.unpacked(range(len(pool))) & ~problem.forced.ravel()):
        pattern = problem.pattern(row.reshape(shape))
        secondary = pattern & ~table.forced
        assert values[z].tolist() == [pool.costs[z], secondary.sum(), (secondary & totals).sum()]
        assert apart[z].tolist() == [secondary.sum(), (pattern ^ before).sum()]


def test_the_front_has_what_none_is_better_than(group: tuple[TableProblem, Kernels, Population]) -> None:
    problem, _, pool = group
    front = Front(Objectives(problem, ("cost", "cells", "totals")), 12)
    values, best = front.objectives.values(pool), front.objectives.values(front.best(pool, 99))
    for row in values:
        dominated = ((values <= row).all(1) & (values < row).any(1)).any()
        assert dominated == (not (best == row).all(1).any())
    assert len(front.best(pool, 2)) <= 2


def test_the_cheapest_survives_and_nobody_twice(group: tuple[TableProblem, Kernels, Population]) -> None:
    problem, _, pool = group
    front = Front(Objectives(problem, ("cost", "cells")), 8)
    left = front.survive(pool, pool.take(range(10)))
    assert 8 <= len(left) <= 9
    assert left.costs.min() == pool.costs.min()
    assert len(set(left.digests.tolist())) == len(left)
