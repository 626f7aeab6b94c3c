"""Runs bounded by generations repeat: after kill -9 and resume, with any number of threads, on a simulated device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

KILLS = """
import json, sys
from pathlib import Path
from tests.campaign import part_kills
from tests.campaign.tally import Tally
total = Tally()
for index in range(int(sys.argv[2]), int(sys.argv[3])):
    total.add(part_kills.step(7, index, Path(sys.argv[1])))
print(json.dumps({"counts": total.counts, "failures": total.failures}))
"""

RUNS = """
import hashlib, sys
import numba
import gpuga
from gpuga.table.generate import herrington, smith3d
numba.set_num_threads(int(sys.argv[1]))
for table in (herrington(16, 15, 0.05, 3), smith3d((7, 6, 5), 0.12, 0.1, 2)):
    found = gpuga.protect(table, seed=4, options={"generations": 5, "population": 24, "patience": 99})
    pattern = hashlib.sha256(found.suppressed.tobytes()).hexdigest()
    print(found.cost, found.found.generations, found.found.evaluations, pattern)
"""

DEVICE = """
import gpuga
from gpuga.table.generate import herrington
table = herrington(8, 8, 0.08, 2)
options = {"population": 12, "generations": 2, "patience": 99, "alternatives": 2}
for name in ("cuda", "cpu"):
    found = gpuga.protect(table, backend=name, seed=3, options=options)
    others = [one.suppressed.tobytes().hex() for one in found.alternatives]
    print(found.backend, found.cost, found.found.generations, found.suppressed.tobytes().hex(), *others)
"""


def run(program: str, *words: str, **more: str) -> str:
    """What a program of its own prints."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_NUM_THREADS": "2"} | more
    done = subprocess.run(
        [sys.executable, "-c", program, *words], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr[-2000:]
    return done.stdout


def survive(folder: Path, first: int, last: int) -> dict[str, int]:
    """Kill and resume the runs first..last-1 of the campaign; what was counted."""
    runs, found = last - first, json.loads(run(KILLS, str(folder), str(first), str(last)).splitlines()[-1])
    assert found["failures"] == []
    counts: dict[str, int] = found["counts"]
    assert counts["resumed runs"] == runs
    assert counts["kills"] >= runs
    return counts


@pytest.mark.slow  # two- and three-way; test_checkpoint.py kills one on a two-way table in every run of the tests
def test_fifty_killed_runs_resume_to_the_same_pattern(tmp_path: Path) -> None:
    counts = survive(tmp_path, 0, 50)
    assert counts["resumed from a checkpoint"] > 10


def test_one_thread_and_two_find_the_same() -> None:
    assert run(RUNS, "1") == run(RUNS, "2")


@pytest.mark.slow
def test_twenty_runs_find_the_same_with_one_thread_and_two() -> None:
    assert len({run(RUNS, str(1 + number % 2)) for number in range(20)}) == 1


def test_a_simulated_device_finds_what_the_cpu_finds_with_the_prover_beside_it() -> None:
    cuda, cpu = (line.split() for line in run(DEVICE, NUMBA_ENABLE_CUDASIM="1").splitlines())
    assert (cuda[0], cpu[0]) == ("cuda", "cpu")
    assert cuda[1:] == cpu[1:]
    assert len(cuda) == 6, "two alternatives as well"
