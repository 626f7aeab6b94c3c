"""Two-dimensional tables: proven optima, gaps and times of `exact` on generated tables.

    python -m bench plane --seconds 60 --out bench/out/plane.jsonl class1:100x100:1-10 herrington:400x250:1%:1,2,3

Each table is one line of JSON: cost, bound, gap, whether proven, CPU and wall seconds. With --cpu the time
limit counts CPU seconds, so that a busy machine gives the figures of an idle one.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

from gpuga.context import Clock
from gpuga.protect import protect
from gpuga.table import Table
from gpuga.table.generate import class1, class2, herrington


def tables(spec: str) -> Iterator[Table]:
    """The tables of `class1:RxC:SEEDS`, `class2:RxC:SEEDS` or `herrington:RxC:SHARE%:SEEDS`."""
    kind, shape, *rest = spec.split(":")
    rows, columns = (int(size) for size in shape.split("x"))
    for seed in _seeds(rest[-1]):
        if kind == "herrington":
            yield herrington(rows, columns, float(rest[0].rstrip("%")) / 100, seed)
        else:
            yield {"class1": class1, "class2": class2}[kind](rows, columns, seed)


def _seeds(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


class CpuClock(Clock):
    """A clock that counts the CPU seconds of this process: for machines that others use too."""

    def __init__(self, seconds: float | None = None, whole: Clock | None = None) -> None:
        super().__init__(seconds, whole)
        self.begun = time.process_time()

    def spent(self) -> float:
        """CPU seconds since the start."""
        return time.process_time() - self.begun


def measure(table: Table, method: str, clock: Clock) -> dict[str, object]:
    """One run of a method, as figures."""
    wall, cpu = time.monotonic(), time.process_time()
    found = protect(table, method, clock=clock)
    return {
        "table": table.name,
        "method": method,
        "seconds_allowed": clock.seconds,
        "cost": table.shown_cost(found.cost),
        "lower_bound": None if found.bound is None else table.shown_cost(found.bound.lower_bound),
        "gap": found.gap,
        "optimal": found.optimal,
        "bound_by": None if found.bound is None else found.bound.kind,
        "safe": found.audit.safe,
        "rounds": found.found.generations,
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "wall_seconds": round(time.monotonic() - wall, 2),
    }


def main(arguments: list[str]) -> int:
    """Run the methods on the tables, a line of JSON each."""
    parser = argparse.ArgumentParser(prog="python -m bench plane", description=__doc__.splitlines()[0])
    parser.add_argument("specs", nargs="+")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--cpu", action="store_true", help="count CPU seconds instead of wall seconds")
    parser.add_argument("--method", default="exact")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args(arguments)
    protect(class1(30, 30, 2), chosen.method)  # compiles what has not been compiled yet
    for spec in chosen.specs:
        for table in tables(spec):
            clock = (CpuClock if chosen.cpu else Clock)(chosen.seconds)
            line = json.dumps(measure(table, chosen.method, clock))
            print(line, flush=True)
            if chosen.out:
                chosen.out.parent.mkdir(parents=True, exist_ok=True)
                with chosen.out.open("a") as file:
                    file.write(line + "\n")
    return 0
