"""Equal time for every method, and for `circuits` without each of its ingredients; all patterns audited.

    python -m bench contest --json FILE [--quick] [--kind NAME ...] [--method NAME ...] [--tables 10] [--seconds N]
    python -m bench contest --json FILE --file TABLE.jj ...
    python -m bench contest --ablation ...

Methods are named as in `gpuga methods`; `circuits-INGREDIENT` is `circuits` without that ingredient, and `exact@2` is
`exact` with twice the time. Rows are written as they come, so that a run can be interrupted; runs that the file already
has are not repeated.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gpuga
from bench.kinds import KINDS, QUICK, Kind, kind_of_file
from bench.options import kind_names, parser_of
from bench.sections import Section, figure
from bench.sections import seconds as seconds_text
from bench.statistics import mean_interval
from gpuga.errors import GpugaError
from gpuga.parameters import INGREDIENTS
from gpuga.table.table import Table

METHODS = ("circuits", "exact", "gensup", "hypercube")


def main(arguments: list[str]) -> int:
    """Run what is missing, print the table."""
    given = _parser().parse_args(arguments)
    methods = given.method or METHODS
    if given.ablation:
        methods = ("circuits", *(f"circuits-{name}" for name in INGREDIENTS))
    path, kinds, tables = Path(given.json), kinds_of(given), 2 if given.quick else given.tables
    rows: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    known = {(row["table"], row["method"], row["seconds"]) for row in rows}
    warm = set[tuple[str, str]]()
    for kind in kinds:
        seconds = given.seconds or kind.seconds
        for seed in range(1, tables + 1):
            for method in methods:
                if (f"{kind.name}-{seed}", method, seconds) not in known:
                    warm_up(kind, method, warm)
                    rows.append(row_of(kind, seed, method, seconds))
                    path.write_text(json.dumps(rows, indent=1) + "\n")
        print(summary(kind, [row for row in rows if kind_of(row) == kind.name]), flush=True)
    return 0


def kinds_of(given: argparse.Namespace) -> Sequence[Kind]:
    """What is asked for: files, kinds by name, or all kinds."""
    if given.quick:
        return QUICK
    if given.file:
        return [kind_of_file(path) for path in given.file]
    return [KINDS[name] for name in given.kind or KINDS]


def kind_of(row: dict[str, Any]) -> str:
    """The kind of a row's table, which is its name without the seed."""
    return str(row["table"]).rpartition("-")[0]


def warm_up(kind: Kind, method: str, warm: set[tuple[str, str]]) -> None:
    """Have everything compiled and loaded that a method needs for a kind, by an unmeasured run on a small table."""
    family = kind.name.partition("-")[0]
    if (family, method) not in warm:
        warm.add((family, method))
        small = next((one for one in QUICK if one.name.partition("-")[0] == family), QUICK[-1])
        row_of(small, 3, method, small.seconds)


def row_of(
    kind: Kind, seed: int, method: str, seconds: float | None, backend: str = "auto", **options: Any
) -> dict[str, Any]:
    """One run; a method that cannot do the table, or not in time, has no cost."""
    method_alone, _, times = method.partition("@")
    table, (name, _, without) = kind.make(seed), method_alone.partition("-")
    if without in INGREDIENTS:
        options["without"] = (without,)
    else:
        name = method_alone
    row: dict[str, Any] = {"table": f"{kind.name}-{seed}", "method": method, "seconds": seconds}
    begun, allowed = time.monotonic(), None if seconds is None else seconds * float(times or 1)
    course = Course(table, allowed)
    watched: dict[str, Any] = {"on_generation": course} if name == "circuits" else {}
    try:
        found = gpuga.protect(table, name, seed=seed, seconds=allowed, backend=backend, options=options, **watched)
    except GpugaError as fault:
        return row | {"cost": None, "lower_bound": None, "proven": False, "note": str(fault)}
    assert found.audit.safe
    bound = found.bound
    return row | {
        "cost": float(found.cost),
        "lower_bound": None if bound is None else float(table.shown_cost(bound.lower_bound)),
        "proven": bound is not None and bound.lower_bound >= found.scaled_cost,
        "generations": found.found.generations,
        "elapsed": round(time.monotonic() - begun, 2),
        **({"course": course.costs} if course.costs else {}),
    }


