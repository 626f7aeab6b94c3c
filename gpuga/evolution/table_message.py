"""A table as packed arrays, for a process that works on it elsewhere."""

from __future__ import annotations

from typing import Any

from gpuga.evolution.checkpoint import Arrays, arrays_of, packed, part
from gpuga.table.table import Levels, Lines, Table


def packed_table(table: Table, figures: dict[str, Any], more: Arrays) -> bytes:
    """A table with settings and further arrays; names and codes are left out."""
    units = {name: getattr(table, name) for name in ("scale", "weight_scale", "groups", "given", "whole_levels")}
    arrays = {f"table_{name}": array for name, array in arrays_of(table).items()}
    return packed(figures | {"units": units}, arrays | more)


def unpacked_table(figures: dict[str, Any], arrays: Arrays) -> Table:
    """The table of such a message."""
    parts: dict[str, Any] = part("table", arrays)
    levels = Levels(*(parts.pop(f"level_{name}") for name in ("lower", "upper", "sliding")))
    lines = Lines(*(parts.pop(f"lines_{name}") for name in ("start", "cell", "coef", "rhs")))
    return Table(lines=lines, levels=levels, **parts, **figures["units"])
