"""Every CUDA kernel compiles to PTX and machine code for every architecture within its budget."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from gpuga.kernels import cuda_kernels

from .toolchain import CAPABILITIES, assemble, kernel_ptx, quick
from .translate import translate

# Registers per thread that a kernel may use on any architecture.
REGISTERS = {
    "union": 64, "box_costs": 168, "dual_step": 48, "primal_step": 56, "line_rooms": 64, "tighten": 64,
    "rare_weights": 64, "decode": 224, "clean": 176, "destroy": 112, "judge": 144, "exchange": 80, "price": 56,
    "nearest": 64, "gather": 48, "copy_individuals": 64, "general": 255,
}  # fmt: skip
SHARED = 16

# Bytes of registers that a thread may have to keep in memory: the whole logic of general tables is one kernel.
SPILLED = {"general": 64}

PARAMETER_BYTES = 4096
"""Drivers before CUDA 12.1 pass no more."""


@pytest.mark.parametrize("name", cuda_kernels.KERNELS)
def test_a_kernel_keeps_its_budget(name: str) -> None:
    keeps_its_budget(name, quick(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", cuda_kernels.KERNELS)
def test_a_kernel_keeps_its_budget_on_every_architecture(name: str) -> None:
    keeps_its_budget(name, CAPABILITIES)


def keeps_its_budget(name: str, architectures: Iterable[str]) -> None:
    for arch in architectures:
        sass = assemble(kernel_ptx(cuda_kernels, name, arch), arch)
        assert sass.registers <= REGISTERS[name], arch
        assert max(sass.spilled, sass.stack) <= SPILLED.get(name, 0), arch
        assert sass.shared <= SHARED, arch


@pytest.mark.parametrize("name", cuda_kernels.KERNELS)
def test_the_arguments_of_a_kernel_fit_into_what_every_driver_passes(name: str) -> None:
    assert translate(kernel_ptx(cuda_kernels, name, "sm_80"))[0].parameter_bytes <= PARAMETER_BYTES
