"""Insiders: what the lone respondent of a suppressed cell, who knows that cell, can still compute about
others.

Groups keep the sum of a line's primaries in doubt; that nearly always keeps each of them in doubt for an
insider too, but it is not the same. This check fixes one known cell at a time and asks the exact audit about
the primaries beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.microdata.tabulate import Tabulation
from gpuga.safety.audit import audit
from gpuga.table.table import Levels


@dataclass(frozen=True)
class InsiderRisk:
    """Cells that the lone respondent of the cell `known` can narrow down further than their levels allow."""

    known: int
    cells: tuple[int, ...]


def insider_risks(tabulation: Tabulation, suppressed: NDArray[np.bool_]) -> list[InsiderRisk]:
    """Every lone respondent in a group who could narrow down another primary of that group.

    `suppressed` bool[cells + groups] is a safe pattern of `tabulation.table()`.
    """
    table, found = tabulation.table(), []
    for group in tabulation.groups:
        for known in (c for c in group.members if tabulation.contributors[c] == 1):
            primary = np.zeros(len(table), bool)
            primary[[c for c in group.members if c != known]] = True
            levels = Levels(*(np.where(primary, level, 0) for level in vars(table.levels).values()))
            seen = suppressed.copy()
            seen[known] = False
            verdict = audit(table.with_primaries(primary, levels), seen, whole="no", level_zero="ignore")
            unsafe = tuple(cell for cell in verdict.unsafe if primary[cell])
            if unsafe:
                found.append(InsiderRisk(known, unsafe))
    return found
