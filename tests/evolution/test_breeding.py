"""Operators take and give whole populations of safe patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpuga
from gpuga.context import Clock, Context
from gpuga.evolution.breeding import Breeder
from gpuga.evolution.engine import new_toolbox
from gpuga.evolution.kernels import kernels_of
from gpuga.evolution.population import Population
from gpuga.evolution.run import prices_of
from gpuga.kernels.random import Stream
from gpuga.problem.problem import problem_for
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table

TABLES = (herrington(14, 14, 0.05, 2), smith3d((5, 5, 4), 0.06, 0.1, 2))


def breeder_of(table: Table, size: int = 12, clock: Clock | None = None) -> Breeder:
    problem = problem_for(table)
    breeder = Breeder(kernels_of(problem, Context()), Stream(3, 1), size, clock=clock or Clock())
    weight = problem.weight.ravel()
    breeder.price([prices_of(weight, np.zeros(len(weight)))], problem.candidate.ravel())
    return breeder


def all_safe(table: Table, population: Population) -> bool:
    problem = problem_for(table)
    forced, shape = problem.forced.ravel(), problem.weight.shape
    patterns = [problem.pattern((member.suppressed & ~forced).reshape(shape)) for member in population]
    return all(gpuga.audit(table, pattern, intervals=False).safe for pattern in patterns)


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "3-D"])
def test_every_operator_gives_safe_patterns(table: Table) -> None:
    breeder = breeder_of(table)
    population = breeder.newcomers(12)
    children = [breeder.mate(breeder.select(population, 12)), breeder.mutate(population), breeder.newcomers(3)]
    assert all(all_safe(table, group) for group in [population, *children])
    assert len(children[1]) >= 1
    assert len(children[2]) == 3


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "3-D"])
def test_survivors_are_different_and_hold_the_best(table: Table) -> None:
    breeder = breeder_of(table, 8)
    population, offspring = breeder.newcomers(8), breeder.newcomers(20)
    left = breeder.survive(population, offspring)
    assert len(left) == len(set(left.digests.tolist())) <= 8
    assert left.costs.min() == min(population.costs.min(), offspring.costs.min())


def test_a_user_pattern_is_completed_not_replaced() -> None:
    breeder, problem = breeder_of(TABLES[0]), problem_for(TABLES[0])
    nothing = breeder.kernels.pack(np.zeros((2, problem.weight.size), bool))
    assert all_safe(TABLES[0], breeder.newcomers(2, nothing))


def test_generations_get_smaller_where_time_is_short() -> None:
    breeder = breeder_of(TABLES[0], 64, Clock(0.05))
    toolbox = new_toolbox()
    for name in ("select", "mate", "mutate", "newcomers"):
        toolbox.register(name, getattr(breeder, name))
    breeder.vary(breeder.newcomers(8), toolbox)
    assert breeder.share < 1


class ChildrenClock(Clock):
    """A clock by which every child takes so many seconds, and nothing else does."""

    def __init__(self, seconds: float, each: float) -> None:
        super().__init__(seconds)
        self.each, self.children = each, 0

    def spent(self) -> float:
        """Seconds of the children so far."""
        return self.each * self.children

    def watch(self, breeder: Breeder, monkeypatch: pytest.MonkeyPatch) -> None:
        """Count the children that a breeder decodes, one at a time."""
        decode = breeder.kernels.decode

        def counted(start: Any, *rest: Any) -> Any:
            self.children += start.count
            return decode(start, *rest)

        monkeypatch.setattr(breeder.kernels, "decode", counted)
        monkeypatch.setattr(type(breeder.kernels), "threads", 1, raising=False)
        vars(breeder.kernels).pop("threads", None)


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "3-D"])
def test_generations_begin_within_a_tenth_of_a_limited_time(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ChildrenClock(100.0, 1.0)
    breeder = breeder_of(table, 32, clock)
    clock.watch(breeder, monkeypatch)
    first = breeder.seeded(32)
    assert 2 <= len(first) <= 10, "32 would take a third of the time"
    assert clock.spent() <= 10
    assert breeder.owed + len(first) == breeder.size == 20


def test_individuals_that_there_was_no_time_for_come_as_newcomers(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ChildrenClock(100.0, 1.0)
    breeder = breeder_of(TABLES[1], 32, clock)
    clock.watch(breeder, monkeypatch)
    population = breeder.seeded(32)
    owed, made = breeder.owed, list[int]()
    toolbox = new_toolbox()
    for name in ("select", "mate", "mutate"):
        toolbox.register(name, getattr(breeder, name))

    def newcomers(count: int) -> Population:
        made.append(count)
        return breeder.newcomers(count)

    toolbox.register("newcomers", newcomers)
    for _ in range(owed):
        breeder.size = 1  # a population that is full of relatives still gets them
        breeder.vary(population, toolbox)
    assert made == [1] * owed
    breeder.vary(population, toolbox)
    assert (breeder.owed, made[owed]) == (0, 0)


def test_without_a_limit_the_whole_first_population_comes_first() -> None:
    breeder, other = breeder_of(TABLES[1], 20), breeder_of(TABLES[1], 20)
    assert breeder.seeded(32).digests.tolist() == other.newcomers(20).digests.tolist()
    assert (breeder.owed, breeder.share, breeder.size) == (0, 1.0, 20)


@pytest.mark.parametrize(("limit", "expected"), [(None, 8), (100.0, 1)])
def test_small_generations_of_general_tables_destroy_one_of_eight(limit: float | None, expected: int) -> None:
    breeder = breeder_of(TABLES[1], 16, Clock(limit))
    breeder.share = 0.01
    population = breeder.newcomers(4)
    before = breeder.children
    for _ in range(8):
        breeder.mutate(population)
    assert breeder.children - before == expected


@pytest.mark.parametrize(("limit", "expected"), [(None, 1), (100.0, 3)])
def test_in_limited_time_as_many_children_inherit_as_are_made_at_once(
    limit: float | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    breeder = breeder_of(smith3d((8, 8, 8), 0.08, 0.1, 2), 16, Clock(limit))
    population = breeder.newcomers(12)
    breeder.share = 0.01
    breeder.without = frozenset({"components"})
    monkeypatch.setattr(type(breeder.kernels), "threads", 3)
    before = breeder.children
    breeder.mate(population.members)
    assert breeder.children - before == expected


def test_the_same_stream_gives_the_same_children() -> None:
    first, second = (breeder_of(TABLES[0]).newcomers(10) for _ in range(2))
    assert first.digests.tolist() == second.digests.tolist()
