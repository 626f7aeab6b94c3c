"""Losses count what they say they count."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpuga.files.read import read_source
from gpuga.report.losses import level_word, losses_of
from gpuga.report.names import Names
from gpuga.table.builders import table_from_array, table_from_frame


def test_cells_and_values_are_counted_by_level() -> None:
    table = table_from_array([[10, 20], [30, 40]], sensitive=[[1, 0], [0, 0]], names=["r", "c"])
    suppressed = table.forced.copy()
    suppressed[[1, 4]] = True
    losses = losses_of(table, suppressed)
    assert (losses.cells, losses.primary, losses.secondary, losses.suppressed) == (9, 1, 2, 3)
    assert losses.share == 3 / 9
    levels = {(level.dimension, level.depth): level for level in losses.levels}
    assert levels.keys() == {("r", 0), ("r", 1), ("c", 0), ("c", 1)}
    assert sum(level.suppressed for level in losses.levels if level.dimension == "r") == 3
    inner = levels["c", 1]
    assert inner.value == 200 * table.scale
    assert 0 < inner.value_share < 1


def test_suppressed_totals_are_named_from_the_top() -> None:
    tree = {"North": None, "Coast": "North", "Hills": "North", "South": None}
    frame = {"r": ["Coast", "Hills", "South", "Coast", "Hills", "South"], "c": [*"xxxyyy"], "value": [1, 2, 3, 4, 5, 6]}
    table = table_from_frame(frame, hierarchies={"r": tree})
    names = Names(table)
    suppressed = np.ones(len(table), bool)
    totals = [names(cell) for cell in losses_of(table, suppressed).totals]
    assert totals[0] == "r=Total, c=Total"
    assert "r=North, c=x" in totals
    assert "r=Coast, c=x" not in totals
    assert losses_of(table, table.forced).totals == ()
    assert table.grid is not None
    assert [level_word(table.grid.dimensions[0], depth) for depth in (0, 1, 2)] == ["total", "level 1", "detail"]


def test_a_table_without_dimensions_knows_its_totals_by_its_equations(tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(
        "0\n3\n7 5 5 u 0 100 1 1 0\n8 7 7 s 0 100 0 0 0\n9 12 12 s 0 100 0 0 0\n1\n0 3 : 9 (-1) 7 (1) 8 (1)\n"
    )
    source = read_source(tmp_path / "t.jj")
    losses = losses_of(source.table, np.ones(3, bool))
    assert losses.levels == ()
    assert [Names.of(source)(cell) for cell in losses.totals] == ["cell 9"]
