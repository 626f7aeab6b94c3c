"""The crossing of a table: one-dimensional families of equations, multiplied; told from labels or from equations.

A family is a total and its parts along one axis; an axis is a number of codes with its families (a tree, or several
ways to break the same total down); a cell is one code per axis. A `.jj` file says nothing of this. It is recovered as
the factors of a product of graphs are (Feder 1992): lines that share two cells lie along one axis, and so do the
opposite sides of a square; lines that cross without ever spanning a square do, too. Codes of an axis are then
what the lines of all other axes hold together. Whatever was guessed on the way, a crossing is believed only if every
line of the table is one of its families, laid through the cells that are there; else there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import OutOfTime
from gpuga.table.grid import keys
from gpuga.table.squares import Incidence, join_parallels, root_of, span_squares
from gpuga.table.table import Dimension, Ints, Lines, Table
from gpuga.table.two_way import two_way_table

MOST_AXES = 8
MOST_KINDS = 256
LARGEST_GRID = 20_000_000
"""A grid with more places than this (mostly empty ones, then) is not laid out."""

Family = tuple[int, tuple[int, ...]]
"""A total and its parts, as codes of one axis."""


@dataclass(frozen=True, eq=False)
class Axis:
    """One dimension by its equations: how many codes it has, and which totals have which parts."""

    codes: int
    families: tuple[Family, ...]

    @cached_property
    def parent(self) -> NDArray[np.int32] | None:
        """Each code's total (-1: none) if every code is part of one family at most and total of one; else None."""
        parent = np.full(self.codes, -1, np.int32)
        totals = [total for total, _ in self.families]
        parts = [part for _, family in self.families for part in family]
        if len(set(totals)) < len(totals) or len(set(parts)) < len(parts):
            return None
        for total, family in self.families:
            parent[list(family)] = total
        return parent

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """The longest way up from each code (int32[codes]); codes that are part of nothing have 0."""
        depth = np.zeros(self.codes, np.int32)
        for _ in range(self.codes):
            before = depth.copy()
            for total, family in self.families:
                part = list(family)
                depth[part] = np.maximum(depth[part], depth[total] + 1)
            if (depth == before).all():
                break
        return depth


@dataclass(frozen=True, eq=False)
class CrossedAxes:
    """Axes and where the cells lie on them (int32[cells, axes]); groups of cells have no place."""

    axes: tuple[Axis, ...]
    coordinate: NDArray[np.int32]

    @property
    def shape(self) -> tuple[int, ...]:
        """Codes per axis."""
        return tuple(axis.codes for axis in self.axes)

    @cached_property
    def flat(self) -> Ints:
        """Each cell's row-major position in the full grid (int64[cells])."""
        position = np.zeros(len(self.coordinate), np.int64)
        for column, size in zip(self.coordinate.T, self.shape, strict=True):
            position = position * size + column
        return position

    @cached_property
    def cell_at(self) -> NDArray[np.int32]:
        """The cell at each row-major position, -1 where the table has none (int32[prod(shape)])."""
        at = np.full(int(np.prod(self.shape)), -1, np.int32)
        at[self.flat] = np.arange(len(self.flat), dtype=np.int32)
        return at


SAMPLED = 20_000
"""In tables of many more cells than this, squares are counted at about so many of them: a count is only a hint, every
crossing is proven line by line."""

_SEEN: WeakKeyDictionary[Table, tuple[CrossedAxes | None]] = WeakKeyDictionary()


Expired = Callable[[], bool]
"""Whether the time is up."""


def leave_in_time(expired: Expired) -> None:
    """Give up the search for the structure of a table when the time is up."""
    if expired():
        raise OutOfTime("time ran out before the table's structure was known; allow more with --seconds")


def crossing_of(table: Table, expired: Expired = bool) -> CrossedAxes | None:
    """The crossing of a table with dimensions, or of one whose equations are those of a crossing; else None.

    Raises `OutOfTime` where the time is up before it is known.
    """
    if table not in _SEEN:
        found = _labelled(table) or _plane(table) or _recovered(table, expired)
        _SEEN[table] = (found if found is not None and _fits(found) else None,)
    return _SEEN[table][0]


def _fits(crossing: CrossedAxes) -> bool:
    return len(crossing.axes) <= MOST_AXES and float(np.prod(crossing.shape, dtype=float)) <= LARGEST_GRID


def _labelled(table: Table) -> CrossedAxes | None:
    if table.grid is None or table.linked:
        return None
    return CrossedAxes(tuple(_axis_of(d) for d in table.grid.dimensions), table.grid.coordinate)


def _axis_of(dimension: Dimension) -> Axis:
    families: list[Family] = []
    for tree in dimension.breakdowns:
        parts: dict[int, list[int]] = {}
        for code, parent in enumerate(tree.tolist()):
            if parent >= 0:
                parts.setdefault(parent, []).append(code)
        families += [(total, tuple(family)) for total, family in parts.items()]
    return Axis(len(dimension.codes), tuple(families))


