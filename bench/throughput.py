"""Patterns per second of every back end on Herrington tables: totals, safety, clean-up and swaps.

A 100x100 table with 1 % sensitive cells (200 levels).  The population is what an engine meets: a third are crossovers
of cleaned solutions, a third have lost three cells and gained five, a third are unions of circuits from two parents.
Then the same for growing populations and growing tables. What it takes to bring patterns to a back end and back is
shown apart from the operations; what memory alone would allow is an estimate, and called so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.python_evaluate import PythonPlane, evaluate
from bench.roofline import bandwidth, bytes_per_pattern
from gpuga.kernels import Backend, Lines, Patterns, Plane, Pool, Stream, Tasks, get_backend, plane_lines
from gpuga.kernels.layout import FlowTasks
from gpuga.kernels.probe import cuda_problem
from gpuga.table.generate import herrington
from gpuga.table.plane import plane_of

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

OPERATIONS = {
    "b": "line totals and quick unsafe tests",
    "c": "exact safety of every level",
    "b+c": "both",
    "d": "redundancy removal",
    "e": "swap gains of all levels with one partner",
    "in": "bringing patterns to the back end",
    "out": "bringing patterns back",
}
# Slow back ends and operations are timed on fewer patterns; the rows say how many.
SAMPLE = {("numpy", "b"): 64, ("numpy", "c"): 8, ("numpy", "b+c"): 8, ("numpy", "d"): 1, ("numpy", "e"): 64}
CLEANED = 512


@dataclass(frozen=True)
class Row:
    """One measurement; `note` says why there are no figures, or to which series it belongs.

    `cpu_seconds` is what all threads took together, `table` the inner rows and columns.
    """

    operation: str
    backend: str
    patterns: int
    seconds: float | None
    patterns_per_second: float | None
    note: str = ""
    cpu_seconds: float | None = None
    table: str = ""


@dataclass
class Workload:
    """The table as arrays, solutions with their circuits, and populations made of them."""

    rows: int
    columns: int
    seed: int
    values: Int64 = field(init=False)
    up: Int64 = field(init=False)
    down: Int64 = field(init=False)
    tasks: Tasks = field(init=False)

    def __post_init__(self) -> None:
        table = herrington(self.rows, self.columns, 0.01, self.seed)
        plane = plane_of(table)
        if plane is None:
            raise ValueError("a Herrington table is a plane")
        self.values, self.up, self.down = plane.lay(table.value).astype(np.int64).ravel(), plane.up, plane.down
        cell = np.flatnonzero(table.levels.upper > 0)
        both = np.stack([table.levels.upper[cell], table.levels.lower[cell]], axis=1).ravel()
        self.tasks = Tasks.of(np.repeat(plane.place[cell], 2), np.tile([1, -1], len(cell)), both)

    @property
    def size(self) -> str:
        """Rows and columns, as the rows of results name it."""
        return f"{self.rows}x{self.columns}"

    @cached_property
    def plane(self) -> Plane:
        """The network."""
        return Plane.of(self.up, self.down)

    @cached_property
    def lines(self) -> Lines:
        """The equations."""
        return plane_lines(self.plane.rows, self.plane.columns)

    @cached_property
    def primary(self) -> Bools:
        """The sensitive cells."""
        primary = np.zeros(self.plane.cells, np.bool_)
        primary[self.tasks.cell] = True
        return primary

    @cached_property
    def weights(self) -> Int64:
        """Value weights; primaries cost nothing."""
        return np.where(self.primary, 0, self.values)

    def solve(self, count: int) -> None:
        """Solutions by cheapest paths in random orders: circuits, chromosomes, cleaned patterns."""
        cpu, tasks = get_backend("cpu"), len(self.tasks)
        patterns = np.repeat(self.primary[None], count, axis=0)
        orders = Stream(self.seed, 1).permutations(count, tasks)
        chromosomes = np.full((count, tasks), -1, np.int32)
        circuits: list[tuple[Int32, Int64]] = []
        for step in range(tasks):
            items = np.stack([np.arange(count), orders[:, step]], axis=1).astype(np.int32)
            found = cpu.cheapest_paths(patterns, self.plane, self.tasks, self.weights, items)
            for p, t in items:
                cells, amounts = found.pool.circuit(p)
                patterns[p, cells] = True
                chromosomes[p, t] = len(circuits)
                circuits.append((cells, amounts))
        self.pool, self.solutions = Pool.from_lists(circuits), chromosomes
        cleaned = cpu.remove_redundant(patterns, self.plane, self.tasks, self.weights, self.primary)
        self.cleaned = cpu.unpack(cleaned)

    def population(self, count: int) -> tuple[Bools, Int32]:
        """`count` patterns, a third of each kind, and as many chromosomes of two parents."""
        stream = Stream(self.seed, 2)
        parents = stream.integers(0, len(self.solutions), 2 * count).reshape(count, 2)
        mixed = stream.uniform(count * len(self.tasks)).reshape(count, -1) < 0.5
        chromosomes = np.where(mixed, self.solutions[parents[:, 0]], self.solutions[parents[:, 1]]).astype(np.int32)
        patterns = np.empty((count, self.plane.cells), np.bool_)
        for p in range(count):
            a, b = self.cleaned[parents[p, 0]], self.cleaned[parents[p, 1]]
            patterns[p] = self.primary
            if p % 3 == 0:
                patterns[p] |= (a & b) | ((a ^ b) & (stream.uniform(a.size) < 0.6))
            elif p % 3 == 1:
                patterns[p] |= a
                extra = np.flatnonzero(a & ~self.primary)
                patterns[p, extra[stream.sample(len(extra), 3)]] = False
                patterns[p, stream.integers(0, a.size, 5)] = True
            else:
                chosen = chromosomes[p]
                used = [self.pool.circuit(k)[0] for k in chosen[chosen >= 0]]
                patterns[p, np.concatenate(used)] = True
        return patterns, chromosomes


def timed(run: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Seconds on the clock and seconds of all processors of the fastest of several runs."""
    best = (float("inf"), float("inf"))
    for _ in range(repeats):
        begun, worked = time.perf_counter(), time.process_time()
        run()
        best = min(best, (time.perf_counter() - begun, time.process_time() - worked))
    return best


