"""The report: made of files alone, the same every time, honest about what is missing."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bench import report
from bench.history import HistoryEntry, append_entries, findings, read_entries
from bench.machine import commit
from bench.peers import Result, section
from bench.reading import exposure_reading, proofs
from bench.runs import Row, Run, Store, measured, read_rows, write_rows


def entry(**changed: object) -> HistoryEntry:
    given = {
        "date": "2026-01-01",
        "version": "0.1.0",
        "commit": "abc",
        "processor": "P",
        "table": "t",
        "method": "circuits",
        "cost": 10.0,
        "lower_bound": 9.0,
        "cpu_seconds": 1.0,
        "audit_cpu_seconds": 0.0,
        "fault": "",
    }
    return HistoryEntry(**{**given, **changed})


def test_the_history_says_what_got_slower_dearer_or_less_proven(tmp_path):
    append_entries(tmp_path / "h.csv", [entry()])
    before = read_entries(tmp_path / "h.csv")
    assert before == [entry()]
    assert findings(before, [entry(cpu_seconds=1.4)]) == []
    assert [line.split(":")[0] for line in findings(before, [entry(cpu_seconds=2.0)])] == ["slower"]
    assert "costs 11.0, was 10.0" in findings(before, [entry(cost=11.0)])[0]
    assert "bound" in findings(before, [entry(lower_bound=8.0)])[0]
    assert findings(before, [entry(cost=11.0, processor="another")]) == []


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Three methods on a tiny table."""
    runs = [Run("herrington", "100x100 1%", "herrington:12x12:5%:1", m) for m in ("hypercube", "heurgene", "exact")]
    return [measured(run) for run in runs]


@pytest.fixture
def folder(rows: list[Row], tmp_path: Path) -> Path:
    """What `python -m bench all` leaves: rows in two folders, a history, a contest, the record of the steps."""
    out = tmp_path / "out"
    for number, row in enumerate(rows):
        Store(out / f"papers-{number % 2}" / "standard" / "rows.csv").add(row)
    here = {"processor": "P", "commit": commit(), "date": "2026-01-02"}
    (out / "machine.json").write_text(json.dumps(here))
    append_entries(out / "history.csv", [entry(commit=commit(), cost=11.0)])
    costs = {"circuits": 10.0, "exact": 11.0}
    contest = [{"table": "kind-1%-1", "method": m, "seconds": 2, "cost": c, "lower_bound": 9.0, "proven": False,
                "generations": 1} for m, c in costs.items()]  # fmt: skip
    contest.append({**contest[0], "table": "long-1", "seconds": 64, "course": {"16": 12.0, "32": 11.0}})
    (out / "contest.json").write_text(json.dumps(contest))
    steps = {
        "papers, herrington": {"outcome": "finished", "seconds": 3.0, "alone": False},
        "contest": {"outcome": "ended after 9 minutes", "seconds": 540.0, "alone": True},
    }
    record = {"extent": "standard", "steps": steps, "calls": [{"seconds": 600.0, "others": 0.3, "cores": 2}]}
    (out / "steps.json").write_text(json.dumps(record))
    return out


def test_the_report_is_made_of_the_files_alone_and_always_the_same(folder, tmp_path):
    first, second = tmp_path / "a.md", tmp_path / "b.md"
    results = tmp_path / "results"
    assert report.main(["--gather", str(folder), "--results", str(results), "--out", str(first)]) == 0
    shutil.rmtree(folder)
    assert report.main(["--results", str(results), "--out", str(second)]) == 0
    assert first.read_text() == second.read_text()
    assert "Herrington Table 7" in first.read_text()
    assert "No GPU figure" in first.read_text()
    (course,) = [line for line in first.read_text().splitlines() if line.startswith("| long-1") and "12" in line]
    assert [cell.strip() for cell in course.split("|")][2:-1] == ["64.0", "–", "–", "12", "11", "10", "1"]
    assert (results / "plots" / "herrington-overview.svg").exists()


def test_a_folder_of_one_commit_replaces_all_figures_but_the_history(folder, tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    append_entries(results / "history.csv", [entry(commit="old")])
    for name in ("share.json", "papers.csv", "plane.csv"):
        (results / name).write_text("of another commit")
    taken = report.gather(folder, results)
    assert {"papers.csv", "contest.json", "history.csv", "steps.json"} <= set(taken)
    assert not (results / "share.json").exists()
    assert not (results / "plane.csv").exists()
    assert [e.commit for e in read_entries(results / "history.csv")] == ["old", commit()]
    report.gather(folder, results)
    assert len(read_entries(results / "history.csv")) == 2
    text, _ = report.report(results)
    assert f"All figures are of commit {commit()}" in text
    assert "costs 11.0, was 10.0 at old" in text


def test_the_report_says_what_is_missing_and_whether_the_machine_was_idle(folder, tmp_path):
    report.gather(folder, tmp_path / "results")
    text, _ = report.report(tmp_path / "results")
    assert "Not finished: contest" in text
    assert "30.0 % of the processors, so that the machine was NOT idle" in text
    assert "`circuits` is, beside `exact`, cheaper on kind-1% (one table) by 9.09 %." in text
    assert "5 (1.7 for searches over orderings" in text


def test_rows_of_another_commit_are_refused(folder, tmp_path):
    report.gather(folder, tmp_path / "results")
    rows = read_rows(tmp_path / "results" / "papers.csv")
    write_rows(tmp_path / "results" / "papers.csv", [*rows, replace(rows[0], commit="other", seed=9)])
    with pytest.raises(ValueError, match="rows of other"):
        report.report(tmp_path / "results")


def test_the_committed_reports_are_those_that_the_committed_figures_make():
    text, _ = report.report(report.RESULTS)
    assert text == (report.HERE / "RESULTS.md").read_text(encoding="utf-8")
    earlier, _ = report.report(report.EARLIER, "results/earlier/plots")
    assert earlier == (report.HERE / "EARLIER.md").read_text(encoding="utf-8")
    assert "Not of this version" in earlier


def test_measures_of_tables_are_no_patterns_and_say_how_often_both_sets_of_exposed_cells_agree(rows):
    seen = [Row("exposures", "plane 1", f"t{n}", "exposure", "", 1, "", 9, 2,
                details=json.dumps({"primaries": 2, "K": 2, "Ku": 2 - n})) for n in range(2)]  # fmt: skip
    assert "All 3 patterns were audited exactly; 0 of them were unsafe" in proofs([*rows, *seen])[-1]
    assert exposure_reading(seen) == ["K = Ku (Smith: about 99 % of tables) in 1 of 2 two-way hierarchical tables."]


def test_a_peer_that_is_unsafe_or_missing_is_named_so():
    results = [
        Result("t", "gpuga exact", cost=10.0, lower_bound=10.0, claims_optimal=True, safe=True),
        Result("t", "tau-ARGUS modular", cost=12.0, safe=False, exposed=2),
    ]
    found = section(results, {"sdcTable": "no Rscript is found"})
    assert "UNSAFE: 2 exposed" in found.body[1]
    assert "20.00 %" in found.body[1]
    assert "sdcTable was not run: no Rscript is found." in found.words
