"""What a method returns: the pattern it found, and a proven bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpuga.table.table import Table
from gpuga.table.witnesses import Witnesses


class Root(Protocol):
    """Cuts over a table that bound the cost of its safe patterns; the checker of proofs can derive them again."""

    @property
    def table(self) -> Table:
        """The table, as the attacker is judged on it."""

    def derivations(self) -> list[list[Any]]:
        """How the cuts behind the bound are derived, for the checker of proofs."""


@dataclass(frozen=True, eq=False)
class ToldCuts:
    """Cuts over a table as another process derives them; who writes a proof derives each of them again."""

    table: Table
    cuts: list[list[Any]]

    def derivations(self) -> list[list[Any]]:
        """How they are derived."""
        return self.cuts


@dataclass(frozen=True)
class Bound:
    """A proven lower bound on the cost of any safe pattern, in units of `1/weight_scale`.

    `proven` says whether the bound holds in exact arithmetic (it always does for what is printed; a
    bound of 0 that no work stands behind is proven too). `kind` names how it was made; `root` are the cuts behind it,
    or behind what a tree began with.
    """

    lower_bound: int | Fraction
    kind: str
    seconds: float = 0.0
    proven: bool = True
    root: Root | None = field(default=None, compare=False, repr=False)


def relative_gap(cost: int, lower_bound: int | Fraction) -> float | None:
    """`(cost - lower_bound) / lower_bound`; None where a bound of 0 stands against a cost."""
    if cost <= lower_bound:
        return 0.0
    return float(Fraction(cost) / Fraction(lower_bound) - 1) if lower_bound > 0 else None


@dataclass(frozen=True, eq=False)
class Candidate:
    """A further pattern (bool[n], primaries included) that a method offers, with the circuits that it carries."""

    suppressed: NDArray[np.bool_]
    proof: Witnesses | None = None


@dataclass(frozen=True)
class Found:
    """What a method returns: a pattern (bool[n], primaries included) and how it was found.

    `proof` are the circuits that the pattern carries, if it does; the audit checks them before they count. So it does
    with `alternatives`, by rising cost, and with the patterns of a `front` of several objectives.
    """

    suppressed: NDArray[np.bool_]
    bound: Bound | None = None
    generations: int = 0
    evaluations: int = 0
    details: dict[str, Any] = field(default_factory=dict)
    proof: Witnesses | None = None
    alternatives: tuple[Candidate, ...] = ()
    front: tuple[Candidate, ...] = ()
