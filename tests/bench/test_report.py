"""The report: made of files alone, the same every time, honest about what is missing."""

from __future__ import annotations

import json
import shutil

from bench import report
from bench.history import HistoryEntry, append_entries, findings, read_entries
from bench.peers import Result, section
from bench.runs import Run, Store, measured


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


def test_the_report_is_made_of_the_files_alone_and_always_the_same(tmp_path):
    out = tmp_path / "out"
    store = Store(out / "full" / "rows.csv")
    for method in ("hypercube", "heurgene", "circuits"):
        store.add(measured(Run("herrington", "100x100 1%", "herrington:12x12:5%:1", method, seconds=2.0)))
    (out / "full" / "machine.json").write_text(json.dumps({"processor": "P", "date": "d"}))
    first, second = tmp_path / "a.md", tmp_path / "b.md"
    results = tmp_path / "results"
    assert report.main(["--gather", str(out), "--results", str(results), "--out", str(first)]) == 0
    shutil.rmtree(out)
    assert report.main(["--results", str(results), "--out", str(second)]) == 0
    assert first.read_text() == second.read_text()
    assert "Herrington Table 7" in first.read_text()
    assert "No GPU figure" in first.read_text()
    assert (results / "plots" / "herrington-overview.svg").exists()


def test_the_committed_report_is_the_one_that_the_committed_figures_make():
    text, _ = report.report(report.RESULTS)
    assert text == (report.HERE / "RESULTS.md").read_text(encoding="utf-8")


def test_a_peer_that_is_unsafe_or_missing_is_named_so():
    results = [
        Result("t", "gpuga exact", cost=10.0, lower_bound=10.0, claims_optimal=True, safe=True),
        Result("t", "tau-ARGUS modular", cost=12.0, safe=False, exposed=2),
    ]
    found = section(results, {"sdcTable": "no Rscript is found"})
    assert "UNSAFE: 2 exposed" in found.body[1]
    assert "20.00 %" in found.body[1]
    assert "sdcTable was not run: no Rscript is found." in found.words
