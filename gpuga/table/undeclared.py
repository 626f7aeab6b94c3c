"""What a table does not declare: codes that are sums of others are refused, a lack of sensitive cells is said aloud."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from gpuga.errors import Alarm, InputError, printable
from gpuga.table.sums import MOST_CODES_FOR_NAMES, Sum, find_sums
from gpuga.table.table import Dimension, Grid, Ints, Table
from gpuga.table.words import named_like_a_total

MOST_NAMED = 4
NOTHING_SENSITIVE = "no cell of this table is sensitive"


def warn_without_primaries(table: Table) -> Table:
    """The table itself; a table in which nothing is sensitive is probably not marked as it should be."""
    if not len(table.sensitive):
        warnings.warn(
            f"{NOTHING_SENSITIVE}, so nothing will be protected: are its sensitive cells marked "
            "(status u, or sensitive 1)?",
            Alarm,
            stacklevel=2,
        )
    return table


def refuse_undeclared_sums(grid: Grid, value: Ints, coincidences: Mapping[str, Sequence[str]]) -> None:
    """Refuse codes of the given cells that are the sum of others; say which are only named like totals."""
    for dimension in grid.dimensions:
        for code in coincidences.get(dimension.name, ()):
            if code not in dimension.codes:
                what = f"dimension {printable(dimension.name)!r} has no code {printable(code)!r}"
                raise InputError(what, field="--coincidence")
    found = find_sums(grid, value, [coincidences.get(d.name, ()) for d in grid.dimensions])
    if found:
        raise _refusal(found, grid)
    for dimension in grid.dimensions:
        _note_names(dimension, coincidences.get(dimension.name, ()))


def _refusal(found: Sequence[Sum], grid: Grid) -> InputError:
    """One sentence about the first sum, which names the others."""
    first = found[0]
    dimension, code = _shown(first)
    option = f"--total {dimension}={code}" if first.of_all else f"--hierarchy {dimension}=FILE.hrc"
    others = [" of ".join(reversed(_shown(s))) for s in found[1:]]
    more = f" (likewise {_listed(others)})" if others else ""
    axis = grid.dimensions.index(first.dimension)
    return InputError(
        f"code {code!r} of dimension {dimension!r} {_what(first)} throughout the table{more}: "
        f"declare it with {option}, or, if they are equal by chance, use --coincidence {dimension}={code}",
        field=first.dimension.name,
        cell=int(np.argmax(grid.coordinate[:, axis] == first.code)),
    )


def _shown(found: Sum) -> tuple[str, str]:
    return printable(found.dimension.name), printable(found.dimension.codes[found.code])


def _what(found: Sum) -> str:
    parts = [repr(printable(found.dimension.codes[p])) for p in found.parts]
    if len(parts) == 1:
        return f"has the values of {parts[0]}"
    return "is the sum of the other codes" if found.of_all else f"is the sum of {_listed(parts)}"


def _listed(words: Sequence[str]) -> str:
    """A few words of a list, and how many more there are."""
    if len(words) == 1:
        return words[0]
    if len(words) <= MOST_NAMED:
        return f"{', '.join(words[:-1])} and {words[-1]}"
    return f"{', '.join(words[: MOST_NAMED - 1])} and {len(words) - MOST_NAMED + 1} more"


def _note_names(dimension: Dimension, coincidences: Sequence[str]) -> None:
    """A category that is called a total is worth a word, even where its numbers are no sum."""
    if not 1 < len(dimension.codes) <= MOST_CODES_FOR_NAMES:
        return
    for code, leaf in zip(dimension.codes, dimension.is_leaf.tolist(), strict=True):
        if leaf and named_like_a_total(code) and code not in coincidences:
            warnings.warn(
                f"code {printable(code)!r} of dimension {printable(dimension.name)!r} is named like a total, but "
                "is not the sum of other codes: it is taken for a category of its own",
                stacklevel=2,
            )
