"""Long CSV tables: one row per cell, reserved columns and dimensions; comma, semicolon, tab or bar between them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.files.atomic import write_whole
from gpuga.files.notation import Written
from gpuga.table.columns import MOST_ROWS, Reading, table_from_columns
from gpuga.table.exact import all_shown
from gpuga.table.headers import HeaderError
from gpuga.table.table import INFINITE, Table, status_letters
from gpuga.table.words import FIGURES

LONGEST_LINE = 131_072
"""Longer lines go through the csv module, which refuses fields of more than so many characters."""

BLOCK = 2**20
"""Plain files are split in blocks of so many characters."""

REPEATED = 8
"""Entries of a column are shared where, in a block, each occurs so many times on average."""

SEPARATORS = ",;\t|"
LOOKED_AT = 50
"""So many lines are looked at where the header has more than one sign that may separate columns."""


@dataclass(frozen=True, eq=False)
class CsvColumns:
    """A CSV file as it was written: header, columns of texts, delimiter."""

    header: list[str]
    columns: list[list[str]]
    delimiter: str

    @property
    def rows(self) -> int:
        """How many rows follow the header."""
        return len(self.columns[0])

    def by_name(self) -> dict[str, list[str]]:
        """The columns by name."""
        return dict(zip(self.header, self.columns, strict=True))


def parse_columns(text: str, path: Path, separator: str | None = None) -> CsvColumns:
    """The columns of a CSV text, as they are written; every row has as many fields as the header."""
    if text.count("\n") > MOST_ROWS + 1:
        raise InputError(f"has more than {MOST_ROWS} rows", path=path)
    delimiter = parse_separator(separator) or find_separator(text, path)
    fields = _split_plain(text, delimiter)
    header, columns = fields if fields is not None else _read_rows(text, path, delimiter)
    header = [name.strip() for name in header]
    seen: set[str] = set()
    for at, name in enumerate(header):
        if not name or name in seen:
            what = f"column {printable(name)!r} occurs twice" if name else f"column {at + 1} has no name"
            raise InputError(what, path=path, line=1)
        seen.add(name)
    return CsvColumns(header, columns, delimiter)


def _split_plain(text: str, delimiter: str) -> tuple[list[str], list[list[str]]] | None:
    """The quick way for files without quotes and oddities, all columns at once; None where it does not do."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    text = text.removesuffix("\n")
    if '"' in text or "\r" in text or "\n\n" in text or text[:1] in ("", "\n"):
        return None
    data = np.frombuffer(text.encode("utf-8"), np.uint8)
    ends = np.append(np.flatnonzero(data == ord("\n")), len(data))
    width = text[: text.find("\n") if "\n" in text else len(text)].count(delimiter) + 1
    separators = np.searchsorted(np.flatnonzero(data == ord(delimiter)), ends)
    even = np.array_equal(separators, np.arange(1, len(ends) + 1) * (width - 1))
    if not even or np.diff(ends, prepend=0).max() > LONGEST_LINE:
        return None
    first, _, rest = text.partition("\n")
    return first.split(delimiter), _split_blocks(rest, delimiter, width)


def _split_blocks(text: str, delimiter: str, width: int) -> list[list[str]]:
    """The columns of plain rows, block by block: entries that repeat, such as codes, are kept once."""
    columns: list[list[str]] = [[] for _ in range(width)]
    known: list[dict[str, str]] = [{} for _ in range(width)]
    start = 0
    while start < len(text):
        end = text.find("\n", start + BLOCK)
        end = len(text) if end < 0 else end
        flat = text[start:end].replace("\n", delimiter).split(delimiter)
        for at, (column, seen) in enumerate(zip(columns, known, strict=True)):
            entries = flat[at::width]
            repeated = len(set(entries)) * REPEATED <= len(entries)
            column.extend(map(seen.setdefault, entries, entries) if repeated else entries)
        start = end + 1
    return columns


def _read_rows(text: str, path: Path, delimiter: str) -> tuple[list[str], list[list[str]]]:
    """The careful way, by the csv module; names the line where a row is not as it should be."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [row for row in reader if row]
    except csv.Error as fault:
        raise InputError(f"is not CSV ({printable(fault)})", path=path, line=reader.line_num) from None
    if not rows:
        raise InputError("is empty", path=path)
    width = len(rows[0])
    for at, row in enumerate(rows[1:]):
        if len(row) != width:
            line = line_of_row(text, at, delimiter)
            raise InputError(f"has {len(row)} fields, the header has {width}", path=path, line=line)
    return rows[0], [[row[at] for row in rows[1:]] for at in range(width)]


def line_of_row(text: str, row: int, delimiter: str = ",") -> int:
    """The line on which a row (0 is the first after the header) ends; fields may contain line breaks."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    seen = -2
    for fields in reader:
        seen += 1 if fields else 0
        if seen == row:
            break
    return reader.line_num


