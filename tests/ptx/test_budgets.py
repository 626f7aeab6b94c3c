"""Every CUDA kernel compiles to PTX and machine code for four architectures within its budget, without spills."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuga.kernels import cuda_kernels

from .toolchain import CAPABILITIES, assemble, kernel_ptx, occupancy
from .translate import translate

TABLE = Path(__file__).parents[2] / "bench" / "occupancy.csv"
HEADER = "kernel,architecture,threads per block,registers,static shared bytes,spilled bytes,occupancy,limited by"

# Registers per thread that a kernel may use on any architecture.
REGISTERS = {
    "union": 64, "box_costs": 168, "dual_step": 48, "primal_step": 56, "line_rooms": 64, "tighten": 64,
    "rare_weights": 64, "decode": 224, "clean": 176, "destroy": 112, "judge": 144, "exchange": 80, "price": 56,
    "nearest": 64, "gather": 48,
}  # fmt: skip
SHARED = 16

PARAMETER_BYTES = 4096
"""Drivers before CUDA 12.1 pass no more."""


def measured(name: str, arch: str) -> str:
    """A line of the occupancy table."""
    sass, threads = assemble(kernel_ptx(cuda_kernels, name, arch), arch), cuda_kernels.KERNELS[name][2]
    share, limit = occupancy(arch, sass, threads)
    return f"{name},{arch},{threads},{sass.registers},{sass.shared},{sass.spilled},{share:.0%},{limit}"


@pytest.mark.parametrize("name", cuda_kernels.KERNELS)
def test_kernel_keeps_its_budget_on_every_architecture(name: str) -> None:
    for arch in CAPABILITIES:
        sass = assemble(kernel_ptx(cuda_kernels, name, arch), arch)
        assert sass.registers <= REGISTERS[name], arch
        assert (sass.spilled, sass.stack) == (0, 0), arch
        assert sass.shared <= SHARED, arch


@pytest.mark.parametrize("name", cuda_kernels.KERNELS)
def test_the_arguments_of_a_kernel_fit_into_what_every_driver_passes(name: str) -> None:
    assert translate(kernel_ptx(cuda_kernels, name, "sm_80"))[0].parameter_bytes <= PARAMETER_BYTES


def test_the_occupancy_table_lists_every_kernel_and_architecture() -> None:
    lines = TABLE.read_text().splitlines()
    assert lines[0] == HEADER
    assert [line.split(",")[:2] for line in lines[1:]] == [
        [name, arch] for name in cuda_kernels.KERNELS for arch in CAPABILITIES
    ]


def write_table() -> None:
    """Measure all kernels and rewrite the table: python -m tests.ptx.test_budgets."""
    lines = [measured(name, arch) for name in cuda_kernels.KERNELS for arch in CAPABILITIES]
    TABLE.write_text("\n".join([HEADER, *lines]) + "\n")


if __name__ == "__main__":
    write_table()
