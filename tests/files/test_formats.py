"""Every format to the letter: what is written, what is read, and which figure is at fault."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.files import csv as csv_files
from gpuga.files import parquet, source
from gpuga.files.atomic import is_device
from gpuga.files.csv import line_of_row, parse_columns, write_csv
from gpuga.files.hrc import read_hierarchy, write_hierarchy
from gpuga.files.jj import jj_indices, parse_jj, write_jj
from gpuga.files.parquet import write_parquet
from gpuga.files.pattern import read_pattern
from gpuga.files.read import read_source, read_table, write_table
from gpuga.files.source import read_text
from gpuga.table import INFINITE, Dimension, Levels, Lines, Status, Table
from gpuga.table.builders import table_from_array

ODD = {
    "plain": "a,b\n1,2\n3,4\n",
    "no line end": "a,b\n1,2",
    "header only": "a,b\n",
    "one column": "a\n1\n2\n",
    "Windows": "a,b\r\n1,2\r\n",
    "old line ends": "a,b\r1,2\r3,4\r",
    "a lone return in a field": 'a,b\n1,"x\ry"\n',
    "blank lines": "a,b\n\n1,2\n\n\n3,4\n",
    "a blank line first": "\na,b\n1,2\n",
    "quotes": 'a,b\n"1,5",2\n"x ""y""",4\n',
    "line breaks in fields": 'a,b\n"1\n5",2\n',
    "semicolons": "a;b\n1,5;2\n",
    "tabs": "a\tb\n1,5\t2;3\n",
    "empty fields": "a,b\n,\n1,\n",
    "other letters": "ä,ß\n√,\U0001f600\n",
    "long lines": "a,b\n" + "x" * 70_000 + "," + "y" * 70_000 + "\n",
}


@pytest.mark.parametrize("case", ODD)
def test_a_sheet_is_what_the_csv_module_reads(case: str) -> None:
    text = ODD[case]
    sheet = parse_columns(text, Path("t.csv"))
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=sheet.delimiter) if row]
    assert sheet.delimiter == {"semicolons": ";", "tabs": "\t"}.get(case, ",")
    assert sheet.header == rows[0]
    assert sheet.columns == [[row[at] for row in rows[1:]] for at in range(len(rows[0]))]
    assert sheet.rows == len(rows) - 1


