"""Compiles the CUDA kernels on all cores before the first of these tests; later runs find them in the cache."""

from __future__ import annotations

import fcntl
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from gpuga.kernels import cuda_kernels

from .toolchain import CACHE, compile_ahead

# The ones that take longest first, so that no core waits at the end.
LONGEST = ["general", "decode", "clean", "box_costs", "judge", "destroy"]


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels(request: pytest.FixtureRequest) -> None:
    """The kernels that tests are named after, as a test run needs them; the rest is compiled when it is asked for.

    All of them in a whole run, one if one is chosen. Where tests run in two processes, the second waits for the first:
    both would compile the same.
    """
    wanted = named(request.session.items)
    CACHE.mkdir(mode=0o700, exist_ok=True)
    with (CACHE / "compiling.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as processes:
            list(processes.map(compile_ahead, wanted))


def named(items: list[pytest.Item]) -> list[str]:
    """The kernels after which some of the tests of this folder are named."""
    here = [item for item in items if Path(__file__).parent in item.path.parents and hasattr(item, "callspec")]
    asked = {value for item in here for value in item.callspec.params.values() if isinstance(value, str)}
    return [name for name in dict.fromkeys([*LONGEST, *cuda_kernels.KERNELS]) if name in asked]
