"""The benchmark page of the site: how far methods are from the best cost and the best bound known, by version.

Made from the files behind bench/RESULTS.md, or bench/EARLIER.md where there is no contest of one commit; best known is
the lowest cost, or the highest bound, in any of them.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

HEAD = """# Benchmarks

How far the methods are from the best cost that is known for each table, and from its best proven lower bound. Made from
the figures behind [all results](results.md), which say how they were measured; [how to measure](bench.md) names the
commands. A cost that is 0 % above the best known may still be improved; a gap of 0 % is a proven optimum.
"""


class Run(NamedTuple):
    """One method on one table: what it cost, what was proven, and which version it was."""

    version: str
    group: str
    table: str
    method: str
    cost: float
    bound: float | None


def benchmark_page(results: Path) -> str:
    """The page, from the folder of results."""
    contests = [path for path in (results / "contest.json", results / "earlier" / "contest.json") if path.exists()]
    history, contest = _history(results / "history.csv"), _contest(contests[0])
    best, bound = _best(history + contest)
    parts = [
        HEAD,
        "## By version",
        "The small fixed set of `python -m bench history`, all tables of a version together.",
        "",
    ]
    parts += _rows(history, ("version", "method"), best, bound)
    parts += ["", "## Equal time", "Every method has the same time on the clock (`python -m bench contest`).", ""]
    parts += _rows(contest, ("group", "method"), best, bound)
    return "\n".join(parts) + "\n"


def _history(path: Path) -> list[Run]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["cost"]]
    return [
        Run(
            row["version"],
            row["table"].partition(":")[0],
            row["table"],
            row["method"],
            float(row["cost"]),
            float(row["lower_bound"]) if row["lower_bound"] else None,
        )
        for row in rows
    ]


def _contest(path: Path) -> list[Run]:
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [
        Run("", row["table"].rpartition("-")[0], row["table"], row["method"], float(row["cost"]), row["lower_bound"])
        for row in rows
        if row.get("cost") is not None
    ]


def _best(runs: Iterable[Run]) -> tuple[dict[str, float], dict[str, float]]:
    """The lowest cost and the highest bound of each table."""
    cost: dict[str, float] = {}
    bound: dict[str, float] = {}
    for run in runs:
        cost[run.table] = min(run.cost, cost.get(run.table, run.cost))
        if run.bound is not None:
            bound[run.table] = max(run.bound, bound.get(run.table, run.bound))
    return cost, bound


def _rows(runs: Iterable[Run], by: tuple[str, str], best: Mapping[str, float], bound: Mapping[str, float]) -> list[str]:
    """A table of means, one row per pair of what `by` names."""
    groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        groups[getattr(run, by[0]), getattr(run, by[1])].append(run)
    words = {"group": "tables", "version": "version", "method": "method"}
    lines = [
        f"| {words[by[0]]} | {words[by[1]]} | runs | above best known cost | gap to best known bound |",
        "|---|---|---:|---:|---:|",
    ]
    for (first, second), members in sorted(groups.items()):
        above = [100 * (run.cost / best[run.table] - 1) for run in members if best[run.table]]
        gaps = [100 * (run.cost / bound[run.table] - 1) for run in members if bound.get(run.table)]
        shown = f"{sum(gaps) / len(gaps):.2f} %" if gaps else "no bound"
        lines.append(f"| {first} | `{second}` | {len(members)} | {sum(above) / len(above):.2f} % | {shown} |")
    return lines
