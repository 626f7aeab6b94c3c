"""What is said of cells that no pattern can protect."""

from __future__ import annotations

from gpuga.errors import Infeasible
from gpuga.table.table import Table

NAMED = 5


def impossible(table: Table, cells: list[int]) -> Infeasible:
    """The sentence for cells that no pattern can protect."""
    named = ", ".join(table.label(c) for c in cells[:NAMED])
    more = f" and {len(cells) - NAMED} more" if len(cells) > NAMED else ""
    return Infeasible(
        f"no safe pattern exists: even with everything suppressed that may be, {named}{more} cannot be "
        "protected (too many cells must be published, or the bounds lb and ub are too tight)",
        cells,
    )
