"""A generation of a general table on the device: few launches, little to the host, no new memory, the CPU's results."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from gpuga.context import Clock, Context
from gpuga.evolution.general_device import GeneralDeviceKernels
from gpuga.evolution.general_kernels import GeneralKernels
from gpuga.evolution.run import Run
from gpuga.kernels.backend import BackendWarning
from gpuga.kernels.cuda_machine import Machine
from gpuga.parameters import CircuitsParameters
from gpuga.problem.general import GeneralProblem
from gpuga.table.generate import smith3d

from .counting import CountingArrays
from .test_generation import counted, state, stays_on_the_device

PLENTY = 2**30
"""Bytes that hold the scratch of a worker for each of 128 individuals; they are touched only where they are used.

Populations are smaller than 4,096: emitted PTX takes some 20 ms for a child of the table here, which does not have as
many different patterns, and longer for those of tables that do. Launches do not depend on the size, bytes grow with it
at most in proportion.
"""


@pytest.fixture(scope="module")
def problem() -> GeneralProblem:
    return GeneralProblem.of(smith3d((6, 6, 5), 0.15, 0.1, 3))


def new_run(problem: GeneralProblem, kernels: Any, population: int) -> Run:
    given = CircuitsParameters(population=population, generations=3, without=("prover", "programs"))
    return Run(problem, kernels, Context(seed=5), given)


def run_of(problem: GeneralProblem, kernels: Any) -> Run:
    run = new_run(problem, kernels, 24)
    run.go()
    return run


@pytest.fixture(scope="module")
def on_cpu(problem: GeneralProblem) -> list[Any]:
    return state(run_of(problem, GeneralKernels(problem, Clock())))


def test_a_run_on_the_device_is_that_on_the_cpu_with_its_proof(problem: GeneralProblem, on_cpu: list[Any]) -> None:
    there = run_of(problem, GeneralDeviceKernels(problem, Clock(), counted(CountingArrays(), PLENTY)))
    here = run_of(problem, GeneralKernels(problem, Clock()))
    assert state(there) == state(here) == on_cpu
    proofs = [run.found().proof for run in (there, here)]
    assert proofs[0] is not None
    for one, other in zip(*(vars(proof).values() for proof in proofs), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("size", "free"), [(128, PLENTY), pytest.param(512, 2**33, marks=pytest.mark.slow)])
def test_a_generation_has_few_launches_and_needs_no_new_memory(problem: GeneralProblem, size: int, free: int) -> None:
    arrays = CountingArrays()
    kernels = GeneralDeviceKernels(problem, Clock(), counted(arrays, free))
    assert kernels.threads >= size
    stays_on_the_device(new_run(problem, kernels, size), arrays, size, 5)


@pytest.mark.parametrize("last", [0, 3, 17, 40, 90])
def test_memory_may_be_gone_at_any_launch(problem: GeneralProblem, on_cpu: list[Any], last: int) -> None:
    arrays = CountingArrays()
    machine, left = counted(arrays, PLENTY), [last]

    def failing(name: str, blocks: int, *arguments: Any) -> None:
        if left[0] == 0:
            raise MemoryError(name)
        left[0] -= 1
        machine.launch(name, blocks, *arguments)

    kernels = GeneralDeviceKernels(problem, Clock(), Machine(arrays, machine.free, failing, machine.ready))
    with pytest.warns(BackendWarning, match="the CPU goes on"):
        run = run_of(problem, kernels)
    assert kernels.device is None
    assert state(run) == on_cpu


@pytest.mark.parametrize("limit", [0, 500_000, 4_000_000])
def test_with_less_memory_than_a_population_takes_the_cpu_goes_on_after_one_warning(
    problem: GeneralProblem, on_cpu: list[Any], limit: int
) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", BackendWarning)
        kernels = GeneralDeviceKernels(problem, Clock(), counted(CountingArrays(limit), PLENTY))
        assert state(run_of(problem, kernels)) == on_cpu
    assert kernels.device is None
    assert len([one for one in seen if issubclass(one.category, BackendWarning)]) == 1
