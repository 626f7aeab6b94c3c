"""Parquet tables: the columns of a long CSV table, through pyarrow (an optional package)."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from gpuga.errors import InputError, MissingExtra, printable
from gpuga.files.atomic import write_whole
from gpuga.files.csv import table_columns
from gpuga.files.notation import Written
from gpuga.files.source import MOST_BYTES, check_regular
from gpuga.table.builders import frame_columns
from gpuga.table.columns import MOST_ROWS, Reading, table_from_columns
from gpuga.table.table import Table
from gpuga.table.words import FIGURES

MOST_FIELDS = 200_000_000
"""Rows times columns of a Parquet file, each of which becomes a text or number in memory."""


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet", "files") from None
    return pyarrow, pyarrow.parquet


def read_arrow(path: Path) -> Any:
    """The Arrow table in a Parquet file, after a look at how much it claims to hold."""
    check_regular(path)
    pyarrow, parquet = _pyarrow()
    try:
        with path.open("rb") as file:
            opened = parquet.ParquetFile(file)
            _refuse_claims(opened.metadata, path)
            return opened.read()
    except (pyarrow.ArrowException, OSError, ValueError) as fault:
        raise _unreadable(fault, path) from None


def distinct_entries(path: Path, wanted: Callable[[str], bool]) -> tuple[int, dict[str, set[str]]]:
    """The number of rows, and the distinct entries of the columns that are wanted; one column at a time."""
    pyarrow, parquet = _pyarrow()
    try:
        with path.open("rb") as file:
            opened = parquet.ParquetFile(file)
            _refuse_claims(opened.metadata, path)
            names = [name for name in opened.schema_arrow.names if wanted(name)]
            found = {name: _distinct(opened.read(columns=[name]).column(0)) for name in names}
            return opened.metadata.num_rows, found
    except (pyarrow.ArrowException, OSError, ValueError) as fault:
        raise _unreadable(fault, path) from None


def _distinct(column: Any) -> set[str]:
    return {str(entry) for entry in column.unique().to_pylist()}


def _unreadable(fault: Exception, path: Path) -> InputError:
    reason = printable(str(fault).splitlines()[0] if str(fault) else type(fault).__name__, 60)
    return InputError(f"is not a readable Parquet file ({reason})", path=path)


def _refuse_claims(metadata: Any, path: Path) -> None:
    """A few bytes can stand for very many rows; what the file says of itself is believed and judged."""
    rows, columns = metadata.num_rows, metadata.num_columns
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    if rows > MOST_ROWS or rows * columns > MOST_FIELDS:
        what = (
            f"claims {rows} rows of {columns} columns, at most {MOST_ROWS} rows and {MOST_FIELDS} fields are possible"
        )
        raise InputError(what, path=path)
    if (unpacked := sum(group.total_byte_size for group in groups)) > MOST_BYTES:
        raise InputError(f"would unpack to {unpacked} bytes; at most {MOST_BYTES} are possible", path=path)


def parse_parquet(frame: Any, path: Path, reading: Reading, written: Written | None = None) -> Table:
    """The table in an Arrow table; `path` is for messages, rows count from 1. Figures may be texts."""
    columns = frame_columns(frame)
    texts = {n: column for n, column in columns.items() if n in FIGURES and isinstance(column, list)}
    try:
        plain = (written or Written()).numbers(texts, path, comma_separated=True)
        return table_from_columns({**columns, **plain}, reading, path.stem)
    except InputError as fault:
        row = None if fault.cell is None or fault.cell >= frame.num_rows else fault.cell + 1
        raise (fault if fault.path is not None else fault.at(path, row)) from None


def arrow_bytes(frame: Any) -> bytes:
    """The bytes of a Parquet file."""
    _, parquet = _pyarrow()
    out = io.BytesIO()
    parquet.write_table(frame, out)
    return out.getvalue()


def write_parquet(table: Table, path: str | Path) -> None:
    """A table with dimensions as a Parquet file; figures are integers or exact decimals."""
    names, columns = table_columns(table)
    dimensions = len(table.grid.dimensions) if table.grid is not None else 0
    words = {
        name
        for at, (name, texts) in enumerate(zip(names, columns, strict=True))
        if at < dimensions or name == "status" or "inf" in texts or "-inf" in texts
    }
    write_whole(path, texts_bytes(names, columns, words))


def texts_bytes(names: Sequence[str], columns: Sequence[Sequence[str]], words: Collection[str]) -> bytes:
    """The bytes of a Parquet file: columns named in `words` as texts, the others as numbers; blanks are nulls."""
    pyarrow, _ = _pyarrow()
    arrays = [
        pyarrow.array([text or None for text in texts], pyarrow.string()) if name in words else _figures(pyarrow, texts)
        for name, texts in zip(names, columns, strict=True)
    ]
    return arrow_bytes(pyarrow.table(arrays, names=list(names)))


def _figures(pyarrow: Any, texts: Sequence[str]) -> Any:
    """Texts of numbers as an Arrow array, blanks as nulls."""
    digits = max((len(t.partition(".")[2]) for t in texts if "." in t), default=0)
    filled = pyarrow.array([t or None for t in texts], pyarrow.string())
    return filled.cast(pyarrow.decimal128(38, digits) if digits else pyarrow.int64())
