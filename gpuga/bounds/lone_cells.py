"""Cuts against secondary suppressions that are alone in a line: they cannot move, so they protect nothing.

A pattern is as safe without such cells, and cheaper. So among the cheapest safe patterns there are some in which, in
every line without forced places, the other places together outweigh each one; it is these that are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuga.bounds.cuts import Cut
from gpuga.bounds.rounding import Floats, Key, Rounded
from gpuga.problem.two_way import TwoWayProblem
from gpuga.safety.network import Network
from gpuga.table.table import Ints

VIOLATED = 0.01
LONGEST_LINE = 32
"""Candidates in a line; in longer ones these cuts say little and make the linear programs slow."""


@dataclass(frozen=True)
class LoneCell:
    """`sum(other places of the line) - x[place] >= 0`; the line is the place's row, or its column."""

    place: int
    in_row: bool
    rhs: int = 0
    scale: int = 1

    @property
    def key(self) -> Key:
        """Equal for equal cuts."""
        return self.place, self.in_row

    def coefficients(self, net: Network, places: Ints) -> Ints:
        """The coefficients of the given places (int64)."""
        width = net.forth.shape[1]
        line, own = (places // width, self.place // width) if self.in_row else (places % width, self.place % width)
        return np.where(places == self.place, -1, line == own).astype(np.int64)

    def dense(self, net: Network) -> Ints:
        """The coefficients of all places (int64[R*C])."""
        return self.coefficients(net, np.arange(net.forth.size))


PlaneCut = Cut | Rounded | LoneCell


def lone_cells(problem: TwoWayProblem, x: Floats) -> list[LoneCell]:
    """The cuts that a point (float64[R, C], zero outside the candidates) violates."""
    found = []
    for in_row in (True, False):
        axis = 1 if in_row else 0
        excess = 2.0 * x - x.sum(axis=axis, keepdims=True)
        silent = problem.forced.any(axis=axis) | (problem.candidate.sum(axis=axis) > LONGEST_LINE)
        excess[np.broadcast_to(np.expand_dims(silent, axis), x.shape)] = 0.0
        found += [LoneCell(place, in_row) for place in np.flatnonzero(excess.ravel() > VIOLATED).tolist()]
    return found
