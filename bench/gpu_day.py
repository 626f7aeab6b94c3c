"""Everything that only a CUDA machine can tell, in one report: python -m bench gpu-day [--out FILE.md] [--dry-run].

The tests marked `gpu`, the throughput of the device beside that of the CPU with transfers apart, registers and
occupancy as the driver gives them, the share of the back end, and contests at equal time. A part that fails says so in
its place, and the others go on. Without a device nothing is run. --dry-run runs the same parts on numba's simulator, on
tiny tables, to see that a day on a borrowed machine will not be lost; its figures mean nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import contest, share, throughput
from bench.kinds import KINDS, Kind
from bench.machine import machine
from bench.options import parser_of
from bench.sections import figure, markdown_table, percent, seconds
from gpuga.files.atomic import write_whole
from gpuga.kernels.probe import cuda_problem, probe_driver, simulated
from gpuga.parameters import CircuitsParameters
from gpuga.table.generate import herrington

ROOT = Path(__file__).parents[1]
NO_DEVICE, FAILED = 2, 1
"""Exit codes: as of `gpuga protect --backend cuda` without a device; a part of the report failed."""

MEANINGLESS = "**A dry run on numba's simulator, which runs kernels on the CPU: no figure below means anything.**"
BACKENDS = ("cpu", "cuda")


@dataclass(frozen=True)
class Plan:
    """How much is run: tests (as pytest is told), tables, populations, seconds and repeats."""

    tests: tuple[str, ...]
    cases: tuple[throughput.Case, ...]
    kinds: tuple[Kind, ...]
    populations: tuple[int, ...]
    tables: int
    seconds: float
    options: dict[str, Any] = field(default_factory=dict)
    repeats: int = 3


FULL = Plan(
    ("tests",),
    throughput.CASES,
    (KINDS["herrington-100x100-1%"], KINDS["herrington-400x250-0.25%"]),
    (256, 4096, 16384),
    3,
    15,
)
TINY = Kind("herrington-8x8-6%", lambda seed: herrington(8, 8, 0.06, seed), 1)
DRY = Plan(
    ("tests/kernels/test_agreement.py", "-k", "union"),
    (throughput.Case(TINY.name, TINY.make, 2),),
    (TINY,),
    (4,),
    1,
    60,
    {"generations": 1, "without": ("prover",)},
    repeats=1,
)


def tests(plan: Plan) -> str:
    """The tests marked `gpu`, in a process of their own."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", *plan.tests]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = run.stdout.strip().splitlines()
    if run.returncode:
        raise RuntimeError("tests failed:\n\n```\n" + "\n".join(lines[-40:]) + "\n```")
    return lines[-1].strip("= ")


def rates(plan: Plan) -> str:
    """Patterns per second of both back ends, and how many times faster the device is."""
    options = argparse.Namespace(seed=1, repeats=plan.repeats, device=None)
    body = []
    for case in plan.cases:
        for operation in case.operations:
            cpu, cuda = (throughput.measured(case, name, operation, options) for name in BACKENDS)
            gain = (cpu.seconds or 0.0) / (cuda.seconds or 1.0)
            rate = (figure(row.patterns_per_second, 1) for row in (cpu, cuda))
            body.append((case.name, operation, figure(case.patterns), *rate, f"{gain:.2f}"))
    return markdown_table(
        ("table", "operation", "patterns", "cpu, patterns/s", "cuda, patterns/s", "times as fast"), body
    )


