"""Seeds that are made in groups are those that are made one after the other."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.evolution.group_seeds import GroupSeeds
from gpuga.evolution.kernels import kernels_of
from gpuga.heuristics.hypercube import rectangles
from gpuga.kernels import Stream
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from gpuga.safety.audit import audit
from gpuga.table.generate import class2, herrington
from gpuga.table.table import Ints, Table

TABLES = {"herrington": herrington(14, 12, 0.06, 5), "class II": class2(9, 8, 2), "open levels": class2(20, 20, 1)}


def seeds_of(table: Table, context: Context) -> GroupSeeds:
    problem = two_way_problem(table, context)
    return GroupSeeds(problem, kernels_of(problem, context, numba.get_num_threads()))


def some_orders(problem: TwoWayProblem, count: int) -> list[Ints]:
    return list(Stream(3, 3).permutations(count, len(problem.levels.place)))


def some_blurs(problem: TwoWayProblem, count: int) -> list[NDArray[np.float64] | None]:
    random = np.random.default_rng(4)
    return [None if z % 2 else 0.7 + 0.6 * random.random(len(problem.table)) for z in range(count)]


@pytest.mark.parametrize("name", TABLES)
def test_a_group_is_what_single_orders_lead_to(name: str) -> None:
    seeds = seeds_of(TABLES[name], Context())
    problem = seeds.problem
    orders, blurs = some_orders(problem, 12), some_blurs(problem, 12)
    made = seeds.made(orders, blurs)
    assert len(made) == 12
    for order, blur, pattern in zip(orders, blurs, made, strict=True):
        boxed = rectangles(problem, order, blur)
        assert (pattern == by_paths(problem, problem.costs(), plain(), start=boxed)).all()
        assert audit(problem.table, problem.pattern(pattern), intervals=False).safe


def test_paths_meet_what_rectangles_leave_open() -> None:
    seeds = seeds_of(TABLES["open levels"], Context())
    boxed = [seeds.rectangles.cheapest(order) for order in some_orders(seeds.problem, 4)]
    rows = np.stack([grid.ravel() for grid in boxed if grid is not None])
    assert not seeds.kernels.safe(seeds.kernels.pack(rows)).all()


def test_the_number_of_threads_changes_nothing() -> None:
    before, made = numba.get_num_threads(), []
    try:
        for threads in (1, before):
            numba.set_num_threads(threads)
            seeds = seeds_of(TABLES["herrington"], Context())
            made.append(np.stack(seeds.made(some_orders(seeds.problem, 9), some_blurs(seeds.problem, 9))))
    finally:
        numba.set_num_threads(before)
    assert (made[0] == made[1]).all()


class Soon(Clock):
    """A clock that ends after so many looks."""

    looks = 10**9

    def left(self) -> float:
        self.looks -= 1
        return 1.0 if self.looks >= 0 else 0.0


def test_a_group_that_the_end_of_the_time_catches_has_its_first_patterns_only() -> None:
    before, clock = numba.get_num_threads(), Soon()
    seeds = seeds_of(TABLES["herrington"], Context(clock=clock))
    orders = some_orders(seeds.problem, 6)
    whole = seeds.made(orders, [None] * 6)
    try:
        numba.set_num_threads(1)
        clock.looks = 4  # one look per order: there are fewer levels than boxes between two looks
        begun = seeds.made(orders, [None] * 6)
        assert len(begun) == 4
        assert (np.stack(begun) == np.stack(whole[:4])).all()
        clock.looks = 0
        with pytest.raises(OutOfTime):
            seeds.made(orders, [None] * 6)
    finally:
        numba.set_num_threads(before)


def test_orders_drawn_at_once_are_those_drawn_one_by_one() -> None:
    one, many = Stream(7, 2), Stream(7, 2)
    assert (np.stack([one.permutation(11) for _ in range(5)]) == many.permutations(5, 11)).all()
    assert one.position == many.position
