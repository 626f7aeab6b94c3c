"""An earlier pattern that a new one should resemble: what every difference from it adds to the price of a cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gpuga.errors import InputError
from gpuga.table.table import LARGEST, Ints, Mask, Table

USUAL_PERCENT = 10


class Changes(NamedTuple):
    """How a pattern differs from the earlier one, in cells that both know."""

    kept: int
    added: int
    dropped: int

    @property
    def difference(self) -> int:
        """Cells that are suppressed in one of the two only."""
        return self.added + self.dropped


@dataclass(frozen=True, eq=False)
class Likeness:
    """An earlier pattern: `suppressed` (bool[n]), the cells that it says something of, and the price of a difference.

    A cell that is suppressed anew costs `percent` more, one that was suppressed before as much less. Cells that the
    earlier pattern does not know cost what they weigh.
    """

    suppressed: Mask
    known: Mask | None = None
    percent: int = USUAL_PERCENT

    def __post_init__(self) -> None:
        if not 1 <= self.percent <= 99:
            raise InputError(f"{self.percent} is not a percentage between 1 and 99", field="--like-weight")

    def check(self, table: Table) -> None:
        """Refuse a pattern of another number of cells."""
        for mask in (self.suppressed, self.known):
            if mask is not None and len(mask) != len(table):
                raise InputError(f"has {len(mask)} cells, the table {len(table)}", field="like")

    @property
    def _known(self) -> Mask:
        return np.ones(len(self.suppressed), bool) if self.known is None else self.known

    def factors(self) -> Ints:
        """What a cell's weight is multiplied by (int64[n]); 100 leaves it as it is."""
        moved = np.where(self.suppressed, -self.percent, self.percent)
        return np.where(self._known, 100 + moved, 100).astype(np.int64)

    def priced(self, table: Table) -> Table:
        """The table with weights, in units 100 times finer, that make differences dear."""
        if float(table.weight.astype(float).sum()) * (100 + self.percent) >= LARGEST:
            raise InputError("the weights are too large to price differences: use a larger unit", field="weight")
        return replace(table, weight=table.weight * self.factors(), weight_scale=table.weight_scale * 100)

    def start(self, table: Table) -> Mask:
        """The earlier pattern as one to start from: sensitive cells suppressed, frozen ones published."""
        return np.asarray((self.suppressed & self._known & table.suppressible) | table.forced)

    def changes(self, suppressed: Mask) -> Changes:
        """How a pattern differs from the earlier one."""
        before = self.suppressed & self._known
        return Changes(
            int((before & suppressed).sum()),
            int((self._known & ~before & suppressed).sum()),
            int((before & ~suppressed).sum()),
        )
