"""What may leave the office: the dimensions, the values, and one flag for every suppressed cell. Nothing else.

No status, no difference between primaries and secondaries, no contributors, weights, levels or bounds, and no column
that was ignored. The rows stand in the order of the table, marginals that were added follow at the end.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.files.atomic import Content
from gpuga.files.csv import rows_text
from gpuga.files.jj import jj_indices
from gpuga.files.parquet import texts_bytes
from gpuga.files.read import Source
from gpuga.table.exact import shown
from gpuga.table.table import Mask, Table

SUFFIXES = (".csv", ".parquet")
FLAG = "c"
"""What marks a suppressed cell: c as in confidential, the code list of the field's data exchange."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A spreadsheet takes a text that begins so for a formula, and would run what a label says."""


def check_public(path: str | Path, flag: str) -> None:
    """Say early that a public file of that name, or with that flag, is not written."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        what = (
            f"public tables are written as {' or '.join(SUFFIXES)}, not as {printable(suffix or 'a file of no kind')}"
        )
        raise InputError(what, path=path)
    if not (flag.strip() and flag.isprintable() and len(flag) <= 20) or flag.startswith(FORMULA):
        what = f"{printable(flag, 20)!r} is no flag: take 1 to 20 printable characters that do not begin a formula"
        raise InputError(what, field="--flag")


def public_content(source: Source, suppressed: Mask, path: str | Path, flag: str = FLAG) -> Content:
    """What the public file of that name holds, of a pattern that has been audited."""
    check_public(path, flag)
    parquet = Path(path).suffix.lower() == ".parquet"
    names, labels = _labels(source, formulas=parquet)
    if "flag" in names:
        raise InputError("a dimension called flag leaves no name for the flags: rename it", path=source.path)
    table = source.table
    cells = len(table) - table.groups
    hidden = suppressed[:cells].tolist()
    values = ["" if h else shown(v, table.scale) for v, h in zip(table.value[:cells].tolist(), hidden, strict=True)]
    flags = [flag if h else "" for h in hidden]
    names, columns = [*names, "value", "flag"], [*labels, values, flags]
    _note_order(table, suppressed)
    if parquet:
        return texts_bytes(names, columns, words={*names} - {"value"})
    return rows_text(names, zip(*columns, strict=True))


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


def _note_order(table: Table, suppressed: Mask) -> None:
    """Warn where the order of the rows tells how large a suppressed cell is."""
    value = table.value[: table.given]
    rising = np.diff(value)
    if suppressed.any() and len(np.unique(value)) > 3 and ((rising >= 0).all() or (rising <= 0).all()):
        said = "the rows are sorted by value, so that their order narrows suppressed values: sort them by their codes"
        warnings.warn(said, stacklevel=3)
