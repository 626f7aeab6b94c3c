"""Tabulate: from microdata to a table with marginals, primaries and levels, ready to be protected.

    with the records open: code the dimensions -> contributions of every cell -> primary rules -> groups

The answer is for the office only: it holds every value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from gpuga.context import Progress, Silent
from gpuga.errors import InputError, printable
from gpuga.files.hrc import Files, read_dimension
from gpuga.microdata.contributions import Cells, Layout, collect, makeup, prepare
from gpuga.microdata.primary_rules import Contributions, PrimaryRule, Zeros, required_level
from gpuga.microdata.records import OpeningOptions, Records
from gpuga.microdata.singletons import Group, crowded_lines, groups
from gpuga.table.grid import flat_dimension, grid_lines
from gpuga.table.groups import with_groups
from gpuga.table.table import Dimension, Grid, Levels, Status, Table
from gpuga.table.words import BETWEEN_RULES, RESERVED


@dataclass(frozen=True, eq=False)
class Tabulation:
    """A table from microdata: every inhabited cell of the grid, then the groups (their sums are no cells of
    the grid).

    Values, levels and `lb` are int64 in units of `1/scale`; `cost` (if any) in units of `1/cost_scale`.
    """

    grid: Grid
    value: NDArray[np.int64]
    contributors: NDArray[np.int64]
    primary: NDArray[np.bool_]
    level: NDArray[np.int64]
    lb: int
    scale: int
    groups: tuple[Group, ...]
    cost: NDArray[np.int64] | None = None
    cost_scale: int = 1
    records: int = 0
    fired: tuple[int, ...] = ()  # how many primaries each rule asks for, in the order of the rules
    rules: tuple[str, ...] = ()  # of every cell: the rules that make it a primary

    def lower(self) -> NDArray[np.int64]:
        """Lower levels: as wide as the upper ones, but no wider than the room down to `lb`."""
        return np.minimum(self.level, self.value - self.lb)

    def group_value(self, group: Group) -> int:
        """The sum of a group's members."""
        return int(self.value[list(group.members)].sum())

    def group_levels(self, group: Group) -> tuple[int, int]:
        """A group's lower and upper level."""
        level = math.ceil(group.level)
        return min(level, self.group_value(group) - self.lb * len(group.members)), level

    def summary(self) -> dict[str, int | float]:
        """Counts that say how the table came out; no value."""
        return {
            "schema": 1,
            "records": self.records,
            "cells": len(self.value),
            "primaries": int(self.primary.sum()),
            "primary_share": round(float(self.primary.mean()), 6),
            "groups": len(self.groups),
            "singleton_groups": sum(group.reason == "singleton" for group in self.groups),
        }

    def table(self) -> Table:
        """The table in memory: the cells of the grid, then one sensitive cell and one line per group."""
        n = len(self.value)
        status = np.where(self.value == 0, Status.FROZEN, Status.SUPPRESSIBLE)
        cells = Table.build(
            self.value,
            grid_lines(self.grid),
            status=np.where(self.primary, Status.SENSITIVE, status).astype(np.uint8),
            weight=np.abs(self.value) if self.cost is None else self.cost,
            lb=np.full(n, self.lb),
            levels=Levels(self.lower() * self.primary, self.level, np.zeros(n, np.int64)),
            scale=self.scale,
            weight_scale=self.scale if self.cost is None else self.cost_scale,
            grid=self.grid,
            contributors=self.contributors,
        )
        if not self.groups:
            return cells
        lower, upper = np.array([self.group_levels(group) for group in self.groups], np.int64).T
        return with_groups(cells, [group.members for group in self.groups], Levels(lower, upper, 0 * lower))


