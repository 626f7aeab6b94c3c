"""Cheap changes looked for in the neighbourhood of a cell of a large table."""

from __future__ import annotations

import numpy as np

from gpuga.circuits.cover import NEIGHBOURHOODS, Cover
from gpuga.circuits.neighbourhood import Neighbourhoods
from gpuga.context import Context
from gpuga.problem.general import requirements_of
from gpuga.table import Levels, Status, Table
from gpuga.table.grid import flat_dimension, full_grid, grid_lines, sum_up


def one_large_among_small() -> Table:
    """A sensitive 40 that needs 16 both ways; no other cell has so much room, and the totals stay published."""
    size = 8
    dimensions = [flat_dimension(name, [str(code) for code in range(size)]) for name in ("row", "column")]
    laid = np.zeros((size + 1, size + 1), np.int64)
    laid[:size, :size] = 6
    laid[0, 0] = 40
    value = sum_up(laid, dimensions).ravel()
    inner = np.zeros(laid.shape, bool)
    inner[:size, :size] = True
    status = np.where(inner.ravel(), Status.SUPPRESSIBLE, Status.FROZEN)
    status[0] = Status.SENSITIVE
    level = np.where(np.arange(len(value)) == 0, 16, 0)
    grid = full_grid(dimensions)
    upper = np.where(np.arange(len(value)) == 0, 80, value + 6)
    levels = Levels(level, level, 0 * level)
    return Table.build(value, grid_lines(grid), status=status, grid=grid, ub=upper, levels=levels)


def test_only_cells_with_room_come_in() -> None:
    table = one_large_among_small()
    near = Neighbourhoods(table)
    assert near.around(0, 16, table.forced, 6, 100).tolist() == [0]
    assert len(near.around(0, 4, table.forced, 6, 100)) > 16


def test_a_change_in_pieces_is_found_nearby_where_no_cell_has_room_for_the_whole() -> None:
    table = one_large_among_small()
    cover = Cover(table, requirements_of(table, False), Context())
    assert any(pieces > 1 for _, _, pieces in NEIGHBOURHOODS)
    for requirement in range(len(cover.requirements)):
        witness = cover._nearby(requirement)
        assert witness is not None
        cells, amounts, denominator = witness.one(0)
        moved = dict(zip(cells.tolist(), amounts.tolist(), strict=True))
        assert abs(moved[0]) >= 16 * denominator
