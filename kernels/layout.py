"""How patterns, tables, requirements and circuits lie in memory: the one place that says where a bit is.

Cells.  A table has `n` cells, numbered from 0.  A two-dimensional table ("plane") with `R` rows and `C`
columns, totals included as the *last* row and the *last* column, numbers its cells row by row: `cell = i *
C + j`.

Patterns.  `bits[p, i, w]` (uint64): bit `j % 64` of word `j // 64` of row `i` says that cell `(i, j)` of
pattern `p` is suppressed.  Every row starts on a word of its own; bits past the last column are always
zero.  A table that is not a plane is one single row of `n` columns, so the flat form is the same form.

Planes.  Rows and columns are the nodes of a network, cells its arcs.  `forward[i, j]` is the capacity from
row `i` to column `j`, `reverse[i, j]` from column to row.  For an inner cell and the grand total a rise is
forward flow (`forward = up`, `reverse = down`), for a marginal cell (exactly one coordinate is the total)
it is the other way round.  `INFINITE` stands for "no bound"; a cell that may never move has both capacities
0.

Requirements.  A requirement (a protection level in one direction) says: `cell` must be able to move by `need` in
`direction` (+1 up, -1 down) using only *other* suppressed cells for the counter-movement.

Lines.  The equations as compressed rows: `sum(coef[e] * x[cell[e]] for e in start[l]..start[l+1])` never
changes.

Circuits.  A pool of sparse kernel vectors in compressed form; a chromosome is one pool index per requirement, -1
where nothing is needed.  A circuit names each of its cells once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

INFINITE = 2**62
WORD = 64

Bits = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Floats = NDArray[np.float64]


def words_for(columns: int) -> int:
    """Words of 64 bits that hold `columns` bits."""
    return (columns + WORD - 1) // WORD


def owned(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """`values` as a contiguous, writable array of `dtype`: the one form that compiled kernels are cached for."""
    return np.require(np.asarray(values), dtype=dtype, requirements=["C", "W", "A"])


@dataclass(frozen=True, eq=False)
class Patterns:
    """`len(bits)` patterns over `rows * columns` cells, packed as the module's docstring says.

    `bits` belongs to the back end that packed it: a NumPy array, or a device array on CUDA.
    """

    bits: Any
    columns: int

    @property
    def count(self) -> int:
        """How many patterns."""
        return int(self.bits.shape[0])

    @property
    def rows(self) -> int:
        """Rows of cells; 1 in the flat form."""
        return int(self.bits.shape[1])

    @property
    def cells(self) -> int:
        """Cells of a pattern."""
        return self.rows * self.columns

    def take(self, places: NDArray[np.integer]) -> Patterns:
        """Some of the patterns, in that order."""
        return Patterns(self.bits[places], self.columns)

    def unpacked(self) -> Bools:
        """The patterns as bool[P, n] in host memory."""
        return unpack(self)

    def joined(self, others: Sequence[Patterns]) -> Patterns:
        """These patterns and others behind them."""
        return Patterns(np.concatenate([self.bits, *(other.bits for other in others)]), self.columns)


def pack(suppressed: ArrayLike, columns: int | None = None) -> Patterns:
    """Pack bool[P, n] (or bool[P, R, C]) into `Patterns`; without `columns`, a 2-D argument becomes one flat row."""
    dense = np.asarray(suppressed, dtype=np.bool_)
    if dense.ndim == 2:
        width = dense.shape[1] if columns is None else columns
        rows = dense.shape[1] // width if width else 1
        if width and rows * width != dense.shape[1]:
            raise ValueError(f"{dense.shape[1]} cells do not fill rows of {width} columns")
        dense = dense.reshape(dense.shape[0], rows, width)
    elif dense.ndim != 3:
        raise ValueError("patterns must be bool[P, n] or bool[P, R, C]")
    count, rows, width = dense.shape
    padded = np.zeros((count, rows, words_for(width) * WORD), np.uint8)
    padded[:, :, :width] = dense
    packed = np.packbits(padded, axis=2, bitorder="little")
    return Patterns(np.ascontiguousarray(packed).view(np.uint64), width)


def unpack(patterns: Patterns) -> Bools:
    """The patterns as bool[P, n]; `bits` must be in host memory."""
    bits = np.ascontiguousarray(patterns.bits)
    dense = np.unpackbits(bits.view(np.uint8), axis=2, bitorder="little")[:, :, : patterns.columns]
    return dense.astype(np.bool_).reshape(len(bits), patterns.cells)


@dataclass(frozen=True, eq=False)
class Requirements:
    """What has to be possible: `cell` int32[T], `direction` int8[T] (+1 or -1), `need` int64[T] (in value units)."""

    cell: Int32
    direction: NDArray[np.int8]
    need: Int64

    @classmethod
    def of(cls, cell: ArrayLike, direction: ArrayLike, need: ArrayLike) -> Requirements:
        """From three vectors of one length."""
        requirements = cls(owned(cell, np.int32), owned(direction, np.int8), owned(need, np.int64))
        if not (
            requirements.cell.shape == requirements.direction.shape == requirements.need.shape
            and requirements.cell.ndim == 1
        ):
            raise ValueError("cell, direction and need must be vectors of one length")
        return requirements

    def __len__(self) -> int:
        return len(self.cell)

    def subset(self, index: ArrayLike) -> Requirements:
        """The requirements at `index`, in that order."""
        at = np.asarray(index)
        return Requirements(
            owned(self.cell[at], np.int32), owned(self.direction[at], np.int8), owned(self.need[at], np.int64)
        )


@dataclass(frozen=True, eq=False)
class Capacities:
    """A two-dimensional table as a network: `forward` and `reverse` capacities, int64[R, C]."""

    forward: Int64
    reverse: Int64

    @classmethod
    def of(cls, up: ArrayLike, down: ArrayLike) -> Capacities:
        """From how far each cell may rise (`up`) and fall (`down`), int64[R, C] with totals last."""
        rise, fall = owned(up, np.int64), owned(down, np.int64)
        if rise.ndim != 2 or rise.shape != fall.shape:
            raise ValueError("up and down must be int64[R, C] of one shape")
        marginal = marginal_cells(*rise.shape)
        return cls(owned(np.where(marginal, fall, rise), np.int64), owned(np.where(marginal, rise, fall), np.int64))

    @property
    def rows(self) -> int:
        """Rows, the totals included."""
        return int(self.forward.shape[0])

    @property
    def columns(self) -> int:
        """Columns, the totals included."""
        return int(self.forward.shape[1])

    @property
    def cells(self) -> int:
        """Cells, totals included."""
        return int(self.forward.size)


def marginal_cells(rows: int, columns: int) -> Bools:
    """bool[R, C]: exactly one coordinate is the total."""
    last_row, last_column = np.arange(rows) == rows - 1, np.arange(columns) == columns - 1
    marginal: Bools = last_row[:, None] != last_column[None, :]
    return marginal


@dataclass(frozen=True, eq=False)
class FlowRequirements:
    """Requirements seen in a plane's network: the counter-flow of requirement t runs between its row and its column.

    `upward[t]` 1: from column to row (the cell itself carries forward flow), 0: from row to column.
    `possible[t]` 0: the cell's own bound already forbids the movement.
    """

    row: Int32
    column: Int32
    upward: NDArray[np.uint8]
    need: Int64
    possible: NDArray[np.uint8]

    @classmethod
    def of(cls, plane: Capacities, requirements: Requirements) -> FlowRequirements:
        """The requirements as this plane's network sees them."""
        row, column = np.divmod(requirements.cell.astype(np.int64), max(plane.columns, 1))
        marginal = (row == plane.rows - 1) != (column == plane.columns - 1)
        upward = (requirements.direction > 0) != marginal
        own = np.where(upward, plane.forward[row, column], plane.reverse[row, column])
        return cls(
            owned(row, np.int32),
            owned(column, np.int32),
            owned(upward, np.uint8),
            requirements.need,
            owned(own >= requirements.need, np.uint8),
        )


