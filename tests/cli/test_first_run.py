"""The very first run compiles: it says so, and a second process helps."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import pytest
from numba import njit

from gpuga import compiling
from gpuga.cli.main import run
from gpuga.compile_ahead import whole_walk
from gpuga.context import Silent
from gpuga.files.csv import write_csv
from gpuga.table.generate import herrington

LINE = "compiling for this machine"


def test_whoever_waits_is_told_once_that_something_is_compiled() -> None:
    import gpuga.compiled  # noqa: F401  (it begins to watch)

    told = []
    compiling.when_first(lambda: told.append(True))
    for _ in range(2):

        @njit  # not kept on disk: the next run of this test has to compile it again
        def double(x: int) -> int:
            return 2 * x

        assert double(2) == 4
    assert told == [True]


def test_what_compiles_ahead_ends_with_the_run_that_it_works_for(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "gpuga.compile_ahead", "1234567"]  # a run that is no more
    surroundings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run(words, env=surroundings, check=True, timeout=60)
    assert len(list(tmp_path.rglob("*.nbc"))) < 10, "it went on to the end"


@pytest.mark.slow
def test_the_very_first_run_ends_within_twenty_seconds(tmp_path: Path) -> None:
    write_csv(herrington(20, 20, 0.05, 1), tmp_path / "t.csv")
    words = [sys.executable, "-m", "gpuga", "protect", str(tmp_path / "t.csv"), "--out", str(tmp_path / "p.csv")]
    surroundings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    begun = time.monotonic()
    done = subprocess.run(words, env=surroundings, capture_output=True, text=True, check=True)
    assert time.monotonic() - begun < 20
    assert LINE in done.stderr
    again = subprocess.run(words, env=surroundings, capture_output=True, text=True, check=True)
    assert LINE not in again.stderr


def test_a_library_call_says_on_stderr_that_it_compiles_unless_someone_else_was_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for heard, told in ((False, True), (True, False)):
        monkeypatch.setattr(compiling, "_heard", heard)
        monkeypatch.setattr(compiling, "_first", None)
        compiling.say_first()

        @njit
        def triple(x: int) -> int:
            return 3 * x

        assert triple(2) == 6
        assert (LINE in capsys.readouterr().err) == told
    others: list[bool] = []
    monkeypatch.setattr(compiling, "_heard", False)
    compiling.when_first(lambda: others.append(True))
    compiling.say_first()
    compiling._tell_first()
    assert others == [True]
    assert capsys.readouterr().err == ""


def test_warming_up_says_how_long_it_took_and_nothing_is_left_to_compile(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["warm-up"]) == 0
    assert re.search(r"compiled (in \d+ s|already)", capsys.readouterr().out)
    before = compiling.seconds()
    assert run(["warm-up", "--quiet"]) == 0
    assert compiling.seconds() == before, "the second time there is nothing to do"
    assert capsys.readouterr().out == ""


def test_what_is_walked_through_includes_the_evolution_and_the_bound() -> None:
    class Stages(Silent):
        seen: ClassVar[set[str]] = set()

        def stage(self, name: str, total: int | None = None) -> None:
            self.seen.add(name)

    whole_walk(Stages())
    assert Stages.seen >= {"evolution", "bound"}
