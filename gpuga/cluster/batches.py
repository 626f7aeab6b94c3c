"""Work in batches at workers: what each answers, until the time is up."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from gpuga.cluster.workers import Lost, Work, Workers
from gpuga.context import Clock

LOOK = 0.5
"""Seconds between two looks at the clock and at the cluster."""


class Batches:
    """One kind of work that is being done at workers, in numbered batches."""

    def __init__(self, workers: Workers, work: Work, clock: Clock) -> None:
        self.workers, self.work, self.clock = workers, work, clock
        self._pending: dict[Future[bytes], int] = {}

    def send(self, number: int, order: bytes) -> None:
        """Have a batch done; the same one may be sent again while answers are read."""
        self._pending[self.workers.submit(number, self.work, order)] = number

    def answers(self) -> Iterator[tuple[int, bytes | None]]:
        """What comes in time, as it comes: a batch and its answer, None where nobody finishes it."""
        while self._pending and not self.clock.expired():
            if self.workers.gone():
                lost, self._pending = sorted(self._pending.values()), {}
                yield from ((number, None) for number in lost)
                continue
            finished, _ = wait(self._pending, LOOK, FIRST_COMPLETED)
            for future in finished:
                yield self._pending.pop(future), self._answer(future)

    def _answer(self, future: Future[bytes]) -> bytes | None:
        try:
            answer: bytes = self.workers.result(future)
        except Lost:
            return None
        return answer