@dataclass(frozen=True, eq=False)
class EquationLines:
    """Equations line by line (`start`, `cell`, `coef`) and cell by cell (`cell_start`, `line`, `line_coef`)."""

    start: Int64
    cell: Int32
    coef: Int64
    cell_start: Int64
    line: Int32
    line_coef: Int64

    @classmethod
    def of(cls, start: ArrayLike, cell: ArrayLike, coef: ArrayLike, cells: int) -> EquationLines:
        """From compressed rows: start int64[m+1], cell int32[nnz], coef int64[nnz]; the table has `cells` cells."""
        begin, member, factor = owned(start, np.int64), owned(cell, np.int32), owned(coef, np.int64)
        line = np.repeat(np.arange(len(begin) - 1, dtype=np.int32), np.diff(begin))
        order = np.argsort(member, kind="stable")
        cell_start = np.zeros(cells + 1, np.int64)
        np.cumsum(np.bincount(member, minlength=cells), out=cell_start[1:])
        return cls(begin, member, factor, cell_start, owned(line[order], np.int32), owned(factor[order], np.int64))

    @property
    def count(self) -> int:
        """How many lines."""
        return len(self.start) - 1

    @property
    def cells(self) -> int:
        """How many cells the table has."""
        return len(self.cell_start) - 1


