"""Contributions: what every cell of a table, marginals included, is made of, computed by SQL in exact
integers.

A contributor is a record, or all records of one respondent, or all respondents of one holding. Most
contributors lie in one elementary cell: those are summed once per elementary cell and then added up the
hierarchies. Those that are spread over several elementary cells are joined per cell of the table, so that a
holding is one contributor there too. Sums are integers, hence the same whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError, printable
from gpuga.microdata.primary_rules import Contribution, Contributions
from gpuga.microdata.records import Records
from gpuga.table.table import LARGEST, Dimension

WAIVED = "('1', 'true', 't', 'yes', 'y')"


@dataclass(frozen=True)
class Layout:
    """Which columns of the microdata say what; `None` where the file does not know."""

    by: tuple[str, ...]
    value: str
    weight: str | None = None
    respondent: str | None = None
    holding: str | None = None
    waiver: str | None = None
    cost: str | None = None
    decimals: int | None = None
    negative: str = "refuse"

    @property
    def columns(self) -> list[str]:
        """All columns that are read, each once."""
        named = (*self.by, self.value, self.weight, self.respondent, self.holding, self.waiver, self.cost)
        return list(dict.fromkeys(c for c in named if c is not None))


@dataclass(frozen=True, eq=False)
class Cells:
    """All inhabited cells: where they lie (int32[n, k]) and what they are made of.

    `cost` int64[n] is the sum of the cost column (units of `1/cost_scale`), None without one.
    """

    coordinate: NDArray[np.int32]
    contributions: list[Contributions]
    cost: NDArray[np.int64] | None
    scale: int
    one: int
    cost_scale: int
    magnitude: int
    has_negative: bool


@dataclass(frozen=True)
class Spread:
    """A contributor of several elementary cells, as seen in one cell; `net` is its signed amount."""

    holder: str
    net: int
    amount: int
    mass: int
    waived: bool


def prepare(records: Records, layout: Layout, dimensions: Sequence[Dimension]) -> tuple[int, int, int]:
    """Check the columns and build the view `entry`: one row per contributor and elementary cell.

    Columns: d0.. (leaf positions), net, amount, mass, waived, holder (NULL: the record stands alone), cost.
    Answers with the scales of value, weight and cost.
    """
    records.write_plainly([name for name in (layout.value, layout.weight, layout.cost) if name is not None])
    value, decimals = records.number(layout.value, layout.decimals)
    weight, weight_decimals = ("1", 0) if layout.weight is None else records.number(layout.weight)
    cost, cost_decimals = ("0", 0) if layout.cost is None else records.number(layout.cost)
    _code_dimensions(records, dimensions)
    _code(records, layout, f"{value} AS v, {weight} AS w, {cost} AS cost")
    _refuse_bad(records, layout, dimensions, 10**weight_decimals)
    _enter(records, len(dimensions), 10**weight_decimals)
    return 10**decimals, 10**weight_decimals, 10**cost_decimals


def _code_dimensions(records: Records, dimensions: Sequence[Dimension]) -> None:
    """Tables `code<i>` (text -> leaf) and `above<i>` (leaf -> every code it belongs to, itself included)."""
    for i, dimension in enumerate(dimensions):
        leaves = np.flatnonzero(dimension.is_leaf).astype(np.int32)
        records.run(f"CREATE TABLE code{i} (text VARCHAR, position INTEGER)")
        insert_rows(records, f"code{i}", [(dimension.codes[leaf], int(leaf)) for leaf in leaves])
        closure = [(int(leaf), above) for leaf in leaves for above in _ancestors(dimension, int(leaf))]
        records.run(f"CREATE TABLE above{i} (leaf INTEGER, position INTEGER)")
        insert_rows(records, f"above{i}", closure)


def _code(records: Records, layout: Layout, numbers: str) -> None:
    """Table `coded`: every record as numbers; NULL where a code or a value cannot be used."""
    places = ", ".join(f"code{i}.position AS d{i}" for i in range(len(layout.by)))
    joins = " ".join(
        f"LEFT JOIN code{i} ON code{i}.text = trim(r.{records.column(name)})" for i, name in enumerate(layout.by)
    )
    waived = "false"
    if layout.waiver is not None:
        waived = f"coalesce(lower(trim({records.column(layout.waiver)})) IN {WAIVED}, false)"
    records.run(
        f"CREATE TABLE coded AS SELECT r.rowid AS row, {places}, {numbers}, {waived} AS waived,"
        f" {_holder(records, layout)} AS holder FROM records r {joins}"
    )


def insert_rows(records: Records, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Append rows to a small table, a few hundred at a time."""
    for at in range(0, len(rows), 500):
        part = rows[at : at + 500]
        marks = ", ".join("(" + ", ".join("?" * len(part[0])) + ")" for _ in part)
        records.run(f"INSERT INTO {table} VALUES {marks}", [x for row in part for x in row])


