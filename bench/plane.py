"""Two-dimensional tables: proven optima, gaps and times of `exact` on generated tables.

    python -m bench plane --minutes 7                                          # everything; again to go on
    python -m bench plane class1:100x100:1-10@60 herrington:400x250:1%:1,2,3@120

A run is `class1:RxC:SEEDS@SECONDS`, `class2:RxC:SEEDS@SECONDS` or `herrington:RxC:SHARE%:SEEDS@SECONDS`. Each run is
one line of `plane.csv`; what is there already is not run again. `plane.md` sums up: how many are proven, the
largest gap and time, and how far the dearest is above the best cost known for its table. With --cpu the time limit
counts CPU seconds, so that a busy machine gives the figures of an idle one.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from bench.options import parser_of
from gpuga.context import Clock
from gpuga.protect import protect
from gpuga.table import Table
from gpuga.table.generate import class1, class2, herrington

EVERYTHING = (
    "class1:30x30:1-10@60",
    "class1:50x50:1-10@60",
    "class1:100x100:1-10@60",
    "class2:30x30:1-10@60",
    "class2:100x100:1-10@60",
    "class2:300x300:1-10@60",
    "herrington:100x100:3%:1-10@60",
    "herrington:400x250:3%:1-10@60",
    "herrington:100x100:1%:1-10@60",
    "herrington:100x100:0.5%:1-10@60",
    "herrington:400x250:1%:1-3@120",
    "herrington:400x250:0.5%:1-3@120",
    "herrington:400x250:0.25%:1-3@120",
    "herrington:100x100:3%:1-10@5",
    "herrington:100x100:1%:1-10@5",
    "herrington:100x100:0.5%:1-10@5",
    "herrington:400x250:1%:1-3@20",
    "herrington:400x250:0.5%:1-3@20",
    "herrington:400x250:0.25%:1-3@20",
)


@dataclass(frozen=True)
class PlaneResult:
    """One run of `exact`; `tables` names the kind without the seed, costs are in the table's own unit."""

    tables: str
    seed: int
    seconds_allowed: float
    cost: float
    lower_bound: float
    gap: float
    optimal: bool
    safe: bool
    bound_by: str
    cpu_seconds: float
    wall_seconds: float

    @property
    def key(self) -> tuple[str, int, float]:
        """Equal for the same run."""
        return self.tables, self.seed, self.seconds_allowed


class CpuClock(Clock):
    """A clock that counts the CPU seconds of this process: for machines that others use too."""

    of_one_process = True

    def __init__(self, seconds: float | None = None, whole: Clock | None = None) -> None:
        super().__init__(seconds, whole)
        self.begun = time.process_time()

    def spent(self) -> float:
        """CPU seconds since the start."""
        return time.process_time() - self.begun


def runs(spec: str) -> Iterator[tuple[str, int, float]]:
    """The runs of a specification: the kind of tables, the seed, the seconds."""
    what, _, seconds = spec.partition("@")
    tables, _, seeds = what.rpartition(":")
    for part in seeds.split(","):
        first, _, last = part.partition("-")
        for seed in range(int(first), int(last or first) + 1):
            yield tables, seed, float(seconds or 60)


def table_of(tables: str, seed: int) -> Table:
    """The table of a kind such as `class1:30x30` or `herrington:100x100:1%`."""
    kind, shape, *share = tables.split(":")
    rows, columns = (int(size) for size in shape.split("x"))
    if kind == "herrington":
        return herrington(rows, columns, float(share[0].rstrip("%")) / 100, seed)
    return {"class1": class1, "class2": class2}[kind](rows, columns, seed)


def measure(tables: str, seed: int, clock: Clock) -> PlaneResult:
    """One run of `exact`, as figures."""
    table = table_of(tables, seed)
    wall, cpu = time.monotonic(), time.process_time()
    found = protect(table, "exact", clock=clock)
    assert found.bound is not None
    return PlaneResult(
        tables=tables,
        seed=seed,
        seconds_allowed=clock.seconds or 0.0,
        cost=float(found.cost),
        lower_bound=float(table.shown_cost(found.bound.lower_bound)),
        gap=float("inf") if found.gap is None else found.gap,
        optimal=found.optimal,
        safe=found.audit.safe,
        bound_by=found.bound.kind,
        cpu_seconds=round(time.process_time() - cpu, 2),
        wall_seconds=round(time.monotonic() - wall, 2),
    )


def read(path: Path) -> list[PlaneResult]:
    """The results of earlier runs."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_result(row) for row in csv.DictReader(file)]


def _result(row: dict[str, str]) -> PlaneResult:
    values: dict[str, Any] = {}
    for field in fields(PlaneResult):
        text = row[field.name]
        kind = str(field.type)
        values[field.name] = text == "True" if kind == "bool" else {"str": str, "int": int, "float": float}[kind](text)
    return PlaneResult(**values)


def append(path: Path, result: PlaneResult) -> None:
    """Keep a result as a further line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(PlaneResult)])
        if new:
            writer.writeheader()
        writer.writerow(asdict(result))


def summary(results: Sequence[PlaneResult]) -> str:
    """The results as a Markdown table, a line per kind of tables and seconds."""
    best: dict[tuple[str, int], float] = {}
    groups: dict[tuple[str, float], list[PlaneResult]] = {}
    for result in results:
        name = (result.tables, result.seed)
        best[name] = min(result.cost, best.get(name, result.cost))
        groups.setdefault((result.tables, result.seconds_allowed), []).append(result)
    lines = [
        "| tables | seconds allowed | runs | proven | safe | mean gap | largest gap | above best known | longest, s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (tables, seconds), group in groups.items():
        above = max(result.cost / max(1e-9, best[tables, result.seed]) - 1 for result in group)
        gaps = [result.gap for result in group]
        lines.append(
            f"| {tables} | {seconds:g} | {len(group)} | {sum(result.optimal for result in group)} "
            f"| {sum(result.safe for result in group)} | {sum(gaps) / len(gaps):.2%} | {max(gaps):.2%} "
            f"| {above:.2%} | {max(result.wall_seconds for result in group):.1f} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Run what has not been run, and sum up."""
    parser = parser_of("plane", __doc__)
    parser.add_argument("specs", nargs="*", default=EVERYTHING, metavar="RUN", help="runs by name (default: all)")
    parser.add_argument(
        "--minutes",
        type=float,
        default=float("inf"),
        metavar="N",
        help="start no run after so many minutes (default: no limit)",
    )
    parser.add_argument("--cpu", action="store_true", help="count CPU seconds instead of wall seconds")
    parser.add_argument(
        "--out", type=Path, default=Path("bench/out"), metavar="FOLDER", help="folder of plane.csv and plane.md"
    )
    chosen = parser.parse_args(arguments)
    path = chosen.out / "plane.csv"
    begun = time.monotonic()
    protect(class1(30, 30, 2), "exact")  # compiles what has not been compiled yet
    done = {result.key for result in read(path)}
    for tables, seed, seconds in [run for spec in chosen.specs for run in runs(spec)]:
        if (tables, seed, seconds) in done:
            continue
        if time.monotonic() - begun > 60 * chosen.minutes:
            print("the time is up; run again to go on")
            break
        result = measure(tables, seed, (CpuClock if chosen.cpu else Clock)(seconds))
        append(path, result)
        print(result, flush=True)
    text = summary(read(path))
    (chosen.out / "plane.md").write_text(text)
    print(text)
    return 0
