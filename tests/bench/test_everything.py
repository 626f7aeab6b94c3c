"""One command for all figures of one commit, the history that fails on a loss, and the list that only improves."""

from __future__ import annotations

import json
import lzma
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bench import best_known, everything, history, microdata, report
from bench.__main__ import COMMANDS
from bench.best_known import Known, merged
from bench.everything import FULL, QUICK, STANDARD, Record, Step, planned
from bench.history import HistoryEntry, findings, of_version
from bench.kinds import KINDS
from bench.machine import busy_seconds, commit
from bench.papers.command import PAPERS
from bench.runs import read_rows


def test_every_step_calls_a_benchmark_that_exists_with_words_that_it_knows() -> None:
    for step in (*QUICK, *STANDARD, *FULL):
        name, *words = step.words.format(out="o").split()
        assert name in COMMANDS
        assert "{" not in " ".join(words)
    assert {step.words.split()[0] for step in STANDARD} == {step.words.split()[0] for step in FULL}


def test_a_look_takes_ten_minutes_and_the_standard_extent_leaves_a_third_of_35() -> None:
    assert planned(QUICK) < 10
    assert planned(STANDARD) * 4 / 3 <= 35.5
    assert planned(FULL) > 600


def test_the_standard_extent_has_every_paper_and_a_contest_of_circuits_and_exact() -> None:
    names = {step.name for step in STANDARD}
    assert {f"papers {paper}" for paper in PAPERS} <= names
    contests = [step.words for step in STANDARD if step.words.startswith("contest")]
    assert all("--method circuits --method exact" in words for words in contests)
    assert {kind for words in contests for kind in words.split() if kind in KINDS} >= {
        "herrington-100x100-1%", "herrington-400x250-0.25%", "smith3d-20x10x10-5%", "smith3d-29x29x29-5%"
    }  # fmt: skip


def test_steps_that_share_the_cores_have_limits_in_cpu_seconds() -> None:
    shared = {step.words.split()[0] for step in (*STANDARD, *FULL) if not step.alone}
    assert shared == {"papers", "plane", "scale", "peers", "microdata", "islands", "history"}
    assert all(
        step.alone or "--only-instructions" in step.words for step in (*STANDARD, *FULL) if "history" in step.words
    )
    assert all("--cpu" in step.words for step in (*STANDARD, *FULL) if step.words.startswith("plane"))


def step_of(code: str, name: str = "a", alone: bool = True) -> Step:
    return Step(name, code, 0.01, alone)


def test_a_finished_step_is_not_done_again_and_a_failed_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[str] = []
    codes = {"one": "finished", "two": "failed with exit code 1", "three": "finished"}
    steps = (step_of("one", "a"), step_of("two", "b"), step_of("three", "c", alone=False))
    monkeypatch.setattr(everything, "EXTENTS", {"quick": steps})
    monkeypatch.setattr(everything, "_bench", lambda step, folder: calls.append(step.words) or codes[step.words])
    arguments = ["--quick", "--out", str(tmp_path)]
    assert everything.main(arguments) == 1
    assert "not finished: b" in capsys.readouterr().out
    codes["two"] = "finished"
    assert everything.main(arguments) == 0
    assert everything.main(arguments) == 0
    assert calls == ["one", "two", "three", "two"]
    (folder,) = tmp_path.iterdir()
    record = json.loads((folder / "steps.json").read_text())
    assert [one["outcome"] for one in record["steps"].values()] == ["finished"] * 3
    assert len(record["calls"]) == 2


def test_no_step_begins_when_the_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everything, "_bench", lambda step, folder: pytest.fail("begun"))
    record = Record(tmp_path, "quick")
    record.expect([step_of("one")])
    everything.run_steps([step_of("one")], record, -1.0)
    assert record.finished() == {}
    assert Record(tmp_path, "quick").kept["steps"]["a"]["outcome"] == "not begun"


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, commands: str) -> None:
    """A shell script in place of Python; it is given `-m bench` and the words of a step."""
    script = folder / "python"
    script.write_text(f"#!/bin/sh\n{commands}\n")
    script.chmod(0o755)
    (folder / "logs").mkdir()
    monkeypatch.setattr(everything.sys, "executable", str(script))


