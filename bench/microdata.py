"""Searches over recodings side by side, and what a recoding weighs: python -m bench microdata --json FILE [--quick].

Census-like persons (`bench/persons.py`), keys of up to three fields, threshold 3. Hurkens and Tiourine (1998) rank
their searches in words: iterative improvement for work at the screen, tabu off line, annealing costly; the Lagrangean
bound was proposed there and not tried. Rows: file, search, weight, CPU seconds, cost, lower bound and its kind, gap,
evaluations, recodings, scores suppressed. Rows that the file already has are not measured again.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from bench.machine import commit
from bench.options import parser_of
from bench.persons import FIELDS, RECODE, write_persons
from bench.sections import Section, figure, markdown, percent, seconds
from gpuga import compiling
from gpuga.context import Context, Silent
from gpuga.microdata import MicrodataParameters, protect_records
from gpuga.microdata.problem import Problem
from gpuga.microdata.record_file import opened
from gpuga.microdata.relaxed import FINENESS, Relaxed, frequency_tables, priced
from gpuga.microdata.search import SEARCHES

WEIGHTS = (1.0, 0.3, 0.1, 0.03, 0.01)
PERSONS, QUICK_PERSONS = (20_000, 200_000), (5_000,)
LAGRANGEAN = "lagrangean bound"


def main(arguments: list[str]) -> int:
    """Measure what is missing, write the rows, print the two tables."""
    parser = parser_of("microdata", __doc__)
    parser.add_argument("--json", required=True, type=Path, metavar="FILE", help="file of the rows")
    parser.add_argument("--quick", action="store_true", help="one small file")
    parser.add_argument(
        "--persons", type=int, action="append", metavar="N", help="records of a file; may be repeated (default: "
        f"{' and '.join(f'{count:,}' for count in PERSONS)})",
    )  # fmt: skip
    given = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = json.loads(given.json.read_text()) if given.json.exists() else []
    known = {(row["persons"], row["search"], row["weight"]) for row in rows}
    for persons in given.persons or (QUICK_PERSONS if given.quick else PERSONS):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "persons.csv"
            write_persons(path, persons)
            for search, weight in plan():
                if (persons, search, weight) not in known:
                    rows.append(row_of(path, persons, search, weight))
                    given.json.write_text(json.dumps(rows, indent=1) + "\n")
    for section in sections(rows):
        print(markdown(section))
    return 0


def plan() -> list[tuple[str, float]]:
    """Every search at the default weight, the default search at every weight, and the bound."""
    return [
        *((search, 0.1) for search in SEARCHES),
        *(("tabu", weight) for weight in WEIGHTS if weight != 0.1),
        (LAGRANGEAN, 0.1),
    ]


def row_of(path: Path, persons: int, search: str, weight: float) -> dict[str, Any]:
    """One run; a run that had to compile is done again."""
    asked = MicrodataParameters(FIELDS, 3, 3, recode=RECODE, recode_weight=weight)
    with opened(path, asked, Silent()) as file:
        before = compiling.seconds()
        row = _measured(file.problem, asked, search)
        if compiling.seconds() > before:
            row = _measured(file.problem, asked, search)
    return {"persons": persons, "search": search, "weight": weight, **row, "commit": commit()}


def _measured(problem: Problem, asked: MicrodataParameters, search: str) -> dict[str, Any]:
    begun = time.process_time()
    if search == LAGRANGEAN:
        bound = lagrangean(problem)
        spent = time.process_time() - begun
        return {
            "cpu_seconds": round(spent, 3),
            "lower_bound": float(bound / problem.costs.scale),
            "bound": "lagrangean",
        }
    found = protect_records(problem, replace(asked, search=search), Context(seed=1))
    spent = time.process_time() - begun
    account = found.account()
    names = ("cost", "lower_bound", "bound", "gap", "evaluations")
    return {
        "cpu_seconds": round(spent, 3),
        **{name: account[name] for name in names},
        "recodings": {one["field"]: one["rule"] for one in account["recodings"]},
        "suppressed": sum(account["suppressions"].values()),
        "information_kept": account["utility"]["information_kept"],
        "scores": int((problem.codes >= 0).sum()),
    }


def lagrangean(problem: Problem) -> Fraction:
    """The Lagrangean bound at the prices of the unchanged file."""
    relaxed = Relaxed(problem, priced(problem, frequency_tables(problem), problem.unchanged))
    return Fraction(relaxed.lagrangean(problem.worst_cost * FINENESS), FINENESS)


def sections(rows: list[dict[str, Any]]) -> list[Section]:
    """The ranking of the searches, and the curve of the weights."""
    ranked = [row for row in rows if row["weight"] == 0.1]
    curve = sorted((r for r in rows if r["search"] == "tabu"), key=lambda r: (r["persons"], -r["weight"]))
    return [make(part) for make, part in ((_ranking, ranked), (_weights, curve)) if part]


def _ranking(rows: list[dict[str, Any]]) -> Section:
    header = ("persons", "search", "CPU s", "cost", "lower bound", "kind", "gap", "evaluations", "suppressed")
    body = [
        (
            figure(row["persons"]),
            row["search"],
            seconds(row["cpu_seconds"]),
            figure(row.get("cost")),
            figure(row["lower_bound"]),
            row["bound"],
            percent(row.get("gap")),
            figure(row.get("evaluations")),
            figure(row.get("suppressed")),
        )
        for row in rows
    ]
    words = "Hurkens and Tiourine 1998, section 3.4, in words only: iterative on line, tabu off line, annealing costly."
    return Section("microdata-searches", "Searches over recodings", header, body, words)


def _weights(rows: list[dict[str, Any]]) -> Section:
    header = ("persons", "weight of recoding", "recodings", "scores suppressed", "share", "information kept")
    body = [
        (
            figure(row["persons"]),
            f"{row['weight']:g}",
            ", ".join(f"{f} {rule}" for f, rule in row["recodings"].items()) or "none",
            figure(row["suppressed"]),
            percent(row["suppressed"] / row["scores"]),
            percent(row["information_kept"], 0),
        )
        for row in rows
    ]
    return Section("microdata-weights", "What a recoding weighs", header, body)
