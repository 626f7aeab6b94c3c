"""The CUDA back end with its kernels' emitted PTX executed on the CPU instead of a device."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import numpy as np

from gpuga.kernels import cuda_backend, cuda_kernels
from gpuga.kernels.cuda_backend import CudaBackend
from gpuga.kernels.cuda_machine import Machine

from .executor import Module
from .toolchain import kernel_ptx

# How the threads of a block take turns: (order, one preemption per so many loads; 0: none).
SCHEDULES = [("forward", 0), ("reverse", 0), ("random", 0), ("random", 3)]


@functools.cache
def executable(module: ModuleType, name: str, arch: str) -> Module:
    """A kernel of a `cuda_kernels` module, translated once per process."""
    return Module(kernel_ptx(module, name, arch))


def ptx_backend(
    arch: str,
    order: str = "forward",
    preempt: int = 0,
    seed: int = 0,
    kernels: ModuleType = cuda_kernels,
    backend: ModuleType = cuda_backend,
) -> CudaBackend:
    """A CUDA back end whose launches run on the PTX executor; arrays are NumPy's."""

    def launch(name: str, blocks: int, *arguments: Any) -> None:
        if blocks > 0:
            threads = kernels.KERNELS[name][2]
            executable(kernels, name, arch).launch(blocks, threads, list(arguments), order, seed, preempt)

    made: CudaBackend = backend.CudaBackend(np, lambda: 2**30, slots=256, launch=launch)
    return made


def ptx_machine(
    arch: str, order: str = "forward", preempt: int = 0, seed: int = 0, kernels: ModuleType = cuda_kernels
) -> Machine:
    """A machine with room for few workers whose launches run on the PTX executor."""
    launch = ptx_backend(arch, order, preempt, seed, kernels).launch
    return Machine(np, lambda: 2**21, launch, lambda record: record)
