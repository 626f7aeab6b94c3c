"""The bound of a table part by part: never above an optimum, above 0 at every size, and the same every time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpuga
from gpuga.bounds import exact, parts
from gpuga.bounds.parts import PartsBound, parts_of, runs, sections
from gpuga.context import Clock, Context
from gpuga.evolution import completer, run
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Bound
from gpuga.table.crossing import crossing_of
from gpuga.table.generate import smith3d
from gpuga.table.table import Table
from tests.planes import random_plane_table


def bounded(table: Table) -> PartsBound:
    made = PartsBound(table)
    for _ in made.rounds(Clock()):
        pass
    return made


def small(seed: int) -> Table:
    """Three-dimensional tables, every other one with a hierarchy."""
    return smith3d((9, 4, 3) if seed % 2 else (5, 4, 4), 0.06, 0.1, seed, hierarchical=seed % 2)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("crossed", [True, False])
def test_it_is_never_above_the_optimum(seed: int, crossed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    table = small(seed)
    best = gpuga.protect(table, "exact", seconds=30)
    if not crossed:
        monkeypatch.setattr(parts, "crossing_of", lambda table, expired: None)
        monkeypatch.setattr(parts, "MOST_ENTRIES", 40)
    made = bounded(table)
    assert best.optimal
    base = GeneralProblem.of(table).base_cost
    assert base + made.bound <= best.scaled_cost
    assert made.bound > 0 or best.scaled_cost == base


@pytest.mark.parametrize("seed", range(6))
def test_parts_take_no_more_than_the_costs_that_are_there(seed: int) -> None:
    table = small(seed)
    made = bounded(table)
    assert (made.left >= 0).all()
    assert (made.left <= table.weight).all()
    assert made.proven <= int((table.weight - made.left).sum()), "a part proves at most what it takes"
    assert ((made.point >= 0) & (made.point <= 1)).all()


def test_every_equation_of_a_crossing_is_in_a_section_of_each_pair_of_its_axes() -> None:
    table = smith3d((5, 4, 3), 0.1, 0.1, 1)
    crossing = crossing_of(table)
    assert crossing is not None
    found = sections(table, crossing)
    rows, columns, layers = crossing.shape
    assert len(found) == rows + columns + layers
    assert (np.bincount(np.concatenate(found), minlength=len(table.lines)) == 2).all()
    assert np.array_equal(np.concatenate(runs(table)), np.arange(len(table.lines)))


def test_sections_of_a_hierarchy_hold_equations_of_the_table_only() -> None:
    table = smith3d((12, 4, 3), 0.1, 0.1, 1, hierarchical=1)
    crossing = crossing_of(table)
    assert crossing is not None
    assert set(np.concatenate(sections(table, crossing)).tolist()) == set(range(len(table.lines)))


def test_nothing_to_protect_is_no_part() -> None:
    table = smith3d((5, 4, 3), 0.1, 0.1, 1)
    nothing = replace(table, status=np.zeros_like(table.status))
    assert parts_of(nothing, Clock()) == []
    assert bounded(nothing).bound == 0


def test_a_two_way_table_is_bounded_as_one_run_of_equations() -> None:
    table = random_plane_table(5, 5, 1, largest=30, sensitive=0.15)
    assert bounded(table).bound <= gpuga.protect(table, "exact").scaled_cost


def test_a_very_large_table_is_bounded_part_by_part_whatever_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    table = smith3d((6, 5, 4), 0.06, 0.1, 2)
    for room in (exact, completer):
        monkeypatch.setattr(room, "MOST_CELLS_AT_ONCE", 10)
    monkeypatch.setattr(exact, "MOST_CELLS_TO_PROVE", 10)
    monkeypatch.setattr(run, "MOST_CELLS_TO_PROVE", 10)
    few = {"generations": 8, "population": 8}
    found = [gpuga.protect(table, "hypercube"), *(gpuga.protect(table, options=few) for _ in range(2))]
    for one in found:
        assert isinstance(one.bound, Bound)
        assert one.bound.kind == "cutting planes part by part"
        assert 0 < one.bound.lower_bound <= one.scaled_cost
    assert np.array_equal(found[1].suppressed, found[2].suppressed)
    assert exact.lower_bound(table, Context()).lower_bound == found[0].bound.lower_bound


def test_time_that_is_up_leaves_what_was_proven() -> None:
    table = smith3d((8, 7, 6), 0.05, 0.1, 1)
    made = PartsBound(table)
    rounds = made.rounds(clock := Clock())
    next(rounds)
    before = made.bound
    clock.interrupt()
    assert not [*rounds]
    assert made.bound == before
    assert not [*PartsBound(table).rounds(Clock(0.0))]
