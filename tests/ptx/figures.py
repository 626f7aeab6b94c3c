"""Figures of every CUDA kernel, without a device: python -m tests.ptx.figures writes what docs/make_kernels.py shows.

Registers, shared memory and occupancy come from compilation ahead of time. Instructions and bytes per pattern are
counted while the emitted PTX of a generation is executed on the CPU.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bench.kinds import KINDS
from bench.throughput import CASES, priced
from gpuga.context import Clock, Context
from gpuga.evolution.breeding import STYLES
from gpuga.evolution.deap_toolbox import DeapTable
from gpuga.evolution.general_device import GeneralDeviceKernels
from gpuga.evolution.two_way_device import TwoWayDeviceKernels
from gpuga.kernels import cuda_kernels
from gpuga.kernels.cuda_machine import Machine
from gpuga.kernels.random import Stream

from .executor import Module
from .toolchain import CAPABILITIES, assemble, kernel_ptx, occupancy
from .translate import translate

BENCH = Path(__file__).parents[2] / "bench"
OCCUPANCY, WORK = BENCH / "occupancy.csv", BENCH / "kernel_work.json"
HEADER = "kernel,architecture,threads per block,registers,static shared bytes,spilled bytes,occupancy,limited by"
TABLE, PATTERNS, ARCHITECTURE = CASES[0], 8, "sm_80"
"""What is counted: a table of the throughput benchmark and so many patterns of it."""

SOLID, CHILDREN = KINDS["smith3d-20x10x10-5%"], 4
"""The same for general tables, where a whole child is counted."""

COMPILERS = ("numba", "numba-cuda", "nvidia-nvvm", "nvidia-cuda-nvcc")


def compilers() -> dict[str, str]:
    """The versions that figures depend on."""
    return {name: version(name) for name in COMPILERS}


def occupancy_table() -> str:
    """The table of registers and occupancy."""
    rows = (occupancy_row(name, arch) for name in cuda_kernels.KERNELS for arch in CAPABILITIES)
    return "\n".join([HEADER, *rows]) + "\n"


def occupancy_row(name: str, arch: str) -> str:
    """Registers and occupancy of one kernel on one architecture."""
    sass, threads = assemble(kernel_ptx(cuda_kernels, name, arch), arch), cuda_kernels.KERNELS[name][2]
    share, limit = occupancy(arch, sass, threads)
    return f"{name},{arch},{threads},{sass.registers},{sass.shared},{sass.spilled},{share:.0%},{limit}"


class Counted:
    """Launches that are executed and counted, kernel by kernel."""

    def __init__(self) -> None:
        self.work: dict[str, Counter[str]] = defaultdict(Counter)

    def launch(self, name: str, blocks: int, *arguments: Any) -> None:
        """Run a kernel and add up what it did."""
        module = _module(name)
        module.launch(blocks, cuda_kernels.KERNELS[name][2], list(arguments))
        instructions, moved = module.counts()
        self.work[name].update(instructions=instructions, bytes=moved)


@cache
def _module(name: str) -> Module:
    return Module(kernel_ptx(cuda_kernels, name, ARCHITECTURE), counted=True)


def two_way_work() -> dict[str, dict[str, int]]:
    """Instructions and bytes per pattern of every kernel of a generation of a two-way table."""
    counted, stream = Counted(), Stream(1, 7)
    problem: Any = DeapTable(TABLE.make(1), Context(backend="cpu"), ("cost",)).problem
    kernels = TwoWayDeviceKernels(problem, 1, Machine(np, lambda: 2**27, counted.launch, lambda record: record))
    kernels.set_prices(*priced(TABLE, 1))
    words = stream.words(PATTERNS).astype(np.uint64) + np.uint64(1)
    nothing, zeros = kernels.nothing(PATTERNS), np.zeros(PATTERNS, np.int32)
    style = STYLES[stream.integers(0, len(STYLES), PATTERNS)]
    made, _ = kernels.decode(nothing, nothing, nothing, words, style, zeros)
    cleaned = kernels.clean(made, words)
    pairs = stream.integers(0, PATTERNS, 2 * PATTERNS).reshape(PATTERNS, 2).astype(np.int32)
    crossed, _ = kernels.exchange(cleaned, pairs, np.arange(PATTERNS, dtype=np.int32) % 3, words)
    kernels.safe(crossed)
    kernels.destroy(cleaned, words, zeros + 8)
    kernels.costs(cleaned)
    kernels.nearest(cleaned, crossed)
    cleaned.take(np.arange(PATTERNS)[::-1])
    return {name: {what: n // PATTERNS for what, n in counts.items()} for name, counts in counted.work.items()}


def general_work() -> dict[str, dict[str, int]]:
    """Instructions and bytes per child of the kernel of general tables: decoded, cleaned and proven."""
    counted, stream = Counted(), Stream(1, 8)
    problem: Any = DeapTable(SOLID.make(1), Context(backend="cpu"), ("cost",)).problem
    machine = Machine(np, lambda: 2**28, counted.launch, lambda record: record)
    kernels = GeneralDeviceKernels(problem, Clock(), machine)
    words, zeros = stream.words(CHILDREN).astype(np.uint64) + np.uint64(1), np.zeros(CHILDREN, np.int32)
    nothing = kernels.nothing(CHILDREN)
    made, _ = kernels.decode(nothing, nothing, nothing, words, zeros, zeros)
    kernels.safe(kernels.clean(made, words))
    return {name: {what: n // CHILDREN for what, n in counts.items()} for name, counts in counted.work.items()}


def emitted() -> str:
    """A digest of what is executed: other sources may well be compiled to the same."""
    found = hashlib.sha256()
    for name in cuda_kernels.KERNELS:
        found.update(translate(kernel_ptx(cuda_kernels, name, ARCHITECTURE))[1].encode())
    return found.hexdigest()[:24]


def work() -> dict[str, Any]:
    """What WORK holds."""
    static = {name: _module(name).instructions for name in cuda_kernels.KERNELS}
    return {
        "emitted": emitted(),
        "compilers": compilers(),
        "tables": {TABLE.name: PATTERNS, SOLID.name: CHILDREN},
        "instructions": static,
        "per_pattern": two_way_work() | general_work(),
    }


def main() -> None:
    """Compile, execute, write."""
    OCCUPANCY.write_text(occupancy_table())
    WORK.write_text(json.dumps(work(), indent=1) + "\n")


if __name__ == "__main__":
    main()
