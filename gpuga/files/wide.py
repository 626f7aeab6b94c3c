"""Wide (pivot) tables: the codes of one dimension stand in the header, one column of values for each.

A letter after a value is its status: `120 u` is sensitive, `7 z` must be published. Blank entries are absent cells. A
wide table becomes a long one at the door; everything behind it knows long tables only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gpuga.errors import InputError, printable
from gpuga.files.csv import CsvColumns, line_of_row, parse_columns, rows_text
from gpuga.files.notation import Written
from gpuga.table.table import LETTERS
from gpuga.table.words import RESERVED

_ENTRY = re.compile(rf"(?P<number>.*?[0-9][.,]?)\s*(?P<status>[{''.join(LETTERS)}])?", re.DOTALL | re.IGNORECASE)


class Long(NamedTuple):
    """A wide table as a long one: its text, and the row and column of the file in which each cell stood."""

    text: str
    places: list[tuple[int, str]]
    file: str
    separator: str

    def place(self, cell: int | None) -> tuple[int | None, str | None]:
        """The line and the column of the file in which a cell stood; nothing for marginals that were added."""
        if cell is None or cell >= len(self.places):
            return None, None
        row, code = self.places[cell]
        return line_of_row(self.file, row, self.separator), code


def long_text(text: str, path: Path, written: Written, dimensions: Sequence[str]) -> Long:
    """The long table in the text of a wide one; `dimensions` are row labels although they may be numbers."""
    assert written.wide is not None  # this is why it is called
    read = parse_columns(text, path, written.separator)
    labels, codes = _split(read, path, written.wide, dimensions)
    columns = read.by_name()
    rows, places, numbers = [], [], {}
    for code in codes:
        parts = [_parts(entry) for entry in columns[code]]
        numbers[code] = [number for number, _ in parts]
        columns[code] = [status for _, status in parts]
    try:
        plain = written.numbers(numbers, path, comma_separated=read.delimiter == ",")
    except InputError as fault:
        line = None if fault.cell is None else line_of_row(text, fault.cell, read.delimiter)
        raise (fault if fault.path is not None else fault.at(path, line)) from None
    for row in range(read.rows):
        for code in codes:
            if (number := str(plain[code][row])).strip():
                rows.append([*(columns[name][row] for name in labels), code, number, columns[code][row]])
                places.append((row, code))
    return Long(rows_text([*labels, written.wide, "value", "status"], rows), places, text, read.delimiter)


def _split(read: CsvColumns, path: Path, wide: str, dimensions: Sequence[str]) -> tuple[list[str], list[str]]:
    """Which columns label the rows, and which hold values."""
    if reserved := [name for name in (*read.header, wide) if name in RESERVED]:
        what = f"a wide table has no column {printable(reserved[0])}: a letter after a value is its status"
        raise InputError(what, path=path, line=1)
    columns = read.by_name()
    codes = [n for n in read.header if n not in dimensions and all(not e.strip() or _is_value(e) for e in columns[n])]
    labels = [name for name in read.header if name not in codes]
    if wide in labels:
        raise InputError("is the name of another column already", path=path, field="--wide")
    if not codes or not labels:
        what = "is not a wide table: it has columns of labels, and one column of values for each code"
        raise InputError(what, path=path, field="--wide")
    return labels, codes


def _is_value(entry: str) -> bool:
    found = _ENTRY.fullmatch(entry.strip())
    return found is not None and not re.search(r"[^\W\d_]", re.sub(r"[eE](?=[+-]?[0-9])", "", found["number"]))


def _parts(entry: str) -> tuple[str, str]:
    """A value and the letter of its status."""
    found = _ENTRY.fullmatch(entry.strip())
    return (found["number"], (found["status"] or "").lower()) if found else (entry, "")
