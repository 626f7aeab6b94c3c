"""From records to a safe published table: generate, tabulate, protect, audit, publish.

    python examples/microdata/walk.py --out walk-out
    python examples/microdata/walk.py --out walk-out --records 5000000 --steepness 2.5

Every step is one command, printed before it runs. `table.csv` and `table.jj` hold every value and stay in the office;
`published.csv` is what may leave it.
"""

from __future__ import annotations

import argparse
import csv
import shlex
import sys
from pathlib import Path

from gpuga.cli.main import run

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from make_records import write_records  # noqa: E402

RULES = ["--rule", "frequency:3", "--rule", "p:10"]


def step(*words: str) -> None:
    """Show a command and run it; stop where it fails."""
    print(f"\n$ gpuga {shlex.join(words)}", flush=True)
    if code := run(list(words)):
        sys.exit(code)


def publish(table: Path, pattern: Path, out: Path) -> None:
    """The table's cells with their figures blank where the pattern suppresses them; groups are no cells."""
    with (
        table.open(newline="") as cells,
        pattern.open(newline="") as words,
        out.open("w", newline="") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(["region", "industry", "turnover", "suppression"])
        for cell, word in zip(csv.DictReader(cells), csv.DictReader(words), strict=True):
            if not cell.get("members"):
                shown = cell["value"] if word["suppression"] == "published" else ""
                writer.writerow([cell["region"], cell["industry"], shown, word["suppression"]])


def main(out: Path, records: int, steepness: float) -> None:
    """The whole walk."""
    out.mkdir(parents=True, exist_ok=True)
    microdata, table, pattern = out / "records.csv", out / "table.jj", out / "pattern.csv"
    write_records(microdata, records, steepness)
    wanted = ["--by", "region,industry", "--value", "turnover", "--holding", "holding", *RULES]
    for name in ("region", "industry"):
        wanted += ["--hierarchy", f"{name}={HERE / name}.hrc"]
    step("tabulate", str(microdata), *wanted, "--out", str(table))
    step("tabulate", str(microdata), *wanted, "--out", str(table.with_suffix(".csv")), "--quiet")
    step("protect", str(table), "--out", str(pattern), "--json", str(out / "summary.json"), "--seed", "1")
    step("audit", str(table), str(pattern))
    publish(table.with_suffix(".csv"), pattern, out / "published.csv")
    print(f"\nmay be published: {out / 'published.csv'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="From records to a safe published table.")
    parser.add_argument("--out", type=Path, default=Path("walk-out"))
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--steepness", type=float, default=0.8)
    arguments = parser.parse_args()
    main(arguments.out, arguments.records, arguments.steepness)
