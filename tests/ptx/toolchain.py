"""Ahead-of-time compilation without a driver: CUDA kernels to PTX, PTX to SASS, registers and occupancy."""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import re
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

from .executor import CACHE

CAPABILITIES = {"sm_80": (8, 0), "sm_90": (9, 0), "sm_100": (10, 0), "sm_120": (12, 0)}


def quick(name: str) -> tuple[str, ...]:
    """The architectures for which `make test` compiles a kernel; slow tests compile it for all of them.

    The compiler has two generations of code generators, one up to sm_90, one from sm_100 on: one of each for all small
    kernels, and the first for those that take longer.
    """
    return ("sm_80",) if name in LARGE else ("sm_80", "sm_120")


LONG_TO_COMPILE = frozenset({"clean", "decode", "general"})
"""Kernels that take 10 to 50 seconds: too long for bugs planted in them in every run."""

LARGE = LONG_TO_COMPILE | {"judge", "destroy", "box_costs"}
"""Kernels of several thousand instructions: too many to be compiled and executed for two architectures in every run."""


# Per multiprocessor: most warps, most blocks, shared memory in KiB (compute capabilities, CUDA C programming guide).
LIMITS = {"sm_80": (64, 32, 164), "sm_90": (64, 32, 228), "sm_100": (64, 32, 228), "sm_120": (48, 24, 100)}
REGISTERS, RESERVED_SHARED = 65536, 1024


@contextlib.contextmanager
def pretended_device(capability: tuple[int, int]) -> Iterator[None]:
    """numba-cuda asks the current device for its capability when a device function is compiled: answer for it."""
    from numba.cuda import compiler, dispatcher

    def device() -> SimpleNamespace:
        return SimpleNamespace(compute_capability=capability)

    with (
        mock.patch.object(dispatcher, "get_current_device", device),
        mock.patch.object(compiler, "get_current_device", device),
    ):
        yield


def compile_ptx(function: Callable[..., None], types: tuple[Any, ...], arch: str) -> str:
    """The PTX of a kernel for one architecture."""
    from numba import cuda

    with pretended_device(CAPABILITIES[arch]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ptx, _ = cuda.compile(function, types, cc=CAPABILITIES[arch], output="ptx", abi="numba", device=False)
    return str(ptx)


@functools.cache
def sources_digest(module: ModuleType) -> str:
    """A digest of the source files that a kernel module is compiled from, and of its compilers."""
    folder = Path(str(module.__file__)).parent
    own = [Path(str(module.__file__)), folder / "layout.py", folder / "general.py"]
    files = [*own, *sorted((folder / "logic").glob("*.py"))]
    text = [path.read_bytes() for path in files]
    tools = [version(name).encode() for name in ("numba", "numba-cuda", "nvidia-nvvm")]
    return hashlib.sha256(b"\0".join(text + tools)).hexdigest()[:24]


def kept(path: Path, make: Callable[[], str]) -> str:
    """The text of a file in the cache, made first if it is not there."""
    if not path.exists():
        text = make()
        CACHE.mkdir(mode=0o700, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=CACHE, delete=False) as made:
            made.write(text)
        Path(made.name).replace(path)
    return path.read_text()


def kernel_ptx(module: ModuleType, name: str, arch: str) -> str:
    """The PTX of kernel `name` of a `cuda_kernels` module; kept on disk until a source file or a compiler changes."""
    path = CACHE / f"{sources_digest(module)}-{name}-{arch}.ptx"
    return kept(path, lambda: compile_ptx(module.KERNELS[name][0], module.argument_types(name), arch))


@dataclass(frozen=True)
class Sass:
    """What ptxas reports of a kernel: registers per thread, static shared memory, spilled bytes, stack bytes."""

    registers: int
    shared: int
    spilled: int
    stack: int


def assemble(ptx: str, arch: str) -> Sass:
    """Compile PTX to machine code and read the report, which is kept on disk."""
    digest = hashlib.sha256(f"{version('nvidia-cuda-nvcc')}\0{ptx}".encode()).hexdigest()[:24]
    text = kept(CACHE / f"{digest}-{arch}.sass", lambda: ptxas_report(ptx, arch))

    def total(pattern: str) -> int:
        return sum(int(x) for x in re.findall(pattern, text))

    return Sass(
        total(r"Used (\d+) registers"),
        total(r"(\d+) bytes smem"),
        total(r"(\d+) bytes spill stores") + total(r"(\d+) bytes spill loads"),
        total(r"(\d+) bytes stack frame"),
    )


def ptxas_report(ptx: str, arch: str) -> str:
    """What ptxas says about the machine code it makes."""
    from cuda.pathfinder import find_nvidia_binary_utility

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.ptx"
        path.write_text(ptx)
        command = [
            find_nvidia_binary_utility("ptxas"),
            f"-arch={arch}",
            "--verbose",
            str(path),
            "-o",
            f"{path}.cubin",
        ]
        report = subprocess.run(command, capture_output=True, text=True, check=True)
    return report.stderr + report.stdout


def compile_ahead(name: str) -> None:
    """PTX and machine code of one of the package's kernels for the architectures of a test run, into the cache."""
    from gpuga.kernels import cuda_kernels

    gc.disable()  # a seventh of the time, for nothing: what compilers make stays reachable
    for arch in quick(name):
        assemble(kernel_ptx(cuda_kernels, name, arch), arch)


def occupancy(arch: str, sass: Sass, threads: int) -> tuple[float, str]:
    """Theoretical occupancy (share of the multiprocessor's warps) and what limits it."""
    warps, blocks, shared = LIMITS[arch]
    per_block = -(-threads // 32)
    by_registers = REGISTERS // (-(-sass.registers * 32 // 256) * 256) // 4 * 4 // per_block
    by_shared = shared * 1024 // (-(-(sass.shared + RESERVED_SHARED) // 128) * 128)
    limit, why = min(
        (warps // per_block, "warps"), (blocks, "blocks"), (by_registers, "registers"), (by_shared, "shared")
    )
    return limit * per_block / warps, why
