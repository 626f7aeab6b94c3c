"""Tables built in memory: from arrays, from frames (pandas, polars, Arrow), from tables that share cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpuga.errors import InputError, MissingExtra
from gpuga.table.columns import FigureOptions, Hierarchy, Reading, ReadingOptions, table_from_columns
from gpuga.table.grid import csr_lines
from gpuga.table.groups import Column
from gpuga.table.table import Ints, Levels, Lines, Status, Table


def table_from_frame(
    frame: Any,
    *,
    hierarchies: Mapping[str, Mapping[str, str | None]] | None = None,
    name: str = "table",
    **options: Unpack[ReadingOptions],
) -> Table:
    """A table from a pandas, polars or Arrow frame, or a mapping of columns; columns as in a long CSV.

    `hierarchies` gives, per dimension, each code's parent (None: directly below the total). Integer and
    decimal columns are taken exactly; a float stands for the shortest decimal that reads back as it. All other
    options are those of `gpuga.read_table`.
    """
    trees = {
        dimension: Hierarchy(tuple(parents), tuple(parents.values()))
        for dimension, parents in (hierarchies or {}).items()
    }
    reading = Reading.of(trees, options)
    columns = frame_columns(frame)
    try:
        return table_from_columns(columns, reading, name)
    except InputError as fault:
        row = "" if fault.cell is None else f"row {fault.cell + 1}: "
        raise InputError(f"{row}{fault.what}", field=fault.field, cell=fault.cell) from None


def frame_columns(frame: Any) -> dict[str, Column]:
    """The columns of a frame as arrays or lists, by name."""
    if isinstance(frame, Mapping):
        return {str(name): column for name, column in frame.items()}
    if hasattr(frame, "column_names") and hasattr(frame, "column"):  # Arrow
        return {name: _arrow_column(frame.column(name)) for name in frame.column_names}
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):  # pandas, polars
        return {str(name): _series(frame[name]) for name in frame.columns}
    if hasattr(frame, "__arrow_c_stream__"):
        return frame_columns(_arrow_table(frame))
    raise InputError(f"a {type(frame).__name__} is not a frame: give pandas, polars, Arrow or a mapping")


def _series(series: Any) -> Column:
    """A column of pandas or polars; numbers without gaps as an array, everything else as a list."""
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iuf" and isinstance(series.dtype, np.dtype):
        return np.asarray(series)
    plain: list[object] = series.to_list()
    return plain


def _arrow_column(column: Any) -> Column:
    """A column of an Arrow table; numbers without gaps as an array, decimals as texts."""
    kind = str(column.type)
    if column.null_count == 0 and kind.startswith(("int", "uint", "float", "double")):
        numbers: NDArray[Any] = column.to_numpy()
        return numbers
    plain: list[object] = (column.cast("string") if kind.startswith("decimal") else column).to_pylist()
    return plain


def _arrow_table(frame: Any) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("reading this kind of frame", "files") from None
    return pyarrow.table(frame)


def table_from_array(
    values: ArrayLike,
    *,
    sensitive: ArrayLike | None = None,
    margins: bool = False,
    names: Sequence[str] | None = None,
    codes: Sequence[Sequence[str]] | None = None,
    contributors: ArrayLike | None = None,
    name: str = "table",
    **options: Unpack[FigureOptions],
) -> Table:
    """A table from a k-dimensional array, in row-major order.

    With `margins`, the last place along every axis is the total and is checked; otherwise totals are
    added. `sensitive` (bool, same shape) marks the primaries; `codes` names the places along each axis,
    totals not included. `levels`, `weights` and `coincidences` are those of `gpuga.read_table`.
    """
    array = np.asarray(values)
    if array.ndim == 0 or array.size == 0:
        raise InputError("an empty array is not a table")
    inner = tuple(size - 1 if margins else size for size in array.shape)
    names = names or [f"d{axis + 1}" for axis in range(array.ndim)]
    labels = codes or [[str(i + 1) for i in range(size)] for size in inner]
    if [len(axis) for axis in labels] != list(inner) or len(names) != array.ndim:
        raise InputError(f"names or codes do not fit an array of shape {array.shape}")
    columns: dict[str, Column] = {}
    places = np.unravel_index(np.arange(array.size), array.shape)
    for axis, place in enumerate(places):
        text = np.array([*labels[axis], "Total"], dtype=object)
        columns[names[axis]] = text[place]
    columns["value"] = array.ravel()
    if sensitive is not None:
        columns["sensitive"] = _same_shape(sensitive, array, "sensitive").astype(np.int64)
    if contributors is not None:
        columns["contributors"] = _same_shape(contributors, array, "contributors")
    return table_from_frame(columns, dimensions=names, name=name, **options)


def _same_shape(extra: ArrayLike, array: NDArray[Any], what: str) -> NDArray[Any]:
    extra = np.asarray(extra)
    if extra.shape != array.shape:
        raise InputError(f"has shape {extra.shape}, the values have {array.shape}", field=what)
    return extra.ravel()


@dataclass(frozen=True, eq=False)
class Linked:
    """Tables joined where they share cells; `position[t][i]` is where cell `i` of table `t` went."""

    table: Table
    position: tuple[Ints, ...]


def link(tables: Sequence[Table], name: str = "linked") -> Linked:
    """One table from several: cells with the same codes (totals left out) are the same cell.

    So a table by region and activity and one by region and size share their regional totals. Shared
    cells must agree in value; the stricter status and bounds and the larger levels hold.
    """
    units = lcm(*(t.scale for t in tables)), lcm(*(t.weight_scale for t in tables))
    tables = [t.in_units(*units) for t in tables]
    number: dict[tuple[tuple[str, str], ...], int] = {}
    position = tuple(np.array([number.setdefault(key, len(number)) for key in _cell_keys(t)], np.int64) for t in tables)
    count = len(number)
    flat = np.concatenate(position)
    value = _shared(flat, count, [t.value for t in tables], np.maximum, np.iinfo(np.int64).min)
    for table, where in zip(tables, position, strict=True):
        if (differs := np.flatnonzero(value[where] != table.value)).size:
            raise InputError(f"{table.label(int(differs[0]))} has different values in the linked tables")
    status = _merged_status(tables, position, count)
    level = [
        _shared(flat, count, [vars(t.levels)[kind] for t in tables], np.maximum, 0)
        for kind in ("lower", "upper", "sliding")
    ]
    table = Table.build(
        value,
        _joined_lines(tables, position),
        status=status,
        weight=_shared(flat, count, [t.weight for t in tables], np.maximum, 0),
        lb=_shared(flat, count, [t.lb for t in tables], np.maximum, np.iinfo(np.int64).min),
        ub=_shared(flat, count, [t.ub for t in tables], np.minimum, np.iinfo(np.int64).max),
        levels=Levels(*level),
        scale=tables[0].scale,
        weight_scale=tables[0].weight_scale,
        name=name,
        whole_levels=_whole_levels(tables),
    )
    return Linked(table, position)


def _whole_levels(tables: Sequence[Table]) -> bool | None:
    """Whether the levels that the tables' sources give are whole; None where some table leaves that open."""
    if any(t.whole_levels is False for t in tables):
        return False
    return None if any(t.whole_levels is None for t in tables) else True


