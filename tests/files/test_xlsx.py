"""Workbooks are read as their sheets show them, and texts in them are never run."""

from __future__ import annotations

import csv
import datetime
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files import xlsx
from gpuga.files.pattern import read_pattern
from gpuga.files.read import read_source, read_table, write_table
from gpuga.files.xlsx import read_sheet, sheet_bytes
from gpuga.table.builders import table_from_array

openpyxl = pytest.importorskip("openpyxl")

ROWS: list[list[Any]] = [
    ["region", "year", "value", "status"],
    ["Süd", 2024, 0.1 + 0.2, "u"],
    ["Süd", 2025, 4, "s"],
    ["Nord", 2024, 1234.5, "s"],
    ["Nord", 2025, 7.25, "s"],
]


def workbook(path: Path, *sheets: tuple[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_numbers_are_taken_as_the_sheet_shows_them(tmp_path: Path) -> None:
    table = read_table(workbook(tmp_path / "t.xlsx", ("data", ROWS)))
    assert table.value[:4].tolist() == [3 * table.scale // 10, 4 * table.scale, 12345 * table.scale // 10,
                                        725 * table.scale // 100]  # fmt: skip
    assert table.grid is not None
    assert [d.codes for d in table.grid.dimensions] == [("Süd", "Nord", "Total"), ("2024", "2025", "Total")]


def test_numbers_that_are_texts_are_read_in_their_notation(tmp_path: Path) -> None:
    rows = [ROWS[0], *([*row[:2], f"1 00{at},5", row[3]] for at, row in enumerate(ROWS[1:]))]
    with pytest.warns(UserWarning, match="decimal comma, thousands separated by spaces"):
        table = read_table(workbook(tmp_path / "t.xlsx", ("data", rows)))
    assert table.value[:4].tolist() == [v * table.scale // 10 for v in (10005, 10015, 10025, 10035)]


def test_blank_rows_and_columns_around_the_table_do_not_count_and_lines_are_rows(tmp_path: Path) -> None:
    rows = [[], *[[*row, None, None] for row in ROWS[:3]], [], ["Nord", 2024, "x", "s"], []]
    path = workbook(tmp_path / "t.xlsx", ("data", rows))
    with pytest.raises(InputError, match="line 6, field value: is not a number"):
        read_table(path)


def test_of_several_sheets_one_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = workbook(tmp_path / "t.xlsx", ("notes", [["nothing"]]), ("data", [r[:] for r in ROWS]))
    assert run(["expose", str(path), "--quiet"]) == 2
    assert "has 2 sheets: name one of 'notes', 'data' with --sheet" in capsys.readouterr().err
    assert run(["expose", str(path), "--sheet", "date", "--quiet"]) == 2
    assert "has no sheet 'date'" in capsys.readouterr().err
    assert run(["expose", str(path), "--sheet", "data", "--quiet"]) == 0


def test_dates_and_truths_are_codes(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ("s", [["day", "yes"], [datetime.date(2026, 1, 31), True]]))
    assert read_sheet(path) == "day,yes\n2026-01-31T00:00:00,True\n"


def test_what_an_archive_claims_is_judged_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(tmp_path / "t.xlsx", ("data", ROWS))
    monkeypatch.setattr(xlsx, "MOST_BYTES", 100)
    with pytest.raises(InputError, match="at most 100 are possible"):
        read_sheet(path)


@pytest.mark.parametrize("kept", [0, 1])
def test_broken_workbooks_are_refused_in_one_sentence(kept: int, tmp_path: Path) -> None:
    whole = zipfile.ZipFile(workbook(tmp_path / "t.xlsx", ("data", ROWS)))
    with zipfile.ZipFile(tmp_path / "bad.xlsx", "w") as bad:
        for part in whole.infolist()[:kept]:
            bad.writestr(part, whole.read(part))
    with pytest.raises(InputError, match="is not a readable workbook"):
        read_sheet(tmp_path / "bad.xlsx")


def test_an_empty_sheet_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no entry in the sheet"):
        read_sheet(workbook(tmp_path / "t.xlsx", ("data", [[None], []])))


def test_a_table_goes_out_and_comes_back(tmp_path: Path) -> None:
    table = table_from_array([[1.5, 20], [300, 4000]], sensitive=[[0, 1], [0, 0]])
    write_table(table, tmp_path / "t.xlsx")
    again = read_table(tmp_path / "t.xlsx")
    assert (again.value * table.scale == table.value * again.scale).all()
    assert (again.status == table.status).all()


def test_texts_stay_texts_and_long_numbers_keep_every_digit() -> None:
    data = sheet_bytes(["=n", "value"], [["=1+1", "12.5"], ["@x", "1234567890123456789"], ["-", ""]], ["value"])
    sheet = openpyxl.load_workbook(io.BytesIO(data)).active
    cells = [[(cell.value, cell.data_type) for cell in row] for row in sheet.iter_rows()]
    assert cells[0] == [("=n", "s"), ("value", "s")] or cells[0][0][1] != "f"
    assert cells[1][1] == (12.5, "n")
    assert cells[2][1] == ("1234567890123456789", "s")
    assert not any(kind == "f" for row in cells for _, kind in row)


def test_a_pattern_can_be_a_workbook_and_says_the_same_as_the_csv_file(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b,value,status\n=x,p,5.5,u\n=x,q,6,s\ny,p,7,s\ny,q,8,s\n", encoding="utf-8")
    files = [tmp_path / name for name in ("p.csv", "p.xlsx")]
    for file in files:
        assert run(["protect", str(table), "--out", str(file), "--quiet"]) == 0
    read = [
        list(csv.reader(text.splitlines())) for text in (files[0].read_text(encoding="utf-8"), read_sheet(files[1]))
    ]
    assert read[0] == read[1]
    source = read_source(table)
    masks = [read_pattern(source, file).tolist() for file in files]
    assert masks[0] == masks[1]
    assert run(["audit", str(table), str(files[1])]) == 0
    sheet = zipfile.ZipFile(files[1]).read("xl/worksheets/sheet1.xml").decode()
    assert "5.5" not in sheet, "a suppressed value"
    assert "<f>" not in sheet


def test_the_pattern_of_a_jj_table_can_be_a_workbook(tmp_path: Path) -> None:
    table, pattern = tmp_path / "t.jj", tmp_path / "p.xlsx"
    assert run(["generate", "class1", "--rows", "5", "--cols", "5", "--seed", "1", "--out", str(table)]) == 0
    assert run(["protect", str(table), "--out", str(pattern), "--quiet"]) == 0
    assert run(["audit", str(table), str(pattern)]) == 0
