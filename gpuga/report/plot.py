"""A picture of a pattern for notebooks: published, primary and secondary cells along two dimensions; no values."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuga.errors import InputError, MissingExtra, printable
from gpuga.table.table import Grid, Ints, Mask, Table

COLOURS = ("#ffffff", "#e3e8ed", "#b4460f", "#2a5fb0")
"""No cell, published, primary, secondary."""

MOST_LABELS = 60
"""Along longer axes codes are left out: they could not be read."""


def pattern_figure(table: Table, suppressed: Mask, rows: str | None = None, columns: str | None = None) -> Any:
    """A matplotlib figure of two dimensions, the first two if none are named; all others at their totals."""
    try:
        from matplotlib.colors import ListedColormap
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("plotting", "plots") from None
    grid, axes = _chosen(table, rows, columns)
    kinds = pattern_kinds(table, suppressed, grid, axes)
    figure = Figure(
        figsize=(2 + 0.22 * min(kinds.shape[1], 80), 2 + 0.22 * min(kinds.shape[0], 80)), layout="constrained"
    )
    plane = figure.add_subplot()
    plane.imshow(kinds, cmap=ListedColormap(list(COLOURS)), vmin=0, vmax=3, aspect="equal")
    for axis, dimension in ((plane.yaxis, grid.dimensions[axes[0]]), (plane.xaxis, grid.dimensions[axes[1]])):
        few = len(dimension.codes) <= MOST_LABELS
        axis.set_ticks(range(len(dimension.codes)) if few else [], _labels(dimension.codes) if few else [])
        axis.set_label_text(_label(dimension.name))
    plane.tick_params(axis="x", labelrotation=90)
    return figure


def _chosen(table: Table, rows: str | None, columns: str | None) -> tuple[Grid, tuple[int, int]]:
    if table.grid is None or len(table.grid.dimensions) < 2:
        raise InputError("a picture needs two dimensions")
    names = [d.name for d in table.grid.dimensions]
    for field, name in (("rows", rows), ("columns", columns)):
        if name is not None and name not in names:
            raise InputError(f"{printable(name)!r} is not one of {', '.join(map(printable, names))}", field=field)
    first = names.index(rows) if rows is not None else next(at for at, n in enumerate(names) if n != columns)
    second = names.index(columns) if columns is not None else next(at for at in range(len(names)) if at != first)
    if first == second:
        raise InputError("is the dimension of the rows as well", field="columns")
    return table.grid, (first, second)


def pattern_kinds(table: Table, suppressed: Mask, grid: Grid, axes: tuple[int, int]) -> Ints:
    """What stands at each pair of codes: 0 no cell, 1 published, 2 primary, 3 secondary (int64[rows, columns])."""
    cells = len(grid.coordinate)
    kind = np.where(suppressed[:cells], np.where(table.primary[:cells], 2, 3), 1)
    roots = np.array([d.root for d in grid.dimensions])
    others = [at for at in range(len(roots)) if at not in axes]
    here = (grid.coordinate[:, others] == roots[others]).all(axis=1)
    found = np.zeros((grid.shape[axes[0]], grid.shape[axes[1]]), np.int64)
    found[grid.coordinate[here, axes[0]], grid.coordinate[here, axes[1]]] = kind[here]
    return found


def _labels(codes: tuple[str, ...]) -> list[str]:
    return [_label(code) for code in codes]


def _label(text: str) -> str:
    """A code as matplotlib shows it: a dollar would begin a formula."""
    return printable(text, 24).replace("$", r"\$")
