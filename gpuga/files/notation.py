"""How numbers are written: the signs for decimals and thousands, found where only one reading fits all numbers.

`1.234` alone may be one and a bit or more than a thousand; `1.234,5` and `12.5` are clear, and make all numbers beside
them clear. Where every number of a file stays unclear, the user is asked. No message repeats a number: it may belong
to a suppressed cell.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gpuga.errors import InputError, printable

Texts = Mapping[str, Sequence[object]]
"""Columns of numbers by name; only entries that are texts are looked at."""

NONE, SPACE, APOSTROPHE = "", " ", "'"
_KINDS = {SPACE: " \u00a0\u2009\u202f", APOSTROPHE: "'\u2019", ".": ".", ",": ","}
"""The signs that count as one another: all blanks that are as wide as a digit or less, both apostrophes."""

_WORDS = {"space": SPACE, "apostrophe": APOSTROPHE, "point": ".", "dot": ".", "comma": ",", "none": NONE}
_CALLED = {SPACE: "spaces", APOSTROPHE: "apostrophes", ".": "points", ",": "commas"}
SIGNS = "".join(_KINDS.values()) + "\u2212"
"""Everything but digits, a plain sign and an exponent that may stand in a number."""

_SIGNS = frozenset(SIGNS)
_TWO_POINTS = re.compile(r"\.[0-9]+\.")


@dataclass(frozen=True)
class Notation:
    """The sign before decimals, and the one between groups of three digits (none: the empty text)."""

    decimal: str = "."
    thousands: str = NONE

    @cached_property
    def number(self) -> re.Pattern[str]:
        """What a number looks like."""
        return re.compile(self.pattern)

    @property
    def pattern(self) -> str:
        """The regular expression of a number, in the words that databases know as well."""
        whole = "[0-9]+"
        if self.thousands:
            whole = f"(?:[1-9][0-9]{{0,2}}(?:[{_KINDS[self.thousands]}][0-9]{{3}})+|[0-9]+)"
        point = f"[{self.decimal}]"
        return f"[+\u2212-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"

    @property
    def dropped(self) -> str:
        """The signs that stand between thousands."""
        return _KINDS.get(self.thousands, "")

    @cached_property
    def _plainly(self) -> dict[int, str]:
        return {ord("\u2212"): "-", **dict.fromkeys(map(ord, self.dropped), ""), ord(self.decimal): "."}

    def plain(self, text: str) -> str | None:
        """The number with a point and without thousands; None where it is not written in this way."""
        return text.translate(self._plainly) if self.number.fullmatch(text) else None

    @property
    def words(self) -> str:
        """The notation for people."""
        decimal = f"decimal {'point' if self.decimal == '.' else 'comma'}"
        return f"{decimal}, thousands separated by {_CALLED[self.thousands]}" if self.thousands else decimal


PLAIN = Notation()
_ALL = tuple(
    Notation(decimal, thousands)
    for decimal, other in ((".", ","), (",", "."))
    for thousands in (NONE, SPACE, APOSTROPHE, other)
)


def parse_sign(text: str | None, option: str) -> str | None:
    """A sign that the user gives for `--decimal` or `--thousands`, as itself or in a word; None where none is given."""
    if text is None:
        return None
    sign = _WORDS.get(text.lower(), next((kind for kind, signs in _KINDS.items() if text and text in signs), None))
    if sign is None or (option == "--decimal" and sign not in (".", ",")):
        choice = "point or comma" if option == "--decimal" else "point, comma, space, apostrophe or none"
        raise InputError(f"{printable(text, 20)!r} is not one of {choice}", field=option)
    return sign


def plain_columns(columns: Texts, decimal: str | None, thousands: str | None, comma_separated: bool) -> Texts:
    """The same numbers with points and without thousands; what had to be found out is said.

    In a file whose columns are separated by commas a point is the decimal sign wherever it can be.
    """
    signs, pointed_twice = _signs(columns)
    said = decimal is not None or thousands is not None
    if not said and signs <= {"."} and (not signs or (comma_separated and not pointed_twice)):
        return columns
    notation = find_notation(columns, decimal, thousands, comma_separated)
    if notation == PLAIN and signs <= {"."}:
        return columns
    return {name: _plain_column(name, column, notation) for name, column in columns.items()}


def find_notation(columns: Texts, decimal: str | None, thousands: str | None, comma_separated: bool) -> Notation:
    """The one notation in which all numbers can be read; it is said where it is unusual and was not given."""
    notation = _found(columns, _candidates(decimal, thousands, _signs(columns)[0]), comma_separated)
    if notation != PLAIN and (decimal is None or (thousands is None and notation.thousands)):
        warnings.warn(f"numbers are read with {notation.words} (--decimal and --thousands change this)", stacklevel=3)
    return notation


def _signs(columns: Texts) -> tuple[set[str], bool]:
    """The signs in all numbers, by a quick look at them; and whether some number has two points."""
    signs: set[str] = set()
    pointed_twice = False
    for column in columns.values():
        plainly = set(map(type, column)) == {str}
        lines = "\n".join(map(str.strip, column) if plainly else [text.strip() for _, text in _texts(column)])  # type: ignore[arg-type]
        signs |= _SIGNS & set(lines)
        pointed_twice = pointed_twice or ("." in signs and _TWO_POINTS.search(lines) is not None)
    return signs, pointed_twice


def _candidates(decimal: str | None, thousands: str | None, signs: set[str]) -> list[Notation]:
    """The notations that the user leaves open; of signs between thousands only those that are there."""
    if decimal is not None and decimal == thousands:
        raise InputError("is the sign for decimals as well", field="--thousands")
    there = [NONE, *(kind for kind, alike in _KINDS.items() if not signs.isdisjoint(alike))]
    return [
        n for n in _ALL if decimal in (None, n.decimal) and n.thousands in (there if thousands is None else [thousands])
    ]


def _found(columns: Texts, candidates: Sequence[Notation], comma_separated: bool) -> Notation:
    alive = list(candidates)
    unclear: set[str] = set()
    for name, row, text in _signed(columns):
        left = [n for n in alive if n.number.fullmatch(text)]
        if not left and any(n.number.fullmatch(text) for n in candidates):
            what = "the number is written in another way than those before it: write all with the same signs"
            raise InputError(what, field=name, cell=row)
        alive = left or alive
        if alive == [PLAIN]:
            return PLAIN
        if len(alive) > 1:
            unclear.add(text)
    return _chosen(alive, unclear, comma_separated)


def _chosen(alive: Sequence[Notation], seen: set[str], comma_separated: bool) -> Notation:
    """Of the notations that fit, the first, once they are known to read the same numbers."""
    if comma_separated and PLAIN in alive and not any("," in text for text in seen):
        return PLAIN
    first = alive[0]
    for text in seen:
        readings = {Notation.plain(n, text) for n in alive} - {None}
        if len(readings) > 1:
            sign = "point" if "." in text else "comma"
            what = f"is the {sign} in its numbers a decimal {sign}, or does it separate thousands? Say --decimal point "
            raise InputError(f"{what}or --decimal comma")
    return first


def _plain_column(name: str, column: Sequence[object], notation: Notation) -> Sequence[object]:
    changed = list(column)
    for row, text in _texts(column):
        if not _SIGNS.isdisjoint(text):
            stripped = text.strip()
            plain = notation.plain(stripped)
            if plain is None and any(c.isdigit() for c in stripped):
                what = f"is not a number with {notation.words}"
                raise InputError(
                    f"{what} (--decimal and --thousands say how numbers are written)", field=name, cell=row
                )
            changed[row] = stripped if plain is None else plain
    return changed


def _signed(columns: Texts) -> Iterator[tuple[str, int, str]]:
    """The texts in which a sign stands, with their columns and rows."""
    for name, column in columns.items():
        for row, text in _texts(column):
            stripped = text.strip()
            if not _SIGNS.isdisjoint(stripped):
                yield name, row, stripped


def _texts(column: Sequence[object]) -> Iterator[tuple[int, str]]:
    return ((row, entry) for row, entry in enumerate(column) if isinstance(entry, str))


@dataclass(frozen=True)
class Written:
    """How a file is written, as far as the user says so: what is None is found out.

    `encoding` is a name such as cp1252, `separator` the sign between columns, `decimal` and `thousands` signs or words
    (comma, space), `sheet` a sheet of a workbook; `wide` names the dimension whose codes are a pivot table's header.
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    sheet: str | None = None
    wide: str | None = None

    @property
    def signs(self) -> tuple[str | None, str | None]:
        """The signs for decimals and thousands that the user gives."""
        return parse_sign(self.decimal, "--decimal"), parse_sign(self.thousands, "--thousands")

    def numbers(self, columns: Texts, path: Path, comma_separated: bool = False) -> Texts:
        """Columns of numbers as they would be written plainly; `path` is for messages."""
        try:
            return plain_columns(columns, *self.signs, comma_separated)
        except InputError as fault:
            raise (fault if fault.cell is not None or fault.field is not None else fault.at(path)) from None

    def refuse(self, path: Path, kind: str, *names: str) -> None:
        """Refuse what says nothing about a file of that kind."""
        for name in names:
            if getattr(self, name) is not None:
                raise InputError(f"{kind} takes no --{name}", path=path)
