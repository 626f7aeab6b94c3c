"""kill -9 of workers, scheduler and client at random moments: every run ends safe, with the identical pattern.

Moments are counted in legs of the run, so that they fall into its work however loaded the machine is; the seconds
within a leg are drawn. Tables are such that no run ends by a proof, of which every pattern would be the same.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuga import write_table
from gpuga.table.generate import herrington, smith3d

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LEGS = 14
TOLD = ["--islands", "3", "--population", "16", "--generations", str(2 * LEGS), "--exchange", "2", "--seed", "5"]
WORKERS, SCHEDULERS, CLIENTS = 20, 5, 5
"""How many of each are killed."""


@dataclass
class Begun:
    """A run of islands as a process, and the log in which it counts its legs."""

    table: Path
    out: Path
    more: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        kept = [f"--out={self.out}", "--quiet", *(f"--{name}={self.out}.{name}" for name in ("json", "log", "proof"))]
        words = [sys.executable, "-m", "gpuga", "protect", str(self.table), *kept, *TOLD, *self.more]
        self.process = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE)

    def legs(self) -> list[dict[str, float]]:
        """The rows of its log, as far as they are whole."""
        log = Path(f"{self.out}.log")
        whole = log.read_text().rpartition("\n")[0] if log.exists() else ""
        return [json.loads(line) for line in whole.splitlines()]

    def await_moment(self, legs: int, part: float) -> int:
        """Wait for so many legs and a part of the next one, or for its end; how many were done then."""
        until = len(self.legs()) + legs
        while len(done := self.legs()) < until and self.process.poll() is None:
            time.sleep(0.01)
        pace = done[-1]["seconds"] - done[-2]["seconds"] if len(done) > 1 else 5.0  # it is still loading
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(part * pace)
        return len(self.legs())

    def ended(self) -> tuple[bytes, set[tuple[float, ...]]]:
        """The pattern of a run that ended well; generation, cost, bound and children of all legs."""
        _, said = self.process.communicate(timeout=1800)
        assert self.process.returncode == 0, said.decode()
        assert json.loads(Path(f"{self.out}.json").read_text())["safe"] is True
        figures = ("generation", "best", "lower_bound", "children")
        return self.out.read_bytes(), {tuple(row[name] for name in figures) for row in self.legs()}


Ended = tuple[bytes, set[tuple[float, ...]]]


@dataclass
class Case:
    """A table, and what comes of it undisturbed."""

    table: Path
    expected: Ended


@pytest.fixture(scope="module")
def two_way(tmp_path_factory: pytest.TempPathFactory) -> Case:
    path = tmp_path_factory.mktemp("two-way") / "table.csv"
    write_table(herrington(60, 60, 0.02, 1), path)
    return undisturbed(path)


@pytest.fixture(scope="module")
def three_way(tmp_path_factory: pytest.TempPathFactory) -> Case:
    path = tmp_path_factory.mktemp("three-way") / "table.csv"
    write_table(smith3d((10, 8, 6), 0.1, 0.1, seed=1), path)
    return undisturbed(path)


def undisturbed(path: Path) -> Case:
    case = Case(path, Begun(path, path.with_name("expected.csv")).ended())
    last = max(case.expected[1])
    assert len(case.expected[1]) == LEGS
    assert last[1] > last[2] > 0, "it must not end by a proof"
    return case


def children(pid: int) -> list[int]:
    """Those that any thread of a process has begun."""
    found = []
    for listed in Path("/proc").glob(f"{pid}/task/*/children"):
        with suppress(OSError):
            found += [int(word) for word in listed.read_text().split()]
    return found


def workers_of(pid: int) -> list[int]:
    """Processes below a client that do its work: those that Python spawned, at any depth."""
    below = [child for one in children(pid) for child in (one, *workers_of(one))]
    return [one for one in below if b"spawn_main" in _words(one)]


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def kill_workers(case: Case, folder: Path, cluster: list[str], draw: random.Random) -> None:
    """Kill half of all workers, each after another leg at least, in as many runs as that takes."""
    killed, within = 0, 0
    for number in itertools.count():  # a log of its own: legs of another run would be waited for in vain
        if killed == WORKERS // 2:
            break
        run = Begun(case.table, folder / f"{number}.csv", tuple(cluster))
        legs = draw.randrange(4)
        while killed < WORKERS // 2:
            done = run.await_moment(legs, draw.random())
            if run.process.poll() is not None:
                break
            if below := workers_of(run.process.pid):
                kill(draw.choice(below))
                killed, within = killed + 1, within + (done > 0)
            legs = draw.randrange(1, 5)
        assert run.ended() == case.expected
    assert within >= WORKERS // 4, "most of them had states to lose"


@pytest.mark.parametrize("cluster", [(), ("--cluster", "local")], ids=["processes", "dask"])
def test_all_workers_may_die_while_the_cuts_of_the_proof_are_asked_for(
    two_way: Case, tmp_path: Path, cluster: tuple[str, ...]
) -> None:
    if cluster:
        pytest.importorskip("distributed", reason="the extra cluster is not installed")
    for number in range(2):
        run = Begun(two_way.table, tmp_path / f"{number}.csv", cluster)
        run.await_moment(LEGS, 0.0)
        time.sleep(0.05 * number)
        for worker in workers_of(run.process.pid):
            kill(worker)
        assert run.ended() == two_way.expected


def test_workers_may_die_at_any_moment(two_way: Case, tmp_path: Path) -> None:
    kill_workers(two_way, tmp_path, [], random.Random(1))


def test_workers_of_dask_may_die_at_any_moment(three_way: Case, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    kill_workers(three_way, tmp_path, ["--cluster", "local"], random.Random(2))


@pytest.mark.parametrize("number", range(CLIENTS))
def test_a_client_that_dies_goes_on_from_its_checkpoint(
    two_way: Case, three_way: Case, tmp_path: Path, number: int
) -> None:
    case, draw = (two_way, three_way)[number % 2], random.Random(number)
    out, kept = tmp_path / "out.csv", ("--checkpoint", str(tmp_path / "kept"), "--resume")
    first = Begun(case.table, out, kept)
    first.await_moment(draw.randrange(LEGS - 1), draw.random())
    first.process.kill()
    first.process.communicate()
    assert Begun(case.table, out, kept).ended() == case.expected


@contextmanager
def cluster_of(folder: Path, workers: int) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """A scheduler and workers as processes of their own, and the scheduler's file."""
    file, silent = folder / "scheduler.json", subprocess.DEVNULL
    commands = [["dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard"]]
    commands += [["dask_worker", "--nthreads", "1", "--no-dashboard"]] * workers
    started = []
    try:
        for name, *words in commands:
            line = [sys.executable, "-m", f"distributed.cli.{name}", "--scheduler-file", str(file), *words]
            started.append(subprocess.Popen(line, cwd=ROOT, stdout=silent, stderr=silent))
            while not file.exists():
                time.sleep(0.1)
        yield file, started[0]
    finally:
        for one in reversed(started):
            one.terminate()
        for one in started:
            one.wait(30)


