"""Of the CPU time of a `circuits` run, how much is in back-end operations: the ceiling of what a device could give.

    python -m bench share --json FILE [--kind NAME] [--seed 1] [--population 256 --population 4096] [--seconds 15]

Evolution and prover are counted apart, each by the CPU clock of its own thread; with two processors each has one. If a
device took no time at all for the operations, evolution would be faster by at most 1 / (1 - share) (Amdahl).
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench.kinds import KINDS, Kind
from bench.options import kind_names, parser_of
from gpuga.context import Clock, Context
from gpuga.evolution.circuits import prepared
from gpuga.parameters import CircuitsParameters


class Timed:
    """Kernels that count the CPU seconds of their operations."""

    def __init__(self, kernels: Any) -> None:
        self._kernels = kernels
        self.seconds: dict[str, float] = defaultdict(float)

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._kernels, name)
        if not callable(operation):
            return operation

        def timed(*given: Any, **named: Any) -> Any:
            begun = time.thread_time()
            try:
                return operation(*given, **named)
            finally:
                self.seconds[name] += time.thread_time() - begun

        return timed


def main(arguments: list[str]) -> int:
    """Measure every population and print the table."""
    given = _parser().parse_args(arguments)
    rows = []
    for size in given.population or (256, 4096):
        row = measured(KINDS[given.kind], given.seed, CircuitsParameters(population=size), given.seconds)
        rows.append(row)
        print(sentence(row), flush=True)
        if given.json:
            Path(given.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def sentence(row: dict[str, Any]) -> str:
    """A row for people."""
    share = row["backend_seconds"] / row["evolution_seconds"]
    return (
        f"{row['table']}, population {row['population']}: {row['generations']} generations, {row['children']} "
        f"children, {100 * share:.1f} % of {row['evolution_seconds']:.1f} CPU s of evolution in the back end "
        f"(a device: at most {1 / max(1e-9, 1 - share):.1f} times faster), prover {row['prover_seconds']:.1f} CPU s"
    )


def measured(
    kind: Kind, seed: int, parameters: CircuitsParameters, seconds: float, backend: str = "auto"
) -> dict[str, Any]:
    """One run."""
    run = prepared(kind.make(seed), Context(backend=backend, clock=Clock(seconds)), parameters, Timed)
    kernels = run.kernels
    assert isinstance(kernels, Timed)
    begun = time.thread_time()
    run.go()
    return {
        "method": "circuits",
        "table": f"{kind.name}-{seed}",
        "population": parameters.population,
        "generations": run.evolution.generation,
        "children": run.breeder.children,
        "backend_seconds": sum(kernels.seconds.values()),
        "evolution_seconds": time.thread_time() - begun,
        "prover_seconds": 0.0 if run.prover is None else run.prover.cpu_seconds,
        "operations": dict(kernels.seconds),
    }


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("share", __doc__)
    parser.add_argument("--json", metavar="FILE", help="write the results to this file")
    parser.add_argument(
        "--kind",
        choices=sorted(KINDS),
        default="herrington-100x100-1%",
        metavar="KIND",
        help=f"kind of table: {kind_names()}",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of table and run")
    parser.add_argument(
        "--population",
        type=int,
        action="append",
        metavar="N",
        help="population size; may be repeated (default: 256, 4096)",
    )
    parser.add_argument("--seconds", type=float, default=15.0, metavar="N", help="time limit of each run in seconds")
    return parser
