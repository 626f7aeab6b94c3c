"""Wishes that no safe pattern can meet are named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpuga
from gpuga.errors import Infeasible
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table

TABLES = [herrington(6, 6, 0.1, 1), smith3d((4, 4, 4), 0.1, 0.0, 3)]


def around(table: Table) -> tuple[dict[str, str], dict[str, str]]:
    """A wish for everything in the row of a sensitive cell, and a harmless one."""
    assert table.grid is not None
    first, *others = table.grid.dimensions
    row = first.codes[table.grid.coordinate[table.sensitive[0], 0]]
    return {first.name: row} | {d.name: "*" for d in others}, {first.name: "Total"}


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "three-way"])
def test_the_wish_that_cannot_be_met_is_named_and_the_harmless_one_is_not(table: Table) -> None:
    bad, harmless = around(table)
    with pytest.raises(Infeasible, match="what is to be kept cannot be published") as fault:
        gpuga.protect(table, "exact", keep=[harmless, bad])
    said = str(fault.value)
    assert ",".join(f"{name}={code}" for name, code in bad.items()) in said
    assert "=Total published" not in said
    assert table.label(fault.value.cells[0]) in said


def test_a_table_that_cannot_be_protected_anyway_is_not_blamed_on_wishes() -> None:
    table = TABLES[0]
    frozen = table.status.copy()
    frozen[~table.primary] = 2
    impossible = replace(table, status=frozen)
    with pytest.raises(Infeasible, match="no safe pattern exists"):
        gpuga.protect(impossible, "exact", keep=[around(table)[1]])


def test_wishes_that_only_together_cannot_be_met_are_named_together() -> None:
    table = TABLES[0]
    assert table.grid is not None
    rows, columns = table.grid.dimensions
    cell = int(table.sensitive[0])
    row = rows.codes[table.grid.coordinate[cell, 0]]
    others = [c for c in np.flatnonzero(table.grid.coordinate[:, 0] == table.grid.coordinate[cell, 0]) if c != cell]
    wishes = [{rows.name: row, columns.name: columns.codes[table.grid.coordinate[c, 1]]} for c in others]
    with pytest.raises(Infeasible, match="cannot together be published"):
        gpuga.protect(table, "exact", keep=wishes)
