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
    """Check the columns and build the table `entry`: one row per contributor and elementary cell.

    Columns: d0.. (leaf positions), net, amount, mass, waived, holder (NULL: the record stands alone), cost.
    Answers with the scales of value, weight and cost.
    """
    value, decimals = records.number(layout.value, layout.decimals)
    weight, weight_decimals = ("1", 0) if layout.weight is None else records.number(layout.weight)
    cost, cost_decimals = ("0", 0) if layout.cost is None else records.number(layout.cost)
    if layout.negative == "refuse":
        records.refuse_where(
            f"{value} < 0", layout.value,
            "is negative; choose --negative absolute if that is meant",
        )  # fmt: skip
    if layout.weight is not None:
        records.refuse_where(f"{weight} <= 0", layout.weight, "a sampling weight is above 0")
    if layout.cost is not None:
        records.refuse_where(f"{cost} < 0", layout.cost, "a cost is 0 or more")
    one = 10**weight_decimals
    _code_dimensions(records, layout, dimensions)
    _refuse_large(records, layout, value, weight, one)
    _enter(records, layout, len(dimensions), value, weight, cost, one)
    return 10**decimals, one, 10**cost_decimals


def _code_dimensions(records: Records, layout: Layout, dimensions: Sequence[Dimension]) -> None:
    """Tables `code<i>` (text -> leaf) and `above<i>` (leaf -> every code it belongs to, itself included)."""
    for i, (name, dimension) in enumerate(zip(layout.by, dimensions, strict=True)):
        leaves = np.flatnonzero(dimension.is_leaf).astype(np.int32)
        records.run(f"CREATE TABLE code{i} (text VARCHAR, position INTEGER)")
        insert_rows(records, f"code{i}", [(dimension.codes[leaf], int(leaf)) for leaf in leaves])
        _refuse_uncoded(records, name, i, dimension)
        closure = [(int(leaf), above) for leaf in leaves for above in _ancestors(dimension, int(leaf))]
        records.run(f"CREATE TABLE above{i} (leaf INTEGER, position INTEGER)")
        insert_rows(records, f"above{i}", closure)


