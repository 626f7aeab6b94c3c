"""Tables with hierarchies on two dimensions: additive, repeatable, with as many sensitive cells as asked for."""

from __future__ import annotations

import numpy as np
import pytest

from bench.nested import grouped, nested3d
from bench.tables import named_table
from gpuga.table.table import Status


def test_groups_and_their_members_make_up_the_codes() -> None:
    dimension = grouped("region", 17, 3)
    assert len(dimension.codes) == 17
    assert dimension.depth.max() == 2
    members = np.bincount(dimension.parent[dimension.is_leaf])
    assert members[members > 0].tolist() == [3, 3, 3, 3]
    with pytest.raises(ValueError, match="too few"):
        grouped("region", 4, 3)


def test_the_table_of_the_comparison_has_1360_cells_and_repeats() -> None:
    table, again = nested3d((17, 10, 8), 0.05, 1), named_table("nested:17x10x8:0.05:1")
    assert len(table) == 1360
    assert (table.value == again.value).all()
    assert (table.value != nested3d((17, 10, 8), 0.05, 2).value).any()
    assert not table.lines.residual(table.value).any()
    assert int(table.primary.sum()) == 68
    assert (table.value[table.primary] > 0).all()
    assert (table.status[table.value == 0] == Status.FROZEN).all()
    assert (table.levels.upper[table.primary] == -(-table.value[table.primary] // 10)).all()
