"""The CUDA kernels in numba's simulator, in a process of its own: the simulator is chosen when numba is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .device_cases import DEVICE_CASES, REQUIREMENTS

ROOT = Path(__file__).parents[2]

SCRIPT = """
import sys, warnings
import numpy as np
from gpuga.kernels import get_backend
from gpuga.kernels.cuda_backend import CudaBackend
from tests.kernels.cases import CASES

backend = get_backend("cuda")
assert isinstance(backend, CudaBackend) and backend.xp is np
tight = CudaBackend(np, lambda: 1, slots=128)  # no free memory: batches of one pattern
for name, check in CASES.items():
    check(backend, np.random.default_rng([0, 3]))
    if name in ("box_costs", "unpick"):
        check(tight, np.random.default_rng([9, 3]))
    print("agrees:", name)
"""


def test_the_cuda_kernels_agree_with_the_oracle_in_the_simulator() -> None:
    from .cases import CASES

    environment = dict(os.environ, NUMBA_ENABLE_CUDASIM="1", PYTHONPATH=str(ROOT))
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.splitlines() == [f"agrees: {name}" for name in CASES]


GENERATION = """
import sys
import numpy as np
from gpuga.kernels.cuda_machine import Machine, this_machine
from tests.kernels.device_cases import DEVICE_CASES, make_pair

machine = this_machine()
assert machine.xp is np
tight = Machine(np, lambda: 1)  # one worker has to do all patterns, one after the other
for seed, requirements in enumerate(map(int, sys.argv[1:])):
    for name, check in DEVICE_CASES.items():
        pair = make_pair(tight if seed % 2 else machine, requirements, seed)
        assert pair.device.workers == 1 or not seed % 2
        check(pair)
        assert pair.device.device is not None
        print("agrees:", name, requirements, flush=True)
"""


@pytest.mark.parametrize("asked", [(64, 1), pytest.param(REQUIREMENTS, marks=pytest.mark.slow)])
def test_a_generation_in_the_simulator_is_that_of_the_cpu(asked: tuple[int, ...]) -> None:
    environment = dict(os.environ, NUMBA_ENABLE_CUDASIM="1", PYTHONPATH=str(ROOT))
    run = subprocess.run(
        [sys.executable, "-c", GENERATION, *map(str, asked)],
        env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.splitlines() == [f"agrees: {name} {number}" for number in asked for name in DEVICE_CASES]


GENERAL = """
import numpy as np
from gpuga.kernels.cuda_machine import Machine, this_machine
from tests.kernels.general_cases import BORDERS, TABLES, check_general, check_population

for number, name in enumerate([*TABLES, *BORDERS]):
    tight = Machine(np, lambda: 1)  # one worker has to do all individuals; in limited time a launch for each
    device = check_general(tight if number % 2 else this_machine(), name, number, limited=number == 1)
    assert device.device is not None and (device.workers == 1 or not number % 2)
    assert check_population(tight if number % 2 else this_machine(), name, number, 5).device is not None
    print("agrees:", name, flush=True)
"""


def test_a_generation_of_general_tables_in_the_simulator_is_that_of_the_cpu() -> None:
    from .general_cases import BORDERS, TABLES

    environment = dict(os.environ, NUMBA_ENABLE_CUDASIM="1", PYTHONPATH=str(ROOT))
    run = subprocess.run([sys.executable, "-c", GENERAL], env=environment, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.splitlines() == [f"agrees: {name}" for name in [*TABLES, *BORDERS]]


POPULATION = """
import sys
from gpuga.kernels.cuda_machine import this_machine
from tests.kernels.device_cases import DEVICE_CASES, make_pair
from tests.kernels.general_cases import check_population

for name, check in DEVICE_CASES.items():
    check(make_pair(this_machine(), 5, 3, int(sys.argv[1])))
    print("agrees:", name, flush=True)
