"""A picture shows where cells are suppressed, and no value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpuga
from gpuga.errors import InputError
from gpuga.report.plot import pattern_figure, pattern_kinds
from gpuga.table.builders import table_from_array

pytest.importorskip("matplotlib")


def test_every_pair_of_codes_has_its_kind() -> None:
    table = table_from_array(np.arange(1, 9).reshape(2, 2, 2) * 10, sensitive=np.arange(8).reshape(2, 2, 2) == 0)
    assert table.grid is not None
    suppressed = table.forced.copy()
    assert (pattern_kinds(table, suppressed, table.grid, (0, 1)) == 1).all(), "the total over the third is published"
    total = next(
        c for c, at in enumerate(table.grid.coordinate.tolist()) if at == [1, 0, table.grid.dimensions[2].root]
    )
    suppressed[total] = True
    kinds = pattern_kinds(table, suppressed, table.grid, (0, 1))
    assert kinds.tolist() == [[1, 1, 1], [3, 1, 1], [1, 1, 1]]
    assert pattern_kinds(table, suppressed, table.grid, (1, 0)).tolist() == kinds.T.tolist()


def test_a_figure_has_the_codes_and_can_be_drawn(tmp_path: Path) -> None:
    table = table_from_array(
        [[5, 6], [7, 8]], sensitive=[[1, 0], [0, 0]], names=["r$", "c"], codes=[["$x$", "b"], ["y", "z"]]
    )
    figure = gpuga.protect(table, "hypercube").plot()
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == [r"\$x\$", "b", "Total"]
    figure.savefig(tmp_path / "p.png")
    assert (tmp_path / "p.png").stat().st_size > 1000


@pytest.mark.parametrize(("rows", "columns"), [("q", None), (None, "q"), ("r", "r")])
def test_dimensions_that_are_none_are_refused(rows: str | None, columns: str | None) -> None:
    table = table_from_array([[5, 6], [7, 8]], names=["r", "c"])
    with pytest.raises(InputError):
        pattern_figure(table, table.forced, rows, columns)
    swapped = pattern_figure(table, table.forced, "c", "r")
    assert swapped.axes[0].get_ylabel() == "c"
    assert pattern_figure(table, table.forced, columns="r").axes[0].get_ylabel() == "c"


def test_one_dimension_is_no_picture() -> None:
    with pytest.raises(InputError, match="two dimensions"):
        pattern_figure(table_from_array([5, 6, 7]), np.zeros(4, bool))
