"""The cheapest safe pattern of a small table, by trying patterns: nothing is assumed but that hiding more helps."""

from __future__ import annotations

from tests.campaign.judge import Judge, Reading
from tests.campaign.problem import Problem


class TooMany(Exception):
    """There are more patterns than one wants to try."""


class Search:
    """Patterns in depth-first order. What was judged is kept: more than a safe pattern is safe, less than an unsafe
    one is unsafe."""

    def __init__(self, problem: Problem, reading: Reading, most: int = 3000) -> None:
        self.problem, self.left = problem, most
        self.reading = Reading(reading.strict, reading.whole, reading.level_zero, False, reading.unit)
        self.whole_demand = reading
        self.safe_ones: list[frozenset[int]] = []
        self.unsafe_ones: list[frozenset[int]] = []

    def cheaper_than(self, limit: int | None) -> frozenset[int] | None:
        """The cheapest safe pattern that costs less than `limit` (None: any), None if there is none."""
        self.best: frozenset[int] | None = None
        self.limit = limit
        free = sorted(self.problem.free, key=lambda c: -self.problem.weight[c])
        self._branch(self.problem.forced, free, self.problem.cost(self.problem.forced))
        return self.best

    def _branch(self, taken: frozenset[int], free: list[int], cost: int) -> None:
        """All patterns between `taken` and `taken` plus `free`."""
        if self.limit is not None and cost >= self.limit:
            return
        if not self._protects(taken.union(free)):
            return
        if self._protects(taken) and self._secondaries_move(taken):
            self.best, self.limit = taken, cost
            return
        if not free:
            return
        first, rest = free[0], free[1:]
        self._branch(taken, rest, cost)
        self._branch(taken | {first}, rest, cost + self.problem.weight[first])

    def _protects(self, pattern: frozenset[int]) -> bool:
        """Whether all sensitive cells are safe."""
        if any(known <= pattern for known in self.safe_ones):
            return True
        if any(known >= pattern for known in self.unsafe_ones):
            return False
        self.left -= 1
        if self.left < 0:
            raise TooMany
        judge = Judge(self.problem, pattern, whole=self.reading.whole)
        if all(judge.safe(c, self.reading) for c in self.problem.sensitive):
            self.safe_ones.append(pattern)
            return True
        self.unsafe_ones.append(pattern)
        return False

    def _secondaries_move(self, pattern: frozenset[int]) -> bool:
        if not self.whole_demand.protect_secondary:
            return True
        judge = Judge(self.problem, pattern, whole=self.reading.whole)
        return all(judge.safe(c, self.whole_demand) for c in judge.cells)
