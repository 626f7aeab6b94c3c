"""A three-way table of firms: from records to a public workbook and a report, and what it costs to keep totals.

    python examples/firms/walk.py --out firms-out
    python examples/firms/walk.py --out firms-out --firms 2000 --seconds 10

Every step is one command, printed before it runs; the three commands that lead from records to what may be published
are timed. What is safe with more wishes is safe with fewer: each run starts from what the runs with more wishes found,
so that no wish can seem to make a table cheaper. All files but `public.xlsx` and `public.csv` stay in the office.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import sys
import time
from pathlib import Path
from typing import NamedTuple

from gpuga.cli.main import run

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from make_firms import REGIONS, SECTIONS, write_firms  # noqa: E402

GRAND = ["--keep-totals", "0"]
WISHES = {
    "grand total and regions": [*GRAND, *(word for name in REGIONS for word in ("--keep", f"region={name}"))],
    "grand total": GRAND,
    "nothing": [],
}
"""What is kept, the most first."""


class Outcome(NamedTuple):
    """What came of a run."""

    cost: float
    share: float
    totals: int


def step(*words: str) -> float:
    """Show a command and run it; stop where it fails. How many seconds it took."""
    print(f"\n$ gpuga {shlex.join(words)}", flush=True)
    begun = time.perf_counter()
    if code := run(list(words)):
        sys.exit(code)
    return time.perf_counter() - begun


def asked(out: Path) -> list[str]:
    """Dimensions, value and rules of the table, and its hierarchies, as options."""
    trees = [word for name in ("region", "activity") for word in ("--hierarchy", f"{name}={out / name}.hrc")]
    rules = ["--rule", "nk:2,85", "--rule", "frequency:3"]
    return ["--by", "region,activity,size", "--value", "turnover", *rules, *trees]


def three_commands(out: Path, firms: int, limits: list[str]) -> dict[str, float]:
    """From records to a public workbook and a report to look at, timed by command."""
    out.mkdir(parents=True, exist_ok=True)
    records, pattern = str(write_firms(out, firms)), str(out / "pattern.csv")
    table = [records, *asked(out)]
    return {
        "protect": step("protect", *table, *limits, "--seed", "1", "--out", pattern),
        "publish": step("publish", *table, pattern, "--out", str(out / "public.xlsx")),
        "report": step("report", *table, pattern, *limits, "--out", str(out / "report.html")),
    }


def outcome(pattern: Path, summary: Path) -> Outcome:
    """Cost, share of the cells that is suppressed, and how many totals of regions, sections or sizes are."""
    rows = list(csv.DictReader(pattern.open(encoding="utf-8")))
    hidden = [row for row in rows if row["suppression"] != "published"]
    above = {"Total", *REGIONS, *SECTIONS}
    lost = sum(any(row[name] in above for name in ("region", "activity", "size")) for row in hidden)
    return Outcome(json.loads(summary.read_text(encoding="utf-8"))["cost"], len(hidden) / len(rows), lost)


def price_wishes(out: Path, firms: int, limits: list[str]) -> dict[str, Outcome]:
    """What it costs to keep totals; `limits` say how long to look for cheaper patterns, as options of `protect`."""
    out.mkdir(parents=True, exist_ok=True)
    records, table = write_firms(out, firms), out / "table.csv"
    wanted = asked(out)
    trees = wanted[wanted.index("--hierarchy") :]
    step("tabulate", str(records), *wanted, "--respondent", "firm", "--out", str(table))
    found: dict[str, Outcome] = {}
    starts: list[str] = []
    for number, (kept, wish) in enumerate(WISHES.items()):
        pattern, summary = out / f"pattern-{number}.csv", out / f"summary-{number}.json"
        files = ["--out", str(pattern), "--json", str(summary)]
        step("protect", str(table), *trees, *wish, *starts, *limits, "--seed", "1", *files)
        found[kept] = outcome(pattern, summary)
        starts += ["--start", str(pattern)]
    step("publish", str(table), str(pattern), *trees, "--out", str(out / "public.csv"))
    print(f"\n{'kept':<25}{'cost':>16}{'suppressed':>12}{'totals lost':>13}")
    for kept, (cost, share, lost) in found.items():
        print(f"{kept:<25}{cost:>16,}{share:>12.1%}{lost:>13}")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A three-way table of firms, and what wishes cost.")
    parser.add_argument("--out", type=Path, default=Path("firms-out"))
    parser.add_argument("--firms", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=120)
    given = parser.parse_args()
    limits = ["--seconds", str(given.seconds)]
    times = three_commands(given.out, given.firms, limits)
    price_wishes(given.out, given.firms, limits)
    print("\nFrom records to public.xlsx and report.html:")
    print(", ".join(f"{name} {seconds:.1f} s" for name, seconds in times.items()))