def runs(work: Workload, backend: Backend, patterns: Bools, chromosomes: Int32) -> dict[str, Callable[[], object]]:
    """The operations as calls without arguments, on patterns that are already where the back end keeps them."""
    packed: Patterns = backend.pack(patterns, work.plane.columns)
    uses = backend.union(work.pool, chromosomes, work.weights, work.primary).uses
    partner = np.roll(np.arange(len(patterns)), 1)
    pairs = np.stack([np.arange(len(patterns)), partner], axis=1).astype(np.int32)

    def totals() -> None:
        backend.line_totals(packed, work.lines, work.values)
        backend.quick_unsafe(packed, work.lines, work.up, work.down, work.tasks)

    def safety() -> None:
        backend.safe(packed, work.plane, work.tasks)

    def both() -> None:
        totals()
        safety()

    def clean() -> None:
        backend.remove_redundant(packed, work.plane, work.tasks, work.weights, work.primary)

    def swaps() -> None:
        backend.swap_gains(work.pool, chromosomes, uses, work.weights, work.primary, pairs)

    def bring() -> None:
        backend.pack(patterns, work.plane.columns)

    def fetch() -> None:
        backend.unpack(packed)

    return {"b": totals, "c": safety, "b+c": both, "d": clean, "e": swaps, "in": bring, "out": fetch}


def measure(work: Workload, name: str, patterns: Bools, chromosomes: Int32, repeats: int) -> list[Row]:
    """All operations of one back end."""
    backend, rows = get_backend(name), []
    small = runs(work, backend, patterns[:2], chromosomes[:2])
    for operation in OPERATIONS:
        if name != "numpy":
            small[operation]()  # compiles, or loads what an earlier process compiled
        count = SAMPLE.get((name, operation), CLEANED if operation == "d" else len(patterns))
        count = min(count, len(patterns))
        run = runs(work, backend, patterns[:count], chromosomes[:count])[operation]
        seconds, worked = timed(run, 1 if name == "numpy" else repeats)
        rows.append(Row(operation, name, count, seconds, count / seconds, "", worked, work.size))
    return rows


def measure_python(work: Workload, patterns: Bools) -> Row:
    """One individual at a time, in plain Python."""
    flow = FlowTasks.of(work.plane, work.tasks)
    levels = list(
        zip(flow.row.tolist(), flow.column.tolist(), (flow.upward > 0).tolist(), flow.need.tolist(), strict=True)
    )
    plane = PythonPlane(
        work.plane.rows, work.plane.columns, work.values.tolist(), work.plane.forward.ravel().tolist(),
        work.plane.reverse.ravel().tolist(), levels,
    )  # fmt: skip
    individuals = patterns.astype(int).tolist()
    begun = time.perf_counter()
    unsafe = [evaluate(individual, plane)[0] for individual in individuals]
    seconds = time.perf_counter() - begun
    safe = get_backend("cpu").safe(patterns, work.plane, work.tasks)
    if unsafe != (~safe).sum(axis=1).tolist():
        raise RuntimeError("plain Python and the cpu back end disagree")
    return Row("b+c", "python", len(patterns), seconds, len(patterns) / seconds, table=work.size)


