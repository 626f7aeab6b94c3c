"""Time and memory of protect + full audit against the number of cells, 1,000 to 1,000,000: python -m bench scale.

Also `--smith FILE.csv`: the 14 shapes of Smith et al.'s Table VII (dimensions, hierarchical_dimension, sensitive_share,
zero_share, fitness_calls_in_24h), with evaluations of orderings per hour next to the paper's. Figures are CPU seconds
of this process, so that other work on the machine does not count; memory is the process's peak, one process per table.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

SHAPES = ((10, 10, 10), (20, 20, 10), (25, 25, 16), (40, 40, 20), (50, 50, 40), (80, 80, 48), (100, 100, 100))
EVALUATED = 4
"""Orderings that are evaluated to measure a rate."""


def measured(shape: tuple[int, ...], hierarchical: int, sensitive: float, zeros: float) -> dict[str, Any]:
    """One table: generated, protected by boxes, cleaned up, audited; and the rate of evaluations."""
    from gpuga.context import Context
    from gpuga.evolution.orderings import evaluator_of
    from gpuga.heuristics.hypercube import hypercube
    from gpuga.safety.audit import audit
    from gpuga.table.generate import smith3d

    hypercube(smith3d((5, 4, 3), 0.1, 0.1, 1), Context())  # compilation is no part of the figures
    table = smith3d(shape, sensitive, zeros, 1, hierarchical)
    begun = time.process_time()
    found = hypercube(table, Context())
    protected = time.process_time()
    verdict = audit(table, found.suppressed, intervals=False, proof=found.proof)
    audited = time.process_time()
    evaluator = evaluator_of(table, "ku", Context())
    orders = [np.arange(len(evaluator.items), dtype=np.int32)] * EVALUATED
    began = time.process_time()
    evaluator.costs(orders)
    each = (time.process_time() - began) / EVALUATED
    return {
        "shape": "x".join(map(str, shape)),
        "hierarchical": hierarchical,
        "cells": len(table),
        "sensitive": len(table.sensitive),
        "ku": len(evaluator.items),
        "protect_cpu_seconds": round(protected - begun, 2),
        "audit_cpu_seconds": round(audited - protected, 2),
        "audited": verdict.audited,
        "safe": verdict.safe,
        "evaluations_per_cpu_hour": round(3600 / max(each, 1e-6)),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def in_own_process(*arguments: Any) -> dict[str, Any]:
    """The figures of one table from a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measured, arguments)


def smith_rows(path: Path) -> list[dict[str, Any]]:
    """The paper's shapes, each measured."""
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            shape = tuple(int(n) for n in row["dimensions"].split("x"))
            given = float(row["sensitive_share"]), float(row["zero_share"])
            figures = in_own_process(shape, int(row["hierarchical_dimension"] or 0), *given)
            rows.append({**figures, "calls_in_24h_2012": int(row["fitness_calls_in_24h"])})
            print(json.dumps(rows[-1]), flush=True)
    return rows


def slope(rows: list[dict[str, Any]], field: str) -> float:
    """The slope of a figure against the number of cells, both logarithmic, by least squares."""
    cells = np.log([row["cells"] for row in rows])
    figure = np.log([max(row[field], 0.01) for row in rows])
    return float(np.polyfit(cells, figure, 1)[0])


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Time and memory against cells, log-log."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5))
    axes = figure.subplots()
    cells = [row["cells"] for row in rows]
    axes.loglog(cells, [max(row["protect_cpu_seconds"], 0.01) for row in rows], "o-", label="protect, CPU seconds")
    axes.loglog(cells, [max(row["audit_cpu_seconds"], 0.01) for row in rows], "s-", label="audit, CPU seconds")
    axes.loglog(cells, [row["peak_mb"] / 1024 for row in rows], "^-", label="peak memory, GiB")
    axes.set_xlabel("cells")
    axes.set_title(f"10 % sensitive; slope of protect {slope(rows, 'protect_cpu_seconds'):.2f}")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path)


def main(arguments: list[str]) -> int:
    """Measure, print one JSON line per table, write the plot."""
    parser = argparse.ArgumentParser(prog="bench scale", description=__doc__)
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    parser.add_argument("--json", type=Path, metavar="FILE", dest="out")
    parser.add_argument("--smith", type=Path, metavar="FILE.csv")
    parser.add_argument("--most-cells", type=int, default=1_000_000)
    options = parser.parse_args(arguments)
    if options.smith is not None:
        rows = smith_rows(options.smith)
    else:
        rows = []
        for shape in SHAPES:
            if int(np.prod(shape)) <= options.most_cells:
                rows.append(in_own_process(shape, 0, 0.1, 0.1))
                print(json.dumps(rows[-1]), flush=True)
        print(f"slope of protect time: {slope(rows, 'protect_cpu_seconds'):.2f}")
        if options.plot is not None:
            plot(rows, options.plot)
    if options.out is not None:
        options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0
