"""The main job, once: protect the example, judge the pattern again, publish, show a piece of what may be published.

python examples/demo.py --out demo-out
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

from gpuga.cli.main import run

HERE = Path(__file__).parent
COLUMNS = ["C10 Food", "C13 Textiles", "C16 Wood", "C25 Metal goods", "C28 Machinery", "C Manufacturing"]
ROWS = ["Hartwell", "Ivybourne", "Kingsmere", "Southvale"]


def excerpt(public: Path) -> str:
    """A corner of the published table: c for every suppressed cell."""
    with public.open(encoding="utf-8", newline="") as file:
        cell = {(r["region"], r["activity"]): r["flag"] or r["value"] for r in csv.DictReader(file)}
    lines = ["".join([" " * 12, *(f"{c.split()[0]:>9}" for c in COLUMNS)])]
    lines += ["".join([f"{row:<12}", *(f"{cell[row, c]:>9}" for c in COLUMNS)]) for row in ROWS]
    return "\n".join(lines)


def main(out: Path) -> int:
    """Protect, audit, publish, show."""
    out.mkdir(parents=True, exist_ok=True)
    table = [str(HERE / "turnover.csv")]
    for name in ("region", "activity"):
        table += ["--hierarchy", f"{name}={HERE / name}.hrc"]
    pattern, summary, public = out / "pattern.csv", out / "summary.json", out / "public.csv"
    print("Turnover by region and activity, both hierarchical:", flush=True)
    code = run(["protect", *table, "--out", str(pattern), "--json", str(summary), "--seed", "1"])
    code = code or run(["audit", *table, str(pattern)])
    code = code or run(["publish", *table, str(pattern), "--out", str(public)])
    if code == 0:
        print(f"\n{pattern} and {summary} stay in the office; {public} may leave it:\n")
        print(excerpt(public))
    return code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Protect the shipped example.")
    parser.add_argument("--out", type=Path, default=Path("demo-out"))
    sys.exit(main(parser.parse_args().out))
