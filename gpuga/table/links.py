"""Links between tables: which cells of several tables are the same, and the one table that all of them make.

A cell is its codes, totals left out: the turnover of region North in a table by region and activity is that in a table
by region and size. Whoever reads both tables has the equations of both, so they are one system.
"""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lcm

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import Alarm, InputError, printable
from gpuga.table.grid import csr_lines, grid_lines, keys
from gpuga.table.groups import with_groups
from gpuga.table.hierarchies import joined
from gpuga.table.table import Dimension, Grid, Ints, Levels, Lines, Mask, Status, Table

TOTAL = "Total"
"""The code of a total where no table has one of its own."""


@dataclass(frozen=True, eq=False)
class Member:
    """A table among linked ones, and how to read its labels.

    `columns` gives the common name of a dimension that is called otherwise here, `aliases`, by common name, the common
    code of codes that are called otherwise here. Only tables of the same `measure` (turnover, persons) share cells.
    """

    table: Table
    name: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    measure: str = ""

    @classmethod
    def of(cls, given: Table | Member) -> Member:
        """A table as a member that needs no other names."""
        return given if isinstance(given, Member) else cls(given, given.name)

    @property
    def grid(self) -> Grid:
        """Where its cells lie."""
        if self.table.grid is None:
            raise InputError(
                f"table {printable(self.name)!r} has no dimensions: only tables with dimensions are linked"
            )
        return self.table.grid

    def labels(self) -> Iterator[tuple[str, Dimension, list[str]]]:
        """Its dimensions by their common names, each with its codes by theirs."""
        for dimension in self.grid.dimensions:
            name = self.columns.get(dimension.name, dimension.name)
            alias = self.aliases.get(name, {})
            codes = [alias.get(code, code) for code in dimension.codes]
            if len(set(codes)) < len(codes):
                twice = next(code for code in codes if codes.count(code) > 1)
                what = f"two codes of table {printable(self.name)!r} are called {printable(twice)!r} by their aliases"
                raise InputError(what, field=name)
            yield name, dimension, codes


@dataclass(frozen=True, eq=False)
class Linked:
    """Tables joined where they share cells; `position[t][i]` is where cell `i` of table `t` went.

    `members` are the tables in the units of the joint one.
    """

    table: Table
    position: tuple[Ints, ...]
    members: tuple[Table, ...]

    def apart(self, suppressed: Mask) -> tuple[Mask, ...]:
        """The pattern of every table, from one of the joint table."""
        return tuple(suppressed[where] for where in self.position)

    def together(self, patterns: Sequence[Mask]) -> Mask:
        """What patterns of the single tables hide from someone who reads all: what no table publishes (bool[n])."""
        hidden = np.ones(len(self.table), bool)
        for where, pattern in zip(self.position, patterns, strict=True):
            hidden[where[~np.asarray(pattern, bool)]] = False
        return hidden


def link(tables: Sequence[Table | Member], name: str = "linked") -> Linked:
    """One table, called `name`, from several `tables`: cells with the same codes (totals left out) are the same cell.

    Shared cells must agree in value; the stricter status and bounds and the larger levels hold. Groups stay, and groups
    of the same cells are one.
    """
    members = [Member.of(given) for given in tables]
    if not members:
        raise InputError("there is no table to link")
    parts = _in_common_units([member.table for member in members])
    _warn_of_unrelated_codes(members)
    dimensions, coordinates = _common_grid(members)
    number, position = _numbered(coordinates, [len(d.codes) for d in dimensions])
    grid = Grid(dimensions, number)
    cells = [_cells_only(part) for part in parts]
    value = _merged(position, [part.value for part in cells], np.maximum, len(number))
    _refuse_differences(members, cells, position, value)
    lines = _distinct(_joined_lines(cells, position))
    joint = Table.build(
        value,
        lines,
        status=_merged_status(cells, position, grid),
        weight=_merged(position, [part.weight for part in cells], np.maximum, len(number)),
        lb=_merged(position, [part.lb for part in cells], np.maximum, len(number)),
        ub=_merged(position, [part.ub for part in cells], np.minimum, len(number)),
        levels=_merged_levels(position, [part.levels for part in cells], len(number)),
        scale=parts[0].scale,
        weight_scale=parts[0].weight_scale,
        grid=grid,
        contributors=_contributors(position, cells, len(number)),
        name=name,
        whole_levels=_whole_levels(cells),
        linked=not _same_lines(lines, grid_lines(grid)),
    )
    return _with_all_groups(joint, parts, position)