def _plane(table: Table) -> CrossedAxes | None:
    """Rows and columns without labels, totals last."""
    plane = two_way_table(table)
    if plane is None:
        return None
    axes = tuple(Axis(size, ((size - 1, tuple(range(size - 1))),)) for size in plane.shape)
    coordinate = np.stack(np.unravel_index(plane.place, plane.shape), axis=1)
    return CrossedAxes(axes, np.ascontiguousarray(coordinate, np.int32))


def _recovered(table: Table, expired: Expired) -> CrossedAxes | None:
    """The crossing that the equations alone describe, proven line by line.

    Where kinds of lines do span squares and yet are no product, those that span the fewest are taken together.
    """
    lines, n = table.lines, len(table)
    total = _totals(lines)
    cell_start, cell_line, _ = lines.by_cell(n)
    if total is None or table.groups or n < 2 or (np.diff(cell_start) == 0).any():
        return None
    kinds = _kinds_of_lines(lines, cell_start, cell_line)
    if kinds is None:
        return None
    while kinds.count > 1:
        leave_in_time(expired)
        if kinds.count <= MOST_AXES and (found := _crossed(lines, n, total, kinds.number, expired)) is not None:
            return found
        kinds = kinds.fewer()
    found = _crossed(lines, n, total, kinds.number, expired)
    # a single axis of all cells is always possible, and says something only where it is a tree
    return found if found is not None and found.axes[0].parent is not None else None


def _crossed(
    lines: Lines, n: int, total: NDArray[np.int32], axis_of_line: Ints, expired: Expired
) -> CrossedAxes | None:
    """The crossing in which each line lies along the axis named, if there is one."""
    count = int(axis_of_line.max()) + 1
    codes = [_held_together(lines, n, axis_of_line != axis) for axis in range(count)]
    coordinate = np.stack(codes, axis=1).astype(np.int32)
    sizes = [int(column.max()) + 1 for column in codes]
    if len(np.unique(keys(coordinate, sizes))) < n:
        return None
    axes = []
    for axis in range(count):
        families = _families(lines, np.flatnonzero(axis_of_line == axis), total, coordinate, axis, sizes, expired)
        if families is None:
            return None
        axes.append(Axis(sizes[axis], families))
    return CrossedAxes(tuple(axes), coordinate)


