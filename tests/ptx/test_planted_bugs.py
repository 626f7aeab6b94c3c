"""Bugs planted in the kernels and in their logic are caught: the executor reports them or the answer is wrong.

Each bug is put into a copy of the package; the copy's kernel is compiled to PTX and executed in place of the real one.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gpuga.kernels import cuda_kernels
from gpuga.kernels.cuda_backend import CudaBackend
from gpuga.kernels.cuda_machine import Machine
from tests.kernels.cases import CASES
from tests.kernels.device_cases import DEVICE_CASES, REQUIREMENTS, make_pair
from tests.kernels.general_cases import BORDERS, TABLES, check_general, check_population

from .backend import SCHEDULES, executable
from .toolchain import LONG_TO_COMPILE
from .translate import PtxError

PACKAGE = Path(cuda_kernels.__file__).parent
SEEDS = 10


@dataclass(frozen=True)
class Bug:
    """What is changed where, the kernel it shows in and the check that must notice it."""

    what: str
    file: str
    right: str
    wrong: str
    kernel: str
    case: str

    @property
    def slow(self) -> bool:
        """Is it left to the slow tests: because its kernel takes long, or because another bug is much like it?"""
        return self.kernel in LONG_TO_COMPILE or self.what in ALIKE


ALIKE = {
    "a cell that is never paid for": "a pattern that keeps what the order before it suppressed",
    "judged flow that cannot be taken back": "judged flow that uses nothing up",
    "a cell protects itself": "judged flow that uses nothing up",
    "a support that is half overwritten": "the last cell of a support is not looked at",
    "supports of another requirement": "the last cell of a support is not looked at",
}
"""Bugs of the same kernel, and of the same part of its logic, as one that every test run plants."""

BUGS = [
    Bug(
        "missing barrier between counting uses and reading them", "cuda_kernels.py",
        "            t += step\n        cuda.syncthreads()\n", "            t += step\n", "union", "union",
    ),
    Bug(
        "lost atomic on the use counts", "cuda_kernels.py", "cuda.atomic.add(uses, (p, cell[e]), 1)",
        "uses[p, cell[e]] += 1", "union", "union",
    ),
    Bug(
        "lost atomic on the shared cost", "cuda_kernels.py", "cuda.atomic.add(total, 0, cost)", "total[0] += cost",
        "union", "union",
    ),
    Bug("wrong shift", "logic/bits.py", "np.uint64(j & 63)", "np.uint64(j & 31)", "tighten", "unpick"),
    Bug(
        "off by one at a word boundary", "logic/circuits.py", "min(columns, w * 64 + 64)", "min(columns, w * 64 + 63)",
        "union", "union",
    ),
    Bug(
        "one word too many", "cuda_kernels.py", "while w < base.shape[0] * base.shape[1]:",
        "while w <= base.shape[0] * base.shape[1]:", "union", "union",
    ),
    Bug(
        "missing barrier between filling a histogram and reading it", "cuda_kernels.py",
        "            cell += cuda.blockDim.x\n        cuda.syncthreads()\n", "            cell += cuda.blockDim.x\n",
        "rare_weights", "rare_weights",
    ),
    Bug(
        "lost atomic on a histogram", "cuda_kernels.py", "cuda.atomic.add(histogram, (job, at), count[cell])",
        "histogram[job, at] += count[cell]", "rare_weights", "rare_weights",
    ),
    Bug(
        "one cell too many", "cuda_kernels.py", "while x < fall.shape[0] * cells:", "while x <= fall.shape[0] * cells:",
        "tighten", "unpick",
    ),
    Bug(
        "narrower intervals are not counted", "cuda_kernels.py", "cuda.atomic.add(changed, 0, 1)",
        "cuda.atomic.add(changed, 0, 0)", "tighten", "unpick",
    ),
    Bug(
        "a pattern that keeps what the order before it suppressed", "cuda_kernels.py",
        "hidden[slot, cell] = pattern[cell]", "hidden[slot, cell] |= pattern[cell]", "box_costs", "box_costs",
    ),
    Bug("a cell that is never paid for", "logic/boxes.py", "hidden[scratch.place[at]] = 1",
        "hidden[scratch.place[at]] = 0",
        "box_costs", "box_costs"),
    Bug(
        "missing barrier before a pattern is worked on", "cuda_kernels.py",
        "        x += cuda.blockDim.x\n    cuda.syncthreads()\n\n\ndef decode",
        "        x += cuda.blockDim.x\n\n\ndef decode",
        "clean", "clean",
    ),
    Bug(
        "two blocks share their scratch", "cuda_kernels.py",
        "judge_at(tables, room, bits, safe, cuda.blockIdx.x, p)", "judge_at(tables, room, bits, safe, 0, p)",
        "judge", "safe",
    ),
    Bug("flow that uses nothing up", "logic/augment.py", "        net.room[h] -= amount\n", "", "clean", "clean"),
    Bug("judged flow that uses nothing up", "logic/augment.py", "        net.room[h] -= amount\n", "", "judge",
        "tight_flows"),
    Bug("judged flow that cannot be taken back", "logic/augment.py", "        net.room[h ^ 1] += amount\n", "", "judge",
        "tight_flows"),
    Bug("decoded flow that uses nothing up", "logic/augment.py", "        net.room[h] -= amount\n", "", "decode",
        "tight_decode"),
    Bug("decoded flow that cannot be taken back", "logic/augment.py", "        net.room[h ^ 1] += amount\n", "",
        "decode", "tight_decode"),
    Bug(
        "a cell protects itself", "logic/augment.py", "    net.room[2 * own] = 0\n    net.room[2 * own + 1] = 0\n", "",
        "judge", "safe",
    ),
    Bug(
        "a cell that is cleaned up protects itself", "logic/spread.py",
        "            flood.opened[2 * e, t >> 6] &= ~single\n", "", "clean", "clean",
    ),
    Bug(
        "missing barrier between looking supports up and asking for the rest", "cuda_kernels.py",
        "            t += cuda.blockDim.x\n        cuda.syncthreads()\n", "            t += cuda.blockDim.x\n",
        "judge", "safe_of_relatives",
    ),
    Bug(
        "a support that is half overwritten", "logic/supports.py", "    supports.place[t, k, 0] = 0\n", "", "judge",
        "learning",
    ),
    Bug(
        "the last cell of a support is not looked at", "logic/supports.py", "if length > 0 and x > length:",
        "if length > 0 and x >= length:", "judge", "learning",
    ),
    Bug(
        "supports of another requirement", "logic/judge.py", "holds_one(scratch.supports, rows, shift, t)",
        "holds_one(scratch.supports, rows, shift, t ^ 1)", "judge", "safe_of_relatives",
    ),
    Bug(
        "two vectors in one place", "logic/workers.py", "Lists(cells[2], cells_long[1])",
        "Lists(cells[1], cells_long[1])", "clean", "clean",
    ),
    Bug(
        "two individuals share their working memory", "cuda_kernels.py",
        "one_at(table, states, patterns, genes, jobs, work, cuda.blockIdx.x, p)",
        "one_at(table, states, patterns, genes, jobs, work, 0, p)", "general", "general",
    ),
    Bug(
        "a certificate that is rounded down where it is scaled", "logic/combinations.py",
        "asked <= room * lead", "asked // lead <= room", "general", "general",
    ),
    Bug(
        "a published cell that certificates do not miss", "logic/certificates.py",
        "        state.missing[state.owner[e]] += more\n", "", "general", "general",
    ),
    Bug(
        "an option that moves farther than it can", "logic/box_sums.py", "if edge[ROOM, two] < need:",
        "if edge[ROOM, two] < 0:", "general", "general",
    ),
    Bug(
        "a requirement that is forgotten when its cell is published", "logic/box_decode.py",
        "left = state.uses[certificate]", "left = state.uses[certificate] - 1", "general", "general",
    ),
    Bug(
        "a word that ends one cell early", "logic/box_decode.py", "min(w * 64 + 64, len(state.hidden))",
        "min(w * 64 + 63, len(state.hidden))", "general", "general",
    ),
    Bug(
        "certificates of another individual", "cuda_kernels.py", "        row = rows[p]\n", "        row = rows[0]\n",
        "copy_individuals", "general_population",
    ),
    Bug(
        "the last cell of the last certificate is not copied", "cuda_kernels.py",
        "entries = genes.begin[row, count]", "entries = genes.begin[row, count] - 1",
        "copy_individuals", "general_population",
    ),
    Bug(
        "individuals laid over those before them", "cuda_kernels.py", "at = begin + p", "at = p",
        "copy_individuals", "general_population",
    ),
    Bug(
        "a component weighed by the wrong side", "logic/exchange.py",
        "joins.weights[cell] if own else -joins.weights[cell]", "-joins.weights[cell] if own else joins.weights[cell]",
        "exchange", "general_population",
    ),
    Bug(
        "two pairs share their room", "cuda_kernels.py",
        "exchange_at(bits, columns, joins, marks, chosen, children, cuda.blockIdx.x, q)",
        "exchange_at(bits, columns, joins, marks, chosen, children, 0, q)", "exchange", "general_population",
    ),
    Bug(
        "a digest of the last word alone", "logic/exchange.py", "mixed(found ^ rows[i, w], w)", "mixed(rows[i, w], w)",
        "price", "general_population",
    ),
    Bug("no step ahead", "cuda_kernels.py", "2.0 * new - before", "new", "primal_step", "first_order"),
]  # fmt: skip


@pytest.fixture
def mutant(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ModuleType]:
    """The kernels of a copy of the package that holds the bug."""
    bug: Bug = request.param
    name = f"planted_{BUGS.index(bug)}"
    shutil.copytree(PACKAGE, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / name / bug.file
    source = path.read_text()
    assert source.count(bug.right) >= 1
    path.write_text(source.replace(bug.right, bug.wrong))
    sys.path.insert(0, str(tmp_path))
    try:
        yield importlib.import_module(f"{name}.cuda_kernels")
    finally:
        sys.path.remove(str(tmp_path))
        for module in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
            del sys.modules[module]


def notices(bug: Bug, kernels: ModuleType, seeds: int = SEEDS) -> bool:
    """Does some schedule of threads on some population show the bug?"""
    for seed, (number, (order, preempt)) in product(range(seeds), enumerate(SCHEDULES)):

        def launch(name: str, blocks: int, *arguments: Any, order: str = order, preempt: int = preempt) -> None:
            if blocks > 0:
                module = executable(kernels if name == bug.kernel else cuda_kernels, name, "sm_80")
                module.launch(blocks, cuda_kernels.KERNELS[name][2], list(arguments), order, 1, preempt, ENDLESS)

        try:
            passes(bug.case, launch, seed, number)
        except (AssertionError, IndexError, PtxError):  # numbers that were never written may lead anywhere
            return True
    return False


def passes(case: str, launch: Callable[..., None], seed: int, number: int) -> None:
    """The check of that name, with kernels that are launched so."""
    if case == "general":
        machine = Machine(np, lambda: 2**22, launch, lambda record: record)
        check_general(machine, [*TABLES, *BORDERS][seed % (len(TABLES) + len(BORDERS))], 10 * number + seed)
    elif case == "general_population":
        machine = Machine(np, lambda: 2**22, launch, lambda record: record)
        check_population(machine, list(BORDERS)[seed % len(BORDERS)], 10 * number + seed, 40)
    elif case in DEVICE_CASES:
        machine = Machine(np, lambda: 2**22, launch, lambda record: record)
        DEVICE_CASES[case](make_pair(machine, REQUIREMENTS[seed % len(REQUIREMENTS)], 10 * number + seed))
    else:
        backend = CudaBackend(np, lambda: 2**30, slots=256, launch=launch)
        CASES[case](backend, np.random.default_rng([seed, number, 6]))


ENDLESS = 2_000_000
"""Accesses of one thread to global memory: a bug may let it go on for ever, which is noticed as well."""


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(bug, marks=pytest.mark.slow if bug.slow else ()) for bug in BUGS],
    ids=lambda bug: bug.what,
    indirect=True,
)
def test_a_planted_bug_is_caught(mutant: ModuleType, request: pytest.FixtureRequest) -> None:
    bug: Bug = request.node.callspec.params["mutant"]
    assert notices(bug, mutant)


def test_bugs_that_are_left_out_have_one_like_them_in_every_run() -> None:
    by_name = {bug.what: bug for bug in BUGS}
    for left_out, planted in ALIKE.items():
        assert by_name[left_out].kernel == by_name[planted].kernel
        assert not by_name[planted].slow


@pytest.mark.parametrize(
    ("kernel", "case"),
    [
        pytest.param(kernel, case, marks=pytest.mark.slow if kernel in LONG_TO_COMPILE else ())
        for kernel, case in sorted({(bug.kernel, bug.case) for bug in BUGS})
    ],
)
def test_the_kernels_without_bugs_pass_the_same_checks(kernel: str, case: str) -> None:
    assert not notices(Bug("none", "", "", "", kernel, case), cuda_kernels, seeds=2)