def alive(process: int) -> bool:
    """Whether a process is there and no mere entry of the table of processes."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_step_that_hangs_is_ended_with_its_children_and_one_that_fails_says_where_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, 'if [ "$3" = hang ]; then sleep 600 & echo $! > "$4"; wait; fi; exit 3')
    monkeypatch.setattr(everything, "SPARE", 1.0)
    child = tmp_path / "child"
    assert everything._bench(Step("a", f"hang {child}", 0.0), tmp_path).startswith("ended after")
    end = time.monotonic() + 10.0
    while alive(int(child.read_text())) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(int(child.read_text()))
    failed = everything._bench(Step("b c", "fail", 0.0), tmp_path)
    assert failed.startswith("failed with exit code 3")
    assert (tmp_path / "logs" / "b-c.log").exists()


def test_steps_that_share_the_machine_get_one_thread_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, 'echo "threads $NUMBA_NUM_THREADS"')
    assert everything._bench(Step("a", "x", 0.1, alone=False), tmp_path) == "finished"
    assert "threads 1" in (tmp_path / "logs" / "a.log").read_text()


def test_tiny_steps_make_a_report_of_one_commit_and_a_failing_one_is_named_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = (
        Step("jobs", "jobs --tables 3 --workers 1 --json {out}/jobs.json", 1.0),
        Step("broken", "jobs --tables none", 1.0),
        Step("papers", "papers --quick --paper serpell --only example --out {out}/papers-serpell", 1.0, alone=False),
        Step("islands", "islands --quick --generations 2 --json {out}/islands.json", 1.0, alone=False),
    )
    monkeypatch.setattr(everything, "EXTENTS", {"standard": steps})
    monkeypatch.setattr(everything, "state", commit)
    assert everything.main(["--out", str(tmp_path)]) == 1
    assert "not finished: broken" in capsys.readouterr().out
    (folder,) = tmp_path.iterdir()
    assert "invalid int value" in (folder / "logs" / "broken.log").read_text()
    report.gather(folder, tmp_path / "results")
    text, _ = report.report(tmp_path / "results")
    assert f"All figures are of commit {commit()}" in text
    assert "Not finished: broken" in text
    for title in ("Islands against one population", "What a job costs besides its work", "The steps"):
        assert f"## {title}" in text
    assert len(read_rows(tmp_path / "results" / "papers.csv")) == 4


def test_a_changed_tree_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(everything, "state", lambda: "abc-changed")
    assert everything.main(["--out", str(tmp_path)]) == 2
    assert "commit first" in capsys.readouterr().err


def test_it_says_how_long_it_takes() -> None:
    alone, paired = Step("a", "", 20.0), Step("b", "", 30.0, alone=False)
    assert "about 20 minutes" in everything.announcement((alone,), [alone])
    assert planned([alone, paired, paired]) == 50.0
    assert planned([paired]) == 30.0
    assert "2.0 hours" in everything.announcement((Step("a", "", 120.0),), [Step("a", "", 120.0)])


def test_what_others_do_with_the_processors_is_seen() -> None:
    before = busy_seconds()
    if before is None:
        pytest.skip("no /proc/stat")
    assert 0.0 <= (everything.others_share(before, 1.0) or 0.0) <= 1.0
    assert everything.others_share((before[0] - 1.0, before[1]), 1.0) > 0.2


@pytest.fixture
def entry() -> HistoryEntry:
    return HistoryEntry("2026-01-01", "0.1", "abc", "cpu", "t", "m", 100.0, 90.0, 2.0, 0.0, "")


def test_a_loss_within_noise_is_none_and_a_loss_above_it_is_said(entry: HistoryEntry) -> None:
    assert findings([entry], [replace(entry, cost=100.1, lower_bound=89.9)]) == []
    assert "costs" in findings([entry], [replace(entry, cost=101.0)])[0]
    assert "bound" in findings([entry], [replace(entry, lower_bound=89.0)])[0]
    assert "slower" in findings([entry], [replace(entry, cpu_seconds=3.0)])[0]


def test_the_history_fails_on_a_loss(
    entry: HistoryEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "history.csv"
    monkeypatch.setattr(history, "RUNS", (history.RUNS[0],))
    monkeypatch.setattr(history, "warm_up", lambda run, seen: None)
    assert history.main(["--file", str(path)]) == 0
    better = [replace(one, cost=(one.cost or 0) / 2, version="0.0") for one in history.read_entries(path)]
    history.append_entries(path, better)
    assert history.main(["--file", str(path)]) == 1
    assert history.main(["--file", str(path), "--against", "0.0"]) == 1
    assert history.main(["--file", str(path), "--against", "9.9"]) == 2
    assert of_version(better, "0.0") == better
    assert "worse" in capsys.readouterr().out


def test_the_list_of_the_best_only_improves() -> None:
    old = Known("t", 10, 100.0, "circuits", "a", "t.proof", 90.0, "exact", "a")
    worse = Known("t", 10, 110.0, "exact", "b", "u.proof", 80.0, "circuits", "b")
    assert merged(old, worse) == old
    better = merged(old, replace(worse, cost=95.0, lower_bound=95.0))
    assert (better.cost, better.method, better.proof, better.proven) == (95.0, "exact", "u.proof", True)
    assert merged(Known("t", 10), worse).cost == 110.0
    with pytest.raises(ValueError, match="stands against"):
        merged(old, replace(worse, lower_bound=101.0))


def test_the_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    entries = [Known("b", 5, 4.5, "exact", "a", "b.proof", 4.5, "exact", "a"), Known("a", 3)]
    best_known.write_list(tmp_path / "l.csv", entries)
    assert best_known.read_list(tmp_path / "l.csv") == {"a": entries[1], "b": entries[0]}
    assert "optimal" in best_known.text_of(entries)


def test_the_shipped_list_is_consistent() -> None:
    for one in best_known.read_list(best_known.LIST).values():
        assert merged(one, one) == one
        assert bool(one.proof) == best_known.has_proof(one.table, best_known.PROOFS)


def test_a_run_enters_the_list_with_a_proof_that_was_verified(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    code = best_known._gpuga(
        "generate", "class1", "--rows", 6, "--cols", 6, "--sensitive", "8%", "--out", folder / "t.jj"
    )
    assert code.returncode == 0, code.stderr
    arguments = [str(folder), "--seconds", "5", "--method", "exact", "--list", str(tmp_path / "l.csv")]
    assert best_known.main([*arguments, "--proofs", str(tmp_path / "proofs")]) == 0
    (one,) = best_known.read_list(tmp_path / "l.csv").values()
    assert one.proven
    assert (tmp_path / "proofs" / one.proof).exists()
    again = [str(folder), "--verify", "--list", str(tmp_path / "l.csv"), "--proofs", str(tmp_path / "proofs")]
    assert best_known.main(again) == 0
    best_known.write_list(tmp_path / "l.csv", [replace(one, cost=(one.cost or 0) - 1, lower_bound=0.0)])
    assert best_known.main(again) == 1
    pattern = tmp_path / "proofs" / f"{one.table}.csv.xz"
    shown = lzma.decompress(pattern.read_bytes()).replace(b"secondary", b"published")
    pattern.write_bytes(lzma.compress(shown))
    assert best_known.verified(folder / "t.jj", one, tmp_path / "proofs")


def test_a_cost_whose_proof_is_lost_is_proven_anew_and_stays_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "t.jj"
    best_known._gpuga("generate", "class1", "--rows", 6, "--cols", 6, "--sensitive", "8%", "--out", table)
    first = best_known.tried(table, "exact", 5.0, Known("t", 49), tmp_path / "proofs")
    again = best_known.tried(table, "exact", 5.0, first, tmp_path / "proofs")
    assert again.cost is None
    assert best_known.tried(table, "exact", 5.0, first, tmp_path / "none").cost == first.cost


def test_searches_over_recodings_are_ranked_and_rows_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(microdata, "QUICK_PERSONS", (300,))
    monkeypatch.setattr(microdata, "plan", lambda: [("iterative", 0.1), ("tabu", 0.1), (microdata.LAGRANGEAN, 0.1)])
    path = tmp_path / "m.json"
    assert microdata.main(["--json", str(path), "--quick"]) == 0
    rows = json.loads(path.read_text())
    tabu = next(row for row in rows if row["search"] == "tabu")
    bound = next(row for row in rows if row["search"] == microdata.LAGRANGEAN)
    assert bound["lower_bound"] <= tabu["cost"]
    monkeypatch.setattr(microdata, "row_of", lambda *_: pytest.fail("measured again"))
    assert microdata.main(["--json", str(path), "--quick"]) == 0
    assert {section.name for section in microdata.sections(rows)} == {"microdata-searches", "microdata-weights"}
