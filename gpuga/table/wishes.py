"""Cells that must be published because the user wishes so: single totals by their codes, or all totals of a level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.table.table import Grid, Mask, Status, Table

ANY = "*"
"""Stands for all codes of a dimension."""

Wish = str | Mapping[str, str]
"""Codes by dimension, also written as `DIM=CODE` or `DIM=CODE,DIM=CODE`; dimensions left out are at their total."""


@dataclass(frozen=True, eq=False)
class Kept:
    """The cells of one wish (bool[n]) and how the user wrote it."""

    wish: str
    cells: Mask


def wished(table: Table, keep: Sequence[Wish] = (), keep_totals: int | None = None) -> list[Kept]:
    """What must be published: every wish with its cells. Sensitive cells cannot be wished for by their codes."""
    kept = [_of_codes(table, wish) for wish in keep]
    if keep_totals is not None:
        kept.append(_of_level(table, keep_totals))
    return kept


def named_dimensions(wish: Wish) -> set[str]:
    """The dimensions that a wish names."""
    return set(dict(_pairs(wish)) if isinstance(wish, str) else wish)


def with_kept(table: Table, kept: Sequence[Kept]) -> Table:
    """The table in which the cells of all wishes must be published."""
    status = table.status.copy()
    for one in kept:
        status[one.cells] = Status.FROZEN
    return replace(table, status=status)


def totals_of(table: Table) -> Mask:
    """The cells that are published sums of others (bool[n]); groups are never published."""
    totals = np.zeros(len(table), bool)
    totals[table.lines.cell[table.lines.coef < 0]] = True
    totals[len(table) - table.groups :] = False
    return totals


def _of_codes(table: Table, wish: Wish) -> Kept:
    codes = dict(_pairs(wish)) if isinstance(wish, str) else dict(wish)
    said = ",".join(f"{name}={code}" for name, code in codes.items())
    grid = _grid(table, "--keep")
    unknown = [name for name in codes if name not in [d.name for d in grid.dimensions]]
    if unknown:
        raise InputError(f"there is no dimension {printable(unknown[0])!r}", field="--keep")
    cells = np.ones(len(grid.coordinate), bool)
    for axis, dimension in enumerate(grid.dimensions):
        code = codes.get(dimension.name)
        if code == ANY:
            continue
        if code is not None and code not in dimension.codes:
            raise InputError(f"{printable(dimension.name)} has no code {printable(code)!r}", field="--keep")
        place = dimension.root if code is None else dimension.codes.index(code)
        cells &= grid.coordinate[:, axis] == place
    return _without_sensitive(table, Kept(said, cells), "--keep")


def _of_level(table: Table, level: int) -> Kept:
    """All totals at most so many steps below the grand total, counted over all dimensions; sensitive ones left out."""
    if level < 0:
        raise InputError(f"{level} is not a level: 0 is the grand total", field="--keep-totals")
    grid = _grid(table, "--keep-totals")
    depth = sum(d.depth[grid.coordinate[:, axis]] for axis, d in enumerate(grid.dimensions))
    cells = (np.asarray(depth) <= level) & totals_of(table)[: len(grid.coordinate)]
    return _without_sensitive(table, Kept(f"totals of level {level}", cells), "--keep-totals")


def _without_sensitive(table: Table, kept: Kept, option: str) -> Kept:
    """The wish without cells that cannot be published; one that has no others is refused."""
    cells = np.zeros(len(table), bool)
    cells[: len(kept.cells)] = kept.cells
    if not cells.any():
        raise InputError(f"{printable(kept.wish)!r} is no cell of the table", field=option)
    if not (cells & ~table.forced).any():
        what = f"{printable(kept.wish)!r} cannot be published: it is sensitive or suppressed beforehand"
        raise InputError(what, field=option)
    return Kept(kept.wish, cells & ~table.forced)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(","):
        name, sign, code = part.partition("=")
        if not (name and sign and code):
            raise InputError(f"{printable(text)!r} is not DIM=CODE or DIM=CODE,DIM=CODE", field="--keep")
        yield name.strip(), code.strip()


def _grid(table: Table, option: str) -> Grid:
    if table.grid is None:
        raise InputError(
            "needs a table with dimensions; a .jj file says which cells stay by its status z", field=option
        )
    return table.grid
