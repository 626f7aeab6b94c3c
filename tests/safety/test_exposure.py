"""Exposure: the worked example of Serpell, Clark, Smith and Staggemeier (2008), and what the sets mean."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.safety.audit import audit
from gpuga.safety.exposure import _beyond_single_lines, _safe_in_own_lines, exposure, initially_exposed
from gpuga.safety.unpick import unpick
from gpuga.table import INFINITE, Levels, Lines, Table
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.builders import table_from_frame
from tests.support.exact_attacker import intervals
from tests.support.small_tables import random_pattern, random_table

ROWS = {
    "Total": [1472, 193, 278, 203, 294, 233, 271],
    "A": [199, 9, 51, 41, 47, 3, 48],
    "B": [164, 8, 1, 54, 44, 45, 12],
    "C": [245, 8, 70, 6, 76, 64, 21],
    "D": [248, 33, 46, 45, 27, 37, 60],
    "E": [312, 87, 51, 18, 35, 49, 72],
    "F": [304, 48, 59, 39, 65, 35, 58],
}
SENSITIVE = {8, 12, 15, 16, 19, 20, 24, 27}


def serpell_table() -> Table:
    """Table 1 of the paper; levels are 10 % of the value, at least 1."""
    cells = [(r, c, v) for r, row in ROWS.items() for c, v in zip(["Total", *"123456"], row, strict=True)]
    return table_from_frame(
        {
            "row": [r for r, _, _ in cells],
            "column": [c for _, c, _ in cells],
            "value": np.array([v for _, _, v in cells]),
            "status": ["u" if i in SENSITIVE else "s" for i in range(len(cells))],
        },
        levels="max(1,10%)",
    )


def pattern(table: Table, secondary: set[int]) -> np.ndarray:
    suppressed = table.forced.copy()
    suppressed[list(secondary)] = True
    return suppressed


def test_the_papers_example_gives_its_sets() -> None:
    sets = exposure(serpell_table())
    assert sets.exposed == (16, 19, 20, 24, 27)
    assert sets.initially_exposed == (16, 19, 24)
    assert sets.consequentially_exposed == (20, 27)
    assert sets.not_exposed == (8, 12, 15)


def test_the_papers_optimum_is_safe_and_less_is_not() -> None:
    table = serpell_table()
    assert audit(table, pattern(table, {37, 38, 40})).safe
    short = audit(table, pattern(table, {37, 38}))
    assert short.unsafe == (19, 20, 27)


def test_initially_exposed_cells_are_exposed() -> None:
    rng = np.random.default_rng(3)
    for number in range(60):
        table = random_table(rng, (3, 3, 2) if number % 2 else (4, 4), sensitive=0.3)
        sets = exposure(table)
        assert set(initially_exposed(table).tolist()) <= set(sets.exposed)
        assert set(sets.exposed) | set(sets.not_exposed) == set(table.sensitive.tolist())


def test_unpicking_encloses_the_attackers_interval() -> None:
    rng = np.random.default_rng(4)
    for number in range(60):
        table = random_table(rng, (3, 3, 2) if number % 2 else (4, 4), bounded=number % 3 == 0)
        suppressed = random_pattern(rng, table, 0.3)
        rises, falls = unpick(table, suppressed)
        for cell, (rise, fall) in intervals(table, suppressed, np.flatnonzero(suppressed).tolist()).items():
            assert rises[cell] >= INFINITE if rise is None else rises[cell] >= rise
            assert falls[cell] >= INFINITE if fall is None else falls[cell] >= fall


def one_line(lower: int, upper: int, sliding: int, *, ub: int = 13, lb: int = 7) -> Table:
    """Two hidden cells and their published total; the first is sensitive, the second moves as little as its bounds."""
    lines = Lines(np.array([0, 3]), np.arange(3, dtype=np.int32), np.array([1, 1, -1]), np.zeros(1, np.int64))
    first = np.array([1, 0, 0])
    levels = Levels(lower * first, upper * first, sliding * first)
    return Table.build(
        np.array([10, 10, 20]),
        lines,
        status=np.array([1, 3, 0], np.uint8),
        ub=np.array([INFINITE, ub, INFINITE]),
        lb=np.array([0, lb, 0]),
        levels=levels,
    )


@pytest.mark.parametrize(
    ("levels", "strict", "exposed"),
    [
        ((3, 3, 0), False, False),
        ((3, 3, 0), True, True),
        ((4, 0, 0), False, True),
        ((0, 4, 0), False, True),
        ((2, 2, 0), True, False),
        ((0, 0, 6), False, False),
        ((0, 0, 7), False, True),
        ((0, 0, 6), True, True),
        ((0, 0, 5), True, False),
    ],
)
def test_a_line_exposes_a_cell_whose_levels_or_width_it_does_not_leave(
    levels: tuple[int, int, int], strict: bool, exposed: bool
) -> None:
    table = one_line(*levels)
    assert initially_exposed(table, AttackerModel(strict)).tolist() == ([0] if exposed else [])
    assert exposure(table, strict=strict).exposed == ((0,) if exposed else ())


def test_a_cell_that_may_move_without_end_one_way_is_wide_enough() -> None:
    free_up = one_line(0, 0, 10**9, ub=13, lb=-INFINITE)  # the second may fall, so the first may rise
    free_down = Table.build(
        free_up.value, free_up.lines, status=free_up.status, ub=np.full(3, INFINITE), lb=np.array([-INFINITE, 7, 0]),
        levels=free_up.levels,
    )  # fmt: skip
    for table in (free_up, free_down):
        assert initially_exposed(table).tolist() == []
        assert exposure(table).exposed == ()


def twice_met() -> Table:
    """Sum and difference of two hidden cells are published, twice over: only both lines together show a cell."""
    cell = np.array([0, 1, 2, 0, 1, 3, 4, 5, 6, 4, 5, 7], np.int32)
    coef = np.array([1, 1, -1, 1, -1, -1] * 2)
    lines = Lines(np.arange(0, 13, 3), cell, coef, np.zeros(4, np.int64))
    level = np.array([2, 0, 0, 0, 2, 0, 0, 0])
    status = np.array([1, 3, 0, 0] * 2, np.uint8)
    return Table.build(np.array([30, 10, 40, 20] * 2), lines, status=status, levels=Levels(level, level, 0 * level))


def test_beyond_single_lines_are_taken_together_until_the_time_is_up() -> None:
    table = twice_met()
    assert initially_exposed(table).tolist() == [0, 4]
    for looks, seen in ((0, []), (1, [0]), (2, [0, 4])):
        left = [True] * looks
        assert initially_exposed(table, expired=lambda left=left: not (left and left.pop())).tolist() == seen


def test_only_lines_that_share_another_hidden_cell_are_taken_together() -> None:
    table = twice_met()
    assert _beyond_single_lines(table, table.forced) == [0, 4]
    assert _beyond_single_lines(table, table.primary) == []  # the cells that they share are published
    plain = one_line(1, 1, 0)
    assert _beyond_single_lines(plain, plain.forced) == []
    square = serpell_table()
    assert _beyond_single_lines(square, square.forced) == []
    none = Lines(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))
    alone = Table.build(np.array([5]), none, status=np.array([1], np.uint8), levels=Levels(*[np.ones(1, np.int64)] * 3))
    assert _beyond_single_lines(alone, alone.forced) == []


def test_levels_that_must_be_exceeded_are_so_in_a_cells_own_lines_too() -> None:
    """Sum and double sum of two cells: together they leave the first as much room as one of them, 3 both ways."""
    cell = np.array([0, 1, 2, 0, 1, 3], np.int32)
    lines = Lines(np.array([0, 3, 6]), cell, np.array([1, 1, -1, 2, 2, -1]), np.zeros(2, np.int64))
    for level, strict, exposed in ((3, False, False), (3, True, True), (2, True, False)):
        levels = np.array([level, 0, 0, 0])
        table = Table.build(
            np.array([10, 10, 20, 40]),
            lines,
            status=np.array([1, 3, 0, 0], np.uint8),
            ub=np.array([INFINITE, 13, INFINITE, INFINITE]),
            lb=np.array([0, 7, 0, 0]),
            levels=Levels(levels, levels, 0 * levels),
        )
        assert initially_exposed(table, AttackerModel(strict)).tolist() == ([0] if exposed else [])
        assert _safe_in_own_lines(table, 0, AttackerModel(strict)) is not exposed
