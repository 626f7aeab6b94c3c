"""Linked tables: which cells are the same, what holds of them, groups, other names, and the joint equations."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gpuga.errors import Alarm, InputError
from gpuga.table import INFINITE, Lines, Status, Table
from gpuga.table.builders import table_from_frame
from gpuga.table.crossing import crossing_of
from gpuga.table.groups import with_groups
from gpuga.table.links import Member, link
from gpuga.table.table import Levels


def test_linked_tables_share_their_common_totals() -> None:
    by_size = {"region": ["a", "a", "b", "b"], "size": ["1", "2", "1", "2"], "value": [1, 2, 1, 3]}
    linked = link(
        [
            table_from_frame({"region": ["a", "b"], "value": [3, 4], "status": ["u", "s"]}),
            table_from_frame(by_size),
        ]
    )
    assert len(linked.table) == 3 + 9 - 3
    assert len(linked.table.sensitive) == 1
    assert not linked.table.lines.residual(linked.table.value).any()
    with pytest.raises(InputError, match="different values"):
        link([table_from_frame({"region": ["a", "b"], "value": [3, 5]}), table_from_frame(by_size)])


def test_in_linked_tables_the_stricter_statuses_and_bounds_and_the_larger_levels_hold() -> None:
    columns = {
        "r": ["a", "b"], "value": ["3", "4"], "status": ["u", "s"], "upper": [1, None], "lower": [2, None],
        "sliding": [5, None], "lb": [0, 1], "ub": [9, 8], "weight": [7, 2],
    }  # fmt: skip
    other = columns | {
        "status": ["s", "z"], "upper": None, "lower": None, "sliding": None, "lb": [2, 0], "ub": [20, 6],
        "weight": ["5.5", "2.5"],
    }  # fmt: skip
    other = {name: column for name, column in other.items() if column is not None}
    linked = link([table_from_frame(columns), table_from_frame(other)])
    table, (one, two) = linked.table, linked.position
    assert one.tolist() == two.tolist() == [0, 1, 2]
    assert table.status.tolist() == [Status.SENSITIVE, Status.FROZEN, Status.SUPPRESSIBLE]
    by = table.scale
    assert (table.value // by).tolist() == [3, 4, 7]
    assert (table.lb[:2] // by).tolist() == [2, 1]
    assert (table.ub[:2] // by).tolist() == [9, 6]
    assert [int(x[0]) // by for x in vars(table.levels).values()] == [2, 1, 5]
    assert (table.weight[:2] * 10 // table.weight_scale).tolist() == [70, 25]
    assert table.up.tolist()[:2] == [6 * by, 0]
    assert len(table.lines) == 1  # both say the same


def test_open_bounds_stay_open_in_linked_tables() -> None:
    columns = {"r": ["a", "b"], "value": [3, 4], "status": ["u", "s"], "upper": [1, None]}
    endless = columns | {"lb": ["-inf", "-infinity"], "ub": ["inf", "+infinity"]}
    table = link([table_from_frame(endless), table_from_frame(endless)]).table
    assert table.lb.tolist()[:2] == [-INFINITE] * 2
    assert table.ub.tolist() == [INFINITE] * 3
    far = link([table_from_frame(columns | {"lb": [-(10**11), None]}), table_from_frame(endless)]).table
    assert far.lb[0] == -(10**11) * far.scale


def test_what_was_suppressed_before_stays_so_in_linked_tables_and_contradictions_are_refused() -> None:
    tables = {
        letter: table_from_frame({"r": ["a", "b"], "value": [3, 4], "status": [letter, "s"], "upper": [1, None]})
        for letter in "suzm"
    }
    merged = {
        pair: link([tables[pair[0]], tables[pair[1]]]).table.status[0] for pair in ("ss", "su", "sz", "sm", "um", "mm")
    }
    assert merged == {
        "ss": Status.SUPPRESSIBLE,
        "su": Status.SENSITIVE,
        "sz": Status.FROZEN,
        "sm": Status.SUPPRESSED,
        "um": Status.SENSITIVE,
        "mm": Status.SUPPRESSED,
    }
    for pair in ("uz", "zm"):
        with pytest.raises(InputError, match="cell \\(r=a\\) must be published in one linked table and suppressed"):
            link([tables[pair[0]], tables[pair[1]]])


def test_a_single_table_may_be_linked_and_stays_as_it_is() -> None:
    table = table_from_frame({"r": ["a", "b"], "value": ["3.5", 4], "status": ["u", "s"], "weight": ["0.25", 1]})
    linked = link([table])
    assert linked.table.value.tolist() == table.value.tolist()
    assert (linked.table.scale, linked.table.weight_scale) == (table.scale, table.weight_scale)
    assert [where.tolist() for where in linked.position] == [[0, 1, 2]]
    assert linked.table.levels.upper.tolist() == table.levels.upper.tolist()


def test_tables_without_dimensions_cannot_be_linked() -> None:
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, -1]), np.zeros(1, np.int64))
    with pytest.raises(InputError, match="only tables with dimensions"):
        link([Table.build(np.array([4, 4]), lines)])


REGIONS = {"region": ["a", "a", "b", "b"], "kind": ["x", "y", "x", "y"], "value": [1, 2, 3, 4], "status": list("usss")}
SIZES = {"region": ["a", "a", "b", "b"], "size": ["1", "2", "1", "2"], "value": [2, 1, 3, 4], "status": list("ssss")}
KINDS = {"kind": ["x", "x", "y", "y"], "size": ["1", "2", "1", "2"], "value": [2, 2, 3, 3], "status": list("ssss")}


def test_three_tables_of_two_dimensions_are_one_crossing_without_its_inside() -> None:
    linked = link([table_from_frame(columns) for columns in (REGIONS, SIZES, KINDS)])
    assert len(linked.table) == 3 * 4 + 3 * 2 + 1
    assert len(linked.table.lines) == 3 * (3 + 3) - 3  # each line of totals stands in two tables, and counts once
    assert not linked.table.linked
    crossing = crossing_of(linked.table)
    assert crossing is not None
    assert crossing.shape == (3, 3, 3)


def test_tables_whose_equations_are_no_crossing_keep_their_own() -> None:
    some = {"region": ["a", "b"], "value": [3, 7], "status": ["u", "s"]}
    more = {"region": ["a", "b", "c"], "kind": ["x", "x", "x"], "value": [3, 7, 5], "status": ["s", "s", "s"]}
    with pytest.raises(InputError, match="different values"):
        link([table_from_frame(some), table_from_frame(more)])
    nearly = {"region": list("abcabc"), "kind": list("xxxyyy"), "value": [1, 3, 0, 2, 4, 0], "status": list("ssssss")}
    linked = link([table_from_frame(some), table_from_frame(nearly)])
    assert linked.table.linked  # in one table the total has two parts, in the other three
    assert not linked.table.lines.residual(linked.table.value).any()
    assert linked.table.label(0).startswith("cell 0 (region=a, kind=")


def test_codes_and_dimensions_of_other_names_are_the_same_by_their_aliases() -> None:
    other = {
        "area": ["A1", "A1", "b", "b"],
        "size": ["1", "2", "1", "2"],
        "value": [2, 1, 3, 4],
        "status": list("ssss"),
    }
    apart = link([table_from_frame(REGIONS), table_from_frame(other)])
    assert len(apart.table) == 9 + 9 - 1  # only the grand total is the same
    member = Member(table_from_frame(other), "other", {"area": "region"}, {"region": {"A1": "a"}})
    assert len(link([table_from_frame(REGIONS), member]).table) == 9 + 9 - 3
    both = Member(table_from_frame(other), "other", {"area": "region"}, {"region": {"A1": "b"}})
    with pytest.raises(InputError, match="two codes of table 'other' are called 'b'"):
        link([table_from_frame(REGIONS), both])


def test_a_dimension_with_a_single_code_is_no_total_where_others_break_it_down() -> None:
    this_year = {"region": ["a", "b"], "year": ["2", "2"], "value": [3, 7], "status": ["u", "s"]}
    years = {"year": ["1", "2"], "value": [4, 10], "status": ["s", "s"]}
    linked = link([table_from_frame(this_year), table_from_frame(years)])
    assert len(linked.table) == 3 + 3 - 1  # the total of this year is one code of the years
    assert (
        len(link([table_from_frame(this_year), table_from_frame({"region": ["a", "b"], "value": [3, 7]})]).table) == 3
    )


def test_groups_stay_in_linked_tables_and_those_of_the_same_cells_are_one() -> None:
    def level(lower: int, upper: int) -> Levels:
        return Levels(*(np.array([x], np.int64) for x in (lower, upper, 0)))

    regions, sizes = table_from_frame(REGIONS, levels="1"), table_from_frame(SIZES, levels="1")
    first = with_groups(regions, [[0, 1]], level(2, 3))
    again = with_groups(regions, [[1, 0]], level(3, 1))
    other = with_groups(sizes, [[0, 2]], level(1, 1))
    linked = link([first, again, other])
    assert linked.table.groups == 2
    assert [where[-1] for where in linked.position] == [
        len(linked.table) - 2,
        len(linked.table) - 2,
        len(linked.table) - 1,
    ]
    scale = linked.table.scale
    assert [int(x[-2]) // scale for x in vars(linked.table.levels).values()] == [3, 3, 0]
    assert linked.table.primary[-2:].all()
    assert not linked.table.lines.residual(linked.table.value).any()


def test_what_one_table_publishes_is_published() -> None:
    linked = link([table_from_frame(REGIONS), table_from_frame(SIZES)])
    patterns = [np.ones(9, bool), np.ones(9, bool)]
    assert linked.together(patterns).all()
    shared = np.flatnonzero(np.isin(linked.position[1], linked.position[0]))
    patterns[1][shared[0]] = False
    hidden = linked.together(patterns)
    assert hidden.sum() == len(linked.table) - 1
    assert not linked.apart(hidden)[0].all()


def test_codes_that_no_hierarchy_relates_are_said_aloud() -> None:
    areas = {"region": ["N", "S"], "size": ["1", "1"], "value": [4, 6], "status": ["s", "s"]}
    regions = {"region": list("abc"), "value": [1, 3, 6], "status": ["u", "s", "s"], "upper": [1, None, None]}
    with pytest.warns(Alarm, match="code 'a' of 'region' in table 'regions' is neither a code of table 'areas'"):
        link([table_from_frame(regions, name="regions"), table_from_frame(areas, name="areas")])
    tree = {"N": None, "a": "N", "b": "N", "S": None, "c": "S"}
    related = table_from_frame(regions, name="regions", hierarchies={"region": tree})
    with warnings.catch_warnings():
        warnings.simplefilter("error", Alarm)
        joint = link([related, table_from_frame(areas | {"status": ["u", "s"]}, name="areas")]).table
    assert len(joint) == 6
    assert len(joint.lines) == 3
