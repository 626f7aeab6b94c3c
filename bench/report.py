"""bench/RESULTS.md from the files of figures in bench/results: python -m bench report [--gather bench/out].

With --gather the files of finished runs are taken over from a folder first. Without it nothing is measured or copied:
the same figures give the same text, so that anyone can make the report again.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import plane
from bench.best_known import read_list, text_of
from bench.microdata import sections as microdata_sections
from bench.options import parser_of
from bench.papers.command import PAPERS
from bench.peers import Result
from bench.peers import section as peers_section
from bench.reading import (
    NEVER_MEASURED,
    gensup_reading,
    herrington_reading,
    losses,
    peers_reading,
    proofs,
    published_reading,
    smith_reading,
)
from bench.runs import Row, read_rows
from bench.scale import scale_section, smith_names, smith_section
from bench.sections import Section, figure, markdown, percent, seconds, write_section
from gpuga.files.atomic import write_whole

HERE = Path(__file__).parent
RESULTS = HERE / "results"
GATHERED = {
    "full/rows.csv": "papers.csv",
    "full/machine.json": "machine.json",
    "throughput.json": "throughput.json",
    "plane.csv": "plane.csv",
    "scale.json": "scale.json",
    "scale_large.json": "scale_large.json",
    "smith_large.json": "smith_large.json",
    "contest.json": "contest.json",
    "share.json": "share.json",
    "peers.json": "peers.json",
    "history.csv": "history.csv",
    "microdata.json": "microdata.json",
}
"""Where a run leaves a file below its folder, and its name among the results."""

CONDITIONS = "conditions.md"
"""Among the results: how the machine was used while it measured, in the words of whoever measured."""


def gather(folder: Path, results: Path) -> list[str]:
    """Take over the files that are there; their names."""
    results.mkdir(parents=True, exist_ok=True)
    taken = []
    for source, target in GATHERED.items():
        if (folder / source).exists():
            shutil.copyfile(folder / source, results / target)
            taken.append(target)
    return taken


def _json(results: Path, name: str) -> Any:
    path = results / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def report(results: Path) -> tuple[str, list[Section]]:
    """The text and the sections whose plots and CSV files it shows."""
    rows = read_rows(results / "papers.csv") if (results / "papers.csv").exists() else []
    peers = _json(results, "peers.json") or {}
    parts = [_head(results, rows), _reading(rows, peers)]
    shown: list[Section] = []
    for name, paper in PAPERS.items():
        sections = paper.sections([row for row in rows if row.paper == name])
        if sections:
            parts += [f"## {paper.CITATION}\n", *(markdown(section, "results/plots") for section in sections)]
            shown += sections
    others = [
        _plane(results / "plane.csv"),
        _peers(peers),
        *_throughput(_json(results, "throughput.json")),
        _scale(_json(results, "scale.json"), "scale"),
        _scale(_json(results, "scale_large.json"), "scale-large"),
        _smith_large(_json(results, "smith_large.json")),
        _contest(_json(results, "contest.json")),
        _share(_json(results, "share.json")),
        _history(results / "history.csv"),
        *microdata_sections(_json(results, "microdata.json") or []),
        _best_known(results / "best_known.csv"),
        _commits(rows),
    ]
    for section in others:
        if section is not None:
            parts.append(markdown(section, "results/plots", level=2))
            shown.append(section)
    return "\n".join(parts), shown


def _head(results: Path, rows: Sequence[Row]) -> str:
    """Machine, versions, dates, seeds, and the words of whoever measured about the circumstances."""
    here: dict[str, str] = _json(results, "machine.json") or {}
    notes = results / CONDITIONS
    dates = sorted({row.date for row in rows})
    commits = sorted({row.commit for row in rows})
    when = f"{dates[0]} to {dates[-1]}" if len(dates) > 1 else "".join(dates)
    table = "\n".join(f"| {name} | {value} |" for name, value in here.items() if name not in ("commit", "date"))
    return (
        "# Results\n\n"
        "Made by `python -m bench report` from the files in `bench/results`; not edited by hand. To measure again: "
        "`python -m bench papers` (and `peers`, `throughput`, `scale`, `contest`, `share`, `history`), then "
        "`python -m bench report --gather bench/out`.\n\n"
        f"| | |\n|---|---|\n{table}\n\n"
        f"{len(rows)} runs of {when}, at the commits {', '.join(commits)}. Random tables have the seeds 1, 2, 3, ... "
        "(Smith's the number of the table), randomised methods the seeds 1, 2, 3. Times are CPU seconds of all threads "
        "together, without the audit. Methods that take what they get had the CPU seconds in the column `allowed` or, "
        "where there is no such column, 15 (5 for searches over orderings, 30 on Smith's large tables, 60 for integer "
        "programs). Runs that a time limit ends may differ a little from one measurement to the next; the others "
        "repeat exactly.\n" + (f"\n{notes.read_text(encoding='utf-8').strip()}\n" if notes.exists() else "")
    )


def _reading(rows: Sequence[Row], peers: dict[str, Any]) -> str:
    """The honest part."""
    of = {name: [row for row in rows if row.paper == name] for name in PAPERS}
    won = [*herrington_reading(of["herrington"]), *gensup_reading(of["gensup"]), *smith_reading(of["smith"])]
    won += [*published_reading(of["as-published"]), *losses(rows), *proofs(rows), *peers_reading(peers)]
    parts = ["## Reading\n", "What the figures say:\n", *(f"- {line}" for line in won)]
    parts += ["\nWhat was not measured, or not as the papers did:\n", *(f"- {line}" for line in NEVER_MEASURED)]
    return "\n".join(parts) + "\n"


def _plane(path: Path) -> Section | None:
    """Longer runs of `exact`, summed up by its own benchmark."""
    if not path.exists():
        return None
    words = (
        "`python -m bench plane`: wall seconds on two processors; how many optima are proven, the gaps that are "
        "left, and "
        "how far the dearest pattern is above the best cost known for its table.\n\n"
    )
    return Section(
        "plane", "`exact` on two-dimensional tables", (), [], words + plane.summary(plane.read(path)).strip()
    )


def _peers(peers: dict[str, Any]) -> Section | None:
    if not peers.get("results"):
        return None
    return peers_section([Result(**result) for result in peers["results"]], peers.get("missing", {}))


def _throughput(rows: list[dict[str, Any]] | None) -> list[Section]:
    """Patterns per second of each back end."""
    if not rows:
        return []
    names = ("python", "cpu", "cuda")
    body = []
    for operation, table in dict.fromkeys((row["operation"], row.get("table", "")) for row in rows):
        its = {row["backend"]: row for row in rows if (row["operation"], row.get("table", "")) == (operation, table)}
        cells = ["" if n not in its else its[n]["note"] or figure(its[n]["patterns_per_second"]) for n in names]
        body.append((operation, table, *cells))
    words = (
        "`safe` judges children by components exactly, `clean` publishes the redundant cells of decoded patterns, "
        "`children` decodes at the prices of the root relaxation, cleans up and judges, `exchange` makes children by "
        "components of what two parents differ in."
    )
    header = ("operation", "table", *(f"{n}, patterns/s" for n in names))
    return [Section("throughput", "Throughput of the back ends", header, body, words)]


def _scale(rows: list[dict[str, Any]] | None, series: str) -> Section | None:
    """Time and memory from 1,000 to 1,000,000 cells, and from 10,000 to 10,000,000."""
    return scale_section(rows, series) if rows and len(rows) > 2 else None


def _smith_large(rows: list[dict[str, Any]] | None) -> Section | None:
    """Smith's fourteen large tables, once all of them have been measured."""
    return smith_section(rows) if rows and len(rows) == len(smith_names()) else None


