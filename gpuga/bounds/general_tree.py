"""Branch and cut for any linear table: every node is bounded in integers, and cuts are looked for in every node.

Nodes are taken by rising bound. No safe pattern is cheaper than the least bound of the open nodes, or than the
incumbent: a proof of optimality once no node is open, and a valid bound at any time before. Cells that a node's reduced
costs settle are fixed below it; those that the root's settle are fixed everywhere, anew with each incumbent.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from gpuga.bounds.general_cuts import Floats
from gpuga.bounds.general_relaxation import NO_LIMIT, GeneralRelaxation
from gpuga.bounds.proof_tree import Outcome
from gpuga.context import Clock
from gpuga.table.table import Ints, Mask

WHOLE = 1e-6
PLUNGE = 0.1
"""How far, as a share of the gap, the bound of a node may lie above the least one to be taken before it."""

ROUNDS_AT_NODE = 4
GAIN = 0.02
"""Share of the open gap that a round of cuts at a node has to close to be followed by another."""

NODES_BETWEEN_OFFERS = 20
BRANCHES_TRIED, BRANCHES_AT_TOP = 8, 30
TOP = 10
BRANCH_ITERATIONS = 150
LOOKAHEAD = 4
"""So many cells in a row may be tried in vain."""

LIKELY = 0.9
"""Cells from this value on are suppressed at once in a dive."""

RELIABLE = 8
"""Trials of both branches of a cell after which their mean is believed."""


class Incumbent(Protocol):
    """Who keeps the best safe pattern; `cost` is what it costs beyond the forced cells."""

    best: Mask

    @property
    def cost(self) -> int:
        """The cost of the best safe pattern."""

    def try_whole(self, pattern: Mask) -> bool:
        """Judge a pattern (bool[n]), keep it if it is safe and cheaper; whether it is safe."""

    def try_point(self, z: Floats) -> None:
        """Make a safe pattern of a fractional one (float64[n]), keep it if it is cheaper."""


@dataclass(order=True, frozen=True)
class Node:
    """Bounds of the free cells and a proven bound; of equal bounds the deepest comes first."""

    bound: int
    depth: int
    number: int
    low: Floats = field(compare=False)
    high: Floats = field(compare=False)


class Tree:
    """The open nodes, and what branching has taught so far."""

    def __init__(self, relaxation: GeneralRelaxation, incumbent: Incumbent, clock: Clock) -> None:
        self.relaxation, self.incumbent, self.clock = relaxation, incumbent, clock
        count = len(relaxation.free)
        self.low, self.high = np.zeros(count), np.ones(count)
        self.root = relaxation.proof
        self.heap = [Node(relaxation.bound, 0, 0, self.low.copy(), self.high.copy())]
        self.undecided: list[int] = []
        self.gain = np.zeros((2, count))
        self.trials: Ints = np.zeros((2, count), np.int64)
        self.nodes = 0

    @property
    def bound(self) -> int:
        """What no safe pattern undercuts, beyond the forced cells."""
        return min([self.incumbent.cost, *self.undecided, *(node.bound for node in self.heap[:1])])

    def run(self, most: int = NO_LIMIT) -> Outcome:
        """Take nodes until none can hold a cheaper pattern, or the nodes or the time are used up."""
        latest: list[Node] = []
        self.settle()
        while self.heap and self.heap[0].bound < self.incumbent.cost and self.nodes < most:
            if self.clock.expired():
                break
            node = self._next(latest)
            self.nodes += 1
            cost = self.incumbent.cost
            children = self._expand(node)
            if children is None:
                self.undecided.append(node.bound)
            latest = children or []
            for child in latest:
                heapq.heappush(self.heap, child)
            if self.incumbent.cost < cost:
                self.settle()
        undecided = bool(self.undecided) and self.bound == min(self.undecided)
        return Outcome(self.bound, self.bound >= self.incumbent.cost, undecided, self.nodes)

    def dive(self) -> None:
        """Suppress what the points like best, one cell after the other, until a safe pattern or none is left."""
        self.settle()
        relaxation, low = self.relaxation, self.low.copy()
        while not self.clock.expired():
            relaxation.purge()
            relaxation.fix(low, np.maximum(low, self.high))
            if self._tighten(0) >= self.incumbent.cost:
                return
            x = relaxation.x
            open_cells = (x > WHOLE) & (x < 1.0 - WHOLE)
            if not open_cells.any():
                return
            likely = open_cells & ((x > LIKELY) | (x == x[open_cells].max()))
            low[likely] = 1.0

    def settle(self) -> None:
        """Fix what the reduced costs of the root settle at the cost of the incumbent."""
        relaxation = self.relaxation
        relaxation.set_price(self.incumbent.cost)
        relaxation.fix(self.low, self.high)
        published, suppressed = relaxation.settled(self.incumbent.cost, self.root)
        self.high[published], self.low[suppressed] = 0.0, 1.0

    def part(self, low: Floats, high: Floats) -> Tree:
        """A tree of the patterns between such bounds; what its branches teach, this one learns."""
        part = Tree(self.relaxation, self.incumbent, self.clock)
        part.root, part.gain, part.trials = self.root, self.gain, self.trials
        part.low, part.high = low, high
        part.heap = [Node(0, 0, 0, low, high)]
        return part

    def _next(self, latest: list[Node]) -> Node:
        """The node of the least bound; a child of the latest node, whose program is at hand, if it is not far off."""
        best = min(latest, default=self.heap[0])
        near = self.heap[0].bound + PLUNGE * (self.incumbent.cost - self.heap[0].bound)
        if best is self.heap[0] or best.bound > near:
            return heapq.heappop(self.heap)
        self.heap.remove(best)
        heapq.heapify(self.heap)
        return best

    def _expand(self, node: Node) -> list[Node] | None:
        """The open children of a node; None if it can be neither closed nor divided.

        The latter are whole points that violate no cut and yet are no safe pattern: widths are not among the cuts.
        """
        relaxation = self.relaxation
        low, high = np.maximum(node.low, self.low), np.minimum(node.high, self.high)
        if (low > high).any():
            return []
        relaxation.purge()
        relaxation.fix(low, high)
        bound = max(node.bound, self._tighten(node.bound))
        if bound >= self.incumbent.cost:
            return []
        x = relaxation.x
        distance = np.minimum(x, 1.0 - x)
        if distance.max(initial=0.0) < WHOLE:
            return None
        if self.nodes % NODES_BETWEEN_OFFERS == 1:
            self.incumbent.try_point(relaxation.z)
        published, suppressed = relaxation.settled(self.incumbent.cost, relaxation.proof)
        low[suppressed], high[published] = 1.0, 0.0
        relaxation.fix(low, high)
        at, bounds = self._best_branch(x, distance)
        return self._children(node, at, bounds, max(bound, node.bound), low, high)

    def _children(
        self, node: Node, at: int, bounds: tuple[int, int], bound: int, low: Floats, high: Floats
    ) -> list[Node]:
        children = []
        for hidden in (0, 1):
            below = max(bound, bounds[hidden])
            if below >= self.incumbent.cost:
                continue
            own_low, own_high = low.copy(), high.copy()
            own_low[at] = own_high[at] = float(hidden)
            children.append(Node(below, node.depth - 1, 2 * self.nodes + hidden, own_low, own_high))
        return children

    def _tighten(self, start: int) -> int:
        """Solve and cut in turn until the node closes, no cut is found or cuts gain little; the best bound."""
        relaxation, best, rounds = self.relaxation, start, 0
        while True:
            before, best = best, max(best, relaxation.solve())
            if best >= self.incumbent.cost or self.clock.expired():
                return best
            if float(np.minimum(relaxation.x, 1.0 - relaxation.x).max(initial=0.0)) < WHOLE:
                relaxation.x = np.round(relaxation.x)
                if relaxation.cut_off(self.clock):
                    continue
                self.incumbent.try_whole(relaxation.z > 0.5)
                return best
            rounds += 1
            little = best - before < GAIN * (self.incumbent.cost - best)
            if rounds > ROUNDS_AT_NODE and little:
                return best
            added = relaxation.roundings() + relaxation.lonely()
            if not added and rounds <= ROUNDS_AT_NODE:
                added = relaxation.out_of_reach(self.clock) + relaxation.unmoved(self.clock)
            if not added:
                return best

    def _best_branch(self, x: Floats, distance: Floats) -> tuple[int, tuple[int, int]]:
        """The cell whose two branches both raise the bound most, and the proven bounds of both."""
        base = self.relaxation.objective
        best, best_score, best_bounds, in_vain = -1, -1.0, (0, 0), 0
        for at in self._promising(x, distance).tolist():
            bounds, gains = (0, 0), self._expected(at, float(x[at]))
            if self.trials[:, at].min() < RELIABLE:
                gains, bounds = self._tried(at, float(x[at]), base)
            if max(bounds) >= self.incumbent.cost:
                return at, bounds
            score = max(gains[0], 1e-6) * max(gains[1], 1e-6)
            in_vain += 1
            if score > best_score:
                best, best_score, best_bounds, in_vain = at, score, bounds, 0
            if in_vain >= LOOKAHEAD and self.nodes > TOP:
                break
        return best, best_bounds

    def _tried(self, at: int, x: float, base: float) -> tuple[tuple[float, float], tuple[int, int]]:
        """What both branches of a cell gain, and their bounds where they may be closed."""
        relaxation = self.relaxation
        before = relaxation.low[at], relaxation.high[at]
        gains, bounds = [0.0, 0.0], [0, 0]
        for hidden in (0, 1):
            relaxation.fix_one(at, float(hidden), float(hidden))
            value = relaxation.estimate(BRANCH_ITERATIONS)
            if value > self.incumbent.cost - relaxation.step:
                bounds[hidden] = relaxation.proven()
            gains[hidden] = max(0.0, value - base)
            self.gain[hidden, at] += gains[hidden] / max(1e-6, 1.0 - x if hidden else x)
            self.trials[hidden, at] += 1
        relaxation.fix_one(at, *before)
        return (gains[0], gains[1]), (bounds[0], bounds[1])

    def _promising(self, x: Floats, distance: Floats) -> Ints:
        """The cells that are expected to gain most when branched on, the most promising first."""
        known = np.maximum(self.trials, 1)
        scale = np.sqrt(self.relaxation.weight + 1.0)
        rates = np.where(self.trials > 0, self.gain / known, 0.0)
        seen = self.trials.min(0) > 0
        mean = rates[:, seen].mean(1) / max(1e-9, scale[seen].mean()) if seen.any() else np.ones(2)
        rates = np.where(self.trials > 0, rates, np.maximum(mean, 1e-9)[:, None] * scale)
        score = np.maximum(rates[0] * x, 1e-6) * np.maximum(rates[1] * (1.0 - x), 1e-6)
        score[distance < WHOLE] = -1.0
        most = BRANCHES_AT_TOP if self.nodes <= TOP else BRANCHES_TRIED
        best = np.argsort(-score, kind="stable")[:most]
        return np.asarray(best[score[best] >= 0])

    def _expected(self, at: int, x: float) -> tuple[float, float]:
        """What the branches of a cell gained when they were tried, for its value of now."""
        rates = self.gain[:, at] / np.maximum(self.trials[:, at], 1)
        return float(rates[0] * x), float(rates[1] * (1.0 - x))
