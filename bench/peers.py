"""Ours and what a user would pick instead, on the same tables in one run: python -m bench peers.

Tau-ARGUS through PyPI's `pytauargus` (extra `peers`): its optimal and its modular method. R's sdcTable and
GaussSuppression where an Rscript with them is found. Every table is in whole numbers with value weights; every result,
ours and theirs, is audited by our exact attacker. Each run has a process of its own, and the peers a temporary folder
each, since some leave files behind.
"""

from __future__ import annotations

import csv
import json
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bench.options import parser_of
from bench.peers_2d import alone, timed, write_for_peer
from bench.runs import Run, measured, warm_up
from bench.sections import Section, figure, markdown, percent, seconds, write_section
from bench.tables import named_table
from gpuga import audit
from gpuga.files.atomic import write_whole
from gpuga.table.table import Mask, Table

TABLES = (
    "whole:20x20:5%:1",
    "whole:30x30:2%:1",
    "whole:50x50:2%:1",
    "class1:50x50:1",
    "smith3d:8x6x5:0.1:0.1:0:1",
    "smith3d:10x14x4:0.1:0.2:2:1",
    "nested:17x10x8:0.05:1",
)
OURS = ("circuits", "exact", "modular", "hypercube")
R_SCRIPT = Path(__file__).with_name("peers.R")


@dataclass(frozen=True)
class Result:
    """One tool on one table; `fault` says why there is no pattern."""

    table: str
    tool: str
    cost: float | None = None
    secondary: int | None = None
    claims_optimal: bool = False
    lower_bound: float | None = None
    safe: bool | None = None
    exposed: int | None = None
    cpu_seconds: float | None = None
    wall_seconds: float | None = None
    fault: str = ""


def ours(name: str, method: str, minutes: float) -> dict[str, Any]:
    """A method of this project, by the same measure as in the papers' experiments; loading is not counted."""
    answer: dict[str, Any] = {}
    run = Run("peers", "", name, method, seconds=60 * minutes)
    warm_up(run, set())
    with timed(answer):
        row = measured(run)
    chosen = ("cost", "secondary", "lower_bound", "safe", "fault")
    return {**answer, **{key: getattr(row, key) for key in chosen}, "claims_optimal": row.optimal, "exposed": 0}


def tau_argus_optimal(name: str, minutes: float) -> dict[str, Any]:
    """Its optimal method on the table as a .jj file; it answers 0 when it believes its pattern optimal."""
    from pytauargus import HiTaSCtrl

    table, answer = named_table(name), dict[str, Any]()
    with _own_folder() as folder:
        write_for_peer(table, folder / "table.jj")
        with timed(answer):
            code = HiTaSCtrl().full_jj("table.jj", "out.txt", max_time=max(1, round(minutes)))
        out = folder / "out.txt"
        if code > 1 or not out.exists():
            return {**answer, "fault": f"code {code}"}
        cells = [int(line.split()[0]) for line in out.read_text().splitlines() if line.strip()]
    return {**answer, **_judged(table, cells), "claims_optimal": code == 0}


def tau_argus_modular(name: str, minutes: float) -> dict[str, Any]:
    """Its modular method (HiTaS) on the table as codes with statuses and levels, hierarchies as .hrc files."""
    from pytauargus.engine import run_batch
    from pytauargus.result import parse_simple_tab

    table, answer = named_table(name), dict[str, Any]()
    assert table.grid is not None, "peers get tables with dimensions"
    names = [dimension.name for dimension in table.grid.dimensions]
    with _own_folder() as folder:
        _write_tabular(table, folder)
        rule = f"MOD(1, {max(1, round(minutes))}, 0, 0, 0)"  # no singleton rules: the tables have no contributors
        commands = [
            '<OPENTABLEDATA> "table.tab"',
            '<OPENMETADATA> "table.rda"',
            "<SPECIFYTABLE> " + "".join(f'"{n}"' for n in names) + '|"value"||',
            "<SAFETYRULE>",
            "<READTABLE>",
            f"<SUPPRESS> {rule}",
            '<WRITETABLE> (1, 5, "SO+", "out.tab")',
        ]
        (folder / "batch.arb").write_text("\n".join(commands) + "\n")
        with timed(answer):
            run_batch("batch.arb")
        rows = parse_simple_tab(folder / "out.tab", names, "value")
    place = {tuple(_labels(table, cell)): cell for cell in range(len(table))}
    hidden = [row for row in rows if str(row["status"]) in "UM"]
    cells = [place[tuple(str(row[n]).strip() or "Total" for n in names)] for row in hidden]
    return {**answer, **_judged(table, cells)}


def _labels(table: Table, cell: int) -> list[str]:
    assert table.grid is not None
    return [d.codes[int(c)] for d, c in zip(table.grid.dimensions, table.grid.coordinate[cell], strict=True)]