def _warn_of_unrelated_codes(members: Sequence[Member]) -> None:
    """Say where two tables break a dimension down by codes of which nobody says how they are related.

    Areas in one table and their regions in another are different cells as long as no hierarchy says what they have to
    do with each other; a reader who knows it has one more equation.
    """
    by_name: dict[str, list[tuple[Member, Dimension, list[str]]]] = {}
    for member in members:
        for name, dimension, codes in member.labels():
            if len(codes) > 1:
                by_name.setdefault(name, []).append((member, dimension, codes))
    for name, found in by_name.items():
        unrelated = (
            (one, other, code)
            for one, dimension, codes in found
            for other, other_dimension, other_codes in found
            if (code := _unrelated(dimension, codes, set(other_codes) - {other_codes[other_dimension.root]}))
            is not None
        )
        if (first := next(unrelated, None)) is not None:
            one, other, code = first
            warnings.warn(
                f"code {printable(code)!r} of {printable(name)!r} in table {printable(one.name)!r} is neither a code "
                f"of table {printable(other.name)!r} nor below one: if their codes are related, give the hierarchy",
                Alarm,
                stacklevel=3,
            )


def _unrelated(dimension: Dimension, codes: Sequence[str], others: Container[str]) -> str | None:
    """A code without parts that is not among the others, and neither is any code above it but the total."""
    for leaf in np.flatnonzero(dimension.is_leaf).tolist():
        above = [leaf]
        for code in above:
            parents = {int(tree[code]) for tree in dimension.breakdowns} - {-1, dimension.root}
            above += sorted(parents - set(above))
        if not any(codes[code] in others for code in above):
            return codes[leaf]
    return None


def _in_common_units(tables: Sequence[Table]) -> list[Table]:
    units = lcm(*(t.scale for t in tables)), lcm(*(t.weight_scale for t in tables))
    return [t.in_units(*units) for t in tables]


def _common_grid(members: Sequence[Member]) -> tuple[tuple[Dimension, ...], list[NDArray[np.int32]]]:
    """The dimensions of all tables, and where the cells of each lie in them; dimensions it lacks are at their total."""
    labels = [list(member.labels()) for member in members]
    names = list(dict.fromkeys(name for known in labels for name, _, _ in known))
    coordinates = [np.zeros((len(member.grid.coordinate), len(names)), np.int32) for member in members]
    dimensions = []
    for axis, name in enumerate(names):
        found = [(at, d, codes) for at, known in enumerate(labels) for other, d, codes in known if other == name]
        if len({at for at, _, _ in found}) < len(found):
            raise InputError("two columns of one table have this name", field=name)
        dimension, places = _common_dimension(name, [(d, codes) for _, d, codes in found])
        for coordinate in coordinates:
            coordinate[:, axis] = dimension.root
        for (at, own, _), place in zip(found, places, strict=True):
            column = members[at].grid.dimensions.index(own)
            coordinates[at][:, axis] = place[members[at].grid.coordinate[:, column]]
        dimensions.append(dimension)
    return tuple(dimensions), coordinates


