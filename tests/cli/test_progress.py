"""Progress is seen on a terminal only, and Ctrl-C is answered."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress

from gpuga.cli import progress as progress_module
from gpuga.cli.main import main, run
from gpuga.cli.progress import Bar, PlainProgress, ending_on_interrupt, progress_on_terminal, time_text
from gpuga.context import Clock, Silent
from gpuga.files import atomic


def test_nothing_is_shown_without_a_terminal() -> None:
    with progress_on_terminal(quiet=False) as progress:
        assert isinstance(progress, Silent)


def test_a_terminal_gets_a_bar_unless_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_on_terminal(quiet=False) as progress:
        assert isinstance(progress, Bar)
    with progress_on_terminal(quiet=True) as progress:
        assert isinstance(progress, Silent)


def test_a_bar_shows_stage_and_figures() -> None:
    out = io.StringIO()
    with Progress("{task.description} {task.completed} {task.fields[figures]}", console=Console(file=out)) as rich:
        bar = Bar(rich)
        bar.stage("evolution", total=10)
        bar.advance(3, best=1234.5, generation=7)
        bar.advance()
    assert "evolution 4 best 1,234.5, generation 7" in out.getvalue()


def test_the_first_ctrl_c_ends_the_clock_and_the_second_aborts(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    before = signal.getsignal(signal.SIGINT)
    with ending_on_interrupt(clock):
        os.kill(os.getpid(), signal.SIGINT)
        assert clock.expired()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert "best safe pattern so far" in capsys.readouterr().err


def test_a_ctrl_c_while_results_are_written_does_not_lose_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write = atomic.write_together

    def interrupted(results: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        write(results)

    monkeypatch.setattr(atomic, "write_together", interrupted)
    table, out = tmp_path / "t.csv", tmp_path / "pattern.csv"
    table.write_text("a,b,value,status\nx,p,5,u\nx,q,6,s\ny,p,7,s\ny,q,8,s\n")
    assert run(["protect", str(table), "--out", str(out), "--method", "marginal", "--quiet"]) == 0
    assert out.exists()


def test_a_ctrl_c_after_the_work_changes_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as ended:
            main(["methods"])
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.value.code == 0


def test_an_abort_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpuga.files.read.read_source", stopped)
    assert run(["expose", "t.csv"]) == 1
    assert capsys.readouterr().err.strip() == "gpuga: interrupted"


def test_debug_shows_where_a_fault_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("gpuga.files.read.read_source", broken)
    with pytest.raises(ZeroDivisionError):
        run(["--debug", "expose", "t.csv"])


def test_plain_lines_say_stage_figures_and_time_left() -> None:
    out = io.StringIO()
    lines = PlainProgress(out, Clock(90))
    lines.say()
    lines.stage("evolution", 200)
    lines.advance(3, generation=3, best=1234.5, gap="2.10 %")
    lines.advance()
    lines.say()
    lines.stage("audit")
    lines.say()
    assert out.getvalue().splitlines() == [
        "gpuga: 0:00, 1:30 left, start",
        "gpuga: 0:00, 1:30 left, evolution 4 of 200: generation 3, best 1,234.5, gap 2.10 %",
        "gpuga: 0:00, 1:30 left, audit",
    ]


def test_the_time_is_that_of_the_run_and_not_of_the_stage() -> None:
    assert time_text(100.0, None, 165.5) == "1:05"
    clock = Clock(60)
    clock.interrupt()
    assert time_text(0.0, clock, 7.0) == "0:07, 0:00 left"


def test_lines_come_every_few_seconds_if_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_module, "EVERY", 0.01)
    table = tmp_path / "t.csv"
    assert run(["generate", "class2", "--rows", "30", "--cols", "30", "--out", str(table), "--quiet"]) == 0
    words = ["protect", str(table), "--out", str(tmp_path / "p.csv"), "--seconds", "20", "--generations", "2"]
    assert run(words) == 0
    assert "left, " not in capsys.readouterr().err
    assert run([*words, "--progress"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if " left, " in line]
    assert said
    assert all(line.startswith("gpuga: 0:") for line in said)
    assert run([*words, "--progress", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "t.csv", "p.csv"],
        ["bound", "t.csv"],
        ["expose", "t.csv"],
        ["compare", "t.csv", "--methods", "hypercube,marginal"],
    ],
    ids=lambda words: words[0],
)
def test_every_command_that_can_last_prints_plain_lines_on_request(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,value,status\nx,p,5,u\nx,q,6,s\ny,p,7,s\ny,q,8,s\n")
    assert run(["protect", "t.csv", "--out", "p.csv", "--quiet"]) == 0
    made: list[PlainProgress] = []

    class Kept(PlainProgress):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(progress_module, "PlainProgress", Kept)
    assert run(words) == 0
    assert made == []
    assert run([*words, "--progress"]) == 0
    assert made
