"""The audit agrees with an independent attacker in rationals on every sensitive cell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gpuga.safety.audit import audit
from gpuga.table import Table
from tests.support.exact_attacker import intervals
from tests.support.small_tables import random_pattern, random_table


def expected(table: Table, cell: int, rise: Fraction | None, fall: Fraction | None, strict: bool) -> bool:
    rise = Fraction(10**9) if rise is None else rise
    fall = Fraction(10**9) if fall is None else fall
    upper, lower = int(table.levels.upper[cell]), int(table.levels.lower[cell])
    sliding = int(table.levels.sliding[cell])
    if strict:
        return rise > upper and fall > lower and (sliding == 0 or rise + fall > sliding)
    return rise >= upper and fall >= lower and rise + fall >= sliding


@pytest.mark.parametrize(
    ("shape", "tables", "seed"),
    [
        ((4, 4), 700, 1),
        ((3, 4), 400, 2),
        ((2, 3), 300, 3),
        ((3, 3, 3), 250, 4),
        ((2, 3, 3), 250, 5),
        ((2, 2, 2), 100, 6),
    ],
)
def test_every_verdict_is_the_exact_attackers(shape: tuple[int, ...], tables: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(tables):
        table = random_table(
            rng, shape, sliding=number % 3 == 0, bounded=number % 4 == 1, level=0.15 + 0.3 * (number % 2)
        )
        suppressed = random_pattern(rng, table, rng.choice([0.0, 0.2, 0.5]))
        strict = bool(number % 2)
        verdict = audit(table, suppressed, strict=strict, intervals=False)
        assert verdict.audited == len(table.sensitive)
        reach = intervals(table, suppressed, table.sensitive.tolist())
        for cell in verdict.cells:
            assert cell.safe == expected(table, cell.cell, *reach[cell.cell], strict), (number, cell)


@pytest.mark.parametrize(("shape", "seed"), [((4, 4), 11), ((3, 3, 2), 12)])
def test_intervals_are_the_exact_attackers(shape: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(40):
        table = random_table(rng, shape, bounded=bool(number % 2))
        suppressed = random_pattern(rng, table, 0.4)
        reach = intervals(table, suppressed, np.flatnonzero(suppressed).tolist())
        for cell in audit(table, suppressed).cells:
            rise, fall = reach[cell.cell]
            value = int(table.value[cell.cell])
            assert cell.max == (None if rise is None else value + rise)
            assert cell.min == (None if fall is None else value - fall)
