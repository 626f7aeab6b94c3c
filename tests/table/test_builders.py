"""Tables built from arrays, frames and columns: marginals, hierarchies, weights, bounds, links."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gpuga.errors import InputError
from gpuga.table import INFINITE, Dimension, Status
from gpuga.table.builders import table_from_array, table_from_frame
from gpuga.table.grid import full_grid, grid_lines, keys, sum_up

COLUMNS = {
    "region": ["a", "a", "b", "b"],
    "activity": ["x", "y", "x", "y"],
    "value": [1.5, 2.25, 3.0, 4.0],
    "status": ["u", "s", "s", "z"],
}


@pytest.mark.parametrize(
    "frame",
    [COLUMNS, pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pl.DataFrame(COLUMNS).to_arrow()],
    ids=["mapping", "pandas", "polars", "arrow"],
)
def test_every_kind_of_frame_gives_the_same_table(frame: object) -> None:
    table = table_from_frame(frame)
    assert table.scale == table.weight_scale == 10_000
    assert (table.value // 100).tolist() == [150, 225, 300, 400, 450, 625, 375, 700, 1075]
    assert table.given == 4
    assert table.status[:4].tolist() == [1, 0, 0, 2]
    assert table.levels.upper[0] == 2250  # 15 % of 1.50, exactly


def test_frames_with_gaps_and_exact_decimals() -> None:
    frame = pd.DataFrame({"r": ["a", "b"], "value": [Decimal("0.1"), Decimal("0.2")], "upper": [0.05, float("nan")]})
    frame["status"] = pd.array(["u", pd.NA], dtype="string")
    table = table_from_frame(frame)
    assert table.scale == 100
    assert table.value.tolist() == [10, 20, 30]
    assert table.levels.upper.tolist() == [5, 0, 0]
    assert table.levels.lower.tolist() == [0, 0, 0]
    assert table.primary.tolist() == [True, False, False]


@settings(max_examples=50, deadline=None)
@given(arrays(np.int64, array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=4), elements=st.integers(0, 99)))
def test_added_totals_equal_the_sums_of_the_array(values: np.ndarray) -> None:  # type: ignore[type-arg]
    table = table_from_array(values)
    full = values
    for axis in range(values.ndim):
        full = np.concatenate([full, full.sum(axis=axis, keepdims=True)], axis=axis)
    assert table.grid is not None
    assert np.array_equal(np.sort(table.value), np.sort(full.ravel()))
    assert table.value[: values.size].tolist() == values.ravel().tolist()
    again = table_from_array(full, margins=True)
    assert again.given == len(again) == full.size
    assert len(again.lines) == len(table.lines)


def test_a_wrong_margin_is_refused_with_its_equation() -> None:
    with pytest.raises(InputError, match=r"d1=Total, d2=2.*does not add up"):
        table_from_array(np.array([[1, 2, 3], [4, 5, 9], [5, 6, 12]]), margins=True)


def test_missing_inner_combinations_are_absent_cells() -> None:
    table = table_from_frame({"r": ["a", "b", "b"], "c": ["x", "x", "y"], "value": [1, 2, 3]})
    assert len(table) == 3 + 2 + 2 + 1
    assert not table.lines.residual(table.value).any()


def test_a_total_that_is_not_broken_down_starts_no_line() -> None:
    table = table_from_frame({"r": ["a", "b"], "c": ["x", "Total"], "value": [1, 0]})
    assert sorted(table.value.tolist()) == [0, 1, 1, 1, 1]
    with pytest.raises(InputError, match="does not add up"):
        table_from_frame({"r": ["a", "b"], "c": ["x", "Total"], "value": [1, 5]})


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_any_marginals_may_be_missing(data: st.DataObject) -> None:
    tree = {"r": {"north": None, "a": "north", "b": "north", "c": None}}
    values = data.draw(st.lists(st.integers(1, 50), min_size=6, max_size=6))
    inner = {"r": list("aabbcc"), "c": list("xyxyxy"), "value": values}
    full = table_from_frame(inner, hierarchies=tree)
    assert full.grid is not None
    names = [d.name for d in full.grid.dimensions]
    rows = [[d.codes[i] for d, i in zip(full.grid.dimensions, at, strict=True)] for at in full.grid.coordinate.tolist()]
    kept = data.draw(st.lists(st.integers(6, len(full) - 1), unique=True))
    chosen = [*range(6), *kept]
    columns = {name: [rows[i][at] for i in chosen] for at, name in enumerate(names)}
    again = table_from_frame(columns | {"value": full.value[chosen].tolist()}, hierarchies=tree)
    assert len(again) == len(full)
    assert sorted(again.value.tolist()) == sorted(full.value.tolist())


def test_a_constant_column_does_not_double_the_table() -> None:
    table = table_from_frame({"year": [2024, 2024], "r": ["a", "b"], "value": [1, 2]})
    assert len(table) == 3


def test_hierarchies_sum_groups() -> None:
    frame = {"r": ["a", "b", "c"], "value": [1, 2, 4]}
    table = table_from_frame(frame, hierarchies={"r": {"north": None, "a": "north", "b": "north", "c": None}})
    assert sorted(table.value.tolist()) == [1, 2, 3, 4, 7]
    assert len(table.lines) == 2


def test_a_column_that_numbers_cells_is_no_dimension() -> None:
    table = table_from_frame({"r": ["a", "b"], "cell_number": [0, 1], "value": [1, 2]})
    assert table.grid is not None
    assert [d.name for d in table.grid.dimensions] == ["r"]
    only = table_from_frame({"id": ["a", "b"], "value": [1, 2]})
    assert only.grid is not None
    assert [d.name for d in only.grid.dimensions] == ["id"]
    repeated = table_from_frame({"id": ["a", "a"], "r": ["x", "y"], "value": [1, 2]})
    assert repeated.grid is not None
    assert [d.name for d in repeated.grid.dimensions] == ["id", "r"]


def test_weights_by_value_count_unit_and_logarithm() -> None:
    frame = {"r": ["a", "b"], "value": ["1.5", "2.5"], "contributors": [3, 4], "weight": [7, 8]}
    weigh = {kind: table_from_frame(frame, weights=kind) for kind in (None, "value", "count", "unit", "log")}
    assert weigh[None].weight.tolist() == [7, 8, 15]
    assert weigh["value"].weight.tolist() == [15, 25, 40]
    assert weigh["count"].weight.tolist() == [3, 4, 7]
    assert weigh["unit"].weight.tolist() == [1, 1, 1]
    assert weigh["log"].weight.tolist() == np.rint(np.log1p([1.5, 2.5, 4.0]) * 1e6).tolist()
    assert weigh["log"].weight_scale == 10**6


def test_negative_values_have_no_lower_bound_and_it_is_said() -> None:
    with pytest.warns(UserWarning, match="no lower bound"):
        table = table_from_frame({"r": ["a", "b"], "value": [-5, 7]})
    assert table.lb.tolist() == [-INFINITE] * 3
    given = table_from_frame({"r": ["a", "b", "Total"], "value": [-5, 7, 2], "lb": [-9, -9, -9]})
    assert given.lb.tolist() == [-9] * 3
    with pytest.warns(UserWarning, match="no lower bound"):
        added = table_from_frame({"r": ["a", "b"], "value": [-5, 3], "lb": [-9, -9]})
    assert added.lb.tolist() == [-9, -9, -INFINITE]


def test_zeros_are_frozen_unless_they_have_levels() -> None:
    table = table_from_frame({"r": ["a", "b"], "value": [0, 5]})
    assert table.status.tolist() == [Status.FROZEN, Status.SUPPRESSIBLE, Status.SUPPRESSIBLE]
    kept = table_from_frame({"r": ["a", "b"], "value": [0, 5], "status": ["u", "s"], "upper": [3, None]})
    assert kept.status[0] == Status.SENSITIVE


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"values": np.zeros((0, 3), int)}, "an empty array"),
        ({"values": np.array(5)}, "an empty array"),
        ({"values": np.ones((2, 2), int), "names": ["a"]}, "names or codes do not fit"),
        ({"values": np.ones((2, 2), int), "codes": [["x", "y"], ["z"]]}, "names or codes do not fit"),
        ({"values": np.ones((2, 2), int), "sensitive": np.ones(4)}, "has shape"),
    ],
)
def test_arrays_that_are_no_table_are_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        table_from_array(**arguments)


def test_an_array_keeps_its_names_codes_primaries_and_contributors() -> None:
    table = table_from_array(
        [[5, 6, 11], [7, 8, 15], [12, 14, 26]], margins=True, names=["r", "c"], codes=[["a", "b"], ["x", "y"]],
        sensitive=[[1, 0, 0], [0, 0, 0], [0, 0, 1]], contributors=[[1, 2, 3], [4, 5, 9], [5, 7, 12]],
        levels="2", weights="count",
    )  # fmt: skip
    assert table.label(1) == "cell 1 (r=a, c=y)"
    assert table.label(8) == "cell 8 (r=Total, c=Total)"
    assert table.sensitive.tolist() == [0, 8]
    assert table.levels.upper.tolist() == [2, 0, 0, 0, 0, 0, 0, 0, 2]
    assert table.weight.tolist() == [1, 2, 3, 4, 5, 9, 5, 7, 12]
    assert table_from_array([5, 6]).label(0) == "cell 0 (d1=1)"


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        ({"north": None, "a": "north", "b": "south"}, "'south' is not a code"),
        ({"north": "a", "a": "north", "b": None}, "cycle"),
    ],
)
def test_hierarchies_that_are_no_tree_are_refused(tree: dict[str, str | None], says: str) -> None:
    with pytest.raises(InputError, match=says):
        table_from_frame({"r": ["a", "b"], "value": [1, 2]}, hierarchies={"r": tree})


def test_keys_order_rows_even_when_the_grid_has_more_places_than_int64() -> None:
    random = np.random.default_rng(0)
    rows = random.integers(0, 3, (200, 50)).astype(np.int32)
    key = keys(rows, [2**20] * 50)
    order = np.lexsort(rows.T[::-1])
    assert (np.diff(key[order]) >= 0).all()
    assert len(np.unique(key)) == len(np.unique(rows, axis=0))


def test_a_million_cells_are_built_without_a_step_per_cell() -> None:
    dimension = Dimension("d", tuple(map(str, range(100))), np.array([99] * 99 + [-1], np.int32))
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        grid = full_grid([dimension] * 3)
        lines = grid_lines(grid)
        values = sum_up(np.ones((100, 100, 100), np.int64), [dimension] * 3)
    finally:
        sys.setprofile(None)
    assert not lines.residual(values.ravel()).any()
    assert len(lines) == 30_000
    assert calls < 10_000
