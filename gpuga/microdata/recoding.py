"""Global recodings: per field an ordered list of rules that replace every score by a coarser one.

Rule 0 leaves the field as it is. The others come from a specification:

    width:5,10          equal ranges of numbers, one rule per width
    ranges:0-17;18-64|0-64      ranges given one by one, rules separated by |
    prefix:3,2          the first characters of a code, one rule per length
    hrc:FILE            the levels of a hierarchy, from the bottom up
    file:FILE           a CSV file: the code, then its recoded value under each rule

A rule must cover every score that occurs.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError, printable
from gpuga.files.hrc import read_dimension
from gpuga.table.table import Dimension

NO_CODE = "\0total"
"""The total of a recoding's hierarchy: no code can be called that."""


@dataclass(frozen=True, eq=False)
class RecodingRule:
    """One rule of a field: its name, its codes, and what each original code becomes (int32[codes])."""

    name: str
    codes: tuple[str, ...]
    image: NDArray[np.int32]


class Uncovered(InputError):
    """A rule that says nothing about some scores that occur; `codes` are their positions."""

    def __init__(self, rule: str, field: str, codes: Sequence[int]) -> None:
        super().__init__(f"recoding {printable(rule)!r} does not cover a score of this field", field=field)
        self.rule, self.codes = rule, tuple(codes)


def as_it_is(codes: Sequence[str]) -> RecodingRule:
    """The rule that changes nothing."""
    return RecodingRule("as it is", tuple(codes), np.arange(len(codes), dtype=np.int32))


def field_rules(field: str, codes: Sequence[str], specification: str | None) -> list[RecodingRule]:
    """A field's ordered rules; `codes` are the scores that occur."""
    rules = [as_it_is(codes)]
    if specification is None:
        return rules
    kind, _, rest = specification.partition(":")
    if kind == "hrc":
        mappings = _hierarchy_levels(read_dimension(rest, field, NO_CODE), codes)
    elif kind == "file":
        mappings = _from_file(Path(rest), codes)
    elif kind in SPECIFIED:
        mappings = [(part, [SPECIFIED[kind](field, part, c) for c in codes]) for part in _parts(kind, rest)]
    else:
        raise InputError(
            f"unknown recoding {printable(specification)!r}: choose width:, ranges:, prefix:, hrc: or file:",
            field=field,
        )
    rules += [_rule(field, f"{kind}:{name}", images) for name, images in mappings]
    return rules


def _parts(kind: str, text: str) -> list[str]:
    return [part.strip() for part in text.split("|" if kind == "ranges" else ",")]


def _rule(field: str, name: str, images: Sequence[str | None]) -> RecodingRule:
    """A rule from the recoded value of each code; None is not covered."""
    missing = [position for position, image in enumerate(images) if image is None]
    if missing:
        raise Uncovered(name, field, missing)
    values = [str(image) for image in images]
    codes = tuple(dict.fromkeys(values))
    at = {code: position for position, code in enumerate(codes)}
    return RecodingRule(name, codes, np.array([at[v] for v in values], np.int32))


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        return None


def _width(field: str, width: str, code: str) -> str | None:
    size, value = _number(width), _number(code)
    if size is None or size <= 0:
        raise InputError(f"recoding width {printable(width)!r} is not a number above 0", field=field)
    if value is None:
        return None
    low = value // size * size
    if size.denominator == 1 and value.denominator == 1:
        return f"{low}-{low + size - 1}"
    return f"{float(low):g}..{float(low + size):g}"


def _range(field: str, ranges: str, code: str) -> str | None:
    value = _number(code)
    for part in ranges.split(";"):
        low, high = _ends(field, part)
        if value is not None and (low is None or low <= value) and (high is None or value <= high):
            return part.strip()
    return None


def _ends(field: str, part: str) -> tuple[Fraction | None, Fraction | None]:
    """The ends of `10-19`, `65-` (no upper end) or `-5` (no lower end)."""
    low, dash, high = part.strip().partition("-")
    ends = [_number(end) if end.strip() else None for end in (low, high)]
    if not dash or any(end is None and text.strip() for end, text in zip(ends, (low, high), strict=True)):
        raise InputError(f"{printable(part)!r} is not a range such as 10-19 or 65-", field=field)
    return ends[0], ends[1]


def _prefix(field: str, length: str, code: str) -> str:
    if not length.isdigit():
        raise InputError(f"recoding prefix {printable(length)!r} is not a whole number", field=field)
    return code[: int(length)] or "*"


SPECIFIED: dict[str, Callable[[str, str, str], str | None]] = {
    "width": _width,
    "ranges": _range,
    "prefix": _prefix,
}


def _hierarchy_levels(dimension: Dimension, codes: Sequence[str]) -> list[tuple[str, list[str | None]]]:
    """One rule per level of the hierarchy below the total, from the second lowest up."""
    position = {code: p for p, code in enumerate(dimension.codes)}
    deepest = int(dimension.depth.max(initial=0))
    return [
        (f"level {level}", [_at_level(dimension, position.get(code), level) for code in codes])
        for level in range(deepest - 1, 0, -1)
    ]


def _at_level(dimension: Dimension, position: int | None, level: int) -> str | None:
    if position is None:
        return None
    while dimension.depth[position] > level:
        position = int(dimension.parent[position])
    return dimension.codes[position]


def _from_file(path: Path, codes: Sequence[str]) -> list[tuple[str, list[str | None]]]:
    """Rules from a CSV file: header, then per line a code and its recoded values."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"could not be read ({type(error).__name__})", path=path) from None
    if not lines or len(lines[0]) < 2:
        raise InputError("a recoding file has a header, a column of codes and one column per rule", path=path)
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(lines[0]):
            raise InputError("the number of columns differs from the header's", path=path, line=number)
    table = {line[0]: line for line in lines[1:]}
    return [
        (name, [table[c][column] if c in table else None for c in codes])
        for column, name in enumerate(lines[0][1:], start=1)
    ]