def _write_tabular(table: Table, folder: Path) -> None:
    """table.tab, table.rda and a .hrc file for each dimension that has groups."""
    assert table.grid is not None
    lines = []
    for cell in range(len(table)):
        value, mark = int(table.value[cell]), "U" if table.primary[cell] else "S"
        if value:
            levels = (int(table.levels.lower[cell]), int(table.levels.upper[cell])) if mark == "U" else ("", "")
            lines.append(";".join(map(str, [*_labels(table, cell), value, 3, mark, *levels])))
    (folder / "table.tab").write_text("\n".join(lines) + "\n")
    meta = ['<SEPARATOR> ";"', '<SAFE> "S"', '<UNSAFE> "U"', '<PROTECT> "P"']
    for dimension in table.grid.dimensions:
        meta += [f"{dimension.name} ", "<RECODEABLE>", '<TOTCODE> "Total"']
        groups = _groups(dimension)
        if groups:
            (folder / f"{dimension.name}.hrc").write_text("\n".join(groups) + "\n")
            meta += ["<HIERARCHICAL>", f'<HIERCODELIST> "{dimension.name}.hrc"', '<HIERLEADSTRING> "@"']
    meta += ["value ", "<NUMERIC>", "freq ", "<FREQUENCY>", "mark ", "<STATUS>"]
    meta += ["low ", "<NUMERIC> <LOWERPL>", "high ", "<NUMERIC> <UPPERPL>"]
    (folder / "table.rda").write_text("\n".join(meta) + "\n")


def _groups(dimension: Any) -> list[str]:
    """The lines of a .hrc file, children under their parent; none where all codes lie directly below the total."""
    root = dimension.root
    if all(int(p) in (-1, root) for p in dimension.parent):
        return []
    lines: list[str] = []

    def add(parent: int, depth: int) -> None:
        for code in np.flatnonzero(np.asarray(dimension.parent) == parent).tolist():
            lines.append("@" * depth + dimension.codes[code])
            add(code, depth + 1)

    add(root, 0)
    return lines


@contextmanager
def _own_folder() -> Iterator[Path]:
    """A temporary folder that is the working folder within."""
    with tempfile.TemporaryDirectory() as name, chdir(name):
        yield Path(name)


def _judged(table: Table, cells: Sequence[int]) -> dict[str, Any]:
    """Cost and our attacker's verdict on a pattern of a peer."""
    suppressed: Mask = table.forced.copy()
    suppressed[list(cells)] = True
    verdict = audit(table, suppressed, intervals=False)
    return {
        "cost": float(table.shown_cost(table.cost(suppressed))),
        "secondary": int((suppressed & ~table.primary).sum()),
        "safe": verdict.safe,
        "exposed": len(verdict.unsafe),
    }


def r_package(name: str, package: str, minutes: float) -> dict[str, Any]:
    """A package of R on the table as CSV files, run by the script beside this module."""
    table, answer = named_table(name), dict[str, Any]()
    with _own_folder() as folder:
        _write_for_r(table, folder)
        command = ["Rscript", str(R_SCRIPT), package]
        begun = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            with timed(answer):
                subprocess.run(command, check=True, capture_output=True, text=True, timeout=60 * minutes)
        except subprocess.TimeoutExpired:
            return {**answer, "fault": f"not finished within {minutes:g} minutes"}
        except subprocess.CalledProcessError as fault:
            return {**answer, "fault": (fault.stderr.strip().splitlines() or ["failed"])[-1]}
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        answer["cpu_seconds"] = round(spent.ru_utime + spent.ru_stime - begun.ru_utime - begun.ru_stime, 2)
        with (folder / "hidden.csv").open(encoding="utf-8", newline="") as file:
            hidden = [tuple(line) for line in csv.reader(file)][1:]
    place = {tuple(_labels(table, cell)): cell for cell in range(len(table))}
    return {**answer, **_judged(table, [place[labels] for labels in hidden])}


