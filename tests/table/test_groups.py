"""Groups: sums of cells with levels of their own, from the file to the pattern."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.files.pattern import read_pattern, write_pattern
from gpuga.files.read import read_source
from gpuga.protect import protect
from gpuga.safety.audit import audit
from tests.support.exact_attacker import intervals

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
    assert table.label(len(table) - 1) == "group 0"


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
