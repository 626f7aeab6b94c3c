"""Which columns are dimensions; columns that only look like reserved ones are refused, not guessed at.

A column `Status` or `flag` that is taken for a dimension would publish every sensitive cell. So a name that is
another spelling of a reserved one, or a usual word for it, is refused until the user says what it is; and so is a
column of nothing but the letters of a status. `--dimension` and `--ignore` say it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.table.exact import is_missing
from gpuga.table.groups import Column
from gpuga.table.table import LETTERS
from gpuga.table.words import (
    FIGURE_ALIAS,
    MARK_ALIAS,
    RESERVED,
    plain,
    reserved_alike,
    slip_of_the_pen,
)

NUMBERING = ("cell_number", "index", "id")
MOST_DIMENSIONS = 50

_STATUS_LETTERS = frozenset(("", *LETTERS))
_NOT_PLAIN = (list, dict, tuple, set, bytes, bytearray, np.ndarray)
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,' \u00a0\u202f]*(?:[eE][+-]?[0-9]+)?")


class HeaderError(InputError):
    """A fault of the header itself, which files know by its line."""


def dimension_names(
    columns: Mapping[str, Column], ignore: Sequence[str] = (), dimensions: Sequence[str] = ()
) -> list[str]:
    """Which columns are dimensions, in their order; `dimensions` are so whatever they look like."""
    _check_named(columns, ignore, "--ignore")
    _check_named(columns, dimensions, "--dimension")
    if both := [name for name in ignore if name in dimensions]:
        raise InputError(f"column {printable(both[0])!r} is ignored as well", field="--dimension")
    left = [c for c in columns if c not in RESERVED and c not in ignore]
    for name in [c for c in left if c in NUMBERING and c not in dimensions]:
        entries = columns[name]
        if len(left) > 1 and len(set(map(str, entries))) == len(entries):
            left.remove(name)
    if not left:
        raise HeaderError("has no dimension: every column is reserved or ignored")
    if len(left) > MOST_DIMENSIONS:
        raise HeaderError(f"has {len(left)} dimensions, at most {MOST_DIMENSIONS} are possible: use --ignore")
    for name in left:
        if name not in dimensions:
            _refuse_alike(name, columns[name])
    return left


def value_column(columns: Mapping[str, Column]) -> Column:
    """The column `value`; where there is none, the one that was probably meant is named."""
    if "value" in columns:
        return columns["value"]
    meant = [c for c in columns if reserved_alike(c) == "value"]
    meant += [c for c in columns if _alias(c, columns[c]) == "value"]
    others = [c for c in columns if c not in RESERVED and c not in NUMBERING and _is_numeric(columns[c])]
    if not meant and len(others) == 1:
        meant = others
    hint = ""
    if meant:
        name = printable(meant[0])
        hint = f": if column {name!r} holds the values, rename it to value; of records, use --by with --value {name}"
    elif len(columns) == 1:
        hint = f", only {printable(next(iter(columns)))!r}: is --separator right?"
    elif len(others) > 1:
        hint = ": if it is a pivot table, name the dimension whose codes are its header with --wide NAME"
    raise HeaderError(f"has no column value{hint}", field="value")


def _check_named(columns: Mapping[str, Column], names: Sequence[str], option: str) -> None:
    for name in names:
        if name not in columns:
            raise InputError(f"there is no column {printable(name)!r}", field=option)
        if name in RESERVED:
            raise InputError(
                f"the name {printable(name)} is reserved: rename the column if it holds something else", field=option
            )


def _refuse_alike(name: str, entries: Column) -> None:
    meant = reserved_alike(name) or _alias(name, entries)
    if meant is None and _only_status_letters(entries):
        meant = "status"
    if meant is None and _is_numeric(entries):
        meant = slip_of_the_pen(name)
    if meant is not None:
        shown = printable(name)
        raise HeaderError(
            f"column {shown!r} looks like the reserved column {meant}: rename it to {meant} if that is what it is, "
            f"else say --dimension {shown} or leave it out with --ignore {shown}",
            field=name,
        )


def _alias(name: str, entries: Column) -> str | None:
    """The reserved column for which a name is a usual word; figures only where the entries are numbers."""
    bare = plain(name)
    if bare in MARK_ALIAS:
        return MARK_ALIAS[bare]
    return FIGURE_ALIAS[bare] if bare in FIGURE_ALIAS and _is_numeric(entries) else None


def _only_status_letters(entries: Column) -> bool:
    found = {"" if is_missing(e) else str(e).strip().lower() for e in _distinct(entries)}
    return found <= _STATUS_LETTERS and any(found)


def _is_numeric(entries: Column) -> bool:
    texts = ["" if is_missing(e) else str(e).strip() for e in _distinct(entries)]
    return any(texts) and all(not t or _NUMBER.fullmatch(t) for t in texts)


def plain_entries(column: Column, name: str) -> Sequence[object]:
    """The entries of a column, once they are known to be plain: no lists, structures or bytes."""
    entries: Sequence[object] = column.tolist() if isinstance(column, np.ndarray) else column
    odd = {kind for kind in set(map(type, entries)) if issubclass(kind, _NOT_PLAIN)}
    if odd:
        row = next(at for at, entry in enumerate(entries) if type(entry) in odd)
        raise InputError("is not a plain text or number", field=name, cell=row)
    return entries


def _distinct(entries: Column) -> set[object]:
    """The entries, each once; what cannot be compared is not looked at here."""
    try:
        return set(entries.tolist() if hasattr(entries, "tolist") else entries)
    except TypeError:
        return set()
