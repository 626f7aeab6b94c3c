"""Tables built in memory: from arrays and from frames (pandas, polars, Arrow)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpuga.errors import InputError, MissingExtra
from gpuga.table.columns import FigureOptions, Reading, ReadingOptions, table_from_columns
from gpuga.table.groups import Column
from gpuga.table.hierarchies import Hierarchy
from gpuga.table.table import Table

Parents = Mapping[str, str | None]
"""A hierarchy: each code's parent, None directly below the total."""


def table_from_frame(
    frame: Any,
    *,
    hierarchies: Mapping[str, Parents | Sequence[Parents]] | None = None,
    name: str = "table",
    **options: Unpack[ReadingOptions],
) -> Table:
    """A table from a pandas, polars or Arrow `frame`, or a mapping of columns; columns as in a long CSV.

    `name` is what the table is called in messages. `hierarchies` gives, per dimension, each code's parent (None:
    directly below the total), or a list of several such mappings, where several hierarchies break the codes down.
    Integer and decimal columns are taken exactly; a float stands for the shortest decimal that reads back as it. All
    other options are those of `gpuga.read_table`.
    """
    trees = {
        dimension: [
            Hierarchy(tuple(parents), tuple(parents.values()))
            for parents in ([given] if isinstance(given, Mapping) else given)
        ]
        for dimension, given in (hierarchies or {}).items()
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
    if kind in ("string", "large_string"):
        return _shared_texts(column)
    plain: list[object] = (column.cast("string") if kind.startswith("decimal") else column).to_pylist()
    return plain


def _shared_texts(column: Any) -> list[object]:
    """The texts of an Arrow column; those that repeat, such as codes, are kept once."""
    coded = column.combine_chunks().dictionary_encode()
    texts = np.array([*coded.dictionary.to_pylist(), None], dtype=object)
    number = coded.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
    shared: list[object] = texts[number].tolist()
    return shared


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
    """A table from a k-dimensional array of `values`, in row-major order.

    With `margins`, the last place along every axis is the total and is checked; otherwise totals are
    added. `sensitive` (bool, same shape) marks the primaries, `contributors` (same shape) says how many stand
    behind each cell. `names` are those of the dimensions, `codes` those of the places along each axis, totals not
    included, `name` that of the table in messages. The options `levels`, `weights` and `coincidences` are
    those of `gpuga.read_table`.
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
