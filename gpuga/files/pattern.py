"""Patterns out and in: which cells are published and which are suppressed.

For a CSV or Parquet table: the same rows in the same order, blank where a figure could tell the value of
a suppressed cell, with a column `suppression`; marginals that were added follow at the end. For a `.jj`
table: `index,suppression`. A workbook holds what the CSV file would.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.files.argus import result_columns
from gpuga.files.atomic import Content
from gpuga.files.csv import CsvColumns, line_of_row, parse_columns, rows_text
from gpuga.files.jj import jj_indices
from gpuga.files.parquet import arrow_bytes, read_arrow
from gpuga.files.read import CSV_SUFFIXES, Source
from gpuga.files.source import read_text
from gpuga.files.xlsx import SUFFIX as SHEET
from gpuga.files.xlsx import check_workbooks, read_sheet, sheet_bytes
from gpuga.table.exact import shown
from gpuga.table.grid import keys
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.words import FIGURES, MEMBERS, RULE

WORDS = ("published", "primary", "secondary")
NOT_IN_PATTERNS = ("suppression", MEMBERS, RULE)
"""Columns of a table that its pattern leaves out, or has as its own."""

INDEX_NAMES = ("index", "cell", "cell_number", "position")


def suppression_words(table: Table, suppressed: Mask) -> list[str]:
    """`published`, `primary` or `secondary` for every cell; groups are never shown."""
    kind = np.where(suppressed, np.where(table.primary, 1, 2), 0)[: len(table) - table.groups]
    return [WORDS[k] for k in kind.tolist()]


def check_kind(source: Source, path: str | Path) -> None:
    """Say early that a table of one kind does not make a pattern of another."""
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet" and source.frame is None:
        raise InputError("the pattern of a table that is not Parquet is written as .csv or .xlsx", path=path)
    if suffix == SHEET:
        check_workbooks()
    if suffix not in ("", ".parquet", SHEET, *CSV_SUFFIXES):
        raise InputError(f"patterns are written as .csv, .xlsx or .parquet, not as {printable(suffix)}", path=path)


def pattern_content(source: Source, suppressed: Mask, path: str | Path) -> Content:
    """What the pattern file of that name holds; it shows no figure of a suppressed cell."""
    words = suppression_words(source.table, suppressed)
    check_kind(source, path)
    if Path(path).suffix.lower() == ".parquet":
        return arrow_bytes(_arrow_pattern(source, words))
    names, out, delimiter = _pattern_of_texts(source, words)
    rows = zip(*out, words, strict=True)
    if Path(path).suffix.lower() == SHEET:
        return sheet_bytes([*names, "suppression"], rows, {*names} & {"value", "weight"})
    return rows_text([*names, "suppression"], rows, delimiter)


def _pattern_of_texts(source: Source, words: list[str]) -> tuple[list[str], list[list[str]], str]:
    """Names and columns of a pattern besides its suppressions, and the delimiter of its source."""
    if source.path.suffix.lower() == ".jj":
        return ["index"], [list(jj_indices(source.text))], ","
    header, columns, delimiter = _source_columns(source)
    kept = [name for name in header if name not in NOT_IN_PATTERNS]
    return kept, [_shown_column(source, name, columns[header.index(name)], words) for name in kept], delimiter


def _source_columns(source: Source) -> tuple[list[str], list[list[str]], str]:
    """Header and columns as texts, and the delimiter."""
    if source.frame is None:
        read = source.columns()
        return read.header, read.columns, read.delimiter
    names = list(source.frame.column_names)
    columns = [["" if v is None else str(v) for v in source.frame.column(n).to_pylist()] for n in names]
    return names, columns, ","


def _shown_column(source: Source, name: str, column: list[str], words: list[str]) -> list[str]:
    """A column of the pattern: figures of suppressed cells blank, added marginals at the end."""
    column = column[: source.table.given]
    if name in FIGURES or name in source.ignore:
        column = [text if word == "published" else "" for text, word in zip(column, words, strict=False)]
    added = range(source.table.given, len(words))
    return [*column, *(_added_row(source.table, cell, words[cell]).get(name, "") for cell in added)]


def _added_row(table: Table, cell: int, word: str) -> dict[str, str]:
    """What a marginal that was not in the file shows: its codes and, when published, its value."""
    assert table.grid is not None  # only tables with dimensions get marginals
    codes = zip(table.grid.dimensions, table.grid.coordinate[cell].tolist(), strict=True)
    value = shown(int(table.value[cell]), table.scale) if word == "published" else ""
    return {d.name: d.codes[c] for d, c in codes} | {"value": value}


def _arrow_pattern(source: Source, words: list[str]) -> Any:
    """The Arrow table with added marginals, suppressed figures null, and the column `suppression`."""
    import pyarrow

    frame, given = source.frame, source.table.given
    arrays, names = [], [n for n in frame.column_names if n not in NOT_IN_PATTERNS]
    extra = [_added_row(source.table, cell, words[cell]) for cell in range(given, len(words))]
    for name in names:
        column = frame.column(name).slice(0, given)
        kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
        plain = column.to_pylist()
        if name in FIGURES or name in source.ignore:
            plain = [None if w != "published" else v for v, w in zip(plain, words, strict=False)]
        added = pyarrow.array([row.get(name) or None for row in extra], pyarrow.string())
        kept = pyarrow.array(plain, kind)
        arrays.append(pyarrow.concat_arrays([kept, added.cast(kind)]) if extra else kept)
    return pyarrow.table([*arrays, pyarrow.array(words)], names=[*names, "suppression"])


def read_pattern(source: Source, path: str | Path) -> Mask:
    """Which cells a pattern file suppresses (bool[n]).

    Rows are matched by the codes of the dimensions, else by an index (`.jj`: the file's own; CSV and
    Parquet: the position from 0), else by their order. Cells that it does not mention are published,
    except primaries and cells that were suppressed beforehand.
    """
    path = Path(path)
    read, text = _pattern_columns(source, path)
    try:
        return _matched(source, read.by_name())
    except InputError as fault:
        raise _at_line(fault, path, text, read) from None


def _pattern_columns(source: Source, path: Path) -> tuple[CsvColumns, str]:
    """The columns of a pattern file, and its text where it has lines."""
    if path.suffix.lower() == ".tab" and source.table.grid is not None:
        columns = result_columns(path, [d.name for d in source.table.grid.dimensions])
        return CsvColumns(list(columns), list(columns.values()), ","), ""
    if path.suffix.lower() == ".parquet":
        frame = read_arrow(path)
        names = frame.column_names
        texts = [["" if v is None else str(v) for v in frame.column(n).to_pylist()] for n in names]
        return CsvColumns(names, texts, ","), ""
    text = read_sheet(path) if path.suffix.lower() == SHEET else read_text(path)
    return parse_columns(text, path), text


def _at_line(fault: InputError, path: Path, text: str, read: CsvColumns) -> InputError:
    """A fault with the file and, where there are lines, the line that it is in."""
    line = line_of_row(text, fault.cell, read.delimiter) if text and fault.cell is not None else None
    return fault.at(path, line)


class Earlier(NamedTuple):
    """A pattern of another time: what it suppresses, the cells that it mentions (bool[n]), rows of unknown cells."""

    suppressed: Mask
    known: Mask
    unknown: int


def read_earlier(source: Source, path: str | Path) -> Earlier:
    """A pattern of the same table at another time, as far as its cells are cells of this one."""
    path = Path(path)
    read, text = _pattern_columns(source, path)
    columns = read.by_name()
    try:
        words = _words(columns)
        cells = _cells_of_rows(source, columns, len(words))
        here = cells >= 0
        _refuse_twice(np.flatnonzero(here), cells[here])
    except InputError as fault:
        raise _at_line(fault, path, text, read) from None
    if not here.any():
        raise InputError("has no cell in common with the table", path=path)
    suppressed, known = np.zeros((2, len(source.table)), bool)
    known[cells[here]] = True
    suppressed[cells[here]] = np.array(_hidden(words))[here]
    return Earlier(suppressed, known, int((~here).sum()))


def _matched(source: Source, columns: dict[str, list[str]]) -> Mask:
    words = _words(columns)
    cells = _cells_of_rows(source, columns, len(words))
    if (cells < 0).any():
        raise InputError(
            "is not a cell of the table: is it the pattern of another one?", cell=int(np.argmax(cells < 0))
        )
    _refuse_twice(np.arange(len(cells)), cells)
    suppressed = source.table.forced.copy()
    suppressed[cells] = _hidden(words)
    return suppressed


def _words(columns: dict[str, list[str]]) -> list[str]:
    """The column of suppressions, checked."""
    if "suppression" not in columns:
        raise InputError("has no column suppression: is it a pattern?", field="suppression")
    words = columns["suppression"]
    for word in set(words):
        if word.strip().lower() not in WORDS:
            what = f"{printable(word, 20)!r} is not one of {', '.join(WORDS)}"
            raise InputError(what, field="suppression", cell=words.index(word))
    return words


def _hidden(words: list[str]) -> list[bool]:
    return [word.strip().lower() != "published" for word in words]


def _refuse_twice(rows: Ints, cells: Ints) -> None:
    """Refuse rows of which two name one cell."""
    if len(np.unique(cells)) < len(cells):
        order = np.argsort(cells, kind="stable")
        again = order[1:][np.diff(cells[order]) == 0]
        raise InputError("the same cell occurs twice", cell=int(rows[again].min()))


def _cells_of_rows(source: Source, columns: dict[str, list[str]], rows: int) -> Ints:
    """The cell of every row, -1 where the table has none."""
    grid = source.table.grid
    if grid is not None and all(d.name in columns for d in grid.dimensions):
        return _by_labels(source.table, columns)
    for name in INDEX_NAMES:
        if name in columns:
            return _by_index(source, columns[name])
    if rows in (source.table.given, len(source.table) - source.table.groups):
        return np.arange(rows)
    names = "" if grid is None else f" ({', '.join(printable(d.name) for d in grid.dimensions)})"
    other = f"neither the table's dimensions{names} nor an index: is it the pattern of another table?"
    raise InputError(f"has {rows} rows for a table of {len(source.table)} cells, and {other}")


def _by_labels(table: Table, columns: dict[str, list[str]]) -> Ints:
    assert table.grid is not None  # the caller has looked
    codes = []
    for dimension in table.grid.dimensions:
        place = {code: i for i, code in enumerate(dimension.codes)}
        column = columns[dimension.name]
        by_text = {text: place.get(text.strip(), -1) for text in set(column)}
        codes.append(np.fromiter(map(by_text.__getitem__, column), np.int32, len(column)))
    wanted = np.column_stack(codes)
    unknown = (wanted < 0).any(axis=1)
    key = keys(np.concatenate([table.grid.coordinate, np.maximum(wanted, 0)]), table.grid.shape)
    cells = len(table.grid.coordinate)
    here, asked = key[:cells], key[cells:]
    order = np.argsort(here)
    at = np.minimum(np.searchsorted(here[order], asked), cells - 1)
    unknown |= here[order][at] != asked
    return np.where(unknown, -1, order[at])


def _by_index(source: Source, column: list[str]) -> Ints:
    if source.path.suffix.lower() == ".jj":
        position = {index: cell for cell, index in enumerate(jj_indices(source.text))}
    else:
        position = {str(cell): cell for cell in range(len(source.table))}
    return np.array([position.get(index.strip(), -1) for index in column], np.int64)
