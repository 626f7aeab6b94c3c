"""Smith et al. 2012, figures 1 to 3: calls of the fitness function by table size, and cost over time and over calls.

By the paper's evaluator (`--as-published`): two linear programs per cell, or per group of cells. Figure 1 has the
genetic algorithms of the first experiment on all sizes at equal time; figures 2 and 3 follow the three algorithms of
the second one on one table. The paper gave 3 and 12 hours, and had 40,000 cells in figures 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from bench.charts import lines
from bench.papers.extent import Extent, rows_of
from bench.papers.smith import CLASSES, ITEMS
from bench.runs import Row, Run
from bench.sections import Section, figure, percent, seconds

NAME = "smith-figures"
CITATION = "Smith et al. 2012, figures 1 to 3: calls of the fitness function"
OPERATORS = ("swap", "insert", "invert")
CALLS, OVER_TIME = "calls", "over time"
FOLLOWED = {"quick": "200x5:0.10:0.25:6", "standard": "200x5:0.10:0.25:6", "full": "4000x10:0.02:0.05:21"}
"""The table of figures 2 and 3; where there are seconds only, one on which there is something to see in seconds."""
SHOWN = (0.1, 0.25, 0.5, 1.0)
"""At which shares of the time the costs of figures 2 and 3 are listed."""


def runs(extent: Extent) -> list[Run]:
    """All operators by size, then the three algorithms on one table."""
    limit = extent.pick(5.0, 15.0, 600.0)
    listed = []
    for size, sensitive, zeros in CLASSES:
        if not extent.full and (sensitive == "0.10" or (extent.quick and size == "4000x10")):
            continue
        for operator in OPERATORS if extent.full else OPERATORS[2:]:
            variant = f"one-p:{operator}"
            options = {"variant": variant, "as_published": True, "generations": 2500, "patience": 250}
            table = f"smith2d:{size}:{sensitive}:{zeros}:1"
            listed.append(Run(NAME, CALLS, table, "ordering-ga", variant, seconds=limit, options=options))
    for variant in ITEMS:
        options = {"variant": variant, "as_published": True, "generations": 2500, "patience": 2500}
        listed.append(
            Run(
                NAME, OVER_TIME, f"smith2d:{FOLLOWED[extent.name]}", "ordering-ga", variant, seconds=limit,
                options=options, expected=limit, traced=True,
            )
        )  # fmt: skip
    return listed


def sections(rows: Sequence[Row]) -> list[Section]:
    """Figure 1, figures 2 and 3."""
    found = [_by_size(rows), _by_time(rows), _by_calls(rows)]
    return [section for section in found if section is not None]


def _by_size(rows: Sequence[Row]) -> Section | None:
    body, points = [], []
    for size, sensitive, zeros in CLASSES:
        mine = [
            row
            for row in rows
            if row.experiment == CALLS and row.table.startswith(f"smith2d:{size}:{sensitive}:{zeros}:")
        ]
        if not mine:
            continue
        done = [row for row in mine if not row.fault]
        calls = [float(row.evaluations or 0) for row in done]
        points += [(float(row.cells), float(row.evaluations or 0)) for row in done]
        spent = [row.cpu_seconds for row in done]
        each = fmean(s / c for s, c in zip(spent, calls, strict=True)) if calls and min(calls) > 0 else None
        limits = ", ".join(sorted({row.limit for row in mine}))
        body.append((
            f"{size} {sensitive} {zeros}", figure(mine[0].cells), figure(mine[0].sensitive), str(len(mine)), limits,
            figure(fmean(calls)) if calls else "none in time", seconds(each), seconds(fmean(spent) if spent else None),
        ))  # fmt: skip
    if not body:
        return None
    header = (
        "size, sensitive, zeros", "cells", "sensitive", "runs", "allowed", "calls", "CPU seconds per call",
        "CPU seconds",
    )  # fmt: skip
    words = (
        "The paper has a plot and no figures: calls fall as tables grow, to little more than the first population on "
        "40,000 cells in 3 hours. Runs that end before their time have made their 10,000 evaluations, or 1,000 "
        "without improvement, or their population has become one."
    )
    chart = lines("Calls of the fitness function by table size", {"measured": points}, "cells", "calls", joined=False)
    return Section("smith-figure-1", "Smith figure 1: calls by table size", header, body, words, chart)


def _followed(rows: Sequence[Row]) -> dict[str, Row]:
    found = {name: rows_of(rows, OVER_TIME, "ordering-ga", variant) for variant, name in ITEMS.items()}
    return {name: many[0] for name, many in found.items() if many and not many[0].fault}


def _trace(row: Row) -> list[list[float]]:
    """Its improvements; the one pattern of a run whose first population took all of the time."""
    return row.trace or [[float(row.evaluations or 1), row.cpu_seconds, row.cost or 0.0]]


def _cost_at(row: Row, column: int, most: float) -> float | None:
    """The cost after so many calls (column 0) or CPU seconds (column 1)."""
    reached = [point[2] for point in _trace(row) if point[column] <= most]
    return reached[-1] if reached else None


def _by_time(rows: Sequence[Row]) -> Section | None:
    followed = _followed(rows)
    if not followed:
        return None
    body = []
    for name, row in followed.items():
        marks = [share * float(row.limit) for share in SHOWN]
        gain = 1 - _trace(row)[-1][2] / _trace(row)[0][2]
        body.append((
            name, figure(row.evaluations), str(len(_trace(row)) - 1),
            *(figure(_cost_at(row, 1, mark)) for mark in marks), percent(gain, 2),
        ))  # fmt: skip
    limit, table = float(next(iter(followed.values())).limit), next(iter(followed.values())).table
    header = (
        "algorithm", "calls", "improvements", *(f"cost after {share * limit:g} CPU s" for share in SHOWN), "gain",
    )  # fmt: skip
    words = (
        f"Table {table}. In the paper, on 40,000 cells in 12 hours, the algorithms that protect one cell at a time "
        "improved once, in less than 150 calls; groups improved often, in about 2,000. Here one cell at a time is a "
        "minimum-cost flow, and a group a general linear program: calls of groups are the dearer ones."
    )
    points = {name: [(point[1], point[2]) for point in _trace(row)] for name, row in followed.items()}
    chart = lines("Cost by CPU time", points, "CPU seconds", "cost", log=(False, False))
    return Section("smith-figure-2", "Smith figure 2: cost by CPU time", header, body, words, chart)


def _by_calls(rows: Sequence[Row]) -> Section | None:
    followed = _followed(rows)
    if not followed:
        return None
    most = max(row.evaluations or 1 for row in followed.values())
    marks = sorted({max(1, round(share * most)) for share in SHOWN})
    body = [
        (name, *(figure(_cost_at(row, 0, mark)) if mark <= (row.evaluations or 0) else "–" for mark in marks))
        for name, row in followed.items()
    ]
    header = ("algorithm", *(f"cost after {mark:,} calls" for mark in marks))
    points = {name: [(point[0], point[2]) for point in _trace(row)] for name, row in followed.items()}
    chart = lines("Cost by calls of the fitness function", points, "calls", "cost", log=(False, False))
    return Section("smith-figure-3", "Smith figure 3: cost by calls", header, body, "The runs of figure 2.", chart)
