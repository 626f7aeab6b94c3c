"""What may leave the office: the dimensions, the values, and one flag for every suppressed cell. Nothing else.

No status, no difference between primaries and secondaries, no contributors, weights, levels or bounds, and no column
that was ignored. The rows stand in the order of the table, marginals that were added follow at the end. On request: the
codes of the field's data exchange (SDMX), and the intervals that every reader can compute from the file anyway.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.files.atomic import Content
from gpuga.files.csv import rows_text
from gpuga.files.jj import jj_indices
from gpuga.files.parquet import texts_bytes
from gpuga.files.read import Source
from gpuga.files.xlsx import sheet_bytes
from gpuga.table.exact import shown
from gpuga.table.table import Mask, Table

SUFFIXES = (".csv", ".xlsx", ".parquet", ".tab")
FLAG = "c"
"""What marks a suppressed cell: c as in confidential, the code list of the field's data exchange."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A spreadsheet takes a text that begins so for a formula, and would run what a label says."""


OBS_STATUS = ("A", "Q")
"""Normal value; missing value, suppressed (SDMX, CL_OBS_STATUS)."""

FREE, SECONDARY = "F", "D"
"""Free, and suppressed because of other cells (SDMX, CL_CONF_STATUS)."""

Interval = tuple[Fraction | None, Fraction | None]
"""What a reader can narrow a suppressed cell down to, in the table's units; None: no limit."""


@dataclass(frozen=True)
class Wanted:
    """What a public file shows of suppressed cells besides that they are.

    `flag` marks each of them. `primary`, if not None, adds the columns OBS_STATUS and CONF_STATUS with that code for
    primaries, or the code that `codes` has for the cell; secondaries get `secondary`, which tells the two apart unless
    it is the same. `intervals` by cell are those that the attacker computes from the file itself: exact ones only.
    """

    flag: str = FLAG
    primary: str | None = None
    secondary: str = SECONDARY
    codes: Mapping[int, str] = field(default_factory=dict)
    intervals: Mapping[int, Interval] | None = None


def check_public(path: str | Path, flag: str) -> None:
    """Say early that a public file of that name, or with that flag, is not written."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        kinds = ", ".join(SUFFIXES)
        what = f"public tables are written as one of {kinds}, not as {printable(suffix or 'a file of no kind')}"
        raise InputError(what, path=path)
    if not (flag.strip() and flag.isprintable() and len(flag) <= 20) or flag.startswith(FORMULA):
        what = f"{printable(flag, 20)!r} is no flag: take 1 to 20 printable characters that do not begin a formula"
        raise InputError(what, field="--flag")


def public_content(source: Source, suppressed: Mask, path: str | Path, wanted: Wanted | None = None) -> Content:
    """What the public file of that name holds, of a pattern that has been audited."""
    wanted = wanted or Wanted()
    check_public(path, wanted.flag)
    suffix = Path(path).suffix.lower()
    names, labels = _labels(source, formulas=suffix not in (".csv", ".tab"))
    figures = public_figures(source.table, suppressed, wanted)
    if suffix == ".tab" and len(figures) > 2:
        raise InputError("a .tab file has values and flags only: take another format for more", path=path)
    if taken := [name for name in figures if name in names]:
        what = f"the dimension {taken[0]} has the name of a column of the public table: rename it"
        raise InputError(what, path=source.path)
    note_order(source.table, suppressed)
    names, columns = [*names, *figures], [*labels, *figures.values()]
    numbers = {"value", "low", "high"} & figures.keys()
    if suffix == ".parquet":
        return texts_bytes(names, columns, words={*names} - numbers)
    if suffix == ".tab":
        return _code_values(labels, figures)
    rows = zip(*columns, strict=True)
    return sheet_bytes(names, rows, numbers) if suffix == ".xlsx" else rows_text(names, rows)


def _code_values(labels: list[list[str]], figures: dict[str, list[str]]) -> str:
    """The rows of a code-value file as tau-ARGUS writes them: quoted codes, then the value or the flag."""
    quoted = [['"' + code.replace('"', '""') + '"' for code in column] for column in labels]
    shows = [value or flag for value, flag in zip(figures["value"], figures["flag"], strict=True)]
    return "".join(";".join(row) + "\n" for row in zip(*quoted, shows, strict=True))


def public_figures(table: Table, suppressed: Mask, wanted: Wanted) -> dict[str, list[str]]:
    """The columns of a public file besides its dimensions, by name."""
    cells = len(table) - table.groups
    hidden = suppressed[:cells].tolist()
    values = ["" if h else shown(v, table.scale) for v, h in zip(table.value[:cells].tolist(), hidden, strict=True)]
    columns = {"value": values, "flag": [wanted.flag if h else "" for h in hidden]}
    if wanted.intervals is not None:
        decimals = max((len(text.partition(".")[2]) for text in values), default=0)
        pairs = [_outward(wanted.intervals[cell], decimals) if h else ("", "") for cell, h in enumerate(hidden)]
        columns |= {"low": [low for low, _ in pairs], "high": [high for _, high in pairs]}
    if wanted.primary is not None:
        kinds = [_conf_status(table, cell, wanted) if h else FREE for cell, h in enumerate(hidden)]
        columns |= {"OBS_STATUS": [OBS_STATUS[h] for h in hidden], "CONF_STATUS": kinds}
    return columns


def _conf_status(table: Table, cell: int, wanted: Wanted) -> str:
    """The code of a suppressed cell."""
    return wanted.codes.get(cell, wanted.primary or "") if table.primary[cell] else wanted.secondary


def _outward(interval: Interval, decimals: int) -> tuple[str, str]:
    """An interval in decimals, rounded so that it never gets narrower; blank where there is no limit."""
    unit = 10**decimals
    low, high = interval
    return (
        "" if low is None else shown((low * unit).__floor__(), unit),
        "" if high is None else shown((high * unit).__ceil__(), unit),
    )


def _labels(source: Source, formulas: bool) -> tuple[list[str], list[list[str]]]:
    """The names and columns that say which cell a row is; texts of CSV files are made safe for spreadsheets."""
    grid = source.table.grid
    if source.path.suffix.lower() == ".jj":
        return ["index"], [list(jj_indices(source.text))]
    assert grid is not None  # files with columns have dimensions
    columns = []
    for axis, dimension in enumerate(grid.dimensions):
        codes = list(dimension.codes) if formulas else safe_labels(dimension.codes, source.path, dimension.name)
        columns.append([codes[code] for code in grid.coordinate[:, axis].tolist()])
    names = [dimension.name for dimension in grid.dimensions]
    return (names if formulas else safe_labels(names, source.path, "header")), columns


def safe_labels(labels: list[str] | tuple[str, ...], path: Path, field: str) -> list[str]:
    """Labels that no spreadsheet runs: an apostrophe before each that begins like a formula."""
    safe = [f"'{label}" if label.startswith(FORMULA) else label for label in labels]
    if len(set(safe)) < len(set(labels)):
        what = "two codes differ in nothing but an apostrophe before a formula: rename one"
        raise InputError(what, path=path, field=field)
    return safe


def note_order(table: Table, suppressed: Mask) -> None:
    """Warn where the order of the rows tells how large a suppressed cell is."""
    value = table.value[: table.given]
    rising = np.diff(value)
    if suppressed.any() and len(np.unique(value)) > 3 and ((rising >= 0).all() or (rising <= 0).all()):
        said = "the rows are sorted by value, so that their order narrows suppressed values: sort them by their codes"
        warnings.warn(said, stacklevel=3)