check_population(this_machine(), "65 cells", 3, int(sys.argv[1]))
print("agrees: general", flush=True)
"""


@pytest.mark.parametrize("count", [1, pytest.param(300, marks=pytest.mark.slow)])
def test_a_population_of_any_size_in_the_simulator_is_that_of_the_cpu(count: int) -> None:
    environment = dict(os.environ, NUMBA_ENABLE_CUDASIM="1", PYTHONPATH=str(ROOT))
    run = subprocess.run(
        [sys.executable, "-c", POPULATION, str(count)], env=environment, capture_output=True, text=True, timeout=900
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.splitlines() == [f"agrees: {name}" for name in [*DEVICE_CASES, "general"]]


RUN = """
import sys
import gpuga
from gpuga.table.generate import herrington

table = herrington(9, 8, 0.06, 2)
options = {"population": 12, "generations": 2, "without": ("prover",)}
if sys.argv[1] != "circuits":
    options = {"population": 4, "generations": 2}
there = gpuga.protect(table, sys.argv[1], device=0, seed=3, options=options)
here = gpuga.protect(table, sys.argv[1], backend="cpu", seed=3, options=options)
print(there.backend, there.device, here.device, (there.suppressed == here.suppressed).all(), there.cost == here.cost)
"""


@pytest.mark.parametrize("method", ["circuits", "gapn", "heurgene"])
def test_a_whole_run_in_the_simulator_is_that_of_the_cpu(method: str) -> None:
    environment = dict(os.environ, NUMBA_ENABLE_CUDASIM="1", PYTHONPATH=str(ROOT))
    run = subprocess.run(
        [sys.executable, "-c", RUN, method], env=environment, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.split() == ["cuda", "0", "(simulator)", "None", "True", "True"]


FILES = """
import sys
from pathlib import Path
from gpuga.cli.main import run
from gpuga.kernels import cuda_kernels

launched, compiled = set(), cuda_kernels.compiled
cuda_kernels.compiled = lambda name: launched.add(name) or compiled(name)
table, folder = sys.argv[1], Path(sys.argv[2])
for backend in ("cuda", "cpu"):
    given = ["--population", "6", "--generations", "3", "--seed", "4", "--backend", backend, "--quiet"]
    code = run(["protect", table, "--out", str(folder / f"{backend}.csv"), "--proof", str(folder / backend), *given])
    print(backend, code, *sorted(launched & {"decode", "general"}), flush=True)
    launched.clear()
"""

GENERATED = {
    "two-way": ["herrington", "--rows", "9", "--cols", "8", "--sensitive", "6%"],
    "three-way": ["smith3d", "--shape", "5x4x4", "--sensitive", "0.1", "--zeros", "0.1"],
    "hierarchical": ["smith3d", "--shape", "7x4x4", "--sensitive", "0.1", "--zeros", "0.1", "--hierarchical", "1"],
}


@pytest.mark.parametrize("kind", GENERATED)
def test_a_pattern_and_its_proof_are_the_same_files_on_both_back_ends(kind: str, tmp_path: Path) -> None:
    from gpuga.cli.main import run as program

    table = tmp_path / "table.jj"
    assert program(["generate", *GENERATED[kind], "--seed", "2", "--out", str(table)]) == 0
    environment = dict(os.environ, NUMBA_ENABLE_CUDASIM="1", PYTHONPATH=str(ROOT))
    run = subprocess.run(
        [sys.executable, "-c", FILES, str(table), str(tmp_path)], env=environment, capture_output=True, text=True,
        timeout=900,
    )  # fmt: skip
    kernel = "decode" if kind == "two-way" else "general"
    assert run.stdout.splitlines() == [f"cuda 0 {kernel}", "cpu 0"], run.stderr[-3000:]
    for there, here in (("cuda.csv", "cpu.csv"), ("cuda", "cpu")):
        assert (tmp_path / there).read_bytes() == (tmp_path / here).read_bytes()
