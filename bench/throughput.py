"""Patterns per second of the operations of a generation, back end by back end, rows written as they come.

    python -m bench throughput [--json FILE] [--backend cpu ...] [--device 0] [--operation safe ...] [--case TABLE]

`safe` judges children of components, other ones in every measurement since workers learn from what they judge, `clean`
publishes what is redundant in decoded patterns, `children` decodes at the prices of the root relaxation with its core
columns, cleans up and judges, `exchange` makes children by components.
`in` and `out` bring patterns to the back end and back: on a device, what its transfers take, apart from the work.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.options import parser_of
from bench.python_evaluate import PythonPlane, evaluate
from gpuga.context import Context
from gpuga.evolution.breeding import STYLES
from gpuga.evolution.deap_toolbox import DeapTable
from gpuga.evolution.prover import Prover
from gpuga.evolution.run import prices_of
from gpuga.kernels.probe import cuda_problem
from gpuga.kernels.random import Stream
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table

BACKENDS = ("python", "cpu", "cuda")
OPERATIONS = ("safe", "clean", "children", "exchange", "in", "out")

STEPS = 40
"""Steps of the prover after which its relaxation prices the cells."""

PYTHON_PATTERNS = 6
"""Patterns that plain Python judges: it takes its time."""


@dataclass(frozen=True)
class Case:
    """A table with how many patterns are measured on it and which operations."""

    name: str
    make: Callable[[int], Table]
    patterns: int
    operations: tuple[str, ...] = OPERATIONS


CASES = (
    Case("herrington-100x100-1%", lambda seed: herrington(100, 100, 0.01, seed), 512),
    Case("herrington-400x250-0.25%", lambda seed: herrington(400, 250, 0.0025, seed), 32),
    Case("smith3d-29x29x29-5%", lambda seed: smith3d((29, 29, 29), 0.05, 0.1, seed), 8, ("children",)),
)
QUICK = (
    Case("herrington-12x12-3%", lambda seed: herrington(12, 12, 0.03, seed), 8),
    Case("smith3d-6x5x4-5%", lambda seed: smith3d((6, 5, 4), 0.05, 0.1, seed), 4, ("children",)),
)


@dataclass(frozen=True)
class Row:
    """One figure; `seconds` on the clock, `cpu_seconds` of all threads, both None where nothing was measured."""

    operation: str
    backend: str
    patterns: int
    seconds: float | None
    patterns_per_second: float | None
    table: str
    cpu_seconds: float | None = None
    note: str = ""


@cache
def priced(case: Case, seed: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Prices and core of the root relaxation; of general tables, weights and all candidates."""
    problem: Any = DeapTable(case.make(seed), Context(backend="cpu"), ("cost",)).problem
    point, core = np.zeros(problem.weight.size), problem.candidate.ravel()
    if problem.weight.ndim == 2:
        prover, cost = Prover(problem, Context(), paced=True), int(problem.weight.ravel()[core].sum())
        told = [prover.exchange(core, cost) for _ in range(STEPS)][-1]
        prover.stop()
        if told is not None:
            point, core = told.point.ravel(), told.core.ravel()
    return prices_of(problem.weight.ravel(), point)[None], core


class Workload:
    """The operations of one table in one back end, on patterns that are already there."""

    def __init__(self, case: Case, backend: str, seed: int) -> None:
        self.case, self.seed = case, seed
        table = DeapTable(case.make(seed), Context(backend=backend), ("cost",))
        self.problem: Any = table.problem
        self.kernels: Any = table.kernels
        self.kernels.set_prices(*priced(case, seed))

    def wait(self) -> None:
        """Let a device finish: its launches return before the work is done."""
        device = getattr(self.kernels, "device", None)
        if device is not None:
            device.wait()

    def decoded(self, count: int) -> Any:
        """Patterns that lead every requirement, with what is redundant in them."""
        stream, nothing = Stream(self.seed, 2), self.kernels.nothing(count)
        style = STYLES[stream.integers(0, len(STYLES), count)]
        made, _ = self.kernels.decode(nothing, nothing, nothing, self.words(count), style, np.zeros(count, np.int32))
        return made

    def words(self, count: int) -> NDArray[np.uint64]:
        """Seeds."""
        return Stream(self.seed, 3).words(count).astype(np.uint64) + np.uint64(1)

    @cached_property
    def pool(self) -> Any:
        """Some complete children."""
        count = min(64, self.case.patterns)
        return self.kernels.clean(self.decoded(count), self.words(count))

    def crossed(self, count: int, number: int = 0) -> Any:
        """Children by components of pairs of the pool; other pairs for every number."""
        pairs = Stream(self.seed, 4 + number).integers(0, self.pool.count, 2 * count).reshape(count, 2).astype(np.int32)
        ways = np.arange(count, dtype=np.int32) % 3
        return self.kernels.exchange(self.pool, pairs, ways, self.words(count))[0]

    def call(self, operation: str, count: int, times: int = 1) -> Callable[[], object]:
        """An operation on `count` patterns as a call without arguments, which will be called so many times."""
        if operation == "safe":
            judged = cycle([self.crossed(count, number) for number in range(times)])
            return lambda: self.kernels.safe(next(judged))
        if operation == "clean":
            raw = self.decoded(count)
            return lambda: self.kernels.clean(raw, self.words(count))
        if operation == "exchange":
            self.pool.count  # noqa: B018 - made before the clock starts
            return lambda: self.crossed(count)
        if operation in ("in", "out"):
            there = self.crossed(count)
            here = self.kernels.arrays(there)
            return (lambda: self.kernels.of_arrays(here)) if operation == "in" else lambda: self.kernels.arrays(there)
        return lambda: self.kernels.safe(self.kernels.clean(self.decoded(count), self.words(count)))


