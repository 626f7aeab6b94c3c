"""Patterns besides the best one: alternatives and fronts, each audited exactly before anybody sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpuga.anytime import make_safe
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.protection import Candidate
from gpuga.safety.audit import Audit
from gpuga.table.likeness import Likeness
from gpuga.table.table import Mask, Table
from gpuga.table.wishes import totals_of


class PatternCost:
    """What a pattern of a table costs, whatever else is known of it."""

    table: Table
    suppressed: NDArray[np.bool_]

    @property
    def cost(self) -> float | int:
        """The sum of the weights of the secondary suppressions, in the table's own units."""
        return self.table.shown_cost(self.scaled_cost)

    @cached_property
    def scaled_cost(self) -> int:
        """The same as an exact integer, in units of `1/weight_scale`, in which bounds are as well."""
        return self.table.cost(self.suppressed)

    @cached_property
    def secondary(self) -> int:
        """How many cells are suppressed besides the primaries."""
        return int((self.suppressed & ~self.table.primary).sum())


@dataclass(frozen=True, eq=False, repr=False)
class Alternative(PatternCost):
    """A safe pattern (bool[n]) with its audit, seen beside the `best` one."""

    table: Table
    suppressed: NDArray[np.bool_]
    audit: Audit
    best: NDArray[np.bool_]
    likeness: Likeness | None = None

    @cached_property
    def totals(self) -> int:
        """How many totals are suppressed."""
        return int((self.suppressed & totals_of(self.table)).sum())

    @cached_property
    def apart(self) -> int:
        """In how many cells it differs from the best one."""
        return int((self.suppressed ^ self.best).sum())

    @cached_property
    def difference(self) -> int | None:
        """In how many cells it differs from the earlier pattern; None without one."""
        return None if self.likeness is None else self.likeness.changes(self.suppressed).difference

    def __repr__(self) -> str:
        return f"<Alternative: {self.secondary} secondary cells, {self.totals} totals, {self.apart} cells apart>"

    def _figures(self) -> tuple[int, ...]:
        return self.scaled_cost, self.secondary, self.totals, self.difference or 0


@dataclass(frozen=True, eq=False)
class FurtherPatterns:
    """The best pattern of a table, and how further ones are audited beside it.

    `judged` is the table as the attacker is judged on it; the context's clock ends the audits.
    """

    table: Table
    judged: Table
    best: Mask
    context: Context

    def audited(self, candidates: Sequence[Candidate]) -> tuple[Alternative, ...]:
        """Those that are shown to be safe in time and differ from the best one and from each other, by rising cost."""
        found: dict[bytes, Alternative] = {}
        for one in self._shown(candidates):
            if one.apart:
                found.setdefault(one.suppressed.tobytes(), one)
        return tuple(sorted(found.values(), key=lambda one: (one.scaled_cost, one.apart)))

    def front(self, candidates: Sequence[Candidate], audit: Audit) -> tuple[Alternative, ...]:
        """Those of them, and of the best one, that none is better than in everything, by rising cost."""
        best = Alternative(self.table, self.best, audit, self.best, self.context.likeness)
        every = {one._figures(): one for one in (best, *self._shown(candidates))}
        kept = [one for figures, one in every.items() if not any(_dominates(other, figures) for other in every)]
        return tuple(sorted(kept, key=Alternative._figures))

    def _shown(self, candidates: Sequence[Candidate]) -> Iterator[Alternative]:
        for candidate in candidates:
            try:
                suppressed, verdict, _ = make_safe(self.judged, candidate.suppressed, self.context, candidate.proof)
            except OutOfTime:
                return
            yield Alternative(self.table, suppressed, verdict, self.best, self.context.likeness)


def _dominates(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
