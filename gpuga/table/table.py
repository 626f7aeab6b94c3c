"""The table: cells, the equations between them, and what has to be protected, all in exact integers.

Two-dimensional, k-dimensional, hierarchical and linked tables are all "cells + lines". Values, levels
and bounds are int64 in units of `1/scale`, weights in units of `1/weight_scale`; nothing is a float.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError, printable

INFINITE = 2**62
"""Stands for "no bound" in `ub` (and, negated, in `lb`) and for an unlimited capacity."""

LARGEST = 2**60
"""No sum that is formed anywhere may exceed this; checked once, when the table is built."""

TOO_LARGE = "is too large a bound for exact arithmetic: round the figures, or write inf where there is no bound"

NAMED_MEMBERS = 3
"""Of the cells that a group is the sum of, so many are named."""

SMALL_COUNT = 100
"""Sensitive counts are small: a table with a sensitive cell of this size or more is taken for magnitudes."""

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Status(IntEnum):
    """What may happen to a cell."""

    SUPPRESSIBLE = 0  # `s`: published, may become a secondary suppression
    SENSITIVE = 1  # `u`: a primary suppression
    FROZEN = 2  # `z`: must be published
    SUPPRESSED = 3  # `m`: already suppressed as a secondary, stays so


LETTERS = dict(zip("suzm", Status, strict=True))
"""The statuses by the letters that stand for them in files."""


def status_letters(status: NDArray[np.uint8]) -> list[str]:
    """The letter of each cell's status."""
    letters = tuple(LETTERS)
    return [letters[s] for s in status.tolist()]


