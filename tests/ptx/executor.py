"""Executes emitted PTX on the CPU: translate to C, compile with gcc, call with NumPy arrays as device buffers."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .translate import PtxError, translate, width

ORDERS = {"forward": 0, "reverse": 1, "random": 2}
HERE = Path(__file__).parent
CACHE = Path(tempfile.gettempdir()) / f"gpuga-ptx-{os.getuid()}"


class Module:
    """One kernel, ready to run on the CPU; `counted` lets `counts` say what the latest launch did."""

    def __init__(self, ptx: str, counted: bool = False) -> None:
        self.kernel, source = translate(ptx, counted)
        self.instructions = self.kernel.instructions
        runtime = (HERE / "runtime.c").read_text()
        digest = hashlib.sha256((source + runtime).encode()).hexdigest()[:24]
        library = CACHE / f"{digest}.so"
        if not library.exists():
            self._compile(source, library)
        self.library = ctypes.CDLL(str(library))

    @staticmethod
    def _compile(source: str, library: Path) -> None:
        CACHE.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            path, made = Path(folder) / "kernel.c", Path(folder) / "kernel.so"
            path.write_text(source)
            # Unoptimised: compiling takes a tenth of the time, and the kernels run for moments only.
            options = [
                "-O0",
                "-fopenmp",
                "-fwrapv",
                "-fno-strict-aliasing",
                "-w",
                "-shared",
                "-fPIC",
                f"-I{HERE}",
            ]
            run = subprocess.run(["gcc", *options, str(path), "-o", str(made)], capture_output=True, text=True)
            if run.returncode:
                raise PtxError(run.stderr[:2000])
            made.replace(library)

    def launch(
        self,
        blocks: int,
        threads: int,
        arguments: list[Any],
        order: str = "forward",
        seed: int = 0,
        preempt: int = 0,
        most: int = 0,
    ) -> None:
        """Run the kernel; arrays are changed in place.  `preempt` n: yield after a load with probability 1/n.

        `most` global accesses of a thread are an error: it may never end.
        """
        flat = flatten(arguments)
        if len(flat) != len(self.kernel.parameters):
            raise PtxError(f"{len(self.kernel.parameters)} parameters, {len(flat)} arguments")
        block = bytearray(max(8, self.kernel.parameter_bytes))
        ranges: list[int] = []
        for parameter, value in zip(self.kernel.parameters, flat, strict=True):
            if isinstance(value, np.ndarray):
                ranges += [value.ctypes.data, value.ctypes.data + value.nbytes]
                value = value.ctypes.data
            size = width(parameter.kind)
            block[parameter.offset : parameter.offset + size] = (int(value) % 2 ** (8 * size)).to_bytes(size, "little")
        message = ctypes.create_string_buffer(300)
        errors = self.library.launch(
            (ctypes.c_char * len(block)).from_buffer(block), blocks, threads, (ctypes.c_uint64 * len(ranges))(*ranges),
            len(ranges) // 2, ORDERS[order], seed, preempt, ctypes.c_uint64(most), os.cpu_count() or 1, message,
            len(message),
        )  # fmt: skip
        if errors:
            raise PtxError(f"{errors} errors; first: {message.value.decode()}")

    def counts(self) -> tuple[int, int]:
        """Instructions that warps issued and bytes of global memory that threads moved in the latest launch."""
        steps, moved = (ctypes.c_uint64.in_dll(self.library, name) for name in ("WARP_STEPS", "BYTES"))
        return steps.value, moved.value


def flatten(arguments: list[Any]) -> list[Any]:
    """Arguments as numba passes them: an array is (meminfo, parent, items, itemsize, data, shape..., strides...).

    A record is its fields, one after the other.
    """
    flat: list[Any] = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            flat += [0, 0, value.size, value.itemsize, value, *value.shape, *value.strides]
        elif isinstance(value, tuple):
            flat += flatten(list(value))
        else:
            flat.append(value)
    return flat
