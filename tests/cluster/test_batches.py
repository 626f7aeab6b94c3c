"""Batches at workers: all answers that come in time, and a word about those that never will."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from typing import Any

from gpuga.cluster.batches import Batches
from gpuga.context import Clock
from tests.cluster.conftest import Here


def doubled(order: bytes) -> bytes:
    return order + order


def begun(workers: Here, count: int, clock: Clock | None = None) -> Batches:
    batches = Batches(workers, doubled, clock or Clock())
    for number in range(count):
        batches.send(number, bytes([number]))
    return batches


def test_every_batch_is_answered_under_its_number() -> None:
    assert dict(begun(Here(2), 5).answers()) == {number: bytes([number] * 2) for number in range(5)}


def test_a_batch_whose_worker_dies_has_no_answer() -> None:
    def die(given: Any) -> None:
        if given[0] == b"\x01":
            raise BrokenExecutor

    workers = Here(2, die)
    assert dict(begun(workers, 3).answers()) == {0: b"\x00\x00", 1: None, 2: b"\x02\x02"}
    assert workers.replaced == 1


def test_a_batch_may_be_sent_again_while_answers_are_read() -> None:
    batches, seen = begun(Here(1), 2), []
    for number, answer in batches.answers():
        seen.append((number, answer))
        if len(answer or b"") == 2:
            batches.send(number, answer or b"")
    assert sorted(seen) == [(0, b"\0" * 2), (0, b"\0" * 4), (1, b"\1" * 2), (1, b"\1" * 4)]


def test_nothing_is_awaited_once_the_time_is_up() -> None:
    clock = Clock()
    batches = begun(Here(1), 2, clock)
    clock.interrupt()
    assert not list(batches.answers())


def test_batches_of_a_cluster_that_is_gone_have_no_answer() -> None:
    class Gone(Here):
        def gone(self) -> bool:
            return True

    assert sorted(begun(Gone(1), 2).answers()) == [(0, None), (1, None)]
