"""Writing a tabulation as a table file that `gpuga protect` reads: long CSV or Parquet, or `.jj`.

In the long formats the groups stand after the cells: their dimension columns are blank, and the column
`members` lists the positions (from 0) of the rows whose sum they are. In `.jj` a group is a cell and an
equation like any other. The file holds every value: it is for the office only.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from gpuga.errors import InputError, MissingExtra
from gpuga.files.csv import table_columns, write_rows
from gpuga.files.jj import write_jj
from gpuga.files.parquet import write_arrow
from gpuga.microdata.tabulate import Tabulation
from gpuga.table.exact import shown


def write_tabulation(tabulation: Tabulation, path: str | Path) -> None:
    """Write the table, whole or not at all; the suffix picks the format."""
    suffix = Path(path).suffix.lower()
    if suffix == ".jj":
        write_jj(tabulation.table(), path)
    elif suffix == ".csv":
        names, columns = long_columns(tabulation)
        write_rows(path, names, zip(*columns, strict=True))
    elif suffix == ".parquet":
        _write_parquet(tabulation, path)
    else:
        raise InputError("the name of a table ends in .csv, .parquet or .jj", path=path)


def long_columns(tabulation: Tabulation) -> tuple[list[str], list[list[str]]]:
    """Names and texts of the columns: dimensions, figures, and `members` where there are groups."""
    names, columns = table_columns(replace(tabulation, groups=()).table())
    filled = [list(column) for column in columns]
    if tabulation.groups:
        names = [*names, "members"]
        filled.append([""] * len(tabulation.value))
    for group in tabulation.groups:
        lower, upper = tabulation.group_levels(group)
        row = {
            "value": shown(tabulation.group_value(group), tabulation.scale),
            "status": "u",
            "lower": shown(lower, tabulation.scale),
            "upper": shown(upper, tabulation.scale),
            "weight": "0",
            "lb": shown(tabulation.lb * len(group.members), tabulation.scale),
            "members": " ".join(map(str, group.members)),
        }
        for name, column in zip(names, filled, strict=True):
            column.append(row.get(name, ""))
    return names, filled


def _write_parquet(tabulation: Tabulation, path: str | Path) -> None:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("writing Parquet", "files") from None
    names, columns = long_columns(tabulation)
    plain = len(tabulation.grid.dimensions)
    arrays = []
    for at, (name, texts) in enumerate(zip(names, columns, strict=True)):
        if at < plain or name in ("status", "members"):
            arrays.append(pyarrow.array([t or None for t in texts], pyarrow.string()))
        else:
            arrays.append(pyarrow.array([Decimal(t) if t else None for t in texts]))
    write_arrow(pyarrow.table(arrays, names=names), path)
