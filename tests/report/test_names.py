"""Cells are called by their codes, groups by the cells that they are the sums of."""

from __future__ import annotations

import numpy as np

from gpuga.report.names import Names
from gpuga.table.builders import table_from_array
from gpuga.table.groups import with_groups
from gpuga.table.table import Levels


def test_a_group_is_called_by_its_cells_and_never_by_a_position() -> None:
    table = table_from_array(
        [[5, 6, 7], [8, 9, 10]],
        sensitive=np.ones((2, 3), bool),
        names=["region", "size"],
        codes=[["N", "S"], ["x", "y", "z"]],
    )
    one = np.ones(2, np.int64)
    table = with_groups(table, [[0, 1], [0, 1, 2, 4]], Levels(one, one, 0 * one))
    names = Names(table)
    assert names(0) == "region=N, size=x"
    assert names.codes(len(table) - 2) == ["sum of N × x + N × y"]
    assert names(len(table) - 2) == "sum of N × x + N × y"
    assert names(len(table) - 1) == "sum of N × x + N × y + N × z + 1 more"
