"""Grids: the dimensions of a k-dimensional table, the lines that follow from them, and missing marginals.

A line joins the parts of one code in one dimension, all other codes being equal: parts minus total is
zero. Everything here is vectorised over cells; a 100x100x100 table takes about a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError, printable
from gpuga.table.table import Dimension, Grid, Ints, Lines

Coordinates = NDArray[np.int32]

MOST_PLACES = 50_000_000
"""Cells times dimensions, marginals included: more would take some gigabytes."""

MOST_ABOVE = 100_000
"""Marginals above a single cell: 16 dimensions without hierarchies, 7 with hierarchies of four levels."""

MOST_DEPTH = 40
"""Levels of a hierarchy: deeper ones would give every cell as many marginals."""


def flat_dimension(name: str, codes: Sequence[str], total: str = "Total") -> Dimension:
    """A dimension without sub-totals; the total comes last."""
    parent = np.full(len(codes) + 1, len(codes), np.int32)
    parent[-1] = -1
    return Dimension(name, (*codes, total), parent)


def full_grid(dimensions: Sequence[Dimension]) -> Grid:
    """The grid in which every combination of codes is a cell, row-major."""
    shape = tuple(len(d.codes) for d in dimensions)
    coordinate = np.stack(np.unravel_index(np.arange(int(np.prod(shape))), shape), axis=1)
    return Grid(tuple(dimensions), np.ascontiguousarray(coordinate, np.int32))


def sum_up(values: Ints, dimensions: Sequence[Dimension]) -> Ints:
    """Fill all totals of a full array (shape = codes per dimension) from the cells whose codes are leaves."""
    filled = np.array(values, np.int64)
    for axis, dimension in enumerate(dimensions):
        along = np.moveaxis(filled, axis, 0)
        along[~dimension.is_leaf] = 0
        for depth in range(int(dimension.depth.max(initial=0)), 0, -1):
            codes = np.flatnonzero(dimension.depth == depth)
            np.add.at(along, dimension.parent[codes], along[codes])
    return filled


def keys(coordinate: Coordinates, sizes: Sequence[int]) -> Ints:
    """One int64 per row of codes (int32[n, k]): equal for equal rows, ordered like them."""
    key = np.zeros(len(coordinate), np.int64)
    span = 1
    for column, size in zip(coordinate.T, sizes, strict=True):
        if span * size >= 2**62:
            distinct, key = np.unique(key, return_inverse=True)
            span = len(distinct)
        key = key * size + column
        span *= size
    return key


def grid_lines(grid: Grid) -> Lines:
    """The lines of a grid: dimension by dimension, parts in the order of the cells, the total last.

    A cell that has no parts in the table is not broken down and starts no line.
    """
    line, cell, coef = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    count = 0
    for axis, parent in _breakdowns(grid):
        part, part_line, total, total_line, added = _lines_along(grid, axis, parent)
        line += [part_line + count, total_line + count]
        cell += [part, total]
        coef += [np.ones(len(part), np.int64), np.full(len(total), -1, np.int64)]
        count += added
    return csr_lines(count, np.concatenate(line), np.concatenate(cell), np.concatenate(coef))


def csr_lines(count: int, line: Ints, cell: Ints, coef: Ints, rhs: Ints | None = None) -> Lines:
    """Lines from entries in any order; entries of one line keep theirs."""
    order = np.argsort(line, kind="stable")
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(line, minlength=count), out=start[1:])
    zero = np.zeros(count, np.int64)
    return Lines(start, cell[order].astype(np.int32), coef[order], zero if rhs is None else rhs)


def _breakdowns(grid: Grid) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Every hierarchy of every dimension: the axis, and the parents of its codes."""
    for axis, dimension in enumerate(grid.dimensions):
        for parent in dimension.breakdowns:
            yield axis, parent


def _lines_along(grid: Grid, axis: int, parent: NDArray[np.int32]) -> tuple[Ints, Ints, Ints, Ints, int]:
    """Parts and totals of the lines of one hierarchy, each with its line, and the number of lines."""
    codes = grid.coordinate[:, axis]
    broken_down = np.zeros(len(parent), bool)
    broken_down[parent[parent >= 0]] = True
    part = np.flatnonzero(parent[codes] >= 0)
    total = np.flatnonzero(broken_down[codes])
    through = grid.coordinate[np.concatenate([part, total])]
    through[: len(part), axis] = parent[codes[part]]
    _, position = np.unique(keys(through, grid.shape), return_inverse=True)
    of_part, of_total = position[: len(part)], position[len(part) :]
    has_parts = np.zeros(int(position.max(initial=-1)) + 1, bool)
    has_parts[of_part] = True
    number = np.cumsum(has_parts) - 1
    kept = has_parts[of_total]
    return part, number[of_part], total[kept], number[of_total[kept]], int(has_parts.sum())


@dataclass(frozen=True, eq=False)
class Added:
    """A grid with the marginals that were missing, its lines, and which cells each added one sums.

    Cells are numbered: the `given` ones first, then the added ones. A round is a pair `part`, `total`
    (int64 arrays of equal length): cell `part[i]` belongs to the added cell `total[i]`; the totals of
    one round are parts only in later rounds.
    """

    grid: Grid
    lines: Lines
    given: int
    rounds: tuple[tuple[Ints, Ints], ...]

    def sums(self, given: Ints) -> Ints:
        """A quantity of the given cells, continued to the added ones by summing their parts (int64[n])."""
        filled = np.concatenate([given, np.zeros(len(self.grid.coordinate) - self.given, np.int64)])
        for part, total in self.rounds:
            np.add.at(filled, total, filled[part])
        return filled