@pytest.mark.parametrize(
    "case", ["plain", "no line end", "Windows", "one column", "empty fields", "semicolons", "other letters"]
)
def test_plain_sheets_do_not_take_the_slow_way(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_read_rows", lambda *_: pytest.fail("row by row"))
    parse_columns(ODD[case], Path("t.csv"))


@pytest.mark.parametrize("text", ["a,b\n1\n2,3,4\n", "a,b\n1,2,3\n4\n", "a,b\n1,2\n3\n"])
def test_uneven_rows_are_refused_though_the_fields_add_up(text: str) -> None:
    with pytest.raises(InputError, match=r"has \d fields, the header has 2"):
        parse_columns(text, Path("t.csv"))


def test_rows_are_found_again_where_fields_have_line_breaks() -> None:
    text = 'a,b\n"1\n2",x\n\n3,y\n'
    assert [line_of_row(text, row) for row in (0, 1)] == [3, 5]


def full_table() -> Table:
    """Everything that a file can say of a cell."""
    table = table_from_array([[10, 20], [30, 45]], names=["r", "c"], codes=[["a", "b"], ["x", "y"]])
    n = len(table)
    status = np.array([Status.SENSITIVE, 0, Status.FROZEN, Status.SUPPRESSED] + [0] * (n - 4))
    lower, upper, sliding = (np.where(status == Status.SENSITIVE, x, 0) for x in (3, 4, 9))
    lb = np.where(np.arange(n) == 1, -INFINITE, 5)
    ub = np.where(np.arange(n) < 2, table.value + 12, INFINITE)
    return Table.build(
        table.value, table.lines, status=status, levels=Levels(lower, upper, sliding), lb=lb, ub=ub, scale=10,
        weight=np.arange(n) + 15, weight_scale=10, grid=table.grid, contributors=np.arange(n) + 1,
    )  # fmt: skip


CSV = """r,c,value,status,lower,upper,sliding,weight,lb,ub,contributors
a,x,1,u,0.3,0.4,0.9,1.5,0.5,2.2,1
a,y,2,s,,,,1.6,-inf,3.2,2
b,x,3,z,,,,1.7,0.5,inf,3
b,y,4.5,m,,,,1.8,0.5,inf,4
Total,x,4,s,,,,1.9,0.5,inf,5
Total,y,6.5,s,,,,2,0.5,inf,6
a,Total,3,s,,,,2.1,0.5,inf,7
b,Total,7.5,s,,,,2.2,0.5,inf,8
Total,Total,10.5,s,,,,2.3,0.5,inf,9
"""


def test_a_csv_file_says_all_that_there_is_to_say(tmp_path: Path) -> None:
    write_csv(full_table(), tmp_path / "t.csv")
    assert sorted((tmp_path / "t.csv").read_text().splitlines()) == sorted(CSV.splitlines())


def test_columns_that_say_nothing_are_left_out(tmp_path: Path) -> None:
    write_csv(table_from_array([5, 6], names=["r"]), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "r,value,status,lower,upper\n1,5,s,,\n2,6,s,,\nTotal,11,s,,\n"
    plain = table_from_array([5, 6], names=["r"])
    for name, column, texts in (
        ("weight", plain.weight + (np.arange(3) == 1) * plain.weight_scale, ["5", "7", "11"]),
        ("lb", (np.arange(3) == 1) * plain.scale, ["0", "1", "0"]),
        ("ub", np.where(np.arange(3) == 2, 20 * plain.scale, INFINITE), ["inf", "inf", "20"]),
    ):
        write_csv(replace(plain, **{name: column}), tmp_path / "t.csv")  # one cell is enough to write the column
        rows = [line.split(",") for line in (tmp_path / "t.csv").read_text().splitlines()]
        assert rows[0] == ["r", "value", "status", "lower", "upper", name]
        assert [row[-1] for row in rows[1:]] == texts


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jj"])
def test_nothing_of_a_full_table_is_lost_on_the_way(suffix: str, tmp_path: Path) -> None:
    table = full_table()
    write_table(table, tmp_path / f"t{suffix}")
    again = read_table(tmp_path / f"t{suffix}")
    by, weight_by = again.scale // table.scale, again.weight_scale // table.weight_scale
    assert again.status.tolist() == table.status.tolist()
    assert again.value.tolist() == (table.value * by).tolist()
    assert again.weight.tolist() == (table.weight * weight_by).tolist()
    for name in ("lb", "ub"):
        old, new = getattr(table, name), getattr(again, name)
        assert new.tolist() == np.where(np.abs(old) >= INFINITE, old, old * by).tolist()
    for name, level in vars(table.levels).items():
        assert vars(again.levels)[name].tolist() == (level * by).tolist()
    if suffix != ".jj":
        assert again.contributors is not None
        assert again.contributors.tolist() == list(range(1, 10))


def test_a_jj_file_is_written_to_the_letter(tmp_path: Path) -> None:
    lines = Lines(np.array([0, 3]), np.array([2, 0, 1], np.int32), np.array([-1, 1, 1]), np.array([0]))
    small = Table.build(
        np.array([15, 20, 35]), lines,
        status=np.array([1, 3, 2]), levels=Levels(np.array([2, 0, 0]), np.array([5, 0, 0]), np.array([9, 0, 0])),
        lb=np.array([-INFINITE, 0, 5]), ub=np.array([20, INFINITE, 40]), scale=10, weight=np.array([1, 2, 3]),
    )  # fmt: skip
    write_jj(small, tmp_path / "t.jj")
    none = "1" + "0" * 20
    assert (tmp_path / "t.jj").read_text().splitlines() == [
        "0",
        "3",
        f"0 1.5 1 u -{none} 2 0.2 0.5 0.9",
        f"1 2 2 m 0 {none} 0 0 0",
        "2 3.5 3 z 0.5 4 0 0 0",
        "1",
        "0 3 : 2 (-1) 0 (1) 1 (1)",
    ]


JJ = "0\n3\n7 5 5 u 0 100 1 1 0\n3 7 7 s 0 100 0 0 0\n9 12 12 s 0 100 0 0 0\n1\n0 3 : 9 (-1) 7 (1) 3 (1)\n"


def jj(text: str) -> Table:
    return parse_jj(text, "t.jj")


def test_a_jj_file_names_cells_as_it_likes() -> None:
    assert jj_indices(JJ) == ["7", "3", "9"]
    table = jj(JJ)
    assert table.lines.cell.tolist() == [2, 0, 1]
    assert table.lines.coef.tolist() == [-1, 1, 1]
    assert table.label(2) == "cell 2"


@pytest.mark.parametrize("sign", [10**6, -(10**6), 2])
def test_signs_up_to_a_million_are_taken(sign: int) -> None:
    total = 5 * sign + 7
    text = JJ.replace("7 (1)", f"7 ({sign})").replace("9 12 12 s 0 100", f"9 {total} 12 s -1e9 1e9")
    assert sign in jj(text).lines.coef.tolist()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("7 (1)", "7 (1000001)", "line 7.*sign.*too large"),
        ("7 (1)", "3 (1)", "line 7.*a cell occurs twice"),
        ("3 7 7 s", "7 7 7 s", "line 4.*the same cell occurs twice"),
        ("3 7 7 s", "x 7 7 s", "line 4.*not an index"),
        ("3 7 7 s 0", "3 7 7 s", "line 4.*has 8 fields, a cell has 9"),
        ("3 7 7 s", "3 7 7 q", "line 4.*unknown status"),
        ("u 0 100 1 1 0", "u 0 100 1 -1 0", "line 3.*upper.*negative level"),
        ("u 0 100 1 1 0", "u 5 5 1 1 0", "line 3.*lb.*frozen"),
        ("9 12 12", "9 11 12", "line 7.*equation 0 does not add up"),
        ("\n3\n", "\n0\n", "line 2"),
        ("\n3\n", "\nthree\n", "line 2.*the number of cells is missing"),
        ("\n3\n", "\n4\n", "line"),
        ("0\n3", "1\n3", "line 1.*first line must be 0"),
        ("\n1\n", "\n\n", "line 6.*the number of equations is missing"),
        ("\n1\n", "\n2\n", "line 6.*claims 2 equations, the file has only 7 lines"),
    ],
)
def test_a_fault_in_a_jj_file_is_named_with_its_line(old: str, new: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        jj(JJ.replace(old, new, 1))


def test_sensitive_cells_without_room_but_without_levels_are_taken() -> None:
    assert jj(JJ.replace("u 0 100 1 1 0", "u 5 5 0 0 0")).sensitive.tolist() == [0]
    assert jj(JJ.replace("u 0 100 1 1 0", "u 0 100 0 0 3")).levels.sliding.tolist() == [3, 0, 0]


def test_levels_by_rule_are_for_sensitive_cells_without_any() -> None:
    without = parse_jj(JJ.replace("u 0 100 1 1 0", "u 0 100 0 0 0"), "t.jj", levels="2")
    assert without.levels.upper.tolist() == without.levels.lower.tolist() == [2, 0, 0]
    slid = parse_jj(JJ.replace("u 0 100 1 1 0", "u 0 100 0 0 3"), "t.jj", levels="2")
    assert slid.levels.upper.tolist() == [0, 0, 0]
    kept = parse_jj(JJ, "t.jj", levels="10%")
    assert (kept.levels.upper // kept.scale).tolist() == [1, 0, 0]
    assert parse_jj(JJ, "t.jj", weights="unit").weight.tolist() == [1, 1, 1]
    assert jj(JJ).weight.tolist() == [5, 7, 12]


def test_right_hand_sides_are_kept() -> None:
    table = jj(JJ.replace("9 12 12", "9 11.5 12").replace("0 3 :", "0.5 3 :"))
    assert table.scale == 10
    assert table.lines.rhs.tolist() == [5]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"r,value\na,1\n\x81,2\n", "line 3: is neither UTF-8 nor Windows-1252"),
        (b"\xff\xfer,value", "is not utf-16 text"),
        (b"r\0,\0v\0", "UTF-16 without a mark"),
        (b"BZh91", "bzip2"),
        (b"\xfd7zXZ\x00", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"r,\0", "not a text file"),
        (b"", "is empty"),
    ],
)
def test_what_is_no_text_is_said_with_its_line(data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(InputError, match=says):
        read_text(tmp_path / "t.csv")


def test_a_byte_is_a_text_and_too_many_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_bytes(b"5")
    assert read_text(tmp_path / "t.csv") == "5"
    monkeypatch.setattr(source, "MOST_BYTES", 4)
    (tmp_path / "t.csv").write_bytes(b"5555")
    assert read_text(tmp_path / "t.csv") == "5555"
    (tmp_path / "t.csv").write_bytes(b"55555")
    with pytest.raises(InputError, match="is larger than"):
        read_text(tmp_path / "t.csv")


def test_pipes_and_missing_files_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for read in (read_text, parquet.read_arrow):
        with pytest.raises(InputError, match="is not a plain file"):
            read(tmp_path / "pipe.csv")
        with pytest.raises(InputError, match="no such file"):
            read(tmp_path / "none.csv")
        with pytest.raises(InputError, match="is a directory"):
            read(tmp_path)


def test_a_parquet_fault_names_its_row(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    frame = pyarrow.table({"r": ["a", "b", "c"], "value": [1, 2, 3], "status": ["s", "q", "s"]})
    (tmp_path / "t.parquet").write_bytes(parquet.arrow_bytes(frame))
    with pytest.raises(InputError, match="line 2, field status"):
        read_table(tmp_path / "t.parquet")
    write_parquet(table_from_array([5, 6], names=["r"]), tmp_path / "u.parquet")
    kinds = {field.name: str(field.type) for field in parquet.read_arrow(tmp_path / "u.parquet").schema}
    assert kinds["value"] == "int64"
    assert kinds["r"] == kinds["status"] == "string"


def test_hierarchies_are_written_parents_first(tmp_path: Path) -> None:
    codes = ("east", "north", "coast", "hills", "west", "south", "Total")
    tree = Dimension("r", codes, np.array([2, 6, 1, 1, 2, 6, -1], np.int32))
    write_hierarchy(tree, tmp_path / "r.hrc")
    assert (tmp_path / "r.hrc").read_text() == "north\n@coast\n@@east\n@@west\n@hills\nsouth\n"
    (tmp_path / "dots.hrc").write_text((tmp_path / "r.hrc").read_text().replace("@", "."))
    assert read_hierarchy(tmp_path / "dots.hrc").parents == (None, "north", "coast", "coast", "north", None)
    (tmp_path / "gaps.hrc").write_text("north\n\n@coast\n")
    assert read_hierarchy(tmp_path / "gaps.hrc").lines == (1, 3)


def test_a_suffix_decides_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.TSV").write_text("r\tvalue\tstatus\na\t5\tu\nb\t6\ts\n")
    assert read_source(tmp_path / "t.TSV").table.value[:2].tolist() == [500, 600]
    with pytest.raises(InputError, match=r"files of kind \.ods are not known"):
        write_table(full_table(), tmp_path / "t.ods")
    with pytest.raises(InputError, match="without dimensions"):
        write_table(jj(JJ), tmp_path / "t.csv")


TWO = (
    "0\n5\n0 5 5 u 0 99 1 1 0\n1 7 7 s 0 99 0 0 0\n2 12 12 s 0 99 0 0 0\n3 3 3 s 0 99 0 0 0\n4 15 15 s 0 99 0 0 0\n"
    "2\n0 3 : 2 (-1) 0 (1) 1 (1)\n0 3 : 4 (-1) 2 (1) 3 (1)\n"
)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("4 15 15", "4 16 15", "line 10: equation 1 does not add up"),
        ("2 12 12 s", "2 13 12 s", "line 9: equation 0 does not add up"),
        ("0 3 : 4", "x 3 : 4", "line 10, field rhs"),
        ("0 3 : 2", "x 3 : 2", "line 9, field rhs"),
        ("4 (-1) 2", "4 (-1) 8", "line 10.*no cell 8"),
        ("2 (1) 3 (1)", "2 (1) 2 (1)", "line 10.*twice"),
        ("2 (1) 3 (1)", "2 (1) 3 (y)", "line 10.*sign"),
    ],
)
def test_a_fault_in_an_equation_is_named_with_its_line(old: str, new: str, says: str) -> None:
    assert len(jj(TWO).lines) == 2
    with pytest.raises(InputError, match=says):
        jj(TWO.replace(old, new, 1))


