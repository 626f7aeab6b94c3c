"""The very first run compiles: it says so, and a second process helps."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba import njit

from gpuga import compiling
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
