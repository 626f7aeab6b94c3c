"""Unpicking: interval propagation along the lines until nothing moves, without any solver.

Each line bounds each of its cells by what the others can be. The result encloses the attacker's
interval, so a cell that is already too narrow here is exposed for certain. The work is the kernels'.
"""

from __future__ import annotations

from gpuga.kernels.backend import get_backend
from gpuga.kernels.layout import Lines
from gpuga.table.table import Ints, Mask, Table

SMALL = 2000
"""Up to so many cells plain numpy is as good, and nothing has to be compiled for it."""

SWEEPS = 1000
"""Propagation may creep towards its limit; any stop encloses the attacker's interval, so it may be cut."""


def unpick(table: Table, suppressed: Mask) -> tuple[Ints, Ints]:
    """How far every cell can rise and fall at most, by propagation (int64[n] each, `INFINITE`: no limit)."""
    return _sweeps(table, suppressed, SWEEPS)


def one_line_each(table: Table, suppressed: Mask) -> tuple[Ints, Ints]:
    """The same by each line alone, no conclusion used for another: one sweep."""
    return _sweeps(table, suppressed, 1)


def _sweeps(table: Table, suppressed: Mask, sweeps: int) -> tuple[Ints, Ints]:
    lines = Lines.of(table.lines.start, table.lines.cell, table.lines.coef, len(table))
    backend = get_backend("numpy" if len(table) <= SMALL else "cpu")
    fall, rise = backend.unpick(suppressed[None, :], lines, table.up, table.down, sweeps)
    return rise[0], fall[0]
