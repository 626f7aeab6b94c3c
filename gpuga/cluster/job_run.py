"""Runs many jobs: each as soon as a worker is free and what it needs is done; those whose worker died are retried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass

from gpuga.cluster.job_folder import Result
from gpuga.cluster.workers import Lost, Workers

ATTEMPTS = 3
"""How often a job is begun whose worker dies over it."""

LOOK = 0.5
"""Seconds between two looks at the cluster while all workers are busy."""

Told = Callable[["Task", Result], None]


@dataclass(frozen=True)
class Task:
    """One job as it is sent: its name, those that must be safe before, and a text that says all about it."""

    name: str
    needs: tuple[str, ...]
    text: str


class Runs:
    """Jobs on workers; `work` makes the text of a result out of the text of a task, at a worker."""

    def __init__(self, work: Callable[[str], str], workers: Workers, told: Told) -> None:
        self.work, self.workers, self.told = work, workers, told
        self.results: dict[str, Result] = {}
        self.attempts: dict[str, int] = {}
        self.running: dict[Future[str], tuple[int, Task]] = {}

    def all(self, tasks: Sequence[Task], known: dict[str, Result]) -> dict[str, Result]:
        """The results of all tasks, by name; `known` are those of jobs that are done already."""
        self.results = dict(known)
        waiting = list(tasks)
        while waiting or self.running:
            waiting = self._begin(waiting)
            if not self.running:
                continue
            finished, _ = wait(self.running, LOOK, FIRST_COMPLETED)
            if self.workers.gone():
                waiting = [task for _, task in self.running.values()] + waiting
                self.running = {}
                continue
            waiting = [again for future in finished if (again := self._end(future)) is not None] + waiting
        return self.results

    def _begin(self, waiting: list[Task]) -> list[Task]:
        """Give work to those who have none; the tasks that are left."""
        free = sorted(set(range(self.workers.count)) - {place for place, _ in self.running.values()})
        left = []
        for task in waiting:
            needs = [self.results.get(name) for name in task.needs]
            failed = [name for name, one in zip(task.needs, needs, strict=True) if one is not None and not one.safe]
            if failed:
                self._note(task, Result(1, f"needs {failed[0]}, which has no safe pattern"))
            elif free and all(needs):
                place = free.pop(0)
                self.running[self.workers.submit(place, self.work, task.text)] = place, task
            else:
                left.append(task)
        return left

    def _end(self, future: Future[str]) -> Task | None:
        """Take the result of a task; the task itself where it has to be done again."""
        _, task = self.running.pop(future)
        try:
            self._note(task, Result.of(self.workers.result(future)))
        except Lost:
            self.attempts[task.name] = self.attempts.get(task.name, 0) + 1
            if self.attempts[task.name] < ATTEMPTS:
                return task
            self._note(task, Result(1, f"its worker died {ATTEMPTS} times: is memory short?"))
        return None

    def _note(self, task: Task, result: Result) -> None:
        self.results[task.name] = result
        self.told(task, result)
