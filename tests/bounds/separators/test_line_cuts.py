"""Cuts of any linear table, piece by piece: rows hold for every safe pattern, whatever proposed them."""

from __future__ import annotations

import itertools
from math import gcd

import numpy as np
import pytest

from gpuga.bounds.separators.line_cuts import Product, SparseCut, level_row, reduce, rounded_row, whole_product
from gpuga.safety.requirements import Requirements
from gpuga.table import INFINITE, Levels, Lines, Table
from tests.brute_force import is_safe
from tests.planes import random_plane_table


@pytest.mark.parametrize("large", [1, 2**20, 2**29])
def test_a_reduced_row_holds_wherever_the_row_holds_and_is_in_small_numbers(large: int) -> None:
    rng = np.random.default_rng(large)
    for _ in range(80):
        count = int(rng.integers(1, 7))
        rhs = int(rng.integers(1, 60)) * large
        coef = np.minimum(rng.integers(1, 60, count) * large + (rng.integers(0, 2, count) if large > 1 else 0), rhs)
        made = coef.copy()
        asked = reduce(made, rhs)
        assert 0 < asked < 2**31
        assert (made <= asked).all()
        common = gcd(rhs, *coef.tolist())
        if rhs // common < 2**30:
            assert asked == rhs // common
            assert made.tolist() == [c // common for c in coef.tolist()]
        for bits in itertools.product((0, 1), repeat=count):
            assert coef @ np.array(bits) < rhs or made @ np.array(bits) >= asked


def test_a_row_that_is_divided_asks_for_nothing_or_for_something_that_holds() -> None:
    made, asked = rounded_row(np.array([5, 7, 2]), 7, np.array([False, False, False]), 5)
    assert (made.tolist(), asked) == ([1, 2, 1], 2)
    assert rounded_row(np.array([5, 7, 2]), 10, np.array([False, False, False]), 5)[1] == 0
    made, asked = rounded_row(np.array([5, 7, 2]), 7, np.array([False, False, True]), 99)
    assert (made[:2].tolist(), asked) == ([1, 1], 1)
    assert rounded_row(np.array([5, 7]), 4, np.array([True, True]), 99)[1] == 0  # the cover carries more than is asked
    row = SparseCut(np.array([4, 6, 9]), np.array([5, 7, 2]), 7)
    assert row.violation(np.where(np.arange(10) == 4, 0.5, 0.0)) == (7 - 2.5) / 7
    assert row.scale == 7
    assert row.rounded(np.zeros(3, bool), 5).cell.tolist() == [4, 6, 9]
    assert row.rounded(np.zeros(3, bool), 7) is None


def line_table(**more: object) -> Table:
    """One line of four parts and their total; the first part is sensitive."""
    lines = Lines(np.array([0, 5]), np.arange(5, dtype=np.int32), np.array([1, 1, 1, 1, -1]), np.zeros(1, np.int64))
    level = np.array([4, 0, 0, 0, 0])
    given = {"status": np.array([1, 0, 0, 0, 0]), "levels": Levels(level, level, 0 * level)} | more
    return Table.build(np.array([10, 3, 7, 20, 40]), lines, **given)  # type: ignore[arg-type]


def requirements() -> Requirements:
    return Requirements(np.array([0, 0], np.int32), np.array([1, -1], np.int8), np.array([4, 4]))


def product(table: Table, y: int) -> Product:
    return Product.of(table.lines.coef * y, np.array([0]), np.array([1]))


@pytest.mark.parametrize("y", [1, -1, 3])
def test_the_row_of_a_line_says_that_others_must_carry_the_level(y: int) -> None:
    table = line_table(ub=np.array([INFINITE, 9, 8, INFINITE, 43]))
    up, down = (level_row(table, requirements(), requirement, product(table, y)) for requirement in (0, 1))
    assert up is not None  # the others fall, or the total rises by at most 3
    assert up.cell.tolist() == [1, 2, 3, 4]
    assert (up.coef.tolist(), up.rhs) == ([3, 4, 4, 3], 4)
    assert down is not None  # the third part rises by at most 1
    assert (down.coef.tolist(), down.rhs) == ([4, 1, 4, 4], 4)
    forced = line_table(status=np.array([1, 3, 2, 0, 0]))
    left = level_row(forced, requirements(), 0, product(forced, y))
    assert left is not None  # three units come from what was suppressed before, frozen cells give none
    assert (left.cell.tolist(), left.coef.tolist(), left.rhs) == ([3, 4], [1, 1], 1)
    enough = line_table(status=np.array([1, 0, 3, 0, 0]))
    assert level_row(enough, requirements(), 0, product(enough, y)) is None
    other = Product.of(np.array([0, 1, 0, 0, 0]), np.array([0]), np.array([1]))
    assert level_row(table, requirements(), 0, other) is None


def test_rows_of_any_multipliers_hold_for_every_safe_pattern() -> None:
    rng = np.random.default_rng(2)
    rows = 0
    for seed in range(8):
        table = random_plane_table(2, 2, seed, largest=9, sensitive=0.25)
        free = np.flatnonzero(table.suppressible & ~table.forced)
        asked = [
            (c, d, int(level[c]))
            for c in table.sensitive
            for d, level in ((1, table.levels.upper), (-1, table.levels.lower))
            if level[c]
        ]
        if not asked:
            continue
        wanted = Requirements(
            *(np.array(x, t) for x, t in zip(zip(*asked, strict=True), (np.int32, np.int8, np.int64), strict=True))
        )
        made = []
        for _ in range(6):
            y = whole_product(table, rng.integers(-2, 3, len(table.lines)) / rng.choice([1, 2, 3]))
            made += [row for t in range(len(asked)) if (row := level_row(table, wanted, t, y)) is not None]
        rows += len(made)
        for bits in itertools.product((False, True), repeat=len(free)):
            pattern = table.forced.copy()
            pattern[free[np.array(bits)]] = True
            if is_safe(table, pattern):
                assert all(row.violation(pattern.astype(float)) <= 0 for row in made)
    assert rows > 20


def test_multipliers_become_whole_numbers_in_lowest_terms() -> None:
    table = random_plane_table(2, 2, 1)
    dual = np.array([-0.5, 0.0, 1.0, 0.25, 0.0, 0.5])
    found = whole_product(table, dual)
    assert found.line.tolist() == [0, 2, 3, 5]
    assert found.y.tolist() == [2, -4, -1, -2]
    exact = np.zeros(len(table), np.int64)
    np.add.at(exact, table.lines.cell, table.lines.coef * (dual * 4).astype(np.int64)[table.lines.line_of_entry])
    assert found.cell.tolist() == np.flatnonzero(exact).tolist()
    assert found.of_cells.tolist() == exact[exact != 0].tolist()
    even = whole_product(table, np.array([0.0, -6.0, 0.0, 4.0, 0.0, 0.0]))
    assert even.y.tolist() == [3, -2]
    assert np.abs(even.of_cells).max() == 10 or np.abs(even.of_cells).max() == 6
    odd = np.array([np.sqrt(2), 0.0, -np.pi, 0.0, 0.0, 0.0])  # no fractions: nearby ones in parts of a unit
    found = whole_product(table, odd)
    assert np.allclose(found.y / found.y[0], odd[[0, 2]] / odd[0], atol=2e-3)
    nearby = np.zeros(len(table))
    np.add.at(nearby, table.lines.cell, table.lines.coef * odd[table.lines.line_of_entry])
    assert np.allclose(found.of_cells / 1024, nearby[found.cell], atol=2e-3)
    nothing = whole_product(table, np.zeros(6))
    assert not len(nothing.line)
    assert not nothing.of_cells.any()


def test_levels_that_are_too_large_for_sums_make_no_row() -> None:
    lines = Lines(np.array([0, 4]), np.arange(4, dtype=np.int32), np.array([1, 1, 1, -1]), np.zeros(1, np.int64))
    table = Table.build(np.array([1, 1, 1, 3]), lines, status=np.array([1, 0, 0, 0]))
    y = Product.of(lines.coef, np.array([0]), np.array([1]))

    def row(need: int) -> SparseCut | None:
        return level_row(table, Requirements(np.array([0], np.int32), np.array([1], np.int8), np.array([need])), 0, y)

    assert row(2**59) is None
    small = row(2**59 - 2**12)
    assert small is not None
    assert small.cell.tolist() == [1, 2, 3]


def test_how_a_row_was_rounded_is_told_in_the_words_of_the_checker() -> None:
    row = SparseCut(np.array([4, 6, 9]), np.array([5, 7, 2]), 7, origin=("level",))
    cover = np.array([9])
    assert row.origin_of_rounding(np.zeros(0, np.int64), 15) == ("level",)
    assert row.origin_of_rounding(cover, 15) == ("small", ("cover", cover, ("level",)))
    assert row.origin_of_rounding(cover, 14) == ("small", ("divide", 14, cover, ("level",)))
    assert row.scale == 7
    assert SparseCut(cover, cover, 0).scale == 1
    assert SparseCut(cover, cover, -3).scale == 1
    covered = row.rounded(np.array([False, False, True]), 99)
    assert covered is not None
    assert (covered.cell.tolist(), covered.coef.tolist(), covered.rhs) == ([4, 6], [1, 1], 1)
    assert covered.origin[1][1].tolist() == [9]
