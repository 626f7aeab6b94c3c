"""The PTX that the compilers emit, executed on the CPU, agrees with the oracle under every schedule of threads."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.cases import CASES
from tests.kernels.device_cases import DEVICE_CASES, REQUIREMENTS, make_pair

from .backend import SCHEDULES, ptx_backend, ptx_machine
from .toolchain import CAPABILITIES, quick

OPERATIONS = [(arch, name) for name in CASES for arch in quick(name)]
OTHER_OPERATIONS = [(arch, name) for name in CASES for arch in CAPABILITIES if (arch, name) not in OPERATIONS]


@pytest.mark.parametrize(("arch", "name"), OPERATIONS)
def test_emitted_ptx_agrees_with_the_oracle(arch: str, name: str) -> None:
    for number, (order, preempt) in enumerate(SCHEDULES):
        backend = ptx_backend(arch, order, preempt, seed=number)
        for seed in range(2):
            CASES[name](backend, np.random.default_rng([seed, number, 4]))


LAUNCHED = {
    "tight_flows": "judge", "tight_decode": "decode", "safe": "judge", "learning": "judge",
    "safe_of_relatives": "judge", "patterns": "judge",
}  # fmt: skip
"""The largest kernel that a case launches, where it is not named after it."""

DEFAULT = [(arch, name) for name in DEVICE_CASES for arch in quick(LAUNCHED.get(name, name))]
OTHERS = [(arch, name) for name in DEVICE_CASES for arch in CAPABILITIES if (arch, name) not in DEFAULT]


@pytest.mark.parametrize(("arch", "name"), DEFAULT)
def test_a_generation_of_emitted_ptx_is_that_of_the_cpu(arch: str, name: str) -> None:
    for number, (order, preempt) in enumerate(SCHEDULES):
        for requirements in REQUIREMENTS[number % 2 :: 2]:
            DEVICE_CASES[name](make_pair(ptx_machine(arch, order, preempt, number), requirements, number, count=4))


@pytest.mark.slow
@pytest.mark.parametrize(("arch", "name"), OTHER_OPERATIONS)
def test_emitted_ptx_of_the_other_architectures_agrees_as_well(arch: str, name: str) -> None:
    for number, (order, preempt) in enumerate(SCHEDULES):
        CASES[name](ptx_backend(arch, order, preempt, seed=number), np.random.default_rng([number, 5]))


@pytest.mark.slow
@pytest.mark.parametrize(("arch", "name"), OTHERS)
def test_a_generation_of_the_other_architectures_is_that_of_the_cpu_as_well(arch: str, name: str) -> None:
    for number, (order, preempt) in enumerate(SCHEDULES):
        requirements = REQUIREMENTS[number]
        DEVICE_CASES[name](make_pair(ptx_machine(arch, order, preempt, number), requirements, 20 + number, count=4))
