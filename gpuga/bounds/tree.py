"""Branch and cut: every node is bounded in exact integers, and cuts are looked for in every node.

Nodes are taken by rising bound. No safe pattern is cheaper than the least bound of the open nodes, or than the
incumbent: a proof of optimality once no node is open, and a valid bound at any time before. Cells that a node's reduced
costs settle are fixed below it; those that the root's settle are fixed everywhere, anew with each incumbent. A tree can
be left and gone on with later.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.cut import Floats
from gpuga.bounds.master import NO_LIMIT, WHOLE, Master, useful_columns
from gpuga.context import Clock
from gpuga.table.table import Ints, Mask

Fixed = NDArray[np.int8]

PLUNGE = 0.1
"""How far, as a share of the gap, the bound of a node may lie above the least one to be taken before it."""

ROUNDS_AT_ROOT, PATIENCE_AT_ROOT = 30, 4
NODES_BETWEEN_OFFERS = 25
"""Nodes between two points that are rounded; more where that is dear and in vain, see `Effort.pause`."""

FIRST_DIVE = 20
"""Nodes before the first dive; further ones come twice as seldom each time that they are in vain."""

NEARLY = 0.85
"""Columns from this value on are suppressed at once in a dive, at least one at a time."""

NOISE = 0.1
"""Values are blurred by up to this, so that dives differ."""

STEPS_BETWEEN_OFFERS = 4
"""Steps of a dive between two points that are offered; more where that is dear and in vain, see `Effort.pause`."""


class Incumbent(Protocol):
    """Who keeps the best safe pattern; `cost` is what it costs beyond the forced cells."""

    cost: int

    def try_point(self, x: Floats) -> int:
        """Make a safe pattern of a (fractional) one (float64[n]), keep it if it is cheaper; the cost of the best."""


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
    """Bounds of the columns and a proven bound; of equal bounds the deepest comes first."""

    bound: int
    depth: int
    number: int
    low: Fixed = field(compare=False)
    high: Fixed = field(compare=False)


def prove(root: Master, incumbent: Incumbent, clock: Clock, most_nodes: int = NO_LIMIT) -> Outcome:
    """Bound what safe patterns cost; ends when none can undercut the incumbent, after `most_nodes` or in time.

    Points met on the way are offered to the incumbent, which may become cheaper meanwhile.
    """
    return Tree(root, useful_columns(root, incumbent.cost), incumbent).run(clock, most_nodes)


class Tree:
    """The open nodes over some columns (bool[n]), and what branching has taught so far.

    Patterns of other columns are not looked for: where these are all that are useful, the bound holds for all patterns.
    Where they are not, the tree is `narrow`, for dives only, and its root needs no cuts beyond those that it is given.
    """

    def __init__(self, root: Master, columns: Mask, incumbent: Incumbent) -> None:
        self.incumbent = incumbent
        self.narrow = bool((useful_columns(root, incumbent.cost) & ~columns).any())
        self.master = root.restricted(columns, incumbent.cost)
        count = len(self.master.columns)
        self.low, self.high = np.zeros(count, np.int8), np.ones(count, np.int8)
        self.heap = [Node(root.bound, 0, 0, self.low.copy(), self.high.copy())]
        self.undecided: list[int] = []
        self.branching = Branching(self.master)
        self.nodes = 0
        self.next_dive, self.pause = FIRST_DIVE, FIRST_DIVE
        self.next_offer, self.patience = 1, NODES_BETWEEN_OFFERS
        self._settled_at: int | None = None
        self._cut = False

    @property
    def bound(self) -> int:
        """What no safe pattern undercuts, beyond the forced cells."""
        return min([self.incumbent.cost, *self.undecided, *(node.bound for node in self.heap[:1])])

    def run(self, clock: Clock, most: int = NO_LIMIT) -> Outcome:
        """Take nodes until none can hold a cheaper pattern, or the nodes or the time are used up."""
        latest: list[Node] = []
        self.narrow = False
        while self.heap and self.heap[0].bound < self.incumbent.cost and self.nodes < most and not clock.expired():
            self.settle(clock)
            node = self._next(latest)
            self.nodes += 1
            children = self._expand(node, clock)
            if children is None:
                self.undecided.append(node.bound)
            latest = children or []
            for child in latest:
                heapq.heappush(self.heap, child)
        undecided = bool(self.undecided) and self.bound == min(self.undecided)
        return Outcome(self.bound, self.bound >= self.incumbent.cost, undecided, self.nodes)

    def settle(self, clock: Clock) -> None:
        """Fix what the reduced costs of the root settle at the incumbent's cost; it is cut before, where that pays."""
        cost, master = self.incumbent.cost, self.master
        if not self.narrow and not self._cut:
            master.fix(np.zeros(len(self.low)), np.ones(len(self.high)))  # a dive may have left its bounds
            master.tighten(clock, ROUNDS_AT_ROOT, cost, PATIENCE_AT_ROOT)
            self._cut, self._settled_at = True, None
        if self._settled_at == cost:
            return
        master.set_price(cost)
        published, suppressed = master.certificate.settled(cost)
        self.high[published[master.columns]], self.low[suppressed[master.columns]] = 0, 1
        self._settled_at = cost

    def dive(self, seed: int, clock: Clock, node: Node | None = None) -> None:
        """Suppress what the points like best, one cell after the other; offer what is met on the way down."""
        self.settle(clock)
        random, steps, pause = np.random.default_rng([seed, 5]), 0, STEPS_BETWEEN_OFFERS
        low, high = (self.low.copy(), self.high) if node is None else (node.low.copy(), node.high)
        while not clock.expired():
            self._enter(low, np.maximum(low, high))
            if self._tighten(0, True, clock) >= self.incumbent.cost:
                return
            open_columns = np.flatnonzero(self.master.fractional())
            if not len(open_columns):
                return
            if steps == 0:
                before = self.incumbent.cost
                gained = self.incumbent.try_point(self.master.point()) < before
                steps = pause = STEPS_BETWEEN_OFFERS if gained else pause * self.master.separator.effort.pause
            value = self.master.x[open_columns] + random.uniform(0.0, NOISE, len(open_columns))
            low[open_columns[value >= min(NEARLY, float(value.max()))]] = 1
            steps -= 1

    def _next(self, latest: list[Node]) -> Node:
        """The node of the least bound; a child of the latest node, whose program is at hand, if it is not far off."""
        best = min(latest, default=self.heap[0])
        near = self.heap[0].bound + PLUNGE * (self.incumbent.cost - self.heap[0].bound)
        if best is self.heap[0] or best.bound > near:
            return heapq.heappop(self.heap)
        self.heap.remove(best)
        heapq.heapify(self.heap)
        return best

    def _enter(self, low: Fixed, high: Fixed) -> None:
        """Let the program be that of a node."""
        idle, least = self.master.separator.effort.dropped
        self.master.purge(idle=idle, least=least)
        self.master.fix(low.astype(np.float64), high.astype(np.float64))

    def _expand(self, node: Node, clock: Clock) -> list[Node] | None:
        """The open children of a node; none where it is pruned, None where there is nothing to branch on.

        The latter are integral points that violate no cut and yet are no safe pattern: sliding levels have no cuts.
        """
        master, low, high = self.master, np.maximum(node.low, self.low), np.minimum(node.high, self.high)
        if (low > high).any():
            return []
        self._enter(low, high)
        bound = max(node.bound, self._tighten(node.bound, False, clock))
        if bound >= self.incumbent.cost:
            return []
        distance = master.fractional()
        if not distance.any():
            return None
        if self.nodes >= self.next_offer:
            self._offer()
        published, suppressed = master.proof.settled(self.incumbent.cost)
        free = low < high
        low[free & suppressed], high[free & published] = 1, 0
        master.fix(low.astype(np.float64), high.astype(np.float64))
        at, bounds = self.branching.best(distance, self.incumbent.cost, self.nodes)
        children = self._children(Node(bound, node.depth, node.number, low, high), at, bounds)
        if self.nodes >= self.next_dive:
            self._dive_below(node, clock)
        return [child for child in children if child.bound < self.incumbent.cost]

    def _children(self, node: Node, at: int, bounds: tuple[int, int]) -> list[Node]:
        children = []
        for hidden in (0, 1):
            low, high = node.low.copy(), node.high.copy()
            low[at] = high[at] = hidden
            below = max(node.bound, bounds[hidden])
            children.append(Node(below, node.depth - 1, 2 * self.nodes + hidden, low, high))
        return children

    def _offer(self) -> None:
        """Offer the point of a node; where rounding is dear, the more often in vain, the more seldom."""
        before = self.incumbent.cost
        gained = self.incumbent.try_point(self.master.point()) < before
        self.patience = NODES_BETWEEN_OFFERS if gained else self.patience * self.master.separator.effort.pause
        self.next_offer = self.nodes + self.patience

    def _dive_below(self, node: Node, clock: Clock) -> None:
        """Look for a better pattern below a node; the more often in vain, the more seldom."""
        before = self.incumbent.cost
        self.dive(self.nodes, clock, node)
        self.pause = FIRST_DIVE if self.incumbent.cost < before else 2 * self.pause
        self.next_dive = self.nodes + self.pause

    def _tighten(self, start: int, thorough: bool, clock: Clock) -> int:
        """Solve and cut in turn until the node closes, no cut is found or cuts gain little; the best bound."""
        master, separator, best, rounds = self.master, self.master.separator, start, 0
        while True:
            before, best = best, max(best, master.solve())
            if best >= self.incumbent.cost or clock.expired():
                return best
            if not master.fractional().any():
                master.x = np.round(master.x)
                if master.separate(separator.at_whole(master.point(), clock)):
                    continue
                self.incumbent.try_point(master.point())
                return best
            rounds += 1
            little = best - before < separator.effort.gain * (self.incumbent.cost - best)
            if rounds > separator.effort.rounds and little:
                return best
            batches = separator.at_node(master.point(), master.cuts, thorough, clock)
            if not master.separate(batches, separator.effort.few_at_node):
                return best


