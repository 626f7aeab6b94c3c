"""Files that name several tables: hierarchies by common names, aliases of codes, options of all tables and of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuga.errors import Alarm, InputError
from gpuga.files.tables import files_named, read_files, read_tables
from gpuga.table.plan import plan

FILES = {
    "r.hrc": "North\n@a\n@b\nSouth\n@c\n",
    "one.csv": "region,kind,value,status\na,x,3,u\nb,x,4,s\nc,x,5,s\na,y,1,s\nb,y,1,s\nc,y,1,s\n",
    "two.csv": "area,value\nN.,9\nSouth,6\nAll,15\n",
    "tables.toml": """
levels = "10%"
[hierarchies]
region = "r.hrc"
[aliases.region]
"N." = "North"
[[table]]
file = "one.csv"
levels = "20%"
[[table]]
file = "two.csv"
name = "second"
columns = { area = "region" }
totals = { area = "All" }
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_common_hierarchies_are_read_with_the_names_of_each_table(folder: Path) -> None:
    with pytest.warns(UserWarning, match="the hierarchy of 'area' is deeper than the table"):
        one, two = read_tables(folder / "tables.toml")
    assert one.member.table.levels.upper[0] * 10 == 6 * one.member.table.scale  # 20 % of 3: its own rule
    assert two.member.name == "second"
    assert two.source.table.grid is not None
    assert set(two.source.table.grid.dimensions[0].codes) == {"N.", "South", "All"}
    planned = plan([one.member, two.member])
    assert planned.shared[0].cells == 3  # North, South and the total
    assert planned.within == (None, 0)


def test_all_files_that_a_plan_names_are_known_beforehand(folder: Path) -> None:
    names = [Path(file).name for file in files_named(folder / "tables.toml")]
    assert names == ["r.hrc", "one.csv", "two.csv"]
    (folder / "bad.toml").write_text("table = [")
    assert files_named(folder / "bad.toml") == []


def test_files_share_the_hierarchies_of_the_dimensions_that_they_have(folder: Path) -> None:
    (folder / "kinds.csv").write_text("kind,value\nx,12\ny,3\n")
    one, kinds = read_files([folder / "one.csv", folder / "kinds.csv"], {"region": [folder / "r.hrc"]})
    assert len(one.member.table) == 6 * 3
    assert len(kinds.member.table) == 3
    with pytest.raises(InputError, match="no table has a dimension 'planet'"):
        read_files([folder / "one.csv"], {"planet": [folder / "r.hrc"]})


def test_that_no_table_at_all_has_a_sensitive_cell_is_said(folder: Path) -> None:
    (folder / "kinds.csv").write_text("kind,value\nx,12\ny,3\n")
    with pytest.warns(Alarm, match="no cell of this table is sensitive"):
        read_files([folder / "kinds.csv"])
