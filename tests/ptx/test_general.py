"""General tables on a device: emitted PTX says what the CPU says, which goes on when memory is gone; time ends work."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from gpuga.kernels.backend import BackendWarning
from gpuga.kernels.cuda_machine import Machine
from tests.kernels.general_cases import BORDERS, POPULATIONS, TABLES, check_general, check_population, general_pair

from .backend import SCHEDULES, ptx_backend, ptx_machine
from .counting import CountingArrays


@pytest.mark.parametrize("name", TABLES)
def test_emitted_ptx_of_a_general_generation_is_that_of_the_cpu(name: str) -> None:
    for number, (order, preempt) in enumerate(SCHEDULES):
        device = check_general(ptx_machine("sm_80", order, preempt, number), name, number)
        assert device.device is not None


@pytest.mark.parametrize("name", BORDERS)
def test_patterns_that_end_at_the_border_of_a_word_are_those_of_the_cpu(name: str) -> None:
    check_general(ptx_machine("sm_80"), name, 7)
    for number, (order, preempt) in enumerate(SCHEDULES):
        for count in POPULATIONS:
            check_population(ptx_machine("sm_80", order, preempt, number), name, number, count)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_90", "sm_100", "sm_120"])
def test_the_other_architectures_agree_as_well(arch: str) -> None:
    for number, name in enumerate([*TABLES, *BORDERS]):
        check_general(ptx_machine(arch), name, 10 + number)
        check_population(ptx_machine(arch), name, 10 + number, 65)


FEW = 8_000_000
"""Bytes that hold the scratch of some workers and a few individuals."""


def counted(arrays: CountingArrays, last: int | None = None) -> Machine:
    """A machine with a pool of memory whose launches fail after the last one."""
    launch, left = ptx_backend("sm_80").launch, [last]

    def counting(name: str, blocks: int, *arguments: Any) -> None:
        arrays.counts["launches"] += 1
        if left[0] is not None and arrays.counts["launches"] > left[0]:
            raise MemoryError(name)
        launch(name, blocks, *arguments)

    return Machine(arrays, lambda: 2**24, counting, lambda record: record)


@pytest.mark.parametrize(
    ("limit", "last"), [(0, None), (200_000, None), (600_000, None), *((None, last) for last in range(0, 8, 2))]
)
def test_where_memory_is_gone_the_cpu_goes_on_after_one_warning(limit: int | None, last: int | None) -> None:
    for check in (check_general, check_population):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", BackendWarning)
            device = check(counted(CountingArrays(limit), last), "cube", 3)
        assert device.device is None
        assert len([one for one in seen if issubclass(one.category, BackendWarning)]) == 1


def test_with_little_memory_few_blocks_do_the_work() -> None:
    plenty = check_general(counted(CountingArrays()), "cube", 3)
    for limited in (False, True):
        device = check_general(counted(CountingArrays(FEW)), "cube", 3, limited=limited)
        assert device.device is not None
        assert 0 < device.workers < plenty.workers


@pytest.mark.parametrize("limited", [False, True])
def test_individuals_stay_and_only_verdicts_come_back(limited: bool) -> None:
    arrays = CountingArrays()
    device = general_pair(counted(arrays), "cube", 5, limited).device
    device.workers = 4
    full = device.brought(np.ones((6, device.columns), bool))
    device.prove(full)
    arrays.counts.clear()
    device.prove(full)
    assert arrays.counts["launches"] == (3 if limited else 2)  # certificates of its own, then the work
    assert arrays.counts["bytes to host"] == 6
    assert arrays.counts["bytes to device"] == 6 * (3 * 8 + 4)  # numbers of each individual, and its row
    assert arrays.counts["allocations"] == 0


def test_when_time_has_ended_nothing_more_is_decoded() -> None:
    pair = general_pair(ptx_machine("sm_80"), "cube", 6)
    host, device, zeros = pair.host, pair.device, np.zeros(3)
    none, nothing = np.tile(host.forced, (3, 1)), device.nothing(3)
    for halted in (1, 0):
        host.table.halt[0] = halted
        here, _, done = host.decode(none, none, none, zeros + 7, zeros, 0)
        there, possible = device.decode(nothing, nothing, nothing, zeros + 7, zeros, 0)
        assert device.flags(there).tolist() == here.tolist()
        assert possible.tolist() == done.tolist() == [not halted] * 3
