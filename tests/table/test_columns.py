"""What columns say becomes the table: statuses, levels, bounds, weights, contributors; faults name row and field."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.table import INFINITE, Lines, Status, Table
from gpuga.table.builders import table_from_frame
from gpuga.table.columns import Reading, table_from_columns
from gpuga.table.squares import Incidence, corner, corners, join_parallels, lies_on, root_of, shared, span_squares
from gpuga.table.two_way import two_way_table


def table(**columns: Any) -> Table:
    """Four regions, the first sensitive where nothing else is said."""
    given: dict[str, Any] = {"r": ["a", "b", "c", "d"], "value": [10, 25, 31, 47]}
    if not {"status", "sensitive"} & columns.keys():
        given["status"] = ["u", "s", "s", "s"]
    return table_from_frame(given | columns)


@pytest.mark.parametrize(
    ("words", "statuses"),
    [
        (["u", "s", "z", "m"], [1, 0, 2, 3]),
        ([" U ", "", None, "S"], [1, 0, 0, 0]),
    ],
)
def test_statuses_are_letters(words: list[str], statuses: list[int]) -> None:
    assert table(status=words).status[:4].tolist() == statuses


@pytest.mark.parametrize(
    "words", [[1, 0, 1, 0], ["1", "0", "true", "False"], [1.0, 0.0, 1.0, float("nan")], [True, False, True, None]]
)
def test_sensitive_cells_may_be_marked_by_numbers_or_words(words: list[Any]) -> None:
    assert table(sensitive=words).status[:4].tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("columns", "field", "row"),
    [
        ({"status": ["u", "s", "q", "x"]}, "status", 2),
        ({"sensitive": [1, 0, 0, "maybe"]}, "sensitive", 3),
        ({"value": [1, None, 3, None]}, "value", 1),
        ({"r": ["a", "b", " ", "d"]}, "r", 2),
        ({"lower": [1, None, -1, None]}, "lower", 2),
        ({"sliding": [None, None, None, -1]}, "sliding", 3),
        ({"weight": [1, 2, -3, -4]}, "weight", 2),
        ({"weight": [1, None, 3, 4]}, "weight", 1),
        ({"contributors": [1, 2, 3, -4]}, "contributors", 3),
        ({"contributors": [0, -2, 3, 4]}, "contributors", 1),
        ({"contributors": [1, 2, 3, 1.5]}, "contributors", None),
        ({"contributors": [1, 0, 3, 1.5]}, "contributors", None),
        ({"value": [0, 25, 31, 47]}, "status", 0),
        ({"lb": [10, None, None, None], "ub": [10, None, None, None]}, "lb", 0),
        ({"lb": [11, None, None, None]}, "lb", 0),
        ({"r": ["a", "b", "c", "a"]}, None, 3),
    ],
)  # fmt: skip
def test_a_fault_names_its_field_and_row(columns: dict[str, Any], field: str | None, row: int | None) -> None:
    with pytest.raises(InputError) as fault:
        table(**columns)
    assert fault.value.field == field
    assert fault.value.cell == row


def test_levels_that_are_given_stand_and_others_follow_the_rule() -> None:
    made = table(status=["u", "u", "u", "s"], lower=[3, None, None, 9], sliding=[None, None, 4, None])
    by = made.scale
    assert by == 100  # fifteen percent have two decimals more
    assert made.levels.lower.tolist() == [3 * by, 375, 0, 0, 0]
    assert made.levels.upper.tolist() == [0, 375, 0, 0, 0]
    assert made.levels.sliding.tolist() == [0, 0, 4 * by, 0, 0]
    assert made.whole_levels is True
    given = table(upper=["2.5", None, None, None])
    assert given.scale == 10
    assert given.levels.upper.tolist() == [25, 0, 0, 0, 0]
    assert given.whole_levels is False
    assert table(lower=[0, None, None, None]).levels.upper.tolist() == [0, 0, 0, 0, 0]


def test_bounds_are_zero_and_open_unless_given() -> None:
    made = table(lb=[2, None, 3, None], ub=[None, 99, None, "inf"])
    by = made.scale
    assert made.lb.tolist() == [2 * by, 0, 3 * by, 0, 0]
    assert made.ub.tolist() == [INFINITE, 99 * by, INFINITE, INFINITE, INFINITE]


def test_a_frozen_cell_may_be_sensitive_only_without_levels() -> None:
    columns = {"lb": [10, None, None, None], "ub": [10, None, None, None], "lower": [0] * 4, "upper": [0] * 4}
    assert table(**columns).sensitive.tolist() == [0]
    kept = table(value=[0, 25, 31, 47], upper=[5, None, None, None])
    assert kept.status[0] == Status.SENSITIVE


def test_contributors_of_added_totals_are_sums_and_unknown_ones_are_none() -> None:
    made = table(contributors=[1, 2, 3, 0])
    assert made.contributors is not None
    assert made.contributors.tolist() == [1, 2, 3, 0, 6]
    assert table(contributors=[1, None, 3, 4]).contributors is None
    with pytest.raises(InputError, match="is blank, but weights by count need it") as fault:
        table_from_frame({"r": ["a", "b"], "value": [1, 2], "contributors": [4, None]}, weights="count")
    assert fault.value.cell == 1


@pytest.mark.parametrize("field", ["value", "weight", "contributors"])
def test_sums_of_columns_fit_into_64_bits_or_are_refused(field: str) -> None:
    most = 2**58
    small = {"value": [most - 1, 1, 1, 1], "status": ["s"] * 4, field: [most - 1, 1, 1, 1]}
    assert len(table(**small)) == 5
    with pytest.raises(InputError, match="too large") as fault:
        table(**(small | {field: [2**59, 2**58, 2**58, 1]}))
    assert fault.value.field == field


def test_weights_are_the_files_the_values_or_what_is_asked_for() -> None:
    assert table(weight=["1.5", 2, 3, 4]).weight.tolist() == [15, 20, 30, 40, 105]
    assert table(weight=["1.5", 2, 3, 4]).weight_scale == 10
    plain = table(status=["s"] * 4)
    assert plain.weight.tolist() == plain.value.tolist() == [10, 25, 31, 47, 113]


def test_many_codes_that_never_repeat_are_wondered_at() -> None:
    columns = {
        "r": ["a", "b", "c"] * 3,
        "note": [f"n{i}" for i in range(9)],
        "value": list(range(20, 29)),
        "status": ["s"] * 9,
    }
    with pytest.warns(UserWarning, match="'note' has a different code in every row"):
        table_from_frame(columns)


def lines_of(*lines: list[int], cells: int) -> Incidence:
    """Lines in compressed rows, and their transpose."""
    start = np.concatenate([[0], np.cumsum([len(line) for line in lines])])
    cell = np.concatenate(lines).astype(np.int32)
    through = [[at for at, line in enumerate(lines) if c in line] for c in range(cells)]
    cell_start = np.concatenate([[0], np.cumsum([len(t) for t in through])])
    return Incidence(start, cell, cell_start, np.concatenate(through).astype(np.int32))


GRID = lines_of([0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], cells=9)
"""Three rows, then three columns."""


def test_cells_of_lines_are_found() -> None:
    web = lines_of([1, 4, 6, 9], [0, 4, 9], [2, 3], cells=10)
    out = np.full(2, -1, np.int32)
    assert shared(web, 0, 1, out) == 2
    assert out.tolist() == [4, 9]
    assert shared(web, 1, 2, out) == 0
    assert shared(web, 0, 0, out) == 4
    assert [lies_on(web, 0, x) for x in range(11)] == [x in (1, 4, 6, 9) for x in range(11)]
    assert [lies_on(web, 2, x) for x in (1, 2, 3, 4)] == [False, True, True, False]


def test_groups_have_one_representative() -> None:
    group = np.array([0, 0, 1, 2, 4])
    assert [root_of(group, at) for at in range(5)] == [0, 0, 0, 0, 4]
    assert group[3] in (0, 1)


def test_two_lines_that_cross_have_a_fourth_corner() -> None:
    sides = np.zeros(2, np.int64)
    assert corner(GRID, 0, 3, 0, 1, 3, sides)  # row 0 and column 0 meet in 0; from 1 and 3 on to 4
    assert sides.tolist() == [1, 4]
    assert corners(GRID, 0, 3, 0, False, sides) == (4, 4)
    assert corners(GRID, 0, 3, 0, True, sides) == (1, 1)
    star = lines_of([0, 1, 2], [0, 3, 4], cells=5)
    assert corners(star, 0, 1, 0, False, sides) == (0, 4)
    long = lines_of(list(range(9)), [0, *range(9, 17)], cells=17)
    assert corners(long, 0, 1, 0, False, sides) == (0, 16)  # four neighbours on each are enough


def test_rows_are_joined_with_rows_and_columns_with_columns() -> None:
    group = np.arange(6)
    join_parallels(GRID, group)
    roots = [root_of(group, at) for at in range(6)]
    assert len(set(roots[:3])) == len(set(roots[3:])) == 1
    assert roots[0] != roots[3]
    twice = lines_of([0, 1, 2], [0, 1, 3], [4, 5], cells=6)
    group = np.arange(3)
    join_parallels(twice, group)
    assert root_of(group, 0) == root_of(group, 1) != root_of(group, 2)


def test_squares_between_kinds_of_lines_are_counted() -> None:
    squares, tries = span_squares(GRID, np.array([0, 0, 0, 1, 1, 1]), 2, 1)
    assert squares.tolist() == tries.tolist() == [[0, 36], [36, 0]]
    star = lines_of([0, 1, 2], [0, 3, 4], cells=5)
    squares, tries = span_squares(star, np.array([0, 1]), 2, 1)
    assert squares.tolist() == [[0, 0], [0, 0]]
    assert tries.tolist() == [[0, 4], [4, 0]]


def test_planes_put_totals_last_and_lift_what_they_lay() -> None:
    made = table_from_frame({"r": ["a", "a", "b"], "c": ["x", "y", "x"], "value": [1, 2, 4], "status": ["s", "s", "z"]})
    plane = two_way_table(made)
    assert plane is not None
    laid = plane.lay(made.value)
    assert laid[-1, -1] == 7
    assert sorted([sorted(laid[:-1, -1].tolist()), sorted(laid[-1, :-1].tolist())]) == [[2, 5], [3, 4]]
    assert plane.sign[-1, -1] == plane.sign[0, 0] == 1
    assert (plane.sign[-1, :-1] == -1).all()
    assert (plane.sign[:-1, -1] == -1).all()
    assert np.array_equal(plane.lift(laid), made.value)
    assert plane.cell.ravel()[plane.place].tolist() == list(range(len(made)))
    assert (plane.cell < 0).sum() == 1
    assert plane.up[plane.cell < 0].tolist() == plane.down[plane.cell < 0].tolist() == [0]
    assert plane.up.ravel()[plane.place[2]] == plane.down.ravel()[plane.place[2]] == 0
    assert plane.down.ravel()[plane.place[1]] == 2
    assert laid[plane.cell < 0].tolist() == [0]


def test_ordinary_tables_are_read_without_a_word(recwarn: pytest.WarningsRecorder) -> None:
    table_from_frame({"r": ["a", "b", "c"], "c": ["x", "y", "z"], "value": [4, 7, 11], "status": ["u", "s", "s"]})
    many = {"r": ["a", "b", "c", "d", "e"] * 3, "c": [code for code in "xyz" for _ in range(5)]}
    table_from_frame(many | {"value": [17 * i**2 + 31 for i in range(15)], "status": ["u"] + ["s"] * 14})
    assert [str(warning.message) for warning in recwarn] == []


def test_a_plane_may_be_written_as_totals_minus_parts() -> None:
    made = table_from_frame(
        {"r": ["a", "a", "b", "b"], "c": ["x", "y"] * 2, "value": [1, 2, 4, 9], "status": ["s"] * 4}
    )
    lines = made.lines
    for flipped in (np.arange(len(lines)), np.arange(0, len(lines), 2)):
        sign = np.where(np.isin(lines.line_of_entry, flipped), -1, 1)
        other = Table.build(made.value, Lines(lines.start, lines.cell, lines.coef * sign, lines.rhs))
        plane = two_way_table(other)
        assert plane is not None
        assert plane.lay(other.value)[-1, -1] == 16
        assert sorted(plane.lay(other.value)[:-1, :-1].ravel().tolist()) == [1, 2, 4, 9]


def test_a_table_may_have_as_many_rows_as_are_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"r": ["a", "b", "c"], "value": [1, 2, 3], "status": ["u", "s", "s"]}
    monkeypatch.setattr("gpuga.table.columns.MOST_ROWS", 3)
    assert len(table_from_columns(columns, Reading())) == 4
    monkeypatch.setattr("gpuga.table.columns.MOST_ROWS", 2)
    with pytest.raises(InputError, match="has 3 rows, at most 2 are possible"):
        table_from_columns(columns, Reading())
    with pytest.raises(InputError, match="has no cells"):
        table_from_columns({"r": [], "value": []}, Reading())


def test_large_levels_are_taken_to_the_last_unit() -> None:
    far = 7 * 10**12 + 1
    made = table(
        value=[10**13, 25, 31, 47], lower=[far, "", "", ""], upper=[far + 1, "", "", ""], sliding=[2 * far, "", "", ""]
    )
    found = [int(level[0]) // made.scale for level in (made.levels.lower, made.levels.upper, made.levels.sliding)]
    assert found == [far, far + 1, 2 * far]
    assert {level.dtype for level in vars(made.levels).values()} == {np.dtype(np.int64)}


def test_a_share_that_is_written_as_an_amount_is_wondered_at() -> None:
    columns = {"r": ["a", "b", "c"], "value": [1, 20, 30], "status": ["u", "s", "s"]}
    with pytest.warns(UserWarning, match=r"--levels 0\.15 is an amount, less than 1; write 15% if a share is meant"):
        table_from_columns(columns, Reading(levels="0.15"))


@pytest.mark.parametrize("levels", ["15%", "1", "max(0.5,10%)"])
def test_other_rules_for_levels_are_taken_as_they_are(levels: str, recwarn: pytest.WarningsRecorder) -> None:
    table_from_columns({"r": ["a", "b"], "value": [1, 20], "status": ["u", "s"]}, Reading(levels=levels))
    assert not recwarn


def test_a_dimension_that_is_not_there_is_named_beside_those_that_are() -> None:
    reading = Reading(totals={"region": "Total"})
    with pytest.raises(InputError, match="there is no dimension 'region'; the table has r"):
        table_from_columns({"r": ["a", "b"], "value": [1, 20]}, reading)
