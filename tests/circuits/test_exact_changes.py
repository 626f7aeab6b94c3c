"""Changes that solvers propose become exact, whatever their fractions."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.circuits.joint_change import JointChange
from gpuga.safety.requirements import level_requirements
from gpuga.safety.vertex import exact_near
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table.table import INFINITE, Ints, Table
from tests.support.small_tables import random_table


def columns_of(table: Table) -> tuple[Ints, Ints, Ints]:
    """All lines of a table in compressed columns."""
    start, line, coef = table.lines.by_cell(len(table))
    return start.astype(np.int32), line, coef


@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 3), (2, 3, 2, 3)])
def test_any_point_has_an_exact_change_near_it(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(7)
    table = random_table(rng, shape)
    start, line, coef = columns_of(table)
    for share in (1.0, 0.8, 0.5):
        x = rng.normal(0, 50, len(table)) * (rng.random(len(table)) < share)
        made = exact_near(x, start, line, coef, 16)
        assert made is not None
        amounts, denominator = made
        assert not table.lines.apply(np.asarray(amounts, np.int64)).any()
        assert not amounts[x == 0].any()
        assert denominator % 16 == 0


def test_a_change_that_is_consistent_already_stays_as_it_is() -> None:
    rng = np.random.default_rng(8)
    table = random_table(rng, (4, 4, 3))
    start, line, coef = columns_of(table)
    whole = exact_near(rng.normal(0, 9, len(table)), start, line, coef, 1)
    assert whole is not None
    again = exact_near(np.asarray(whole[0], float), start, line, coef, 1)
    assert again is not None
    assert (again[0] == whole[0]).all()


def test_a_joint_change_holds_exactly_and_moves_the_cells_that_were_asked_for() -> None:
    rng = np.random.default_rng(9)
    table = random_table(rng, (6, 5, 4), largest=60, sensitive=0.05)
    allowed = AllowedChanges.of(table, table.suppressible)
    requirements = level_requirements(table)
    one_way = requirements.subset(requirements.direction > 0)
    witness = JointChange(table, allowed).find(one_way, table.forced)
    assert witness is not None
    assert hold(allowed, witness)[0]
    cells, amounts, denominator = witness.one(0)
    moved = dict(zip(cells.tolist(), amounts.tolist(), strict=True))
    reached = [moved.get(int(c), 0) >= int(n) * denominator for c, n in zip(one_way.cell, one_way.need, strict=True)]
    assert np.mean(reached) > 0.5
    assert (table.up[cells] <= INFINITE).all()
