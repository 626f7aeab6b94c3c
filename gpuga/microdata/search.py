"""Searches over recodings (Hurkens and Tiourine 1998, section 3.4) and the evaluator they share.

A neighbour changes one field's rule to the next or the previous one. All neighbours are estimated in one
batched call; an estimate never exceeds the true cost, so a neighbour's optimal local suppression is only
computed where its estimate is below the best cost known. Each such computation also yields new prices, tight
at that recoding, which sharpen all later estimates (the paper's re-weighting).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpuga.context import GRACE, Clock, Progress, Silent
from gpuga.kernels import Backend
from gpuga.microdata.costs import IMPOSSIBLE
from gpuga.microdata.evaluation import evaluate_recoding
from gpuga.microdata.problem import Problem, Recoding
from gpuga.microdata.relaxed import FINENESS, MOST_RECODINGS, RecodingBound, Relaxed, frequency_tables, priced

MOST_PRICES = 12
CAP_SHARE = 10.0
"""Seconds that suppressions within the caps are looked for, per recoding."""


class RecodingEvaluator:
    """Estimates and true costs of recodings, the best one found, and a proven bound.

    `evaluations` limits the true costs that are computed; `clock` the time. `known` holds the costs, `floors` what
    is proven of them (less where a cover is greedy, or an integer program ended before its proof). Searches begin at
    `start`: the unchanged file, or where the caps forbid it the coarsest one.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        evaluations: int = 1000,
        clock: Clock | None = None,
        exact: bool = True,
        backend: Backend | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.problem, self.limit, self.clock = problem, evaluations, clock or Clock()
        self._progress = progress or Silent()
        self.known: dict[Recoding, int] = {}
        self.floors: dict[Recoding, int] = {}
        self._exact, self._backend = exact, backend
        self._tables = frequency_tables(problem)
        self._relaxed: list[Relaxed] = []
        self.best: Recoding = problem.unchanged
        self.start: Recoding = problem.unchanged
        if self.evaluate(problem.unchanged) >= IMPOSSIBLE and self.evaluate(problem.coarsest) < IMPOSSIBLE:
            self.start = problem.coarsest

    @property
    def best_cost(self) -> int:
        """The lowest true cost so far, in units of `1/scale`."""
        return self.known[self.best]

    @property
    def prices(self) -> int:
        """How many sets of prices are in use."""
        return len(self._relaxed)

    def spent(self) -> bool:
        """Whether no further true cost may be computed."""
        return len(self.known) >= self.limit or self.clock.expired()

    def evaluate(self, recoding: Recoding) -> int:
        """The true cost of a recoding; also makes prices that are tight there."""
        if recoding not in self.known:
            seconds = max(GRACE, min(CAP_SHARE, self.clock.left()))
            found = evaluate_recoding(self.problem, recoding, exact=self._exact, seconds=seconds)
            self.known[recoding], self.floors[recoding] = found
            if len(self._relaxed) < MOST_PRICES:
                self._relaxed.append(Relaxed(self.problem, priced(self.problem, self._tables, recoding), self._backend))
            if self.known[recoding] < self.best_cost:
                self.best = recoding
            self._progress.advance(best=self.best_cost / self.problem.costs.scale)
        return self.known[recoding]

    def estimates(self, recodings: Sequence[Recoding]) -> list[Fraction]:
        """The true cost where known, else the best lower bound; one batched call per set of prices."""
        batch = np.array(recodings, np.int32).reshape(-1, self.problem.fields)
        bounds = np.max([relaxed.estimates(batch) for relaxed in self._relaxed], axis=0)
        return [
            Fraction(self.known[k]) if k in self.known else Fraction(int(b), FINENESS)
            for k, b in zip(recodings, bounds, strict=True)
        ]

    def settle(self, recoding: Recoding) -> Fraction:
        """A recoding's cost as a search sees it: true where it might beat the best, an estimate elsewhere."""
        estimate = self.estimates([recoding])[0]
        if recoding in self.known or estimate >= self.best_cost or self.spent():
            return estimate
        return Fraction(self.evaluate(recoding))

    def best_of(self, recodings: Sequence[Recoding]) -> tuple[Recoding, Fraction]:
        """The cheapest of some recodings, as `settle` sees them, computing as few true costs as possible."""
        while True:
            estimates = self.estimates(recodings)
            at = min(range(len(recodings)), key=lambda i: (estimates[i], recodings[i]))
            cost = self.settle(recodings[at])
            if cost <= estimates[at] or self.spent():
                return recodings[at], cost

    def bound(self) -> RecodingBound:
        """A proven lower bound on the cost of any protection of this file: 0 where no time is left for another."""
        if self.clock.expired():
            return RecodingBound(Fraction(0), "none: the time was up")
        if self.enumerable:
            return RecodingBound(Fraction(int(self._floor().min()), FINENESS), "enumeration")
        upper = min(self.best_cost, self.problem.worst_cost) * FINENESS
        bounds = [relaxed.lagrangean(upper, self.clock) for relaxed in self._in_time()]
        return RecodingBound(Fraction(max(bounds), FINENESS), "lagrangean")

    def _in_time(self) -> Iterator[Relaxed]:
        """The sets of prices, the first one always and the others as long as there is time."""
        for number, relaxed in enumerate(self._relaxed):
            if number == 0 or not self.clock.expired():
                yield relaxed

    def _floor(self) -> NDArray[np.int64]:
        """For every recoding its true cost or its best estimate."""
        floor = np.zeros(self.problem.choices, np.int64)
        for relaxed in self._in_time():
            floor = np.maximum(floor, relaxed.everywhere())
        for recoding, proven in self.floors.items():
            floor[recoding] = max(int(floor[recoding]), proven * FINENESS)
        return floor

    @property
    def enumerable(self) -> bool:
        """Whether the recodings are few enough to look at every one."""
        return bool(np.prod([float(c) for c in self.problem.choices]) <= MOST_RECODINGS)

    def most_promising(self, below: int, settled: Collection[Recoding]) -> Recoding | None:
        """The recoding of lowest proven bound that might cost less than `below` and is not settled."""
        floor = self._floor()
        for recoding in settled:
            floor[recoding] = below * FINENESS
        at = tuple(int(x) for x in np.unravel_index(int(floor.argmin()), floor.shape))
        return None if int(floor[at]) >= below * FINENESS else at


