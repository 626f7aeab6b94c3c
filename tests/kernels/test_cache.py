"""Compiled kernels are kept on disk and serve tables of every shape: a second process evaluates at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from gpuga.kernels import cuda_kernels
from gpuga.kernels.compile_cache import _digest, _parts, made_from
from gpuga.kernels.logic import augment, decode, workers

ROOT = Path(__file__).parents[2]

SCRIPT = """
import numpy as np
from gpuga.kernels import INFINITE, Capacities, Requirements, pack, two_way
rows, columns = {shape}
down = np.arange(rows * columns).reshape(rows, columns) + 5
plane = Capacities.of(np.full((rows, columns), INFINITE), down)
primary = np.arange(rows * columns) < 2
requirements = Requirements.of([0, 1], [1, -1], [2, 2])
work = two_way.TwoWayCpu(plane, requirements, np.ones(rows * columns, np.int64), primary, ~primary)
print(work.safe(pack(np.ones((65, rows * columns), bool), columns)).all())
print(sum(two_way._safe.stats.cache_misses.values()))
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
from parts import FACTOR, Numbers, plain, times
import parts


@device
def changed(x):
    return times(x) + FACTOR + parts.OFFSET + plain(x) + Numbers(x, 0).first


print(changed(20), sum(changed.stats.cache_misses.values()))
"""
PARTS = """
from typing import NamedTuple
from gpuga.kernels.logic.compile import device
from numba.extending import register_jitable
from further import half

FACTOR = 2
OFFSET = 0


class Numbers(NamedTuple):
    first: int
    second: int


@device
def times(x):
    return 2 * half(x)


@register_jitable
def plain(x):
    return 0
"""
FURTHER = """
from gpuga.kernels.logic.compile import inner


@inner
def half(x):
    return x // 2
"""


class Program:
    """A program of three files with compiled functions, and its compile cache."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        for name, text in (("program.py", FUNCTION), ("parts.py", PARTS), ("further.py", FURTHER)):
            (folder / name).write_text(text)

    def run(self) -> tuple[int, int]:
        """What it computes, and how many functions it had to compile for that."""
        places = os.pathsep.join((str(ROOT), str(self.folder)))
        surroundings = os.environ | {"NUMBA_CACHE_DIR": str(self.cache), "PYTHONPATH": places}
        words = [sys.executable, "-B", str(self.folder / "program.py")]
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=surroundings)
        answer, misses = map(int, done.stdout.split())
        return answer, misses

    def edit(self, name: str, before: str, after: str) -> None:
        """Change a file."""
        text = (self.folder / name).read_text()
        assert before in text
        (self.folder / name).write_text(text.replace(before, after))


def _emptied(content: bytes) -> bytes:
    return b""


def _halved(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(b ^ 85 for b in content[middle : middle + 40]) + content[middle + 40 :]


def test_a_damaged_cache_is_compiled_again(tmp_path: Path) -> None:
    program = Program(tmp_path)
    assert program.run() == (42, 1)
    assert program.run() == (42, 0)
    for damage in (_emptied, _halved, _flipped):
        damaged = list(program.cache.rglob("*.nbc"))
        assert len(damaged) == 3
        for path in damaged:
            path.write_bytes(damage(path.read_bytes()))
        assert program.run() == (42, 1), damage


def test_a_change_of_anything_that_a_function_was_compiled_from_has_it_compiled_again(tmp_path: Path) -> None:
    program = Program(tmp_path)
    assert program.run() == (42, 1)
    for name, before, after, answer in (
        ("further.py", "x // 2", "x // 2 + 1", 44),  # a callee of a callee
        ("parts.py", "FACTOR = 2", "FACTOR = 3", 45),
        ("parts.py", "OFFSET = 0", "OFFSET = 10", 55),  # an attribute of a module
        ("parts.py", "return 0", "return 100", 155),  # a plain function
    ):
        program.edit(name, before, after)
        assert program.run() == (answer, 1), after
    program.edit("program.py", "+ FACTOR", "- FACTOR")
    assert program.run() == (149, 1)
    assert len(list(program.cache.rglob("program.*.nbc"))) == 1, "what an older source was compiled to is removed"
    assert not list(program.cache.rglob("*.draft"))


def test_without_a_place_for_the_cache_functions_are_compiled_all_the_same(tmp_path: Path) -> None:
    script = tmp_path / "anywhere.py"
    script.write_text(
        "from unittest import mock\n"
        "from numba.core import caching\n"
        "with mock.patch.object(caching.CacheImpl, '_locator_classes', []):\n"
        "    from gpuga.kernels.logic.bits import popcount\n"
        "import numpy as np\n"
        "print(popcount(np.uint64(7)))\n"
    )
    surroundings = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, env=surroundings)
    assert done.stdout == "3\n"


def test_a_kernel_on_disk_is_known_by_all_that_it_was_made_from() -> None:
    codegen = SimpleNamespace(magic_tuple=lambda: ("sm_80",))
    kernel = cuda_kernels.decode
    key = cuda_kernels.kernel_cache(kernel)._index_key("signature", codegen)
    assert key[-1] == made_from(kernel) != made_from(cuda_kernels.union)
    for callee in (augment, decode, workers):
        path = str(callee.__file__)
        assert _digest(path, os.stat(path).st_mtime_ns) in _parts(kernel, set())