def _ancestors(dimension: Dimension, leaf: int) -> list[int]:
    """The code itself and every code above it, in any hierarchy, up to the total."""
    path = [leaf]
    for code in path:
        above = (int(tree[code]) for tree in dimension.breakdowns)
        path += [parent for parent in dict.fromkeys(above) if parent >= 0 and parent not in path]
    return path


def _refuse_bad(records: Records, layout: Layout, dimensions: Sequence[Dimension], one: int) -> None:
    """Name the first record that cannot be used, and refuse sums that would not be exact."""
    conditions = [f"d{i} IS NULL" for i in range(len(dimensions))]
    conditions += ["v IS NULL", "w IS NULL", "cost IS NULL", "v < 0", "w <= 0", "cost < 0"]
    rows = ", ".join(f"min(row) FILTER (WHERE {condition})" for condition in conditions)
    found = records.run(f"SELECT {rows}, sum(abs(v::HUGEINT) * greatest(w, {one})) FROM coded").fetchone()
    bad = dict(zip(conditions, found, strict=False))
    for i, (by, dimension) in enumerate(zip(layout.by, dimensions, strict=True)):
        if bad[f"d{i} IS NULL"] is not None:
            raise _uncoded(records, int(bad[f"d{i} IS NULL"]), by, dimension)
    numbers = {"v": layout.value, "w": layout.weight, "cost": layout.cost}
    for short, column in numbers.items():
        if column is not None and bad[f"{short} IS NULL"] is not None:
            raise records.no_number(int(bad[f"{short} IS NULL"]), column)
    senseless = [
        ("w <= 0", layout.weight, "a sampling weight is above 0"),
        ("cost < 0", layout.cost, "a cost is 0 or more"),
    ]
    if layout.negative == "refuse":
        senseless.append(("v < 0", layout.value, "is negative; choose --negative absolute if that is meant"))
    for condition, column, what in senseless:
        if column is not None and bad[condition] is not None:
            raise records.complain(int(bad[condition]), column, what)
    if int(found[-1]) >= LARGEST:
        what = "too large for exact arithmetic at this many decimals: choose fewer with --decimals"
        raise InputError(what, path=records.path, field=layout.value)


def _uncoded(records: Records, row: int, name: str, dimension: Dimension) -> InputError:
    """Every record's code must be a leaf of its dimension; what is wrong with this one."""
    column = records.column(name)
    sql = f"SELECT trim(coalesce({column}, '')) FROM records WHERE rowid = ?"
    code = str(records.run(sql, [row]).fetchone()[0])
    if not code:
        return records.complain(row, name, "is blank")
    inner = [code for code, leaf in zip(dimension.codes, dimension.is_leaf, strict=True) if not leaf]
    what = "is not in the hierarchy"
    if code in inner:
        what = "is a sub-total or the total, records need a code at the bottom"
    return records.complain(row, name, f"code {printable(code)!r} {what}")


def _enter(records: Records, dimensions: int, one: int) -> None:
    """The view `entry`: records that stand alone, and those of one contributor joined within a cell."""
    keys = _names("d", dimensions)
    records.run(
        f"CREATE TABLE joined AS SELECT {keys}, {_joined(one)}, holder, sum(cost)::BIGINT AS cost FROM coded"
        f" WHERE holder IS NOT NULL GROUP BY {keys}, holder"
    )
    records.run(
        f"CREATE VIEW entry AS SELECT {keys}, v * w AS net, abs(v) * {one} AS amount,"
        f" greatest(w, {one})::BIGINT AS mass, waived, holder, cost::BIGINT AS cost FROM coded"
        " WHERE holder IS NULL UNION ALL BY NAME SELECT * FROM joined"
    )
    # A holder that lies in one elementary cell only needs no joining further up.
    records.run("CREATE TABLE spread AS SELECT holder FROM joined GROUP BY holder HAVING count(*) > 1")