def test_devices_and_pipes_are_told_from_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("")
    assert [is_device(p) for p in (tmp_path / "pipe", "/dev/null", tmp_path / "file", tmp_path, tmp_path / "none")] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_a_parquet_file_may_claim_as_much_as_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    (tmp_path / "t.parquet").write_bytes(parquet.arrow_bytes(pyarrow.table({"r": ["a", "b"], "value": [1, 2]})))
    import pyarrow.parquet as files

    held = files.ParquetFile(tmp_path / "t.parquet").metadata
    size = sum(held.row_group(i).total_byte_size for i in range(held.num_row_groups))
    for name, most in (("MOST_BYTES", size), ("MOST_ROWS", 2), ("MOST_FIELDS", 4)):
        with monkeypatch.context() as patched:
            patched.setattr(parquet, name, most)
            assert parquet.read_arrow(tmp_path / "t.parquet").num_rows == 2
            patched.setattr(parquet, name, most - 1)
            with pytest.raises(InputError, match=r"claims|would unpack"):
                parquet.read_arrow(tmp_path / "t.parquet")


def test_a_row_of_a_pattern_that_is_no_cell_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("r,value,status\na,5,u\nb,6,s\n")
    (tmp_path / "p.csv").write_text("r,suppression\na,primary\nplanet,secondary\nb,secondary\n")
    assert read_table(tmp_path / "t.csv").sensitive.tolist() == [0]
    with pytest.raises(InputError, match="line 3: is not a cell of the table"):
        read_pattern(read_source(tmp_path / "t.csv"), tmp_path / "p.csv")
