"""Compiles the CUDA kernels on all cores before the first of these tests; later runs find them in the cache."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from gpuga.kernels import cuda_kernels

from .toolchain import compile_everywhere

# The ones that take longest first, so that no core waits at the end.
LONGEST = ["general", "decode", "clean", "box_costs", "judge", "destroy"]


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    """Every kernel in PTX and machine code, for every architecture."""
    names = LONGEST + [name for name in cuda_kernels.KERNELS if name not in LONGEST]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as processes:
        list(processes.map(compile_everywhere, names))
