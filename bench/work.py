"""Cost against counted work: what more children, as a device would make them in the same time, are worth.

    python -m bench work --json FILE [--kind NAME ...] [--seed 1] [--children 100000] [--population 256 ...]

The prover takes one step per generation, so a curve does not depend on the machine; the time it takes does. A device
makes more children while the prover takes its step, which larger populations show: their curves have more children for
each of its steps. A curve that the file already has is not drawn again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import gpuga
from bench.charts import lines
from bench.kinds import KINDS
from bench.options import kind_names, parser_of
from bench.sections import Section, figure

POINTS = 8
"""Points of a curve for each doubling of the work."""

POPULATION = 256
DEFAULT = ("herrington-100x100-1%", "smith3d-29x29x29-5%")


WORDS = (
    "`python -m bench work`: the prover takes one step per generation, so that nothing here depends on the machine. "
    "What a device buys is more children in the same time: further to the right on a curve or, with the same number of "
    "the prover's steps, a larger population at the same number of generations."
)


class Enough(Exception):
    """The work is done."""


def main(arguments: list[str]) -> int:
    """Draw the curve of every kind."""
    given = _parser().parse_args(arguments)
    path = Path(given.json)
    rows: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    known = {(row["table"], row["population"]) for row in rows}
    for kind in given.kind or DEFAULT:
        for population in given.population or (POPULATION,):
            if (f"{kind}-{given.seed}", population) not in known:
                rows += curve(kind, given.seed, given.children, population)
                path.write_text(json.dumps(rows, indent=1) + "\n")
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
            row = {"table": f"{kind}-{seed}", "population": population, "children": evolution.evaluations, "cost": cost,
                   "generation": evolution.generation, "elapsed": round(time.monotonic() - begun, 1)}  # fmt: skip
            rows.append(row)
            print(f"{row['table']}: {row['children']} children, cost {cost:,.0f}, {row['elapsed']} s", flush=True)
        if evolution.evaluations >= most:
            raise Enough

    options = {"population": population, "generations": 10**9, "patience": 10**9}
    with suppress(Enough):
        gpuga.protect(table, "circuits", seed=seed, options=options, on_generation=told)
    return rows


def sections(rows: Sequence[dict[str, Any]]) -> list[Section]:
    """A table and a plot for each table: cost at one, ten and a hundred times a number of children."""
    found = []
    for table in dict.fromkeys(row["table"] for row in rows):
        curves: dict[int, list[dict[str, Any]]] = {}
        for row in rows:
            if row["table"] == table:
                curves.setdefault(row["population"], []).append(row)
        cheapest = min(row["cost"] for row in rows if row["table"] == table)
        body = [_line(population, row, cheapest) for population, one in curves.items() for row in _decades(one)]
        points = {
            f"population {population:,}": [(row["children"], 100 * (row["cost"] / cheapest - 1)) for row in one]
            for population, one in curves.items()
        }
        title = f"Cost against counted work, {table}"
        chart = lines(title, points, "children", "per cent above the cheapest", (True, False))
        header = ("population", "children", "generations", "cost", "above the cheapest")
        found.append(Section(f"work-{table.replace('%', '')}", title, header, body, WORDS, chart))
    return found


def _decades(curve: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first row from each power of ten of children on, and the last one."""
    chosen: dict[int, dict[str, Any]] = {}
    for row in curve:
        chosen.setdefault(len(str(row["children"])), row)
    return [*(row for row in chosen.values() if row is not curve[-1]), curve[-1]]


def _line(population: int, row: dict[str, Any], cheapest: float) -> tuple[str, ...]:
    above = f"{100 * (row['cost'] / cheapest - 1):.2f} %"
    return figure(population), figure(row["children"]), figure(row["generation"]), figure(row["cost"], 1), above


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
    parser.add_argument(
        "--population",
        type=int,
        action="append",
        metavar="N",
        help=f"population size; may be repeated (default: {POPULATION})",
    )
    return parser
