"""What a run returns: a pattern with its audit, its cost and, where there is one, its bound and its proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.context import Context
from gpuga.declared import Parameters
from gpuga.errors import InputError, printable
from gpuga.files.atomic import write_whole
from gpuga.files.frames import in_memory, pattern_frame
from gpuga.files.public import Wanted, public_content
from gpuga.further import Alternative, PatternCost
from gpuga.protection import Bound, Found, relative_gap
from gpuga.report.data import MOST_NEEDS, Judged, in_detail
from gpuga.report.losses import losses_of
from gpuga.report.names import Names
from gpuga.report.page import page_text
from gpuga.report.plot import pattern_figure, run_figure
from gpuga.safety.audit import Audit, audit
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.likeness import Likeness
from gpuga.table.table import Table
from gpuga.table.wishes import Kept


@dataclass(frozen=True, repr=False)
class Protection(PatternCost):
    """A pattern with its proof of safety, its cost and, where one can be had, its gap.

    `table` is what was protected, `suppressed` (bool[n]) the pattern, primaries included, `audit` the exact verdict on
    it, `bound` the lower bound on the cost of any safe pattern. `method`, `backend`, `lp`, `seed` and `parameters` say
    how it was found, `seconds` how long that took, `repaired` how many cells the method left unprotected.
    `alternatives` are further safe patterns by rising cost, `front` those that are best in some mixture of objectives;
    `likeness` is the earlier pattern that this one should resemble, `kept` what had to be published. `history` has one
    row per generation of an evolution, as `--log` writes them: seconds, best, mean and worst cost, lower bound, ...
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
    history: tuple[Mapping[str, Any], ...] = ()

    def __repr__(self) -> str:
        """What was done, in one line without any value: a cost is a sum of suppressed values."""
        cells = len(self.table) - self.table.groups
        hidden = int(self.suppressed[:cells].sum())
        name = printable(self.table.name)
        return f"<Protection of {name!r} by {self.method}: {hidden} of {cells} cells suppressed, {self._verdict}>"

    @property
    def _verdict(self) -> str:
        best = ", proven optimal" if self.optimal else "" if self.gap is None else f", gap {100 * self.gap:.2f} %"
        return f"{'safe' if self.audit.safe else 'not safe'}{best}"

    def _repr_html_(self) -> str:
        """The same for notebooks, with the share suppressed by level of every dimension; no value either."""
        losses = losses_of(self.table, self.suppressed)
        rows = "".join(
            f"<tr><td>{escape(one.dimension)}</td><td>{one.depth}</td><td>{one.suppressed} of {one.cells}</td>"
            f"<td>{100 * one.share:.1f} %</td></tr>"
            for one in losses.levels
        )
        head = "<tr><th>dimension</th><th>level</th><th>suppressed</th><th>share</th></tr>"
        return f"<p>{escape(repr(self))}</p><table>{head}{rows}</table>"

    def to_frame(self, kind: str = "pandas") -> Any:
        """The table with its pattern as a pandas, polars or Arrow (`kind="arrow"`) frame, one row per cell.

        Columns are the dimensions, `value` (missing where suppressed) and `suppression` (published, primary or
        secondary), for the office: `publish` writes what may leave it.
        """
        return pattern_frame(self.table, self.suppressed, kind)

    def plot(self, what: str = "pattern", *, rows: str | None = None, columns: str | None = None) -> Any:
        """A matplotlib figure (extra `plots`) of the pattern, or of the run that found it; it shows no cell's value.

        `what` is "pattern": published, primary and secondary cells along two dimensions, `rows` and `columns`, the
        first two if they are not given, all others at their totals; "cost": best cost and lower bound over time; or
        "population": best, mean and worst cost by generation. All of them are for the office.
        """
        if what != "pattern" and (rows or columns):
            raise InputError("is for a picture of the pattern", field="rows" if rows else "columns")
        if what == "pattern":
            return pattern_figure(self.table, self.suppressed, rows, columns)
        return run_figure(self.history, what)

    def publish(self, path: str | Path, *, flag: str = "c") -> None:
        """Write the table for publication to a .csv, .xlsx or .parquet file: values, and `flag` on suppressed cells."""
        write_whole(path, public_content(in_memory(self.table), self.suppressed, path, Wanted(flag)))

    def report(self, path: str | Path, *, public: bool = False) -> None:
        """Write a report to look at as one .html file: the office edition with values, or the public one without."""
        from gpuga import __version__

        made = {name: getattr(self, name) for name in ("method", "backend", "lp", "seed", "gap", "optimal")}
        if self.bound is not None:
            made["lower_bound"] = self.table.shown_cost(self.bound.lower_bound)
        judged = Judged(self.table, self.suppressed, self.audit, Names(self.table), __version__, made=made)
        if not public:
            asked = vars(self.model) | {"whole": "yes" if self.model.whole else "no", "level_zero": self.level_zero}
            verdict = audit(self.table, self.suppressed, intervals=False, proofs=True, **asked)
            judged = in_detail(replace(judged, verdict=verdict, curve=self.history), MOST_NEEDS, Context(), **asked)
        write_whole(path, page_text(judged, public=public))

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
    def gap(self) -> float | None:
        """`(cost - lower_bound) / lower_bound`; None without a bound, or with a bound of 0 and a cost."""
        return None if self.bound is None else relative_gap(self.scaled_cost, self.bound.lower_bound)

    @property
    def optimal(self) -> bool:
        """Whether no safe pattern can be cheaper, proven."""
        return self.bound is not None and self.bound.proven and self.scaled_cost <= self.bound.lower_bound
