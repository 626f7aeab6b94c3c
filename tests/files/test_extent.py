"""The size of a table in a file is found without reading it in, and is that of the table that is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files.extent import extent_of
from gpuga.files.read import read_table, write_table
from gpuga.table.generate import smith3d


@pytest.mark.parametrize("kind", ["csv", "parquet", "jj"])
def test_the_extent_of_a_file_is_that_of_its_table(kind: str, tmp_path: Path) -> None:
    table = smith3d((5, 6, 4), 0.1, 0.1, 1)
    path = tmp_path / f"t.{kind}"
    write_table(table, path)
    extent = extent_of(path)
    assert extent.rows == extent.most_cells == len(table) == 120
    assert extent.size == path.stat().st_size
    assert extent.dimensions == 3
    if kind != "jj":
        assert list(extent.codes.values()) == [4, 5, 3]
    if kind != "parquet":
        assert extent.sensitive == len(table.sensitive)


def test_totals_that_are_missing_count_as_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("r;k;value;status\na;x;1;u\na;y;2;s\nb;x;3;s\nb;y;4;s\n")
    extent = extent_of(path)
    assert (extent.rows, extent.most_cells, extent.sensitive) == (4, 9, 1)
    assert len(read_table(path)) == 9


def test_other_files_and_what_is_no_table_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.jj").write_text("0\nmany\n")
    with pytest.raises(InputError, match="line 2: is not a number of cells"):
        extent_of(tmp_path / "t.jj")
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"use \.csv, \.parquet or \.jj"):
        extent_of(tmp_path / "t.xlsx")
    assert run(["doctor", "--table", str(tmp_path / "gone.csv")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_the_doctor_says_whether_a_table_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("r,value\na,1\nb,2\n")
    assert run(["doctor", "--table", str(tmp_path / "t.csv")]) == 0
    said = capsys.readouterr().out
    assert "2 rows, r 2 codes, at most 3 cells" in said
    assert "it fits" in said
    assert "available here" in said