def _contest(rows: list[dict[str, Any]] | None) -> Section | None:
    """Methods at equal time, table by table."""
    if not rows:
        return None
    header = ("table", "method", "time limit", "cost", "lower bound", "generations")
    body = [
        (
            row["table"],
            row["method"],
            seconds(row["seconds"]),
            figure(row["cost"], 1),
            figure(row["lower_bound"], 1),
            figure(row.get("generations")),
        )
        for row in sorted(rows, key=lambda row: (row["table"], row["method"]))
    ]
    words = "`python -m bench contest`: every method has the same time on the clock; all patterns are audited."
    return Section("contest", "Equal time", header, body, words)


def _share(rows: list[dict[str, Any]] | None) -> Section | None:
    """How much of evolution is in back-end operations."""
    if not rows:
        return None
    header = ("table", "population", "generations", "children", "evolution CPU s", "in the back end", "prover CPU s")
    body = [
        (
            row["table"],
            figure(row["population"]),
            figure(row["generations"]),
            figure(row["children"]),
            seconds(row["evolution_seconds"]),
            percent(row["backend_seconds"] / row["evolution_seconds"], 1),
            seconds(row["prover_seconds"]),
        )
        for row in rows
    ]
    words = "`python -m bench share`: what is not in the back end bounds what any device could gain (Amdahl)."
    return Section("share", "Share of the back end in `circuits`", header, body, words)


