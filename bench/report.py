"""bench/RESULTS.md from the files of figures in bench/results: python -m bench report [--gather FOLDER].

With --gather the figures are first replaced by those of a folder that `python -m bench all` has made: all of them are
of one commit, and what that folder does not have is not shown. Only the history and the list of best known costs go
on. Without it nothing is measured or copied: the same figures give the same text. Longer runs of earlier versions are
kept apart, in bench/results/earlier and bench/EARLIER.md, which the same code makes.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import islands, jobs, plane, work
from bench.best_known import read_list, text_of
from bench.contest import Course, comparison_section
from bench.history import findings, instruction_words, of_version, read_entries, write_entries
from bench.microdata import sections as microdata_sections
from bench.options import parser_of
from bench.papers.command import PAPERS
from bench.peers import Result
from bench.peers import section as peers_section
from bench.reading import (
    NEVER_MEASURED,
    class_one_reading,
    contest_reading,
    evaluator_reading,
    exposure_reading,
    gensup_reading,
    herrington_reading,
    losses,
    microdata_reading,
    peers_reading,
    proofs,
    rectangle_reading,
    serpell_reading,
    smith_reading,
)
from bench.runs import Row, read_rows, write_rows
from bench.scale import scale_section, smith_section
from bench.sections import Section, figure, markdown, percent, seconds, write_section
from gpuga.files.atomic import write_whole

HERE = Path(__file__).parent
RESULTS = HERE / "results"
EARLIER = RESULTS / "earlier"
GATHERED = (
    "machine.json", "steps.json", "throughput.json", "plane.csv", "scale.json", "scale_large.json", "smith_large.json",
    "contest.json", "ablation.json", "share.json", "work.json", "peers.json", "microdata.json", "islands.json",
    "jobs.json",
)  # fmt: skip
"""The files of a folder of measurements; their names among the results are the same."""

ROWS, HISTORY = "papers.csv", "history.csv"
"""All rows of the papers, and the fixed set over time."""

CONDITIONS = "conditions.md"
"""Beside earlier figures: how the machine was used while it measured, in the words of whoever measured."""


LONG = 60
"""Seconds from which on the course of a run is shown."""

KIND_WORDS = (
    "`python -m bench contest`: by how much other methods are dearer than `circuits` on the same tables in the same "
    "time (negative: cheaper), with the interval of the mean by Student's distribution; `exact@2` had twice the time."
)
ABLATION_WORDS = (
    "`python -m bench contest --ablation`: by how much `circuits` is dearer without each of its ingredients, in the "
    "same time on the same tables; an interval that holds 0 says that no worth is shown."
)


def gather(folder: Path, results: Path) -> list[str]:
    """Replace the figures by those of a folder; the names of the files that are there."""
    results.mkdir(parents=True, exist_ok=True)
    taken = []
    for name in GATHERED:
        (results / name).unlink(missing_ok=True)
        if (folder / name).exists():
            shutil.copyfile(folder / name, results / name)
            taken.append(name)
    (results / ROWS).unlink(missing_ok=True)
    rows = [row for path in sorted(folder.glob("papers-*/*/rows.csv")) for row in read_rows(path)]
    if rows:
        write_rows(results / ROWS, rows)
        taken.append(ROWS)
    new = read_entries(folder / HISTORY)
    if new:
        again = {entry.commit for entry in new}
        kept = [entry for entry in read_entries(results / HISTORY) if entry.commit not in again]
        write_entries(results / HISTORY, [*kept, *new])
        taken.append(HISTORY)
    shutil.rmtree(results / "plots", ignore_errors=True)
    return taken


def _json(results: Path, name: str) -> Any:
    path = results / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def report(results: Path, plots: str = "results/plots") -> tuple[str, list[Section]]:
    """The text and the sections whose plots and CSV files it shows; `plots` is their folder as seen from the text."""
    rows = read_rows(results / ROWS) if (results / ROWS).exists() else []
    peers, contests = _json(results, "peers.json") or {}, _json(results, "contest.json") or []
    head = _head(results, rows) if (results / "steps.json").exists() or not rows else _earlier_head(results, rows)
    parts = [head, _reading(rows, results)] if rows or contests or peers else [head]
    shown: list[Section] = []
    for name, paper in PAPERS.items():
        sections = paper.sections([row for row in rows if row.paper == name])
        if sections:
            parts += [f"## {paper.CITATION}\n", *(markdown(section, plots) for section in sections)]
            shown += sections
    others = [
        _plane(results / "plane.csv"),
        _peers(peers),
        *_throughput(_json(results, "throughput.json")),
        _scale(_json(results, "scale.json"), "scale"),
        _scale(_json(results, "scale_large.json"), "scale-large"),
        _smith_large(_json(results, "smith_large.json")),
        comparison_section("contest-kinds", "Equal time, kind by kind", contests, KIND_WORDS),
        _contest(contests),
        _course(contests),
        comparison_section(
            "ablation", "What each ingredient is worth", _json(results, "ablation.json") or [], ABLATION_WORDS
        ),
        _share(_json(results, "share.json")),
        *work.sections(_json(results, "work.json") or []),
        *_made(_json(results, "islands.json"), islands.section),
        *_made(_json(results, "jobs.json"), jobs.section),
        _history(results),
        *microdata_sections(_json(results, "microdata.json") or []),
        _best_known(results / "best_known.csv"),
        _steps(_json(results, "steps.json")),
        _commits(rows),
    ]
    for section in others:
        if section is not None:
            parts.append(markdown(section, plots, level=2))
            shown.append(section)
    return "\n".join(parts), shown


LIMITS = {
    "quick": "4 (2 for searches over orderings, 8 on Smith's large tables, 12 for integer programs)",
    "standard": "5 (1.7 for searches over orderings, 10 on Smith's large tables, 20 for integer programs)",
    "full": "15 (5 for searches over orderings, 30 on Smith's large tables, 60 for integer programs)",
}
"""CPU seconds of methods that take what they get, by extent."""

EXTENT_WORDS = {
    "quick": "a quick look",
    "standard": "the standard extent: something of every experiment, with fewer tables and shorter limits than the "
    "papers have; [longer runs of earlier versions](EARLIER.md) are kept apart",
    "full": "the full extent, with the papers' numbers of tables",
}


def _head(results: Path, rows: Sequence[Row]) -> str:
    """The one commit, machine, versions, seeds, and how the machine was used, as it was recorded."""
    here: dict[str, str] = _json(results, "machine.json") or {}
    record: dict[str, Any] = _json(results, "steps.json") or {}
    title = (
        "# Results\n\nMade by `python -m bench report` from the files in `bench/results`; not edited by hand. To "
        "measure again: `python -m bench all --take`.\n\n"
    )
    if not record:
        return title + "No figures of one commit are there yet. [Longer runs of earlier versions](EARLIER.md) are.\n"
    strange = sorted({row.commit for row in rows} - {here.get("commit", "")})
    if strange:
        raise ValueError(f"rows of {', '.join(strange)} are among those of {here.get('commit')}")
    return (
        f"{title}All figures are of commit {here['commit']}, {here['date']}, but for the list of best known costs, "
        f"which names the commit of each. This is {EXTENT_WORDS[record['extent']]}.\n\n"
        f"{_machine(here)}\n\n{_words(rows, LIMITS[record['extent']])}\n\n{conditions(record)}\n"
    )


def _earlier_head(results: Path, rows: Sequence[Row]) -> str:
    """What is not of one commit: the commits, and the words of whoever measured about the circumstances."""
    notes = results / CONDITIONS
    dates, commits = sorted({row.date for row in rows}), sorted({row.commit for row in rows})
    when = f"{dates[0]} to {dates[-1]}" if len(dates) > 1 else "".join(dates)
    return (
        "# Earlier results\n\n"
        "**Not of this version**: longer runs of several earlier commits, with more tables than `RESULTS.md` has. They "
        "say how the methods of those days compare on many tables, not what they cost or take today. Made by `python "
        "-m bench report` from the files in `bench/results/earlier`. [Results of one commit](RESULTS.md).\n\n"
        f"{_machine(_json(results, 'machine.json') or {})}\n\n"
        f"{len(rows)} runs of {when}, at the commits {', '.join(commits)}. {_words(rows, LIMITS['full'])}\n"
        + (f"\n{notes.read_text(encoding='utf-8').strip()}\n" if notes.exists() else "")
    )


def _machine(here: dict[str, str]) -> str:
    table = "\n".join(f"| {name} | {value} |" for name, value in here.items() if name not in ("commit", "date"))
    return f"| | |\n|---|---|\n{table}"


def _words(rows: Sequence[Row], limits: str) -> str:
    return (
        f"The papers' experiments are {len(rows):,} runs. Random tables have the seeds 1, 2, 3, ... (Smith's the "
        "number of the table), randomised methods the seeds 1, 2, 3. Times are CPU seconds of all threads together, "
        "without the audit. Methods that take what they get had the CPU seconds in the column `allowed` or, where "
        f"there is no such column, {limits}. Runs that a time limit ends may differ a little from one measurement to "
        "the next; the others repeat exactly."
    )


IDLE = 0.05
"""The share of the processors that others may use on a machine that is called idle."""


def conditions(record: dict[str, Any]) -> str:
    """How the machine was used while it measured, from the record of the steps."""
    calls: list[dict[str, Any]] = record["calls"]
    minutes = sum(call["seconds"] for call in calls) / 60
    paired = sorted(name for name, step in record["steps"].items() if not step["alone"] and step["seconds"])
    known = [call for call in calls if call["others"] is not None]
    others = sum(call["others"] * call["seconds"] for call in known) / max(1.0, sum(c["seconds"] for c in known))
    use = (
        "it is not known what other processes did"
        if not known
        else f"other processes used {percent(others)} of the processors"
        + ("" if others <= IDLE else ", so that the machine was NOT idle: times may be too long")
    )
    return (
        f"Everything was measured in {minutes:.0f} minutes; {use}. Two at a time, each with one thread for its kernels "
        f"and limits that count CPU seconds: {', '.join(paired) or 'nothing'}. All other steps had the machine to "
        "themselves."
    )


def _steps(record: dict[str, Any] | None) -> Section | None:
    """What became of every step."""
    if record is None:
        return None
    body = [(name, step["outcome"].partition(", see ")[0], seconds(step["seconds"]),
             "yes" if step["alone"] else "no") for name, step in record["steps"].items()]  # fmt: skip
    unfinished = [name for name, step in record["steps"].items() if step["outcome"] != "finished"]
    words = (
        f"Not finished: {', '.join(unfinished)}; their sections hold what was measured until then, or are missing."
        if unfinished
        else "All steps of `python -m bench all` are finished."
    )
    return Section("steps", "The steps", ("step", "outcome", "seconds", "alone"), body, words)


def _made(rows: list[dict[str, Any]] | None, make: Callable[[list[dict[str, Any]]], Section]) -> list[Section]:
    return [make(rows)] if rows else []


def _reading(rows: Sequence[Row], results: Path) -> str:
    """The honest part: what is won and lost, paper by paper and beside other programs."""
    of = {name: [row for row in rows if row.paper == name] for name in PAPERS}
    letter = of["as-published"]
    said = {
        "In short": [*losses(rows), *proofs(rows), *contest_reading(_json(results, "contest.json") or [])],
        "Against Herrington 2015 (HeurGene)": [*herrington_reading(of["herrington"]), *rectangle_reading(letter)],
        "Against Almeida and others 2008 (GenSup)": [*gensup_reading(of["gensup"]), *class_one_reading(letter)],
        "Against Smith and others 2012 (orderings)": [
            *smith_reading(of["smith"]),
            *evaluator_reading(letter),
            *exposure_reading(of["exposures"]),
        ],
        "Against Serpell and others 2008 (integer programs)": serpell_reading(of["serpell"]),
        "Against Hurkens and Tiourine 1998 (microdata)": microdata_reading(_json(results, "microdata.json") or []),
        "Against other programs": peers_reading(_json(results, "peers.json") or {}),
        "Not measured, or not as the papers did": NEVER_MEASURED,
    }
    parts = ["## Reading\n"]
    for title, lines in said.items():
        if lines:
            parts += [f"### {title}\n", *(f"- {line}" for line in lines), ""]
    return "\n".join(parts)


def _plane(path: Path) -> Section | None:
    """Longer runs of `exact`, summed up by its own benchmark."""
    if not path.exists():
        return None
    words = (
        "`python -m bench plane`: CPU seconds allowed; how many optima are proven, the gaps that are left, and how far "
        "the dearest pattern is above the best cost known for its table.\n\n"
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
    """Smith's large tables."""
    return smith_section(rows) if rows else None


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


