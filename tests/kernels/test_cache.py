"""Compiled kernels are kept on disk and serve tables of every shape: a second process evaluates at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

SCRIPT = """
import numpy as np
from gpuga.kernels import INFINITE, Plane, Tasks, get_backend
backend = get_backend("cpu")
rows, columns = {shape}
down = np.arange(rows * columns).reshape(rows, columns) + 5
plane = Plane.of(np.full((rows, columns), INFINITE), down)
safe = backend.safe(np.ones((65, rows * columns), bool), plane, Tasks.of([0, 1], [1, -1], [2, 2]))
print(safe.all())
from gpuga.kernels import cpu_backend
print(sum(cpu_backend._safe.stats.cache_misses.values()))
"""


def misses(shape: tuple[int, int]) -> int:
    """How many kernels a new process has to compile for its first verdicts."""
    script = SCRIPT.format(shape=shape)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    answer, count = done.stdout.split()
    assert answer == "True"
    return int(count)


def test_a_second_process_finds_the_kernels_compiled_for_another_shape() -> None:
    misses((4, 5))
    assert misses((7, 130)) == 0


FUNCTION = """
from gpuga.kernels.logic.compile import device


@device
def doubled(x):
    return 2 * x


print(doubled(21), sum(doubled.stats.cache_misses.values()))
"""


def test_a_damaged_cache_is_compiled_again(tmp_path: Path) -> None:
    script = tmp_path / "doubling.py"
    script.write_text(FUNCTION)

    def run() -> str:
        surroundings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
        words = [sys.executable, str(script)]
        return subprocess.run(words, capture_output=True, text=True, check=True, env=surroundings).stdout

    assert run().split() == ["42", "1"]
    assert run().split() == ["42", "0"]
    for ending, damage in ((".nbi", b""), (".nbc", b"half a fi"), (".nbi", b"\x80\x05nonsense")):
        damaged = list((tmp_path / "cache").rglob(f"*{ending}"))
        assert damaged
        for path in damaged:
            path.write_bytes(damage)
        assert run().split() == ["42", "1"]
        assert run().split() == ["42", "0"]
