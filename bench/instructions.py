"""Instructions of runs, which do not depend on what else the machine does: counted by valgrind's callgrind.

`perf stat` would be quicker, but has no counters on most virtual machines. Under callgrind a run takes some fifty times
as long, and time limits would end it elsewhere, so that only runs without one are counted. Kernels are
compiled for a plain processor beforehand: callgrind does not know the newest instructions. Loading and warming up
are not counted.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.runs import Run, measured, warm_up

PLAIN = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "+avx2", "NUMBA_NUM_THREADS": "1"}
"""What kernels are compiled for, with and without callgrind, so that it finds them compiled."""


class Counted(NamedTuple):
    """Instructions by table and method, and what counted them."""

    instructions: Mapping[tuple[str, str], float]
    by: str


NOT_COUNTED = Counted({}, "")


def count_instructions(runs: Sequence[Run]) -> Counted:
    """Count them where callgrind is installed; nothing, and a line that says so, elsewhere."""
    if shutil.which("valgrind") is None or shutil.which("callgrind_control") is None:
        print("instructions are not counted: valgrind is not installed", file=sys.stderr)
        return NOT_COUNTED
    surroundings = os.environ | PLAIN
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "bench.instructions"]
        names = [f"{run.experiment}|{run.table}|{run.method}" for run in runs]
        subprocess.run([*words, *names], check=True, env=surroundings)
        counter = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/out"]
        subprocess.run([*counter, *words, "--counted", *names], check=True, env=surroundings, stderr=subprocess.DEVNULL)
        counts = [total(Path(folder) / f"out.{place}") for place in range(1, len(runs) + 1)]
    return Counted({(run.table, run.method): count for run, count in zip(runs, counts, strict=True)}, "callgrind")


def total(path: Path) -> float:
    """The instructions of a dump; its summary is of the whole process, and 0 in between."""
    found = re.search(r"^totals: (\d+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{path.name} has no total")
    return float(found.group(1))


def main(arguments: list[str]) -> int:
    """Do the runs that are named; between two words to callgrind, where they are counted."""
    from bench.history import RUNS

    known = {f"{run.experiment}|{run.table}|{run.method}": run for run in RUNS}
    counted, seen = "--counted" in arguments, set[tuple[str, str]]()
    for run in (known[name] for name in arguments if name != "--counted"):
        warm_up(run, seen)
        measured(run)  # whatever is still loaded or compiled at the first time
        if counted:
            _control("--instr=on")
        measured(run)
        if counted:
            _control("--instr=off")
            _control(f"--dump={run.method}")
            _control("--zero")
    return 0


def _control(word: str) -> None:
    subprocess.run(["callgrind_control", word, str(os.getpid())], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