@dataclass(frozen=True, eq=False)
class Lines:
    """The equations `sum(coef * x[cell]) = rhs`, one per line, as compressed sparse rows.

    `start` int64[m+1], `cell` int32[nnz], `coef` int64[nnz], `rhs` int64[m].
    """

    start: Ints
    cell: NDArray[np.int32]
    coef: Ints
    rhs: Ints

    def __len__(self) -> int:
        return len(self.start) - 1

    def subset(self, which: NDArray[np.integer]) -> Lines:
        """Some of the equations, in the order given."""
        length = np.diff(self.start)[which]
        start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        entry = np.repeat(self.start[which] - start[:-1], length) + np.arange(int(start[-1]))
        return Lines(start, self.cell[entry], self.coef[entry], self.rhs[which])

    def residual(self, x: Ints) -> Ints:
        """`M x - rhs` for integer values `x` of all cells (int64[m])."""
        return self.apply(x) - self.rhs

    def apply(self, x: Ints) -> Ints:
        """`M x` (int64[m])."""
        if len(self) == 0:
            return np.zeros(0, np.int64)
        sums = np.concatenate([[0], np.cumsum(self.coef * x[self.cell])])
        return np.asarray(sums[self.start[1:]] - sums[self.start[:-1]], np.int64)

    @cached_property
    def line_of_entry(self) -> NDArray[np.int32]:
        """The line of each entry (int32[nnz])."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.start))

    def by_cell(self, cells: int) -> tuple[Ints, NDArray[np.int32], Ints]:
        """The transpose: `start` int64[cells+1], `line` int32[nnz], `coef` int64[nnz]."""
        order = np.argsort(self.cell, kind="stable")
        start = np.zeros(cells + 1, np.int64)
        np.cumsum(np.bincount(self.cell, minlength=cells), out=start[1:])
        return start, self.line_of_entry[order], self.coef[order]


@dataclass(frozen=True, eq=False)
class Levels:
    """Protection levels of all cells, as distances from the value (int64[n], zero where not sensitive)."""

    lower: Ints
    upper: Ints
    sliding: Ints


@dataclass(frozen=True, eq=False)
class Dimension:
    """One dimension: its codes and, for each, the position of its parent (-1 for the one total).

    Where several hierarchies break its codes down, `trees` has the parents in each of them (-1: the code is no part
    there), and `parent` is the one in the first hierarchy that has any.
    """

    name: str
    codes: tuple[str, ...]
    parent: NDArray[np.int32]
    trees: tuple[NDArray[np.int32], ...] = ()

    @cached_property
    def root(self) -> int:
        """The position of the total."""
        return int(np.flatnonzero(self.parent < 0)[0])

    @property
    def breakdowns(self) -> tuple[NDArray[np.int32], ...]:
        """The parents of the codes in every hierarchy (int32[codes] each)."""
        return self.trees or (self.parent,)

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """Steps from each code up to the total, by the longest way (int32[codes])."""
        depth = np.zeros(len(self.codes), np.int32)
        while True:
            steps = [np.where(tree >= 0, depth[np.maximum(tree, 0)] + 1, 0) for tree in self.breakdowns]
            longest = np.maximum.reduce(steps).astype(np.int32)
            if (longest == depth).all():
                return depth
            depth = longest

    @cached_property
    def is_leaf(self) -> Mask:
        """Whether a code has no parts (bool[codes])."""
        leaf = np.ones(len(self.codes), bool)
        for tree in self.breakdowns:
            leaf[tree[tree >= 0]] = False
        return leaf


@dataclass(frozen=True, eq=False)
class Grid:
    """Where the cells of a k-dimensional table lie: one code position per cell and dimension."""

    dimensions: tuple[Dimension, ...]
    coordinate: NDArray[np.int32]  # int32[n, k]

    @property
    def shape(self) -> tuple[int, ...]:
        """Codes per dimension, totals included."""
        return tuple(len(d.codes) for d in self.dimensions)


class TableOptions(TypedDict, total=False):
    """What a table may be given besides values and equations; the fields of `Table` of the same names."""

    weight: Ints | None
    status: NDArray[np.uint8] | None
    lb: Ints | None
    ub: Ints | None
    levels: Levels | None
    scale: int
    weight_scale: int
    grid: Grid | None
    contributors: Ints | None
    name: str
    given: int
    groups: int
    linked: bool
    whole_levels: bool | None


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Cells and equations with everything that has to be protected. Build with `Table.build`."""

    value: Ints
    weight: Ints
    status: NDArray[np.uint8]
    lb: Ints
    ub: Ints
    levels: Levels
    lines: Lines
    scale: int = 1
    weight_scale: int = 1
    grid: Grid | None = None
    contributors: Ints | None = None
    name: str = "table"
    given: int = field(default=-1)  # how many cells stood in the source, in its order; added marginals follow
    groups: int = 0  # how many of the last cells are groups: sums that are never published and lie outside the grid
    linked: bool = False  # several tables in one: the equations are theirs, not all those of the grid
    whole_levels: bool | None = None  # whether the levels that the source gives are whole; None: judge by all levels

    @classmethod
    def build(cls, value: Ints, lines: Lines, **more: Unpack[TableOptions]) -> Table:
        """A checked table. Without `weight`: the value weights `max(|a|, 0)`; without bounds: 0 and none."""
        value = np.ascontiguousarray(value, np.int64)
        zero = np.zeros(len(value), np.int64)
        fields: dict[str, Any] = {
            "status": zero,
            "lb": zero.copy(),
            "ub": np.full(len(value), INFINITE),
            "levels": Levels(zero, zero, zero),
            "given": len(value),
        }
        fields |= {name: said for name, said in more.items() if said is not None}
        if more.get("weight") is None:
            fields |= {"weight": np.abs(value), "weight_scale": more.get("scale", 1)}
        fields |= {name: np.ascontiguousarray(fields[name], np.int64) for name in ("weight", "lb", "ub")}
        fields["status"] = fields["status"].astype(np.uint8)
        table = cls(value=value, lines=lines, **fields)
        _check(table)
        return table

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        """What the table is, without any value."""
        size = f"{len(self)} cells, {len(self.lines)} equations, {len(self.sensitive)} sensitive"
        return f"<Table {printable(self.name)!r}: {size}>"

    @cached_property
    def sensitive(self) -> NDArray[np.int64]:
        """The primary suppressions, ascending."""
        return np.flatnonzero(self.status == Status.SENSITIVE)

    @cached_property
    def primary(self) -> Mask:
        """Whether a cell is a primary suppression."""
        return np.asarray(self.status == Status.SENSITIVE)

    @cached_property
    def forced(self) -> Mask:
        """What is suppressed whatever is decided: primaries and cells suppressed beforehand."""
        return np.asarray(self.primary | (self.status == Status.SUPPRESSED))

    @cached_property
    def suppressible(self) -> Mask:
        """What may be suppressed at all: everything that is not frozen."""
        return np.asarray(self.status != Status.FROZEN)

    @cached_property
    def up(self) -> Ints:
        """How far each cell may rise for the attacker (`INFINITE`: without limit); 0 for frozen cells."""
        room = np.where(self.ub >= INFINITE, INFINITE, self.ub - np.where(self.ub >= INFINITE, 0, self.value))
        return np.where(self.suppressible, room, 0).astype(np.int64)

    @cached_property
    def down(self) -> Ints:
        """How far each cell may fall for the attacker (`INFINITE`: without limit); 0 for frozen cells."""
        free = self.lb <= -INFINITE
        room = np.where(free, INFINITE, self.value - np.where(free, 0, self.lb))
        return np.where(self.suppressible, room, 0).astype(np.int64)

    @cached_property
    def counts(self) -> bool:
        """Whether this looks like a table of counts, whose readers know that every value is a whole number.

        Values, finite bounds and the levels that the source gives are whole in the user's units, and the
        sensitive cells (groups apart) lie below `SMALL_COUNT`. Levels made by a rule such as 15 % may be fractions.
        """
        cells = self.primary[: len(self) - self.groups]
        small = np.abs(self.value[: len(cells)][cells]) < SMALL_COUNT * self.scale
        finite = [np.where(np.abs(b) >= INFINITE, 0, b) for b in (self.lb, self.ub)]
        levels = list(vars(self.levels).values()) if self.whole_levels is None else []
        whole = all(not (column % self.scale).any() for column in (self.value, *finite, *levels))
        return whole and self.whole_levels is not False and bool(small.all())

    def cost(self, suppressed: Mask) -> int:
        """The sum of the weights of the secondary suppressions, in units of `1/weight_scale`."""
        return int(self.weight[suppressed & ~self.primary].sum())

    def check_pattern(self, suppressed: Mask) -> None:
        """Refuse a pattern that publishes a sensitive cell or suppresses a frozen one."""
        if len(suppressed) != len(self):
            raise InputError(f"the pattern has {len(suppressed)} cells, the table {len(self)}")
        if (bad := np.flatnonzero(self.primary & ~suppressed)).size:
            raise InputError(f"the pattern publishes the sensitive {self.label(int(bad[0]))}")
        if (bad := np.flatnonzero(suppressed & ~self.suppressible)).size:
            raise InputError(f"the pattern suppresses {self.label(int(bad[0]))}, which must be published")

    def shown_cost(self, cost: int | Fraction) -> float | int:
        """A cost in the user's units: an integer where it is one."""
        exact = Fraction(cost) / self.weight_scale
        return int(exact) if exact.denominator == 1 else float(exact)

    def label(self, cell: int) -> str:
        """The name of a cell for messages: its codes where it has any, else its position in the file."""
        if cell >= len(self) - self.groups:
            members = self.members(cell)
            more = f" and {len(members) - NAMED_MEMBERS} more" if len(members) > NAMED_MEMBERS else ""
            return f"the sum of {', '.join(self.label(c) for c in members[:NAMED_MEMBERS])}{more}"
        if self.grid is None:
            return f"cell {cell}"
        codes = zip(self.grid.dimensions, self.grid.coordinate[cell], strict=True)
        return f"cell {cell} ({', '.join(f'{printable(d.name)}={printable(d.codes[c])}' for d, c in codes)})"

    def members(self, group: int) -> list[int]:
        """The cells that a group is the sum of."""
        lines = self.lines
        line = int(lines.line_of_entry[np.flatnonzero(lines.cell == group)[0]])
        return [c for c in lines.cell[lines.start[line] : lines.start[line + 1]].tolist() if c != group]

    def in_units(self, scale: int, weight_scale: int) -> Table:
        """The same table in finer units; `scale` and `weight_scale` are multiples of its own."""
        by, weight_by = scale // self.scale, weight_scale // self.weight_scale
        _refuse_overflow(self, by, weight_by)

        def bound(b: Ints) -> Ints:
            return np.where(np.abs(b) >= INFINITE, b, b * by).astype(np.int64)

        levels = Levels(self.levels.lower * by, self.levels.upper * by, self.levels.sliding * by)
        lines = Lines(self.lines.start, self.lines.cell, self.lines.coef, self.lines.rhs * by)
        changed = replace(
            self,
            value=self.value * by,
            weight=self.weight * weight_by,
            lb=bound(self.lb),
            ub=bound(self.ub),
            levels=levels,
            lines=lines,
            scale=scale,
            weight_scale=weight_scale,
        )
        _check(changed)
        return changed

    def with_primaries(self, primary: Mask, levels: Levels) -> Table:
        """The same table with other primaries: what was sensitive and no longer is becomes suppressible."""
        status = self.status.copy()
        status[self.status == Status.SENSITIVE] = Status.SUPPRESSIBLE
        status[primary] = Status.SENSITIVE
        changed = replace(self, status=status, levels=levels)
        _check(changed)
        return changed


