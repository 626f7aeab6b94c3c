"""Every back end says exactly what the NumPy oracle says, on thousands of random populations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numba import config, get_num_threads, set_num_threads

from gpuga.kernels import Backend, Pool, Tasks, get_backend
from gpuga.kernels.probe import cuda_problem

from .cases import CASES
from .instances import random_plane, random_tasks

# The oracle cleans up by full re-checks and tries all boxes, which takes its time.
POPULATIONS = dict.fromkeys(CASES, 240) | {"remove_redundant": 60, "cheapest_boxes": 60, "box_costs": 60}

Check = Callable[[Backend, np.random.Generator], None]


@pytest.mark.parametrize("quarter", range(4))
@pytest.mark.parametrize("name", CASES)
def test_the_cpu_agrees_with_the_oracle(name: str, quarter: int) -> None:
    backend = get_backend("cpu")
    for seed in range(quarter, POPULATIONS[name], 4):
        CASES[name](backend, np.random.default_rng([seed, 1]))


@pytest.mark.parametrize("shape", [(8, 9), (3, 66)])
def test_levels_beyond_the_sixty_fourth_are_judged_like_the_others(shape: tuple[int, int]) -> None:
    """Fifty sensitive cells are a hundred levels: more than one word of 64 tasks."""
    oracle, backend = get_backend("numpy"), get_backend("cpu")
    verdicts = []
    for seed in range(3):
        rng = np.random.default_rng([seed, 64])
        case = random_plane(rng, shape, count=2)
        tasks = random_tasks(rng, case.plane.cells, 50)
        patterns = rng.random((2, case.plane.cells)) < [[0.5], [0.8]]
        patterns[:, tasks.cell] = True
        expected = oracle.safe(patterns, case.plane, tasks)
        np.testing.assert_array_equal(backend.safe(patterns, case.plane, tasks), expected)
        np.testing.assert_array_equal(
            backend.reachability(patterns, case.plane, tasks), oracle.reachability(patterns, case.plane, tasks)
        )
        verdicts.append(expected[:, 64:])
    assert 0.1 < np.mean(verdicts) < 0.9


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_the_device_agrees_with_the_oracle(name: str) -> None:
    problem = cuda_problem()
    if problem is not None:
        pytest.skip(problem)
    backend = get_backend("cuda")
    for seed in range(POPULATIONS[name]):
        CASES[name](backend, np.random.default_rng([seed, 2]))


@pytest.mark.parametrize("name", ["numpy", "cpu"])
def test_empty_populations_and_tables_without_sensitive_cells_are_served(name: str) -> None:
    backend = get_backend(name)
    for patterns, tasks in ((0, 2), (2, 0), (0, 0)):
        case = random_plane(np.random.default_rng(3), (3, 4), count=patterns)
        wanted = Tasks.of(np.arange(tasks), np.ones(tasks), np.ones(tasks))
        items = np.zeros((0, 2), np.int32)
        chromosomes = np.full((patterns, tasks), -1, np.int32)
        pool = Pool.from_lists([])
        assert backend.safe(case.patterns, case.plane, wanted).shape == (patterns, tasks)
        assert backend.reachability(case.patterns, case.plane, wanted).shape == (patterns, tasks)
        assert backend.quick_unsafe(case.patterns, case.lines, case.up, case.down, wanted).shape == (patterns, tasks)
        assert backend.circuits_whole(case.patterns, pool, chromosomes).shape == (patterns, tasks)
        assert backend.line_totals(case.patterns, case.lines, case.weights)[0].shape == (patterns, 7)
        cleaned = backend.remove_redundant(case.patterns, case.plane, wanted, case.weights, case.primary)
        assert backend.unpack(cleaned).shape == (patterns, 12)
        made = backend.union(pool, chromosomes, case.weights, case.primary)
        assert made.costs.shape == (patterns,)
        assert backend.swap_gains(pool, chromosomes, made.uses, case.weights, case.primary, items).shape == (0, tasks)
        assert len(backend.cheapest_rectangles(case.patterns, case.plane, wanted, case.weights, items).row) == 0
        assert len(backend.cheapest_paths(case.patterns, case.plane, wanted, case.weights, items).pool) == 0
        assert backend.unpick(case.patterns, case.lines, case.up, case.down)[0].shape == (patterns, 12)
    assert len(backend.random(1, 2, 3, 0)) == 0


def test_the_number_of_threads_changes_nothing() -> None:
    """A population large enough to be shared out, on one thread and on two, against the oracle."""
    if config.NUMBA_NUM_THREADS < 2:
        pytest.skip("numba may use 1 thread here")
    case = random_plane(np.random.default_rng(8), (12, 13), count=150)
    tasks = random_tasks(np.random.default_rng(9), case.plane.cells, 12)
    backend, before = get_backend("cpu"), get_num_threads()
    safe, cleaned = [], []
    try:
        for threads in (1, 2):
            set_num_threads(threads)
            safe.append(backend.safe(case.patterns, case.plane, tasks))
            kept = backend.remove_redundant(case.patterns[:20], case.plane, tasks, case.weights, case.primary)
            cleaned.append(backend.unpack(kept))
    finally:
        set_num_threads(before)
    np.testing.assert_array_equal(*safe)
    np.testing.assert_array_equal(*cleaned)
    np.testing.assert_array_equal(safe[0], get_backend("numpy").safe(case.patterns, case.plane, tasks))