def _course(rows: Sequence[dict[str, Any]]) -> Section | None:
    """What long runs of `circuits` cost after parts of their time, and at the end."""
    courses = [row for row in rows if row.get("course") and row["seconds"] >= LONG]
    if not courses:
        return None
    header = ("table", "time limit", "after 1/16", "after 1/8", "after 1/4", "after 1/2", "at the end", "generations")
    body = []
    for row in courses:
        parts = [row["course"].get(f"{row['seconds'] * part:g}") for part in Course.PARTS]
        costs = [figure(cost) for cost in (*parts, row["cost"])]
        body.append((row["table"], seconds(row["seconds"]), *costs, figure(row["generations"])))
    words = (
        "What the best of evolution cost during the runs of a minute and more; a dash: no generation had ended by then."
    )
    return Section("course", "The course of `circuits`", header, body, words)


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


def _history(results: Path) -> Section | None:
    """The fixed set at the commit of the report, and what is worse or slower than in the entry before it."""
    entries = read_entries(results / HISTORY)
    here = (_json(results, "machine.json") or {}).get("commit")
    now = of_version(entries, here) if here else []
    if not now:
        return None
    before = entries[: entries.index(now[0])]
    header = ("table", "method", "cost", "lower bound", "CPU s", "million instructions")
    body = [
        (
            e.table, e.method, figure(e.cost, 1), figure(e.lower_bound, 1), seconds(e.cpu_seconds),
            figure(None if e.instructions is None else e.instructions / 1e6),
        )
        for e in now
    ]  # fmt: skip
    said = findings(before, now)
    compared = f"since {before[-1].commit}" if before else "there is no entry before it"
    words = (
        f"The fixed set of `python -m bench history`; {len({e.commit for e in entries})} entries are kept. Compared "
        f"with the entry before on the same processor ({compared}): {'; '.join(said) or 'nothing is slower or worse'}. "
        f"{instruction_words(now)}"
    )
    return Section("history", "History", header, body, words)


