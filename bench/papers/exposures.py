"""What the papers say of tables themselves: exposure by size (Serpell section 7.2, figure 2), K = Ku (Smith VII-A),
redundant levels and the linear bound (Almeida figures 3 to 6), and the effect of hierarchies, which Serpell left open.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from bench.charts import lines
from bench.papers.extent import Extent
from bench.papers.gensup import sizes_of
from bench.runs import Row, Run
from bench.sections import OTHER_TABLES, Section, figure, percent, seconds

NAME = "exposures"
CITATION = "What the papers say of tables: exposure, redundant levels, linear bounds"
SQUARES = tuple(10 + number + number * number * number // 670 for number in range(84))
"""Rows and columns of the 84 sizes, 100 to 900,000 cells; the paper gives their number and range only."""
QUICK_SQUARES, STANDARD_SQUARES = SQUARES[:21:7], SQUARES[::7]
IN_A_LINE = 7
"""Sizes that share a line of the report."""
MIXES = (("0.10", "0.10"), ("0.10", "0.20"), ("0.25", "0.10"), ("0.25", "0.20"))
"""Shares of primaries and of zeros."""
CUBES, PLANES = ("8x7x6", "16x13x8"), ("15x10", "40x20")

HIERARCHIES = {
    "two-way": "plane 0",
    "two-way, hierarchical": "plane 1",
    "three-way": "cube 0",
    "three-way, hierarchical": "cube 2",
}


def runs(extent: Extent) -> list[Run]:
    """Sizes up; the paper has 40 tables a size, ten of each mixture, and levels by size."""
    listed = []
    for number in range(1, extent.tables + 1):
        for size in () if number > 1 and not extent.full else extent.pick(QUICK_SQUARES, STANDARD_SQUARES, SQUARES):
            for primary, zeros in MIXES:
                table = f"smith2d:{size}x{size}:{primary}:{zeros}:{number}"
                listed.append(Run(NAME, f"square {size}", table, "exposure", expected=size * size / 5e4))
        for shape in CUBES:
            for hierarchical in (0, 2):
                table = f"smith3d:{shape}:0.15:0.15:{hierarchical}:{number}"
                listed.append(Run(NAME, f"cube {hierarchical}", table, "exposure", expected=0.5))
        for shape in PLANES:
            for hierarchical in (0, 1):
                table = f"smith2d:{shape}:0.15:0.15:{hierarchical}:{number}"
                listed.append(Run(NAME, f"plane {hierarchical}", table, "exposure", expected=0.5))
        for kind, shapes in sizes_of(extent).items():
            for shape in shapes:
                for share in ("", "5%:") if kind == "I" else ("",):
                    name = f"class{len(kind)}:{shape}:{share}{number}"
                    experiment = f"class {kind}{', 5 %' if share else ''} {shape}"
                    listed.append(Run(NAME, experiment, name, "redundant levels", expected=0.5))
                    listed.append(Run(NAME, experiment, name, "linear bound", seconds=extent.seconds, expected=2.0))
    return listed


def sections(rows: Sequence[Row]) -> list[Section]:
    """Figure 2, hierarchies, K = Ku, figures 3 to 6."""
    found = [_by_size(rows), _hierarchies(rows), _preprocessing(rows)]
    return [section for section in found if section is not None]


def _exposures(rows: Sequence[Row], experiment: str) -> list[tuple[float, float, float]]:
    """Primaries, K and Ku of each table of an experiment that has primaries."""
    mine = [row for row in rows if row.experiment == experiment and row.method == "exposure"]
    counts = [(row.detail("primaries") or 0.0, row.detail("K") or 0.0, row.detail("Ku") or 0.0) for row in mine]
    return [one for one in counts if one[0]]


def _by_size(rows: Sequence[Row]) -> Section | None:
    body, points = [], []
    for begin in range(0, len(SQUARES), IN_A_LINE):
        sizes = SQUARES[begin : begin + IN_A_LINE]
        of_size = {size: _exposures(rows, f"square {size}") for size in sizes}
        found = [one for many in of_size.values() for one in many]
        if found:
            same = sum(k == ku for _, k, ku in found)
            name = f"{sizes[0]}x{sizes[0]} to {sizes[-1]}x{sizes[-1]}"
            body.append((name, str(len(found)), percent(_left_out(found)), f"{same} of {len(found)}"))
        points += [(float(size * size), 100 * _left_out(many)) for size, many in of_size.items() if many]
    if not body:
        return None
    header = ("cells", "tables", "primaries left out by the modified model", "K = Ku")
    words = (
        f"Two-way tables with 10 or 25 % primaries and 10 or 20 % zeros. {OTHER_TABLES} Smith and others report K = Ku "
        "in about 99 % of tables."
    )
    chart = lines("Serpell Fig. 2: primaries left out by size", {"measured": points}, "cells", "per cent left out")
    return Section(
        "exposures-by-size", "Serpell figure 2: what the modified model saves, by size", header, body, words, chart
    )


def _left_out(found: Sequence[tuple[float, float, float]]) -> float:
    """The share of the primaries that are no candidates for initial exposure."""
    return fmean(1 - k / primaries for primaries, k, _ in found)


def _hierarchies(rows: Sequence[Row]) -> Section | None:
    body = []
    for name, experiment in HIERARCHIES.items():
        found = _exposures(rows, experiment)
        if found:
            same = sum(k == ku for _, k, ku in found)
            body.append((name, str(len(found)), percent(_left_out(found)), f"{same} of {len(found)}"))
    if not body:
        return None
    header = ("kind", "tables", "primaries left out by the modified model", "K = Ku")
    words = "Serpell and others left open how hierarchies change what their preprocessing saves."
    return Section("exposures-hierarchies", "Serpell section 8: the effect of hierarchies", header, body, words)


def _preprocessing(rows: Sequence[Row]) -> Section | None:
    body = []
    for kind in ("I", "I, 5 %", "II"):
        mine = [row for row in rows if row.experiment.startswith(f"class {kind} ")]
        levels = [row for row in mine if row.method == "redundant levels"]
        bounds = [row for row in mine if row.method == "linear bound"]
        if not levels or not bounds:
            continue
        redundant = fmean(1 - (row.detail("open") or 0) / max(row.detail("levels") or 1, 1) for row in levels)
        known = "over 99 %" if kind == "II" else "almost 80 %"
        body.append(
            (f"class {kind}", str(len(levels)), known, percent(redundant),
             seconds(fmean(row.cpu_seconds for row in levels)), seconds(max(row.cpu_seconds for row in levels)),
             seconds(fmean(row.cpu_seconds for row in bounds)), seconds(max(row.cpu_seconds for row in bounds)),
             figure(100 * fmean(row.detail("whole") or 0 for row in bounds), 1) + " %")
        )  # fmt: skip
    if not body:
        return None
    header = (
        "tables", "number", "redundant levels, published", "redundant levels, measured", "preprocessing, mean CPU s",
        "preprocessing, longest", "linear bound, mean CPU s", "linear bound, longest",
        "whole solutions of the linear bound",
    )  # fmt: skip
    words = f"Figures 3 to 6 and the statements of sections 6.2 and 6.3. {OTHER_TABLES}"
    chart = lines("Almeida Figs. 3 to 6: CPU time by size", _times(rows), "cells", "CPU seconds", joined=False)
    return Section(
        "exposures-preprocessing", "Almeida figures 3 to 6: preprocessing and linear bound", header, body, words, chart
    )


def _times(rows: Sequence[Row]) -> dict[str, list[tuple[float, float]]]:
    """Cells and mean CPU seconds of every size: preprocessing (figures 3 and 4), linear bound (figures 5 and 6)."""
    points: dict[str, list[tuple[float, float]]] = {}
    for kind in ("I", "I, 5 %", "II"):
        for method, name in (("redundant levels", "preprocessing"), ("linear bound", "linear bound")):
            mine = [row for row in rows if row.method == method and row.experiment.startswith(f"class {kind} ")]
            of_size = {size: [row.cpu_seconds for row in mine if row.cells == size] for size in {r.cells for r in mine}}
            if mine:
                points[f"{name} {kind.replace(', ', ' at ')}"] = [
                    (float(size), fmean(of_size[size])) for size in sorted(of_size)
                ]
    return points
