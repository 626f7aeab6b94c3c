"""Kinds of files: what each refuses, and that the quick ways read and write what the careful ones do."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from gpuga.errors import InputError, MissingExtra
from gpuga.files import csv as csv_files
from gpuga.files import jj as jj_files
from gpuga.files.atomic import write_whole
from gpuga.files.csv import parse_columns
from gpuga.files.hrc import read_hierarchy
from gpuga.files.jj import parse_jj
from gpuga.files.parquet import _figures, read_arrow, texts_bytes
from gpuga.files.pattern import check_kind, read_pattern, suppression_words
from gpuga.files.read import read_source, write_table
from gpuga.table import Levels
from gpuga.table.builders import frame_columns, table_from_array
from gpuga.table.groups import with_groups
from tests.support.patterns import write_pattern

JJ = "0\n3\n7 5 5 u 0 100 1 1 0\n3 7 7 s 0 100 0 0 0\n9 12 12 s 0 100 0 0 0\n1\n0 3 : 9 (-1) 7 (1) 3 (1)\n"


def test_a_file_may_claim_as_many_cells_and_equations_as_are_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jj_files, "MOST_ROWS", 3)
    assert len(parse_jj(JJ, "t.jj")) == 3
    monkeypatch.setattr(jj_files, "MOST_ROWS", 2)
    with pytest.raises(InputError, match="claims 3 cells, at most 2 are possible") as fault:
        parse_jj(JJ, "t.jj")
    assert fault.value.line == 2
    assert fault.value.field == "cells"


@pytest.mark.parametrize("levels", ["1 0 0", "0 1 0", "0 0 1"])
def test_a_sensitive_cell_that_cannot_move_may_have_no_level_at_all(levels: str) -> None:
    with pytest.raises(InputError, match="frozen") as fault:
        parse_jj(JJ.replace("u 0 100 1 1 0", f"u 5 5 {levels}"), "t.jj")
    assert fault.value.line == 3
    assert len(parse_jj(JJ.replace("u 0 100 1 1 0", f"u 4 5 {levels}"), "t.jj").sensitive) == 1
    assert len(parse_jj(JJ.replace("u 0 100 1 1 0", "s 5 5 0 0 0"), "t.jj").sensitive) == 0


@pytest.mark.parametrize(
    ("text", "parents"),
    [
        ("north\n-special\n@coast\n", (None, None, "-special")),
        ("north\n@coast\n-special\n", (None, "north", None)),
        ("@north\n", None),
        ("north\n.coast\n..east\n", (None, "north", "coast")),
        ("-north\nsouth\n", (None, None)),
        ("a\nb\n", (None, None)),
        ("a\n  \n b\n", (None, "a")),
    ],
)
def test_the_sign_of_a_hierarchy_is_an_at_sign_wherever_one_begins_a_line(
    text: str, parents: tuple[str | None, ...] | None, tmp_path: Path
) -> None:
    (tmp_path / "r.hrc").write_text(text)
    if parents is None:
        with pytest.raises(InputError, match="more than one step deeper") as fault:
            read_hierarchy(tmp_path / "r.hrc")
        assert fault.value.line == 1
    else:
        assert read_hierarchy(tmp_path / "r.hrc").parents == parents


def test_a_hierarchy_may_be_forty_levels_deep_and_no_deeper(tmp_path: Path) -> None:
    (tmp_path / "r.hrc").write_text("".join("@" * i + f"c{i}\n" for i in range(40)))
    assert len(read_hierarchy(tmp_path / "r.hrc").codes) == 40
    (tmp_path / "r.hrc").write_text("".join("@" * i + f"c{i}\n" for i in range(41)))
    with pytest.raises(InputError, match="deeper than 40 levels") as fault:
        read_hierarchy(tmp_path / "r.hrc")
    assert fault.value.line == 41
    (tmp_path / "r.hrc").write_text("  \n \n")
    with pytest.raises(InputError, match="has no codes"):
        read_hierarchy(tmp_path / "r.hrc")


def test_what_needs_packages_that_are_not_there_says_how_to_install_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stream:
        """A frame that only Arrow can read."""

        def __arrow_c_stream__(self) -> None: ...

    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for ask in (lambda: read_arrow(tmp_path / "t.parquet"), lambda: frame_columns(Stream())):
        with pytest.raises(MissingExtra, match=r"pip install 'gpuga\[files\]'") as fault:
            ask()
        assert fault.value.extra == "files"
    with pytest.raises(InputError, match="a int is not a frame"):
        frame_columns(5)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("p.parquet", "the pattern of a table that is not Parquet is written as .csv"),
        ("p.PARQUET", "the pattern of a table that is not Parquet is written as .csv"),
        ("p.ods", r"not as \.ods"),
        ("p.jj", r"not as \.jj"),
    ],
)
def test_a_pattern_of_another_kind_is_refused_early_and_nothing_is_written(
    name: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("r,value,status\na,5,u\nb,6,s\n")
    source = read_source(tmp_path / "t.csv")
    with pytest.raises(InputError, match=says):
        check_kind(source, tmp_path / name)
    with pytest.raises(InputError, match=says):
        write_pattern(source, source.table.forced, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    for good in ("p.csv", "p.tsv", "p.TXT", "p", "p.xlsx"):
        check_kind(source, good)


def test_a_missing_package_for_workbooks_is_noticed_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("r,value,status\na,5,u\nb,6,s\n")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtra, match="excel"):
        check_kind(read_source(tmp_path / "t.csv"), tmp_path / "p.xlsx")


def test_words_say_what_was_suppressed_and_why(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("r,value,status\na,5,u\nb,6,s\nc,7,m\nd,8,z\n")
    table = read_source(tmp_path / "t.csv").table
    words = suppression_words(table, np.array([True, True, True, False, False]))
    assert words == ["primary", "secondary", "secondary", "published", "published"]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("suppression\nprimary\nsecondary\npublished\n", [0, 1]),
        ("suppression\nprimary\nsecondary\npublished\nSecondary\n", [0, 1, 3]),
        ("position,suppression\n 1 ,PRIMARY\n", [0, 1]),
        ("cell,suppression\n3, secondary\n", [0, 3]),
        ("cell_number,suppression\n0,published\n", []),
        ("index,cell,suppression\n1,2,secondary\n", [0, 1]),
        ("r,index,suppression\n c ,0,secondary\n", [0, 2]),
    ],
)
def test_rows_of_a_pattern_are_matched_by_codes_then_by_index_then_by_order(
    text: str, hidden: list[int], tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("r,value,status\na,5,u\nb,6,s\nc,7,s\n")
    (tmp_path / "p.csv").write_text(text)
    found = read_pattern(read_source(tmp_path / "t.csv"), tmp_path / "p.csv")
    assert np.flatnonzero(found).tolist() == hidden


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("suppression\nprimary\nsecondary\n", None, "has 2 rows for a table of 4 cells"),
        ("index,suppression\n0,primary\n1,secondary\n0,primary\n1,primary\n", 4, "the same cell occurs twice"),
        ("index,suppression\n0,primary\n4,secondary\n-1,primary\n", 3, "is not a cell of the table"),
        ("r,suppression\na,primary\nb,gone\nc,gone\n", 3, "'gone' is not one of published, primary, secondary"),
        ("r,value\na,1\n", None, "has no column suppression"),
    ],
)
def test_a_pattern_that_does_not_fit_is_refused_with_its_line(
    text: str, line: int | None, says: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("r,value,status\na,5,u\nb,6,s\nc,7,s\n")
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InputError, match=says) as fault:
        read_pattern(read_source(tmp_path / "t.csv"), tmp_path / "p.csv")
    assert fault.value.line == line


def test_figures_become_integers_or_decimals_of_as_many_places_as_are_used() -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    assert str(_figures(pyarrow, ["5", "", "-7"]).type) == "int64"
    assert _figures(pyarrow, ["5", "", "-7"]).to_pylist() == [5, None, -7]
    decimal = _figures(pyarrow, ["5", "1.25", "", "0.5"])
    assert str(decimal.type) == "decimal128(38, 2)"
    assert [None if v is None else str(v) for v in decimal.to_pylist()] == ["5.00", "1.25", None, "0.50"]
    frame = parquet.read_table(pyarrow.BufferReader(texts_bytes(["a", "b"], [["x", ""], ["1", "2"]], {"a"})))
    assert frame.to_pydict() == {"a": ["x", None], "b": [1, 2]}


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        ("a,a\n1,2\n", "column 'a' occurs twice", 1),
        ("a, a\n1,2\n", "column 'a' occurs twice", 1),
        ("a,\n1,2\n", "column 2 has no name", 1),
        (",a\n1,2\n", "column 1 has no name", 1),
        ("\n\n", "is empty", None),
        ('a,b\n1,2\n"x",y,z\n', "has 3 fields, the header has 2", 3),
        ('a,b\n1,"2\n', "is not CSV", 2),
    ],
)
def test_a_sheet_that_is_none_is_refused_with_its_line(text: str, says: str, line: int | None) -> None:
    with pytest.raises(InputError, match=says) as fault:
        parse_columns(text, Path("t.csv"))
    assert fault.value.line == line


def test_a_sheet_may_have_as_many_rows_as_are_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "MOST_ROWS", 2)
    assert parse_columns("a\n1\n2\n", Path("t.csv")).rows == 2
    with pytest.raises(InputError, match="has more than 2 rows"):
        parse_columns("a\n1\n2\n3\n", Path("t.csv"))


def test_a_claim_of_more_digits_than_any_number_of_cells_is_judged_as_a_claim() -> None:
    with pytest.raises(InputError, match="claims 1000000000000000000000 cells, at most 20000000 are possible"):
        parse_jj(JJ.replace("\n3\n", "\n1000000000000000000000\n"), "t.jj")


@pytest.mark.parametrize(("text", "what", "line"), [("0\n", "cells", 2), ("0\n1\n0 5 5 u 0 9 1 1 0\n", "equations", 4)])
def test_a_file_that_ends_before_a_number_lacks_it(text: str, what: str, line: int) -> None:
    with pytest.raises(InputError, match=f"the number of {what} is missing") as fault:
        parse_jj(text, "t.jj")
    assert (fault.value.line, fault.value.field) == (line, what)


def test_sums_beyond_exact_arithmetic_are_said_before_they_wrap_round() -> None:
    large = JJ.replace("7 5 5 u 0 100", f"7 {2**50} 5 u 0 {2**51}").replace("7 (1)", "7 (1000000)")
    with pytest.raises(InputError, match="the values are too large for exact arithmetic: round them"):
        parse_jj(large, "t.jj")


def test_a_table_with_groups_or_without_dimensions_is_no_csv_file(tmp_path: Path) -> None:
    level = Levels(*[np.ones(1, np.int64)] * 3)
    grouped = with_groups(table_from_array([5, 6, 7]), [[0, 1]], level)
    with pytest.raises(InputError, match="a table with groups cannot be written as CSV"):
        write_table(grouped, tmp_path / "t.csv")
    with pytest.raises(InputError, match="a table without dimensions cannot be written as CSV"):
        write_table(parse_jj(JJ, "t.jj"), tmp_path / "t.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "out", "err"),
    [("/dev/stdout", "x\n", ""), ("/dev/stderr", "", "x\n"), ("/dev/fd/2", "", "x\n"), ("/dev/null", "", "")],
)
def test_what_is_open_already_takes_a_result(name: str, out: str, err: str, capfd: pytest.CaptureFixture[str]) -> None:
    write_whole(name, "x\n")
    said = capfd.readouterr()
    assert (said.out, said.err) == (out, err)
