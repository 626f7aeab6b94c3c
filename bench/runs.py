"""One run of one method on one table: how it is measured, and the CSV file that keeps the finished ones.

Times are CPU seconds of this process, all threads together, so that other work on the machine counts little; a time
limit counts CPU seconds too. The exact audit is timed apart, and no lower bound is computed unless the method
itself proves one.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.machine import commit
from bench.measures import MEASURES
from bench.plane import CpuClock
from bench.tables import SMALL, named_table
from gpuga import compiling
from gpuga.anytime import make_safe
from gpuga.backends import chosen_backend
from gpuga.context import Clock, Context
from gpuga.errors import GpugaError
from gpuga.methods import find_method
from gpuga.protect import resolved_solver
from gpuga.safety.exposure import initially_exposed
from gpuga.table import Table

MOST_COMPILED = 0.05
"""Seconds of compilation that may lie within a measured run."""

COUNTS = (
    "variables", "constraints", "nodes", "items", "offspring", "infeasible_offspring", "pairs_without_offspring",
    "failed_levels", "levels_without_rectangle", "runs",
)  # fmt: skip
"""What of a method's own details is worth a column in `details`: counts only."""


@dataclass(frozen=True)
class Run:
    """What to run; `expected` CPU seconds are a first guess for runs that nobody has measured yet.

    A run that is `traced` keeps its improvements: evaluations, CPU seconds and cost of each.
    """

    paper: str
    experiment: str
    table: str
    method: str
    variant: str = ""
    seed: int = 1
    seconds: float | None = None
    strict: bool = False
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)
    expected: float = field(default=1.0, compare=False)
    traced: bool = field(default=False, compare=False)

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the same run as one of another day."""
        limit = "" if self.seconds is None else f"{self.seconds:g}"
        return (self.paper, self.experiment, self.table, self.method, self.variant, str(self.seed), limit)


@dataclass(frozen=True)
class Row:
    """A finished run. Costs are in the table's own units; `fault` says why there is no pattern."""

    paper: str
    experiment: str
    table: str
    method: str
    variant: str
    seed: int
    limit: str
    cells: int
    sensitive: int
    cost: float | None = None
    secondary: int | None = None
    lower_bound: float | None = None
    optimal: bool = False
    safe: bool = False
    audited: int | None = None
    repaired: int | None = None
    generations: int | None = None
    evaluations: int | None = None
    cpu_seconds: float = 0.0
    audit_cpu_seconds: float | None = None
    details: str = ""
    fault: str = ""
    commit: str = ""
    date: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The key of the run that it belongs to."""
        return (self.paper, self.experiment, self.table, self.method, self.variant, str(self.seed), self.limit)

    def detail(self, name: str) -> float | None:
        """One of the method's own counts."""
        value: float | None = json.loads(self.details).get(name) if self.details else None
        return value

    @property
    def trace(self) -> list[list[float]]:
        """Evaluations, CPU seconds and cost of every improvement of a traced run."""
        points: list[list[float]] = json.loads(self.details).get("trace", []) if self.details else []
        return points


def context_of(run: Run, clock: Clock) -> Context:
    """The surroundings of a run: the CPU back end, HiGHS."""
    return Context(
        backend=chosen_backend("cpu").name,
        lp="highs",
        solver=resolved_solver("highs"),
        seed=run.seed,
        clock=clock,
        strict=run.strict,
    )


class Trace:
    """The improvements of a run, as `Context.on_generation` sees them: costs without what is suppressed in any case."""

    def __init__(self, table: Table) -> None:
        self.table, self.begun = table, time.process_time()
        self.points: list[list[float]] = []

    def __call__(self, evolution: Any) -> None:
        """A generation is finished."""
        cost = float(self.table.shown_cost(evolution.best.fitness.values[0]))
        spent = round(time.process_time() - self.begun, 3)
        if not self.points or cost < self.points[-1][2]:
            self.points.append([evolution.evaluations, spent, cost])

    def up_to(self, cost: float) -> list[list[float]]:
        """The points with whole costs, of which the last is the one given."""
        return [[calls, spent, round(one - self.points[-1][2] + cost, 3)] for calls, spent, one in self.points]


def measured(run: Run) -> Row:
    """Run it; once more if functions had to be compiled meanwhile, since that is no part of the method."""
    before = compiling.seconds()
    row = _measured(run)
    return row if compiling.seconds() - before < MOST_COMPILED else _measured(run)