def _check(table: Table) -> None:
    """Refuse a table that is not additive, out of its bounds, or too large for exact int64 sums."""
    n = len(table.value)
    arrays = (table.weight, table.status, table.lb, table.ub, *vars(table.levels).values())
    if any(len(a) != n for a in arrays):
        raise InputError("the table's columns have different lengths")
    _check_sums(table)
    _check_room(table)
    _check_bounds(table)
    _check_levels(table)
    _check_weights(table)
    residual = table.lines.residual(table.value)  # by how much stays unsaid: it can be the value of a cell left out
    if (bad := np.flatnonzero(residual)).size:
        line = int(bad[0])
        total, cells = _total_of(table, line), int(np.diff(table.lines.start)[line])
        parts = f"{table.label(total)} is not the sum of its {cells - 1} parts"
        raise InputError(f"{parts}: equation {line} does not add up", cell=total)


def _refuse_overflow(table: Table, by: int, weight_by: int) -> None:
    """Refuse finer units in which some figure would no longer fit into int64."""
    finite = [np.where(np.abs(b) >= INFINITE, 0, b) for b in (table.lb, table.ub)]
    figures = (table.value, *finite, *vars(table.levels).values(), table.lines.rhs)
    for columns, factor in ((figures, by), ((table.weight,), weight_by)):
        if max(int(np.abs(c).max(initial=0)) for c in columns) * factor >= LARGEST:
            raise InputError(
                "the figures are too large for exact arithmetic in their smallest decimal unit: round them"
            )


