"""Every back end says exactly what the NumPy oracle says, on thousands of random populations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numba import config, get_num_threads, set_num_threads

from gpuga.kernels import Backend, get_backend
from gpuga.kernels.probe import cuda_problem, simulated

from .cases import CASES
from .instances import pool_of, random_plane

# The oracle tries all boxes, which takes its time.
POPULATIONS = dict.fromkeys(CASES, 240) | {"box_costs": 60}

Check = Callable[[Backend, np.random.Generator], None]


@pytest.mark.parametrize("quarter", range(4))
@pytest.mark.parametrize("name", CASES)
def test_the_cpu_agrees_with_the_oracle(name: str, quarter: int) -> None:
    backend = get_backend("cpu")
    for seed in range(quarter, POPULATIONS[name], 4):
        CASES[name](backend, np.random.default_rng([seed, 1]))


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_the_device_agrees_with_the_oracle(name: str) -> None:
    problem = cuda_problem()
    if problem is not None:
        pytest.skip(problem)
    backend = get_backend("cuda")
    for seed in range(2 if simulated() else POPULATIONS[name]):  # a dry run
        CASES[name](backend, np.random.default_rng([seed, 2]))


@pytest.mark.gpu
@pytest.mark.parametrize("requirements", [1, 63, 64, 65, 130, 300])
def test_a_generation_on_the_device_is_that_of_the_cpu(requirements: int) -> None:
    problem = cuda_problem()
    if problem is not None:
        pytest.skip(problem)
    from gpuga.kernels.cuda_machine import this_machine

    from .device_cases import DEVICE_CASES, make_pair

    for seed in range(1 if simulated() else 20):
        for check in DEVICE_CASES.values():
            check(make_pair(this_machine(), requirements, seed))


@pytest.mark.gpu
def test_a_generation_of_general_tables_on_the_device_is_that_of_the_cpu() -> None:
    problem = cuda_problem()
    if problem is not None:
        pytest.skip(problem)
    from gpuga.kernels.cuda_machine import this_machine

    from .general_cases import TABLES, check_general

    for seed in range(1 if simulated() else 20):
        for name in TABLES:
            check_general(this_machine(), name, seed)


@pytest.mark.parametrize("name", ["numpy", "cpu"])
def test_empty_populations_and_tables_without_sensitive_cells_are_served(name: str) -> None:
    backend = get_backend(name)
    for patterns, requirements in ((0, 2), (2, 0), (0, 0)):
        case = random_plane(np.random.default_rng(3), (3, 4), count=patterns)
        chromosomes = np.full((patterns, requirements), -1, np.int32)
        made = backend.union(pool_of([]), chromosomes, case.weights, case.primary)
        assert made.costs.shape == (patterns,)
        assert backend.unpick(case.patterns, case.lines, case.up, case.down)[0].shape == (patterns, 12)


def test_the_number_of_threads_changes_nothing() -> None:
    """A population large enough to be shared out, on one thread and on two, against the oracle."""
    if config.NUMBA_NUM_THREADS < 2:
        pytest.skip("numba may use 1 thread here")
    case = random_plane(np.random.default_rng(8), (12, 13), count=150)
    backend, before = get_backend("cpu"), get_num_threads()
    rooms = []
    try:
        for threads in (1, 2):
            set_num_threads(threads)
            rooms.append(backend.unpick(case.patterns, case.lines, case.up, case.down))
    finally:
        set_num_threads(before)
    expected = get_backend("numpy").unpick(case.patterns[:3], case.lines, case.up, case.down)
    for one, two, wanted in zip(*rooms, expected, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one[:3], wanted)