def add_marginals(grid: Grid) -> Added:
    """The grid with every total of which a part is there; added cells come after the given ones."""
    coordinate = grid.coordinate
    if _most_above(grid) > MOST_ABOVE:
        _refuse_explosion(grid, MOST_PLACES)
    for axis, dimension in enumerate(grid.dimensions):
        for depth in range(int(dimension.depth.max(initial=0)), 0, -1):
            for parent in dimension.breakdowns:
                codes = coordinate[:, axis]
                above = coordinate[(dimension.depth[codes] == depth) & (parent[codes] >= 0)]
                above[:, axis] = parent[above[:, axis]]
                new = _not_among(above, coordinate[dimension.depth[codes] < depth], grid.shape)
                _refuse_explosion(grid, len(coordinate) + len(new))
                coordinate = np.concatenate([coordinate, new])
    closed = Grid(grid.dimensions, coordinate)
    lines = grid_lines(closed)
    return Added(closed, lines, len(grid.coordinate), _rounds(closed, lines, len(grid.coordinate)))


def _most_above(grid: Grid) -> float:
    """How many marginals stand above a cell, counting itself, at the most."""
    above = [np.log2(d.depth[c] + 1.0) for d, c in zip(grid.dimensions, grid.coordinate.T, strict=True)]
    return float(2.0 ** np.sum(above, axis=0).max(initial=0.0))


def _refuse_explosion(grid: Grid, cells: int) -> None:
    """Every column that is no dimension (a note, a number) doubles the marginals; they are refused in time."""
    if cells * len(grid.dimensions) >= MOST_PLACES:
        widest = max(grid.dimensions, key=lambda d: len(d.codes))
        raise InputError(
            f"would need too many marginals with its {len(grid.dimensions)} dimensions: is column "
            f"{printable(widest.name)!r}, with {len(widest.codes)} codes, a dimension? Leave it out with --ignore"
        )


def _rounds(grid: Grid, lines: Lines, given: int) -> tuple[tuple[Ints, Ints], ...]:
    """For every added cell the parts of one of its lines, the cells deepest in all dimensions first."""
    if len(grid.coordinate) == given:
        return ()
    total_of_line = lines.cell[lines.start[1:] - 1].astype(np.int64)
    added, line = np.unique(total_of_line, return_index=True)
    chosen = np.zeros(len(lines), bool)
    chosen[line[added >= given]] = True
    entry = chosen[lines.line_of_entry] & (lines.coef > 0)
    part = lines.cell[entry].astype(np.int64)
    total = total_of_line[lines.line_of_entry[entry]]
    codes = grid.coordinate.T
    depth = np.sum([d.depth[c] for d, c in zip(grid.dimensions, codes, strict=True)], axis=0)[total]
    return tuple((part[depth == d], total[depth == d]) for d in np.unique(depth)[::-1])


def _not_among(rows: Coordinates, there: Coordinates, shape: Sequence[int]) -> Coordinates:
    """The distinct rows that are not there, in order."""
    key = keys(np.concatenate([rows, there]), shape)
    missing = np.flatnonzero(~np.isin(key[: len(rows)], key[len(rows) :]))
    _, first = np.unique(key[missing], return_index=True)
    return rows[missing[first]]


def duplicates(grid: Grid) -> tuple[int, int] | None:
    """Two cells that lie at the same place (the later one first in the file order), if there are any."""
    key = keys(grid.coordinate, grid.shape)
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[order]) == 0)
    if again.size == 0:
        return None
    at = again[np.argmin(order[again + 1])]
    return int(order[at]), int(order[at + 1])


def dimension_from_parents(name: str, codes: Sequence[str], parents: Sequence[str | None]) -> Dimension:
    """A hierarchical dimension from each code's parent code; exactly one code has none: the total."""
    position = {code: i for i, code in enumerate(codes)}
    if len(position) < len(codes):
        twice = next(c for i, c in enumerate(codes) if position[c] != i)
        raise InputError(f"code {printable(twice)!r} occurs twice in the hierarchy", field=name)
    unknown = [p for p in parents if p is not None and p not in position]
    if unknown:
        raise InputError(f"parent {printable(unknown[0])!r} is not a code of the hierarchy", field=name)
    parent = np.array([-1 if p is None else position[p] for p in parents], np.int32)
    _check_tree(name, codes, parent)
    return Dimension(name, tuple(codes), parent)


def _check_tree(name: str, codes: Sequence[str], parent: NDArray[np.int32]) -> None:
    """One root, and from every code a way up to it."""
    if (roots := int((parent < 0).sum())) != 1:
        raise InputError(f"the hierarchy has {roots} totals, it needs exactly one", field=name)
    at = parent.copy()
    for _ in range(MOST_DEPTH):
        at = np.where(at >= 0, parent[np.maximum(at, 0)], -1).astype(np.int32)
        if (at < 0).all():
            return
    for _ in range(31):  # by doubling steps: after 2**31 of them only cycles are left
        at = np.where(at >= 0, at[np.maximum(at, 0)], -1).astype(np.int32)
    if (at < 0).all():
        raise InputError(f"the hierarchy is deeper than {MOST_DEPTH} levels", field=name)
    cycle = printable(codes[int(np.flatnonzero(at >= 0)[0])])
    raise InputError(f"the hierarchy has a cycle through code {cycle!r}", field=name)