def tabulate(
    path: str | Path,
    layout: Layout,
    rules: Sequence[PrimaryRule],
    *,
    hierarchies: Mapping[str, Dimension | Files] | None = None,
    zeros: Zeros | None = None,
    singletons: bool = True,
    total: str = "Total",
    progress: Progress | None = None,
    **opening: Unpack[OpeningOptions],
) -> Tabulation:
    """The table of a microdata file by `layout.by`, its primaries found by the rules (any one makes a
    primary).

    `hierarchies` gives a dimension its codes and sub-totals, or the `.hrc` file (or several) that does; a dimension
    without one is flat. `singletons` also protects primaries of one line against each other. `written` and
    `threads` say how the file is read.
    """
    zeros, progress = zeros or Zeros(), progress or Silent()
    trees = {
        name: given if isinstance(given, Dimension) else read_dimension(given, name, total)
        for name, given in (hierarchies or {}).items()
    }
    _check_call(layout, rules, trees)
    progress.stage("read")
    with Records(path, **opening) as records:
        records.load(layout.columns)
        dimensions = [trees[name] if name in trees else _flat(records, name, total) for name in layout.by]
        scales = prepare(records, layout, dimensions)
        progress.stage("add up")
        reach = max(rule.reach for rule in rules)
        cells = collect(records, dimensions, reach, scales)
        cells = _with_unused(cells, dimensions)
        progress.stage("primaries", total=len(cells.contributions))
        needed = [required_level(c, rules, zeros, cells.scale) for c in cells.contributions]
        progress.advance(len(needed))
        grid = Grid(tuple(dimensions), cells.coordinate)
        primary = np.array([level is not None for level in needed], bool)
        progress.stage("groups")
        found = _groups(records, cells, grid, primary, rules, zeros) if singletons else []
        made = _tabulation(cells, grid, needed, found, layout, records.count)
        by_cell = [
            [] if level is None else [z for z, rule in enumerate(rules) if rule.level(cell) is not None]
            for cell, level in zip(cells.contributions, needed, strict=True)
        ]
        return replace(
            made,
            fired=tuple(sum(z in those for those in by_cell) for z in range(len(rules))),
            rules=tuple(BETWEEN_RULES.join(rules[z].words for z in those) for those in by_cell),
        )


def _check_call(layout: Layout, rules: Sequence[PrimaryRule], hierarchies: Mapping[str, Dimension]) -> None:
    if not rules:
        raise InputError("give at least one primary rule", field="--rule")
    if not layout.by or len(set(layout.by)) != len(layout.by):
        raise InputError("give the dimensions, each once", field="--by")
    for name in layout.by:
        if name.lower() in RESERVED:
            raise InputError(f"{printable(name)} is a reserved column of tables, rename it", field="--by")
    for name in hierarchies:
        if name not in layout.by:
            raise InputError(f"{printable(name)} is not among the dimensions", field="--hierarchy")


def _flat(records: Records, name: str, total: str) -> Dimension:
    """A dimension of the codes that occur, in order."""
    records.refuse_blank(name)
    column = records.column(name)
    codes = [str(r[0]) for r in records.run(f"SELECT DISTINCT trim({column}) FROM records").fetchall()]
    if total in codes:
        records.refuse_where(
            f"trim({column}) = ?", name, "is the code of the total; choose another with --total", [total]
        )
    return flat_dimension(name, sorted(codes), total)


def _with_unused(cells: Cells, dimensions: Sequence[Dimension]) -> Cells:
    """Codes of a hierarchy without any record get one cell, zero, in the other dimensions' totals."""
    added = []
    for axis, dimension in enumerate(dimensions):
        unused = np.setdiff1d(np.arange(len(dimension.codes)), cells.coordinate[:, axis])
        added += [[int(code) if d == axis else other.root for d, other in enumerate(dimensions)] for code in unused]
    if not added:
        return cells
    empty = Contributions(0, 0, 0, 0, (), cells.one)
    return replace(
        cells,
        coordinate=np.concatenate([cells.coordinate, np.array(added, np.int32)]),
        contributions=[*cells.contributions, *[empty] * len(added)],
        cost=None if cells.cost is None else np.concatenate([cells.cost, np.zeros(len(added), np.int64)]),
    )


def _groups(
    records: Records,
    cells: Cells,
    grid: Grid,
    primary: NDArray[np.bool_],
    rules: Sequence[PrimaryRule],
    zeros: Zeros,
) -> list[Group]:
    """Primaries that need a level together."""
    crowded = crowded_lines(grid_lines(grid), primary)
    members = sorted({cell for line in crowded for cell in line})
    if not members:
        return []
    found = makeup(records, cells.coordinate[members], max(rule.reach for rule in rules), cells.one)
    by_cell = {cell: found[tuple(int(x) for x in cells.coordinate[cell])] for cell in members}
    return groups(crowded, by_cell, rules, zeros, cells.scale)


def _tabulation(
    cells: Cells,
    grid: Grid,
    needed: Sequence[Fraction | None],
    found: Sequence[Group],
    layout: Layout,
    records: int,
) -> Tabulation:
    return Tabulation(
        grid=grid,
        value=np.array([c.value for c in cells.contributions], np.int64),
        contributors=np.array([c.contributors for c in cells.contributions], np.int64),
        primary=np.array([level is not None for level in needed], bool),
        level=np.array([0 if level is None else math.ceil(level) for level in needed], np.int64),
        lb=-cells.magnitude if cells.has_negative else 0,
        scale=cells.scale * cells.one,
        groups=tuple(found),
        cost=None if layout.cost is None else cells.cost,
        cost_scale=cells.cost_scale,
        records=records,
    )
