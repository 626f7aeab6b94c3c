"""A linear program over some places that finds its own cuts: what the nodes of a tree and dives work on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.cuts import Cut
from gpuga.bounds.lone_cells import PlaneCut, lone_cells
from gpuga.bounds.program import Program
from gpuga.bounds.relaxation import Relaxation
from gpuga.bounds.rounding import half_cuts
from gpuga.context import Clock
from gpuga.table.table import Ints, Mask

Floats = NDArray[np.float64]

WHOLE = 1e-6
FEW_CUTS = 10
CUTS_AT_ONCE = 50
HALVES_AT_ONCE = 40


class Cutting:
    """The program of a relaxation's cuts over the `allowed` places (bool[R, C]); `most` is more than patterns cost.

    `closed` are positions that are always published, since no pattern of interest contains them.
    """

    def __init__(self, relaxation: Relaxation, allowed: Mask, most: int) -> None:
        self.relaxation, self.problem = relaxation, relaxation.problem
        relaxation.add_places(np.flatnonzero(allowed.ravel() & ~relaxation.in_core))
        self.places: Ints = np.flatnonzero(allowed)
        self.program = Program(relaxation, self.places, most)
        self.program.add(relaxation.cuts)
        self.closed = np.zeros(len(self.places), bool)

    def fix(self, published: Sequence[int], suppressed: Sequence[int]) -> None:
        """Let some positions be published or suppressed, all others free, but the closed ones."""
        self.program.purge()
        self.program.fix([*published, *np.flatnonzero(self.closed).tolist()], suppressed)

    def fractional(self) -> Floats:
        """How far each position of the point is from an integer."""
        x = self.program.x
        distance: Floats = np.minimum(x, 1.0 - x)
        return np.where(distance < WHOLE, 0.0, distance)

    def grid(self) -> Floats:
        """The point as a grid (float64[R, C])."""
        full = np.zeros(self.problem.weight.size)
        full[self.places] = self.program.x
        return full.reshape(self.problem.shape)

    def tighten(self, enough: int, rounds: int, thorough: bool, clock: Clock) -> int:
        """Solve and cut in turn, until the bound is enough, no cut is found or the rounds are done; the best bound.

        A whole point is cut off as long as some level rejects it. Flows are asked about other points only if
        `thorough`.
        """
        best = 0
        while True:
            best = max(best, self.program.solve())
            whole = not self.fractional().any()
            if best >= enough or (rounds <= 0 and not whole) or clock.expired():
                return best
            rounds -= 1
            if not self.program.add(self._violated(whole, thorough)):
                return best

    def half_cuts(self) -> int:
        """Add half sums of the cuts that the point violates; how many."""
        positive = np.flatnonzero(self.program.x > 1e-7)
        simple = [cut for cut in self.program.cuts if isinstance(cut, Cut)]
        halves = half_cuts(self.problem.net, simple, self.places[positive], self.program.x[positive], HALVES_AT_ONCE)
        return self.program.add(halves)

    def _violated(self, whole: bool, thorough: bool) -> list[PlaneCut]:
        """Cuts that the point violates."""
        grid = self.grid()
        point = (np.round(grid) if whole else grid).ravel()[self.relaxation.places]
        found: list[PlaneCut] = list(self.relaxation.roundings_violated_by(point)[:CUTS_AT_ONCE])
        if not whole:
            found += lone_cells(self.problem, grid)
        if thorough or whole:
            found += self.relaxation.violated_by(point, 1e-7 if whole else 1e-3)
        if not whole and len(found) < FEW_CUTS:
            found += self.relaxation.hidden_from(point)[:CUTS_AT_ONCE]
        return found
