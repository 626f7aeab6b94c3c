"""Files that cannot be read at all are said to be so in one sentence."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gpuga.errors import InputError
from gpuga.files.read import read_table
from gpuga.files.source import check_regular, read_text


@pytest.mark.parametrize("read", [check_regular, read_text])
def test_a_name_that_is_none_or_too_long_is_said(read, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for name, says in (
        ("x" * 300, r"cannot be read \(File name too long\)"),
        ("a\0b", r"cannot be read \(not a file name\)"),
    ):
        with pytest.raises(InputError, match=says) as fault:
            read(tmp_path / name)
        assert fault.value.path == tmp_path / name


def test_a_file_that_may_not_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    (tmp_path / "t.csv").write_text("r,value\na,5\n")
    check_regular(tmp_path / "t.csv")
    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(InputError, match=r"cannot be read \(Permission denied\)") as fault:
        read_text(tmp_path / "t.csv")
    assert fault.value.path == tmp_path / "t.csv"


def test_a_table_of_equations_is_read_with_its_options(tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text("0\n2\n0 50 9 u 0 99 0 0 0\n1 50 9 s 0 99 0 0 0\n1\n0 2 : 0 (1) 1 (-1)\n")
    table = read_table(tmp_path / "t.jj", levels="10%", weights="unit")
    assert (table.levels.upper // table.scale).tolist() == [5, 0]
    assert (table.weight // table.weight_scale).tolist() == [1, 1]
    assert read_table(str(tmp_path / "t.jj")).weight.tolist() == [9, 9]
