"""Counting instructions: totals of dumps, and where nothing can be counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench import history, instructions
from bench.history import RUNS, HistoryEntry, findings, instruction_words
from bench.instructions import NOT_COUNTED, Counted, count_instructions, total
from bench.machine import commit


def entry(seconds: float, count: float | None) -> HistoryEntry:
    counted = "" if count is None else "callgrind"
    return HistoryEntry("d", "v", "c", "p", "t", "m", 1.0, None, seconds, 0.0, "", count, counted)


def test_the_total_of_a_dump_is_read_and_a_dump_without_one_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("version: 1\nevents: Ir\nsummary: 0\n\nfn=(1)\n0 100\ntotals: 123\n")
    assert total(tmp_path / "a") == 123.0
    (tmp_path / "b").write_text("version: 1\n")
    with pytest.raises(ValueError, match="no total"):
        total(tmp_path / "b")


def test_nothing_is_counted_without_valgrind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(instructions.shutil, "which", lambda name: None)
    assert count_instructions(RUNS) == NOT_COUNTED
    assert "not installed" in capsys.readouterr().err


def test_runs_are_named_so_that_another_process_finds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(instructions.shutil, "which", lambda name: name)
    monkeypatch.setattr(instructions.subprocess, "run", lambda words, **_: calls.append(words))
    monkeypatch.setattr(instructions, "total", lambda path: float(path.name.partition(".")[2]))
    runs = [run for run in RUNS if run.seconds is None]
    counted = count_instructions(runs)
    assert counted == Counted({(run.table, run.method): n for n, run in enumerate(runs, 1)}, "callgrind")
    done: list[str] = []
    monkeypatch.setattr(instructions, "measured", lambda run: done.append(run.method))
    monkeypatch.setattr(instructions, "warm_up", lambda run, seen: None)
    assert instructions.main(calls[0][3:]) == 0
    assert done == [run.method for run in runs for _ in range(2)]
    told: list[str] = []
    monkeypatch.setattr(instructions, "_control", told.append)
    instructions.main(["--counted", calls[0][3]])
    assert told[:2] == ["--instr=on", "--instr=off"]


def test_instructions_are_given_to_the_entries_of_this_commit_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "h.csv"
    monkeypatch.setattr(history, "count_instructions", lambda runs: Counted({("t", "m"): 7.0}, "callgrind"))
    assert history.main(["--file", str(path), "--only-instructions"]) == 2
    assert "no entry of" in capsys.readouterr().err
    old, new = entry(1.0, None), replace(entry(1.0, None), commit=commit())
    history.append_entries(path, [old, new, replace(new, method="other")])
    assert history.main(["--file", str(path), "--only-instructions"]) == 0
    counted = [(one.instructions, one.counted_by) for one in history.read_entries(path)]
    assert counted == [(None, ""), (7.0, "callgrind"), (None, "")]


def test_counts_decide_where_both_entries_have_them() -> None:
    assert findings([entry(1.0, 1e9)], [entry(5.0, 1e9)]) == []
    assert "million instructions" in findings([entry(1.0, 1e9)], [entry(1.0, 1.1e9)])[0]
    assert "CPU s" in findings([entry(1.0, None)], [entry(5.0, 1e9)])[0]
    assert "by callgrind" in instruction_words([entry(1.0, 1e9)])
    assert "not counted" in instruction_words([entry(1.0, None)])
