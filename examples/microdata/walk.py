"""From records to a safe published table: generate, tabulate, protect, audit, publish.

    python examples/microdata/walk.py --out walk-out
    python examples/microdata/walk.py --out walk-out --records 5000000 --steepness 2.5

Every step is one command, printed before it runs. `table.csv` holds every value; it, `pattern.csv` and `summary.json`
stay in the office. `published.csv` is what may leave it.
"""

from __future__ import annotations

import argparse
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


def main(out: Path, records: int, steepness: float, limits: list[str]) -> None:
    """The whole walk; `limits` say how long to look for a cheaper pattern, as options of `protect`."""
    out.mkdir(parents=True, exist_ok=True)
    microdata, table, pattern = out / "records.csv", out / "table.csv", out / "pattern.csv"
    published = out / "published.csv"
    write_records(microdata, records, steepness)
    wanted = ["--by", "region,industry", "--value", "turnover", "--holding", "holding", *RULES]
    trees = [word for name in ("region", "industry") for word in ("--hierarchy", f"{name}={HERE / name}.hrc")]
    step("tabulate", str(microdata), *wanted, *trees, "--out", str(table))
    step(
        "protect",
        str(table),
        *trees,
        *limits,
        "--seed",
        "1",
        "--out",
        str(pattern),
        "--json",
        str(out / "summary.json"),
    )
    step("audit", str(table), str(pattern), *trees)
    step("publish", str(table), str(pattern), *trees, "--out", str(published))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="From records to a safe published table.")
    parser.add_argument("--out", type=Path, default=Path("walk-out"))
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--steepness", type=float, default=0.8)
    parser.add_argument("--seconds", type=float, default=60, help="how long to look for a cheaper pattern")
    arguments = parser.parse_args()
    main(arguments.out, arguments.records, arguments.steepness, ["--seconds", str(arguments.seconds)])
