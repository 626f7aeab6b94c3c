"""What a run returns: a pattern with its audit, its cost and, where there is one, its bound and its proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpuga.declared import Parameters
from gpuga.errors import InputError
from gpuga.files.atomic import write_whole
from gpuga.further import Alternative
from gpuga.protection import Bound, Found, relative_gap
from gpuga.safety.audit import Audit
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.likeness import Likeness
from gpuga.table.table import Table
from gpuga.table.wishes import Kept


@dataclass(frozen=True)
class Protection:
    """A pattern with its proof of safety, its cost and, where one can be had, its gap.

    `alternatives` are further safe patterns by rising cost, `front` those that are best in some mixture of objectives;
    `likeness` is the earlier pattern that this one should resemble, `kept` what had to be published.
    """

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
    backend_why: str = ""  # why this back end was taken
    device: str | None = None  # the CUDA device that worked, where one did
    alternatives: tuple[Alternative, ...] = ()
    front: tuple[Alternative, ...] = ()
    likeness: Likeness | None = None
    kept: tuple[Kept, ...] = ()

    def proof_content(self, path: str | Path) -> bytes:
        """The proof as a file for `path`; `protect` must have been asked for one."""
        from gpuga.bounds.restated import restated_bound
        from gpuga.proof_file import Attacked, proof_content

        if self.audit.proof is None:
            what = "there is no proof to write: it was not asked for (proof=True), or the time ended before it"
            raise InputError(what, path=path)
        attacked = Attacked(**vars(self.model), level_zero=self.level_zero)
        # the checker reads the table from its file, which does not say what else has to be published
        bound = None if self.kept else restated_bound(self.table, self.bound, attacked)
        return proof_content(self.table, self.suppressed, self.audit.proof, attacked, path, bound)

    def write_proof(self, path: str | Path) -> None:
        """Write the proof that `gpuga verify` checks; confidential, because it shows how far cells can move."""
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
        return None if self.bound is None else relative_gap(self.cost, self.bound.lower_bound)

    @property
    def optimal(self) -> bool:
        """Whether no safe pattern can be cheaper, proven."""
        return self.bound is not None and self.bound.proven and self.cost <= self.bound.lower_bound
