"""The best safe pattern so far and what no pattern undercuts: the two ends that a search brings together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuga.bounds.cut import Floats
from gpuga.errors import OutOfTime
from gpuga.table.table import Mask

if TYPE_CHECKING:
    from gpuga.bounds.master import Master
    from gpuga.bounds.repair.repair import Repair
    from gpuga.context import Clock

BY_CUTS, BY_TREE, BY_LINES = "cutting planes", "branch and cut", "cutting planes of single lines"
BY_PARTS = "cutting planes part by part"
WHOLE = 1e-6


class Best:
    """The incumbent `best` (bool[n]) at `cost`, the proven bound `lower` and its `kind`; see `tree.Incumbent`."""

    def __init__(self, master: Master, repair: Repair, pattern: Mask, clock: Clock) -> None:
        self.master, self.repair, self.clock = master, repair, clock
        self.best, self.cost = pattern, self._cost(pattern)
        self.lower, self.kind = 0, BY_CUTS
        self.patterns = 1

    @property
    def proven(self) -> bool:
        """Whether the incumbent cannot be undercut."""
        return self.lower >= self.cost

    def offer(self, pattern: Mask | None) -> bool:
        """Take a safe pattern as the incumbent if it is cheaper; whether it was."""
        self.patterns += 1
        if pattern is None or (cost := self._cost(pattern)) >= self.cost:
            return False
        self.best, self.cost = pattern, cost
        return True

    def raise_lower(self, bound: int, kind: str = BY_CUTS) -> None:
        """A bound and how it was made; the incumbent's own cost is the most that can be proven."""
        if min(bound, self.cost) > self.lower:
            self.lower, self.kind = min(bound, self.cost), kind

    def try_point(self, x: Floats) -> int:
        """Round a fractional point to a safe pattern and offer it; the incumbent's cost."""
        self.offer(self.rounded(x))
        return self.cost

    def rounded(self, x: Floats) -> Mask | None:
        """A safe pattern by rounding a point of the relaxation; None where the time is up before."""
        if (np.minimum(x, 1.0 - x) < WHOLE).all():
            return self.repair.mended(x > 0.5, self.clock)
        removable = self.master.certificate.removable(self.cost)
        try:
            return self.repair.guided(x, 0, self.clock, ~removable | self.best)
        except OutOfTime:
            return None

    def _cost(self, pattern: Mask) -> int:
        return int(self.master.separator.weight[pattern].sum())
