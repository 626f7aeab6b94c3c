"""The workers of a Dask cluster; only here anything of Dask is imported.

Dask's own settings apply: certificates and `tls://` addresses, timeouts, how often a task is tried again.
"""

from __future__ import annotations

import json
import time
import warnings
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Any

from gpuga.cluster.workers import LOCAL, Lost, OwnProcesses, Workers, cores
from gpuga.errors import GpugaError, InputError, MissingExtra

try:
    from distributed import Client, KilledWorker, LocalCluster
except ImportError:
    raise MissingExtra("--cluster", "cluster") from None

CONNECTING = 20.0
"""Seconds in which the scheduler must answer and a first worker must be there."""

WITHOUT_WORKERS = 30.0
"""Seconds without any worker after which this machine takes over."""

IDLE = 6.0
"""Seconds in which no worker works on what was submitted, after which it is submitted again."""

MOST_STARTS = 5
"""How often a cluster of this machine is begun, where its workers die at once."""

OF_THIS_MACHINE: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": "ERROR"}


class DaskWorkers(Workers):
    """One place per worker. What a worker that dies was doing, Dask gives to another one.

    Where the scheduler itself is gone, or no worker is left, processes of this machine take over.
    """

    def __init__(self, cluster: str, wanted: int) -> None:
        self._local, self._client = _connected(cluster, wanted)
        self._own: OwnProcesses | None = None
        self._seen = self._looked = self._busy = time.monotonic()
        try:
            self._client.wait_for_workers(1, timeout=CONNECTING)
            addresses = sorted(self._addresses())
        except TimeoutError:
            self._close_client()
            raise InputError("its scheduler has no workers", path=cluster, field="--cluster") from None
        except (OSError, CancelledError):
            self._close_client()
            raise InputError("its scheduler died", path=cluster, field="--cluster") from None
        super().__init__([self._executor(address) for address in addresses])

    def _addresses(self) -> list[str]:
        return list(self._client.scheduler_info(n_workers=-1)["workers"])

    def _executor(self, address: str) -> Executor:
        made: Executor = self._client.get_executor(workers=[address], allow_other_workers=True, pure=False)
        return made

    @property
    def threads(self) -> int | None:
        """The processors, shared among workers of this machine; others know best themselves."""
        if self._own is not None:
            return self._own.threads
        return None if self._local is None else max(1, cores() // self.count)

    @property
    def lasting(self) -> bool:
        """Those of a cluster do that was not made here."""
        return self._own is None and self._local is None and self._client.status == "running"

    def result(self, future: Future[Any]) -> Any:
        """As of all workers; Dask gives up a task whose workers died several times."""
        try:
            return super().result(future)
        except KilledWorker as fault:
            raise Lost(type(fault).__name__) from None

    def gone(self) -> bool:
        """Whether the scheduler, or every worker for a while, is gone; processes of this machine have taken over then.

        Only the first time: those that took over are replaced one by one. Also where tasks were forgotten.
        """
        if self._own is not None:
            return False
        now = time.monotonic()
        if self._client.status == "running" and self._client.scheduler_info()["workers"]:
            self._seen = now
            return self._forgotten(now)
        # a client whose scheduler is gone tries for long to find it again
        if now - self._seen < WITHOUT_WORKERS and self._client.status in ("running", "connecting"):
            return False
        self._take_over()
        return True

    def _forgotten(self, now: float) -> bool:
        """Whether something was submitted and no worker works on anything for a while.

        Where a worker dies at a bad moment, Dask may lose a task without a word.
        """
        if now - self._looked < IDLE / 4:
            return False
        self._looked = now
        try:
            processing = self._client.sync(self._client.scheduler.processing, workers=None, callback_timeout=IDLE)
        except (OSError, CancelledError, TimeoutError):
            return False  # the scheduler itself is in trouble, which the next look will tell
        if any(processing.values()) or not any(not future.done() for future in self._asked):
            self._busy = now
        if now - self._busy < IDLE:
            return False
        self._busy = now
        self._asked.clear()
        warnings.warn("tasks were lost by the cluster: begun again", stacklevel=3)
        return True

    def _take_over(self) -> None:
        warnings.warn("the cluster is gone: processes of this machine go on", stacklevel=3)
        self._own = OwnProcesses(max(1, min(self.count, cores())))
        self.executors = self._own.executors
        self._close_client()
        self._lose_all()

    def _lose_all(self) -> None:
        """Count as lost what the cluster was asked for: a client that is closed may leave it unanswered for ever."""
        for future in list(self._asked):
            with suppress(InvalidStateError):  # it was answered after all
                if not future.done():
                    future.set_exception(BrokenExecutor("the cluster is gone"))

    def _another(self, place: int) -> Executor:
        """Another executor; of a cluster that is there, any of its workers will do."""
        if self._own is not None:
            return self._own._another(place)
        try:
            addresses = sorted(self._addresses()) if self._client.status == "running" else []
        except (OSError, CancelledError):
            addresses = []
        if addresses:
            return self._executor(addresses[place % len(addresses)])
        self._take_over()
        return self.executors[place % self.count]

    def close(self) -> None:
        """Leave the cluster; one that was made here ends."""
        if self._own is not None:
            self._own.close()
        else:
            self._close_client()

    def _close_client(self) -> None:
        self._client.close(timeout=2)
        if self._local is not None:
            self._local.close(timeout=5)
            self._local = None


def _connected(cluster: str, wanted: int) -> tuple[LocalCluster | None, Client]:
    """The client, and the cluster where it is made here."""
    if cluster == LOCAL:
        local = _local_cluster(max(1, min(wanted, cores())))
        return local, Client(local)
    address = cluster
    try:
        address = json.loads(Path(cluster).read_text())["address"] if Path(cluster).is_file() else cluster
        return None, Client(address, timeout=CONNECTING)
    except (OSError, ValueError, TypeError, KeyError) as fault:
        keys = ", or not to the certificates that Dask's settings name" if address.startswith("tls:") else ""
        what = f"no scheduler answers there{keys} ({type(fault).__name__})"
        raise InputError(what, path=cluster, field="--cluster") from None


def _local_cluster(count: int) -> LocalCluster:
    """A cluster of this machine; begun again where a worker dies before it is up, which Dask takes for a fault."""
    for _ in range(MOST_STARTS - 1):
        try:
            return LocalCluster(n_workers=count, **OF_THIS_MACHINE)
        except RuntimeError:
            warnings.warn("a worker of the cluster died while it started: begun again", stacklevel=3)
    try:
        return LocalCluster(n_workers=count, **OF_THIS_MACHINE)
    except RuntimeError as fault:
        raise GpugaError(f"no Dask cluster can be started on this machine ({fault})") from None
