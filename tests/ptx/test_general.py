"""General tables on a device: emitted PTX says what the CPU says, which goes on when memory is gone; time ends work."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from gpuga.kernels.backend import BackendWarning
from gpuga.kernels.cuda_machine import Machine
from gpuga.kernels.general import GeneralCpu
from gpuga.kernels.general_cuda import GeneralCuda
from tests.kernels.general_cases import TABLES, check_general
from tests.kernels.test_general import CUBE, arguments

from .backend import SCHEDULES, ptx_backend, ptx_machine
from .counting import CountingArrays


@pytest.mark.parametrize("name", TABLES)
def test_emitted_ptx_of_a_general_generation_is_that_of_the_cpu(name: str) -> None:
    for number, (order, preempt) in enumerate(SCHEDULES):
        device = check_general(ptx_machine("sm_80", order, preempt, number), name, number)
        assert device.device is not None


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_90", "sm_100", "sm_120"])
def test_the_other_architectures_agree_as_well(arch: str) -> None:
    for number, name in enumerate(TABLES):
        check_general(ptx_machine(arch), name, 10 + number)


def counted(arrays: CountingArrays, last: int | None = None) -> Machine:
    """A machine with a pool of memory whose launches fail after the last one."""
    launch, left = ptx_backend("sm_80").launch, [last]

    def counting(name: str, blocks: int, *arguments: Any) -> None:
        arrays.counts["launches"] += 1
        if left[0] is not None and arrays.counts["launches"] > left[0]:
            raise MemoryError(name)
        launch(name, blocks, *arguments)

    return Machine(arrays, lambda: 2**24, counting, lambda record: record)


@pytest.mark.parametrize(("limit", "last"), [(0, None), (200_000, None), (None, 0), (None, 2)])
def test_where_memory_is_gone_the_cpu_goes_on_after_one_warning(limit: int | None, last: int | None) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", BackendWarning)
        device = check_general(counted(CountingArrays(limit), last), "cube", 3)
    assert device.device is None
    assert len([one for one in seen if issubclass(one.category, BackendWarning)]) == 1


def test_with_little_memory_few_blocks_do_the_work() -> None:
    plenty = check_general(counted(CountingArrays()), "cube", 3)
    device = check_general(counted(CountingArrays(600_000)), "cube", 3)
    assert device.device is not None
    assert 0 < device.workers < plenty.workers


def test_a_batch_is_one_launch_and_only_individuals_move() -> None:
    arrays = CountingArrays()
    given = arguments(CUBE, 5)
    device = GeneralCuda(*given, machine=counted(arrays))
    full, genes = np.ones((6, device.cells), bool), device.no_genes(6)
    device.prove(full, genes)
    arrays.counts.clear()
    device.prove(full, genes)
    moved = full.size + sum(part.nbytes for part in genes)
    assert arrays.counts["launches"] == 1
    assert arrays.counts["bytes to host"] == moved + 6
    assert arrays.counts["bytes to device"] < 2 * moved


def test_when_time_has_ended_nothing_more_is_decoded() -> None:
    given = arguments(CUBE, 6)
    host, device = GeneralCpu(*given), GeneralCuda(*given, machine=ptx_machine("sm_80"))
    none, zeros = np.zeros((3, host.cells), bool) | host.forced, np.zeros(3)
    for halted in (1, 0):
        found = []
        for engine in (host, device):
            engine.table.halt[0] = halted
            patterns, _, done = engine.decode(none, none, none, zeros + 7, zeros, np.ones(host.cells))
            found.append((patterns.tolist(), done.tolist()))
        assert found[0] == found[1]
        assert found[0][1] == [not halted] * 3
