"""Intervals: limits first, many cells at once, then one by one, and never past the clock."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gpuga.context import Clock, Context
from gpuga.safety.attacker import Attacker
from gpuga.safety.audit import audit
from gpuga.safety.evidence import Evidence
from gpuga.safety.intervals import farthest, reaches
from gpuga.table import INFINITE, Lines, Table
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.generate import smith3d
from tests.support.exact_attacker import intervals
from tests.support.small_tables import random_pattern, random_table


class Ended(Clock):
    """A clock whose time is up."""

    def expired(self) -> bool:
        return True


def evidence_of(table: Table, suppressed: np.ndarray, *, whole: bool = False) -> Evidence:
    return Evidence(table, suppressed, AttackerModel(whole=whole))


def unequal() -> Table:
    """Two cells whose line has other coefficients than 1: a move of one third is possible."""
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([2, -3]), np.zeros(1, np.int64))
    return Table.build(np.array([30, 20]), lines, ub=np.array([37, 99]), lb=np.array([24, 0]))


def test_a_farthest_move_in_whole_numbers_is_looked_for_only_where_the_linear_one_is_none() -> None:
    table, both = unequal(), np.ones(2, bool)
    attacker = Attacker(table, both)
    plain, whole = evidence_of(table, both), evidence_of(table, both, whole=True)
    assert farthest(attacker, plain, 1, 1, Clock()).attained == Fraction(14, 3)
    assert farthest(attacker, whole, 1, 1, Clock()).attained == 4
    assert farthest(attacker, whole, 1, -1, Clock()).attained == 4
    before = attacker.solves
    farthest(attacker, whole, 0, -1, Clock())
    assert attacker.solves == before + 1


def test_parts_of_a_unit_do_not_count_as_attained_for_who_knows_whole_numbers() -> None:
    table, both = unequal(), np.ones(2, bool)
    found = reaches(table, both, evidence_of(table, both, whole=True), Context())
    assert [(rise.attained, fall.attained) for rise, fall in found.by_cell.values()] == [(6, 6), (4, 4)]
    linear = reaches(table, both, evidence_of(table, both), Context())
    assert linear.by_cell[1][0].attained == linear.by_cell[1][0].bound == Fraction(14, 3)


def test_after_the_time_intervals_are_what_was_shown_and_said_not_to_be_exact() -> None:
    table = smith3d((4, 3, 3), 0.2, 0.0, seed=3)
    hidden = table.suppressible
    shown = evidence_of(table, hidden)
    cell = int(np.flatnonzero(hidden)[0])
    shown.note(cell, 1, Fraction(5, 2))
    found = reaches(table, hidden, shown, Context(clock=Ended()))
    late = found.by_cell[cell][0]
    assert (late.attained, late.witness, late.bound, found.solves) == (Fraction(5, 2), None, None, 0)
    assert set(found.by_cell) == set(np.flatnonzero(hidden).tolist())


def test_most_cells_need_no_program_of_their_own() -> None:
    table = smith3d((8, 6, 5), 0.2, 0.0, seed=1)
    assert table.grid is not None
    codes = [len(dimension.codes) - 1 for dimension in table.grid.dimensions]
    hidden = table.suppressible & ~(table.grid.coordinate == codes).any(axis=1)
    found = reaches(table, hidden, evidence_of(table, hidden), Context())
    assert all(reach.unbounded or reach.attained == reach.bound for both in found.by_cell.values() for reach in both)
    assert found.solves < len(found.by_cell) / 2  # two questions a cell


def test_one_ray_answers_for_all_cells_that_it_moves() -> None:
    # a - b = 0, b - c = 0, without upper bounds: one change moves all three for ever
    lines = Lines(
        np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32), np.array([1, -1, 1, -1]), np.zeros(2, np.int64)
    )
    table = Table.build(np.array([7, 7, 7]), lines, ub=np.full(3, INFINITE))
    all_three = np.ones(3, bool)
    found = reaches(table, all_three, evidence_of(table, all_three), Context())
    assert all(rise.unbounded for rise, _ in found.by_cell.values())
    assert all(not fall.unbounded and fall.attained == fall.bound == 7 for _, fall in found.by_cell.values())
    assert found.solves <= 3


@pytest.mark.parametrize("seed", range(3))
def test_intervals_of_larger_tables_are_the_exact_attackers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, (4, 3, 3), bounded=bool(seed % 2))
    hidden = random_pattern(rng, table, 0.7)
    truth = intervals(table, hidden, np.flatnonzero(hidden).tolist())
    for cell in audit(table, hidden).cells:
        rise, fall = truth[cell.cell]
        value = int(table.value[cell.cell])
        assert cell.exact
        assert cell.max == (None if rise is None else value + rise)
        assert cell.min == (None if fall is None else value - fall)
