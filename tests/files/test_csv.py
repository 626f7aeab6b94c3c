"""Faults of CSV and Parquet tables are named by their lines and rows, as far as they stand in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuga.errors import InputError
from gpuga.files import csv as module
from gpuga.files import parquet
from gpuga.files.csv import (
    LONGEST_LINE,
    LOOKED_AT,
    find_separator,
    line_of_row,
    parse_columns,
    parse_csv,
    parse_separator,
    rows_text,
)
from gpuga.table.columns import Reading
from gpuga.table.headers import HeaderError

TEXT = "r,value\na,5\nb,6\n"


@pytest.mark.parametrize(("cell", "line"), [(0, 2), (1, 3), (2, None), (None, None)])
def test_a_fault_of_a_cell_names_its_line_where_the_file_has_one(
    cell: int | None, line: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise InputError("is bad", field="value", cell=cell)

    monkeypatch.setattr(module, "table_from_columns", refused)
    with pytest.raises(InputError, match="is bad") as fault:
        parse_csv(TEXT, Path("t.csv"), Reading())
    assert (fault.value.path, fault.value.line, fault.value.field) == (Path("t.csv"), line, "value")


@pytest.mark.parametrize(("cell", "row"), [(0, 1), (1, 2), (2, None), (None, None)])
def test_a_fault_of_a_cell_names_its_row_of_a_parquet_file(
    cell: int | None, row: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyarrow = pytest.importorskip("pyarrow")

    def refused(*_: object) -> None:
        raise InputError("is bad", cell=cell)

    monkeypatch.setattr(parquet, "table_from_columns", refused)
    with pytest.raises(InputError, match="is bad") as fault:
        parquet.parse_parquet(pyarrow.table({"r": ["a", "b"]}), Path("t.parquet"), Reading())
    assert (fault.value.path, fault.value.line) == (Path("t.parquet"), row)


def test_a_fault_of_the_header_is_on_the_first_line_and_one_of_another_file_stays_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults: list[InputError] = [HeaderError("is bad"), InputError("is bad", path=Path("tree.hrc"), line=7)]
    monkeypatch.setattr(module, "table_from_columns", lambda *_: (_ for _ in ()).throw(faults.pop(0)))
    for path, line in ((Path("t.csv"), 1), (Path("tree.hrc"), 7)):
        with pytest.raises(InputError, match="is bad") as fault:
            parse_csv(TEXT, Path("t.csv"), Reading())
        assert (fault.value.path, fault.value.line) == (path, line)


@pytest.mark.parametrize(("header", "sign"), [("a,b", ","), ("a;b", ";"), ("a\tb", "\t"), ("a", ","), ("a|b", "|")])
def test_the_only_sign_of_the_header_is_the_separator(header: str, sign: str) -> None:
    assert find_separator(header, Path("t.csv")) == sign
    assert find_separator(f"\n{header}\n1;2,3\t4|5\n", Path("t.csv")) == sign


@pytest.mark.parametrize(
    ("text", "sign"),
    [("a, in words;b;c\n1;2;3\n", ";"), ("a;b,c\nx,5\n", ","), ("a;b,c\n1;2,5\n3;4;5\n", ","),
     ('a;"b,c;d"\n1;2\n', ";"), ("a,b;c\n1\n", ",")],
)  # fmt: skip
def test_of_several_signs_the_one_that_makes_even_rows_separates(text: str, sign: str) -> None:
    assert find_separator(text, Path("t.csv")) == sign


def test_only_the_first_lines_decide_and_the_last_of_them_may_be_cut_within_a_field() -> None:
    rows = "1,5;2\n" * (LOOKED_AT - 2)
    assert find_separator(f"a, b;c\n{rows}1,5;2\n9;9;9\n".replace("1,5", "1"), Path("t.csv")) == ";"
    cut = "a;b, c\n" + "1;2\n" * (LOOKED_AT - 2) + '1;"2\n;;;"\n'
    assert find_separator(cut, Path("t.csv")) == ";"


def test_where_two_signs_could_separate_the_user_is_asked() -> None:
    with pytest.raises(InputError, match="--separator") as fault:
        find_separator("a,b;c\n1;2,3\n", Path("t.csv"))
    assert (fault.value.path, fault.value.line) == (Path("t.csv"), 1)
    assert parse_columns("a,b;c\n1;2,3\n", Path("t.csv"), ";").columns == [["1"], ["2,3"]]


@pytest.mark.parametrize(("said", "sign"), [(";", ";"), ("\\t", "\t"), ("tab", "\t"), ("|", "|"), (None, None)])
def test_a_separator_is_one_sign(said: str | None, sign: str | None) -> None:
    assert parse_separator(said) == sign


@pytest.mark.parametrize("said", ["", "ab", "a", "5", '"', "\n"])
def test_what_cannot_separate_columns_is_refused(said: str) -> None:
    with pytest.raises(InputError, match="--separator"):
        parse_separator(said)


def test_one_field_may_be_as_long_as_the_csv_module_takes_it() -> None:
    for name in ("x" * LONGEST_LINE, '"' + "x" * LONGEST_LINE + '"'):
        assert parse_columns(f"a,b\n{name},1\n", Path("t.csv")).columns[0] == ["x" * LONGEST_LINE]
    for name in ("x" * (LONGEST_LINE + 1), '"' + "x" * (LONGEST_LINE + 1) + '"'):
        with pytest.raises(InputError, match="is not CSV") as fault:
            parse_columns(f"a,b\n{name},1\n", Path("t.csv"))
        assert fault.value.line == 2


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_of_a_row_counts_blank_lines_and_line_breaks(end: str) -> None:
    text = end.join(["a,b", "1,2", "", '"x', 'y",3', "4,5"]) + end
    assert [line_of_row(text, row) for row in range(3)] == [2, 5, 6]
    assert line_of_row(text, 99) == 6
    semicolons = 'a;b\n"1,5";2\n3;4\n'
    assert line_of_row(semicolons, 1, ";") == 3


def test_rows_are_written_with_quotes_where_they_are_needed() -> None:
    rows = [["1", "x;y"], ["2", "a,b"], ["3", 'say "a"'], ["4", "two\nlines"], ["5", "two\rlines"], ["6", ""]]
    text = rows_text(["n", "t"], rows)
    assert text == 'n,t\n1,x;y\n2,"a,b"\n3,"say ""a"""\n4,"two\nlines"\n5,"two\rlines"\n6,\n'
    assert rows_text(["n", "t"], rows[:2], ";") == 'n;t\n1;"x;y"\n2;a,b\n'
    assert rows_text(["n"], []) == "n\n"


def test_entries_that_repeat_are_kept_once_and_others_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpuga.files.csv.BLOCK", 100)
    rows = [f"{'ab'[at % 2]},{at}" for at in range(100)]
    read = parse_columns("\n".join(["r,value", *rows]) + "\n", tmp_path / "t.csv")
    assert read.columns == [["a", "b"] * 50, [str(at) for at in range(100)]]
    assert len({id(entry) for entry in read.columns[0]}) == 2