def insert_rows(records: Records, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Append rows to a small table, a few hundred at a time."""
    for at in range(0, len(rows), 500):
        part = rows[at : at + 500]
        marks = ", ".join("(" + ", ".join("?" * len(part[0])) + ")" for _ in part)
        records.run(f"INSERT INTO {table} VALUES {marks}", [x for row in part for x in row])


def _ancestors(dimension: Dimension, leaf: int) -> list[int]:
    """The code itself, its parent, ... up to the total."""
    path = [leaf]
    while (parent := int(dimension.parent[path[-1]])) >= 0:
        path.append(parent)
    return path


def _refuse_uncoded(records: Records, name: str, i: int, dimension: Dimension) -> None:
    """Every record's code must be a leaf of its dimension."""
    records.refuse_blank(name)
    column = records.column(name)
    inner = [code for code, leaf in zip(dimension.codes, dimension.is_leaf, strict=True) if not leaf]
    sql = (
        f"SELECT min(rowid) FROM records WHERE NOT EXISTS (SELECT 1 FROM code{i} WHERE text = trim({column}))"
    )
    row = records.run(sql).fetchone()[0]
    if row is None:
        return
    code = str(records.run(f"SELECT trim({column}) FROM records WHERE rowid = ?", [row]).fetchone()[0])
    what = (
        "is a sub-total or the total, records need a code at the bottom"
        if code in inner
        else "is not in the hierarchy"
    )
    raise records.complain(int(row), name, f"code {printable(code)!r} {what}")


def _refuse_large(records: Records, layout: Layout, value: str, weight: str, one: int) -> None:
    sql = f"SELECT sum(abs({value}::HUGEINT) * greatest({weight}, {one})) FROM records"
    if int(records.run(sql).fetchone()[0]) >= LARGEST:
        raise InputError(
            "too large for exact arithmetic at this many decimals: choose fewer with --decimals",
            path=records.path, field=layout.value,
        )  # fmt: skip


def _enter(
    records: Records, layout: Layout, dimensions: int, value: str, weight: str, cost: str, one: int
) -> None:
    """Build `entry`, joining the records of one contributor within an elementary cell."""
    places = ", ".join(f"code{i}.position AS d{i}" for i in range(dimensions))
    joins = " ".join(
        f"JOIN code{i} ON code{i}.text = trim(r.{records.column(name)})" for i, name in enumerate(layout.by)
    )
    waived = "false"
    if layout.waiver is not None:
        waived = f"coalesce(lower(trim({records.column(layout.waiver)})) IN {WAIVED}, false)"
    holder = _holder(records, layout)
    raw = (
        f"SELECT {places}, {value} AS v, {weight} AS w, {waived} AS waived, {holder} AS holder,"
        f" {cost} AS cost"
        f" FROM records r {joins}"
    )
    keys = ", ".join(f"d{i}" for i in range(dimensions))
    alone = (
        f"SELECT {keys}, v * w AS net, abs(v) * {one} AS amount, greatest(w, {one}) AS mass, waived,"
        " NULL::VARCHAR AS holder, cost FROM raw WHERE holder IS NULL"
    )
    joined = (
        f"SELECT {keys}, {_joined(one)}, holder, sum(cost)::BIGINT AS cost FROM raw WHERE holder IS NOT NULL"
        f" GROUP BY {keys}, holder"
    )
    records.run(f"CREATE TABLE entry AS WITH raw AS MATERIALIZED ({raw}) {alone} UNION ALL BY NAME {joined}")
    # A holder that lies in one elementary cell only needs no joining further up.
    records.run(
        "CREATE TABLE spread AS SELECT holder FROM entry WHERE holder IS NOT NULL"
        " GROUP BY holder HAVING count(*) > 1"
    )


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
    named = [
        f"'{kind}' || nullif(trim({records.column(column)}), '')"
        for kind, column in kinds
        if column is not None
    ]
    return f"coalesce({', '.join(named)})" if named else "NULL::VARCHAR"


def collect(
    records: Records, dimensions: Sequence[Dimension], reach: int, scales: tuple[int, int, int]
) -> Cells:
    """All inhabited cells with their totals, counts and `reach` largest contributors, waived and not."""
    scale, one, cost_scale = scales
    k = len(dimensions)
    _roll_up(records, k, reach, one)
    rows = records.run(f"SELECT * FROM cell ORDER BY {_names('a', k)}").fetchall()
    coordinate = np.array([row[:k] for row in rows], np.int32).reshape(-1, k)
    contributions = [_contributions(row[k:], one) for row in rows]
    cost = np.array([int(row[k + 4]) for row in rows], np.int64)
    magnitude, least = records.run("SELECT sum(abs(net)), min(net) FROM entry").fetchone()
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
    joined = (
        f"SELECT {at}, net, abs(net) AS total, 1 AS contributors, waived::INTEGER AS waived, cost FROM held"
    )
    sums = (
        f"SELECT {climbed}, net, total, contributors, waived, cost FROM elementary {climb} UNION ALL {joined}"
    )
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
    for row in records.run(
        near.format(f"SELECT {at}, holder, net, amount, mass, waived FROM held")
    ).fetchall():
        holder, net, amount, mass, waived = row[k:]
        entry = Spread(str(holder), int(net), int(amount), int(mass), bool(waived))
        spread.setdefault(tuple(int(x) for x in row[:k]), []).append(entry)
    empty = Contributions(0, 0, 0, 0, (), one)
    keys = [tuple(int(x) for x in row) for row in cells]
    return {
        key: Makeup(settled.get(key, empty), tuple(sorted(spread.get(key, ()), key=lambda s: s.holder)))
        for key in keys
    }
