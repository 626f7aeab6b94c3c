"""How large the table in a file is, found in one pass that keeps no row: rows, dimensions and their codes."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from math import prod
from pathlib import Path

from gpuga.errors import InputError, printable
from gpuga.files.csv import find_separator, parse_separator
from gpuga.files.parquet import distinct_entries
from gpuga.files.source import check_regular, encoding_of
from gpuga.table.headers import NUMBERING
from gpuga.table.words import RESERVED

HEAD = 2**16
MOST_CODES = 1_000_000
"""Codes of a dimension are counted up to here."""


@dataclass(frozen=True)
class Extent:
    """The size of a table in a file: its rows (of a .jj file its cells), its bytes, and the codes of its dimensions.

    `entries` are the entries of the equations that a .jj file has, 0 where the dimensions give the equations.
    """

    rows: int
    size: int
    codes: dict[str, int]
    sensitive: int = 0
    entries: int = 0

    @property
    def most_cells(self) -> int:
        """How many cells the table has at the most, once all totals without sub-totals are there."""
        if not self.codes:
            return self.rows
        full = prod(count + 1 for count in self.codes.values())
        return max(self.rows, min(full, self.rows << len(self.codes)))

    @property
    def dimensions(self) -> int:
        """How many equations a cell is in, about."""
        return len(self.codes) or max(1, round(self.entries / max(1, self.rows)))


def extent_of(path: str | Path, total: str = "Total") -> Extent:
    """The extent of a .csv, .parquet or .jj table; `total` is the code of its totals."""
    path = Path(path)
    check_regular(path)
    kind = path.suffix.lower()
    if kind == ".parquet":
        rows, codes = distinct_entries(path, _may_be_dimension)
        found = {name: len(entries - {total}) for name, entries in codes.items()}
        return Extent(rows, path.stat().st_size, found)
    if kind == ".jj":
        return _of_equations(path)
    if kind in (".csv", ".tsv", ".txt"):
        return _of_rows(path, total)
    raise InputError("the size of such files is not looked at: use .csv, .parquet or .jj", path=path)


def _may_be_dimension(name: str) -> bool:
    return name not in RESERVED and name not in NUMBERING


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a text file, one at a time."""
    with path.open("rb") as file:
        encoding = encoding_of(_whole_lines(file.read(HEAD)), path)
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        yield text


def _whole_lines(head: bytes) -> bytes:
    """The beginning of a file up to its last line break: a character cut in two would look like another encoding."""
    return head[: head.rfind(b"\n") + 1] or head


def _of_rows(path: Path, total: str) -> Extent:
    with _opened(path) as text:
        head = "".join(islice(text, 50))
    separator = parse_separator(find_separator(head, path)) or ","
    with _opened(path) as text:
        rows = csv.reader(text, delimiter=separator)
        try:
            header = [name.strip() for name in next(rows, [])]
            return _counted(header, rows, path, total)
        except csv.Error as fault:
            raise InputError(f"is not CSV ({printable(fault)})", path=path, line=rows.line_num) from None


def _counted(header: list[str], rows: Iterator[list[str]], path: Path, total: str) -> Extent:
    """Rows, codes and sensitive cells, counted row by row."""
    axes = [at for at, name in enumerate(header) if _may_be_dimension(name)]
    status = header.index("status") if "status" in header else -1
    seen: list[set[str]] = [set() for _ in axes]
    count = sensitive = 0
    for row in rows:
        if len(row) != len(header):
            continue  # blank lines here, faults when the table is read
        count += 1
        sensitive += row[status].strip().lower() == "u" if status >= 0 else 0
        for codes, at in zip(seen, axes, strict=True):
            if len(codes) < MOST_CODES:
                codes.add(row[at])
    found = {header[at]: len(codes - {total}) for at, codes in zip(axes, seen, strict=True)}
    return Extent(count, path.stat().st_size, found, sensitive)


def _of_equations(path: Path) -> Extent:
    """A .jj file says its number of cells in its second line; what follows them are equations."""
    with _opened(path) as text:
        lines = iter(text)
        next(lines, "")
        try:
            cells = int(next(lines, ""))
        except ValueError:
            raise InputError("is not a number of cells", path=path, line=2) from None
        sensitive = sum(line.split()[3:4] == ["u"] for line in islice(lines, cells))
        entries = sum(line.count("(") for line in lines)
    return Extent(cells, path.stat().st_size, {}, sensitive, entries)
