"""How patterns, tables, tasks and circuits lie in memory: the one place that says where a bit is.

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

Tasks.  A task (a protection level in one direction) says: `cell` must be able to move by `need` in
`direction` (+1 up, -1 down) using only *other* suppressed cells for the counter-movement.

Lines.  The equations as compressed rows: `sum(coef[e] * x[cell[e]] for e in start[l]..start[l+1])` never
changes.

Circuits.  A pool of sparse kernel vectors in compressed form; a chromosome is one pool index per task, -1
where nothing is needed.  A circuit names each of its cells once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

INFINITE = 2**62
WORD = 64

UNSAFE, SAFE, UNDECIDED = 0, 1, 2

Bits = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Verdicts = NDArray[np.uint8]


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
class Tasks:
    """What has to be possible: `cell` int32[T], `direction` int8[T] (+1 or -1), `need` int64[T] (in value units)."""

    cell: Int32
    direction: NDArray[np.int8]
    need: Int64

    @classmethod
    def of(cls, cell: ArrayLike, direction: ArrayLike, need: ArrayLike) -> Tasks:
        """From three vectors of one length."""
        tasks = cls(owned(cell, np.int32), owned(direction, np.int8), owned(need, np.int64))
        if not (tasks.cell.shape == tasks.direction.shape == tasks.need.shape and tasks.cell.ndim == 1):
            raise ValueError("cell, direction and need must be vectors of one length")
        return tasks

    def __len__(self) -> int:
        return len(self.cell)

    def take(self, index: ArrayLike) -> Tasks:
        """The tasks at `index`, in that order."""
        at = np.asarray(index)
        return Tasks(owned(self.cell[at], np.int32), owned(self.direction[at], np.int8), owned(self.need[at], np.int64))


@dataclass(frozen=True, eq=False)
class Plane:
    """A two-dimensional table as a network: `forward` and `reverse` capacities, int64[R, C]."""

    forward: Int64
    reverse: Int64

    @classmethod
    def of(cls, up: ArrayLike, down: ArrayLike) -> Plane:
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
class FlowTasks:
    """Tasks seen in a plane's network: the counter-flow of task t runs between its row and its column.

    `upward[t]` 1: from column to row (the cell itself carries forward flow), 0: from row to column.
    `possible[t]` 0: the cell's own bound already forbids the movement.
    """

    row: Int32
    column: Int32
    upward: NDArray[np.uint8]
    need: Int64
    possible: NDArray[np.uint8]

    @classmethod
    def of(cls, plane: Plane, tasks: Tasks) -> FlowTasks:
        """The tasks as this plane's network sees them."""
        row, column = np.divmod(tasks.cell.astype(np.int64), max(plane.columns, 1))
        marginal = (row == plane.rows - 1) != (column == plane.columns - 1)
        upward = (tasks.direction > 0) != marginal
        own = np.where(upward, plane.forward[row, column], plane.reverse[row, column])
        return cls(
            owned(row, np.int32),
            owned(column, np.int32),
            owned(upward, np.uint8),
            tasks.need,
            owned(own >= tasks.need, np.uint8),
        )


@dataclass(frozen=True, eq=False)
class Lines:
    """Equations line by line (`start`, `cell`, `coef`) and cell by cell (`cell_start`, `line`, `line_coef`)."""

    start: Int64
    cell: Int32
    coef: Int64
    cell_start: Int64
    line: Int32
    line_coef: Int64

    @classmethod
    def of(cls, start: ArrayLike, cell: ArrayLike, coef: ArrayLike, cells: int) -> Lines:
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


