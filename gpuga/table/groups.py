"""Groups: sums of a few cells that must be protected like cells, with levels of their own.

A respondent who is alone in a cell knows it, and so knows what is left of a sum of two hidden cells; a
level on the pair keeps him away. A group is one more sensitive cell, never published, and one more
equation: members minus group is zero. Groups come after all other cells and lie outside the grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError
from gpuga.table.exact import decimals
from gpuga.table.levels import refuse_negative_level
from gpuga.table.table import INFINITE, LARGEST, Ints, Levels, Lines, Status, Table
from gpuga.table.words import MEMBERS

Column = Sequence[object] | NDArray[np.generic]

LEVELS = ("lower", "upper", "sliding")


def with_groups(table: Table, members: Sequence[Sequence[int]], levels: Levels) -> Table:
    """The table with one group per list of cells; `levels` int64[groups] in the table's units."""
    whole = all(not (level % table.scale).any() for level in vars(levels).values())
    n, count = len(table), len(members)
    low = np.array([_sum(table.lb, group, -INFINITE) for group in members], np.int64)
    value = np.array([int(table.value[list(group)].sum()) for group in members], np.int64)
    zero = np.zeros(count, np.int64)
    contributors = table.contributors
    return Table.build(
        np.concatenate([table.value, value]),
        _lines(table.lines, members, n),
        status=np.concatenate([table.status, np.full(count, Status.SENSITIVE, np.uint8)]),
        weight=np.concatenate([table.weight, zero]),
        lb=np.concatenate([table.lb, low]),
        ub=np.concatenate([table.ub, np.full(count, INFINITE)]),
        levels=Levels(
            *(np.concatenate([getattr(table.levels, name), getattr(levels, name)]) for name in LEVELS),
        ),
        scale=table.scale,
        weight_scale=table.weight_scale,
        grid=table.grid,
        contributors=None if contributors is None else np.concatenate([contributors, zero]),
        name=table.name,
        given=table.given,
        groups=count,
        linked=table.linked,
        whole_levels=None if table.whole_levels is None else table.whole_levels and whole,
    )


def _sum(bound: Ints, cells: Sequence[int], none: int) -> int:
    """The sum of the members' bounds; `none` where one of them has none, or where their own bounds say enough."""
    values = bound[list(cells)].tolist()
    return none if any(abs(v) >= INFINITE for v in values) or abs(sum(values)) >= LARGEST // 2 else sum(values)


def _lines(lines: Lines, members: Sequence[Sequence[int]], n: int) -> Lines:
    """The equations, and one for every group: its members less the group's own cell, the first of which is n."""
    cell = np.array([c for x, group in enumerate(members) for c in (*group, n + x)], np.int64)
    ends = np.cumsum([len(group) + 1 for group in members], dtype=np.int64)
    coef = np.ones(len(cell), np.int64)
    coef[ends - 1] = -1
    return Lines(
        np.concatenate([lines.start, lines.start[-1] + ends]),
        np.concatenate([lines.cell, cell.astype(np.int32)]),
        np.concatenate([lines.coef, coef]),
        np.concatenate([lines.rhs, np.zeros(len(members), np.int64)]),
    )


def first_group(members: Column) -> int:
    """The row of the first group in a column `members`; groups stand after all cells."""
    given = [str("" if m is None else m).strip() not in ("", "nan") for m in members]
    first = given.index(True) if True in given else len(given)
    if not all(given[first:]):
        raise InputError("groups must stand after all cells", field=MEMBERS, cell=first + given[first:].index(False))
    return first


def read_groups(table: Table, columns: Mapping[str, Column], first: int) -> Table:
    """The table with the groups that its file lists below the cells: rows with `members`, `value` and levels."""
    rows = len(columns[MEMBERS]) - first
    members = [_positions(columns[MEMBERS][first + g], table.given, first + g) for g in range(rows)]
    figures = {n: decimals(list(columns[n])[first:], n) for n in ("value", *LEVELS) if n in columns}
    digits = max(f.digits for f in figures.values())
    if 10**digits > table.scale:
        table = table.in_units(10**digits, table.weight_scale)
    digits = len(str(table.scale)) - 1
    _check_values(table, members, figures["value"].scaled(digits), first)
    level = {n: figures[n].scaled(digits) if n in figures else np.zeros(rows, np.int64) for n in LEVELS}
    _check_levels(level, first)
    return with_groups(table, members, Levels(**level))


def _positions(text: object, cells: int, row: int) -> list[int]:
    found = str(text).split()
    if not all(p.isascii() and p.isdigit() and int(p) < cells for p in found) or len(set(found)) < max(len(found), 2):
        what = f"must list at least two different cells by their positions, 0 to {cells - 1}"
        raise InputError(what, field=MEMBERS, cell=row)
    return [int(p) for p in found]


def _check_values(table: Table, members: Sequence[Sequence[int]], value: Ints, first: int) -> None:
    for g, group in enumerate(members):
        if int(table.value[group].sum()) != int(value[g]):
            raise InputError("is not the sum of its members: was the file re-sorted?", field="value", cell=first + g)


def _check_levels(level: Mapping[str, Ints], first: int) -> None:
    for name, column in level.items():
        refuse_negative_level(column, name, first)
    without = level["lower"] + level["upper"] + level["sliding"] == 0
    if without.any():
        raise InputError("a group needs a level", field="upper", cell=first + int(np.argmax(without)))
