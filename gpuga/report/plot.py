"""Pictures for notebooks, confidential: a pattern along two dimensions, the costs of a run; no cell's value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpuga.audience import CONFIDENTIAL
from gpuga.errors import InputError, MissingExtra, printable
from gpuga.table.table import Grid, Ints, Mask, Table

COLOURS = ("#ffffff", "#e3e8ed", "#b4460f", "#2a5fb0")
"""No cell, published, primary, secondary."""

MOST_LABELS = 60
"""Along longer axes codes are left out: they could not be read."""


LINES = {
    "cost": ("seconds", "time in seconds", ("best", "lower_bound")),
    "population": ("generation", "generation", ("worst", "mean", "best")),
}
"""Of each picture of a run: the column along the axis, what it is called, and the columns that are drawn."""

MOST_ROWS = 80
"""A picture of a pattern does not grow beyond so many codes along an axis."""


def pattern_figure(table: Table, suppressed: Mask, rows: str | None = None, columns: str | None = None) -> Any:
    """A matplotlib figure of two dimensions, the first two if none are named; all others at their totals."""
    grid, axes = _chosen(table, rows, columns)
    kinds = pattern_kinds(table, suppressed, grid, axes)
    height, width = (2 + 0.22 * min(count, MOST_ROWS) for count in kinds.shape)
    figure, plane = _figure(max(width, 3.4), height)
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    plane.imshow(kinds, cmap=ListedColormap(list(COLOURS)), vmin=0, vmax=3, aspect="equal")
    for axis, dimension in ((plane.yaxis, grid.dimensions[axes[0]]), (plane.xaxis, grid.dimensions[axes[1]])):
        few = len(dimension.codes) <= MOST_LABELS
        axis.set_ticks(range(len(dimension.codes)) if few else [], _labels(dimension.codes) if few else [])
        axis.set_label_text(_label(dimension.name))
    plane.tick_params(axis="x", labelrotation=90)
    words = ("published", "primary", "secondary")
    keys = [Patch(facecolor=colour, label=word) for colour, word in zip(COLOURS[1:], words, strict=True)]
    figure.legend(handles=keys, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    return figure


def run_figure(history: Sequence[Mapping[str, Any]], what: str) -> Any:
    """A matplotlib figure of a run: what `LINES` has by that name, from the rows of its log."""
    if what not in LINES:
        known = ", ".join(("pattern", *LINES))
        raise InputError(f"{printable(what, 20)!r} is not one of {known}", field="what")
    along, label, names = LINES[what]
    rows = [row for row in history if all(name in row for name in names)]
    if not rows:
        raise InputError("this run had no generations to draw", field="what")
    figure, plane = _figure(6.4, 3.6)
    for name in names:
        style = {"where": "post", "marker": "o" if len(rows) == 1 else None}
        plane.step([row[along] for row in rows], [row[name] for row in rows], label=name.replace("_", " "), **style)
    plane.set_xlabel(label)
    plane.locator_params(axis="x", integer=along == "generation")
    plane.set_ylabel("cost")
    plane.legend(frameon=False)
    return figure


def _figure(width: float, height: float) -> tuple[Any, Any]:
    """An empty figure that says on its face who may see it, and its axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("plotting", "plots") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    plane = figure.add_subplot()
    plane.set_title(CONFIDENTIAL, fontsize="small", loc="left")
    return figure, plane


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
