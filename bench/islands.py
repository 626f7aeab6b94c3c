"""Whether islands that exchange are worth it: against one population, and against as many that never meet.

    python -m bench islands --json FILE [--quick] [--generations 60] [--seed 1 --seed 2] [--exchange 5 --exchange 10]

All settings do the same work: four islands of 64 make as many children in a generation as one population of 256. There
is no prover in any of them, because it would settle most tables whatever evolution does. Rows also have the bytes per
exchange and the CPU seconds of making and reading messages, from which docs/cluster.md computes its model.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.kinds import KINDS, QUICK, Kind
from bench.options import parser_of
from bench.sections import Section, figure, seconds
from gpuga.cluster.islands import Islands
from gpuga.cluster.workers import Workers
from gpuga.context import Context
from gpuga.parameters import CircuitsParameters
from gpuga.problem.problem import problem_for

TABLES = (
    "herrington-100x100-0.5%",
    "herrington-100x100-1%",
    "herrington-100x100-3%",
    "smith3d-20x10x10-1%",
    "smith3d-20x10x10-5%",
)
STANDARD = ("herrington-100x100-1%", "smith3d-20x10x10-1%")
ISLANDS, SIZE = 4, 64
ONE = ISLANDS * SIZE + 1
"""The size of the one population: 256 is the default, which stands for another size where tables are general."""


class AtOnce(Executor):
    """Does everything at once, in this process, and counts the CPU seconds of it."""

    seconds = 0.0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do it now."""
        future: Future[Any] = Future()
        begun = time.process_time()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as fault:  # belongs to who asked
            future.set_exception(fault)
        self.seconds += time.process_time() - begun
        return future


class ThisProcess(Workers):
    """One worker, which is this process: results do not depend on where islands work, and CPU time can be counted."""

    def __init__(self) -> None:
        self.only = AtOnce()
        super().__init__([self.only])

    @property
    def lasting(self) -> bool:
        """It does, and would keep the islands of every run."""
        return True

    def _another(self, place: int) -> Executor:
        return self.only

    def close(self) -> None:
        """Nothing to end."""


@dataclass(frozen=True)
class Setting:
    """A number of islands of a size, the generations between two exchanges (None: never), and who hears whom."""

    islands: int
    size: int
    exchange: int | None = None
    topology: str = "ring"

    @property
    def name(self) -> str:
        """In words."""
        if self.islands == 1:
            return f"one of {self.size}"
        how = "apart" if self.exchange is None else f"{self.topology}, every {self.exchange}"
        return f"{self.islands} of {self.size}, {how}"


def settings(exchanges: Iterable[int]) -> list[Setting]:
    """One population, islands that never meet, and islands that exchange."""
    meeting = [Setting(ISLANDS, SIZE, every, way) for every in exchanges for way in ("ring", "best")]
    return [Setting(1, ONE), Setting(ISLANDS, SIZE), *meeting]


def measured(kind: Kind, number: int, seed: int, setting: Setting, generations: int) -> dict[str, Any]:
    """One run."""
    workers, table = ThisProcess(), kind.make(number)
    parameters = CircuitsParameters(
        islands=setting.islands,
        population=setting.size,
        generations=generations,
        patience=generations + 1,
        exchange=setting.exchange or generations,
        topology=setting.topology,
        without=("prover",),
    )
    begun = time.process_time()
    islands = Islands(problem_for(table), Context(backend="cpu", seed=seed), parameters, workers)
    islands.go()
    spent = time.process_time() - begun
    legs = sum(one.legs for one in islands.islands)
    return {
        "table": f"{kind.name}-{number}",
        "setting": setting.name,
        "seed": seed,
        "cost": islands.cost,
        "children": islands.children,
        "generations": islands.generation,
        "cpu_seconds": round(spent, 3),
        "client_cpu_seconds_per_leg": round((spent - workers.only.seconds) / max(1, legs), 5),
        "bytes_out_per_leg": islands.sent // max(1, legs),
        "bytes_in_per_leg": islands.received // max(1, legs),
    }


def main(arguments: list[str]) -> int:
    """Measure all settings on all tables and say how much dearer each is than the cheapest, on average and at worst."""
    given = _parser().parse_args(arguments)
    kinds = list(QUICK) if given.quick else [KINDS[name] for name in (STANDARD if given.standard else TABLES)]
    generations = given.generations or (10 if given.quick else 20 if given.standard else 60)
    rows = []
    for kind in kinds:
        for seed in given.seed or [1]:
            for setting in settings(given.exchange or ([2] if given.quick else [5] if given.standard else [5, 10, 20])):
                rows.append(measured(kind, 1, seed, setting, generations))
                print(json.dumps(rows[-1]), flush=True)
                if given.json:
                    Path(given.json).write_text(json.dumps(rows, indent=1) + "\n")
    print("\n".join(compared(rows)))
    return 0


def compared(rows: list[dict[str, Any]]) -> list[str]:
    """How much dearer every setting is than the cheapest of each table and seed, mean and worst."""
    runs = {(row["table"], row["seed"]) for row in rows}
    least = {run: min(row["cost"] for row in rows if (row["table"], row["seed"]) == run) for run in runs}
    lines = []
    for name in dict.fromkeys(row["setting"] for row in rows):
        above = [row["cost"] / max(1, least[row["table"], row["seed"]]) - 1 for row in rows if row["setting"] == name]
        lines.append(
            f"{name}: {100 * sum(above) / len(above):.2f} % above the cheapest, at worst {100 * max(above):.2f} %"
        )
    return lines


def section(rows: list[dict[str, Any]]) -> Section:
    """The runs, and how the settings compare."""
    header = ("table", "setting", "seed", "cost", "children", "generations", "CPU s", "bytes out", "bytes in")
    body = [
        (
            row["table"], row["setting"], str(row["seed"]), figure(row["cost"]), figure(row["children"]),
            figure(row["generations"]), seconds(row["cpu_seconds"]), figure(row["bytes_out_per_leg"]),
            figure(row["bytes_in_per_leg"]),
        )
        for row in rows
    ]  # fmt: skip
    words = (
        "`python -m bench islands`: equal numbers of children, no prover; costs are whole numbers of the table's unit, "
        "without what is suppressed in any case. Bytes are those of a message. " + "; ".join(compared(rows)) + "."
    )
    return Section("islands", "Islands against one population", header, body, words)


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("islands", __doc__)
    parser.add_argument("--json", metavar="FILE", help="write the rows to this file")
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--quick", action="store_true", help="small tables, to see that it works")
    how_much.add_argument("--standard", action="store_true", help="two tables, 20 generations, exchanges every 5")
    parser.add_argument("--generations", type=int, metavar="N", help="generations of every run (default: 60)")
    parser.add_argument("--seed", type=int, action="append", metavar="N", help="seed; may be repeated (default: 1)")
    parser.add_argument(
        "--exchange", type=int, action="append", metavar="N", help="generations between exchanges; may be repeated"
    )
    return parser
