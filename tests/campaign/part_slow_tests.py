"""Part `slow_tests`: the tests that `make test` leaves out because they take minutes, file by file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.campaign.tally import Tally
from tests.campaign.terminal import ROOT

MARK = "pytest.mark." + "slow"
FILES = sorted(path for path in (ROOT / "tests").rglob("test_*.py") if MARK in path.read_text(encoding="utf-8"))
TARGET = len(FILES)
PATIENCE = 3 * 3600.0
"""Seconds for one file: the longest take half an hour on two cores."""


def step(seed: int, index: int, folder: Path) -> Tally:
    """The slow tests of one file, in a process of their own."""
    name = FILES[index].relative_to(ROOT).as_posix()
    command = [sys.executable, "-m", "pytest", "-q", "-m", "slow", "-p", "no:cacheprovider", name]
    try:
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
        said, code = ended.stdout + ended.stderr, ended.returncode
    except subprocess.TimeoutExpired:
        said, code = f"no end after {PATIENCE:.0f} s", 1
    return counted(said, code, name)


def counted(said: str, code: int, name: str) -> Tally:
    """What pytest said and how it ended, as counts; a file that ends otherwise than well is a failure."""
    tally = Tally()
    for number, outcome in re.findall(r"(\d+) (passed|skipped)", said):
        tally.count(outcome, int(number))
    if code:
        what = "\n".join(said.strip().splitlines()[-3:])
        tally.fail("tests failed", f"{name}: {what}", f"python -m pytest -m slow {name}")
    return tally
