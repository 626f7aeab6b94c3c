"""A sensitive cell whose levels are all 0 must not be exactly known."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpuga
from gpuga.methods import METHODS

DATA = Path(__file__).parent / "data"


def test_a_cell_without_levels_is_not_safe_at_a_point() -> None:
    table = gpuga.read_table(DATA / "level_zero.jj")
    alone = gpuga.audit(table, table.forced)
    assert alone.unsafe == (0,)
    assert gpuga.audit(table, table.forced, level_zero="ignore").safe
    assert gpuga.exposure(table).exposed == (0,)
    assert gpuga.exposure(table, level_zero="ignore").exposed == ()
    found = gpuga.protect(table, "incremental")
    interval = next(c for c in gpuga.audit(table, found.suppressed).cells if c.cell == 0)
    assert interval.min != interval.max
    assert gpuga.protect(table, "incremental", level_zero="ignore").cost == 0


@pytest.mark.parametrize("name", ["level_zero", "level_zero_larger", "level_zero_largest", "level_zero_and_right_side"])
@pytest.mark.parametrize("method", ["circuits", "exact", "hypercube", "incremental", "marginal"])
def test_methods_protect_cells_without_levels(name: str, method: str) -> None:
    assert method in {m.name for m in METHODS}
    table = gpuga.read_table(DATA / f"{name}.jj")
    found = gpuga.protect(table, method, options={"generations": 2} if method == "circuits" else {})
    for cell in gpuga.audit(table, found.suppressed).cells:
        if cell.kind == "primary":
            assert cell.min is None or cell.max is None or cell.max - cell.min >= 1 / table.scale


def test_the_strict_reading_asks_cells_without_levels_to_move_both_ways() -> None:
    table = gpuga.read_table(DATA / "level_zero.jj")
    assert gpuga.audit(table, table.suppressible, strict=True).safe
    assert not gpuga.audit(table, table.forced, strict=True).safe
