"""Groups: sums of cells with levels of their own, from the file to the pattern."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.files.pattern import read_pattern
from gpuga.files.read import read_source
from gpuga.protect import protect
from gpuga.safety.audit import audit
from gpuga.table import INFINITE, Levels, Status, Table
from gpuga.table.builders import table_from_array
from gpuga.table.groups import with_groups
from tests.support.exact_attacker import intervals
from tests.support.patterns import write_pattern

ROWS = """r,c,value,status,lower,upper,members
a,x,10,u,2,2,
a,y,12,u,2,2,
a,z,40,s,,,
b,x,30,s,,,
b,y,35,s,,,
b,z,50,s,,,
"""


def table_with_group(tmp_path: Path, last: str):
    path = tmp_path / "t.csv"
    path.write_text(ROWS + last)
    return read_source(path)


def test_a_group_is_one_more_primary_outside_the_grid(tmp_path: Path) -> None:
    source = table_with_group(tmp_path, ",,22,u,5,5,0 1\n")
    table = source.table
    assert table.groups == 1
    assert table.given == 6
    assert table.value[-1] == 22
    assert len(table.sensitive) == 3
    assert table.label(len(table) - 1) == f"the sum of {table.label(0)}, {table.label(1)}"


@pytest.mark.parametrize("method", ["hypercube", "incremental"])
def test_what_protects_the_cells_alone_need_not_protect_the_group(tmp_path: Path, method: str) -> None:
    source = table_with_group(tmp_path, ",,22,u,5,5,0 1\n")
    table = source.table
    result = protect(table, method)
    reach = intervals(table, result.suppressed, table.sensitive.tolist())
    assert result.audit.safe
    for cell, (rise, fall) in reach.items():
        assert rise is None or rise >= table.levels.upper[cell]
        assert fall is None or fall >= table.levels.lower[cell]
    pair_only = table.forced.copy()
    pair_only[[3, 4]] = True  # the four corners: each cell moves, their sum in the row does not
    assert len(table) - 1 in audit(table, pair_only, intervals=False).unsafe


def test_the_pattern_shows_no_group(tmp_path: Path) -> None:
    source = table_with_group(tmp_path, ",,22,u,5,5,0 1\n")
    result = protect(source.table, "hypercube")
    out = tmp_path / "p.csv"
    write_pattern(source, result.suppressed, out)
    assert "members" not in out.read_text()
    assert len(out.read_text().splitlines()) == 1 + len(source.table) - 1
    again = read_pattern(source, out)
    assert np.array_equal(again, result.suppressed)


@pytest.mark.parametrize(
    ("last", "says"),
    [
        (",,23,u,5,5,0 1\n", "sum of its members"),
        (",,22,u,5,5,0 77\n", "at least two different cells"),
        (",,10,u,5,5,0\n", "at least two different cells"),
        (",,22,u,,,0 1\n", "needs a level"),
        (",,22,u,-5,5,0 1\n", "negative level"),
        (",,22,u,5,5,0 1\nc,x,5,s,,,\n", "after all cells"),
    ],
)
def test_bad_groups_are_one_sentence_with_their_line(tmp_path: Path, last: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as fault:
        table_with_group(tmp_path, last)
    assert "line" in str(fault.value)


def test_groups_of_several_cells_get_equations_bounds_and_levels_of_their_own() -> None:
    table = table_from_array([[10, 12, 40], [30, 35, 50]], levels="1")
    bounded = Table.build(
        table.value,
        table.lines,
        lb=np.where(np.arange(len(table)) == 5, -INFINITE, table.value - 3),
        ub=table.value + 9,
    )
    level = np.array([4, 5, 6])
    made = with_groups(bounded, [[0, 1], [2, 3, 4], [1, 5]], Levels(level, level + 1, level + 2))
    n = len(bounded)
    assert made.groups == 3
    assert made.value[n:].tolist() == [22, 105, 62]
    assert made.status[n:].tolist() == [Status.SENSITIVE] * 3
    assert made.lb[n:].tolist() == [22 - 6, 105 - 9, -INFINITE]
    assert made.ub[n:].tolist() == [INFINITE] * 3
    assert made.weight[n:].tolist() == [0, 0, 0]
    assert [x[n:].tolist() for x in vars(made.levels).values()] == [[4, 5, 6], [5, 6, 7], [6, 7, 8]]
    lines, first = made.lines, len(bounded.lines)
    assert len(lines) == first + 3
    for group, members in enumerate([[0, 1], [2, 3, 4], [1, 5]]):
        entries = slice(lines.start[first + group], lines.start[first + group + 1])
        assert lines.cell[entries].tolist() == [*members, n + group]
        assert lines.coef[entries].tolist() == [1] * len(members) + [-1]
    assert made.label(n + 2) == "the sum of cell 1, cell 5"
    assert made.label(n - 1) == f"cell {n - 1}"


def test_decimals_of_a_group_make_the_units_of_the_table_finer(tmp_path: Path) -> None:
    table = table_with_group(tmp_path, ",,22,u,5.25,,0 1\n").table
    assert table.scale == 100
    assert table.value[-1] == 2200
    assert table.levels.lower[-1] == 525
    assert table.levels.upper[-1] == table.levels.sliding[-1] == 0
    assert table.value[0] == 1000


def test_several_groups_follow_each_other(tmp_path: Path) -> None:
    table = table_with_group(tmp_path, ",,22,u,5,5,0 1\n,,52,u,,7,1 2\n").table
    assert table.groups == 2
    assert table.value[-2:].tolist() == [22, 52]
    assert table.levels.upper[-2:].tolist() == [5, 7]
    assert table.levels.lower[-2:].tolist() == [5, 0]
    with pytest.raises(InputError, match="sum of its members") as fault:
        table_with_group(tmp_path, ",,22,u,5,5,0 1\n,,53,u,,7,1 2\n")
    assert "line 9" in str(fault.value)


def test_one_bad_level_among_several_groups_is_named_with_its_line(tmp_path: Path) -> None:
    for level, says in (("-7", "negative level"), ("0", "a group needs a level")):
        with pytest.raises(InputError, match=says) as fault:
            table_with_group(tmp_path, f",,22,u,5,5,0 1\n,,52,u,,{level},1 2\n")
        assert "line 9" in str(fault.value)


def test_sums_of_large_members_are_exact() -> None:
    table = table_from_array([2**40, 2**41 + 1, 5])
    levels = Levels(*[np.array([2**35])] * 3)
    made = with_groups(table, [[0, 1]], levels)
    assert made.value[-1] == 2**40 + 2**41 + 1
    assert made.levels.upper[-1] == 2**35
    assert made.lines.coef.dtype == np.int64
