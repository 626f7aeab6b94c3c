"""Files of tau-ARGUS say the same as the tables, records and patterns that they stand for."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files.argus import read_metadata, result_columns
from gpuga.files.pattern import read_pattern
from gpuga.files.read import read_source, read_table, write_table
from gpuga.table.builders import table_from_array

RDA = """\
<SEPARATOR> ";"
<SAFE> "S"
<UNSAFE> "U"
<PROTECT> "P"
region
  <RECODEABLE>
  <TOTCODE> "All"
  <HIERARCHICAL>
  <HIERCODELIST> "C:\\files\\region.hrc"
  <HIERLEADSTRING> "@"
"kind of firm"
  <RECODEABLE>
  <TOTCODE> "Sum"
turnover
  <NUMERIC>
  <DECIMALS> 1
firms
  <FREQUENCY>
price
  <NUMERIC> <COST>
letter
  <STATUS>
low
  <NUMERIC> <LOWERPL>
top
  <MAXSCORE>
"""
TAB = """\
"Coast";"a";120.5;7;3;S;0;9
"Coast";"b";50;2;4;U;5.5;9
"Hills";"a";70;8;5;S;0;9
"Hills";"b";90;9;6;P;0;9
"South";"a";60;5;7;M;0;9
"South";"b";0;0;0;E;0;0
"""
LONG = """\
region,kind of firm,value,contributors,weight,status,lower
Coast,a,120.5,7,3,s,0
Coast,b,50,2,4,u,5.5
Hills,a,70,8,5,s,0
Hills,b,90,9,6,z,0
South,a,60,5,7,m,0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.rda").write_text(RDA)
    (tmp_path / "t.tab").write_text(TAB)
    (tmp_path / "t.csv").write_text(LONG)
    (tmp_path / "region.hrc").write_text("North\n@Coast\n@Hills\nSouth\n")
    return tmp_path


def test_a_table_with_metadata_is_the_long_table_that_it_stands_for(folder: Path) -> None:
    one = read_table(folder / "t.tab")
    other = read_table(
        folder / "t.csv",
        hierarchies={"region": folder / "region.hrc"},
        totals={"region": "All", "kind of firm": "Sum"},
    )
    for name in ("value", "weight", "status", "contributors"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
    assert one.levels.lower.tolist() == other.levels.lower.tolist()
    assert one.grid is not None
    assert other.grid is not None
    assert [d.codes for d in one.grid.dimensions] == [d.codes for d in other.grid.dimensions]


def test_a_decimal_comma_and_other_letters_are_understood(folder: Path) -> None:
    plain = read_table(folder / "t.tab")
    (folder / "t.tab").write_text(TAB.replace(".", ",").replace(";U;", ";X;"))
    (folder / "t.rda").write_text(RDA.replace('<UNSAFE> "U"', "<UNSAFE> X"))
    with pytest.warns(UserWarning, match="decimal comma"):
        again = read_table(folder / "t.tab")
    assert again.value.tolist() == plain.value.tolist()
    assert again.status.tolist() == plain.status.tolist()


def test_a_table_of_frequencies_counts(folder: Path) -> None:
    (folder / "t.rda").write_text("r\n <RECODEABLE>\nn\n <FREQUENCY>\n")
    (folder / "t.tab").write_text("a;3\nb;4\n")
    with pytest.warns(UserWarning, match="no cell of this table is sensitive"):
        assert read_table(folder / "t.tab").value[:2].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("  <DECIMALS> 1", "  <HIERLEVELS> 1 1", "line 16: a hierarchy by digits is not read"),
        ('  <TOTCODE> "All"', "  <TOTCODE>", "line 7: <TOTCODE> is not"),
        ("<NUMERIC> <COST>", "<NUMERIC>", "2 variables that could be the values"),
    ],
)
def test_metadata_that_say_too_little_are_refused(old: str, new: str, says: str, folder: Path) -> None:
    (folder / "t.rda").write_text(RDA.replace(old, new))
    with pytest.raises(InputError, match=says) as fault:
        read_table(folder / "t.tab")
    assert fault.value.path == folder / "t.rda"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (";70;8;", ";many;8;", "line 3, field value: is not a number"),
        (";P;0;9", ";P;0", "line 4: has 7 fields, the metadata name 8 variables"),
        (";P;", ";Q;", "line 4, field status: unknown status 'q'"),
    ],
)
def test_faults_of_a_table_name_their_line(old: str, new: str, says: str, folder: Path) -> None:
    (folder / "t.tab").write_text(TAB.replace(old, new))
    with pytest.raises(InputError, match=says):
        read_table(folder / "t.tab")