def _best_known(path: Path) -> Section | None:
    """The csplib tables; the list only ever improves, and is kept over many commits."""
    entries = list(read_list(path).values())
    if not entries:
        return None
    words = (
        "`python -m bench best-known`: the cheapest pattern whose proof was verified, and the best bound. The list is "
        "kept over time and only ever improves; proofs are in `bench/results/proofs`, and `best-known FOLDER --verify` "
        "checks them again.\n\n"
    )
    return Section("best-known", "The csplib tables", (), [], words + text_of(entries))


def _commits(rows: Sequence[Row]) -> Section | None:
    """At which commit the papers' rows were measured: what is not of the last one says nothing about it."""
    if len({row.commit for row in rows}) < 2:
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
        "since are theirs, not ours of today."
    )
    return Section("commits", "Which commit the papers' rows are of", ("commit", "date", "last", *papers), body, words)


def main(arguments: list[str]) -> int:
    """Gather if asked, then write the report, its plots and its tables."""
    parser = parser_of("report", __doc__)
    parser.add_argument("--gather", type=Path, metavar="FOLDER", help="first replace the figures by this folder's")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help="folder of the figures")
    parser.add_argument("--out", type=Path, default=HERE / "RESULTS.md", metavar="FILE.md", help="report to write")
    given = parser.parse_args(arguments)
    if given.gather is not None:
        print("taken over: " + (", ".join(gather(given.gather, given.results)) or "nothing"))
    pages = [(given.results, given.out, "results/plots")]
    if given.results == RESULTS:
        pages.append((EARLIER, HERE / "EARLIER.md", "results/earlier/plots"))
    for results, page, plots in pages:
        text, sections = report(results, plots)
        for section in sections:
            if section.chart is not None:
                write_section(Section(section.name, section.title, (), [], chart=section.chart), results / "plots")
        write_whole(page, text)
        print(f"{page.name}: {len(sections)} tables and plots")
    return 0