def _total_of(table: Table, line: int) -> int:
    """The cell by which a line is named: the one that is subtracted, else the first."""
    entries = slice(int(table.lines.start[line]), int(table.lines.start[line + 1]))
    cells, coefs = table.lines.cell[entries], table.lines.coef[entries]
    return int(cells[np.argmax(coefs < 0)])


def _check_sums(table: Table) -> None:
    largest = float(np.abs(table.value.astype(float)).sum())
    coefs = float(np.abs(table.lines.coef.astype(float)).max(initial=1.0))
    level = sum(float(x.astype(float).sum()) for x in vars(table.levels).values())
    if max(largest * coefs, level) >= LARGEST:
        raise InputError(
            f"the values are too large for exact arithmetic at {len(str(table.scale)) - 1} decimals: "
            "round them or use a larger unit"
        )


def _check_bounds(table: Table) -> None:
    inside = (table.lb <= table.value) & (table.value <= table.ub)
    if (bad := np.flatnonzero(~inside)).size:
        cell = int(bad[0])
        negative = table.value[cell] < 0 and table.lb[cell] == 0
        hint = " (negative values need columns lb and ub, or bounds derived from them)" if negative else ""
        what = f"{table.label(cell)} lies outside its bounds lb and ub{hint}"
        raise InputError(what, field="lb", cell=cell)


def _check_room(table: Table) -> None:
    """Refuse bounds so far from their values that the distance, or a sum with a level, might not fit."""
    for name, bound in (("lb", table.lb), ("ub", table.ub)):
        finite = np.abs(bound) < INFINITE
        room = np.abs(np.where(finite, bound, table.value) - table.value)
        far = finite & ((np.abs(bound) >= 2 * LARGEST) | (room >= LARGEST))
        if far.any():
            raise InputError(TOO_LARGE, field=name, cell=int(np.argmax(far)))


def _check_levels(table: Table) -> None:
    for name, level in vars(table.levels).items():
        if (bad := np.flatnonzero(level < 0)).size:
            cell = int(bad[0])
            raise InputError(f"{table.label(cell)} has a negative protection level", field=name, cell=cell)


def _check_weights(table: Table) -> None:
    if (bad := np.flatnonzero(table.weight < 0)).size:
        cell = int(bad[0])
        raise InputError(f"{table.label(cell)} has a negative weight", field="weight", cell=cell)
    if float(table.weight.astype(float).sum()) >= LARGEST:
        raise InputError("the weights are too large for exact arithmetic: use a larger unit", field="weight")