class Course:
    """What the best of evolution costs at the end of each part of the time, parts of which each is twice the last."""

    PARTS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)

    def __init__(self, table: Table, seconds: float | None) -> None:
        self.table, self.begun = table, time.monotonic()
        self.ends = [] if seconds is None else [part * seconds for part in self.PARTS]
        self.costs: dict[str, float] = {}
        self._last: float | None = None

    def __call__(self, evolution: Any) -> None:
        """Note what the best cost when each part ended; parts before the first generation have nothing."""
        spent, table = time.monotonic() - self.begun, self.table
        while self.ends and spent >= self.ends[0]:
            end = self.ends.pop(0)
            if self._last is not None:
                self.costs[f"{end:g}"] = self._last
        self._last = float(table.shown_cost(table.cost(table.forced) + evolution.best.cost))


class Comparison(NamedTuple):
    """By how many per cent a method is dearer than `circuits`, table by table, and how many optima it proved."""

    method: str
    dearer: list[float]
    proofs: int


def comparisons(rows: Sequence[dict[str, Any]]) -> list[Comparison]:
    """Every method against `circuits` on the same tables and in the same time."""
    by_run: dict[tuple[str, float], dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        by_run[row["table"], row["seconds"]][row["method"]] = row
    found: list[Comparison] = []
    for method in dict.fromkeys(row["method"] for row in rows):
        pairs = [(one[method], one["circuits"]) for one in by_run.values() if method in one and "circuits" in one]
        both = [(own["cost"], ours["cost"]) for own, ours in pairs if own["cost"] is not None and ours["cost"]]
        dearer = [100 * (cost / ours - 1) for cost, ours in both]
        found.append(Comparison(method, dearer, sum(bool(own["proven"]) for own, _ in pairs)))
    return found


def summary(kind: Kind, rows: list[dict[str, Any]]) -> str:
    """Per method: by how much it is dearer than `circuits` on the same table, on average, at least, at most; proofs."""
    header = f"{'method':<24}{'mean':>9}{'interval':>20}{'least':>9}{'most':>9}{'proofs':>8}"
    lines = [f"{kind.name}: {len({row['table'] for row in rows})} tables, dearer than circuits by", header]
    for method, dearer, proofs in comparisons(rows):
        if not dearer:
            lines.append(f"{method:<24}{'no pattern':>9}")
            continue
        mean, low, high = mean_interval(dearer)
        interval, ends = f"[{low:+.2f}, {high:+.2f}]", f"{min(dearer):>+8.2f}%{max(dearer):>+8.2f}%"
        lines.append(f"{method:<24}{mean:>+8.2f}%{interval:>20}{ends}{proofs:>8}")
    return "\n".join(lines)


def comparison_section(name: str, title: str, rows: Sequence[dict[str, Any]], words: str) -> Section | None:
    """By how much every other method is dearer than `circuits`, kind by kind; None where nothing is compared."""
    header = ("kind", "time limit", "method", "tables", "dearer by", "95 % interval", "least, most", "proofs")
    body = []
    for kind, limit in dict.fromkeys((kind_of(row), row["seconds"]) for row in rows):
        its = [row for row in rows if (kind_of(row), row["seconds"]) == (kind, limit)]
        for method, dearer, proofs in comparisons(its):
            if dearer and method != "circuits":
                mean, low, high = mean_interval(dearer)
                interval = f"{low:+.2f} to {high:+.2f}" if len(dearer) > 1 else "–"
                ends = f"{min(dearer):+.2f}, {max(dearer):+.2f}"
                figures = (figure(len(dearer)), f"{mean:+.2f} %", interval, ends, figure(proofs))
                body.append((kind, seconds_text(limit), method, *figures))
    return Section(name, title, header, body, words) if body else None


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("contest", __doc__)
    parser.add_argument("--json", required=True, metavar="FILE", help="results; runs that it has are not repeated")
    parser.add_argument("--quick", action="store_true", help="two small kinds, two tables, two seconds")
    parser.add_argument(
        "--kind",
        action="append",
        choices=sorted(KINDS),
        metavar="KIND",
        help=f"kind of tables: {kind_names()}; may be repeated (default: all)",
    )
    parser.add_argument(
        "--file", action="append", metavar="TABLE", help="table of a file instead of a kind; may be repeated"
    )
    parser.add_argument(
        "--method", action="append", metavar="NAME", help=f"method; may be repeated (default: {', '.join(METHODS)})"
    )
    parser.add_argument(
        "--ablation", action="store_true", help="compare circuits with circuits without each ingredient"
    )
    parser.add_argument("--tables", type=int, default=10, metavar="N", help="number of tables of each kind")
    parser.add_argument(
        "--seconds", type=float, metavar="N", help="time limit of a run in seconds (default: that of the kind)"
    )
    return parser
