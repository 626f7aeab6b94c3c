"""Time and memory of protect + full audit against the number of cells, 1,000 to 1,000,000: python -m bench scale.

With `--large`: 10,000 to 10,000,000 cells, 2 % of them sensitive.
With `--smith`: the 14 shapes of Smith et al.'s Table VII, with evaluations of orderings per hour next to the paper's.
Every table has a process of its own, so that its peak memory is its own, and goes the ordinary way: a method, the
exact audit of all sensitive cells. Times are CPU seconds; evaluations per hour are counted on all processors by the
clock, and per CPU hour. Finished tables are kept in the JSON file and not measured again.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.charts import bars, lines
from bench.options import parser_of
from bench.sections import OTHER_TABLES, Section, figure, markdown, seconds, write_section
from bench.tables import named_table, published
from gpuga.files.atomic import write_whole

SHAPES = ("10x10x10", "20x20x10", "25x25x16", "40x40x20", "50x50x40", "80x80x48", "100x100x100")
LARGE = ("25x25x16", "50x50x40", "100x100x100", "144x144x144", "216x216x216")
SHARES = {"scale": 0.1, "scale-large": 0.02}
"""The share of sensitive cells in either series."""

EVALUATED, LONG_ENOUGH = 8, 4.0
"""Orderings are evaluated in groups of so many until so many seconds have passed."""

LEAST_SECONDS = 0.05
"""Shorter times say nothing about how time grows."""

Figures = dict[str, Any]


def measured(name: str, evaluate: bool) -> Figures:
    """One table: generated, protected by boxes, audited; and the rate of evaluations, if wanted."""
    from gpuga.anytime import make_safe
    from gpuga.context import Clock, Context
    from gpuga.heuristics.hypercube import hypercube

    for small in (
        "smith3d:24x20x6:0.3:0.1:0:1",
        "smith3d:24x20x6:0.1:0.1:1:1",
    ):  # compilation is no part of the figures
        hypercube(named_table(small), Context(clock=Clock(1.0)))
    table = named_table(name)
    begun = time.process_time()
    found = hypercube(table, Context())
    protected = time.process_time()
    suppressed, verdict, repaired = make_safe(table, found.suppressed, Context(), found.proof)
    audited = time.process_time()
    figures = {
        "table": name,
        "shape": name.split(":")[1],
        "cells": len(table),
        "sensitive": len(table.sensitive),
        "secondary": int((suppressed & ~table.primary).sum()),
        "cost": table.shown_cost(table.cost(suppressed)),
        "protect_cpu_seconds": round(protected - begun, 2),
        "audit_cpu_seconds": round(audited - protected, 2),
        "audited": verdict.audited,
        "safe": verdict.safe,
        "repaired": repaired,
    }
    if evaluate:
        figures |= rates(table)
    return figures | {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


def rates(table: Any) -> Figures:
    """How many orderings of the primaries that unpicking exposes are evaluated in an hour."""
    from gpuga.context import Clock, Context
    from gpuga.evolution.orderings import OrderingVariant, evaluator_of

    evaluator = evaluator_of(table, OrderingVariant("ku"), Context())
    random = np.random.default_rng(1)
    count, clock, cpu = 0, time.monotonic(), time.process_time()
    while time.monotonic() - clock < LONG_ENOUGH:
        orders = [random.permutation(len(evaluator.items)).astype(np.int32) for _ in range(EVALUATED)]
        evaluator.costs(orders, Clock())
        count += EVALUATED
    return {
        "ku": len(evaluator.items),
        "processors": os.cpu_count(),
        "evaluations_per_hour": round(3600 * count / (time.monotonic() - clock)),
        "evaluations_per_cpu_hour": round(3600 * count / (time.process_time() - cpu)),
    }


def in_own_process(name: str, evaluate: bool) -> Figures:
    """The figures of one table from a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measured, (name, evaluate))


def gathered(names: Sequence[str], path: Path, evaluate: bool, measure: Callable[..., Figures]) -> list[Figures]:
    """The rows of the tables named; those that the file has are kept, the others measured and added to it."""
    kept: list[Figures] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    rows = {row["table"]: row for row in kept}
    for name in names:
        if name not in rows:
            rows[name] = measure(name, evaluate)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(list(rows.values()), indent=1) + "\n")
        print(json.dumps(rows[name]), flush=True)
    return [rows[name] for name in names]


def slope(rows: Sequence[Figures], field: str, least: float = LEAST_SECONDS) -> float:
    """The slope of a figure against the number of cells, both logarithmic, by least squares."""
    cells = np.log([row["cells"] for row in rows])
    return float(np.polyfit(cells, np.log([max(row[field], least) for row in rows]), 1)[0])


