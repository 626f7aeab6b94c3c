"""What comes out: the pattern a method found, a proven bound, and the whole protection with its proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpuga.declared import Parameters
from gpuga.errors import InputError
from gpuga.safety.model import AttackerModel
from gpuga.table.table import Table

if TYPE_CHECKING:
    from gpuga.safety.audit import Audit
    from gpuga.safety.witness import Witnesses


class Root(Protocol):
    """Cuts over a table that bound the cost of its safe patterns, and can be told to the checker of proofs."""

    @property
    def table(self) -> Table:
        """The table, as the attacker is judged on it."""

    def said(self) -> list[list[Any]]:
        """The cuts that the bound leans on, in the words of the checker."""


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


@dataclass(frozen=True)
class Found:
    """What a method returns: a pattern (bool[n], primaries included) and how it was found.

    `proof` are the circuits that the pattern carries, if it does; the audit checks them before they count.
    """

    suppressed: NDArray[np.bool_]
    bound: Bound | None = None
    generations: int = 0
    evaluations: int = 0
    details: dict[str, Any] = field(default_factory=dict)
    proof: Witnesses | None = None


@dataclass(frozen=True)
class Protection:
    """A pattern with its proof of safety, its cost and, where one can be had, its gap."""

    table: Table
    suppressed: NDArray[np.bool_]
    audit: Audit
    method: str
    backend: str
    lp: str
    seed: int
    repaired: int
    seconds: float
    found: Found
    bound: Bound | None = None
    model: AttackerModel = field(default_factory=AttackerModel)
    level_zero: str = "exact"
    parameters: Parameters = field(default_factory=Parameters)

    def proof_content(self, path: str | Path) -> bytes:
        """The proof as a file for `path`; `protect` must have been asked for one."""
        from gpuga.bounds.restated import restated_bound
        from gpuga.files.proof import Attacked, proof_content

        if self.audit.proof is None:
            what = "there is no proof to write: it was not asked for (proof=True), or the time ended before it"
            raise InputError(what, path=path)
        attacked = Attacked(**vars(self.model), level_zero=self.level_zero)
        bound = restated_bound(self.table, self.bound, attacked)
        return proof_content(self.table, self.suppressed, self.audit.proof, attacked, path, bound)

    def write_proof(self, path: str | Path) -> None:
        """Write the proof that `gpuga verify` checks; confidential, because it shows how far cells can move."""
        from gpuga.files.atomic import write_whole

        write_whole(path, self.proof_content(path))

    @property
    def cost(self) -> int:
        """Weights of the secondary suppressions, in units of `1/weight_scale`."""
        return self.table.cost(self.suppressed)

    @property
    def secondary(self) -> int:
        """How many cells are suppressed besides the primaries."""
        return int((self.suppressed & ~self.table.primary).sum())

    @property
    def gap(self) -> float | None:
        """`(cost - lower_bound) / lower_bound`; None without a bound, or with a bound of 0 and a cost."""
        if self.bound is None:
            return None
        if self.cost <= self.bound.lower_bound:
            return 0.0
        if self.bound.lower_bound <= 0:
            return None
        return float(Fraction(self.cost) / Fraction(self.bound.lower_bound) - 1)

    @property
    def optimal(self) -> bool:
        """Whether no safe pattern can be cheaper, proven."""
        return self.bound is not None and self.bound.proven and self.cost <= self.bound.lower_bound