def _write_for_r(table: Table, folder: Path) -> None:
    """cells.csv and codes.csv."""
    assert table.grid is not None
    dimensions = table.grid.dimensions
    with (folder / "codes.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["dimension", "code", "parent"])
        for dimension in dimensions:
            for code in reversed(range(len(dimension.codes))):  # the total and groups lie last, and come first here
                parent = int(dimension.parent[code])
                writer.writerow([dimension.name, dimension.codes[code], dimension.codes[parent] if parent >= 0 else ""])
    with (folder / "cells.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(d.name for d in dimensions), "value", "primary", "inner", "lower", "upper"])
        for cell in range(len(table)):
            at = table.grid.coordinate[cell]
            leaf = all(bool(d.is_leaf[int(c)]) for d, c in zip(dimensions, at, strict=True))
            levels = int(table.levels.lower[cell]), int(table.levels.upper[cell])
            marks = int(table.primary[cell]), int(leaf)
            writer.writerow([*_labels(table, cell), int(table.value[cell]), *marks, *levels])


def missing_peers() -> dict[str, str]:
    """For each peer that cannot run here, why."""
    missing = {}
    if find_spec("pytauargus") is None:
        missing["tau-ARGUS"] = "pytauargus is not installed (pip install 'gpuga[peers]')"
    for package in ("sdcTable", "GaussSuppression"):
        if shutil.which("Rscript") is None:
            missing[package] = "no R is installed, and Debian 12 has no package of it, only of R itself"
        else:
            asked = ["Rscript", "-e", f'quit(status = !requireNamespace("{package}", quietly = TRUE))']
            if subprocess.run(asked, capture_output=True).returncode:
                missing[package] = "R is installed without the package, which Debian 12 does not have"
    return missing


def runs_of(name: str, minutes: float, missing: Container[str]) -> Iterator[Result]:
    """Every tool that is there on one table, each in a process of its own."""
    tools: dict[str, tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]] = {
        f"gpuga {method}": (ours, (name, method, minutes)) for method in OURS
    }
    if "tau-ARGUS" not in missing:
        tools["tau-ARGUS optimal"] = (tau_argus_optimal, (name, minutes))
        tools["tau-ARGUS modular"] = (tau_argus_modular, (name, minutes))
    for package in ("sdcTable", "GaussSuppression"):
        if package not in missing:
            tools[f"R {package}"] = (r_package, (name, package, minutes))
    for tool, (run, arguments) in tools.items():
        yield Result(name, tool, **alone(guarded, run, *arguments))


def guarded(run: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """What a tool answers; what it raises is its fault, and no reason to leave the others out."""
    try:
        return run(*arguments)
    except Exception as fault:
        return {"fault": f"{type(fault).__name__}: {fault}".splitlines()[0][:200]}


def section(results: Sequence[Result], missing: Mapping[str, str]) -> Section:
    """The results, table by table, with the gap to the best bound of ours."""
    bounds: dict[str, float] = {}
    for result in results:
        if result.lower_bound is not None:
            bounds[result.table] = max(bounds.get(result.table, 0.0), result.lower_bound)
    body = []
    for result in results:
        bound = bounds.get(result.table, 0.0)
        gap = result.cost / bound - 1 if result.cost is not None and bound > 0 else None
        verdict = result.fault or ("safe" if result.safe else f"UNSAFE: {result.exposed} exposed")
        body.append(
            (
                result.table,
                result.tool,
                figure(result.cost),
                figure(result.secondary),
                percent(gap, 2),
                "yes" if result.claims_optimal else "no",
                verdict,
                seconds(result.cpu_seconds),
                seconds(result.wall_seconds),
            )
        )
    header = (
        "table",
        "tool",
        "cost",
        "secondary cells",
        "gap to our bound",
        "claims optimal",
        "our attacker's verdict",
        "CPU s",
        "wall s",
    )
    words = (
        "All tools got the same tables, statuses, levels and weights; every pattern went through our exact attacker. "
    )
    words += " ".join(f"{peer} was not run: {why}." for peer, why in missing.items())
    return Section("peers", "Ours and what a user would pick instead", header, body, words.strip())


def kept_results(path: Path) -> list[Result]:
    """The results of an earlier call; those of other tables are kept."""
    if not path.exists():
        return []
    return [Result(**result) for result in json.loads(path.read_text(encoding="utf-8"))["results"]]


def main(arguments: list[str]) -> int:
    """Run every tool on every table, print and write the results."""
    parser = parser_of("peers", __doc__)
    parser.add_argument(
        "tables",
        nargs="*",
        default=TABLES,
        metavar="TABLE",
        help="tables by name, such as class1:50x50:1 (default: the tables of the report)",
    )
    parser.add_argument(
        "--minutes", type=float, default=1.0, metavar="N", help="time limit of each tool on each table, in minutes"
    )
    parser.add_argument("--out", type=Path, default=Path("bench/out"), metavar="FOLDER", help="folder of the results")
    given = parser.parse_args(arguments)
    missing = missing_peers()
    for peer, why in missing.items():
        print(f"{peer}: {why}", flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    results = [result for result in kept_results(given.out / "peers.json") if result.table not in given.tables]
    for name in given.tables:
        for result in runs_of(name, given.minutes, missing):
            results.append(result)
            print(json.dumps(asdict(result)), flush=True)
            kept = {"missing": missing, "results": [asdict(one) for one in results]}
            write_whole(given.out / "peers.json", json.dumps(kept, indent=1) + "\n")
    found = section(results, missing)
    write_section(found, given.out)
    print("\n" + markdown(found))
    return 0