def scale_section(rows: Sequence[Figures], name: str = "scale") -> Section:
    """Time and memory against cells, with the slopes of both."""
    points = {
        "protect, CPU s": [(row["cells"], max(row["protect_cpu_seconds"], LEAST_SECONDS)) for row in rows],
        "audit, CPU s": [(row["cells"], max(row["audit_cpu_seconds"], LEAST_SECONDS)) for row in rows],
        "memory, GiB": [(row["cells"], row["peak_mb"] / 1024) for row in rows],
    }
    of_time, of_memory = slope(rows, "protect_cpu_seconds"), slope(rows, "peak_mb")
    words = (
        f"Three-dimensional tables with {100 * SHARES[name]:.0f} % sensitive cells: mutual protection, boxes, "
        f"clean-up, full exact audit. Slope of protect time {of_time:.2f}, of memory {of_memory:.2f}."
    )
    header, body = _body(rows)
    title = "Scale" if name == "scale" else "Scale, up to ten million cells"
    return Section(name, title, header, body, words, lines("Time and memory", points, "cells", "CPU seconds, GiB"))


def _body(rows: Sequence[Figures]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    header = ("shape", "cells", "sensitive", "secondary", "protect, CPU s", "audit, CPU s", "audited", "peak, MB")
    body: list[tuple[str, ...]] = [
        (
            str(row["shape"]),
            figure(row["cells"]),
            figure(row["sensitive"]),
            figure(row["secondary"]),
            seconds(row["protect_cpu_seconds"]),
            seconds(row["audit_cpu_seconds"]),
            f"{figure(row['audited'])} {'safe' if row['safe'] else 'UNSAFE'}",
            figure(row["peak_mb"]),
        )
        for row in rows
    ]
    return header, body


def scale_names(series: str) -> list[str]:
    """The tables of a series by name, the smallest first."""
    shapes = SHAPES if series == "scale" else LARGE
    return [f"smith3d:{shape}:{SHARES[series]}:0.1:0:1" for shape in shapes]


def smith_names() -> list[str]:
    """The 14 tables by name."""
    return [
        f"smith3d:{row['dimensions']}:{row['sensitive_share']}:{row['zero_share']}:"
        f"{row['hierarchical_dimension'] or '0'}:1"
        for row in published("smith_tables7_8_large")
    ]


def smith_section(rows: Sequence[Figures]) -> Section:
    """Protected, audited, and evaluations per hour next to the paper's."""
    calls_of = {name: int(row["fitness_calls_in_24h"]) / 24 for name, row in zip(
        smith_names(), published("smith_tables7_8_large"), strict=True)}  # fmt: skip
    paper = [calls_of[row["table"]] for row in rows]
    header, body = _body(rows)
    rate = [row["evaluations_per_hour"] for row in rows]
    rated = [
        (*line, figure(row["ku"]), figure(calls, 1), figure(row["evaluations_per_hour"]))
        for line, row, calls in zip(body, rows, paper, strict=True)
    ]
    series = {"published": paper, "measured": rate}
    chart = bars("Evaluations of an ordering per hour", [row["shape"] for row in rows], series, "per hour", log=True)
    return Section(
        "smith-large",
        f"Smith Table VII: {len(rows)} of the fourteen large tables",
        (*header, "Ku", "evaluations per hour, published", "evaluations per hour, measured"),
        rated,
        f"{OTHER_TABLES} Ku: primaries that unpicking exposes, whose orderings are evaluated.",
        chart,
    )


def main(arguments: list[str]) -> int:
    """Measure what is missing, print one JSON line per table, write figures, table and plot."""
    parser = parser_of("scale", __doc__)
    parser.add_argument("--out", type=Path, default=Path("bench/out"), metavar="FOLDER", help="folder of the results")
    parser.add_argument("--smith", action="store_true", help="the shapes of Smith et al.'s Table VII")
    parser.add_argument("--large", action="store_true", help="10,000 to 10,000,000 cells, 2 %% sensitive")
    parser.add_argument("--shapes", metavar="A,B", help="only these shapes; the others when they are asked for")
    options = parser.parse_args(arguments)
    if options.smith and options.large:
        parser.error("--smith and --large are two series: ask for one")
    series = "smith-large" if options.smith else "scale-large" if options.large else "scale"
    names = smith_names() if options.smith else scale_names(series)
    asked = None if options.shapes is None else options.shapes.split(",")
    chosen = [name for name in names if asked is None or name.split(":")[1] in asked]
    path = options.out / f"{series.replace('-', '_')}.json"
    rows = gathered(chosen, path, options.smith, in_own_process)
    if len(rows) < len(names):
        return 0
    section = smith_section(rows) if options.smith else scale_section(rows, series)
    write_section(section, options.out)
    write_whole(options.out / f"{section.name}.md", markdown(section, plots="."))
    print(markdown(section))
    return 0