def test_metadata_stand_beside_their_file(folder: Path) -> None:
    (folder / "t.rda").unlink()
    with pytest.raises(InputError, match=r"needs its metadata beside it, in t\.rda"):
        read_table(folder / "t.tab")
    (folder / "t.rda").write_text("\n")
    with pytest.raises(InputError, match="names no variable"):
        read_metadata(folder / "t.tab")
    with pytest.raises(InputError, match="not written"):
        write_table(table_from_array([[1, 2], [3, 4]]), folder / "out.tab")


BOX = "r,c,value,status\na,x,20,u\na,y,30,s\nb,x,40,s\nb,y,50,s\n"
RESULT = '"Total";"Total";140;9;140;S;0;0\n"a";"x";20;1;20;U;3;3\n"a";"y";30;2;30;M;0;0\n"b";"x";40;2;40;M;0;0\n'
RESULT += '"b";"y";50;4;50;M;0;0\n"b";"q";0;0;0;E;0;0\n'


def test_a_protected_table_is_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(BOX)
    (tmp_path / "result.tab").write_text(RESULT)
    pattern = read_pattern(read_source(tmp_path / "t.csv"), tmp_path / "result.tab")
    assert pattern.tolist()[:4] == [True] * 4
    assert not pattern[4:].any()
    assert run(["audit", str(tmp_path / "t.csv"), str(tmp_path / "result.tab"), "--quiet"]) == 0
    words = ["--start", str(tmp_path / "result.tab"), "--out", str(tmp_path / "p.csv"), "--generations", "1", "--quiet"]
    assert run(["protect", str(tmp_path / "t.csv"), *words]) == 0
    (tmp_path / "result.tab").write_text(RESULT.replace(";M;", ";S;"))
    assert run(["audit", str(tmp_path / "t.csv"), str(tmp_path / "result.tab"), "--quiet"]) == 1


@pytest.mark.parametrize("bad", [RESULT.replace(";U;", ";Y;"), '"a";"x"\n', '"a";"x";S;S\n'])
def test_what_has_no_letters_is_no_protected_table(bad: str, tmp_path: Path) -> None:
    (tmp_path / "result.tab").write_text(bad)
    with pytest.raises(InputError, match="is not a protected table"):
        result_columns(tmp_path / "result.tab", ["r", "c"])


def test_a_safe_table_is_written_as_codes_and_values(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(BOX.replace("a,", '"=a;""b",'))
    (tmp_path / "p.csv").write_text("cell,suppression\n0,primary\n1,secondary\n2,secondary\n3,secondary\n")
    words = [
        "publish",
        str(tmp_path / "t.csv"),
        str(tmp_path / "p.csv"),
        "--out",
        str(tmp_path / "safe.tab"),
        "--quiet",
    ]
    assert run([*words, "--flag", "x"]) == 0
    lines = (tmp_path / "safe.tab").read_text().splitlines()
    assert lines[0] == '"\'=a;""b";"x";x'
    assert '"Total";"Total";140' in lines
    assert run([*words, "--sdmx"]) == 2


@pytest.mark.parametrize(
    ("rda", "asc"),
    [
        ("region 1 5\n <RECODEABLE>\nturnover 7 6\n <NUMERIC>\n", "Nord    12.5\nSüd    120.0\nNord     2.5\n"),
        ('<SEPARATOR> ";"\nregion\n <RECODEABLE>\nturnover\n <NUMERIC>\n', "Nord;12,5\nSüd;120\nNord;2,5\n"),
    ],
    ids=["fixed width", "separated"],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_records_with_metadata_are_tabulated(rda: str, asc: str, encoding: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "r.rda").write_text(rda)
    (tmp_path / "r.asc").write_bytes(asc.encode(encoding))
    words = [
        "--by",
        "region",
        "--value",
        "turnover",
        "--rule",
        "frequency:2",
        "--out",
        str(tmp_path / "t.csv"),
        "--quiet",
    ]
    assert run(["tabulate", str(tmp_path / "r.asc"), *words]) == 0
    lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("Nord,15,s")
    assert lines[2].startswith("Süd,120,u")


def test_the_leading_string_of_the_metadata_shows_depth_in_the_hierarchy(folder: Path) -> None:
    before = read_table(folder / "t.tab")
    (folder / "t.rda").write_text(RDA.replace('<HIERLEADSTRING> "@"', '<HIERLEADSTRING> "xx"'))
    (folder / "region.hrc").write_text("North\nxxCoast\nxxHills\nSouth\n")
    after = read_table(folder / "t.tab")
    assert after.grid is not None
    assert before.grid is not None
    assert after.grid.dimensions[0].codes == before.grid.dimensions[0].codes
    assert after.grid.dimensions[0].parent.tolist() == before.grid.dimensions[0].parent.tolist()
