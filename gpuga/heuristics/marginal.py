"""Marginal suppression: the last resort that suppresses totals along with every sensitive cell.

Each sensitive cell takes the totals of all its lines with it, and these theirs, up to the grand total; what is
still open after that gets the cheapest change. Very dear, nearly always possible, and quick.
"""

from __future__ import annotations

import numpy as np

from gpuga.circuits.cover import Cover
from gpuga.context import Context
from gpuga.problem.general import requirements_of
from gpuga.protection import Found
from gpuga.table.table import Mask, Table


def marginal(table: Table, context: Context) -> Found:
    """A safe pattern: sensitive cells, all totals above them, and what these leave open. No clean-up."""
    cover = Cover(table, requirements_of(table, context.strict, context.clock), context, with_totals(table))
    order = np.argsort(-cover.requirements.need, kind="stable").tolist()
    cover.by_boxes(order)
    cover.by_lp(order)
    return Found(cover.suppressed, evaluations=1, proof=cover.proof())


def with_totals(table: Table) -> Mask:
    """The forced cells with the totals of all their lines, and the totals of these, as far as they may be hidden."""
    lines = table.lines
    total = lines.coef < 0
    hidden = table.forced.copy()
    while True:
        reached = np.zeros(len(lines), bool)
        reached[lines.line_of_entry[hidden[lines.cell]]] = True
        above = lines.cell[total & reached[lines.line_of_entry]]
        new = above[~hidden[above] & table.suppressible[above]]
        if not len(new):
            return hidden
        hidden[new] = True