class Branching:
    """Which column to branch on: what both branches gained where they were tried (pseudocosts)."""

    TOP = 10  # so many nodes are the first
    LOOKAHEAD = 4  # so many columns in a row may be tried in vain
    RELIABLE = 4  # trials of both branches of a column after which their mean is believed

    def __init__(self, master: Master) -> None:
        self.master, self.effort = master, master.separator.effort
        self.gain = np.zeros((2, len(master.columns)))
        self.trials: Ints = np.zeros((2, len(master.columns)), np.int64)

    def best(self, distance: Floats, cost: int, nodes: int) -> tuple[int, tuple[int, int]]:
        """The column whose two branches both raise the bound most, and the proven bounds of both."""
        x, base = self.master.x.copy(), self.master.objective
        best, best_score, best_bounds, in_vain = -1, -1.0, (0, 0), 0
        for at in self._promising(x, distance, self.effort.tried[nodes > self.TOP]).tolist():
            bounds, gains = (0, 0), self._expected(at, float(x[at]))
            if self.trials[:, at].min() < self.RELIABLE:
                gains, bounds = self._tried(at, float(x[at]), base, cost)
            if max(bounds) >= cost:
                return at, bounds
            score = max(gains[0], 1e-6) * max(gains[1], 1e-6)
            in_vain += 1
            if score > best_score:
                best, best_score, best_bounds, in_vain = at, score, bounds, 0
            if in_vain >= self.LOOKAHEAD and nodes > self.TOP:
                break
        return best, best_bounds

    def _tried(self, at: int, x: float, base: float, cost: int) -> tuple[tuple[float, float], tuple[int, int]]:
        """What both branches of a column gain, and their bounds where they may be closed."""
        master = self.master
        before = float(master.low[at]), float(master.high[at])
        gains, bounds = [0.0, 0.0], [0, 0]
        for hidden in (0, 1):
            master.fix_one(at, float(hidden), float(hidden))
            value = master.estimate(self.effort.iterations)
            if value > cost - master.step:
                bounds[hidden] = master.proven()
            gains[hidden] = max(0.0, value - base)
            self.gain[hidden, at] += gains[hidden] / max(WHOLE, 1.0 - x if hidden else x)
            self.trials[hidden, at] += 1
        master.fix_one(at, *before)
        return (gains[0], gains[1]), (bounds[0], bounds[1])

    def _promising(self, x: Floats, distance: Floats, most: int) -> Ints:
        """The columns that are expected to gain most when branched on, the most promising first."""
        known = np.maximum(self.trials, 1)
        scale = np.sqrt(self.master.weight + 1.0)
        rates = np.where(self.trials > 0, self.gain / known, 0.0)
        seen = self.trials.min(0) > 0
        mean = rates[:, seen].mean(1) / max(1e-9, scale[seen].mean()) if seen.any() else np.ones(2)
        rates = np.where(self.trials > 0, rates, np.maximum(mean, 1e-9)[:, None] * scale)
        score = np.maximum(rates[0] * x, 1e-6) * np.maximum(rates[1] * (1.0 - x), 1e-6)
        score[distance == 0.0] = -1.0
        best = np.argsort(-score, kind="stable")[:most]
        return np.asarray(best[score[best] >= 0])

    def _expected(self, at: int, x: float) -> tuple[float, float]:
        """What the branches of a column gained when they were tried, for its value of now."""
        rates = self.gain[:, at] / np.maximum(self.trials[:, at], 1)
        return float(rates[0] * x), float(rates[1] * (1.0 - x))
