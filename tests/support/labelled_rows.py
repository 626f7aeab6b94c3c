"""Tables as rows with labels, for an attacker who shares nothing with the product."""

from __future__ import annotations

from gpuga.table.table import Table
from tests.support.labelled_attacker import Row


def rows_of(table: Table) -> list[Row]:
    """The rows of a table with labels, as an attacker would read them; `status` u for primaries."""
    assert table.grid is not None
    names = [d.name for d in table.grid.dimensions]
    return [
        dict(zip(names, (d.codes[c] for d, c in zip(table.grid.dimensions, at, strict=True)), strict=True))
        | {"value": str(int(v) / table.scale), "status": "u" if s else "s"}
        for at, v, s in zip(table.grid.coordinate.tolist(), table.value.tolist(), table.primary.tolist(), strict=True)
    ]
