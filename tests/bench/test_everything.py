"""One command for all figures of one commit, the history that fails on a loss, and the list that only improves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench import best_known, everything, history, microdata
from bench.__main__ import COMMANDS
from bench.best_known import Known, merged
from bench.everything import FULL, QUICK, Step
from bench.history import HistoryEntry, findings, of_version


def test_every_step_calls_a_benchmark_that_exists_and_the_quick_ones_take_less_than_ten_minutes() -> None:
    assert {step.words.split()[0] for step in (*FULL, *QUICK)} <= set(COMMANDS)
    assert sum(step.minutes for step in QUICK) < 10


def test_a_finished_step_is_not_done_again_and_a_failed_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    codes = {"one": 0, "two": 1}
    monkeypatch.setattr(everything, "QUICK", (Step("a", "one {out}", 1.0), Step("b", "two {out}", 1.0)))
    monkeypatch.setattr(everything, "_bench", lambda words: calls.append(words[0]) or codes[words[0]])
    arguments = ["--quick", "--out", str(tmp_path)]
    assert everything.main(arguments) == 1
    codes["two"] = 0
    assert everything.main(arguments) == 0
    assert everything.main(arguments) == 0
    assert calls == ["one", "two", "two"]


def test_no_step_begins_when_the_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everything, "_bench", lambda words: pytest.fail("begun"))
    assert everything.run_steps([Step("a", "one", 1.0)], tmp_path, -1.0) == ["a"]


def test_a_changed_tree_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(everything, "state", lambda: "abc-changed")
    assert everything.main(["--out", str(tmp_path)]) == 2
    assert "commit first" in capsys.readouterr().err


def test_it_says_how_long_it_takes() -> None:
    assert "about 20 minutes" in everything.announcement((Step("a", "", 20.0),), [Step("a", "", 20.0)])
    assert "2.0 hours" in everything.announcement((Step("a", "", 120.0),), [Step("a", "", 120.0)])


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
        assert one.cost is None or one.proof


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