def plane_lines(rows: int, columns: int) -> Lines:
    """The equations of a plane: one per row (rows first), one per column; parts +1, their total -1."""
    cell = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    row_coef = np.ones((rows, columns), np.int64)
    row_coef[:, -1] = -1
    column_coef = np.ones((columns, rows), np.int64)
    column_coef[:, -1] = -1
    start = np.concatenate([np.arange(rows) * columns, rows * columns + np.arange(columns + 1) * rows])
    members = np.concatenate([cell.ravel(), cell.T.ravel()])
    return Lines.of(start, members, np.concatenate([row_coef.ravel(), column_coef.ravel()]), rows * columns)


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

    @classmethod
    def from_lists(cls, circuits: Sequence[tuple[ArrayLike, ArrayLike]]) -> Pool:
        """From (cells, amounts) pairs, in order."""
        cells = [np.asarray(c, np.int32).ravel() for c, _ in circuits]
        amounts = [np.asarray(a, np.int64).ravel() for _, a in circuits]
        start = np.zeros(len(cells) + 1, np.int64)
        np.cumsum([len(c) for c in cells], out=start[1:])
        none = np.zeros(0, np.int64)
        return cls.of(start, np.concatenate([*cells, none]), np.concatenate([*amounts, none]))

    def __len__(self) -> int:
        return len(self.start) - 1

    def circuit(self, k: int) -> tuple[Int32, Int64]:
        """Cells and amounts of circuit k."""
        part = slice(int(self.start[k]), int(self.start[k + 1]))
        return self.cell[part], self.amount[part]


MAX_DIMENSIONS = 8
MAX_BOX = 4096


@dataclass(frozen=True, eq=False)
class Grid:
    """A table with any number of (hierarchical) dimensions; cells are numbered row-major over `shape`.

    Codes of dimension d stand at `offset[d]..offset[d+1]` of the concatenated arrays: `parent` (a code of
    the same dimension, -1 for the root), `depth`, and, in `leaf[leaf_start[d]..leaf_start[d+1]]`, the codes
    without children. Every inner code is the sum of its children.  A product of one-dimensional kernel
    vectors, one per dimension, is a kernel vector of the table: a box.
    """

    shape: Int32
    stride: Int64
    offset: Int32
    parent: Int32
    depth: Int32
    leaf_start: Int32
    leaf: Int32

    @classmethod
    def of(cls, parents: Sequence[ArrayLike]) -> Grid:
        """From one parent array per dimension."""
        trees = [owned(parent, np.int32) for parent in parents]
        if not 1 <= len(trees) <= MAX_DIMENSIONS:
            raise ValueError(f"a grid has 1 to {MAX_DIMENSIONS} dimensions, not {len(trees)}")
        shape = np.array([len(tree) for tree in trees], np.int64)
        stride = np.concatenate([np.cumprod(shape[:0:-1])[::-1], [1]])
        leaves = [np.setdiff1d(np.arange(len(tree)), tree) for tree in trees]
        return cls(
            owned(shape, np.int32),
            owned(stride, np.int64),
            owned(np.concatenate([[0], np.cumsum(shape)]), np.int32),
            owned(np.concatenate(trees), np.int32),
            owned(np.concatenate([tree_depth(tree) for tree in trees]), np.int32),
            owned(np.concatenate([[0], np.cumsum([len(leaf) for leaf in leaves])]), np.int32),
            owned(np.concatenate(leaves), np.int32),
        )

    @property
    def dimensions(self) -> int:
        """How many dimensions."""
        return len(self.shape)

    @property
    def cells(self) -> int:
        """How many cells."""
        return int(np.prod(self.shape.astype(np.int64)))

    def longest_option(self) -> Int64:
        """Per dimension, the most codes that a one-dimensional kernel vector of a box can have."""
        deepest = [self.depth[a:b].max() for a, b in zip(self.offset[:-1], self.offset[1:], strict=True)]
        return np.maximum(1, 2 * np.asarray(deepest, np.int64))

    def option_count(self) -> Int64:
        """Per dimension, an upper bound on the kernel vectors through one code."""
        leaves = np.diff(self.leaf_start).astype(np.int64)
        flat = np.asarray([self.depth[a:b].max() <= 1 for a, b in zip(self.offset, self.offset[1:], strict=False)])
        return np.where(flat, leaves, (leaves + 2) ** 2 // 4 + leaves)


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


def tree_depth(parent: Int32) -> Int32:
    """Distance of every code from its root; refuses parent arrays that are not a tree with one root."""
    if np.count_nonzero(parent < 0) != 1 or parent.max(initial=-1) >= len(parent):
        raise ValueError("a dimension needs exactly one root (parent -1) and parents among its own codes")
    depth = np.zeros(len(parent), np.int32)
    at = parent.copy()
    for _ in range(len(parent)):
        inside = at >= 0
        if not inside.any():
            return depth
        depth += inside
        at = np.where(inside, parent[at], -1)
    raise ValueError("a dimension's parents must not form a circle")