def await_client(file: Path, run: Begun) -> None:
    """Wait until a client besides this one is there: one that finds no scheduler at all is right to refuse."""
    from distributed import Client

    with Client(scheduler_file=str(file), set_as_default=False) as own:
        while own.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.clients)) < 3:  # the scheduler is one
            assert run.process.poll() is None, "it ended before it was seen"
            time.sleep(0.05)


@pytest.mark.parametrize("number", range(SCHEDULERS))
def test_the_scheduler_may_die_at_any_moment(two_way: Case, three_way: Case, tmp_path: Path, number: int) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    case, draw = (two_way, three_way)[number % 2], random.Random(number)
    with cluster_of(tmp_path, 2) as (file, scheduler):
        run = Begun(case.table, tmp_path / "out.csv", ("--cluster", str(file)))
        await_client(file, run)
        # the last one while the cuts of the proof are asked for
        run.await_moment(draw.randrange(LEGS - 1) if number < SCHEDULERS - 1 else LEGS, draw.random())
        scheduler.kill()
        assert run.ended() == case.expected


def test_workers_slowed_at_random_give_the_same_pattern(two_way: Case, tmp_path: Path) -> None:
    draw = random.Random(4)
    for number in range(3):
        run = Begun(two_way.table, tmp_path / f"{number}.csv")
        while run.process.poll() is None:
            for worker in (below := workers_of(run.process.pid))[: len(below) // 2 + 1]:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGSTOP)
            time.sleep(draw.uniform(0.05, 0.4))
            for worker in below:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGCONT)
            time.sleep(draw.uniform(0.05, 0.4))
        assert run.ended() == two_way.expected
