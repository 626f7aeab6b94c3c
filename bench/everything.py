"""All of RESULTS from one commit, in one command: python -m bench all [--quick] [--minutes N] [--out FOLDER].

Everything lies in FOLDER/COMMIT, so that rows of different commits never meet; a step that is finished is not done
again, and the papers go on where they stopped. A changed tree has no commit: it is refused unless --quick. Every step
runs in a process of its own; runs that compile are never counted. At the end the report is made from that folder, and
with --take the figures of the repository are replaced by it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.machine import commit, machine
from bench.options import parser_of
from bench.papers.command import PAPERS


@dataclass(frozen=True)
class Step:
    """One benchmark: its words, with {out} for the folder, and about how many minutes it takes."""

    name: str
    words: str
    minutes: float


QUICK = (
    *(
        Step(f"papers, {name}", f"papers --quick --tables 1 --paper {name} --minutes 0.8 --out {{out}}", 0.9)
        for name in PAPERS
    ),
    Step("contest", "contest --quick --json {out}/contest.json", 1.0),
    Step("microdata", "microdata --quick --json {out}/microdata.json", 0.5),
    Step("history", "history --file {out}/history.csv", 1.5),
)
FULL = (
    Step("throughput", "throughput --json {out}/throughput.json", 3.0),
    Step("share", "share --json {out}/share.json", 0.5),
    Step("history", "history --file {out}/history.csv", 2.0),
    Step("scale", "scale --out {out}", 20.0),
    Step("large", "scale --smith --out {out}", 30.0),
    Step("microdata", "microdata --json {out}/microdata.json", 10.0),
    Step("peers", "peers --out {out}", 15.0),
    Step("plane", "plane --out {out}", 240.0),
    Step("contest", "contest --json {out}/contest.json", 300.0),
    Step("papers", "papers --out {out}", 900.0),
)


def main(arguments: list[str]) -> int:
    """Do what is missing, one step after the other; exit code 1 where a step failed or time was up."""
    given = _parser().parse_args(arguments)
    name = state()
    if name.endswith("-changed") and not given.quick:
        print("the tree differs from its commit: commit first, so that all figures are of one commit", file=sys.stderr)
        return 2
    folder: Path = given.out / (f"{name}-quick" if given.quick else name)
    folder.mkdir(parents=True, exist_ok=True)
    steps = QUICK if given.quick else FULL
    left = [step for step in steps if step.name not in finished(folder)]
    print(announcement(steps, left), flush=True)
    failed = run_steps(left, folder, given.minutes)
    if not failed and not given.quick:
        words = ["report", "--gather", str(folder)] if given.take else []
        failed = [] if not words or _bench(words) == 0 else ["report"]
    print(f"not finished: {', '.join(failed)}" if failed else f"everything is in {folder}")
    return int(bool(failed))


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("all", __doc__)
    parser.add_argument("--quick", action="store_true", help="a look at everything in less than ten minutes")
    parser.add_argument("--minutes", type=float, help="begin no step after so many minutes; another call goes on")
    parser.add_argument("--take", action="store_true", help="then replace the figures that RESULTS.md is made of")
    parser.add_argument("--out", type=Path, default=Path("bench/out"), metavar="FOLDER", help="folder of all results")
    return parser


def state() -> str:
    """The commit, marked where the tree differs from it."""
    words = ["git", "-C", str(Path(__file__).parents[1]), "status", "--porcelain", "--untracked-files=no"]
    try:
        changed = bool(subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip())
    except (OSError, subprocess.CalledProcessError):
        changed = True
    return f"{commit() or 'none'}{'-changed' if changed else ''}"


def announcement(steps: tuple[Step, ...], left: list[Step]) -> str:
    """What there is to do, and about how long it takes on an idle machine."""
    minutes = sum(step.minutes for step in left)
    about = f"{minutes / 60:.1f} hours" if minutes > 90 else f"{minutes:.0f} minutes"
    names = ", ".join(step.name for step in left) or "nothing"
    done = len(steps) - len(left)
    return f"{len(steps)} steps, {done} of them finished; left: {names}; about {about} of an idle machine"


def finished(folder: Path) -> dict[str, float]:
    """The finished steps with the seconds they took."""
    path = folder / "steps.json"
    found: dict[str, float] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def run_steps(steps: list[Step], folder: Path, minutes: float | None) -> list[str]:
    """Run them; the names of those that failed or were not begun."""
    (folder / "machine.json").write_text(json.dumps(machine(), indent=1) + "\n", encoding="utf-8")
    begun, failed = time.monotonic(), []
    for step in steps:
        if minutes is not None and time.monotonic() - begun > 60 * minutes:
            failed.append(step.name)
            continue
        start = time.monotonic()
        if _bench(step.words.format(out=folder).split()):
            failed.append(step.name)
            continue
        done = finished(folder) | {step.name: round(time.monotonic() - start, 1)}
        (folder / "steps.json").write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        print(f"{step.name}: {done[step.name]:.0f} s", flush=True)
    return failed


def _bench(words: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", "bench", *words], check=False).returncode
