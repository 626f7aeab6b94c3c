"""Equal time for every method, and for `circuits` without each of its ingredients; all patterns audited.

    python -m bench contest --json FILE [--quick] [--kind NAME ...] [--method NAME ...] [--tables 10] [--seconds N]
    python -m bench contest --ablation ...

Methods are named as in `gpuga methods`; `circuits-INGREDIENT` is `circuits` without that ingredient. Rows are written
as they come, so that a run can be interrupted; runs that the file already has are not repeated.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import gpuga
from bench.kinds import KINDS, QUICK, Kind
from bench.options import kind_names, parser_of
from bench.statistics import mean_interval
from gpuga.errors import GpugaError
from gpuga.parameters import INGREDIENTS

METHODS = ("circuits", "exact", "gensup", "hypercube")


def main(arguments: list[str]) -> int:
    """Run what is missing, print the table."""
    given = _parser().parse_args(arguments)
    kinds = QUICK if given.quick else [KINDS[name] for name in given.kind or KINDS]
    methods = given.method or METHODS
    if given.ablation:
        methods = ("circuits", *(f"circuits-{name}" for name in INGREDIENTS))
    path, tables = Path(given.json), 2 if given.quick else given.tables
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
        print(summary(kind, [row for row in rows if row["table"].startswith(f"{kind.name}-")]), flush=True)
    return 0


def warm_up(kind: Kind, method: str, warm: set[tuple[str, str]]) -> None:
    """Have everything compiled and loaded that a method needs for a kind, by an unmeasured run on a small table."""
    family = kind.name.partition("-")[0]
    if (family, method) not in warm:
        warm.add((family, method))
        small = next((one for one in QUICK if one.name.partition("-")[0] == family), QUICK[0])
        row_of(small, 3, method, small.seconds)


def row_of(
    kind: Kind, seed: int, method: str, seconds: float | None, backend: str = "auto", **options: Any
) -> dict[str, Any]:
    """One run; a method that cannot do the table, or not in time, has no cost."""
    table, (name, _, without) = kind.make(seed), method.partition("-")
    if without in INGREDIENTS:
        options["without"] = (without,)
    else:
        name = method
    row: dict[str, Any] = {"table": f"{kind.name}-{seed}", "method": method, "seconds": seconds}
    begun = time.monotonic()
    try:
        found = gpuga.protect(table, name, seed=seed, seconds=seconds, backend=backend, options=options)
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
    }


def summary(kind: Kind, rows: list[dict[str, Any]]) -> str:
    """Per method: by how much it is dearer than `circuits` on the same table, on average and at worst; proofs."""
    by_table: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        by_table[row["table"]][row["method"]] = row
    header = f"{'method':<24}{'mean':>9}{'interval':>20}{'most':>9}{'proofs':>8}"
    lines = [f"{kind.name}: {len(by_table)} tables, dearer than circuits by", header]
    for method in dict.fromkeys(row["method"] for row in rows):
        pairs = [(one[method], one["circuits"]) for one in by_table.values() if method in one and "circuits" in one]
        both = [(own["cost"], ours["cost"]) for own, ours in pairs if own["cost"] is not None and ours["cost"]]
        if not both:
            lines.append(f"{method:<24}{'no pattern':>9}")
            continue
        dearer = [100 * (cost / ours - 1) for cost, ours in both]
        mean, low, high = mean_interval(dearer)
        proofs = sum(bool(own["proven"]) for own, _ in pairs)
        lines.append(f"{method:<24}{mean:>+8.2f}%{f'[{low:+.2f}, {high:+.2f}]':>20}{max(dearer):>+8.2f}%{proofs:>8}")
    return "\n".join(lines)


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
