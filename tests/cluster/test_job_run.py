"""Many jobs: in an order that works, none lost, none done twice."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from typing import Any

import numpy as np

from gpuga.cluster.job_folder import Result
from gpuga.cluster.job_run import ATTEMPTS, Runs, Task
from tests.cluster.conftest import Here

SAFE = Result(0, summary={"safe": True})


class Work:
    """Notes what is done; some jobs fail."""

    def __init__(self, *failing: str) -> None:
        self.failing, self.done = failing, []  # type: tuple[str, ...], list[str]

    def __call__(self, text: str) -> str:
        self.done.append(text)
        return (Result(3, "no safe pattern exists") if text in self.failing else SAFE).text()


def tasks(*names: str, **needs: tuple[str, ...]) -> list[Task]:
    return [Task(name, needs.get(name, ()), name) for name in names]


def run(work: Work, workers: Here, asked: list[Task], **known: Result) -> dict[str, Result]:
    told: list[str] = []
    results = Runs(work, workers, lambda task, result: told.append(task.name)).all(asked, known)
    assert sorted(told) == sorted(task.name for task in asked)
    return results


def test_a_job_waits_for_those_that_it_needs() -> None:
    work = Work()
    results = run(work, Here(2), tasks("c", "a", "b", a=("b",), c=("a",)))
    assert work.done == ["b", "a", "c"]
    assert all(one.safe for one in results.values())


def test_what_is_known_already_is_not_done_again() -> None:
    work = Work()
    results = run(work, Here(2), tasks("a", a=("b",)), b=SAFE)
    assert work.done == ["a"]
    assert set(results) == {"a", "b"}


def test_what_needs_a_failed_job_is_not_begun() -> None:
    work = Work("b")
    results = run(work, Here(1), tasks("b", "a", "d", a=("b",), d=("a",)))
    assert work.done == ["b"]
    assert results["a"].sentence == "needs b, which has no safe pattern"
    assert results["d"].sentence == "needs a, which has no safe pattern"
    assert not any(one.safe for one in results.values())


def test_jobs_of_dead_workers_are_done_again_and_none_twice() -> None:
    random = np.random.default_rng(1)

    def die(_: Any) -> None:
        if random.random() < 0.2:
            raise BrokenExecutor

    work, names = Work(), [f"job{z}" for z in range(40)]
    results = run(work, workers := Here(3, die), tasks(*names))
    assert workers.replaced > 3
    assert sorted(work.done) == sorted(names)
    assert all(one.safe for one in results.values())


def test_a_job_that_kills_its_workers_is_given_up_and_the_others_are_done() -> None:
    def die(given: Any) -> None:
        if given == ("bad",):
            raise BrokenExecutor

    work = Work()
    results = run(work, workers := Here(2, die), tasks("a", "bad", "c"))
    assert workers.replaced == ATTEMPTS
    assert "died 3 times" in results["bad"].sentence
    assert sorted(work.done) == ["a", "c"]
