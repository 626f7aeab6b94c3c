"""The main job, once: protect the example, judge the pattern again, show a piece of what may be published.

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
SHOWN = {"primary": "x", "secondary": "o"}


def excerpt(pattern: Path) -> str:
    """A corner of the published table: x for primary, o for secondary suppressions."""
    with pattern.open(encoding="utf-8", newline="") as file:
        cell = {(r["region"], r["activity"]): SHOWN.get(r["suppression"], r["value"]) for r in csv.DictReader(file)}
    lines = ["".join([" " * 12, *(f"{c.split()[0]:>9}" for c in COLUMNS)])]
    lines += ["".join([f"{row:<12}", *(f"{cell[row, c]:>9}" for c in COLUMNS)]) for row in ROWS]
    return "\n".join(lines)


def main(out: Path) -> int:
    """Protect, audit, show."""
    out.mkdir(parents=True, exist_ok=True)
    table = [str(HERE / "turnover.csv")]
    for name in ("region", "activity"):
        table += ["--hierarchy", f"{name}={HERE / name}.hrc"]
    pattern, summary = out / "pattern.csv", out / "summary.json"
    print("Turnover by region and activity, both hierarchical:", flush=True)
    code = run(["protect", *table, "--out", str(pattern), "--json", str(summary), "--seed", "1"])
    code = code or run(["audit", *table, str(pattern)])
    if code == 0:
        print(f"summary: {summary}\n\nA corner of what may be published (x primary, o secondary):\n")
        print(excerpt(pattern))
    return code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Protect the shipped example.")
    parser.add_argument("--out", type=Path, default=Path("demo-out"))
    sys.exit(main(parser.parse_args().out))
