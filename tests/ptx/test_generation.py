"""A generation on the device: few launches, little to the host, no new memory; the CPU goes on when memory is gone."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from gpuga.context import Context
from gpuga.evolution.run import Run
from gpuga.evolution.two_way_device import TwoWayDeviceKernels
from gpuga.evolution.two_way_kernels import TwoWayKernels
from gpuga.kernels.backend import BackendWarning
from gpuga.kernels.cuda_machine import Machine
from gpuga.parameters import CircuitsParameters
from gpuga.problem.problem import problem_for
from gpuga.problem.two_way import TwoWayProblem
from gpuga.table.generate import herrington

from .backend import ptx_backend
from .counting import CountingArrays

POPULATION, GENERATIONS = 128, 8
"""Smaller than a population of 4,096, because emitted PTX runs slowly here: launches do not depend on the size, bytes
grow with it at most in proportion."""

MOST_LAUNCHES, MOST_BYTES, FULL = 40, 1 << 20, 4096


@pytest.fixture(scope="module")
def problem() -> TwoWayProblem:
    context = Context()
    made = problem_for(herrington(20, 18, 0.04, 3), False, context.clock)
    assert isinstance(made, TwoWayProblem)
    return made


def new_run(problem: TwoWayProblem, kernels: Any) -> Run:
    parameters = CircuitsParameters(population=POPULATION, generations=GENERATIONS, without=("prover",))
    return Run(problem, kernels, Context(seed=5), parameters)


def run_of(problem: TwoWayProblem, kernels: Any) -> Run:
    run = new_run(problem, kernels)
    run.go()
    return run


def counted(arrays: CountingArrays, free: int = 2**24) -> Machine:
    """A machine that counts launches as well."""
    launch = ptx_backend("sm_80").launch

    def counting(name: str, blocks: int, *arguments: Any) -> None:
        arrays.counts["launches"] += blocks > 0
        launch(name, blocks, *arguments)

    return Machine(arrays, lambda: free, counting, lambda record: record)


def stays_on_the_device(run: Run, arrays: CountingArrays, size: int, generations: int) -> None:
    """Generations of a population of that size take few launches, few bytes and, from the fourth on, no new memory."""
    population = run.breeder.newcomers(size)
    for generation in range(generations):
        arrays.counts.clear()
        population = run.breeder.survive(population, run.breeder.vary(population, run.toolbox))
        counts = arrays.counts
        assert counts["launches"] + counts["copies"] <= MOST_LAUNCHES, counts
        assert counts["bytes to host"] * FULL <= MOST_BYTES * size, counts
        assert counts["allocations"] == 0 or generation < 3, counts
    assert len(population) > 0.9 * size


def state(run: Run) -> list[Any]:
    population = run.evolution.population
    return [population.costs.tolist(), population.unpacked(range(len(population))).tolist(), run.best().tolist()]


@pytest.fixture(scope="module")
def on_cpu(problem: TwoWayProblem) -> list[Any]:
    return state(run_of(problem, TwoWayKernels(problem, 1)))


def test_a_run_on_the_device_is_that_on_the_cpu(problem: TwoWayProblem, on_cpu: list[Any]) -> None:
    assert state(run_of(problem, TwoWayDeviceKernels(problem, 1, counted(CountingArrays())))) == on_cpu


def test_a_generation_has_few_launches_and_needs_no_new_memory(problem: TwoWayProblem) -> None:
    arrays = CountingArrays()
    run = new_run(problem, TwoWayDeviceKernels(problem, 1, counted(arrays)))
    stays_on_the_device(run, arrays, POPULATION, GENERATIONS)


@pytest.mark.parametrize(("limit", "left"), [(0, True), (200_000, True), (360_000, True), (1 << 20, False)])
def test_with_little_memory_few_blocks_do_the_work_and_with_less_the_cpu_after_one_warning(
    problem: TwoWayProblem, on_cpu: list[Any], limit: int, left: bool
) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", BackendWarning)
        kernels = TwoWayDeviceKernels(problem, 1, counted(CountingArrays(limit)))
        assert state(run_of(problem, kernels)) == on_cpu
    assert (kernels.device is None) == left
    assert left or kernels.workers < 16
    assert len([one for one in seen if issubclass(one.category, BackendWarning)]) == left


@pytest.mark.parametrize("last", [0, 3, 17, 40, 90])
def test_memory_may_be_gone_at_any_launch(problem: TwoWayProblem, on_cpu: list[Any], last: int) -> None:
    arrays = CountingArrays()
    machine, left = counted(arrays), [last]

    def failing(name: str, blocks: int, *arguments: Any) -> None:
        if left[0] == 0:
            raise MemoryError(name)
        left[0] -= 1
        machine.launch(name, blocks, *arguments)

    with pytest.warns(BackendWarning, match="the CPU goes on"):
        run = run_of(problem, TwoWayDeviceKernels(problem, 1, Machine(arrays, machine.free, failing, machine.ready)))
    assert state(run) == on_cpu
