"""The workers of a Dask cluster on this machine do what processes do."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from concurrent.futures import CancelledError, Executor, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gpuga
from gpuga.cli.main import run
from gpuga.errors import GpugaError, InputError
from gpuga.table.generate import herrington

pytest.importorskip("distributed", reason="the extra cluster (dask[distributed]) is not installed")

import dask

from gpuga.cluster import dask_workers
from gpuga.cluster.dask_workers import DaskWorkers
from gpuga.cluster.workers import Lost
from tests.cluster.conftest import Here


def test_islands_on_a_cluster_of_this_machine_find_what_processes_find() -> None:
    table = herrington(20, 20, 0.03, 1)
    options = {"islands": 2, "population": 8, "generations": 4, "exchange": 2}
    local = gpuga.protect(table, seed=1, options=options | {"cluster": "local"})
    own = gpuga.protect(table, seed=1, options=options)
    assert local.audit.safe
    assert (local.suppressed == own.suppressed).all()
    assert local.found.details["received"] > 0


def test_work_of_a_killed_worker_is_done_by_another() -> None:
    with DaskWorkers("local", 2) as workers:
        pids = [workers.result(workers.submit(place, os.getpid)) for place in range(2)]
        waiting = workers.submit(0, time.sleep, 1.0)
        time.sleep(0.3)
        os.kill(pids[0], signal.SIGKILL)
        try:
            assert workers.result(waiting) is None
        except Lost:
            assert workers.result(workers.submit(0, time.sleep, 0.1)) is None
        assert not workers.gone()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl")
def test_a_cluster_speaks_tls_where_the_settings_of_dask_ask_for_it(tmp_path: Path) -> None:
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=office"]
    subprocess.run(["openssl", *made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    files = {"ca-file": certificate}
    for role in ("scheduler", "worker", "client"):
        files |= {f"{role}.cert": certificate, f"{role}.key": key}
    settings = {f"distributed.comm.tls.{name}": file for name, file in files.items()}
    with dask.config.set({"distributed.comm.require-encryption": True, **settings}), DaskWorkers("local", 1) as workers:
        assert workers._client.scheduler.address.startswith("tls://")
        assert all(address.startswith("tls://") for address in workers._addresses())
        assert workers.result(workers.submit(0, os.getpid)) != os.getpid()


def test_a_scheduler_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_workers, "CONNECTING", 0.5)
    with pytest.raises(InputError, match=r"tcp://127\.0\.0\.1:9, --cluster: no scheduler answers there"):
        DaskWorkers("tcp://127.0.0.1:9", 1)
    with pytest.raises(InputError, match="--cluster: no scheduler answers there"):
        DaskWorkers("nonsense://here", 1)
    with pytest.raises(InputError, match=r"answers there, or not to the certificates that Dask's settings"):
        DaskWorkers("tls://127.0.0.1:9", 1)
    damaged = tmp_path / "scheduler.json"
    damaged.write_text("{")
    with pytest.raises(InputError, match=r"scheduler\.json, --cluster: no scheduler answers there"):
        DaskWorkers(str(damaged), 1)


def test_jobs_are_done_by_a_cluster(tmp_path: Path) -> None:
    for seed in range(4):
        gpuga.write_table(herrington(6, 6, 0.1, seed), tmp_path / f"t{seed}.csv")
    (tmp_path / "jobs.toml").write_text('[[job]]\ntables = "t*.csv"\n')
    assert run(["run", str(tmp_path / "jobs.toml"), "--cluster", "local", "--workers", "2", "--quiet"]) == 0
    assert len([*tmp_path.glob("jobs-jobs/*/pattern.csv")]) == 4


def test_a_cluster_whose_workers_die_at_once_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def dying(n_workers: int, **_: object) -> str:
        begun.append(n_workers)
        if len(begun) < 3:
            raise RuntimeError("Nanny failed to start.")
        return "cluster"

    monkeypatch.setattr(dask_workers, "LocalCluster", dying)
    with pytest.warns(UserWarning, match="begun again"):
        assert dask_workers._local_cluster(2) == "cluster"
    assert begun == [2, 2, 2]
    monkeypatch.setattr(dask_workers, "MOST_STARTS", 1)
    begun.clear()
    with pytest.raises(GpugaError, match="no Dask cluster can be started"):
        dask_workers._local_cluster(1)


class Idle:
    """A client of a cluster whose workers are there and have `work`."""

    status = "running"

    def __init__(self, work: dict[str, tuple[str, ...]]) -> None:
        self.work, self.scheduler = work, SimpleNamespace(processing=None)

    def scheduler_info(self) -> dict[str, dict[str, str]]:
        return {"workers": {"tcp://one": "here"}}

    def sync(self, *_: object, **__: object) -> dict[str, tuple[str, ...]]:
        return self.work


def test_what_nobody_works_on_is_submitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = object.__new__(DaskWorkers)
    workers._own, workers._seen, workers._looked, workers._busy = None, 0.0, 0.0, time.monotonic()
    workers._client = Idle({"tcp://one": ("task",)})
    workers._asked = {Future(): (0, None)}  # type: ignore[dict-item]
    monkeypatch.setattr(dask_workers, "IDLE", 60.0)
    assert not workers.gone()
    workers._client, workers._looked, workers._busy = Idle({"tcp://one": ()}), 0.0, time.monotonic() - 61.0
    with pytest.warns(UserWarning, match="begun again"):
        assert workers.gone()
    assert not workers._asked
    workers._looked, workers._busy = 0.0, time.monotonic() - 61.0
    assert not workers.gone()  # nothing is asked for


class Closed:
    """A client whose scheduler died, and which leaves its tasks unanswered."""

    status = "closed"

    def close(self, timeout: float) -> None:
        pass


def test_all_that_a_dead_cluster_was_asked_for_is_lost_when_one_loss_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workers = object.__new__(DaskWorkers)
    noticed, answered, unanswered = Future[Any](), Future[Any](), Future[Any]()
    old = [Executor(), Executor(), Executor()]
    workers._own, workers._local, workers._client, workers.executors = None, None, Closed(), list(old)
    workers._asked = {one: (place, old[place]) for place, one in enumerate((noticed, answered, unanswered))}
    monkeypatch.setattr(dask_workers, "OwnProcesses", lambda count: Here(count))
    noticed.set_exception(CancelledError())
    answered.set_result(b"done")
    with pytest.warns(UserWarning, match="processes of this machine go on"), pytest.raises(Lost):
        workers.result(noticed)
    assert workers.result(answered) == b"done"
    assert unanswered.done(), "who waits for it would wait for ever"
    with pytest.raises(Lost):
        workers.result(unanswered)
    assert not workers.gone()