def neighbours(problem: Problem, recoding: Recoding) -> list[Recoding]:
    """All recodings that differ by one step in one field."""
    found = []
    for field, rule in enumerate(recoding):
        for step in (-1, 1):
            if 0 <= rule + step < problem.choices[field]:
                found.append((*recoding[:field], rule + step, *recoding[field + 1 :]))
    return found


def random_recoding(problem: Problem, rng: np.random.Generator) -> Recoding:
    """One rule per field, drawn evenly."""
    return tuple(int(rng.integers(c)) for c in problem.choices)


def iterative(evaluator: RecodingEvaluator, rng: np.random.Generator) -> None:
    """Improve from the unchanged file until no neighbour is cheaper."""
    _improve(evaluator, evaluator.start)


def _improve(evaluator: RecodingEvaluator, recoding: Recoding) -> None:
    cost = Fraction(evaluator.evaluate(recoding))
    while not evaluator.spent():
        around = neighbours(evaluator.problem, recoding)
        if not around:
            return
        promising = [k for k, e in zip(around, evaluator.estimates(around), strict=True) if e < cost]
        best = min(((Fraction(evaluator.evaluate(k)), k) for k in promising if not evaluator.spent()), default=None)
        if best is None or best[0] >= cost:
            return
        cost, recoding = best


def repeated(evaluator: RecodingEvaluator, rng: np.random.Generator, starts: int = 10) -> None:
    """Iterative improvement from the unchanged file, then from random recodings."""
    iterative(evaluator, rng)
    for _ in range(starts):
        if evaluator.spent():
            return
        _improve(evaluator, random_recoding(evaluator.problem, rng))


def tabu(evaluator: RecodingEvaluator, rng: np.random.Generator, patience: int | None = None) -> None:
    """Always move to the cheapest neighbour; recent moves may not be taken back."""
    problem = evaluator.problem
    patience = patience or 10 + 2 * sum(problem.choices)
    tenure = max(2, sum(c > 1 for c in problem.choices) // 2 + 1)
    recoding, since, step = evaluator.start, 0, 0
    forbidden: dict[tuple[int, int], int] = {}
    while since < patience and not evaluator.spent():
        before = evaluator.best_cost
        free = [k for k in neighbours(problem, recoding) if forbidden.get(_moved(recoding, k), -1) < step]
        free = free or neighbours(problem, recoding)
        if not free:
            return
        chosen, _ = evaluator.best_of(free)
        field, _ = _moved(recoding, chosen)
        forbidden[field, recoding[field]] = step + tenure + int(rng.integers(2))
        recoding, step = chosen, step + 1
        since = 0 if evaluator.best_cost < before else since + 1


def _moved(old: Recoding, new: Recoding) -> tuple[int, int]:
    """The field that differs and its new rule."""
    field = next(f for f in range(len(old)) if old[f] != new[f])
    return field, new[field]


def annealing(evaluator: RecodingEvaluator, rng: np.random.Generator, steps: int | None = None) -> None:
    """Accept random neighbours, worse ones with a probability that falls to nothing."""
    problem = evaluator.problem
    steps = steps or 40 * sum(problem.choices)
    recoding, cost = evaluator.start, Fraction(evaluator.known[evaluator.start])
    around = neighbours(problem, recoding)
    if not around:
        return
    spread = [abs(float(e - cost)) for e in evaluator.estimates(around)]
    temperature = max(float(np.mean(spread)), 1.0)
    cooling = 0.001 ** (1 / steps)
    for _ in range(steps):
        if evaluator.spent():
            return
        around = neighbours(problem, recoding)
        candidate = around[int(rng.integers(len(around)))]
        value = evaluator.settle(candidate)
        worse = float(value - cost)
        if worse <= 0 or rng.random() < np.exp(-worse / temperature):
            recoding, cost = candidate, value
        temperature *= cooling


def exact(evaluator: RecodingEvaluator, rng: np.random.Generator) -> None:
    """Tabu search, then the most promising recodings until none can be cheaper (few recodings only)."""
    tabu(evaluator, rng)
    if not evaluator.enumerable:
        return
    while not evaluator.spent():
        recoding = evaluator.most_promising(evaluator.best_cost, evaluator.known)
        if recoding is None:
            return
        evaluator.evaluate(recoding)


SEARCHES: dict[str, Callable[[RecodingEvaluator, np.random.Generator], None]] = {
    "iterative": iterative, "repeated": repeated, "tabu": tabu, "annealing": annealing, "exact": exact,
}  # fmt: skip
