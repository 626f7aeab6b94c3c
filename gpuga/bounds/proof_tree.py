"""A branch and bound whose every node is bounded in exact arithmetic: what turns a solver's word into a proof.

Each node fixes some cells; its linear program proposes multipliers, and the bound they give, recomputed in integers,
is the node's. No safe pattern is cheaper than the least bound of the open nodes, or than the incumbent: a proof of
optimality once no node is open, and a valid bound at any time before. Nodes are taken by rising bound. Cells that
the root's certificate rules out are left out from the start.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.cuts import Cut
from gpuga.bounds.program import Program
from gpuga.bounds.relaxation import Relaxation
from gpuga.bounds.rounding import Rounded, half_cuts
from gpuga.context import Clock
from gpuga.table.table import Ints

Floats = NDArray[np.float64]
Fixed = tuple[int, ...]

ROUNDS_AT_ROOT = 30
ROUNDS_AT_NODE = 2
WHOLE = 1e-6
NODES_BETWEEN_OFFERS = 25
BRANCHES_TRIED = 5
BRANCH_ITERATIONS = 40
RELIABLE = 4
"""Trials of both branches of a place after which their mean is believed."""


class Incumbent(Protocol):
    """Who keeps the best safe pattern."""

    cost: int

    def try_point(self, x: Floats) -> int:
        """Make a safe pattern of a fractional one (float64[R, C]), keep it if it is cheaper; the cost of the best."""


@dataclass(frozen=True)
class Outcome:
    """No safe pattern costs less than `bound`; where `closed`, none less than the incumbent of now.

    `undecided` says that no more nodes would raise the bound.
    """

    bound: int
    closed: bool
    undecided: bool
    nodes: int


@dataclass(order=True, frozen=True)
class Node:
    """Cells fixed by position, and a proven bound; of equal bounds the deepest comes first."""

    bound: int
    depth: int
    number: int
    published: Fixed = ()
    suppressed: Fixed = ()

    def child(self, at: int, hidden: int, bound: int, number: int) -> Node:
        """The node with one more cell fixed."""
        published = self.published if hidden else (*self.published, at)
        suppressed = (*self.suppressed, at) if hidden else self.suppressed
        return Node(max(bound, self.bound), self.depth - 1, number, published, suppressed)


def prove(relaxation: Relaxation, incumbent: Incumbent, clock: Clock, most_nodes: float = math.inf) -> Outcome:
    """Bound what safe patterns cost; ends when none can undercut the incumbent, after `most_nodes` or in time.

    Points met on the way are offered to the incumbent, which may become cheaper meanwhile.
    """
    tree = _Tree(relaxation, incumbent, clock)
    heap, nodes = [Node(relaxation.bound, 0, 0)], 0
    undecided: list[int] = []
    while heap and heap[0].bound < incumbent.cost and nodes < most_nodes and not clock.expired():
        node = heapq.heappop(heap)
        nodes += 1
        children = tree.expand(node)
        if children is None:
            undecided.append(node.bound)
        else:
            for child in children:
                heapq.heappush(heap, child)
    bound = min([incumbent.cost, *undecided, *(node.bound for node in heap[:1])])
    return Outcome(bound, bound >= incumbent.cost, bool(undecided) and bound == min(undecided), nodes)


class _Tree:
    """The program over the allowed places and what branching has taught so far."""

    def __init__(self, relaxation: Relaxation, incumbent: Incumbent, clock: Clock) -> None:
        self.relaxation, self.incumbent, self.clock = relaxation, incumbent, clock
        self.problem = relaxation.problem
        allowed = self.problem.candidate & ~relaxation.certificate.removable(incumbent.cost)
        relaxation.add_places(np.flatnonzero(allowed.ravel() & ~relaxation.in_core))
        self.places = np.flatnonzero(allowed)
        self.program = Program(relaxation, self.places, incumbent.cost + relaxation.step)
        self.program.add(relaxation.cuts)
        self.weight = self.program.weight
        self.gain = np.zeros((2, len(self.places)))
        self.trials = np.zeros((2, len(self.places)), np.int64)
        self.numbers = 0

    def expand(self, node: Node) -> list[Node] | None:
        """The open children of a node; None if it can be neither closed nor divided.

        The latter are whole points that violate no cut and yet are no safe pattern: sliding levels are not
        among the cuts.
        """
        self.numbers += 1
        self.program.purge()
        self.program.fix(node.published, node.suppressed)
        root = self.numbers == 1
        bound = max(node.bound, self._tighten(ROUNDS_AT_ROOT if root else ROUNDS_AT_NODE, root))
        if bound >= self.incumbent.cost:
            return []
        x = self.program.x
        distance = np.minimum(x, 1.0 - x)
        whole = bool(distance.max(initial=0.0) < WHOLE)
        if whole or self.numbers % NODES_BETWEEN_OFFERS == 1:
            self.incumbent.try_point(self.grid(x))
        if whole:
            return [] if bound >= self.incumbent.cost else None
        at, bounds = self._best_branch(distance)
        children = [node.child(at, hidden, max(bound, bounds[hidden]), 2 * self.numbers + hidden) for hidden in (0, 1)]
        return [child for child in children if child.bound < self.incumbent.cost]

    def grid(self, x: Floats) -> Floats:
        """A point as a grid (float64[R, C])."""
        full = np.zeros(self.problem.weight.size)
        full[self.places] = x
        return full.reshape(self.problem.shape)

    def _tighten(self, rounds: int, root: bool) -> int:
        """Solve and cut in turn, until the node closes, no cut is found or the rounds are done; the best bound."""
        best = 0
        while True:
            best = max(best, self.program.solve())
            x = self.program.x
            whole = bool(np.minimum(x, 1.0 - x).max(initial=0.0) < WHOLE)
            if best >= self.incumbent.cost or (rounds <= 0 and not whole) or self.clock.expired():
                return best
            rounds -= 1
            if not self.program.add(self._violated(x, whole, root)):
                return best

    def _violated(self, x: Floats, whole: bool, root: bool) -> list[Cut | Rounded]:
        """Cuts that the point violates. Below the root, flows are asked about whole points only."""
        point = self.grid(np.round(x) if whole else x).ravel()[self.relaxation.places]
        found: list[Cut | Rounded] = list(self.relaxation.roundings_violated_by(point))
        if root or whole:
            found += self.relaxation.violated_by(point, 1e-7 if whole else 1e-3)
        if not whole and len(found) < 10:
            found += self.relaxation.hidden_from(point)
        if root and not found:
            positive = np.flatnonzero(x > 1e-7)
            simple = [cut for cut in self.program.cuts if isinstance(cut, Cut)]
            found += half_cuts(self.problem.net, simple, self.places[positive], x[positive], 40)
        return found

    def _best_branch(self, distance: Floats) -> tuple[int, tuple[int, int]]:
        """The place whose two branches both raise the bound most, and the proven bounds of both."""
        x = self.program.x.copy()
        base = self.program.objective
        best, best_score, best_bounds = -1, -1.0, (0, 0)
        for at in self._promising(x, distance).tolist():
            gains, bounds = np.zeros(2), [0, 0]
            reliable = self.trials[:, at].min() >= RELIABLE
            for hidden in (0, 1):
                if reliable:
                    gains[hidden] = self._expected(at, x[at], hidden)
                    continue
                self.program.fix_one(at, float(hidden), float(hidden))
                bounds[hidden] = self.program.solve(BRANCH_ITERATIONS)
                gains[hidden] = max(0.0, self.program.objective - base)
                self._learn(at, x[at], hidden, float(gains[hidden]))
            if not reliable:
                self.program.fix_one(at, 0.0, 1.0)
            if max(bounds) >= self.incumbent.cost:
                return at, (bounds[0], bounds[1])
            score = max(gains[0], 1e-6) * max(gains[1], 1e-6)
            if score > best_score:
                best, best_score, best_bounds = at, score, (bounds[0], bounds[1])
        return best, best_bounds

    def _promising(self, x: Floats, distance: Floats) -> Ints:
        """The places that are expected to gain most when branched on, the most promising first."""
        known = np.maximum(self.trials, 1)
        scale = np.sqrt(self.weight + 1.0)
        rates = np.where(self.trials > 0, self.gain / known, 0.0)
        seen = self.trials.min(0) > 0
        mean = rates[:, seen].mean(1) / max(1e-9, scale[seen].mean()) if seen.any() else np.ones(2)
        rates = np.where(self.trials > 0, rates, np.maximum(mean, 1e-9)[:, None] * scale)
        score = np.maximum(rates[0] * x, 1e-6) * np.maximum(rates[1] * (1.0 - x), 1e-6)
        score[distance < WHOLE] = -1.0
        best = np.argsort(-score, kind="stable")[:BRANCHES_TRIED]
        return np.asarray(best[score[best] >= 0])

    def _expected(self, at: int, x: float, hidden: int) -> float:
        return float(self.gain[hidden, at] / self.trials[hidden, at] * (1.0 - x if hidden else x))

    def _learn(self, at: int, x: float, hidden: int, gain: float) -> None:
        self.gain[hidden, at] += gain / max(1e-6, 1.0 - x if hidden else x)
        self.trials[hidden, at] += 1
