"""Cells that must be published because the user wishes so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpuga
from gpuga.errors import InputError
from gpuga.table.generate import smith3d
from gpuga.table.table import Status, Table
from gpuga.table.wishes import totals_of, wished, with_kept


@pytest.fixture
def table() -> Table:
    return smith3d((5, 4, 4), 0.1, 0.1, 3)


def codes(table: Table, cell: int) -> tuple[str, ...]:
    assert table.grid is not None
    return tuple(d.codes[c] for d, c in zip(table.grid.dimensions, table.grid.coordinate[cell], strict=True))


def test_a_code_stands_for_its_total_over_the_other_dimensions(table: Table) -> None:
    (one,) = wished(table, ["row=r2"])
    assert [codes(table, cell) for cell in np.flatnonzero(one.cells)] == [("r2", "Total", "Total")]
    assert (wished(table, [{"row": "r2"}])[0].cells == one.cells).all()
    (grand,) = wished(table, ["row=Total"])
    assert [codes(table, cell) for cell in np.flatnonzero(grand.cells)] == [("Total", "Total", "Total")]


def test_a_star_stands_for_all_codes_that_are_not_sensitive(table: Table) -> None:
    (one,) = wished(table, ["row=r2, column=*"])
    found = {codes(table, cell) for cell in np.flatnonzero(one.cells)}
    assert found == {("r2", c, "Total") for c in ("c1", "c2", "c3", "Total")}
    (every,) = wished(table, ["row=*,column=*,layer=*"])
    assert (every.cells == ~table.forced).all()


def test_totals_of_a_level_are_those_that_many_steps_below_the_grand_total(table: Table) -> None:
    for level in range(4):
        (one,) = wished(table, keep_totals=level)
        for cell in range(len(table)):
            below = sum(code != "Total" for code in codes(table, cell))
            expected = below <= level and below < 3 and not table.primary[cell]
            assert one.cells[cell] == expected, codes(table, cell)
    assert totals_of(table).sum() == 5 * 4 * 4 - 4 * 3 * 3


def test_kept_cells_are_published_and_cost_something(table: Table) -> None:
    free = gpuga.protect(table, "exact", seed=1)
    hidden = next(c for c in np.flatnonzero(free.suppressed & ~table.primary))
    wish = dict(zip(("row", "column", "layer"), codes(table, hidden), strict=True))
    kept = gpuga.protect(table, "exact", seed=1, keep=[wish])
    assert not kept.suppressed[hidden]
    assert kept.cost >= free.cost
    assert kept.table is table
    assert [int(one.cells.sum()) for one in kept.kept] == [1]


def test_kept_cells_are_frozen_and_nothing_else_changes(table: Table) -> None:
    kept = wished(table, ["row=Total"])
    changed = with_kept(table, kept)
    assert (changed.status[kept[0].cells] == Status.FROZEN).all()
    assert (changed.status == table.status)[~kept[0].cells].all()


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("row", "is not DIM=CODE"),
        ("=r1", "is not DIM=CODE"),
        ("town=r1", "there is no dimension 'town'"),
        ("row=r77", "row has no code 'r77'"),
    ],
)
def test_wishes_for_what_is_not_there_are_refused(table: Table, wish: str, said: str) -> None:
    with pytest.raises(InputError, match=f"--keep: .*{said}"):
        wished(table, [wish])


def test_a_sensitive_cell_cannot_be_wished_for(table: Table) -> None:
    wish = dict(zip(("row", "column", "layer"), codes(table, int(table.sensitive[0])), strict=True))
    with pytest.raises(InputError, match="cannot be published: it is sensitive"):
        wished(table, [wish])


def test_levels_and_tables_without_dimensions_are_refused(table: Table) -> None:
    with pytest.raises(InputError, match="--keep-totals: -1 is not a level"):
        wished(table, keep_totals=-1)
    bare = replace(table, grid=None)
    for given in ({"keep": ["row=Total"]}, {"keep_totals": 0}):
        with pytest.raises(InputError, match="needs a table with dimensions"):
            wished(bare, **given)
