"""Cheaper patterns near a given one: integer programmes over few columns, completed by the cuts they violate.

Most cells of a good pattern are right. Some are let go together with cheap ones around them, the others stay as they
are, and HiGHS solves what is left to integers. An answer that some level rejects is cut off and asked again; what is
accepted is safe. The cuts hold for every safe pattern, so they serve all later questions too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.cuts import Cut
from gpuga.bounds.lone_cells import PlaneCut
from gpuga.bounds.relaxation import Relaxation
from gpuga.bounds.rounding import Key
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Clock
from gpuga.lp.cut_session import cut_session
from gpuga.lp.solver import Rows, Status
from gpuga.problem.path_costs import Costs
from gpuga.table.table import Ints, Mask

Floats = NDArray[np.float64]

QUESTIONS = 8
LEAST_SHARE, MOST_SHARE = 0.03, 0.9
MUCH_WIDER, WIDER, NARROWER = 1.4, 1.1, 0.7
MANY_COLUMNS = 3500


class Size(NamedTuple):
    """How many columns and nodes a programme has, and from how many simplex iterations on it was hard, or too hard."""

    columns: int
    nodes: int
    hard: int
    too_hard: int


NARROW, WIDE = Size(400, 20, 100, 700), Size(1000, 50, 800, 4000)
"""Where many columns could be part of a cheaper pattern, few of them at a time find nothing."""


@dataclass
class Nearby:
    """Searches around patterns; `share` of a pattern is let go, which follows how hard the programmes were."""

    relaxation: Relaxation
    costs: Costs
    share: float = 0.2
    work: int = 0
    pool: dict[Key, Cut] = field(default_factory=dict)

    def improve(self, pattern: Mask, random: np.random.Generator, clock: Clock) -> Mask:
        """The cheapest pattern found around a safe one (bool[R, C])."""
        problem, cost = self.relaxation.problem, self.relaxation.problem.cost(pattern)
        useful = problem.candidate & ~self.relaxation.certificate.removable(cost)
        size = WIDE if int(useful.sum()) > MANY_COLUMNS else NARROW
        free = self._free(pattern, useful, size, random)
        self.relaxation.add_places(np.flatnonzero(free.ravel() & ~self.relaxation.in_core))
        programme = _Programme(self.relaxation, pattern, free, size)
        programme.add([*self.relaxation.cuts, *self.pool.values()])
        best = pattern
        for _ in range(QUESTIONS):
            answer = programme.solve(best, clock)
            if answer is None or problem.cost(answer) >= problem.cost(best):
                break
            missing = self._missing(answer)
            repaired = self._repaired(answer)
            if problem.cost(repaired) < problem.cost(best):
                best = repaired
            if not missing or programme.work > size.too_hard or clock.expired():
                break
            programme.add(missing)
        self._learn(programme)
        return best if problem.cost(best) < cost else pattern

    def _learn(self, programme: _Programme) -> None:
        """Let more go next time if this was easy, less if it was hard."""
        self.work += programme.work
        if not programme.finished or programme.work > programme.size.too_hard:
            factor = NARROWER
        else:
            factor = WIDER if programme.work > programme.size.hard else MUCH_WIDER
        self.share = float(np.clip(self.share * factor, LEAST_SHARE, MOST_SHARE))

    def _missing(self, answer: Mask) -> list[Cut]:
        """The cuts that an integer pattern violates, kept for later questions too."""
        relaxation = self.relaxation
        missing = relaxation.violated_by(answer.ravel()[relaxation.places].astype(np.float64), 1e-7)
        self.pool |= {cut.key: cut for cut in missing}
        return missing

    def _repaired(self, answer: Mask) -> Mask:
        problem = self.relaxation.problem
        return min(
            (by_paths(problem, self.costs, plain(single, True), start=answer) for single in (True, False)),
            key=problem.cost,
        )

    def _free(self, pattern: Mask, useful: Mask, size: Size, random: np.random.Generator) -> Mask:
        """The columns let go: of the pattern around a random place, of the others the cheapest in reduced cost."""
        let_go = _around(pattern, random, self.share)
        reduced = np.where(useful & ~pattern, self.relaxation.certificate.reduced, 2**62)
        rest = max(0, min(size.columns - int(let_go.sum()), int((useful & ~pattern).sum())))
        limit = np.partition(reduced.ravel(), rest)[rest]
        return np.asarray(let_go | (reduced < limit))


def _around(pattern: Mask, random: np.random.Generator, share: float) -> Mask:
    """A share of a pattern's places, linked by common lines: grown from a random one."""
    i, j = np.nonzero(pattern)
    wanted = max(1, round(share * len(i)))
    chosen = np.zeros(len(i), bool)
    chosen[random.integers(len(i))] = True
    while chosen.sum() < wanted:
        linked = (np.isin(i, i[chosen]) | np.isin(j, j[chosen])) & ~chosen
        if not linked.any():
            linked = ~chosen
        chosen[random.choice(np.flatnonzero(linked))] = True
    around = np.zeros(pattern.shape, bool)
    around[i[chosen], j[chosen]] = True
    return around


class _Programme:
    """The integer programme over the free places; the rest of the pattern is suppressed, everything else published."""

    def __init__(self, relaxation: Relaxation, pattern: Mask, free: Mask, size: Size) -> None:
        self.problem, self.unit, self.size = relaxation.problem, relaxation.unit, size
        self.places = np.flatnonzero(free)
        self.stays: Ints = np.flatnonzero(pattern & ~free)
        self.known: set[Key] = set()
        self.finished = True
        self.work = 0
        self.gaps = 0.0, 0.999 * relaxation.step / self.unit
        self.session = cut_session(self.problem.weight.ravel()[self.places] / self.unit)

    def add(self, cuts: Sequence[PlaneCut]) -> None:
        """Add what the cuts still ask of the free places."""
        net = self.problem.net
        index, value, start = [np.zeros(0, np.int32)], [np.zeros(0)], [0]
        for cut in cuts:
            if cut.rhs == 0 or cut.key in self.known:
                continue
            self.known.add(cut.key)
            left = cut.rhs - int(cut.coefficients(net, self.stays).sum())
            if left > 0:
                coefficient = np.minimum(cut.coefficients(net, self.places), left)
                there = np.flatnonzero(coefficient)
                index.append(there.astype(np.int32))
                value.append(coefficient[there] / left)
                start.append(start[-1] + len(there))
        count = len(start) - 1
        if count:
            self.session.add_rows(Rows(np.ones(count), np.array(start), np.concatenate(index), np.concatenate(value)))

    def solve(self, best: Mask, clock: Clock) -> Mask | None:
        """The cheapest integer pattern found, None if there is none."""
        found = self.session.solve_whole(
            np.ones(len(self.places), bool),
            best.ravel()[self.places].astype(np.float64),
            seconds=clock.left(),
            nodes=self.size.nodes,
            gaps=self.gaps,
        )
        self.work += found.iterations
        self.finished = found.status is Status.OPTIMAL
        if not len(found.x):
            return None
        answer = np.zeros(self.problem.weight.size, bool)
        answer[self.stays] = True
        answer[self.places] = found.x > 0.5
        return answer.reshape(self.problem.shape)
