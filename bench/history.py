"""A small fixed set of runs, kept over time: python -m bench history [--file FILE] [--against VERSION].

Every call adds an entry with version, commit, date and processor, and says what got slower or worse since the last
entry of the same processor, or since that of a version or commit; the exit code is 1 where anything did. Most methods
are bounded by generations, so that costs are the same in every run of a version; times are CPU seconds. Meant to be run
by hand or on a schedule, in less than two minutes.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from bench.instructions import NOT_COUNTED, Counted, count_instructions
from bench.machine import machine
from bench.options import parser_of
from bench.runs import Row, Run, measured, warm_up
from bench.sections import figure, markdown_table, seconds

HERRINGTON, CLASS1, SMITH3D = "herrington:60x60:1%:1", "class1:60x60:1", "smith3d:10x8x6:0.1:0.1:0:1"
RUNS = (
    Run("history", "2-D", HERRINGTON, "hypercube"),
    Run("history", "2-D", HERRINGTON, "shortest-path"),
    Run("history", "2-D", HERRINGTON, "heurgene", options={"generations": 50}),
    Run("history", "2-D", HERRINGTON, "gensup", options={"generations": 5}),
    Run("history", "2-D", HERRINGTON, "circuits", seconds=6.0, options={"generations": 2}),
    Run("history", "2-D", "herrington:60x60:3%:1", "exact", seconds=6.0),
    Run("history", "2-D", CLASS1, "circuits", seconds=6.0, options={"generations": 2}),
    Run("history", "2-D", CLASS1, "exact", seconds=6.0),
    Run("history", "2-D", "class2:100x100:1", "circuits", seconds=6.0, options={"generations": 2}),
    Run(
        "history", "2-D", "smith2d:200x5:0.10:0.25:6", "ordering-ga", options={"variant": "group-k", "generations": 20}
    ),
    Run("history", "3-D", SMITH3D, "hypercube"),
    Run("history", "3-D", SMITH3D, "circuits", seconds=6.0, options={"generations": 1}),
    Run("history", "3-D", "smith3d:10x14x4:0.1:0.2:2:1", "modular", seconds=6.0),
    Run("history", "3-D", "smith3d:100x27x18:0.30:0.49:0:1", "hypercube", seconds=6.0),
    Run("history", "small", "serpell:8x8:13:13:1", "classical-ip", seconds=6.0),
)
UNLIMITED = tuple(run for run in RUNS if run.seconds is None)
"""The runs that no time limit ends, whose instructions are the same in every run of a version."""
SLOWER, LEAST_SECONDS = 1.3, 0.5
"""A run counts as slower when it takes so many times, and so many seconds, longer than before."""
MORE_INSTRUCTIONS = 1.05
"""Counts of the same version differ by about a hundredth."""
NOISE = 0.002
"""Costs and bounds of runs that a time limit ends differ by about so much from one measurement to the next."""


@dataclass(frozen=True)
class HistoryEntry:
    """One run of one day."""

    date: str
    version: str
    commit: str
    processor: str
    table: str
    method: str
    cost: float | None
    lower_bound: float | None
    cpu_seconds: float
    audit_cpu_seconds: float | None
    fault: str
    instructions: float | None = None
    counted_by: str = ""

    @classmethod
    def of(cls, row: Row, here: dict[str, str], counted: Counted = NOT_COUNTED) -> HistoryEntry:
        """The entry of a finished row on this machine, with its instructions where they were counted."""
        return cls(
            here["date"],
            here["gpuga"],
            here["commit"],
            here["processor"],
            row.table,
            row.method,
            row.cost,
            row.lower_bound,
            row.cpu_seconds,
            row.audit_cpu_seconds,
            row.fault,
            counted.instructions.get((row.table, row.method)),
            counted.by if (row.table, row.method) in counted.instructions else "",
        )


def read_entries(path: Path) -> list[HistoryEntry]:
    """All entries of the file, oldest first."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    numbers = ("cost", "lower_bound", "cpu_seconds", "audit_cpu_seconds", "instructions")
    read = [{n: (float(v) if v else None) if n in numbers else v for n, v in line.items()} for line in lines]
    return [HistoryEntry(**entry) for entry in read]  # type: ignore[arg-type]


def append_entries(path: Path, entries: Sequence[HistoryEntry]) -> None:
    """Add entries at the end; a file of an older version gets the columns that it does not have."""
    write_entries(path, [*read_entries(path), *entries])


