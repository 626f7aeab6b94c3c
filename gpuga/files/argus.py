"""Files of tau-ARGUS: metadata (`.rda`), tables (`.tab`), records (`.asc`) and protected tables as patterns.

A `.tab` or `.asc` file has no header; what its columns are stands in the `.rda` file of the same name beside it. In the
metadata a line without a tag names a variable (of fixed-width records with its first column and its width), the tags
below it say what it is. Hierarchies are looked for in the folder of the metadata, whatever folder they are named with.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gpuga.errors import InputError, printable
from gpuga.files.csv import parse_separator, rows_text
from gpuga.files.notation import Written
from gpuga.files.source import read_text
from gpuga.table.words import FIGURES

DIMENSION = "dimension"
_PLAIN_TAGS = {"<FREQUENCY>": "contributors", "<STATUS>": "status", "<RECODEABLE>": DIMENSION, "<RECODABLE>": DIMENSION}
_NUMERIC_TAGS = {"": "value", "<COST>": "weight", "<COSTVAR>": "weight", "<LOWERPL>": "lower", "<UPPERPL>": "upper"}
_STATUS_TAGS = {"<SAFE>": "s", "<UNSAFE>": "u", "<PROTECT>": "z"}
_TOKEN = re.compile(r'"[^"]*"|\S+')
_EMPTY = ("E", "")

PUBLISHED_AS = {"S": "published", "P": "published", "U": "primary", "M": "secondary"}
"""The letters of protected tables."""


@dataclass
class Variable:
    """One column: its name, what it is, and of a dimension the code of its total and its hierarchy file."""

    name: str
    start: int = 0
    width: int = 0
    kind: str = ""
    total: str = "Total"
    hierarchy: Path | None = None
    sign: str | None = None  # what stands before the codes of the hierarchy, once a level


@dataclass
class Metadata:
    """What an `.rda` file says: the variables in their order, the separator (fixed width without one), the letters."""

    path: Path
    variables: list[Variable] = field(default_factory=list)
    separator: str | None = None
    letters: dict[str, str] = field(default_factory=lambda: {"S": "s", "U": "u", "P": "z", "M": "m"})

    def of_kind(self, kind: str) -> list[Variable]:
        """The variables of one kind."""
        return [one for one in self.variables if one.kind == kind]


def read_metadata(data: Path) -> Metadata:
    """The metadata of a file: the `.rda` file beside it."""
    path = data.with_suffix(".rda")
    if not path.exists():
        raise InputError(f"needs its metadata beside it, in {printable(path.name)}", path=data)
    found = Metadata(path)
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = [word.strip('"') if word.startswith('"') else word for word in _TOKEN.findall(line)]
        if not words:
            continue
        try:
            _take(found, words)
        except InputError as fault:
            raise fault.at(path, number) from None
        except (ValueError, IndexError):
            raise InputError(f"{printable(words[0])} is not as it should be", path=path, line=number) from None
    if not found.variables:
        raise InputError("names no variable", path=path)
    return found


def _take(found: Metadata, words: list[str]) -> None:
    """One line of metadata."""
    tag = words[0].upper()
    if not tag.startswith("<"):
        start, width = (int(words[1]), int(words[2])) if len(words) > 2 and words[1].isdigit() else (0, 0)
        found.variables.append(Variable(words[0], start, width))
    elif tag == "<SEPARATOR>":
        found.separator = _separator(words[1])
    elif tag in _STATUS_TAGS:
        found.letters = {letter: s for letter, s in found.letters.items() if s != _STATUS_TAGS[tag]}
        found.letters[words[1]] = _STATUS_TAGS[tag]
    else:
        _describe(found.variables[-1], tag, words, found.path.parent)


def _separator(text: str) -> str:
    try:
        return parse_separator(text) or ";"
    except InputError as fault:
        raise InputError(fault.what, field="<SEPARATOR>") from None


def _describe(variable: Variable, tag: str, words: list[str], folder: Path) -> None:
    """One tag of a variable; those that say nothing about what is done here are passed over."""
    if tag in _PLAIN_TAGS:
        variable.kind = _PLAIN_TAGS[tag]
    elif tag == "<NUMERIC>":
        variable.kind = _NUMERIC_TAGS.get(words[1].upper() if len(words) > 1 else "", "")
    elif tag == "<TOTCODE>":
        variable.total = words[1]
    elif tag == "<HIERCODELIST>":
        variable.hierarchy = folder / re.split(r"[\\/]", words[1])[-1]
    elif tag == "<HIERLEADSTRING>":
        variable.sign = words[1]
    elif tag == "<HIERLEVELS>":
        raise InputError("a hierarchy by digits is not read: name an .hrc file with <HIERCODELIST>")


class TabTable(NamedTuple):
    """A `.tab` table as a long one: its text, and the line in which each cell stood."""

    text: str
    lines: list[int]

    def place(self, cell: int | None) -> tuple[int | None, str | None]:
        """The line of a cell; nothing for marginals that were added."""
        return (None if cell is None or cell >= len(self.lines) else self.lines[cell]), None


def tab_table(path: Path, metadata: Metadata, written: Written) -> TabTable:
    """The long table in a `.tab` file."""
    separator = metadata.separator or ";"
    rows = list(_rows(read_text(path, written.encoding), separator, path, len(metadata.variables)))
    columns = {one.name: [row[at] for _, row in rows] for at, one in enumerate(metadata.variables)}
    names = _named(metadata)
    figures = {names[one]: columns[one] for one in names if names[one] in FIGURES}
    try:
        plain = written.numbers(figures, path, comma_separated=separator == ",")
    except InputError as fault:
        raise (fault if fault.cell is None else fault.at(path, rows[fault.cell][0])) from None
    letters = [columns[one.name] for one in metadata.of_kind("status")]
    status = [metadata.letters.get(letter, letter) for letter in letters[0]] if letters else ["s"] * len(rows)
    kept = [at for at, one in enumerate(status) if one not in _EMPTY]
    out = {**{n: columns[n] for n in names if names[n] == n}, **plain, "status": status}
    chosen = [[str(column[at]) for column in out.values()] for at in kept]
    return TabTable(rows_text(list(out), chosen), [rows[at][0] for at in kept])


def _named(metadata: Metadata) -> dict[str, str]:
    """The columns that count, with their names in a long table; dimensions keep theirs."""
    names = {one.name: one.name for one in metadata.of_kind(DIMENSION)}
    values = metadata.of_kind("value")
    if len(values) > 1 or not (values or metadata.of_kind("contributors")):
        what = f"has {len(values)} variables that could be the values: leave one <NUMERIC> without a further tag"
        raise InputError(what, path=metadata.path)
    if not values:
        return names | {metadata.of_kind("contributors")[0].name: "value"}
    for kind in ("value", "weight", "lower", "upper", "contributors"):
        names |= {one.name: kind for one in metadata.of_kind(kind)[:1]}
    return names


def _rows(text: str, separator: str, path: Path, width: int | None) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file without header, each with its line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if any(field.strip() for field in row):
                if width is not None and len(row) != width:
                    what = f"has {len(row)} fields, the metadata name {width} variables"
                    raise InputError(what, path=path, line=reader.line_num)
                yield reader.line_num, [field.strip() for field in row]
    except csv.Error as fault:
        raise InputError(f"is not separated text ({printable(fault)})", path=path, line=reader.line_num) from None


def result_columns(path: Path, dimensions: Sequence[str]) -> dict[str, list[str]]:
    """The codes and states of the cells in a protected table: codes first, then one column of letters among others."""
    text = read_text(path)
    separator = next((sign for sign in ";,\t" if sign in text.partition("\n")[0]), ";")
    rows = [row for _, row in _rows(text, separator, path, None)]
    width = min((len(row) for row in rows), default=0)
    known = {*PUBLISHED_AS, "E"}
    letters = [at for at in range(len(dimensions), width) if all(row[at] in known for row in rows)]
    if len(letters) != 1:
        what = "is not a protected table of this one: after the codes, one column has the letters S, U, M, P or E"
        raise InputError(what, path=path)
    kept = [row for row in rows if row[letters[0]] != "E"]
    columns = {name: [row[at] for row in kept] for at, name in enumerate(dimensions)}
    return columns | {"suppression": [PUBLISHED_AS[row[letters[0]]] for row in kept]}


def record_lines(lines: Iterable[str], metadata: Metadata) -> Iterator[list[str]]:
    """The records of an `.asc` file, header first: separated, or cut at the columns that the metadata name."""
    yield [one.name for one in metadata.variables]
    if metadata.separator is not None:
        for row in csv.reader(lines, delimiter=metadata.separator):
            yield [field.strip() for field in row]
        return
    for line in lines:
        if line.strip():
            yield [line[one.start - 1 : one.start - 1 + one.width].strip() for one in metadata.variables]
