"""The figures of the kernels that are written down are those of the kernels as they are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gpuga.kernels import cuda_kernels

from . import figures
from .executor import Module
from .toolchain import CAPABILITIES, kernel_ptx, quick

AGAIN = "run python -m tests.ptx.figures and make docs"


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(figures.WORK.read_text())
    return found


def test_every_kernel_is_listed_for_every_architecture(written: dict[str, Any]) -> None:
    lines = figures.OCCUPANCY.read_text().splitlines()
    assert lines[0] == figures.HEADER
    listed = [line.split(",")[:2] for line in lines[1:]]
    assert listed == [[name, arch] for name in cuda_kernels.KERNELS for arch in CAPABILITIES], AGAIN
    assert list(written["instructions"]) == list(cuda_kernels.KERNELS), AGAIN


def test_what_is_written_down_is_what_is_compiled_and_executed(written: dict[str, Any]) -> None:
    """Only where something else is emitted is it executed; other compilers make other code."""
    same_compilers(written)
    lines = figures.OCCUPANCY.read_text().splitlines()
    for name in cuda_kernels.KERNELS:
        assert {figures.occupancy_row(name, arch) for arch in quick(name)} <= set(lines), AGAIN
    if written["emitted"] != figures.emitted():
        now = figures.work()
        for part in ("instructions", "per_pattern"):
            assert written[part] == now[part], AGAIN


@pytest.mark.slow
def test_what_is_written_down_is_what_is_compiled_for_every_architecture(written: dict[str, Any]) -> None:
    same_compilers(written)
    assert figures.OCCUPANCY.read_text() == figures.occupancy_table(), AGAIN


def same_compilers(written: dict[str, Any]) -> None:
    """Other compilers make other code: nothing can be said then."""
    if written["compilers"] != figures.compilers():
        pytest.skip(f"the figures are of {written['compilers']}")


def test_warp_instructions_are_those_of_its_busiest_lane_and_bytes_of_all() -> None:
    """`gather` of one pattern of 3 words: for each, a thread reads its place and the word, and writes the word."""
    module = Module(kernel_ptx(cuda_kernels, "gather", "sm_80"), counted=True)
    bits, places, taken = (
        np.arange(9, dtype=np.uint64).reshape(3, 1, 3),
        np.array([2], np.int32),
        np.zeros(3, np.uint64),
    )
    module.launch(1, cuda_kernels.KERNELS["gather"][2], [bits, places, taken.reshape(1, 1, 3)])
    assert taken.tolist() == [6, 7, 8]
    steps, moved = module.counts()
    assert moved == 3 * (4 + 8 + 8)
    idle = Module(kernel_ptx(cuda_kernels, "gather", "sm_80"), counted=True)
    idle.launch(1, cuda_kernels.KERNELS["gather"][2], [bits, places[:0], taken.reshape(1, 1, 3)[:0]])
    waiting, nothing = idle.counts()
    assert nothing == 0
    assert waiting < steps < waiting + module.instructions
