"""Any table file in or out, by its suffix: `.jj`, `.csv` (also `.tsv`, `.txt`), `.parquet`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from gpuga.errors import InputError, printable
from gpuga.files.csv import parse_csv, write_csv
from gpuga.files.hrc import read_hierarchy
from gpuga.files.jj import parse_jj, write_jj
from gpuga.files.parquet import parse_parquet, read_arrow, write_parquet
from gpuga.files.source import check_regular, read_text
from gpuga.table.columns import Hierarchy, Reading, ReadingOptions
from gpuga.table.table import Table

CSV_SUFFIXES = (".csv", ".tsv", ".txt")


@dataclass(frozen=True, eq=False)
class Source:
    """A table with the file it came from, as it was read: its text, or its Arrow table."""

    table: Table
    path: Path
    text: str = ""
    frame: Any = None
    ignore: tuple[str, ...] = ()


Hierarchies = Mapping[str, str | Path | Hierarchy]


def read_table(path: str | Path, *, hierarchies: Hierarchies | None = None, **options: Unpack[ReadingOptions]) -> Table:
    """The table in a file.

    `levels` (default 15 %) is the rule for sensitive cells without levels: `15%`, `5`, `max(1,10%)`;
    `weights` is value, count, unit or log and replaces the file's; `hierarchies` gives `.hrc` files by
    dimension; `total` is the code of totals, `totals` gives it by dimension; `ignore` names columns that are no
    dimensions, `dimensions` columns that are although they look like reserved ones; `coincidences` lists, by
    dimension, codes that are the sum of others by chance.
    """
    return read_source(path, hierarchies=hierarchies, **options).table


def read_source(
    path: str | Path, *, hierarchies: Hierarchies | None = None, **options: Unpack[ReadingOptions]
) -> Source:
    """The table in a file together with the file as it was read, for writing the pattern."""
    path = Path(path)
    check_regular(path)
    form = _format(path)
    trees = {
        name: tree if isinstance(tree, Hierarchy) else read_hierarchy(tree)
        for name, tree in (hierarchies or {}).items()
    }
    return form.read(path, Reading.of(trees, options))


def _read_csv(path: Path, reading: Reading) -> Source:
    text = read_text(path)
    return Source(parse_csv(text, path, reading), path, text, ignore=tuple(reading.ignore))


def _read_parquet(path: Path, reading: Reading) -> Source:
    frame = read_arrow(path)
    return Source(parse_parquet(frame, path, reading), path, frame=frame, ignore=tuple(reading.ignore))


def _read_jj(path: Path, reading: Reading) -> Source:
    _refuse_for_equations(reading, path)
    text = read_text(path)
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


class Format(NamedTuple):
    """How tables of one kind of file are read and written."""

    read: Callable[[Path, Reading], Source]
    write: Callable[[Table, Path], None]


FORMATS: dict[str, Format] = {
    ".jj": Format(_read_jj, write_jj),
    **dict.fromkeys(CSV_SUFFIXES, Format(_read_csv, write_csv)),
    ".parquet": Format(_read_parquet, write_parquet),
}
"""The formats by suffix."""


def write_table(table: Table, path: str | Path) -> None:
    """A table as a file of the kind that the suffix names."""
    path = Path(path)
    _format(path).write(table, path)


def _format(path: Path) -> Format:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        kinds = ", ".join(FORMATS)
        raise InputError(f"files of kind {printable(suffix or 'none')} are not known: use {kinds}", path=path)
    return FORMATS[suffix]
