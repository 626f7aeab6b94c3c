"""How much of a `circuits` run is Python: samples of who holds the interpreter's lock, against all samples.

    python -m bench python-share [--rows 100] [--cols 100] [--sensitive 0.01] [--population 4096] [--seconds 30]

Kernels, searches and solvers give the lock back while they work, so whoever holds it runs Python (or a short call
of numpy). The samples come from py-spy, from outside the process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

from bench.tables import herrington_parser
from gpuga.files.csv import write_csv
from gpuga.table.generate import herrington

RATE = 100
"""Samples a second."""


def main(arguments: list[str]) -> int:
    """Sample one run and print the share."""
    given = _parser().parse_args(arguments)
    sampler = which("py-spy", path=str(Path(sys.executable).parent)) or which("py-spy")
    if sampler is None:
        print("python-share needs py-spy: pip install py-spy", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        table, pattern, samples = (Path(folder) / name for name in ("table.csv", "pattern.csv", "samples.txt"))
        write_csv(herrington(given.rows, given.cols, given.sensitive, 1), table)
        run = [sys.executable, "-m", "gpuga", "protect", str(table), "--out", str(pattern), "--quiet"]
        limits = ["--population", str(given.population)]
        subprocess.run([*run, *limits, "--seconds", "1"], check=True)  # compiles what is not compiled yet
        sampling = [sampler, "record", "--gil", "--rate", str(RATE), "--format", "raw", "--output", str(samples), "--"]
        subprocess.run([*sampling, *run, *limits, "--seconds", str(given.seconds)], check=True, capture_output=True)
        held = sum(int(line.rsplit(" ", 1)[1]) for line in samples.read_text().splitlines())
    share = held / RATE / given.seconds
    print(f"population {given.population}, {given.seconds:g} s: Python ran {held / RATE:.1f} s, {100 * share:.1f} %")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = herrington_parser("python-share", __doc__)
    parser.add_argument("--population", type=int, default=4096)
    parser.add_argument("--seconds", type=float, default=30.0)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