def plane_lines(rows: int, columns: int) -> EquationLines:
    """The equations of a plane: one per row (rows first), one per column; parts +1, their total -1."""
    cell = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    row_coef = np.ones((rows, columns), np.int64)
    row_coef[:, -1] = -1
    column_coef = np.ones((columns, rows), np.int64)
    column_coef[:, -1] = -1
    start = np.concatenate([np.arange(rows) * columns, rows * columns + np.arange(columns + 1) * rows])
    members = np.concatenate([cell.ravel(), cell.T.ravel()])
    return EquationLines.of(start, members, np.concatenate([row_coef.ravel(), column_coef.ravel()]), rows * columns)


@dataclass(frozen=True, eq=False)
class Pool:
    """Circuits: circuit k moves `cell[e]` by `amount[e]` (signed) for e in start[k]..start[k+1]."""

    start: Int64
    cell: Int32
    amount: Int64

    @classmethod
    def of(cls, start: ArrayLike, cell: ArrayLike, amount: ArrayLike) -> Pool:
        """From compressed circuits: start int64[K+1], cell int32[], amount int64[]."""
        return cls(owned(start, np.int64), owned(cell, np.int32), owned(amount, np.int64))

    def __len__(self) -> int:
        return len(self.start) - 1

    def circuit(self, k: int) -> tuple[Int32, Int64]:
        """Cells and amounts of circuit k."""
        part = slice(int(self.start[k]), int(self.start[k + 1]))
        return self.cell[part], self.amount[part]


MAX_BOX = 4096
"""Cells of a box; larger ones are not looked for."""


@dataclass(frozen=True, eq=False)
class Options:
    """For every code of an axis the changes that move it up by one unit, without the code itself; all equations hold.

    `total` is the total of an axis of one family, whose changes are not listed: any two parts move against each
    other, any part moves with the total. Else -1, and option o of code c, `first[c] <= o < first[c+1]`, moves
    `code[start[o]:start[o+1]]` by `sign`.
    """

    codes: int
    total: int
    first: Int64
    start: Int64
    code: Int32
    sign: NDArray[np.int8]

    @property
    def most(self) -> int:
        """The largest number of options of a code."""
        return self.codes if self.total >= 0 else int(np.diff(self.first).max(initial=0))


