"""Safe patterns of any linear table led by a fractional one: what the relaxation suppresses is cheap."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from gpuga.bounds.general_cuts import Floats
from gpuga.circuits.cover import Cover
from gpuga.table.table import LARGEST, Ints, Mask, Table

FINEST = 1000
"""Guided weights are in parts of this."""

C = TypeVar("C", bound=Cover)


def priced(table: Table, z: Floats) -> Table:
    """The table at weights times what a point (float64[n]) leaves of each cell, a little to order ties."""
    finest = min(FINEST, LARGEST // max(1, int(table.weight.sum())))
    weight = np.rint(table.weight * (finest * (1.02 - np.clip(z, 0.0, 1.0)))).astype(np.int64)
    return replace(table, weight=weight)


def whole_cells(table: Table, z: Floats) -> Mask:
    """What a point suppresses wholly."""
    return np.asarray((z > 1 - 1e-6) & table.suppressible)


def completed(cover: C, prices: Table, order: Ints) -> C:
    """A cover completed at the weights of another table, in the given order of tasks, then cleaned up at its own."""
    bought = Cover(prices, cover.tasks, cover.context, cover.suppressed)
    bought.circuit, bought.users = cover.circuit, cover.users
    bought.by_lp(order.tolist())
    made = type(cover)(cover.table, cover.tasks, cover.context, bought.suppressed)
    made.circuit, made.users = bought.circuit, bought.users
    made.clean_up()
    return made
