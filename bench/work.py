"""Cost against counted work: what more children, as a device would make them in the same time, are worth.

    python -m bench work --json FILE [--kind NAME ...] [--seed 1] [--children 100000] [--population 256]

The prover takes one step per generation, so the curve does not depend on the machine; the time it takes does.
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import gpuga
from bench.kinds import KINDS
from bench.options import kind_names, parser_of

POINTS = 8
"""Points of a curve for each doubling of the work."""

DEFAULT = ("herrington-100x100-1%", "smith3d-29x29x29-5%")


class Enough(Exception):
    """The work is done."""


def main(arguments: list[str]) -> int:
    """Draw the curve of every kind."""
    given = _parser().parse_args(arguments)
    rows: list[dict[str, Any]] = []
    for kind in given.kind or DEFAULT:
        rows += curve(kind, given.seed, given.children, given.population)
        Path(given.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def curve(kind: str, seed: int, most: int, population: int) -> list[dict[str, Any]]:
    """Rows of children decoded and best cost, at rising distances."""
    table, rows, begun = KINDS[kind].make(seed), [], time.monotonic()
    following = 1.0

    def told(evolution: Any) -> None:
        nonlocal following
        if evolution.evaluations >= following:
            following = max(following, evolution.evaluations) * 2 ** (1 / POINTS)
            cost = float(table.shown_cost(table.cost(table.forced) + evolution.best.cost))
            row = {"table": f"{kind}-{seed}", "children": evolution.evaluations, "cost": cost,
                   "generation": evolution.generation, "elapsed": round(time.monotonic() - begun, 1)}  # fmt: skip
            rows.append(row)
            print(f"{row['table']}: {row['children']} children, cost {cost:,.0f}, {row['elapsed']} s", flush=True)
        if evolution.evaluations >= most:
            raise Enough

    options = {"population": population, "generations": 10**9, "patience": 10**9}
    with suppress(Enough):
        gpuga.protect(table, "circuits", seed=seed, options=options, on_generation=told)
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("work", __doc__)
    parser.add_argument("--json", required=True, metavar="FILE", help="results")
    parser.add_argument(
        "--kind",
        action="append",
        choices=sorted(KINDS),
        metavar="KIND",
        help=f"kind of tables: {kind_names()}; may be repeated (default: {', '.join(DEFAULT).replace('%', '%%')})",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of table and run")
    parser.add_argument(
        "--children", type=int, default=100_000, metavar="N", help="number of children at which the curve ends"
    )
    parser.add_argument("--population", type=int, default=256, metavar="N", help="population size")
    return parser
