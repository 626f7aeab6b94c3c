"""Where work beyond this process is done: executors with one worker each, processes of this machine or of a cluster.

The one seam is `concurrent.futures.Executor`. What is submitted are functions of this package with bytes or texts as
arguments and results; nothing else crosses to a worker.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from typing import Any

Work = Callable[..., Any]

LOCAL = "local"
"""The name of a cluster that Dask makes on this machine."""


class Workers(ABC):
    """Places at which work can be done, numbered from 0; one that is lost is replaced."""

    def __init__(self, executors: Sequence[Executor]) -> None:
        self.executors = list(executors)
        self._asked: dict[Future[Any], tuple[int, Executor]] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def count(self) -> int:
        """How many places there are."""
        return len(self.executors)

    @property
    def threads(self) -> int | None:
        """How many threads each of them may use; None where they know best themselves."""
        return None

    @property
    def lasting(self) -> bool:
        """Whether they live on after this run."""
        return False

    def submit(self, place: int, work: Work, *given: Any) -> Future[Any]:
        """Have something done at a place; more places than there are begin at the first one again."""
        at = place % self.count
        try:
            future = self.executors[at].submit(work, *given)
        except (BrokenExecutor, RuntimeError):  # it died while it had nothing to do
            self._renew(at, self.executors[at])
            at = place % self.count
            future = self.executors[at].submit(work, *given)
        self._asked[future] = at, self.executors[at]
        return future

    def result(self, future: Future[Any]) -> Any:
        """What was done; `Lost` where the worker died, which is then replaced."""
        at, executor = self._asked.pop(future)
        try:
            return future.result()
        except (BrokenExecutor, CancelledError, OSError) as fault:
            self._renew(at, executor)
            raise Lost(type(fault).__name__) from None

    def _renew(self, at: int, executor: Executor) -> None:
        """Replace an executor, once for all that it was doing; there may be fewer places afterwards."""
        if at < self.count and self.executors[at] is executor:
            another = self._another(at)
            self.executors[at % self.count] = another

    def gone(self) -> bool:
        """Whether nobody finishes what was submitted; all of it must then be submitted again."""
        return False

    @abstractmethod
    def _another(self, place: int) -> Executor:
        """A worker in place of one that died."""

    @abstractmethod
    def close(self) -> None:
        """End all workers that were made for this, whatever they do."""


class Lost(Exception):
    """A worker died before it had finished."""


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


class OwnProcesses(Workers):
    """Processes of this machine, which share its processors and end with this one."""

    def __init__(self, count: int) -> None:
        self._threads = max(1, cores() // count)
        self._pids: list[Future[int]] = []
        super().__init__([self._process() for _ in range(count)])

    @property
    def threads(self) -> int | None:
        """The processors, shared."""
        return self._threads

    def _process(self) -> Executor:
        # spawned: a forked process would inherit threads and locks that numba and HiGHS hold
        spawn = multiprocessing.get_context("spawn")
        made = ProcessPoolExecutor(1, spawn, initializer=serve, initargs=(os.getpid(), self._threads))
        self._pids.append(made.submit(os.getpid))
        return made

    def _another(self, place: int) -> Executor:
        self.executors[place].shutdown(wait=False)
        return self._process()

    def close(self) -> None:
        """End the processes at once: what they still do is of no use to anybody."""
        for executor in self.executors:
            executor.shutdown(wait=False, cancel_futures=True)
        for pid in self._pids:
            if pid.done() and not pid.cancelled() and pid.exception() is None:
                _end(pid.result())
        for executor in self.executors:
            executor.shutdown(wait=True)


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return  # it ended by itself


def serve(parent: int, threads: int) -> None:
    """What a process does first: leave Ctrl-C to its parent, end with it, and keep to its share of the processors."""
    from numba import config, set_num_threads

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    set_num_threads(min(threads, config.NUMBA_NUM_THREADS))


def end_with(parent: int) -> None:
    """End when the parent has ended, however it did: nobody else waits for what is done here."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def find_workers(cluster: str | None, wanted: int) -> Workers:
    """At most so many processes of this machine, or the workers of a Dask cluster: its address, its file or `local`."""
    if cluster is None:
        return OwnProcesses(max(1, min(wanted, cores())))
    from gpuga.cluster.dask_workers import DaskWorkers

    return DaskWorkers(cluster, wanted)
