"""A branch and bound whose every node is bounded in exact arithmetic: what turns a solver's word into a proof.

Each node fixes some cells; its linear program proposes multipliers, and the bound they give, recomputed in integers,
is the node's. No safe pattern is cheaper than the least bound of the open nodes, or than the incumbent: a proof of
optimality once no node is open, and a valid bound at any time before. Nodes are taken by rising bound. Cells that
the root's certificate rules out are left out, more of them as the incumbent becomes cheaper.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from gpuga.bounds.cutting import Cutting, Floats
from gpuga.bounds.diving import dive
from gpuga.bounds.incumbent import Incumbent
from gpuga.bounds.program import Proof
from gpuga.bounds.relaxation import Relaxation
from gpuga.context import Clock
from gpuga.table.table import Ints

Fixed = tuple[int, ...]

ROUNDS_AT_ROOT = 30
ROUNDS_AT_NODE = 2
HALVES_AT_ROOT = 8
NODES_BETWEEN_OFFERS = 25
FIRST_DIVE = 20
BRANCHES_TRIED = 5
BRANCH_ITERATIONS = 40
RELIABLE = 4
"""Trials of both branches of a place after which their mean is believed."""


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
        self.incumbent, self.clock = incumbent, clock
        allowed = relaxation.problem.candidate & ~relaxation.certificate.removable(incumbent.cost)
        self.cutting = Cutting(relaxation, allowed, incumbent.cost + relaxation.step)
        self.program = self.cutting.program
        self.weight = self.program.weight
        count = len(self.cutting.places)
        self.gain = np.zeros((2, count))
        self.trials = np.zeros((2, count), np.int64)
        self.numbers = 0
        self.root: Proof | None = None
        self.closed_at = incumbent.cost
        self.next_dive, self.pause = FIRST_DIVE, FIRST_DIVE

    def expand(self, node: Node) -> list[Node] | None:
        """The open children of a node; None if it can be neither closed nor divided.

        The latter are whole points that violate no cut and yet are no safe pattern: sliding levels are not
        among the cuts.
        """
        self.numbers += 1
        self._close()
        if self.cutting.closed[list(node.suppressed)].any():
            return []
        bound = max(node.bound, self._solve(node))
        if bound >= self.incumbent.cost:
            return []
        distance = self.cutting.fractional()
        whole = not distance.any()
        if whole or self.numbers % NODES_BETWEEN_OFFERS == 1:
            self.incumbent.try_point(self.cutting.grid())
        if whole:
            return [] if bound >= self.incumbent.cost else None
        at, bounds = self._best_branch(distance)
        children = [node.child(at, hidden, max(bound, bounds[hidden]), 2 * self.numbers + hidden) for hidden in (0, 1)]
        if self.numbers >= self.next_dive:
            self._dive(node)
        return [child for child in children if child.bound < self.incumbent.cost]

    def _close(self) -> None:
        """Leave out the places that the root's proof rules out, once the incumbent has become cheaper."""
        if self.root is not None and self.incumbent.cost < self.closed_at:
            self.closed_at = self.incumbent.cost
            self.cutting.closed |= self.root.removable(self.closed_at)

    def _solve(self, node: Node) -> int:
        """The node's bound; the root is asked for all that it has to say."""
        root = self.numbers == 1
        self.cutting.fix(node.published, node.suppressed)
        enough, rounds = self.incumbent.cost, ROUNDS_AT_ROOT if root else ROUNDS_AT_NODE
        bound = self.cutting.tighten(enough, rounds, root, self.clock)
        if not root:
            return bound
        for _ in range(HALVES_AT_ROOT):
            if bound >= enough or self.clock.expired() or not self.cutting.half_cuts():
                break
            bound = max(bound, self.cutting.tighten(enough, rounds, root, self.clock))
        self.root = self.program.proof
        return bound

    def _dive(self, node: Node) -> None:
        """Look for a better pattern below a node; the more often in vain, the more seldom."""
        before = self.incumbent.cost
        dive(self.cutting, self.incumbent, self.numbers, self.clock, node.published, node.suppressed)
        self.pause = FIRST_DIVE if self.incumbent.cost < before else 2 * self.pause
        self.next_dive = self.numbers + self.pause

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
        score[distance == 0.0] = -1.0
        best = np.argsort(-score, kind="stable")[:BRANCHES_TRIED]
        return np.asarray(best[score[best] >= 0])

    def _expected(self, at: int, x: float, hidden: int) -> float:
        return float(self.gain[hidden, at] / self.trials[hidden, at] * (1.0 - x if hidden else x))

    def _learn(self, at: int, x: float, hidden: int, gain: float) -> None:
        self.gain[hidden, at] += gain / max(1e-6, 1.0 - x if hidden else x)
        self.trials[hidden, at] += 1