def parse_separator(text: str | None) -> str | None:
    """The sign that the user gives for `--separator`: one that can separate columns; `\\t` and tab are a tab."""
    if text is None:
        return None
    sign = "\t" if text.lower() in ("\\t", "tab") else text
    if len(sign) != 1 or sign.isalnum() or sign in "\"'\r\n":
        raise InputError(f"{printable(text, 20)!r} is not a separator: give one character", field="--separator")
    return sign


def find_separator(text: str, path: Path) -> str:
    """The sign between columns: the one in the header, or the one of several that makes rows of equal width."""
    head = list(islice(io.StringIO(text[: LOOKED_AT * LONGEST_LINE], newline=""), LOOKED_AT))
    header = next((line for line in head if line.strip()), "")
    present = [sign for sign in SEPARATORS if sign in header]
    if len(present) < 2:
        return present[0] if present else ","
    even = [sign for sign in present if _even("".join(head), sign)]
    if len(even) > 1:
        raise InputError("may be separated by more than one sign: name it with --separator", path=path, line=1)
    return even[0] if even else present[0]


def _even(text: str, separator: str) -> bool:
    """Whether all rows of a text have the same number of fields; its last row may be cut within a field."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        widths = [len(row) for row in rows if row]
    except csv.Error:
        return False
    return len(set(widths if len(widths) < LOOKED_AT else widths[:-1])) == 1 and widths[0] > 1


def parse_csv(text: str, path: Path, reading: Reading, written: Written | None = None) -> Table:
    """The table in the text of a CSV file; `path` is for messages."""
    written = written or Written()
    read = parse_columns(text, path, written.separator)
    try:
        return table_from_columns(plain_figures(read, path, written), reading, path.stem)
    except InputError as fault:
        if fault.path is not None:
            raise
        given = fault.cell is not None and fault.cell < read.rows
        line = line_of_row(text, fault.cell, read.delimiter) if given and fault.cell is not None else None
        raise fault.at(path, 1 if isinstance(fault, HeaderError) else line) from None


def plain_figures(read: CsvColumns, path: Path, written: Written) -> dict[str, Sequence[object]]:
    """The columns by name, with figures written with points and without thousands."""
    columns: dict[str, Sequence[object]] = dict(read.by_name())
    figures = {name: columns[name] for name in FIGURES if name in columns}
    return {**columns, **written.numbers(figures, path, comma_separated=read.delimiter == ",")}


def write_csv(table: Table, path: str | Path) -> None:
    """A table with dimensions as a long CSV file; columns that say nothing are left out."""
    names, columns = table_columns(table)
    write_whole(path, rows_text(names, zip(*columns, strict=True)))


def table_columns(table: Table) -> tuple[list[str], list[Sequence[str]]]:
    """The names and texts of the columns of a table: dimensions first."""
    if table.grid is None:
        raise InputError("a table without dimensions cannot be written as CSV: write it as .jj")
    if table.linked:
        raise InputError("linked tables cannot be written as one CSV: write them as .jj, or each as its own file")
    if table.groups:
        raise InputError("a table with groups cannot be written as CSV: write it as .jj")
    names = [d.name for d in table.grid.dimensions]
    columns: list[Sequence[str]] = [
        np.array(d.codes, dtype=object)[table.grid.coordinate[:, axis]].tolist()
        for axis, d in enumerate(table.grid.dimensions)
    ]
    for name, texts in _figures(table):
        names.append(name)
        columns.append(texts)
    return names, columns


def _figures(table: Table) -> Iterable[tuple[str, list[str]]]:
    yield "value", all_shown(table.value, table.scale)
    yield "status", status_letters(table.status)
    for name, level in vars(table.levels).items():
        if name != "sliding" or level.any():
            texts = all_shown(level, table.scale)
            yield name, [t if p else "" for t, p in zip(texts, table.primary.tolist(), strict=True)]
    if (np.abs(table.value) * table.weight_scale != table.weight * table.scale).any():
        yield "weight", all_shown(table.weight, table.weight_scale)
    if table.lb.any():
        yield "lb", all_shown(table.lb, table.scale)
    if (table.ub < INFINITE).any():
        yield "ub", all_shown(table.ub, table.scale)
    if table.contributors is not None:
        yield "contributors", all_shown(table.contributors, 1)


def rows_text(header: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """The text of a CSV file."""
    lines = _Lines()
    # the long line end makes the writer quote every kind of line break inside a field
    writer = csv.writer(lines, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return "\n".join(lines.written) + "\n"


class _Lines:
    """Takes the writer's lines without their ends."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, line: str) -> None:
        """One row."""
        self.written.append(line[:-2])
