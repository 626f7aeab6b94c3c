"""Writing a tabulation as a table file that `gpuga protect` reads: long CSV or Parquet, or `.jj`.

In the long formats a column `rule` says which rules made a cell a primary. Groups stand after the cells: their
dimension columns are blank, and the column `members` lists the positions (from 0) of the rows whose sum they are.
In `.jj` a group is a cell and an equation like any other. The file holds every value: it is for the office only.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gpuga.errors import InputError
from gpuga.files.atomic import Content, write_whole
from gpuga.files.csv import rows_text, table_columns
from gpuga.files.jj import jj_text
from gpuga.files.parquet import texts_bytes
from gpuga.microdata.tabulate import Tabulation
from gpuga.table.exact import shown
from gpuga.table.words import RULE


def write_tabulation(tabulation: Tabulation, path: str | Path) -> None:
    """Write the table, whole or not at all; the suffix picks the format."""
    write_whole(path, tabulation_content(tabulation, path))


def check_suffix(path: str | Path) -> str:
    """The suffix of a table's name, which says its format; any other is refused."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet", ".jj"):
        raise InputError("the name of a table ends in .csv, .parquet or .jj", path=path)
    return suffix


def tabulation_content(tabulation: Tabulation, path: str | Path) -> Content:
    """What goes into the file of that name."""
    suffix = check_suffix(path)
    if suffix == ".jj":
        return jj_text(tabulation.table())
    names, columns = long_columns(tabulation)
    if suffix == ".csv":
        return rows_text(names, zip(*columns, strict=True))
    words = {"status", RULE, "members", *(dimension.name for dimension in tabulation.grid.dimensions)}
    return texts_bytes(names, columns, words)


def long_columns(tabulation: Tabulation) -> tuple[list[str], list[list[str]]]:
    """Names and texts of the columns: dimensions, figures, the rules that fired, `members` where there are groups."""
    names, columns = table_columns(replace(tabulation, groups=()).table())
    filled = [list(column) for column in columns]
    if any(tabulation.rules):
        names = [*names, RULE]
        filled.append(list(tabulation.rules))
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
