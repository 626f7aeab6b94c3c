"""All of RESULTS from one commit, in one command: python -m bench all [--quick | --full] [--minutes N] [--take].

Without --quick or --full every section gets rows in about half an hour of two idle cores: fewer tables and shorter
limits than --full, which takes a day. Everything lies in OUT/COMMIT-EXTENT, so that rows of different commits never
meet; a changed tree has no commit and is refused unless --quick. Every step runs in a process of its own with a time
limit, its output in a log; one that fails or takes too long is named, and the others go on. A finished step is not
done again, and what an unfinished one has measured is kept: call again to go on. Steps whose limits count CPU seconds
run two at a time, the others alone. Runs that compile are never counted. With --take the figures of the repository
are then replaced by these, and the report says which steps are missing.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.machine import busy_seconds, commit, machine
from bench.options import parser_of
from bench.papers.command import PAPERS
from gpuga.files.atomic import write_whole

ROOT = Path(__file__).parents[1]
SPARE = 120.0
"""Seconds that every step may take beside its work."""


@dataclass(frozen=True)
class Step:
    """One benchmark: its words, with {out} for the folder, and about how many minutes it takes.

    A step is `alone` if it uses both cores or counts seconds on the clock.
    """

    name: str
    words: str
    minutes: float
    alone: bool = True

    @property
    def limit(self) -> float:
        """Seconds after which it is ended: twice what it should take, and the time to load and compile."""
        return 120 * self.minutes + SPARE


QUICK = (
    *(
        Step(
            f"papers {name}", f"papers --quick --tables 1 --paper {name} --minutes 0.8 --out {{out}}/papers-{name}",
            0.9, alone=False,
        )
        for name in PAPERS
    ),
    Step("contest", "contest --quick --json {out}/contest.json", 1.0),
    Step("microdata", "microdata --quick --json {out}/microdata.json", 0.5, alone=False),
    Step("history", "history --file {out}/history.csv --no-comparison", 1.5),
)  # fmt: skip

PAPER_MINUTES = {
    "herrington": 5.5, "gensup": 1.3, "smith": 3.8, "serpell": 1.3, "smith-figures": 1.5, "as-published": 3.5,
    "exposures": 1.0,
}  # fmt: skip
CONTEST = (
    ("herrington-100x100-0.5% herrington-100x100-1% herrington-100x100-3%", 2, 8, 1.6),
    ("herrington-400x250-0.25% herrington-400x250-1%", 1, 15, 1.3),
    ("smith3d-20x10x10-1% smith3d-20x10x10-5%", 1, 15, 1.2),
    ("smith3d-29x29x29-5%", 1, 25, 1.1),
)
"""Kinds, tables of each, seconds on the clock, minutes."""
PLANE = (
    "class1:100x100:1-3@10 class2:300x300:1-2@20 herrington:100x100:3%:1-3@10 herrington:100x100:1%:1-3@10 "
    "herrington:100x100:0.5%:1-2@10 herrington:400x250:3%:1@20 herrington:400x250:1%:1@20 "
    "herrington:400x250:0.25%:1@20"
)
SHAPES = "10x10x10,25x25x16,50x50x40,100x100x100"
LARGE = "100x5x106,100x112x4,100x7x83,100x6x112"
PEERS = "whole:30x30:2%:1 whole:50x50:2%:1 smith3d:8x6x5:0.1:0.1:0:1 smith3d:10x14x4:0.1:0.2:2:1 nested:17x10x8:0.05:1"
STANDARD = (
    Step(
        "throughput",
        "throughput --repeats 2 --case herrington-100x100-1% --case smith3d-29x29x29-5% --json {out}/throughput.json",
        1.2,
    ),
    Step("share", "share --seconds 10 --json {out}/share.json", 0.6),
    Step("history", "history --file {out}/history.csv --no-comparison", 0.8),
    Step("jobs", "jobs --tables 60 --workers 1 --workers 2 --json {out}/jobs.json", 0.5),
    *(
        Step(
            f"contest {number}",
            f"contest --json {{out}}/contest.json --method circuits --method exact --method hypercube "
            f"--tables {tables} --seconds {seconds} " + " ".join(f"--kind {kind}" for kind in kinds.split()),
            minutes,
        )
        for number, (kinds, tables, seconds, minutes) in enumerate(CONTEST, 1)
    ),
    Step("scale", f"scale --shapes {SHAPES} --out {{out}}", 2.2, alone=False),
    Step("large", f"scale --smith --shapes {LARGE} --out {{out}}", 1.2, alone=False),
    Step("microdata", "microdata --persons 20000 --json {out}/microdata.json", 1.0, alone=False),
    Step("peers", f"peers {PEERS} --minutes 0.25 --out {{out}}", 5.0, alone=False),
    Step("plane", f"plane {PLANE} --cpu --out {{out}}", 2.5, alone=False),
    Step("islands", "islands --standard --json {out}/islands.json", 2.0, alone=False),
    Step("instructions", "history --file {out}/history.csv --only-instructions", 2.2, alone=False),
    *(
        Step(f"papers {name}", f"papers --standard --paper {name} --out {{out}}/papers-{name}", minutes, alone=False)
        for name, minutes in PAPER_MINUTES.items()
    ),
)
FULL = (
    Step("throughput", "throughput --json {out}/throughput.json", 3.0),
    Step("share", "share --json {out}/share.json", 0.5),
    Step("history", "history --file {out}/history.csv --no-comparison", 2.0),
    Step("jobs", "jobs --json {out}/jobs.json", 2.0),
    Step("contest", "contest --json {out}/contest.json", 300.0),
    Step("scale", "scale --out {out}", 20.0, alone=False),
    Step("large", "scale --smith --out {out}", 30.0, alone=False),
    Step("microdata", "microdata --json {out}/microdata.json", 10.0, alone=False),
    Step("peers", "peers --out {out}", 15.0, alone=False),
    Step("plane", "plane --cpu --out {out}", 240.0, alone=False),
    Step("islands", "islands --json {out}/islands.json", 60.0, alone=False),
    Step("instructions", "history --file {out}/history.csv --only-instructions", 3.0, alone=False),
    *(
        Step(f"papers {name}", f"papers --paper {name} --out {{out}}/papers-{name}", 130.0, alone=False)
        for name in PAPERS
    ),
)
RUNNING: set[subprocess.Popen[bytes]] = set()
"""The processes of the steps that are under way."""
EXTENTS = {"quick": QUICK, "standard": STANDARD, "full": FULL}


def main(arguments: list[str]) -> int:
    """Do what is missing; exit code 1 where a step failed or time was up."""
    given = _parser().parse_args(arguments)
    extent = "quick" if given.quick else "full" if given.full else "standard"
    name, steps = state(), EXTENTS[extent]
    if name.endswith("-changed") and extent != "quick":
        print("the tree differs from its commit: commit first, so that all figures are of one commit", file=sys.stderr)
        return 2
    folder: Path = (given.out / f"{name}-{extent}").resolve()
    record = Record(folder, extent)
    record.expect(steps)
    left = [step for step in steps if step.name not in record.finished()]
    print(announcement(steps, left), flush=True)
    run_steps(left, record, given.minutes)
    unfinished = [step.name for step in steps if step.name not in record.finished()]
    taken = 0
    if given.take:
        taken = subprocess.run(
            [sys.executable, "-m", "bench", "report", "--gather", str(folder)], check=False, cwd=ROOT
        ).returncode
    print(f"not finished: {', '.join(unfinished)}; call again to go on" if unfinished else f"all is in {folder}")
    return int(bool(unfinished) or taken != 0)


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("all", __doc__)
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--quick", action="store_true", help="a look at everything in less than ten minutes")
    how_much.add_argument("--full", action="store_true", help="everything, with the papers' numbers of tables; a day")
    parser.add_argument("--minutes", type=float, help="begin no step after so many minutes; another call goes on")
    parser.add_argument("--take", action="store_true", help="then replace the figures that RESULTS.md is made of")
    parser.add_argument("--out", type=Path, default=Path("bench/out"), metavar="FOLDER", help="folder of all results")
    return parser


def state() -> str:
    """The commit, marked where the tree differs from it."""
    words = ["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no"]
    try:
        changed = bool(subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip())
    except (OSError, subprocess.CalledProcessError):
        changed = True
    return f"{commit() or 'none'}{'-changed' if changed else ''}"


def announcement(steps: Sequence[Step], left: Sequence[Step]) -> str:
    """What there is to do, and about how long it takes on an idle machine."""
    minutes = planned(left)
    about = f"{minutes / 60:.1f} hours" if minutes > 90 else f"{minutes:.0f} minutes"
    names = ", ".join(step.name for step in left) or "nothing"
    done = len(steps) - len(left)
    return f"{len(steps)} steps, {done} of them finished; left: {names}; about {about} of two idle cores"


def planned(steps: Sequence[Step]) -> float:
    """Minutes on the clock: steps that run alone one after the other, then the others on two cores."""
    paired = [step.minutes for step in steps if not step.alone]
    together = max(sum(paired) / 2, max(paired, default=0.0))
    return sum(step.minutes for step in steps if step.alone) + together


class Record:
    """The folder of one commit and extent: which steps are finished, how long they took, what else the machine did."""

    def __init__(self, folder: Path, extent: str) -> None:
        self.folder, self._lock = folder, threading.Lock()
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        path = folder / "steps.json"
        self.kept: dict[str, Any] = (
            json.loads(path.read_text(encoding="utf-8"))
            if path.exists()
            else {"extent": extent, "steps": {}, "calls": []}
        )

    def finished(self) -> dict[str, float]:
        """The finished steps with the seconds they took."""
        return {n: one["seconds"] for n, one in self.kept["steps"].items() if one["outcome"] == "finished"}

    def expect(self, steps: Sequence[Step]) -> None:
        """Name all steps, so that the report knows which were never begun."""
        for step in steps:
            self.kept["steps"].setdefault(step.name, {"outcome": "not begun", "seconds": 0.0, "alone": step.alone})
        self.write()

    def add(self, step: Step, outcome: str, seconds: float) -> None:
        """A step has ended."""
        before = self.kept["steps"].get(step.name, {"seconds": 0.0})["seconds"]
        entry = {"outcome": outcome, "seconds": round(before + seconds, 1), "alone": step.alone}
        with self._lock:
            self.kept["steps"][step.name] = entry
            self.write()

    def write(self) -> None:
        """Keep it."""
        write_whole(self.folder / "steps.json", json.dumps(self.kept, indent=1) + "\n")


def run_steps(steps: Sequence[Step], record: Record, minutes: float | None) -> None:
    """Run them: first those that need the machine to themselves, then the others, the longest first, two at a time."""
    write_whole(record.folder / "machine.json", json.dumps(machine(), indent=1) + "\n")
    begun, busy = time.monotonic(), busy_seconds()
    end = None if minutes is None else begun + 60 * minutes

    def one(step: Step) -> None:
        if end is not None and time.monotonic() > end:
            say(f"{step.name}: not begun, the time is up")
            return
        say(f"{step.name}: begins, about {step.minutes:g} minutes, at most {step.limit / 60:.0f}")
        start = time.monotonic()
        outcome = _bench(step, record.folder)
        record.add(step, outcome, time.monotonic() - start)
        done = len(record.finished())
        say(f"{step.name}: {outcome} after {time.monotonic() - start:.0f} s; {done} steps are finished")

    for step in steps:
        if step.alone:
            one(step)
    paired = sorted((step for step in steps if not step.alone), key=lambda step: -step.minutes)
    with ThreadPoolExecutor(max_workers=max(1, min(2, os.cpu_count() or 1))) as lanes:
        try:
            for ended in [lanes.submit(one, step) for step in paired]:
                ended.result()
        except BaseException:  # Ctrl-C too: what runs has its own process group and would go on
            lanes.shutdown(wait=False, cancel_futures=True)
            for process in list(RUNNING):
                _end(process)
            raise
    if steps:
        seconds = time.monotonic() - begun
        others = None if busy is None else others_share(busy, seconds)
        record.kept["calls"].append({"seconds": round(seconds, 1), "others": others, "cores": os.cpu_count()})
        record.write()


def others_share(before: tuple[float, float], seconds: float) -> float | None:
    """The share of all processors that processes other than our own have used meanwhile."""
    after = busy_seconds()
    if after is None:
        return None
    others = (after[0] - before[0]) - (after[1] - before[1])
    return round(max(0.0, others) / (seconds * (os.cpu_count() or 1)), 4)


def say(words: str) -> None:
    """A line of progress."""
    print(f"{time.strftime('%H:%M:%S')}  {words}", flush=True)


def _bench(step: Step, folder: Path) -> str:
    """Run a step in a process group of its own, ended when its time is up; what became of it."""
    log = folder / "logs" / f"{step.name.replace(' ', '-')}.log"
    words = [sys.executable, "-m", "bench", *step.words.format(out=folder).split()]
    surroundings = dict(os.environ)
    if not step.alone:
        surroundings |= {f"{name}_NUM_THREADS": "1" for name in ("NUMBA", "OMP", "OPENBLAS")}
    with log.open("a", encoding="utf-8") as file:
        process = subprocess.Popen(words, stdout=file, stderr=file, env=surroundings, cwd=ROOT, start_new_session=True)
        RUNNING.add(process)
        try:
            code = process.wait(step.limit)
        except subprocess.TimeoutExpired:
            return f"ended after {step.limit / 60:.0f} minutes"
        finally:
            _end(process)
            RUNNING.discard(process)
    return "finished" if code == 0 else f"failed with exit code {code}, see {log}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and everything that it has begun, as far as it is still there."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(10)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
