"""Workbooks (`.xlsx`): one sheet as the text of a CSV table, and a table as a sheet; through openpyxl (optional).

A number is taken as a spreadsheet shows it at most, with 15 significant digits; beyond these stand the traces of binary
fractions. Formulas count with the results that were saved. A text is always a text: nothing that is written is run.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from gpuga.errors import InputError, MissingExtra, printable
from gpuga.files.csv import rows_text
from gpuga.files.source import MOST_BYTES, check_regular
from gpuga.table.columns import MOST_ROWS

SUFFIX = ".xlsx"
MOST_SHEET_ROWS = 1_048_576
"""A sheet has no more rows than this, by definition of the format."""


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("reading and writing .xlsx", "excel") from None
    return openpyxl


def check_workbooks() -> None:
    """Say early that workbooks cannot be written here."""
    _openpyxl()


def read_sheet(path: Path, sheet: str | None = None) -> str:
    """The sheet of a workbook as CSV text, commas between columns; row n of the sheet is line n."""
    check_regular(path)
    _refuse_claims(path)
    openpyxl = _openpyxl()
    try:
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            chosen = _chosen(book, sheet, path)
            chosen.reset_dimensions()  # what a file claims about its size is often wrong
            rows = [[_text(entry) for entry in row] for row in chosen.iter_rows(values_only=True, max_row=MOST_ROWS)]
    except InputError:
        raise
    except Exception as fault:  # whatever openpyxl and its parser raise for a broken workbook
        raise InputError(f"is not a readable workbook ({type(fault).__name__})", path=path) from None
    return _as_csv(rows, path)


def _refuse_claims(path: Path) -> None:
    """A few bytes can stand for very many; what the archive says of itself is judged before it is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError):
        raise InputError("is not a readable workbook (not a zip archive)", path=path) from None
    if size > MOST_BYTES:
        raise InputError(f"would unpack to {size} bytes; at most {MOST_BYTES} are possible", path=path)


def _chosen(book: Any, sheet: str | None, path: Path) -> Any:
    names = [one.title for one in book.worksheets]
    if sheet is not None:
        if sheet not in names:
            raise InputError(f"has no sheet {printable(sheet)!r}, but {_named(names)}", path=path, field="--sheet")
        return book[sheet]
    if len(names) != 1:
        raise InputError(f"has {len(names)} sheets: name one of {_named(names)} with --sheet", path=path)
    return book.worksheets[0]


def _named(names: Sequence[str]) -> str:
    return ", ".join(repr(printable(name)) for name in names[:20])


def _text(entry: object) -> str:
    """An entry as it would stand in a CSV file."""
    if entry is None:
        return ""
    if isinstance(entry, float):
        return f"{entry:.15g}"
    return entry.isoformat() if hasattr(entry, "isoformat") else str(entry)


def _as_csv(rows: list[list[str]], path: Path) -> str:
    """Rows of equal width as text; blank rows stay blank lines, so that lines are rows."""
    while rows and not any(rows[-1]):
        rows.pop()
    width = max((at + 1 for row in rows for at, text in enumerate(row) if text), default=0)
    if not width:
        raise InputError("has no entry in the sheet", path=path)
    filled = [(row + [""] * width)[:width] if any(row) else [] for row in rows]
    return rows_text(filled[0], filled[1:])


def sheet_bytes(names: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str]) -> bytes:
    """A workbook with one sheet: columns named in `numbers` as numbers, all others as texts."""
    openpyxl = _openpyxl()
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("table")

    def cell(text: str, number: bool) -> Any:
        made = WriteOnlyCell(sheet, _number(text) if number else text)
        if not number:
            made.data_type = "s"  # a text that begins like a formula stays a text
        return made

    sheet.append([cell(name, False) for name in names])
    kinds = [name in numbers for name in names]
    for count, row in enumerate(rows, 2):
        if count > MOST_SHEET_ROWS:
            raise InputError(f"a sheet has at most {MOST_SHEET_ROWS} rows: write .csv or .parquet")
        sheet.append([cell(text, kind) if text else None for text, kind in zip(row, kinds, strict=True)])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _number(text: str) -> int | float | str:
    """A number as spreadsheets hold it; one that they cannot hold exactly stays a text."""
    number = float(text)
    if f"{number:.15g}" != f"{float(f'{number:.15g}'):.15g}" or len(text.strip("-0.").replace(".", "")) > 15:
        return text
    return int(text) if text.lstrip("-").isdigit() else number