def _measured(run: Run) -> Row:
    """A method that finds nothing gives a row with its fault; faults of this program are raised."""
    table = named_table(run.table)
    context = context_of(run, CpuClock(run.seconds))
    trace = Trace(table)
    if run.traced:
        context = replace(context, on_generation=trace)
    result: dict[str, Any] = {}
    begun = time.process_time()
    if run.method in MEASURES:
        details = MEASURES[run.method](table, context)
        return _finished(run, table, {"details": json.dumps(details)}, time.process_time() - begun)
    try:
        method = find_method(run.method)
        found = method.load(method.checked(run.options))(table, context)
        done = time.process_time()
        suppressed, verdict, repaired = make_safe(table, found.suppressed, replace(context, clock=Clock()), found.proof)
        cost = float(table.shown_cost(table.cost(suppressed)))
        result = {
            "cost": cost,
            "secondary": int((suppressed & ~table.primary).sum()),
            "safe": verdict.safe,
            "audited": verdict.audited,
            "repaired": repaired,
            "generations": found.generations,
            "evaluations": found.evaluations,
            "audit_cpu_seconds": round(time.process_time() - done, 3),
            "details": json.dumps(
                {k: found.details[k] for k in COUNTS if k in found.details}
                | ({"trace": trace.up_to(cost)} if run.traced else {})
            ),
        }
        if found.bound is not None:
            result["lower_bound"] = float(table.shown_cost(found.bound.lower_bound))
            result["optimal"] = bool(found.bound.proven and table.cost(suppressed) <= found.bound.lower_bound)
        if run.method == "modified-ip":
            result["details"] = json.dumps(
                {**json.loads(result["details"]), "initially_exposed": len(initially_exposed(table))}
            )
    except GpugaError as fault:
        done = time.process_time()
        result = {"fault": str(fault)}
    return _finished(run, table, result, done - begun)


def _finished(run: Run, table: Table, result: dict[str, Any], spent: float) -> Row:
    return Row(
        paper=run.paper,
        experiment=run.experiment,
        table=run.table,
        method=run.method,
        variant=run.variant,
        seed=run.seed,
        limit=run.key[-1],
        cells=len(table),
        sensitive=len(table.sensitive),
        commit=commit(),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        cpu_seconds=round(spent, 4),
        **result,
    )


def warm_up(run: Run, seen: set[tuple[str, str]]) -> None:
    """Have everything compiled that a run needs, by a run of its method on a small table of the same kind."""
    kind, name = run.table.split(":")[0], f"{run.method} {run.variant}".strip()
    if (name, kind) not in seen:
        seen.add((name, kind))
        small = dict(run.options)
        if run.method not in MEASURES and any(one.name == "generations" for one in find_method(run.method).options):
            small["generations"] = min(3, run.options.get("generations", 3))
        measured(Run(run.paper, run.experiment, SMALL[kind], run.method, seconds=5.0, strict=run.strict, options=small))


class Store:
    """The finished rows in a CSV file; each is written when it is finished, so that a killed run loses one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = read_rows(path) if path.exists() else []
        self._keys = {row.key for row in self.rows}

    def __contains__(self, run: Run) -> bool:
        return run.key in self._keys

    def add(self, row: Row) -> None:
        """Append a row to the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = not self.path.exists()
        with self.path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [f.name for f in fields(Row)])
            if new:
                writer.writeheader()
            writer.writerow(asdict(row))
        self.rows.append(row)
        self._keys.add(row.key)

    def forget(self, methods: Iterable[str]) -> None:
        """Drop the rows of some methods, so that they are measured again."""
        kept = [row for row in self.rows if row.method not in set(methods)]
        if len(kept) < len(self.rows):
            write_rows(self.path, kept)
            self.rows, self._keys = kept, {row.key for row in kept}


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """A whole file of rows, in place of the old one."""
    partial = path.with_name(f".{path.name}.part")
    with partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    partial.replace(path)


def read_rows(path: Path) -> list[Row]:
    """The rows of a file; a last line that was cut off while being written is left out."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_row(line) for line in csv.DictReader(file) if None not in line.values()]


def _row(line: Mapping[str, str]) -> Row:
    whole = {"seed", "cells", "sensitive", "secondary", "audited", "repaired", "generations", "evaluations"}
    real = {"cost", "lower_bound", "cpu_seconds", "audit_cpu_seconds"}
    values: dict[str, Any] = {}
    for name, text in line.items():
        if name in whole:
            values[name] = int(text) if text else None
        elif name in real:
            values[name] = float(text) if text else None
        elif name in {"optimal", "safe"}:
            values[name] = text == "True"
        else:
            values[name] = text
    return Row(**values)