def measure_growth(work: Workload, name: str, sizes: list[int], repeats: int) -> list[Row]:
    """A back end on populations of several sizes."""
    rows, backend = [], get_backend(name)
    patterns, chromosomes = work.population(max(sizes))
    for size in sizes:
        seconds, worked = timed(runs(work, backend, patterns[:size], chromosomes[:size])["b+c"], repeats)
        rows.append(Row("b+c", name, size, seconds, size / seconds, "growth", worked, work.size))
    return rows


def measure_tables(name: str, sizes: list[int], count: int, seed: int, repeats: int) -> list[Row]:
    """A back end on square tables of several sizes, with the same number of patterns."""
    rows, backend = [], get_backend(name)
    for size in sizes:
        work = Workload(size, size, seed)
        work.solve(16)
        patterns, chromosomes = work.population(count)
        chosen = runs(work, backend, patterns, chromosomes)
        for operation in ("b+c", "in", "out"):
            seconds, worked = timed(chosen[operation], repeats)
            rows.append(Row(operation, name, count, seconds, count / seconds, "table size", worked, work.size))
    return rows


def estimate_roof(work: Workload, name: str) -> list[Row]:
    """What memory alone would allow each operation, as rows that say that they are an estimate."""
    speed = bandwidth(name)
    note = f"estimate: memory roof at {speed / 1e9:.1f} GB/s"
    needed = bytes_per_pattern(work.plane.cells, work.plane.rows + work.plane.columns, len(work.tasks))
    return [Row(operation, name, 0, None, speed / size, note, None, work.size) for operation, size in needed.items()]


def show(rows: list[Row]) -> None:
    """The figures as a table of operations by back ends, the ratios, the growth and the estimates."""
    series = ("growth", "table size", "estimate")
    main = [row for row in rows if not row.note.startswith(series)]
    names = ["python", "numpy", "cpu", "cuda"]
    print("patterns per second" + "".join(f"{name:>12}" for name in names))
    for operation in OPERATIONS:
        cells = {row.backend: row for row in main if row.operation == operation}
        figures = [
            "" if name not in cells else cells[name].note or f"{cells[name].patterns_per_second:,.0f}" for name in names
        ]
        print(
            f"({operation})".ljust(19) + "".join(f"{figure:>12}" for figure in figures) + f"   {OPERATIONS[operation]}"
        )
    speed = {(row.operation, row.backend): row.patterns_per_second or 0.0 for row in main}
    for slow in ("python", "numpy"):
        if ("b+c", slow) in speed:
            print(f"cpu is {speed['b+c', 'cpu'] / speed['b+c', slow]:,.0f} times {slow} on (b)+(c)")
    for row in rows:
        what = f"{row.backend}, ({row.operation}), {row.table}"
        if row.note in series and row.seconds is not None:
            each = 1e6 * row.seconds / row.patterns
            print(f"{what}, {row.patterns:>6} patterns: {each:,.1f} microseconds per pattern")
        elif row.note.startswith("estimate") and (row.operation, row.backend) in speed:
            share = speed[row.operation, row.backend] / (row.patterns_per_second or 1.0)
            print(f"{what}: {100 * share:.2g} % of {row.patterns_per_second:,.0f} patterns per second, {row.note}")


def main(arguments: list[str]) -> int:
    """python -m bench throughput [--json FILE] [--patterns N] [--size N] [--sizes N,N,...] [--seed N]."""
    parser = argparse.ArgumentParser(prog="python -m bench throughput", description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--patterns", type=int, default=4096)
    parser.add_argument("--size", type=int, default=100, help="inner rows and columns of the table")
    parser.add_argument("--sizes", default="30,60,100,200", help="sizes of tables to go through, or none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    work = Workload(options.size, options.size, options.seed)
    work.solve(32)
    patterns, chromosomes = work.population(options.patterns)
    rows = [measure_python(work, patterns[: min(12, options.patterns)])]
    rows += measure(work, "numpy", patterns, chromosomes, options.repeats)
    populations = [size for size in (64, 256, 1024, 4096, 16384) if size <= 4 * options.patterns]
    tables = [int(size) for size in options.sizes.split(",") if size]
    for name in ("cpu", *(["cuda"] if cuda_problem() is None else [])):
        rows += measure(work, name, patterns, chromosomes, options.repeats)
        rows += measure_growth(work, name, populations, options.repeats)
        rows += measure_tables(name, tables, min(1024, options.patterns), options.seed, options.repeats)
        rows += estimate_roof(work, name)
    if cuda_problem() is not None:
        print(f"cuda: {cuda_problem()}", file=sys.stderr)
        rows += [Row(operation, "cuda", options.patterns, None, None, "no device") for operation in OPERATIONS]
    show(rows)
    if options.json is not None:
        partial = options.json.with_name(f".{options.json.name}.part")
        partial.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
        os.replace(partial, options.json)
    return 0
