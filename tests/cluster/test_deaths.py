"""kill -9 of workers, scheduler and client at random moments: every run ends safe, with the identical pattern."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gpuga import write_table
from gpuga.table.generate import herrington

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TOLD = ["--islands", "3", "--population", "16", "--generations", "24", "--exchange", "2", "--seed", "5", "--quiet"]
WORKERS, SCHEDULERS, CLIENTS = 20, 5, 5
"""How many of each are killed."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("deaths") / "table.csv"
    write_table(herrington(40, 40, 0.03, 1), path)
    return path


def begun(table: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    words = ["protect", str(table), "--out", str(out), "--json", f"{out}.json", *TOLD, *more]
    return subprocess.Popen([sys.executable, "-m", "gpuga", *words], cwd=ROOT, stderr=subprocess.PIPE)


def ended(run: subprocess.Popen[bytes], out: Path) -> bytes:
    """The pattern of a run that ended well."""
    _, said = run.communicate(timeout=600)
    assert run.returncode == 0, said.decode()
    assert json.loads(Path(f"{out}.json").read_text())["safe"] is True
    return out.read_bytes()


@pytest.fixture(scope="module")
def expected(table: Path) -> tuple[bytes, float]:
    """The pattern of an undisturbed run, and how long one takes."""
    out, when = table.with_name("expected.csv"), time.monotonic()
    return ended(begun(table, out), out), time.monotonic() - when


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


@pytest.mark.parametrize("cluster", [[], ["--cluster", "local"]], ids=["processes", "dask"])
def test_workers_may_die_at_any_moment(
    table: Path, tmp_path: Path, expected: tuple[bytes, float], cluster: list[str]
) -> None:
    if cluster:
        pytest.importorskip("distributed", reason="the extra cluster is not installed")
    draw, killed = random.Random(1), 0
    while killed < WORKERS // 2:
        out = tmp_path / f"{killed}.csv"
        run = begun(table, out, *cluster)
        while run.poll() is None and killed < WORKERS // 2:
            time.sleep(draw.uniform(0.1, 0.6) * expected[1])
            if below := workers_of(run.pid):
                kill(draw.choice(below))
                killed += 1
        assert ended(run, out) == expected[0]


def test_a_client_that_dies_goes_on_from_its_checkpoint(
    table: Path, tmp_path: Path, expected: tuple[bytes, float]
) -> None:
    draw = random.Random(2)
    for number in range(CLIENTS):
        out, kept = tmp_path / f"{number}.csv", ["--checkpoint", str(tmp_path / f"kept-{number}"), "--resume"]
        first = begun(table, out, *kept)
        time.sleep(draw.uniform(0.2, 0.9) * expected[1])
        first.kill()
        first.communicate()
        assert ended(begun(table, out, *kept), out) == expected[0]


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


def await_client(file: Path, run: subprocess.Popen[bytes]) -> None:
    """Wait until a client besides this one is there: one that finds no scheduler at all is right to refuse."""
    from distributed import Client

    with Client(scheduler_file=str(file), set_as_default=False) as own:
        while own.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.clients)) < 3:  # the scheduler is one
            assert run.poll() is None, "it ended before it was seen"
            time.sleep(0.05)


def test_the_scheduler_may_die_at_any_moment(table: Path, tmp_path: Path, expected: tuple[bytes, float]) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    draw = random.Random(3)
    for number in range(SCHEDULERS):
        out, folder = tmp_path / f"{number}.csv", tmp_path / f"cluster-{number}"
        folder.mkdir()
        with cluster_of(folder, 2) as (file, scheduler):
            run = begun(table, out, "--cluster", str(file))
            await_client(file, run)
            time.sleep(draw.uniform(0.0, 0.8) * expected[1])
            scheduler.kill()
            assert ended(run, out) == expected[0]


def test_workers_slowed_at_random_give_the_same_pattern(
    table: Path, tmp_path: Path, expected: tuple[bytes, float]
) -> None:
    draw = random.Random(4)
    for number in range(3):
        out = tmp_path / f"{number}.csv"
        run = begun(table, out)
        while run.poll() is None:
            for worker in (below := workers_of(run.pid))[: len(below) // 2 + 1]:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGSTOP)
            time.sleep(draw.uniform(0.05, 0.4))
            for worker in below:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGCONT)
            time.sleep(draw.uniform(0.05, 0.4))
        assert ended(run, out) == expected[0]