def _cell_keys(table: Table) -> list[tuple[tuple[str, str], ...]]:
    """What a cell is in every table: its codes, totals left out."""
    if table.grid is None:
        raise InputError("only tables with dimensions can be linked")
    dimensions = table.grid.dimensions
    return [
        tuple(sorted((d.name, d.codes[c]) for d, c in zip(dimensions, row, strict=True) if c != d.root))
        for row in table.grid.coordinate.tolist()
    ]


def _shared(flat: Ints, count: int, columns: Sequence[Ints], merge: np.ufunc, start: int) -> Ints:
    merged = np.full(count, start, np.int64)
    merge.at(merged, flat, np.concatenate(columns))
    return merged


def _merged_status(tables: Sequence[Table], position: Sequence[Ints], count: int) -> NDArray[np.uint8]:
    """Sensitive in one table is sensitive; suppressed before stays so; frozen holds unless it contradicts."""
    having = {kind: np.zeros(count, bool) for kind in Status}
    for table, where in zip(tables, position, strict=True):
        for kind, mask in having.items():
            mask[where[table.status == kind]] = True
    hidden = having[Status.SENSITIVE] | having[Status.SUPPRESSED]
    if (clash := np.flatnonzero(hidden & having[Status.FROZEN])).size:
        raise InputError(f"cell {int(clash[0])} must be published in one linked table and suppressed in another")
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
