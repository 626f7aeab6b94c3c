"""The main job, once: protect the example, judge the pattern again, publish, report; show a corner of each.

    python examples/demo.py --out demo-out

The firms are invented, so that the corners may show what a real office would keep to itself.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable
from pathlib import Path

from gpuga.cli.main import run

HERE = Path(__file__).parent
COLUMNS = ["C10 Food", "C13 Textiles", "C16 Wood", "C25 Metal goods", "C28 Machinery", "C Manufacturing"]
ROWS = ["Hartwell", "Ivybourne", "Kingsmere", "Southvale"]


def corner(path: Path, shows: Callable[[dict[str, str]], str]) -> str:
    """A corner of the table, the pattern or the published table; `shows` says what stands for a row of the file."""
    with path.open(encoding="utf-8", newline="") as file:
        cell = {(r["region"], r["activity"]): shows(r) for r in csv.DictReader(file)}
    lines = ["".join([" " * 12, *(f"{c.split()[0]:>11}" for c in COLUMNS)])]
    lines += ["".join([f"{row:<12}", *(f"{cell[row, c]:>11}" for c in COLUMNS)]) for row in ROWS]
    return "\n".join(lines)


def show(out: Path) -> None:
    """What was done, and where it lies."""
    print("\nA corner of the table (u: sensitive), of the pattern, and of what may be published (c: confidential):\n")
    print(corner(HERE / "turnover.csv", lambda row: row["value"] + " u" * (row["status"] == "u")), end="\n\n")
    print(corner(out / "pattern.csv", lambda row: row["value"] or row["suppression"]), end="\n\n")
    print(corner(out / "public.csv", lambda row: row["flag"] or row["value"]), end="\n\n")
    print(f"{out / 'pattern.csv'}, {out / 'summary.json'} and {out / 'report.html'} stay in the office;")
    print(f"{out / 'public.csv'} may leave it. To look at: {(out / 'report.html').resolve().as_uri()}")


def main(out: Path) -> int:
    """Protect, audit, publish, report, show."""
    out.mkdir(parents=True, exist_ok=True)
    table = [str(HERE / "turnover.csv")]
    for name in ("region", "activity"):
        table += ["--hierarchy", f"{name}={HERE / name}.hrc"]
    pattern, summary, log = (str(out / name) for name in ("pattern.csv", "summary.json", "log.jsonl"))
    print("Turnover by region and activity, both hierarchical:", flush=True)
    code = run(["protect", *table, "--out", pattern, "--json", summary, "--log", log, "--seed", "1"])
    code = code or run(["audit", *table, pattern])
    code = code or run(["publish", *table, pattern, "--out", str(out / "public.csv")])
    seen = ["--summary", summary, "--log", log]
    code = code or run(["report", *table, pattern, *seen, "--out", str(out / "report.html")])
    if code == 0:
        show(out)
    return code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Protect the shipped example.")
    parser.add_argument("--out", type=Path, default=Path("demo-out"))
    sys.exit(main(parser.parse_args().out))
