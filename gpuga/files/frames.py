"""Tables and patterns in memory as frames (pandas, polars, Arrow), and frames as files of records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuga.errors import InputError, printable
from gpuga.files.csv import rows_text
from gpuga.files.pattern import suppression_words
from gpuga.files.read import Source
from gpuga.table.builders import frame_columns
from gpuga.table.exact import is_missing
from gpuga.table.table import Mask, Table

KINDS = ("pandas", "polars", "arrow")


def in_memory(table: Table) -> Source:
    """A table that came from no file, for what is written by codes."""
    if table.grid is None:
        raise InputError("a table without dimensions has no codes to publish it by: use the file that it came from")
    return Source(table, Path(table.name).with_suffix(""))


def pattern_frame(table: Table, suppressed: Mask, kind: str) -> Any:
    """A table with its pattern as a frame: dimensions (or positions), values where published, and what each cell is."""
    if kind not in KINDS:
        raise InputError(f"{printable(kind, 20)!r} is not one of {', '.join(KINDS)}", field="kind")
    words = suppression_words(table, suppressed)
    columns: dict[str, list[Any]] = {}
    if table.grid is None:
        columns["cell"] = list(range(len(words)))
    else:
        for axis, dimension in enumerate(table.grid.dimensions):
            columns[dimension.name] = [dimension.codes[c] for c in table.grid.coordinate[:, axis].tolist()]
    whole = not (table.value % table.scale).any()
    plain = table.value // table.scale if whole else table.value / table.scale
    columns["value"] = [v if w == "published" else None for v, w in zip(plain.tolist(), words, strict=False)]
    return _framed(columns | {"suppression": words}, kind)


def _framed(columns: dict[str, list[Any]], kind: str) -> Any:
    try:
        if kind == "pandas":
            import pandas

            return pandas.DataFrame(columns)
        if kind == "polars":
            import polars

            return polars.DataFrame(columns)
        import pyarrow
    except ImportError:
        raise InputError(f"{kind} is not installed: pip install {'pyarrow' if kind == 'arrow' else kind}") from None
    return pyarrow.table(columns)


def write_records(frame: Any, path: Path) -> None:
    """The rows of a frame as a CSV file; what is missing is blank."""
    columns = frame_columns(frame)
    texts = [[_text(entry) for entry in column] for column in columns.values()]
    path.write_text(rows_text(list(columns), zip(*texts, strict=True)), encoding="utf-8", newline="")


def _text(entry: object) -> str:
    if isinstance(entry, str):
        return entry
    if is_missing(entry):
        return ""
    return repr(float(entry)) if isinstance(entry, float) else str(entry)