def _common_dimension(
    name: str, found: Sequence[tuple[Dimension, list[str]]]
) -> tuple[Dimension, list[NDArray[np.int32]]]:
    """One dimension with the codes and breakdowns of all tables, and where the codes of each went."""
    distinct = dict.fromkeys(code for _, codes in found for code in codes)
    totals = {codes[d.root] for d, codes in found if len(codes) > 1}
    totals |= {TOTAL} if len(distinct) > 1 else set(distinct)
    inner = [code for d, codes in found for at, code in enumerate(codes) if at != d.root or code not in totals]
    known = {code: at for at, code in enumerate(dict.fromkeys(inner))}
    root = len(known)
    places = []
    for d, codes in found:
        place = [root if at == d.root and code in totals else known[code] for at, code in enumerate(codes)]
        places.append(np.array(place, np.int32))
    said = next((codes[d.root] for d, codes in found if codes[d.root] in totals), TOTAL)
    if said in known:
        raise InputError(
            f"{printable(said)!r} is the total in one linked table and an ordinary code in another", field=name
        )
    parents = [
        _moved(tree, place, root + 1) for (d, _), place in zip(found, places, strict=True) for tree in d.breakdowns
    ]
    return joined(name, [*known, said], parents), places


def _moved(tree: NDArray[np.int32], place: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """The parents of one table's codes as parents of the common codes."""
    parent = np.full(count, -1, np.int32)
    part = tree >= 0
    parent[place[part]] = place[tree[part]]
    return parent


def _numbered(coordinates: Sequence[NDArray[np.int32]], shape: Sequence[int]) -> tuple[NDArray[np.int32], list[Ints]]:
    """The distinct places in the order in which they first occur, and the number of each table's cells."""
    every = np.concatenate(coordinates)
    _, first, number = np.unique(keys(every, shape), return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ends = np.cumsum([len(c) for c in coordinates])[:-1]
    return np.ascontiguousarray(every[first[order]]), np.split(rank[number], ends)


def _cells_only(table: Table) -> Table:
    """A table without its groups."""
    if not table.groups:
        return table
    cells, lines = len(table) - table.groups, len(table.lines) - table.groups
    return replace(
        table,
        **{name: getattr(table, name)[:cells] for name in ("value", "weight", "status", "lb", "ub")},
        levels=Levels(*(level[:cells] for level in vars(table.levels).values())),
        lines=table.lines.subset(np.arange(lines)),
        contributors=None if table.contributors is None else table.contributors[:cells],
        groups=0,
    )


def _with_all_groups(joint: Table, parts: Sequence[Table], position: Sequence[Ints]) -> Linked:
    """The joint table with the groups of all tables, each set of cells once with the largest levels."""
    found: dict[tuple[int, ...], NDArray[np.int64]] = {}
    named: list[list[tuple[int, ...]]] = []
    for part, where in zip(parts, position, strict=True):
        named.append([])
        first = len(part) - part.groups
        for group in range(part.groups):
            line = len(part.lines) - part.groups + group
            *cells, _ = part.lines.cell[part.lines.start[line] : part.lines.start[line + 1]].tolist()
            members = tuple(sorted(where[cells].tolist()))
            level = np.array([column[first + group] for column in vars(part.levels).values()])
            found[members] = np.maximum(found.get(members, 0), level)
            named[-1].append(members)
    if found:
        joint = with_groups(joint, list(found), Levels(*np.array(list(found.values())).T))
    number = {members: len(joint) - len(found) + at for at, members in enumerate(found)}
    all_positions = tuple(
        np.concatenate([where, np.array([number[members] for members in groups], np.int64)])
        for where, groups in zip(position, named, strict=True)
    )
    return Linked(joint, all_positions, tuple(parts))


def _whole_levels(tables: Sequence[Table]) -> bool | None:
    """Whether the levels that the tables' sources give are whole; None where some table leaves that open."""
    if any(t.whole_levels is False for t in tables):
        return False
    return None if any(t.whole_levels is None for t in tables) else True


def _refuse_differences(
    members: Sequence[Member], parts: Sequence[Table], position: Sequence[Ints], value: Ints
) -> None:
    for member, part, where in zip(members, parts, position, strict=True):
        if (differs := np.flatnonzero(value[where] != part.value)).size:
            cell = int(differs[0])
            others = [
                printable(other.name)
                for other, own, at in zip(members, parts, position, strict=True)
                if (own.value[at == where[cell]] != part.value[cell]).any()
            ]
            raise InputError(
                f"{part.label(cell)} of table {printable(member.name)!r} has different values in the linked tables: "
                f"compare {others[0]!r}, or give one of them another measure"
            )


def _merged(position: Sequence[Ints], columns: Sequence[Ints], merge: np.ufunc, count: int) -> Ints:
    limits = np.iinfo(np.int64)
    merged = np.full(count, limits.min if merge is np.maximum else limits.max, np.int64)
    merge.at(merged, np.concatenate(position), np.concatenate(columns))
    return merged


def _merged_levels(position: Sequence[Ints], levels: Sequence[Levels], count: int) -> Levels:
    kinds = ("lower", "upper", "sliding")
    return Levels(*(_merged(position, [getattr(one, kind) for one in levels], np.maximum, count) for kind in kinds))


def _contributors(position: Sequence[Ints], tables: Sequence[Table], count: int) -> Ints | None:
    """Numbers of contributors where all tables know them."""
    known = [t.contributors for t in tables if t.contributors is not None]
    return _merged(position, known, np.maximum, count) if len(known) == len(tables) else None


def _merged_status(tables: Sequence[Table], position: Sequence[Ints], grid: Grid) -> NDArray[np.uint8]:
    """Sensitive in one table is sensitive; suppressed before stays so; frozen holds unless it contradicts."""
    having = {kind: np.zeros(len(grid.coordinate), bool) for kind in Status}
    for table, where in zip(tables, position, strict=True):
        for kind, mask in having.items():
            mask[where[table.status == kind]] = True
    hidden = having[Status.SENSITIVE] | having[Status.SUPPRESSED]
    if (clash := np.flatnonzero(hidden & having[Status.FROZEN])).size:
        at = grid.coordinate[int(clash[0])]
        codes = [(d.name, d.codes[c]) for d, c in zip(grid.dimensions, at, strict=True) if c != d.root]
        cell = ", ".join(f"{printable(name)}={printable(code)}" for name, code in codes) or "grand total"
        raise InputError(f"cell ({cell}) must be published in one linked table and suppressed in another")
    status = np.where(having[Status.FROZEN], Status.FROZEN, Status.SUPPRESSIBLE)
    status = np.where(having[Status.SUPPRESSED], Status.SUPPRESSED, status)
    return np.where(having[Status.SENSITIVE], Status.SENSITIVE, status).astype(np.uint8)


def _joined_lines(tables: Sequence[Table], position: Sequence[Ints]) -> Lines:
    line, offset = [], 0
    for table in tables:
        line.append(table.lines.line_of_entry.astype(np.int64) + offset)
        offset += len(table.lines)
    cell = [where[t.lines.cell] for t, where in zip(tables, position, strict=True)]
    coef = [t.lines.coef for t in tables]
    rhs = np.concatenate([t.lines.rhs for t in tables])
    return csr_lines(offset, np.concatenate(line), np.concatenate(cell), np.concatenate(coef), rhs)


def _signatures(lines: Lines) -> list[bytes]:
    """What each line says, whatever the order of its entries."""
    order = np.lexsort((lines.cell, lines.line_of_entry))
    entries = np.stack([lines.cell[order].astype(np.int64), lines.coef[order]], axis=1)
    ends = lines.start.tolist()
    return [
        entries[start:end].tobytes() + right.to_bytes(16, "little", signed=True)
        for start, end, right in zip(ends, ends[1:], lines.rhs.tolist(), strict=False)
    ]


def _distinct(lines: Lines) -> Lines:
    """Lines without those that another one repeats."""
    first: dict[bytes, int] = {}
    for line, said in enumerate(_signatures(lines)):
        first.setdefault(said, line)
    return lines.subset(np.array(list(first.values()), np.int64))


def _same_lines(lines: Lines, others: Lines) -> bool:
    """Whether two sets of equations say the same, line by line."""
    return set(_signatures(lines)) == set(_signatures(others))
