"""Rests of evolution beside a prover with which it shares the processors."""

from __future__ import annotations

import time

from gpuga.context import Clock

PATIENT = 8
"""Generations without a cheaper pattern of its own after which evolution rests."""

RESTS, LONGEST_REST = 3.0, 2.0
"""How many times as long as a generation took a rest is, and how many seconds at most."""


class Rests:
    """Lets evolution rest after generations that bring nothing: the prover then has the processors to itself.

    A cheaper pattern of its own ends the rests. They are for runs with a time limit.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock, self.idle = clock, 0
        self._best: int | None = None
        self._ended = clock.spent()

    def after(self, cost: int, arrived: bool) -> None:
        """A generation has ended with this best cost; whether a pattern of the prover's had arrived in it."""
        took = self.clock.spent() - self._ended
        gained = self._best is None or (cost < self._best and not arrived)
        self._best, self.idle = cost, 0 if gained else self.idle + 1
        if self.idle > PATIENT:
            time.sleep(max(0.0, min(RESTS * took, LONGEST_REST, self.clock.left())))
        self._ended = self.clock.spent()
