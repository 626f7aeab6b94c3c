"""A device that is short of memory: work is cut into batches, halved, and at last done by the CPU with a warning."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from gpuga.kernels import Backend
from gpuga.kernels.backend import BackendWarning
from gpuga.kernels.cuda_backend import CudaBackend
from tests.kernels.cases import CASES

from .backend import ptx_backend


class ScarceMemory:
    """NumPy, except that arrays above a size cannot be made."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __getattr__(self, name: str) -> Any:
        made = getattr(np, name)
        if name not in ("empty", "zeros", "full", "asarray", "zeros_like"):
            return made

        def checked(*arguments: Any, **options: Any) -> Any:
            array = made(*arguments, **options)
            if array.nbytes > self.limit:
                raise MemoryError(f"{array.nbytes} bytes")
            return array

        return checked


def scarce(limit: int, free: int) -> Backend:
    return CudaBackend(ScarceMemory(limit), lambda: free, slots=128, launch=ptx_backend("sm_80").launch)


@pytest.mark.parametrize("name", CASES)
def test_without_memory_the_cpu_takes_over_and_says_so(name: str) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", BackendWarning)
        CASES[name](scarce(limit=1, free=2**30), np.random.default_rng([1, 7]))
    assert any("the CPU does this operation" in str(warning.message) for warning in seen)


@pytest.mark.parametrize("name", ["box_costs", "rare_weights", "unpick"])
def test_batches_are_sized_to_free_memory(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", BackendWarning)
        CASES[name](scarce(limit=2**40, free=100), np.random.default_rng([2, 7]))


def test_a_batch_that_does_not_fit_is_halved_until_it_does() -> None:
    tried: list[tuple[int, int]] = []

    def on_device(first: int, last: int) -> None:
        tried.append((first, last))
        if last - first > 3:
            raise MemoryError

    CudaBackend(np, lambda: 2**30)._in_batches(10, 1, on_device)
    assert tried == [(0, 10), (0, 5), (0, 3), (3, 6), (6, 9), (9, 10)]
