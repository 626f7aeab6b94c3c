"""A branch and bound whose every leaf is closed in exact arithmetic: what turns a solver's word into a proof.

The tree claims that no safe pattern is cheaper than the incumbent. Each node fixes some cells; its linear program
proposes multipliers, and the node is closed when the bound they give, recomputed in integers, reaches the
incumbent. Cells that the root's certificate rules out are left out from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import highspy
import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.certificate import RATIO_BITS, SAFE_BITS
from gpuga.bounds.cuts import Cut
from gpuga.bounds.relaxation import Relaxation, new_solver
from gpuga.bounds.rounding import Rounded, half_cuts
from gpuga.context import Clock
from gpuga.table.table import Ints

Floats = NDArray[np.float64]

MOST_NODES = 6000
ROUNDS_AT_ROOT = 30
ROUNDS_AT_NODE = 2
WHOLE = 1e-6
NODES_BETWEEN_OFFERS = 25
BRANCHES_TRIED = 8
BRANCH_ITERATIONS = 40


class Incumbent(Protocol):
    """Who keeps the best safe pattern."""

    cost: int

    def try_point(self, x: Floats) -> int:
        """Make a safe pattern of a fractional one (float64[R, C]), keep it if it is cheaper; the cost of the best."""


@dataclass(frozen=True)
class Outcome:
    """`closed`: no safe pattern is cheaper than the incumbent of now. `nodes`: how many it took."""

    closed: bool
    nodes: int


def prove(relaxation: Relaxation, incumbent: Incumbent, clock: Clock, most_nodes: int = MOST_NODES) -> Outcome:
    """Whether no safe pattern undercuts the incumbent; gives up after `most_nodes` nodes or when time is up.

    Points met on the way are offered to the incumbent, which may become cheaper meanwhile.
    """
    allowed = relaxation.problem.candidate & ~relaxation.certificate.removable(incumbent.cost)
    relaxation.add_places(np.flatnonzero(allowed.ravel() & ~relaxation.in_core))
    tree = _Tree(relaxation, np.flatnonzero(allowed), incumbent.cost)
    pending: list[tuple[Ints, Ints]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    nodes = 0
    while pending:
        if nodes >= most_nodes or clock.expired():
            return Outcome(False, nodes)
        published, suppressed = pending.pop()
        nodes += 1
        x = tree.open_point(published, suppressed, nodes == 1, clock)
        if x is None:
            continue
        distance = np.minimum(x, 1.0 - x)
        whole = distance.max(initial=0.0) < WHOLE
        if whole or nodes % NODES_BETWEEN_OFFERS == 1:
            tree.cost = incumbent.try_point(tree.grid(x))
        if not whole:
            at = tree.best_branch(published, suppressed, distance)
            pending.append((np.append(published, at), suppressed))
            pending.append((published, np.append(suppressed, at)))
        elif tree.open_point(published, suppressed, False, clock) is None:
            continue
        else:
            # a whole point below the incumbent that violates no cut and yet is no safe pattern: sliding levels
            # are not among the cuts
            return Outcome(False, nodes)
    return Outcome(True, nodes)


class _Tree:
    """The linear program over the allowed places and its exact counterpart."""

    def __init__(self, relaxation: Relaxation, places: Ints, cost: int) -> None:
        self.relaxation, self.places, self.cost = relaxation, places, cost
        self.problem, self.unit = relaxation.problem, relaxation.unit
        self.weight = self.problem.weight.ravel()[places]
        self.matrix = np.zeros((0, len(places)), np.int64)
        self.rhs = np.zeros(0, np.int64)
        self.known: set[Any] = set()
        self.cuts: list[Cut | Rounded] = []
        # an artificial column that meets every cut at the incumbent's price keeps all programs feasible
        self.solver = new_solver(np.append(self.weight, cost + relaxation.step) / self.unit)
        self.solver.changeColBounds(len(places), 0.0, highspy.kHighsInf)
        self.add(relaxation.cuts)

    def add(self, cuts: Sequence[Cut | Rounded]) -> int:
        """Add rows that are not there yet; how many."""
        fresh = [cut for cut in {cut.key: cut for cut in cuts}.values() if cut.key not in self.known]
        if not fresh:
            return 0
        self.known.update(cut.key for cut in fresh)
        self.cuts += fresh
        coefficient = np.array([cut.coefficients(self.problem.net, self.places) for cut in fresh])
        rhs = np.array([cut.rhs for cut in fresh], np.int64)
        value = np.hstack([coefficient / rhs[:, None], np.ones((len(fresh), 1))])
        row, column = np.nonzero(value)
        start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(fresh)))])[:-1]
        self.solver.addRows(
            len(fresh),
            np.ones(len(fresh)),
            np.full(len(fresh), highspy.kHighsInf),
            len(row),
            start.astype(np.int32),
            column.astype(np.int32),
            value[row, column],
        )
        shift = np.maximum(0, np.ceil(np.log2(rhs + 1.0)).astype(np.int64) - RATIO_BITS)
        rounded = np.where((coefficient > 0) & (shift > 0)[:, None], (coefficient >> shift[:, None]) + 1, coefficient)
        self.rhs = np.concatenate([self.rhs, rhs >> shift])
        self.matrix = np.vstack([self.matrix, np.minimum(rounded, (rhs >> shift)[:, None])])
        return len(fresh)

    def open_point(self, published: Ints, suppressed: Ints, root: bool, clock: Clock) -> Floats | None:
        """A point of the node that nothing excludes, None once the node is closed."""
        count = len(self.places)
        rounds = ROUNDS_AT_ROOT if root else ROUNDS_AT_NODE
        low, high = np.zeros(count), np.ones(count)
        high[published] = 0.0
        low[suppressed] = 1.0
        self.solver.changeColsBounds(count, np.arange(count, dtype=np.int32), low, high)
        while True:
            self.solver.run()
            solution = self.solver.getSolution()
            x: Floats = np.clip(np.array(solution.col_value)[:count], 0.0, 1.0)
            if self._closed(np.array(solution.row_dual) * self.unit, low, high):
                return None
            whole = np.minimum(x, 1.0 - x).max(initial=0.0) < WHOLE
            if (rounds <= 0 and not whole) or clock.expired():
                return x
            rounds -= 1
            if not self._cut_off(x, whole, root):
                return x

    def best_branch(self, published: Ints, suppressed: Ints, distance: Floats) -> int:
        """The place whose two branches both raise the bound most, tried on the most promising few."""
        promising = np.argsort(-distance * np.sqrt(self.weight + 1.0), kind="stable")[:BRANCHES_TRIED]
        promising = promising[distance[promising] >= WHOLE]
        base = float(self.solver.getInfo().objective_function_value)
        best, best_score = int(promising[0]), -1.0
        self.solver.setOptionValue("simplex_iteration_limit", BRANCH_ITERATIONS)
        for at in promising:
            gains = []
            for value in (0.0, 1.0):
                self.solver.changeColBounds(int(at), value, value)
                self.solver.run()
                gains.append(max(0.0, float(self.solver.getInfo().objective_function_value) - base))
            self.solver.changeColBounds(int(at), 0.0, 1.0)
            score = max(gains[0], 1e-6) * max(gains[1], 1e-6)
            if score > best_score:
                best, best_score = int(at), score
        self.solver.setOptionValue("simplex_iteration_limit", 2**31 - 1)
        return best

    def grid(self, x: Floats) -> Floats:
        """A point as a grid (float64[R, C])."""
        full = np.zeros(self.problem.weight.size)
        full[self.places] = x
        return full.reshape(self.problem.shape)

    def _cut_off(self, x: Floats, whole: bool, root: bool) -> int:
        """Add cuts that the point violates; how many. Below the root, flows are asked about whole points only."""
        point = self.grid(np.round(x) if whole else x).ravel()[self.relaxation.places]
        found: list[Cut | Rounded] = list(self.relaxation.covers_violated_by(point))
        if root or whole:
            found += self.relaxation.violated_by(point, 1e-7 if whole else 1e-3)
        if root and not found:
            positive = np.flatnonzero(x > 1e-7)
            simple = [cut for cut in self.cuts if isinstance(cut, Cut)]
            found += half_cuts(self.problem.net, simple, self.places[positive], x[positive], 40)
        return self.add(found)

    def _closed(self, multipliers: Floats, low: Floats, high: Floats) -> bool:
        """Whether the multipliers, as integers, prove that the node holds nothing cheaper than the incumbent."""
        multipliers = np.maximum(multipliers, 0.0)
        largest = float(self.weight.max(initial=1)) + float(multipliers.sum())
        shift = max(0, SAFE_BITS - int(np.ceil(np.log2(largest + 1))))
        fixed = np.floor(multipliers * 2.0**shift).astype(np.int64)
        used = np.flatnonzero(fixed)
        matrix, rhs = self.matrix[used], self.rhs[used, None]
        whole, rest = np.divmod(fixed[used, None], rhs)
        reduced = (self.weight << shift) - (whole * matrix - (-rest * matrix // rhs)).sum(0)
        counted = np.where(low > 0, reduced, np.where(high > 0, np.minimum(reduced, 0), 0))
        total = sum(fixed[used].tolist()) + sum(counted[counted != 0].tolist())
        return bool(total > ((self.cost - self.relaxation.step) << shift))
