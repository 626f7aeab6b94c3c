"""Every back end says exactly what the NumPy oracle says, on thousands of random populations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gpuga.kernels import Backend, get_backend
from gpuga.kernels.probe import cuda_problem

from .cases import CASES

# The oracle cleans up by full re-checks, which takes its time.
POPULATIONS = dict.fromkeys(CASES, 240) | {"remove_redundant": 60}

Check = Callable[[Backend, np.random.Generator], None]


@pytest.mark.parametrize("name", CASES)
def test_the_cpu_agrees_with_the_oracle(name: str) -> None:
    backend = get_backend("cpu")
    for seed in range(POPULATIONS[name]):
        CASES[name](backend, np.random.default_rng([seed, 1]))


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_the_device_agrees_with_the_oracle(name: str) -> None:
    problem = cuda_problem()
    if problem is not None:
        pytest.skip(problem)
    backend = get_backend("cuda")
    for seed in range(POPULATIONS[name]):
        CASES[name](backend, np.random.default_rng([seed, 2]))