def _history(path: Path) -> Section | None:
    """The last entry of the fixed set."""
    if not path.exists():
        return None
    with path.open(encoding="utf-8", newline="") as file:
        entries = list(csv.DictReader(file))
    if not entries:
        return None
    last = entries[-1]["commit"]
    header = ("table", "method", "cost", "lower bound", "CPU s")
    body = [
        (e["table"], e["method"], e["cost"] or "–", e["lower_bound"] or "–", seconds(float(e["cpu_seconds"])))
        for e in entries
        if e["commit"] == last
    ]
    words = (
        f"The fixed set of `python -m bench history` at {last}; {len({e['commit'] for e in entries})} entries are kept."
    )
    return Section("history", "History", header, body, words)


def _best_known(path: Path) -> Section | None:
    """The csplib tables; the list only ever improves."""
    entries = list(read_list(path).values())
    if not entries:
        return None
    words = "`python -m bench best-known`: the cheapest pattern whose proof was verified, and the best bound.\n\n"
    return Section("best-known", "The csplib tables", (), [], words + text_of(entries))


def _commits(rows: Sequence[Row]) -> Section | None:
    """At which commit the papers' rows were measured: what is not of the last one says nothing about it."""
    if not rows:
        return None
    last = max(rows, key=lambda row: row.date).commit
    papers = sorted({row.paper for row in rows})
    counts = Counter((row.commit, row.paper) for row in rows)
    dates = {row.commit: row.date for row in sorted(rows, key=lambda row: row.date)}
    body = [
        (commit, date, "yes" if commit == last else "no", *(figure(counts[commit, paper]) for paper in papers))
        for commit, date in sorted(dates.items(), key=lambda one: (one[1], one[0]))
    ]
    old = sum(row.commit != last for row in rows)
    words = (
        f"{old} of {len(rows)} rows were measured at other commits than the last; figures of methods that changed "
        "since are theirs, not ours of today. `python -m bench all` measures everything at one commit."
        if old
        else "All rows are of one commit."
    )
    return Section("commits", "Which commit the papers' rows are of", ("commit", "date", "last", *papers), body, words)


def main(arguments: list[str]) -> int:
    """Gather if asked, then write the report, its plots and its tables."""
    parser = parser_of("report", __doc__)
    parser.add_argument("--gather", type=Path, metavar="FOLDER", help="take over finished runs from this folder first")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help="folder of the figures")
    parser.add_argument("--out", type=Path, default=HERE / "RESULTS.md", metavar="FILE.md", help="report to write")
    given = parser.parse_args(arguments)
    if given.gather is not None:
        print("taken over: " + (", ".join(gather(given.gather, given.results)) or "nothing"))
    text, sections = report(given.results)
    for section in sections:
        if section.chart is not None:
            write_section(Section(section.name, section.title, (), [], chart=section.chart), given.results / "plots")
    write_whole(given.out, text)
    print(f"{given.out.name}: {len(sections)} tables and plots")
    return 0