@dataclass(frozen=True, eq=False)
class AxisGrid:
    """A table with any number of axes, whose `Options` are concatenated; cells are numbered row-major.

    `size`, `stride`, `total` and `base` have an entry per axis; the options of code c of axis d are
    `first[base[d] + c] .. first[base[d] + c + 1]`. The product of one option per axis is a kernel vector of the
    table: a box. Axes are joined in their order, so the one with the most options best comes last.
    """

    size: Int64
    stride: Int64
    total: Int64
    base: Int64
    first: Int64
    start: Int64
    code: Int32
    sign: NDArray[np.int8]

    @classmethod
    def of(cls, axes: Sequence[Options]) -> AxisGrid:
        """From the options of every axis."""
        if not axes:
            raise ValueError("a grid has at least one axis")
        first, start, base = [], [np.zeros(1, np.int64)], []
        listed = entries = codes = 0
        for one in axes:
            base.append(codes)
            first.append(one.first + listed)
            start.append(one.start[1:] + entries)
            listed, entries, codes = listed + len(one.start) - 1, entries + len(one.code), codes + len(one.first)
        size = np.array([one.codes for one in axes], np.int64)
        return cls(
            size,
            owned(np.concatenate([np.cumprod(size[:0:-1])[::-1], [1]]), np.int64),
            np.array([one.total for one in axes], np.int64),
            np.array(base, np.int64),
            owned(np.concatenate(first), np.int64),
            owned(np.concatenate(start), np.int64),
            owned(np.concatenate([one.code for one in axes]), np.int32),
            owned(np.concatenate([one.sign for one in axes]), np.int8),
        )

    @property
    def arrays(self) -> tuple[Int64, Int64, Int64, Int64, Int64, Int64, Int32, NDArray[np.int8]]:
        """As the search takes them."""
        return self.size, self.stride, self.total, self.base, self.first, self.start, self.code, self.sign

    @property
    def axes(self) -> int:
        """How many axes."""
        return len(self.size)

    @property
    def cells(self) -> int:
        """How many cells."""
        return int(np.prod(self.size))

    def room(self) -> BoxRoom:
        """How much working memory a search needs."""
        options, longest = 0, 1
        for axis in range(self.axes):
            if self.total[axis] >= 0:
                options, longest = options + int(self.size[axis]), 2 * longest
                continue
            first = self.first[self.base[axis] :][: int(self.size[axis]) + 1]
            lengths = np.diff(self.start[first[0] : first[-1] + 1])
            options += int(np.diff(first).max(initial=0))
            longest *= int(lengths.max(initial=0)) + 1
        by_rows = self.axes == 3 and self.total[2] >= 0
        return BoxRoom(options, min(longest, MAX_BOX), options if by_rows else 0)


class BoxRoom(NamedTuple):
    """Working memory of a search for boxes: options of all axes, cells of a box, rows that are priced as a whole."""

    options: int
    box: int
    rows: int


@dataclass(frozen=True, eq=False)
class Equations:
    """A matrix of floats, by rows and by columns, with the steps that a first-order method takes along each.

    Row r has the entries `row_start[r]..row_start[r+1]` of `row_index` (columns) and `row_value`; columns likewise.
    Steps are the reciprocals of the sums of absolute entries.
    """

    row_start: Int64
    row_index: Int32
    row_value: Floats
    row_step: Floats
    column_start: Int64
    column_index: Int32
    column_value: Floats
    column_step: Floats

    @classmethod
    def of(cls, start: ArrayLike, index: ArrayLike, value: ArrayLike, columns: int) -> Equations:
        """From compressed rows."""
        rows = (owned(start, np.int64), owned(index, np.int32), owned(value, np.float64))
        row = np.repeat(np.arange(len(rows[0]) - 1), np.diff(rows[0]))
        order = np.argsort(rows[1], kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(rows[1], minlength=columns))])
        turned = (owned(first, np.int64), owned(row[order], np.int32), owned(rows[2][order], np.float64))
        steps = [
            1.0 / np.maximum(np.bincount(at, np.abs(rows[2]), minlength=count), LEAST_SUM)
            for at, count in ((row, len(rows[0]) - 1), (rows[1], columns))
        ]
        return cls(*rows, steps[0], *turned, steps[1])


LEAST_SUM = 1e-6
"""Rows and columns count as if their entries added up to this at least, so that no step is endless."""


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Many frequency tables by their inhabited cells, and the recodings of the fields.

    `start` int64[tables+1]; per cell `coordinate` int32[cells, D] (unused places 0), `count` and `weight`
    int64; per table `field` int32[tables, D] (-1 unused) and `threshold` int64. Recoding k of field f sends
    code c to `image[image_start[f, k] + c]`, one of `image_size[f, k]` codes.
    """

    start: Int64
    coordinate: Int32
    count: Int64
    weight: Int64
    field: Int32
    threshold: Int64
    image_start: Int64
    image_size: Int64
    image: Int32

    def bins(self, table: Int32, rule: Int32) -> NDArray[np.float64]:
        """The number of bins of each job's recoded table (float64: it may be enormous)."""
        bins = np.ones(len(table))
        for place in range(self.field.shape[1]):
            field = self.field[table, place]
            size = self.image_size[np.maximum(field, 0), rule[:, place]]
            bins *= np.where(field >= 0, size, 1)
        return bins
