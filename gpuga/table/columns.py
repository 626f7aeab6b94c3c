"""Tables from columns, one row per cell: what files and frames have in common.

The columns `value` (required), `weight`, `status` or `sensitive`, `lower`, `upper`, `sliding`, `lb`, `ub`
and `contributors` are reserved; `suppression` is ignored. A column called `cell_number`, `index` or `id` in
which no entry occurs twice numbers the cells and is carried through, as long as a dimension is left.
Every other column is a dimension, unless it looks like a reserved one (`gpuga.table.headers`). Rows with an
entry in the column `members` are groups, not cells.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError, printable
from gpuga.table.exact import Decimals, decimals, is_missing
from gpuga.table.grid import Added, add_marginals, duplicates
from gpuga.table.groups import LEVELS, Column, first_group, read_groups
from gpuga.table.headers import dimension_names, plain_entries, value_column
from gpuga.table.hierarchies import Hierarchy, as_deep_as_the_table, dimension_of, refuse_holes
from gpuga.table.levels import DEFAULT_RULE, parse_rule, refuse_frozen_sensitive, refuse_negative_level
from gpuga.table.table import INFINITE, LARGEST, LETTERS, Dimension, Grid, Ints, Levels, Status, Table
from gpuga.table.undeclared import refuse_undeclared_sums, warn_without_primaries
from gpuga.table.weights import weigh
from gpuga.table.words import FIGURES, MEMBERS

MOST_ROWS = 20_000_000
"""Tables with more rows are refused, by their claims where a file makes any: they do not fit into ordinary memory."""

_STATUS = LETTERS | {"": Status.SUPPRESSIBLE}
_SENSITIVE = {"0": False, "": False, "false": False, "1": True, "true": True}


class FigureOptions(TypedDict, total=False):
    """What may be said of the figures of a table; meanings and defaults stand in `Reading`."""

    levels: str | None
    weights: str | None
    coincidences: Mapping[str, Sequence[str]] | None


class ReadingOptions(FigureOptions, total=False):
    """What may be said of the columns of a table besides its hierarchies; meanings and defaults stand in `Reading`."""

    total: str
    totals: Mapping[str, str] | None
    ignore: Sequence[str]
    dimensions: Sequence[str]
    common: Mapping[str, Sequence[Hierarchy]]
    aliases: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Reading:
    """How columns become a table.

    `levels` is the rule for sensitive cells without levels (`15%`, `5`, `max(1,10%)`; 15 % if it is None), `weights`
    one of value, count, unit and log, which replaces the weights of the source. `total` is the code of totals, `totals`
    gives it by dimension where it differs; `hierarchies` are one or several per dimension; `dimensions` and `ignore`
    name columns that are and that are no dimensions, whatever they look like; `coincidences` are codes, by
    dimension, whose values are the sum of others by chance.

    A table among others may lack dimensions of which `common` has the hierarchies, and its codes may be called
    otherwise there: `aliases` gives, by dimension, what these call a code of the table.
    """

    levels: str | None = None
    weights: str | None = None
    total: str = "Total"
    hierarchies: Mapping[str, Sequence[Hierarchy]] = field(default_factory=dict)
    ignore: Sequence[str] = ()
    dimensions: Sequence[str] = ()
    totals: Mapping[str, str] = field(default_factory=dict)
    coincidences: Mapping[str, Sequence[str]] = field(default_factory=dict)
    common: Mapping[str, Sequence[Hierarchy]] = field(default_factory=dict)
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, hierarchies: Mapping[str, Sequence[Hierarchy]], options: ReadingOptions) -> Reading:
        """From options by name; None stands for what is usual."""
        return cls(hierarchies=hierarchies, **{name: said for name, said in options.items() if said is not None})  # type: ignore[arg-type]

    def hierarchies_of(self, dimension: str, used: Iterable[str]) -> list[Hierarchy]:
        """The hierarchies of one dimension, with the names that its codes have in the table."""
        alias = self.aliases.get(dimension, {})
        own = {alias[code]: code for code in used if code in alias}
        given = self.hierarchies.get(dimension) or self.common.get(dimension, ())
        return [hierarchy.renamed(own) for hierarchy in given]

    def total_of(self, dimension: str) -> str:
        """The code of the total of one dimension."""
        return self.totals.get(dimension, self.total)


def table_from_columns(columns: Mapping[str, Column], reading: Reading, name: str = "table") -> Table:
    """A table from columns of equal length; faults carry the row as `cell` and the column as `field`."""
    if MEMBERS not in columns:
        return warn_without_primaries(_table_of_cells(columns, reading, name))
    first = first_group(columns[MEMBERS])
    cells = {c: column[:first] for c, column in columns.items() if c != MEMBERS}
    table = _table_of_cells(cells, reading, name)
    return warn_without_primaries(table if first == len(columns[MEMBERS]) else read_groups(table, columns, first))


def _table_of_cells(columns: Mapping[str, Column], reading: Reading, name: str) -> Table:
    rows = len(value_column(columns))
    if rows == 0:
        raise InputError("has no cells")
    if rows > MOST_ROWS:
        raise InputError(f"has {rows} rows, at most {MOST_ROWS} are possible")
    added = _grid(columns, reading)
    figures = {c: decimals(columns[c], c, infinite=c in ("lb", "ub")) for c in FIGURES if c in columns}
    if not figures["value"].present.all():
        raise InputError("is blank", field="value", cell=int(np.argmin(figures["value"].present)))
    digits = max(figures[c].digits for c in figures if c not in ("weight", "contributors"))
    digits += _level_digits(columns, figures, rows, reading.levels)
    given = _checked_sum(figures["value"].scaled(digits), "value")
    refuse_undeclared_sums(Grid(added.grid.dimensions, added.grid.coordinate[:rows]), given, reading.coincidences)
    value = added.sums(given)
    refuse_holes(added.grid, added.lines, value)
    status = _status(columns, rows, len(value))
    levels = _levels(figures, status, value, digits, reading.levels)
    status = _freeze_zeros(status, value, levels)
    lb, ub = _bounds(figures, value, digits)
    refuse_frozen_sensitive(status, lb, ub, levels)
    contributors = _contributors(figures, added)
    weight, weight_scale = _weights(figures, added, value, 10**digits, contributors, reading.weights)
    return Table.build(
        value,
        added.lines,
        status=status,
        weight=weight,
        lb=lb,
        ub=ub,
        levels=levels,
        scale=10**digits,
        weight_scale=weight_scale,
        grid=added.grid,
        contributors=contributors,
        name=name,
        given=rows,
        whole_levels=_whole_levels(figures, status),
    )


def _grid(columns: Mapping[str, Column], reading: Reading) -> Added:
    """The dimensions, where each row lies in them, and the marginals that are missing."""
    names = dimension_names(columns, reading.ignore, reading.dimensions)
    named = {"--hierarchy": reading.hierarchies, "--total": reading.totals, "--coincidence": reading.coincidences}
    for option, by_dimension in named.items():
        for name in by_dimension:
            if name not in names:
                had = ", ".join(map(printable, names))
                raise InputError(f"there is no dimension {printable(name)!r}; the table has {had}", field=option)
    dimensions, codes = [], []
    for name in names:
        dimension, code = _dimension(name, columns[name], reading)
        dimensions.append(dimension)
        codes.append(code)
    grid = Grid(tuple(dimensions), np.column_stack(codes).astype(np.int32))
    _warn_of_numbering(columns, names)
    if (pair := duplicates(grid)) is not None:
        raise InputError(
            f"the same cell as in row {pair[0] + 1} below the header: every cell may occur once", cell=pair[1]
        )
    return add_marginals(grid)


def _warn_of_numbering(columns: Mapping[str, Column], names: Sequence[str]) -> None:
    """A column beside others that never repeats a code is probably a number or a note, not a dimension."""
    for name in names if len(names) > 1 else ():
        entries = columns[name]
        if len(entries) > len(names) * 4 and len(set(map(str, entries))) == len(entries):
            warnings.warn(
                f"column {printable(name)!r} has a different code in every row: if it is not a dimension, "
                f"leave it out with --ignore {printable(name)}",
                stacklevel=2,
            )


def _dimension(name: str, labels: Column, reading: Reading) -> tuple[Dimension, NDArray[np.int32]]:
    """A dimension from the codes of all rows: by its hierarchy, else flat with one total."""
    entries = plain_entries(labels, name)
    position: dict[str, int] = {}
    of_entry = {
        entry: position.setdefault("" if is_missing(entry) else str(entry).strip(), len(position))
        for entry in dict.fromkeys(entries)
    }
    code = np.fromiter(map(of_entry.__getitem__, entries), np.int32, len(entries))
    if "" in position:
        raise InputError("is blank", field=name, cell=int(np.argmax(code == position[""])))
    total = reading.total_of(name)
    if hierarchies := reading.hierarchies_of(name, position):
        dimension = dimension_of(name, as_deep_as_the_table(name, hierarchies, position), total)
        place = {c: i for i, c in enumerate(dimension.codes)}
        moved = np.array([place.get(c, -1) for c in position], np.int32)[code]
        if (moved < 0).any():
            row = int(np.argmax(moved < 0))
            raise InputError(f"code {printable(str(labels[row]))!r} is not in the hierarchy", field=name, cell=row)
        return dimension, moved
    codes = list(position)
    if len(codes) > 1 and total not in position:
        codes.append(total)
    root = codes.index(total) if total in codes else 0
    parent = np.full(len(codes), root, np.int32)
    parent[root] = -1
    return Dimension(name, tuple(codes), parent), code


def _checked_sum(figures: Ints, field: str) -> Ints:
    """The figures, once their sums are known to fit into int64."""
    if float(np.abs(figures.astype(float)).sum()) >= LARGEST:
        what = "the sum of the column is too large for exact arithmetic: round its figures or use a larger unit"
        raise InputError(what, field=field)
    return figures


def _status(columns: Mapping[str, Column], rows: int, cells: int) -> NDArray[np.uint8]:
    """What may happen to each cell, from the column `status` or the column `sensitive`."""
    status = np.zeros(cells, np.uint8)
    if "status" in columns and "sensitive" in columns:
        raise InputError("both columns status and sensitive are there: keep one", field="sensitive")
    if "status" in columns:
        status[:rows] = _looked_up(columns["status"], _STATUS, "status", "s, u, z or m")
    elif "sensitive" in columns:
        marked = _looked_up(columns["sensitive"], _SENSITIVE, "sensitive", "0 or 1")
        status[:rows] = np.where(marked == 1, Status.SENSITIVE, Status.SUPPRESSIBLE)
    return status


def _looked_up(column: Column, known: Mapping[str, int], name: str, choice: str) -> NDArray[np.uint8]:
    entries = plain_entries(column, name)
    if set(map(type, entries)) != {str}:
        entries = ["" if is_missing(entry) else entry for entry in entries]
    meaning: dict[object, int] = {}
    for row, entry in _first_rows(entries):
        word = str(entry).strip().lower().removesuffix(".0")
        if word not in known:
            raise InputError(f"unknown {name} {printable(word, 20)!r}: it is {choice}", field=name, cell=row)
        meaning[entry] = int(known[word])
    return np.fromiter(map(meaning.__getitem__, entries), np.uint8, len(entries))


def _first_rows(entries: Sequence[object]) -> list[tuple[int, object]]:
    """Each distinct entry with the first row in which it stands."""
    first = dict(zip(reversed(entries), range(len(entries) - 1, -1, -1), strict=True))
    return sorted((row, entry) for entry, row in first.items())


def _levels(
    figures: Mapping[str, Decimals], status: NDArray[np.uint8], value: Ints, digits: int, rule: str | None
) -> Levels:
    """The levels that are given; sensitive cells without any get those of the rule."""
    cells = len(value)
    level = {}
    given = np.zeros(cells, bool)
    for name in LEVELS:
        level[name] = np.zeros(cells, np.int64)
        if name in figures:
            column = figures[name].scaled(digits)
            refuse_negative_level(column, name)
            level[name][: len(column)] = column
            given[: len(column)] |= figures[name].present
    sensitive = status == Status.SENSITIVE
    chosen = parse_rule(rule or DEFAULT_RULE)
    if not chosen.share and 0 < chosen.least < 1 and sensitive.any():
        share = f"{float(100 * chosen.least):g}%"
        warnings.warn(f"--levels {rule} is an amount, less than 1; write {share} if a share is meant", stacklevel=2)
    by_rule = chosen.levels(value, 10**digits)
    for name in ("lower", "upper"):
        level[name] = np.where(sensitive, np.where(given, level[name], by_rule), 0)
    return Levels(level["lower"], level["upper"], np.where(sensitive, level["sliding"], 0))


def _whole_levels(figures: Mapping[str, Decimals], status: NDArray[np.uint8]) -> bool:
    """Whether the levels that the rows of sensitive cells bring along are whole numbers."""
    columns = [figures[name] for name in LEVELS if name in figures]
    return all(c.whole(status[: len(c.mantissa)] == Status.SENSITIVE) for c in columns)


def _level_digits(columns: Mapping[str, Column], figures: Mapping[str, Decimals], rows: int, rule: str | None) -> int:
    """Decimals that the rule's levels need beyond the values', so that they are exact; 0 where none is used."""
    given = np.zeros(rows, bool)
    for name in LEVELS:
        if name in figures:
            given |= figures[name].present
    without = (_status(columns, rows, rows) == Status.SENSITIVE) & ~given
    return parse_rule(rule or DEFAULT_RULE).digits if without.any() else 0


def _freeze_zeros(status: NDArray[np.uint8], value: Ints, levels: Levels) -> NDArray[np.uint8]:
    """Zeros are never suppressed; a zero can only be sensitive when it has a level of its own."""
    zero = value == 0
    needless = zero & (status == Status.SENSITIVE) & (levels.lower + levels.upper + levels.sliding == 0)
    if needless.any():
        raise InputError(
            "a zero cell without levels cannot be sensitive: zeros are always published",
            field="status",
            cell=int(np.argmax(needless)),
        )
    frozen = zero & (status == Status.SUPPRESSIBLE)
    return np.where(frozen, Status.FROZEN, status).astype(np.uint8)


def _bounds(figures: Mapping[str, Decimals], value: Ints, digits: int) -> tuple[Ints, Ints]:
    """What an attacker knows beforehand: 0 and no upper bound, unless given; nothing with negative values."""
    lowest = np.int64(0)
    known = int(figures["lb"].present.sum()) if "lb" in figures else 0
    if (value < 0).any() and known < len(value):
        lowest = np.int64(-INFINITE)
        warnings.warn("the table has negative values: cells without lb are taken to have no lower bound", stacklevel=2)
    lb, ub = np.full(len(value), lowest), np.full(len(value), INFINITE, np.int64)
    for name, bound in (("lb", lb), ("ub", ub)):
        if name in figures:
            rows = np.flatnonzero(figures[name].present)
            bound[rows] = figures[name].bounds(digits)[rows]
    return lb, ub


def _contributors(figures: Mapping[str, Decimals], added: Added) -> Ints | None:
    """Numbers of contributors, when they are known for every row; sums for added marginals."""
    if "contributors" not in figures:
        return None
    column = figures["contributors"]
    if column.digits or (column.mantissa < 0).any():
        row = int(np.argmax(column.mantissa < 0)) if (column.mantissa < 0).any() else None
        raise InputError("is not a number of contributors", field="contributors", cell=row)
    return added.sums(_checked_sum(column.mantissa, "contributors")) if column.present.all() else None


def _weights(
    figures: Mapping[str, Decimals],
    added: Added,
    value: Ints,
    scale: int,
    contributors: Ints | None,
    kind: str | None,
) -> tuple[Ints, int]:
    """The weights asked for, else the file's (added marginals: the sum of their parts), else the values."""
    if kind is None and "weight" in figures:
        column = figures["weight"]
        given = column.scaled(column.digits)
        bad = ~column.present | (given < 0)
        if bad.any():
            row = int(np.argmax(bad))
            what = "is a negative weight" if column.present[row] else "is blank: weights are for all cells or none"
            raise InputError(what, field="weight", cell=row)
        return added.sums(_checked_sum(given, "weight")), 10**column.digits
    if kind == "count" and contributors is None and "contributors" in figures:
        return weigh(kind, value, scale, figures["contributors"].mantissa, figures["contributors"].present)
    return weigh(kind or "value", value, scale, contributors)
