"""Three linked tables of firms: each protected alone, then all together, and what a reader of all of them learns.

    python examples/firms/linked.py --out linked-out
    python examples/firms/linked.py --out linked-out --firms 2000 --method hypercube --seconds 20

Region by activity, activity by size, and area by size (an area is a region at a higher level) are tabulated from the
same firms, so they share totals. Protected alone, a total that one table suppresses is published by another.
Every step is one command, printed before it runs. All files stay in the office.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import sys
from pathlib import Path

from gpuga.cli.main import run

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from make_firms import REGIONS, write_firms  # noqa: E402

TABLES = {"region-activity": "region,activity", "activity-size": "activity,size", "area-size": "area,size"}
RULES = ["--rule", "nk:2,50", "--rule", "frequency:3"]
"""Strict enough that some totals of activities, which two tables share, are sensitive."""

PLAN = """[hierarchies]
region = "region.hrc"
activity = "activity.hrc"

[[table]]
file = "region-activity.csv"

[[table]]
file = "activity-size.csv"

[[table]]
file = "area-size.csv"
columns = { area = "region" }
"""


def step(*words: str) -> int:
    """Show a command and run it; the exit code is 0, or 1 where an audit finds cells open."""
    print(f"\n$ gpuga {shlex.join(words)}", flush=True)
    code = run(list(words))
    if code > (words[0] == "audit"):
        sys.exit(code)
    return code


def with_areas(records: Path) -> Path:
    """The firms with a column for the area of their region."""
    path = records.with_name("firms-with-areas.csv")
    area = {code: name for name, below in REGIONS.items() for code in below}
    rows = list(csv.DictReader(records.open(encoding="utf-8")))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0], "area"])
        writer.writeheader()
        writer.writerows(row | {"area": area[row["region"]]} for row in rows)
    return path


def tabulated(out: Path, firms: int) -> Path:
    """Write the three tables and the file that names them; returns the latter."""
    records = with_areas(write_firms(out, firms))
    for name, by in TABLES.items():
        used = [dimension for dimension in ("region", "activity") if dimension in by.split(",")]
        trees = [word for dimension in used for word in ("--hierarchy", f"{dimension}={out / dimension}.hrc")]
        rules = [*RULES, "--respondent", "firm"]
        step("tabulate", str(records), "--by", by, "--value", "turnover", *rules, *trees, "--out", f"{out / name}.csv")
    plan = out / "tables.toml"
    plan.write_text(PLAN, encoding="utf-8")
    return plan


def main(out: Path, firms: int, options: list[str]) -> dict[str, int]:
    """The whole walk; returns how many sensitive cells stay open, alone and together."""
    out.mkdir(parents=True, exist_ok=True)
    plan, alone, together = tabulated(out, firms), out / "alone", out / "together"
    step("plan", str(plan), "--out", str(out / "plan.dot"))
    alone.mkdir(exist_ok=True)
    for name, by in TABLES.items():
        used = [dimension for dimension in ("region", "activity") if dimension in by.split(",")]
        trees = [word for dimension in used for word in ("--hierarchy", f"{dimension}={out / dimension}.hrc")]
        step("protect", f"{out / name}.csv", *trees, "--out", f"{alone / name}.csv", *options)
    step("protect", str(plan), "--out", str(together), "--json", str(out / "summary.json"), *options)
    found = {}
    for folder in (alone, together):
        answer = out / f"audit-{folder.name}.json"
        step("audit", str(plan), str(folder), "--json", str(answer))
        clusters = json.loads(answer.read_text(encoding="utf-8"))["clusters"]
        primary = [cell for one in clusters for cell in one["cells"] if cell["kind"] == "primary"]
        found[folder.name] = sum(not cell["safe"] for cell in primary)
    print(f"\nsensitive cells that are open to a reader of all tables: {found}")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Three linked tables of firms, alone and together.")
    parser.add_argument("--out", type=Path, default=Path("linked-out"))
    parser.add_argument("--firms", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--method", default="circuits")
    given = parser.parse_args()
    main(given.out, given.firms, ["--seconds", str(given.seconds), "--method", given.method, "--seed", "1"])