def _joined(one: int) -> str:
    """Several records as one contributor: one unit of the population with their weighted sum."""
    return (
        "sum(v * w)::BIGINT AS net,"
        f" CASE WHEN count(*) = 1 THEN max(abs(v)) * {one} ELSE abs(sum(v * w)) END::BIGINT AS amount,"
        f" CASE WHEN count(*) = 1 THEN greatest(max(w), {one}) ELSE {one} END::BIGINT AS mass,"
        " bool_and(waived) AS waived"
    )


def _holder(records: Records, layout: Layout) -> str:
    """Who a record belongs to: its holding, else its respondent, else (NULL) nobody but itself."""
    kinds = [("h", layout.holding), ("r", layout.respondent)]
    named = [f"'{kind}' || nullif(trim({records.column(column)}), '')" for kind, column in kinds if column is not None]
    return f"coalesce({', '.join(named)})" if named else "NULL::VARCHAR"


def collect(records: Records, dimensions: Sequence[Dimension], reach: int, scales: tuple[int, int, int]) -> Cells:
    """All inhabited cells with their totals, counts and `reach` largest contributors, waived and not."""
    scale, one, cost_scale = scales
    k = len(dimensions)
    _roll_up(records, k, reach, one)
    rows = records.run(f"SELECT * FROM cell ORDER BY {_names('a', k)}").fetchall()
    coordinate = np.array([row[:k] for row in rows], np.int32).reshape(-1, k)
    contributions = [_contributions(row[k:], one) for row in rows]
    cost = np.array([int(row[k + 4]) for row in rows], np.int64)
    magnitude, least = records.run("SELECT sum(abs(v) * w), min(v) FROM coded").fetchone()
    return Cells(coordinate, contributions, cost, scale, one, cost_scale, int(magnitude), int(least) < 0)


def _contributions(row: Sequence[object], one: int) -> Contributions:
    """From the columns net, total, contributors, waived, cost, open_top, waived_top."""
    net, total, contributors, waived = (int(str(x)) for x in row[:4])
    both = [
        Contribution(int(x[0]), int(x[1]), flag)
        for part, flag in ((row[5], False), (row[6], True))
        for x in (part if isinstance(part, list) else [])
    ]
    return Contributions(net, total, contributors, waived, in_order(both), one)


def in_order(contributions: Iterable[Contribution]) -> tuple[Contribution, ...]:
    """Largest first; a waived one stands behind an equal one without waiver."""
    return tuple(sorted(contributions, key=lambda c: (-c.amount, -c.mass, c.waived)))


def _names(letter: str, k: int) -> str:
    return ", ".join(f"{letter}{i}" for i in range(k))


def _climbing(k: int) -> tuple[str, str]:
    """The columns a0.. of every cell above an elementary cell d0.., and the joins that find them."""
    columns = ", ".join(f"above{i}.position AS a{i}" for i in range(k))
    return columns, " ".join(f"JOIN above{i} ON above{i}.leaf = d{i}" for i in range(k))


def _tops(reach: int) -> str:
    return ", ".join(
        f"max(row(amount, mass), {max(reach, 1)}) FILTER (WHERE {which}) AS {name}"
        for which, name in (("NOT waived", "open_top"), ("waived", "waived_top"))
    )


SUMS = ", ".join(f"sum({c})::BIGINT AS {c}" for c in ("net", "total", "contributors", "waived", "cost"))


