"""The CPU back end: as many threads as the work is worth, and all of them back afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from numba import get_num_threads

from gpuga.kernels import cpu_backend
from gpuga.kernels.layout import Pool


def test_little_work_takes_one_thread_and_gives_the_others_back() -> None:
    allowed = get_num_threads()
    with cpu_backend._threads(cpu_backend._WORTH_SHARING - 1):
        assert get_num_threads() == 1
    assert get_num_threads() == allowed
    with cpu_backend._threads(cpu_backend._WORTH_SHARING):
        assert get_num_threads() == allowed


def test_a_fault_gives_the_threads_back_as_well() -> None:
    allowed = get_num_threads()
    with pytest.raises(ZeroDivisionError), cpu_backend._threads(1):
        raise ZeroDivisionError
    assert get_num_threads() == allowed


def test_a_union_counts_every_use_and_costs_every_cell_once() -> None:
    rng = np.random.default_rng(1)
    lists = [np.sort(rng.choice(70, size, replace=False)) for size in (0, 3, 8, 70)]
    start = np.concatenate([[0], np.cumsum([len(one) for one in lists])])
    pool = Pool.of(start, np.concatenate(lists), np.zeros(start[-1], np.int64))
    weights, base = rng.integers(1, 9, 70), rng.random(70) < 0.2
    chosen = np.array([[0, 1, 2], [1, 1, -1], [3, 2, 0]], np.int32)
    union = cpu_backend.create().union(pool, chosen, weights, base)
    for p, numbers in enumerate(chosen.tolist()):
        uses = np.zeros(70, np.int64)
        for number in numbers:
            if number >= 0:
                uses[lists[number]] += 1
        assert union.uses[p].tolist() == uses.tolist()
        assert union.costs[p] == weights[(uses > 0) & ~base].sum()
