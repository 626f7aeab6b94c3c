"""Processes of this machine: one that dies is replaced, and all end with who made them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Executor
from pathlib import Path

import pytest

from gpuga.cluster.workers import Lost, OwnProcesses, cores, find_workers
from gpuga.errors import MissingExtra
from tests.cluster.conftest import AtOnce, Here

ROOT = Path(__file__).parents[2]


def test_a_process_that_is_killed_is_replaced() -> None:
    with OwnProcesses(2) as workers:
        first, second = (workers.result(workers.submit(place, os.getpid)) for place in (0, 1))
        assert first != second
        assert workers.result(workers.submit(2, os.getpid)) == first, "more work than places begins again at the first"
        sleeping = workers.submit(0, time.sleep, 60)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(Lost):
            workers.result(sleeping)
        third = workers.result(workers.submit(0, os.getpid))
        assert third not in (first, second)
        assert workers.result(workers.submit(1, os.getpid)) == second
    assert not alive(second)
    assert not alive(third)


def test_a_process_that_dies_idle_is_replaced_when_it_is_needed() -> None:
    with OwnProcesses(1) as workers:
        first = workers.result(workers.submit(0, os.getpid))
        os.kill(first, signal.SIGKILL)
        answer = None
        for _ in range(100):
            try:
                answer = workers.result(workers.submit(0, os.getpid))
                break
            except Lost:
                continue
        assert answer not in (None, first)


class Shrinking(Here):
    """A cluster that dies as a whole: one process of this machine takes over."""

    def _another(self, place: int) -> Executor:
        self.replaced += 1
        self.executors = [AtOnce(lambda _: None)]
        return self.executors[0]


def test_fewer_places_may_take_over() -> None:
    def die(_: object) -> None:
        raise BrokenExecutor

    workers = Shrinking(4, die)
    lost = [workers.submit(place, os.getpid) for place in range(4)]
    for future in reversed(lost):
        with pytest.raises(Lost):
            workers.result(future)
    assert workers.replaced == 1
    assert workers.result(workers.submit(3, os.getpid)) == os.getpid()


def test_the_processors_are_shared() -> None:
    with find_workers(None, 64) as workers:
        assert isinstance(workers, OwnProcesses)
        assert workers.count == cores()
        assert workers.threads == 1


def alive(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    return True


PARENT = """
import os, time
from gpuga.cluster.workers import OwnProcesses
if __name__ == "__main__":
    workers = OwnProcesses(1)
    print(workers.result(workers.submit(0, os.getpid)), flush=True)
    time.sleep(60)
"""


def test_processes_end_when_who_made_them_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    surroundings = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=surroundings) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    assert not alive(worker)


def test_a_cluster_without_its_packages_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "gpuga.cluster.dask_workers", raising=False)
    with pytest.raises(MissingExtra, match=r"--cluster needs packages .*pip install 'gpuga\[cluster\]'"):
        find_workers("local", 1)
