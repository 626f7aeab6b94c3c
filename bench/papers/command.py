"""The papers' experiments, published and measured: python -m bench papers [--paper NAME] [--quick | --standard].

Rows are kept in OUT/EXTENT/rows.csv (quick, standard, full) as they are finished; what is there already is not run
again, so that a run can be stopped at any time and taken up later, or cut into pieces with --minutes. At the end the
tables are printed, and written as Markdown, CSV and SVG beside the rows.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from bench.machine import machine
from bench.options import parser_of
from bench.papers import as_published, exposures, gensup, herrington, serpell, smith, smith_figures
from bench.papers.extent import FULL, QUICK, STANDARD, Extent
from bench.runs import Row, Run, Store, measured, read_rows, warm_up
from bench.sections import Section, markdown, write_section
from gpuga.files.atomic import write_whole

PAPERS: dict[str, ModuleType] = {
    "herrington": herrington, "gensup": gensup, "smith": smith, "serpell": serpell,
    smith_figures.NAME: smith_figures, as_published.NAME: as_published,
    exposures.NAME: exposures,
}  # fmt: skip
RESULTS = Path(__file__).parents[1] / "results"
KNOWN = (RESULTS / "papers.csv", RESULTS / "earlier" / "papers.csv")
"""Rows measured before; they say how long a run takes."""


def main(arguments: list[str]) -> int:
    """Run what is missing, then write and print the tables."""
    given = _parser().parse_args(arguments)
    extent = _extent(given)
    papers = given.paper or list(PAPERS)
    folder = given.out / extent.name
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(folder / "rows.csv")
    store.forget(given.afresh)
    listed = [run for name in papers for run in PAPERS[name].runs(extent) if _wanted(run, given)]
    missing = [run for run in listed if run not in store]
    print(announcement(listed, missing), flush=True)
    finished = run_all(missing, store, given.minutes)
    write_whole(folder / "machine.json", json.dumps(machine(), indent=1) + "\n")
    wanted = {run.key for run in listed}
    rows = [row for row in store.rows if row.key in wanted]
    print("\n" + written(papers, rows, folder))
    left = len(missing) - finished
    print(f"{len(rows)} rows and their tables are in {folder}" + (f"; {left} runs are left" if left else ""))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("papers", __doc__)
    parser.add_argument("--paper", action="append", choices=list(PAPERS), help="one paper only; may be repeated")
    parser.add_argument("--method", action="append", metavar="METHOD", help="one method only; may be repeated")
    parser.add_argument("--only", metavar="TEXT", help="experiments whose name holds this, such as 400x250")
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--quick", action="store_true", help="a look at everything in less than ten minutes")
    how_much.add_argument("--standard", action="store_true", help="something of every experiment, in half an hour")
    parser.add_argument("--tables", type=int, metavar="N", help=f"random tables per experiment (full: {FULL.tables})")
    parser.add_argument("--repeats", type=int, metavar="N", help=f"seeds of randomised methods (full: {FULL.repeats})")
    parser.add_argument(
        "--minutes", type=float, metavar="N", help="time limit in minutes; another call continues (default: no limit)"
    )
    parser.add_argument(
        "--afresh", action="append", default=[], metavar="METHOD", help="measure this method again; may be repeated"
    )
    parser.add_argument("--out", type=Path, default=Path("bench/out"), metavar="FOLDER", help="folder of the results")
    return parser


def _wanted(run: Run, given: argparse.Namespace) -> bool:
    return (not given.method or run.method in given.method) and (not given.only or given.only in run.experiment)


def _extent(given: argparse.Namespace) -> Extent:
    extent = QUICK if given.quick else STANDARD if given.standard else FULL
    chosen = {name: value for name in ("tables", "repeats") if (value := getattr(given, name)) is not None}
    return replace(extent, **chosen)


def announcement(listed: Sequence[Run], missing: Sequence[Run]) -> str:
    """How many runs there are, and about how long the missing ones will take."""
    known: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in (row for path in KNOWN if path.exists() for row in read_rows(path)):
        known[_kind(row)].append(row.cpu_seconds + (row.audit_cpu_seconds or 0.0))
    total = 0.0
    for run in missing:
        times = known.get(_kind(run))
        likely = sum(times) / len(times) if times else run.expected
        total += likely if run.seconds is None else min(likely, 1.5 * run.seconds)
    done = len(listed) - len(missing)
    about = f"{total / 60:.0f} minutes" if total >= 90 else f"{total:.0f} seconds"
    return (
        f"{len(listed)} runs, {done} of them are there already; the other {len(missing)} take about {about} of one "
        "idle core like the one that RESULTS.md names (more where methods have to be compiled first)"
    )


def _kind(one: Run | Row) -> tuple[str, ...]:
    return (one.paper, one.experiment, one.method, one.variant)


def run_all(missing: Sequence[Run], store: Store, minutes: float | None) -> int:
    """Run them one after the other, and say each; the number of those finished before the time was up."""
    begun, warm = time.monotonic(), set[tuple[str, str]]()
    for number, run in enumerate(missing):
        spent = time.monotonic() - begun
        if minutes is not None and spent > 60 * minutes:
            return number
        warm_up(run, warm)
        row = measured(run)
        store.add(row)
        result = row.fault or (row.details if row.cost is None else f"cost {row.cost:,.0f}")
        name = f"{run.method} {run.variant}".strip()
        print(
            f"[{number + 1}/{len(missing)}] {spent:6.0f} s  {run.table}  {name}  {result}  {row.cpu_seconds:.2f} CPU s",
            flush=True,
        )
    return len(missing)


def written(papers: Sequence[str], rows: Sequence[Row], folder: Path) -> str:
    """The tables of the papers, written into the folder; their Markdown as one text."""
    parts = ["# The papers' experiments\n"]
    for name in papers:
        paper = PAPERS[name]
        sections: list[Section] = paper.sections([row for row in rows if row.paper == name])
        parts.append(f"## {paper.CITATION}\n")
        for section in sections:
            write_section(section, folder)
            parts.append(markdown(section, "."))
    text = "\n".join(parts)
    write_whole(folder / "papers.md", text)
    return text