def timed(run: Callable[[], object], wait: Callable[[], None], repeats: int) -> tuple[float, float]:
    """Seconds on the clock and CPU seconds of the fastest of several runs, waited for."""
    best = (float("inf"), float("inf"))
    for _ in range(repeats):
        begun, worked = time.perf_counter(), time.process_time()
        run()
        wait()
        best = min(best, (time.perf_counter() - begun, time.process_time() - worked))
    return best


def measured(case: Case, backend: str, operation: str, options: argparse.Namespace) -> Row:
    """One row."""
    if backend == "python":
        return in_python(case, options)
    on = backend if backend != "cuda" or options.device is None else f"cuda:{options.device}"
    work = _workload(case, on, options.seed)
    work.call(operation, 1)()  # compiles, or loads what an earlier process compiled
    asked = work.call(operation, case.patterns, options.repeats)
    work.wait()
    seconds, worked = timed(asked, work.wait, options.repeats)
    return Row(operation, backend, case.patterns, seconds, case.patterns / seconds, case.name, worked)


@cache
def _workload(case: Case, backend: str, seed: int) -> Workload:
    return Workload(case, backend, seed)


def in_python(case: Case, options: argparse.Namespace) -> Row:
    """`safe`, one individual at a time, in plain Python; the verdicts must be those of the CPU."""
    work = _workload(case, "cpu", options.seed)
    problem = work.problem
    count = min(PYTHON_PATTERNS, case.patterns)
    judged = work.crossed(count)
    levels, net = problem.levels, problem.net
    rows, columns = problem.shape
    row, column = np.divmod(levels.place, columns)
    upward = levels.forward
    plane = PythonPlane(
        rows, columns, problem.weight.ravel().tolist(), net.forward.ravel().tolist(), net.backward.ravel().tolist(),
        list(zip(row.tolist(), column.tolist(), upward.tolist(), levels.need.tolist(), strict=True)),
    )  # fmt: skip
    individuals = judged.unpacked().astype(int).tolist()
    begun, worked = time.perf_counter(), time.process_time()
    safe = [evaluate(individual, plane)[0] == 0 for individual in individuals]
    seconds, worked = time.perf_counter() - begun, time.process_time() - worked
    if safe != work.kernels.safe(judged).tolist():
        raise RuntimeError("plain Python and the cpu back end disagree")
    return Row("safe", "python", count, seconds, count / seconds, case.name, worked)


def rows_of(options: argparse.Namespace) -> list[Row]:
    """All rows, printed and written as they come."""
    rows: list[Row] = []
    for backend in options.backend or BACKENDS:
        absent = cuda_problem() if backend == "cuda" else None
        for case in QUICK if options.quick else CASES:
            if options.case and case.name not in options.case:
                continue
            for operation in options.operation or OPERATIONS:
                if operation not in case.operations or (backend == "python" and operation != "safe"):
                    continue
                if absent is None:
                    row = measured(case, backend, operation, options)
                else:
                    row = Row(operation, backend, case.patterns, None, None, case.name, None, "no device")
                rows.append(row)
                show(row)
                if options.json is not None:
                    write(options.json, rows)
    return rows


def show(row: Row) -> None:
    """One line."""
    rate = row.note if row.patterns_per_second is None else f"{row.patterns_per_second:,.1f} patterns/s"
    spent = "" if row.cpu_seconds is None else f", {row.cpu_seconds:.3f} CPU s"
    print(f"{row.backend:7}{row.operation:10}{row.table:28}{row.patterns:>5} patterns: {rate}{spent}", flush=True)


def write(path: Path, rows: list[Row]) -> None:
    """All rows so far; a run that is stopped leaves a whole file."""
    partial = path.with_name(f".{path.name}.part")
    partial.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    os.replace(partial, path)


def main(arguments: list[str]) -> int:
    """Measure what is asked for."""
    parser = parser_of("throughput", __doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file")
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="back end; may be repeated (default: all)")
    parser.add_argument("--device", type=int, metavar="N", help="CUDA device, by number (default: the first)")
    parser.add_argument(
        "--operation", action="append", choices=OPERATIONS, help="operation; may be repeated (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="small tables, to see that it works")
    parser.add_argument(
        "--case", action="append", metavar="TABLE", choices=[case.name for case in (*CASES, *QUICK)],
        help="table; may be repeated (default: " + ", ".join(case.name for case in CASES).replace("%", "%%") + ")",
    )  # fmt: skip
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="measurements, of which the fastest counts")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="random seed")
    options = parser.parse_args(arguments)
    rows_of(options)
    return 0