def write_entries(path: Path, entries: Sequence[HistoryEntry]) -> None:
    """A whole file, in place of the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    with partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(HistoryEntry)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(entry) for entry in entries)
    partial.replace(path)


def findings(before: Sequence[HistoryEntry], now: Sequence[HistoryEntry]) -> list[str]:
    """What got worse or slower since the last entry of the same run on the same processor."""
    last = {(e.processor, e.table, e.method): e for e in before}
    said = []
    for entry in now:
        old = last.get((entry.processor, entry.table, entry.method))
        if old is None:
            continue
        what = f"{entry.method} on {entry.table}"
        if entry.fault and not old.fault:
            said.append(f"worse: {what} fails now: {entry.fault}")
        if entry.cost is not None and old.cost is not None and entry.cost > old.cost * (1 + NOISE):
            said.append(f"worse: {what} costs {figure(entry.cost, 1)}, was {figure(old.cost, 1)} at {old.commit}")
        if old.lower_bound is not None and (entry.lower_bound or 0.0) < old.lower_bound * (1 - NOISE):
            said.append(
                f"worse: the bound of {what} is {figure(entry.lower_bound, 1)}, was {figure(old.lower_bound, 1)}"
            )
        if entry.instructions and old.instructions and entry.counted_by == old.counted_by:
            if entry.instructions > MORE_INSTRUCTIONS * old.instructions:
                said.append(
                    f"slower: {what} takes {entry.instructions / 1e6:,.0f} million instructions, took "
                    f"{old.instructions / 1e6:,.0f} at {old.commit}"
                )
            continue  # a count does not depend on what else the machine does; seconds do
        spent, used = _spent(entry), _spent(old)
        if spent > SLOWER * used and spent > used + LEAST_SECONDS:
            said.append(f"slower: {what} takes {seconds(spent)} CPU s, took {seconds(used)} at {old.commit}")
    return said


def instruction_words(entries: Sequence[HistoryEntry]) -> str:
    """How instructions were counted."""
    by = {entry.counted_by for entry in entries if entry.instructions is not None}
    if not by:
        return "Instructions were not counted."
    return (
        f"Instructions were counted by {', '.join(sorted(by))} for the runs that no time limit ends; they do not "
        "depend on what else the machine does."
    )


def of_version(entries: Sequence[HistoryEntry], name: str) -> list[HistoryEntry]:
    """The entries of one version or commit."""
    return [entry for entry in entries if name in (entry.version, entry.commit)]


def _spent(entry: HistoryEntry) -> float:
    return entry.cpu_seconds + (entry.audit_cpu_seconds or 0.0)


def _count_later(path: Path) -> int:
    """Give the entries of this commit their instructions, which may be counted beside other work; exit code of it."""
    entries, here = read_entries(path), machine()["commit"]
    if not of_version(entries, here):
        print(f"there is no entry of {here} in {path}", file=sys.stderr)
        return 2
    counted = count_instructions(UNLIMITED)
    write_entries(path, [_with_count(entry, counted) if entry.commit == here else entry for entry in entries])
    return 0


def _with_count(entry: HistoryEntry, counted: Counted) -> HistoryEntry:
    count = counted.instructions.get((entry.table, entry.method))
    return replace(entry, instructions=count, counted_by=counted.by if count is not None else "")


def main(arguments: list[str]) -> int:
    """Run the set, add the entry, compare with the last one."""
    parser = parser_of("history", __doc__)
    parser.add_argument(
        "--file", type=Path, default=Path("bench/out/history.csv"), metavar="FILE", help="file of all entries"
    )
    compared = parser.add_mutually_exclusive_group()
    compared.add_argument("--against", metavar="VERSION", help="version or commit to compare with; else the last entry")
    compared.add_argument("--no-comparison", action="store_true", help="only add the entry")
    counting = parser.add_mutually_exclusive_group()
    counting.add_argument("--instructions", action="store_true", help="count instructions too, by callgrind (minutes)")
    counting.add_argument(
        "--only-instructions", action="store_true", help="run nothing, count those of the entries of this commit"
    )
    given = parser.parse_args(arguments)
    if given.only_instructions:
        return _count_later(given.file)
    if given.against and not of_version(read_entries(given.file), given.against):
        print(f"there is no entry of {given.against} in {given.file}", file=sys.stderr)
        return 2
    here, warm = machine(), set[tuple[str, str]]()
    counted = count_instructions(UNLIMITED) if given.instructions else NOT_COUNTED
    now = []
    for run in RUNS:
        warm_up(run, warm)
        now.append(HistoryEntry.of(measured(run), here, counted))
        print(f"{run.table}  {run.method}  {_spent(now[-1]):.2f} CPU s", flush=True)
    before = read_entries(given.file)
    append_entries(given.file, now)
    body = [
        (e.table, e.method, figure(e.cost, 1), figure(e.lower_bound, 1), seconds(_spent(e)), e.fault or "safe")
        for e in now
    ]
    print(markdown_table(("table", "method", "cost", "lower bound", "CPU s", "verdict"), body))
    if given.no_comparison:
        return 0
    said = findings(of_version(before, given.against) if given.against else before, now)
    print(
        "\n".join(said)
        if said
        else "nothing got slower or worse"
        if before
        else "the first entry: nothing to compare with"
    )
    return int(bool(said))