def _totals(lines: Lines) -> NDArray[np.int32] | None:
    """The total of each line: the one cell of the other sign (the first of two cells); None if a line has none."""
    if not len(lines) or lines.rhs.any() or (np.abs(lines.coef) != 1).any() or (np.diff(lines.start) < 2).any():
        return None
    rises = np.bincount(lines.line_of_entry[lines.coef > 0], minlength=len(lines))
    falls = np.diff(lines.start) - rises
    lone = np.where(falls == 1, -1, np.where(rises == 1, 1, 0))
    if (lone == 0).any():
        return None
    entry = np.flatnonzero(lines.coef == lone[lines.line_of_entry])
    return lines.cell[entry]


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Kinds of lines, numbered from 0: the kind of each line, and how many squares lines of two kinds
    span where they meet, of how many that were tried."""

    number: Ints
    squares: Ints
    tries: Ints

    @property
    def count(self) -> int:
        """How many kinds there are."""
        return len(self.squares)

    def fewer(self) -> _Kinds:
        """The two kinds taken together that span squares most seldom where they cross."""
        share = np.where(self.tries > 0, self.squares / np.maximum(self.tries, 1), 2.0)
        np.fill_diagonal(share, 3.0)
        one, two = sorted(np.unravel_index(int(np.argmin(share)), share.shape))
        renamed = np.arange(self.count)
        renamed[two] = one
        return self.taken_together(renamed)

    def taken_together(self, renamed: Ints) -> _Kinds:
        """The kinds after some have got the number of another."""
        number = np.unique(renamed, return_inverse=True)[1]
        count = int(number.max()) + 1
        squares, tries = (np.zeros((count, count), np.int64) for _ in range(2))
        pairs = np.ix_(number, number)
        np.add.at(squares, pairs, self.squares)
        np.add.at(tries, pairs, self.tries)
        return _Kinds(number[self.number], squares, tries)


def _kinds_of_lines(lines: Lines, cell_start: Ints, cell_line: NDArray[np.int32]) -> _Kinds | None:
    """The kind of every line; None where there are too many kinds.

    Two kinds are of different dimensions if their lines span squares where they cross; those that never do are one.
    """
    web = Incidence(lines.start, _ascending(lines), cell_start, cell_line)
    group = np.arange(len(lines), dtype=np.int64)
    join_parallels(web, group)
    number = _roots(group)
    count = int(number.max()) + 1
    if count > MOST_KINDS:
        return None
    step = max(1, (len(cell_start) - 1) // SAMPLED)
    kinds = _Kinds(number, *span_squares(web, number, count, step))
    merged = np.arange(count, dtype=np.int64)
    for a, b in np.argwhere((kinds.tries > 0) & (kinds.squares == 0)).tolist():
        merged[root_of(merged, a)] = root_of(merged, b)
    return kinds.taken_together(_roots(merged))


def _ascending(lines: Lines) -> NDArray[np.int32]:
    """The cells of the lines, ascending within each line."""
    return lines.cell[np.lexsort((lines.cell, lines.line_of_entry))]


def _roots(group: Ints) -> Ints:
    """Groups of a union-find numbered from 0 (int64[n])."""
    roots = np.array([root_of(group, i) for i in range(len(group))], np.int64)
    return np.unique(roots, return_inverse=True)[1].astype(np.int64)


def _held_together(lines: Lines, n: int, chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The connected component of every cell by the chosen lines (int32[n])."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    entry = chosen[lines.line_of_entry]
    ends = lines.cell[entry], lines.line_of_entry[entry] + n
    size = n + len(lines)
    graph = coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(size, size))
    part: NDArray[np.int32] = connected_components(graph, directed=False)[1][:n]
    return np.unique(part, return_inverse=True)[1].astype(np.int32)


def _families(
    lines: Lines,
    along: Ints,
    total: NDArray[np.int32],
    coordinate: NDArray[np.int32],
    axis: int,
    sizes: Sequence[int],
    expired: Expired,
) -> tuple[Family, ...] | None:
    """The families of one axis, such that every line along it is one of them where its cells are there; else None.

    Lines from which absent cells are missing are joined with others of the same total as far as that holds.
    """
    absent = _Absence(coordinate, axis, sizes)
    found: dict[int, list[_Draft]] = {}
    for line in along.tolist():
        leave_in_time(expired)
        cells = lines.cell[lines.start[line] : lines.start[line + 1]]
        if (np.delete(coordinate[cells], axis, axis=1) != np.delete(coordinate[cells[:1]], axis, axis=1)).any():
            return None
        head = int(coordinate[total[line], axis])
        parts = frozenset(coordinate[cells, axis].tolist()) - {head}
        drafts = found.setdefault(head, [])
        draft = next((d for d in drafts if d.parts == parts), None)
        if draft is None:
            drafts.append(draft := _Draft(parts, []))
        draft.somewhere.append(int(cells[0]))
    families: list[Family] = []
    for head, drafts in found.items():
        leave_in_time(expired)
        families += [(head, tuple(sorted(draft.parts))) for draft in _joined(drafts, absent)]
    return tuple(sorted(families)) if _acyclic(families) else None


@dataclass
class _Draft:
    """Parts of a total, and one cell of every line that has them."""

    parts: frozenset[int]
    somewhere: list[int]


class _Absence:
    """Which places along an axis have no cell."""

    def __init__(self, coordinate: NDArray[np.int32], axis: int, sizes: Sequence[int]) -> None:
        self.axis, self.sizes, self.coordinate = axis, sizes, coordinate
        self.there = np.unique(keys(coordinate, sizes))

    def everywhere(self, codes: Iterable[int], cells: Sequence[int]) -> bool:
        """Whether none of the codes has a cell on the lines through these cells."""
        missing = list(codes)
        if not missing:
            return True
        places = np.repeat(self.coordinate[np.array(cells)], len(missing), axis=0)
        places[:, self.axis] = np.tile(np.array(missing, np.int32), len(cells))
        return not np.isin(keys(places, self.sizes), self.there).any()


def _joined(drafts: list[_Draft], absent: _Absence) -> list[_Draft]:
    """Drafts of one total, joined where what one has and the other lacks is absent on the other's lines."""
    joined: list[_Draft] = []
    for draft in sorted(drafts, key=lambda d: (-len(d.parts), sorted(d.parts))):
        for other in joined:
            lacks, more = other.parts - draft.parts, draft.parts - other.parts
            if absent.everywhere(lacks, draft.somewhere) and absent.everywhere(more, other.somewhere):
                other.parts |= draft.parts
                other.somewhere += draft.somewhere
                break
        else:
            joined.append(_Draft(draft.parts, list(draft.somewhere)))
    return joined


def _acyclic(families: Sequence[Family]) -> bool:
    """Whether no code is, over any number of steps, a part of itself."""
    below: dict[int, set[int]] = {}
    for total, parts in families:
        below.setdefault(total, set()).update(parts)
    done: set[int] = set()
    for _ in range(len(below) + 1):
        ready = [code for code, parts in below.items() if code not in done and not (parts & below.keys()) - done]
        if not ready:
            break
        done.update(ready)
    return done == set(below)