def occupancy(plan: Plan) -> str:
    """Registers and active warps of every kernel that the parts before have launched."""
    from gpuga.kernels.cuda_kernels import KERNELS, resources

    body = []
    for name, (_, _, threads) in KERNELS.items():
        found = resources(name)
        if found is not None:
            per_multiprocessor = found.blocks * -(-threads // 32)
            body.append((name, *map(str, (threads, found.registers, found.shared, found.blocks, per_multiprocessor))))
    if not body:
        return "No driver, no figures; `bench/occupancy.csv` has those of compilation ahead of time."
    header = ("kernel", "threads", "registers", "shared bytes", "blocks per multiprocessor", "warps")
    return markdown_table(header, body)


def shares(plan: Plan) -> str:
    """Of evolution's CPU time, what is in back-end operations: what the device left for the CPU."""
    body = []
    for size in plan.populations:
        for name in BACKENDS:
            parameters = CircuitsParameters(population=size, **plan.options)
            row = share.measured(plan.kinds[0], 1, parameters, plan.seconds, name)
            part = row["backend_seconds"] / row["evolution_seconds"]
            spent = seconds(row["evolution_seconds"])
            counts = (figure(row[what]) for what in ("population", "generations", "children"))
            body.append((row["table"], name, *counts, spent, percent(part, 1)))
    header = ("table", "back end", "population", "generations", "children", "evolution CPU s", "in the back end")
    return markdown_table(header, body)


def equal_time(plan: Plan) -> str:
    """`circuits` on both back ends and `exact`, the same seconds for each; all patterns audited."""
    body = []
    for kind in plan.kinds:
        for seed in range(1, plan.tables + 1):
            for method, backend in (("circuits", "cpu"), ("circuits", "cuda"), ("exact", "cpu")):
                options = {"population": plan.populations[0], **plan.options} if method == "circuits" else {}
                row = contest.row_of(kind, seed, method, plan.seconds, backend, **options)
                shown = (figure(row["cost"], 1), figure(row["lower_bound"], 1), figure(row.get("generations")))
                body.append((row["table"], method, backend, seconds(plan.seconds), *shown))
    return markdown_table(("table", "method", "back end", "seconds", "cost", "lower bound", "generations"), body)


PARTS: dict[str, Callable[[Plan], str]] = {
    "Tests on the device": tests,
    "Throughput": rates,
    "Occupancy": occupancy,
    "Share of the back end": shares,
    "Equal time": equal_time,
}


def report(plan: Plan, dry: bool) -> tuple[str, bool]:
    """The report, and whether every part of it came to an end."""
    found, whole = ["# A day on a CUDA machine", *([MEANINGLESS] if dry else []), head()], True
    for title, part in PARTS.items():
        print(f"{title} ...", flush=True)
        words = str(part.__doc__).splitlines()[0]
        try:
            told = part(plan)
        except Exception as fault:  # what one part breaks must not cost the others their day
            told, whole = f"**Failed**: {type(fault).__name__}: {fault}", False
        found.append(f"## {title}\n\n{words}\n\n{told}")
    return "\n\n".join(found) + "\n", whole


def head() -> str:
    """The machine, its driver and its devices."""
    driver = probe_driver()
    rows = {**machine(), "driver": "none" if driver.version is None else "CUDA {}.{}".format(*driver.version)}
    for number, one in enumerate(driver.devices):
        capability = "{}.{}".format(*one.compute_capability)
        rows[f"device {number}"] = f"{one.name}, compute capability {capability}, {one.memory / 2**30:.0f} GiB"
    return "| | |\n|---|---|\n" + "\n".join(f"| {name} | {value} |" for name, value in rows.items())


def main(arguments: list[str]) -> int:
    """Run all parts and write the report."""
    parser = parser_of("gpu-day", __doc__)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "bench" / "out" / "gpu-day.md", metavar="FILE.md", help="report to write"
    )
    parser.add_argument("--dry-run", action="store_true", help="run on numba's simulator, with tiny tables")
    given = parser.parse_args(arguments)
    if given.dry_run and not simulated():  # numba chooses the simulator when it is imported: another process
        return subprocess.run(
            [sys.executable, "-m", "bench", "gpu-day", *arguments], env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
        ).returncode
    problem = "the simulator is switched on" if simulated() and not given.dry_run else cuda_problem()
    if problem is not None:
        print(f"no device: {problem}; --dry-run tries everything on numba's simulator", file=sys.stderr)
        return NO_DEVICE
    text, whole = report(DRY if given.dry_run else FULL, given.dry_run)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(given.out, text)
    print(f"report: {given.out.name}")
    return 0 if whole else FAILED
