"""Exposure: the worked example of Serpell, Clark, Smith and Staggemeier (2008), and what the sets mean."""

from __future__ import annotations

import numpy as np

from gpuga.safety.audit import audit
from gpuga.safety.exposure import exposure, initially_exposed
from gpuga.safety.unpick import unpick
from gpuga.table import INFINITE, Table
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
