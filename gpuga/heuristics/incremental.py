"""The incremental attacker: two linear programs per sensitive cell (Smith, Clark, Staggemeier, Serpell 2012).

Each task in turn, if no change found so far proves it, gets the cheapest consistent change of the table
that reaches its level; all cells that moved become suppressed. Works on any linear table. Redundant cells
are removed at the end; the variant `plain` leaves them, as the paper does.
"""

from __future__ import annotations

import numpy as np

from gpuga.circuits.cover import Cover, tasks_for
from gpuga.context import Context
from gpuga.protection import Found
from gpuga.table.table import Table


def incremental(table: Table, context: Context) -> Found:
    """A safe pattern by the incremental attacker, sensitive cells by falling weight, cleaned up."""
    cover = Cover(table, tasks_for(table, context.strict), context)
    order = np.argsort(-table.weight[cover.tasks.cell], kind="stable")
    plain = context.option("variant", "") == "plain"
    if not plain:
        cover.boost()
    cover.by_lp(order.tolist())
    if not plain:
        cover.clean_up()
    return Found(cover.suppressed, evaluations=1, proof=cover.proof())
