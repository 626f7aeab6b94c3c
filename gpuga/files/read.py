"""Any table file in or out, by its suffix: `.jj`, `.csv` (also `.tsv`, `.txt`), `.xlsx`, `.tab`, `.parquet`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, Unpack

from gpuga.errors import InputError, printable
from gpuga.files.argus import DIMENSION, TabTable, read_metadata, tab_table
from gpuga.files.atomic import write_whole
from gpuga.files.csv import CsvColumns, parse_columns, parse_csv, plain_figures, table_columns, write_csv
from gpuga.files.hrc import Files, files_of, read_hierarchy
from gpuga.files.jj import parse_jj, write_jj
from gpuga.files.notation import Written
from gpuga.files.parquet import parse_parquet, read_arrow, write_parquet
from gpuga.files.source import check_regular, read_text
from gpuga.files.wide import Long, long_text
from gpuga.files.xlsx import read_sheet, sheet_bytes
from gpuga.table.builders import frame_columns
from gpuga.table.columns import Reading, ReadingOptions, table_from_columns
from gpuga.table.groups import Column
from gpuga.table.hierarchies import Hierarchy
from gpuga.table.table import Table

CSV_SUFFIXES = (".csv", ".tsv", ".txt")


@dataclass(frozen=True, eq=False)
class Source:
    """A table with the file it came from, as it was read: its text (of a wide table or a sheet as long CSV), or its
    Arrow table.
    """

    table: Table
    path: Path
    text: str = ""
    frame: Any = None
    ignore: tuple[str, ...] = ()
    written: Written = field(default_factory=Written)

    def columns(self) -> CsvColumns:
        """The columns of the text, with figures written plainly."""
        read = parse_columns(self.text, self.path, self.written.separator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # how numbers are read was said when the table was read
            plain = plain_figures(read, self.path, self.written)
        return replace(read, columns=[list(map(str, plain[name])) for name in read.header])


Hierarchies = Mapping[str, Files | Sequence[Hierarchy]]


class WrittenOptions(TypedDict, total=False):
    """How a file is written, by the names of the fields of `Written`; what is not said is found out."""

    encoding: str | None
    separator: str | None
    decimal: str | None
    thousands: str | None
    sheet: str | None
    wide: str | None


class FileOptions(ReadingOptions, WrittenOptions, total=False):
    """What may be said of a table in a file besides its hierarchies."""


def read_table(path: str | Path, *, hierarchies: Hierarchies | None = None, **options: Unpack[FileOptions]) -> Table:
    """The table in the file `path`: .csv, .xlsx, .parquet, .jj or .tab.

    `levels` (default 15 %) is the rule for sensitive cells without levels: `15%`, `5`, `max(1,10%)`;
    `weights` is value, count, unit or log and replaces the file's; `hierarchies` gives the `.hrc` file,
    or a list of several, by dimension; `total` is the code of totals, `totals` gives it by dimension; `ignore`
    names columns that are no dimensions, `dimensions` columns that are although they look like reserved ones;
    `coincidences` lists, by dimension, codes that are the sum of others by chance.

    How the file is written is found out, and said in a warning where it is unusual: `encoding` (utf-8, cp1252),
    `separator` of columns, `decimal` (`point`, `comma`) and `thousands` (`space`, `point`, `apostrophe`, `comma`,
    `none`) signs. `sheet` is that of a workbook; `wide` names the dimension whose codes are a pivot table's header.
    """
    return read_source(path, hierarchies=hierarchies, **options).table


def read_source(path: str | Path, *, hierarchies: Hierarchies | None = None, **options: Unpack[FileOptions]) -> Source:
    """The table in a file together with the file as it was read, for writing the pattern."""
    path = Path(path)
    check_regular(path)
    form = _format(path)
    said: dict[str, Any] = dict(options)
    written = Written(**{name: said.pop(name) for name in WrittenOptions.__annotations__ if name in said})
    trees = {name: _trees(given, written.encoding) for name, given in (hierarchies or {}).items()}
    return form.read(path, Reading.of(trees, said), written)  # type: ignore[arg-type]


def _trees(given: Files | Sequence[Hierarchy], encoding: str | None) -> list[Hierarchy]:
    """The hierarchies of one dimension, read where they are files."""
    files = files_of(given)  # type: ignore[arg-type]
    return [tree if isinstance(tree, Hierarchy) else read_hierarchy(tree, encoding) for tree in files]


def plain_columns(path: Path, written: Written, dimensions: Sequence[str] = ()) -> Mapping[str, Column]:
    """The columns of a long table, whatever its format, with figures written plainly."""
    if path.suffix.lower() == ".parquet":
        return frame_columns(read_arrow(path))
    if path.suffix.lower() == ".tab":
        return parse_columns(tab_table(path, read_metadata(path), written).text, path, ",").by_name()
    text = read_sheet(path, written.sheet) if path.suffix.lower() == ".xlsx" else read_text(path, written.encoding)
    if written.wide is not None:
        return parse_columns(long_text(text, path, written, dimensions).text, path, ",").by_name()
    return plain_figures(parse_columns(text, path, written.separator), path, written)


def _read_csv(path: Path, reading: Reading, written: Written) -> Source:
    written.refuse(path, "a text file", "sheet")
    text = read_text(path, written.encoding)
    return _from_text(text, path, reading, written)


def _read_xlsx(path: Path, reading: Reading, written: Written) -> Source:
    written.refuse(path, "a workbook", "encoding", "separator")
    text = read_sheet(path, written.sheet)
    return _from_text(text, path, reading, replace(written, separator=","))


def _from_text(text: str, path: Path, reading: Reading, written: Written) -> Source:
    if written.wide is not None:
        return _from_wide(text, path, reading, written)
    return Source(parse_csv(text, path, reading, written), path, text, ignore=tuple(reading.ignore), written=written)


def _from_wide(text: str, path: Path, reading: Reading, written: Written) -> Source:
    """The table in a wide file, by way of a long one; faults name the line and the column of the file."""
    return _from_long(long_text(text, path, written, reading.dimensions), path, reading)


def _from_long(long: Long | TabTable, path: Path, reading: Reading) -> Source:
    """The table in a long text that was made of a file; faults name the line of the file."""
    plainly = Written(separator=",", decimal=".", thousands="none")
    columns = parse_columns(long.text, path, ",").by_name()
    try:
        table = table_from_columns(columns, reading, path.stem)
    except InputError as fault:
        line, code = long.place(fault.cell)
        raise InputError(fault.what, path=fault.path or path, line=line, field=code or fault.field) from None
    return Source(table, path, long.text, ignore=tuple(reading.ignore), written=plainly)


def _read_tab(path: Path, reading: Reading, written: Written) -> Source:
    """A table of tau-ARGUS; what its metadata say of totals and hierarchies holds where nothing else is said."""
    written.refuse(path, "a .tab file", "separator", "sheet", "wide")
    metadata = read_metadata(path)
    dimensions = metadata.of_kind(DIMENSION)
    totals = {one.name: one.total for one in dimensions} | dict(reading.totals)
    trees = {
        one.name: [read_hierarchy(one.hierarchy, written.encoding, one.sign)]
        for one in dimensions
        if one.hierarchy is not None and one.name not in reading.hierarchies
    }
    reading = replace(reading, totals=totals, hierarchies={**trees, **reading.hierarchies})
    return _from_long(tab_table(path, metadata, written), path, reading)


def _read_parquet(path: Path, reading: Reading, written: Written) -> Source:
    written.refuse(path, "a Parquet file", "encoding", "separator", "sheet", "wide")
    frame = read_arrow(path)
    table = parse_parquet(frame, path, reading, written)
    return Source(table, path, frame=frame, ignore=tuple(reading.ignore), written=written)


def _read_jj(path: Path, reading: Reading, written: Written) -> Source:
    written.refuse(path, "a .jj file", "separator", "decimal", "thousands", "sheet", "wide")
    _refuse_for_equations(reading, path)
    text = read_text(path, written.encoding)
    return Source(parse_jj(text, path, levels=reading.levels, weights=reading.weights), path, text)


def _refuse_for_equations(reading: Reading, path: Path) -> None:
    """A file with equations has no columns and no codes that options could say something about."""
    given = {
        "--hierarchy": reading.hierarchies,
        "--total": reading.totals or reading.total != Reading().total,
        "--ignore": reading.ignore,
        "--dimension": reading.dimensions,
        "--coincidence": reading.coincidences,
    }
    for option, said in given.items():
        if said:
            raise InputError(f"a .jj file has its equations in it and takes no {option}", path=path)


def _write_xlsx(table: Table, path: str | Path) -> None:
    """A table with dimensions as a sheet; what is no plain number in a figure's column is written as text."""
    names, columns = table_columns(table)
    dimensions = len(table.grid.dimensions) if table.grid is not None else 0
    numbers = [
        name
        for at, (name, texts) in enumerate(zip(names, columns, strict=True))
        if at >= dimensions and name != "status" and not {"inf", "-inf"} & set(texts)
    ]
    write_whole(path, sheet_bytes(names, zip(*columns, strict=True), numbers))


def _write_no_tab(table: Table, path: str | Path) -> None:
    """A `.tab` file needs its metadata beside it, which one name does not say."""
    raise InputError(
        "tables are read from .tab files, not written to them: use .csv, .xlsx, .parquet or .jj", path=path
    )


class Format(NamedTuple):
    """How tables of one kind of file are read and written."""

    read: Callable[[Path, Reading, Written], Source]
    write: Callable[[Table, Path], None]


FORMATS: dict[str, Format] = {
    ".jj": Format(_read_jj, write_jj),
    **dict.fromkeys(CSV_SUFFIXES, Format(_read_csv, write_csv)),
    ".xlsx": Format(_read_xlsx, _write_xlsx),
    ".tab": Format(_read_tab, _write_no_tab),
    ".parquet": Format(_read_parquet, write_parquet),
}
"""The formats by suffix."""


def write_table(table: Table, path: str | Path) -> None:
    """Write a `table` to `path`, a file of the kind that its suffix names; it holds all values."""
    path = Path(path)
    _format(path).write(table, path)


def _format(path: Path) -> Format:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        kinds = ", ".join(FORMATS)
        raise InputError(f"files of kind {printable(suffix or 'none')} are not known: use {kinds}", path=path)
    return FORMATS[suffix]
