"""The two-dimensional view of a table: rows, columns and totals in the last place, for flows in networks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gpuga.table.table import Ints, Mask, Table


@dataclass(frozen=True, eq=False)
class TwoWayTable:
    """A two-dimensional table as arrays of shape (R, C), the totals in the last row and column.

    `cell` int32[R, C] is the cell of the table at each place, -1 where there is none. A rise of an
    internal cell or of the grand total is a flow from its row to its column; of a marginal, from its
    column to its row. A place without a cell has capacity 0 both ways.
    """

    table: Table
    cell: NDArray[np.int32]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, totals included."""
        rows, columns = self.cell.shape
        return rows, columns

    def lay(self, per_cell: NDArray[np.generic]) -> NDArray[np.generic]:
        """A per-cell array as an (R, C) array, 0 where there is no cell."""
        return np.where(self.cell >= 0, per_cell[self.cell], np.zeros((), per_cell.dtype))

    def lift(self, laid: NDArray[np.generic]) -> NDArray[np.generic]:
        """An (R, C) array back as a per-cell array."""
        out = np.zeros(len(self.table), laid.dtype)
        there = self.cell >= 0
        out[self.cell[there]] = laid[there]
        return out

    @cached_property
    def up(self) -> Ints:
        """Room to rise (int64[R, C])."""
        return self.lay(self.table.up).astype(np.int64)

    @cached_property
    def down(self) -> Ints:
        """Room to fall (int64[R, C])."""
        return self.lay(self.table.down).astype(np.int64)

    @cached_property
    def place(self) -> Ints:
        """Each cell's place `row * C + column` (int64[n])."""
        place = np.zeros(len(self.table), np.int64)
        there = np.flatnonzero(self.cell.ravel() >= 0)
        place[self.cell.ravel()[there]] = there
        return place

    @cached_property
    def sign(self) -> NDArray[np.int8]:
        """+1 for internal cells and the grand total, -1 for marginals (int8[R, C])."""
        sign = np.ones(self.shape, np.int8)
        sign[-1, :-1] = sign[:-1, -1] = -1
        return sign


_SEEN: WeakKeyDictionary[Table, tuple[NDArray[np.int32] | None]] = WeakKeyDictionary()


def two_way_table(table: Table) -> TwoWayTable | None:
    """The plane of a table whose equations are exactly the rows and columns of a two-way table, else None.

    Told from the equations alone, so that a table read from a `.jj` file is recognised too.
    """
    if table not in _SEEN:
        found = _find(table)
        _SEEN[table] = (None if found is None else found.cell,)
    (cell,) = _SEEN[table]
    return None if cell is None else TwoWayTable(table, cell)


def _find(table: Table) -> TwoWayTable | None:
    n = len(table)
    lines = table.lines
    if len(lines) < 4 or (np.abs(lines.coef) != 1).any() or lines.rhs.any():
        return None
    start, line, coef = lines.by_cell(n)
    if (np.diff(start) != 2).any():
        return None
    coef = coef * _orientation(table)[line]
    side = _two_sides(len(lines), line.reshape(n, 2))
    if side is None:
        return None
    pair = line.reshape(n, 2)
    swap = side[pair[:, 0]] == 1
    row = np.where(swap, pair[:, 1], pair[:, 0])
    column = np.where(swap, pair[:, 0], pair[:, 1])
    row_coef = np.where(swap, coef.reshape(n, 2)[:, 1], coef.reshape(n, 2)[:, 0])
    column_coef = np.where(swap, coef.reshape(n, 2)[:, 0], coef.reshape(n, 2)[:, 1])
    return _arrange(table, row, column, row_coef, column_coef)


def _orientation(table: Table) -> Ints:
    """-1 for lines written as total minus parts, +1 for parts minus total (int64[m])."""
    lines = table.lines
    positive = np.bincount(lines.line_of_entry[lines.coef > 0], minlength=len(lines))
    negative = np.bincount(lines.line_of_entry[lines.coef < 0], minlength=len(lines))
    return np.where((positive == 1) & (negative > 1), -1, 1).astype(np.int64)


def _two_sides(count: int, pair: NDArray[np.int32]) -> NDArray[np.int8] | None:
    """Split the lines into rows (0) and columns (1) so that every cell joins one of each, else None."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    ones = np.ones(2 * len(pair), np.int8)
    ends = (np.concatenate([pair[:, 0], pair[:, 1]]), np.concatenate([pair[:, 1], pair[:, 0]]))
    graph = coo_array((ones, ends), shape=(count, count)).tocsr()
    order, before = breadth_first_order(graph, 0, directed=False)
    if len(order) < count:
        return None
    side = np.zeros(count, np.int8)
    for node in order[1:]:
        side[node] = 1 - side[before[node]]
    return side if (side[pair[:, 0]] != side[pair[:, 1]]).all() else None


def _arrange(table: Table, row: Ints, column: Ints, row_coef: Ints, column_coef: Ints) -> TwoWayTable | None:
    """Put totals last: the total of a row line lies in the total column, and so on; None if it does not fit."""
    rows, columns = np.unique(row), np.unique(column)
    if len(rows) < 2 or len(columns) < 2:
        return None
    row_total, column_total = row_coef < 0, column_coef < 0
    total_column = np.unique(column[row_total])
    total_row = np.unique(row[column_total])
    if len(total_column) != 1 or len(total_row) != 1:
        return None
    if (row_total != (column == total_column[0])).any() or (column_total != (row == total_row[0])).any():
        return None
    at_row, at_column = _last(rows, int(total_row[0])), _last(columns, int(total_column[0]))
    cell = np.full((len(rows), len(columns)), -1, np.int32)
    places = at_row[row], at_column[column]
    cell[places] = np.arange(len(table), dtype=np.int32)
    if (cell >= 0).sum() != len(table):
        return None
    return TwoWayTable(table, cell)


def _last(ids: Ints, total: int) -> Ints:
    """Positions of line ids, ascending with the total in the last place."""
    position = np.zeros(int(ids.max()) + 1, np.int64)
    position[ids[ids != total]] = np.arange(len(ids) - 1)
    position[total] = len(ids) - 1
    return position


def suppressed_grid(plane: TwoWayTable, suppressed: Mask) -> NDArray[np.bool_]:
    """A pattern laid out on the plane (bool[R, C])."""
    return plane.lay(suppressed).astype(bool)