def _roll_up(records: Records, k: int, reach: int, one: int) -> None:
    """Tables `elementary` (settled contributors), `held` (spread ones, in every cell) and `cell`."""
    low, at = _names("d", k), _names("a", k)
    climbed, climb = _climbing(k)
    records.run(
        f"CREATE TABLE elementary AS SELECT {low}, sum(net)::BIGINT AS net, sum(abs(net))::BIGINT AS total,"
        " count(*) AS contributors, count_if(waived) AS waived, sum(cost)::BIGINT AS cost,"
        f" {_tops(reach)} FROM entry WHERE holder IS NULL OR holder NOT IN (SELECT holder FROM spread)"
        f" GROUP BY {low}"
    )
    records.run(
        f"CREATE TABLE held AS SELECT {at}, holder, sum(net)::BIGINT AS net,"
        " CASE WHEN count(*) = 1 THEN max(amount) ELSE abs(sum(net)) END::BIGINT AS amount,"
        f" CASE WHEN count(*) = 1 THEN max(mass) ELSE {one} END::BIGINT AS mass,"
        " bool_and(waived) AS waived, sum(cost)::BIGINT AS cost"
        f" FROM (SELECT {climbed}, entry.* FROM entry {climb}"
        f" WHERE holder IN (SELECT holder FROM spread)) GROUP BY {at}, holder"
    )
    joined = f"SELECT {at}, net, abs(net) AS total, 1 AS contributors, waived::INTEGER AS waived, cost FROM held"
    sums = f"SELECT {climbed}, net, total, contributors, waived, cost FROM elementary {climb} UNION ALL {joined}"
    tops = f"{_unnested(k)} UNION ALL SELECT {at}, amount, mass, waived FROM held"
    records.run(f"CREATE TABLE cell AS {_cells(k, reach, sums, tops)}")


def _unnested(k: int) -> str:
    """The largest settled contributors of every elementary cell, in every cell above it."""
    climbed, climb = _climbing(k)
    return " UNION ALL ".join(
        f"SELECT {climbed}, top[1] AS amount, top[2] AS mass, {flag} AS waived"
        f" FROM (SELECT {_names('d', k)}, unnest({name}) AS top FROM elementary) {climb}"
        for name, flag in (("open_top", "false"), ("waived_top", "true"))
    )


def _cells(k: int, reach: int, sums: str, tops: str) -> str:
    """Cells from rows to be summed and rows whose largest count."""
    at = _names("a", k)
    return (
        f"SELECT * FROM (SELECT {at}, {SUMS} FROM ({sums}) GROUP BY {at})"
        f" JOIN (SELECT {at}, {_tops(reach)} FROM ({tops}) GROUP BY {at}) USING ({at})"
    )


@dataclass(frozen=True)
class Makeup:
    """A cell taken apart: what its settled contributors add up to, and each spread contributor by name."""

    settled: Contributions
    spread: tuple[Spread, ...]


def makeup(records: Records, cells: NDArray[np.int32], reach: int, one: int) -> dict[tuple[int, ...], Makeup]:
    """The make-up of some cells (int32[m, k]), for looking at several of them as one."""
    k = cells.shape[1]
    at = _names("a", k)
    climbed, climb = _climbing(k)
    records.run("CREATE OR REPLACE TABLE wanted (" + ", ".join(f"a{i} INTEGER" for i in range(k)) + ")")
    insert_rows(records, "wanted", [tuple(int(x) for x in row) for row in cells])
    near = f"SELECT * FROM ({{}}) JOIN wanted USING ({at})"
    sums = near.format(f"SELECT {climbed}, net, total, contributors, waived, cost FROM elementary {climb}")
    settled = {
        tuple(int(x) for x in row[:k]): _contributions(row[k:], one)
        for row in records.run(_cells(k, reach, sums, near.format(_unnested(k)))).fetchall()
    }
    spread: dict[tuple[int, ...], list[Spread]] = {}
    for row in records.run(near.format(f"SELECT {at}, holder, net, amount, mass, waived FROM held")).fetchall():
        holder, net, amount, mass, waived = row[k:]
        entry = Spread(str(holder), int(net), int(amount), int(mass), bool(waived))
        spread.setdefault(tuple(int(x) for x in row[:k]), []).append(entry)
    empty = Contributions(0, 0, 0, 0, (), one)
    keys = [tuple(int(x) for x in row) for row in cells]
    return {
        key: Makeup(settled.get(key, empty), tuple(sorted(spread.get(key, ()), key=lambda s: s.holder))) for key in keys
    }
