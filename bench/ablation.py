"""What each ingredient of `circuits` contributes: the method with all of them, and without each in turn.

    python -m bench ablation [--rows 100] [--cols 100] [--sensitive 0.01] [--tables 3] [--generations 6] [--json FILE]

Every variant gets the same tables, the same seeds and the same number of generations; costs are audited.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import gpuga
from bench.tables import herrington_parser
from gpuga.parameters import INGREDIENTS
from gpuga.table.generate import herrington
from gpuga.table.table import Table


def main(arguments: list[str]) -> int:
    """Run all variants and print the table."""
    given = _parser().parse_args(arguments)
    tables = [herrington(given.rows, given.cols, given.sensitive, seed) for seed in range(1, given.tables + 1)]
    _measured(herrington(8, 8, 0.1, 1), (), 1)  # compiles what is not compiled yet
    rows: list[dict[str, Any]] = []
    print(f"{'without':<15}{'mean cost':>12}{'against all':>13}{'CPU s':>9}", flush=True)
    for without in ((), *((name,) for name in INGREDIENTS)):
        results = [_measured(table, without, given.generations) for table in tables]
        cost = sum(cost for cost, _ in results) / len(results)
        row: dict[str, Any] = {
            "without": without[0] if without else None,
            "cost": cost,
            "against_all": cost / rows[0]["cost"] - 1 if rows else 0.0,
            "cpu_seconds": sum(seconds for _, seconds in results) / len(results),
        }
        rows.append(row)
        name = row["without"] or "(nothing)"
        print(f"{name:<15}{cost:>12.1f}{100 * row['against_all']:>+12.2f}%{row['cpu_seconds']:>9.1f}", flush=True)
    if given.json:
        settings = {name: value for name, value in vars(given).items() if name != "json"}
        Path(given.json).write_text(json.dumps({"settings": settings, "rows": rows}, indent=2) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = herrington_parser("ablation", __doc__)
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--generations", type=int, default=6)
    parser.add_argument("--json")
    return parser


def _measured(table: Table, without: tuple[str, ...], generations: int) -> tuple[float, float]:
    """Cost in the table's units and CPU seconds of one run."""
    begun = time.process_time()
    found = gpuga.protect(table, "circuits", seed=1, options={"generations": generations, "without": without})
    assert found.audit.safe
    return float(table.shown_cost(found.cost)), time.process_time() - begun
