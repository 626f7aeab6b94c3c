"""A table looks like counts when everything that was given is whole and its sensitive cells are small."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuga.files.read import read_table
from gpuga.table.builders import table_from_frame
from gpuga.table.generate import class1, herrington
from gpuga.table.links import link

COUNTS = {"r": ["a", "b"], "value": [3, 200], "status": ["u", "s"]}
JJ = "0\n3\n0 5 5 u 0 100 1 1 0\n1 7 7 s 0 100 0 0 0\n2 12 12 s 0 100 0 0 0\n1\n0 3 : 2 (-1) 0 (1) 1 (1)\n"


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ({}, True),
        ({"value": [99, 200]}, True),
        ({"value": [100, 200]}, False),
        ({"value": ["3.5", "200"]}, False),
        ({"value": ["3.0", "200.00"]}, True),
        ({"lb": ["0.5", ""]}, False),
        ({"ub": ["inf", "400"]}, True),
        ({"ub": ["7.5", ""]}, False),
        ({"lower": ["1.5", ""], "upper": ["1", ""]}, False),
        ({"sliding": ["2", "0.5"]}, True),
        ({"sliding": ["0.5", ""]}, False),
    ],
)
def test_counts_are_told_by_values_bounds_and_given_levels(changed: dict[str, list[object]], counts: bool) -> None:
    assert table_from_frame(COUNTS | changed).counts is counts


def test_levels_made_by_a_rule_may_be_fractions() -> None:
    table = table_from_frame(COUNTS, levels="15%")
    assert table.levels.upper[0] % table.scale
    assert table.counts


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [("", "", True), ("u 0 100 1 1", "u 0 100 1 0.5", False), ("u 0 100 1", "u 0 99.5 1", False)],
)
def test_all_levels_of_a_jj_file_are_given(old: str, new: str, counts: bool, tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(JJ.replace(old, new))
    assert read_table(tmp_path / "t.jj").counts is counts


def test_the_rule_for_levels_does_not_make_a_jj_file_magnitudes(tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(JJ.replace("100 1 1 0", "100 0 0 0"))
    assert read_table(tmp_path / "t.jj", levels="15%").counts


def test_groups_need_whole_levels_but_may_be_large() -> None:
    frame = {
        "r": ["a", "b", ""],
        "value": [90, 80, 170],
        "status": ["u", "u", "u"],
        "upper": ["1", "1", "2"],
        "members": ["", "", "0 1"],
    }
    assert table_from_frame(frame).counts
    assert not table_from_frame(frame | {"upper": ["1", "1", "2.5"]}).counts


def test_linked_counts_are_counts_as_long_as_all_of_them_are() -> None:
    whole = table_from_frame(COUNTS)
    assert link([whole, table_from_frame(COUNTS, levels="10%")]).table.counts
    broken = table_from_frame(COUNTS | {"upper": ["0.5", ""]})
    assert not link([whole, broken]).table.counts


def test_generated_counts_are_counts_and_magnitudes_are_not() -> None:
    assert class1(20, 20, 1).counts
    assert not herrington(8, 8, 0.1, 1).counts
