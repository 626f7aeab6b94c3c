"""What all operations on a device share: sizes of arrays, scratch that fits, patterns not copied without need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuga.kernels.backend import BackendWarning
from gpuga.kernels.crossing import Crossing
from gpuga.kernels.cuda_machine import Machine
from gpuga.kernels.layout import plane_lines
from gpuga.kernels.on_device import OnDevice


class Plain(OnDevice):
    """A table of 4x5 cells in one row, on a machine that notes what is launched."""

    least = 4

    def __init__(self, free: int = 2**20) -> None:
        self.launched: list[tuple[str, int]] = []
        self.crossing = Crossing(plane_lines(4, 5), np.ones(20, np.int64), np.zeros(9, bool))
        self.words, self.columns = (1, 1), 20
        self.device = Machine(np, lambda: free, self._note, lambda record: record)

    def _note(self, name: str, blocks: int, *arguments: Any) -> None:
        self.launched.append((name, blocks))


def test_arrays_have_room_for_a_power_of_two_of_patterns() -> None:
    work = Plain()
    assert [work._capacity(count) for count in (0, 1, 4, 5, 8, 9, 1000)] == [4, 4, 4, 8, 8, 16, 1024]
    assert work._rows(work.device, 5).base.shape == (8, 1, 1)


def test_neighbours_are_taken_where_they_lie_and_others_gathered_in_one_launch() -> None:
    work = Plain()
    bits = np.arange(9, dtype=np.uint64).reshape(9, 1, 1)
    assert np.shares_memory(work._gathered(work.device, bits, np.array([3, 4, 5])), bits)
    assert work._gathered(work.device, bits, np.zeros(0, np.int64)).shape == (0, 1, 1)
    assert work.launched == []
    assert work._gathered(work.device, bits, np.array([5, 3])).shape == (2, 1, 1)
    assert work.launched == [("gather", 1)]


def test_scratch_takes_half_of_what_is_free_and_is_halved_until_it_fits() -> None:
    tried = []

    def make(workers: int) -> int:
        tried.append(workers)
        if workers > 10:
            raise MemoryError
        return workers

    work = Plain(free=2 * 50 * (100 + 16 * 9))
    assert work._scratch(work.device, 100, make) == work.workers == 7
    assert tried == [50, 25, 13, 7]


def test_where_one_worker_does_not_fit_the_cpu_goes_on() -> None:
    def make(workers: int) -> int:
        raise MemoryError

    work = Plain()
    with pytest.warns(BackendWarning, match="the CPU goes on"):
        assert work._attempt(lambda device: work._scratch(device, 100, make)) is None
    assert work.device is None
    assert work._attempt(lambda device: 1) is None


def test_costs_and_digests_of_the_same_patterns_are_one_launch() -> None:
    work = Plain()
    bits = np.zeros((3, 1, 1), np.uint64)
    for _ in range(2):
        work._price(work.device, bits)
    work._price(work.device, bits.copy())
    assert work.launched == [("price", 1)] * 2
