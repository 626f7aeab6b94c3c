"""Bad input ends in exit code 2 with one sentence that names file, line and field, and no values."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.files.read import read_table
from gpuga.table.builders import table_from_frame
from gpuga.table.columns import MOST_ROWS

GOOD = "region,activity,value,status\na,x,5,u\na,y,7,s\nb,x,11,s\nb,y,13,s\n"
JJ = "0\n3\n0 5 5 u 0 100 1 1 0\n1 7 7 s 0 100 0 0 0\n2 12 12 s 0 100 0 0 0\n1\n0 3 : 2 (-1) 0 (1) 1 (1)\n"

TEXTS = {
    "not a table": ("t.csv", "once upon a time\nthere was a file\n", ["t.csv", "value"]),
    "no cells": ("t.csv", "region,value\n", ["t.csv", "no cells"]),
    "no dimension": ("t.csv", "value\n5\n", ["t.csv", "no dimension"]),
    "NaN": ("t.csv", GOOD.replace(",11,", ",NaN,"), ["t.csv", "line 4", "value", "not a finite number"]),
    "infinity": (
        "t.csv",
        GOOD.replace(",11,", ",-inf,"),
        ["t.csv", "line 4", "value", "not a finite number"],
    ),
    "a word as value": ("t.csv", GOOD.replace(",11,", ",many,"), ["line 4", "value", "not a number"]),
    "two notations": ("t.csv", GOOD.replace(",11,", ',"1,5",').replace(",7,", ",1.5,"), ["line 4", "another way"]),
    "an underscore": ("t.csv", GOOD.replace(",11,", ",1_1,"), ["line 4", "value", "not a number"]),
    "other digits": ("t.csv", GOOD.replace(",11,", ",\u0661\u0662,"), ["line 4", "value", "not a number"]),
    "a huge exponent": (
        "t.csv",
        GOOD.replace(",11,", ",1e999999999,"),
        ["line 4", "value", "too many digits"],
    ),
    "a tiny exponent": (
        "t.csv",
        GOOD.replace(",11,", ",1e-99999999,"),
        ["line 4", "value", "too many digits"],
    ),
    "too many digits": ("t.csv", GOOD.replace(",11,", "," + "9" * 30 + ","), ["line 4", "too many digits"]),
    "blank value": ("t.csv", GOOD.replace(",11,", ",,"), ["t.csv", "line 4", "value", "blank"]),
    "blank code": ("t.csv", GOOD.replace("b,x", ",x"), ["t.csv", "line 4", "region", "blank"]),
    "non-additive": (
        "t.csv",
        GOOD + "Total,x,17,s\n",
        ["t.csv", "line 6", "(region=Total, activity=x) is not the sum of its 2 parts", "does not add up"],
    ),
    "duplicate cells": ("t.csv", GOOD + "a,x,6,s\n", ["t.csv", "line 6", "same cell as in row 1 below the header"]),
    "unknown status": ("t.csv", GOOD.replace("11,s", "11,q"), ["t.csv", "line 4", "status", "'q'"]),
    "unknown sensitive": ("t.csv", "r,value,sensitive\na,1,maybe\nb,2,0\n", ["line 2", "sensitive"]),
    "both marks": ("t.csv", "r,value,sensitive,status\na,1,1,u\nb,2,0,s\n", ["status and sensitive"]),
    "negative level": (
        "t.csv",
        "r,value,status,lower\na,5,u,-1\nb,6,s,\n",
        ["t.csv", "line 2", "lower", "negative level"],
    ),
    "negative weight": ("t.csv", "r,value,weight\na,5,1\nb,6,-2\n", ["line 3", "weight", "negative"]),
    "frozen sensitive cell": (
        "t.csv",
        "r,value,status,lb,ub\na,5,u,5,5\nb,6,s,,\n",
        ["t.csv", "line 2", "frozen"],
    ),
    "sensitive zero": ("t.csv", "r,value,status\na,0,u\nb,6,s\n", ["line 2", "zero"]),
    "outside its bounds": ("t.csv", "r,value,lb,ub\na,5,6,9\nb,6,,\n", ["line 2", "bounds"]),
    "wrong column count": ("t.csv", GOOD + "a,z,1\n", ["t.csv", "line 6", "3 fields", "4"]),
    "open quote": ("t.csv", GOOD + 'a,"z,1,s\n', ["t.csv", "line 6", "not CSV"]),
    "huge field": ("t.csv", GOOD + "a," + "z" * 200_000 + ",1,s\n", ["t.csv", "line 6", "not CSV"]),
    "column twice": ("t.csv", "r,r,value\na,a,1\n", ["t.csv", "line 1", "'r' occurs twice"]),
    "column without name": ("t.csv", "r,,value\na,a,1\n", ["t.csv", "line 1", "no name"]),
    "records": ("t.csv", "r,turnover\na,1\n", ["'turnover'", "rename it to value", "--by with --value turnover"]),
    "another separator": ("t.csv", "r/c/value\na/x/1\n", ["only 'r/c/value'", "is --separator right?"]),
    "value in another case": ("t.csv", "r,Value\na,1\n", ["t.csv", "'Value'"]),
    "weights beyond arithmetic": (
        "t.csv",
        "r,value,weight\n" + "".join(f"c{i},1,{9 * 10**17}\n" for i in range(20)),
        ["t.csv", "field weight", "too large"],
    ),
    "contributors beyond arithmetic": (
        "t.csv",
        "r,value,contributors\n" + "".join(f"c{i},1,{9 * 10**17}\n" for i in range(20)),
        ["t.csv", "field contributors", "too large"],
    ),
    "three rows of 20 dimensions": (
        "t.csv",
        ",".join([*(f"q{i}" for i in range(20)), "value"])
        + "\n"
        + "".join(",".join([*(f"{row}{i}" for i in range(20)), "1"]) + "\n" for row in range(3)),
        ["t.csv", "20 dimensions", "too many marginals", "--ignore"],
    ),
    "fractional contributors": ("t.csv", "r,value,contributors\na,1,1.5\n", ["contributors"]),
    "100,000 columns": (
        "t.csv",
        ",".join(["value", *(f"c{i}" for i in range(100_000))]) + "\n" + ",".join(["1"] * 100_001) + "\n",
        ["t.csv", "100000 dimensions"],
    ),
    "unknown suffix": ("t.xlsx", GOOD, ["t.xlsx", ".xlsx"]),
    ".jj of other content": ("t.jj", GOOD, ["t.jj", "line 1", "first line must be 0"]),
    ".jj that claims 10^12 cells": (
        "t.jj",
        JJ.replace("\n3\n", "\n1000000000000\n"),
        ["t.jj", "line 2", "claims"],
    ),
    ".jj that claims 10^30 cells": (
        "t.jj",
        JJ.replace("\n3\n", "\n1" + "0" * 30 + "\n"),
        ["t.jj", "line 2", "claims"],
    ),
    ".jj that claims 10^12 equations": (
        "t.jj",
        JJ.replace("\n1\n0 3", "\n1000000000000\n0 3"),
        ["line 6", "claims"],
    ),
    ".jj without count": ("t.jj", JJ.replace("\n3\n", "\nthree\n"), ["t.jj", "line 2", "cells"]),
    ".jj with a short cell": ("t.jj", JJ.replace("1 7 7 s 0 100 0 0 0", "1 7 7 s 0"), ["line 4", "5 fields"]),
    ".jj with NaN": ("t.jj", JJ.replace("1 7 7", "1 nan 7"), ["t.jj", "line 4", "value", "finite"]),
    ".jj with the same cell twice": ("t.jj", JJ.replace("\n1 7 7", "\n0 7 7"), ["t.jj", "line 4", "twice"]),
    ".jj with an unknown status": ("t.jj", JJ.replace("7 7 s", "7 7 x"), ["t.jj", "line 4", "status", "'x'"]),
    ".jj with a negative level": ("t.jj", JJ.replace("100 1 1", "100 -1 1"), ["t.jj", "line 3", "lower"]),
    ".jj with a frozen sensitive cell": (
        "t.jj",
        JJ.replace("u 0 100", "u 5 5"),
        ["t.jj", "line 3", "frozen"],
    ),
    ".jj that does not add up": (
        "t.jj",
        JJ.replace("2 12 12", "2 13 12"),
        ["line 7", "equation 0", "does not add up"],
    ),
    ".jj with an unknown cell": ("t.jj", JJ.replace("2 (-1)", "9 (-1)"), ["t.jj", "line 7", "no cell 9"]),
    ".jj with a broken equation": (
        "t.jj",
        JJ.replace("0 3 :", "0 4 :"),
        ["t.jj", "line 7", "not an equation"],
    ),
    ".jj with more after its end": ("t.jj", JJ + "1 1 1\n", ["t.jj", "line 8"]),
    ".jj with a superscript count": ("t.jj", JJ.replace("\n3\n", "\n\u00b3\n"), ["t.jj", "line 2", "cells"]),
    ".jj with a superscript size": ("t.jj", JJ.replace("0 3 :", "0 \u00b3 :"), ["line 7", "field equation"]),
    ".jj with an Arabic size": ("t.jj", JJ.replace("0 3 :", "0 \u0663 :"), ["line 7", "field equation"]),
    ".jj with an Arabic sign": ("t.jj", JJ.replace("(-1)", "(-\u0661)"), ["line 7", "field sign", "not an integer"]),
    ".jj with an underscored sign": ("t.jj", JJ.replace("0 (1)", "0 (0_1)"), ["line 7", "field sign"]),
    ".jj with a sign of 0": ("t.jj", JJ.replace("0 (1)", "0 (0)"), ["line 7", "field sign", "a sign is 0"]),
    ".jj with a huge sign": ("t.jj", JJ.replace("(-1)", f"(-{'9' * 5000})"), ["line 7", "field sign", "too large"]),
    ".jj with an equation of nothing": (
        "t.jj",
        JJ.replace("\n1\n0 3", "\n2\n0 0 :\n0 3"),
        ["t.jj", "line 7", "field equation"],
    ),
    ".jj with an endless right-hand side": (
        "t.jj",
        JJ.replace("0 3 :", "inf 3 :"),
        ["t.jj", "line 7", "field rhs", "not a finite number"],
    ),
    ".jj with a word as right-hand side": (
        "t.jj",
        JJ.replace("0 3 :", "x 3 :"),
        ["line 7", "field rhs", "not a number"],
    ),
    ".jj that ends early": ("t.jj", "0\n3\n0 5 5 u 0 100 1 1 0\n", ["t.jj", "claims"]),
}


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = run(list(arguments))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("gpuga: ")
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    return code, said.err


@pytest.mark.parametrize("case", TEXTS)
def test_bad_text_is_refused_in_one_sentence(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, text, expected = TEXTS[case]
    (tmp_path / name).write_text(text, encoding="utf-8")
    code, sentence = outcome(capsys, "expose", str(tmp_path / name))
    assert code == 2
    for word in expected:
        assert word in sentence


def a_gzip_bomb(path: Path) -> None:
    path.write_bytes(gzip.compress(b"0" * 50_000_000))


BYTES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "missing": ("t.csv", lambda path: None, "no such file"),
    "a directory without suffix": ("t", lambda path: path.mkdir(), "is a directory"),
    "a directory": ("t.csv", lambda path: path.mkdir(), "is a directory"),
    "empty": ("t.csv", lambda path: path.write_bytes(b""), "is empty"),
    "blank": ("t.csv", lambda path: path.write_bytes(b"\n\n\n"), "is empty"),
    "a gzip bomb": ("t.csv", a_gzip_bomb, "compressed (gzip)"),
    "a zip": ("t.jj", lambda path: path.write_bytes(b"PK\x03\x04rest"), "compressed (zip)"),
    "binary": ("t.csv", lambda path: path.write_bytes(bytes(range(256)) * 9), "not a text file"),
    "half of UTF-16": ("t.csv", lambda path: path.write_bytes(GOOD.encode("utf-16") + b"\0"), "is not utf-16 text"),
    "another code page": ("t.csv", lambda path: path.write_bytes(b"r\x81,value\na,1\n"), "--encoding"),
    "no workbook": ("t.xlsx", lambda path: path.write_bytes(b"PK\x03\x04rest"), "not a readable workbook"),
    "no Parquet": (
        "t.parquet",
        lambda path: path.write_bytes(b"PAR1 but not really PAR1"),
        "not a readable Parquet",
    ),
}


@pytest.mark.parametrize("case", BYTES)
def test_what_is_no_text_is_refused_in_one_sentence(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, make, expected = BYTES[case]
    make(tmp_path / name)
    code, sentence = outcome(capsys, "expose", str(tmp_path / name))
    assert code == 2
    assert name in sentence
    assert expected in sentence


HIERARCHIES = {
    "a cycle": ("north\n@a\n@@north\n@b\n", "line 3", "cycle"),
    "the total below itself": ("Total\n@a\n@b\n", "line 1", "cycle"),
    "a code that is not in the table": ("north\n@a\n@b\n@c\n", "line 4", "'c' is not in the table"),
    "a code of the table that it lacks": ("north\n@a\n", "line 4", "'b' is not in the hierarchy"),
    "a code twice": ("north\n@a\nsouth\n@a\n@b\n", "line 4", "'a' occurs twice"),
    "a step too deep": ("north\n@@a\n@b\n", "line 2", "more than one step deeper"),
    "a bottomless pit": ("".join("@" * i + f"c{i}\n" for i in range(2000)), "line 41", "deeper than 40 levels"),
    "a line without a code": ("north\n@a\n@@\n@b\n", "line 3", "no code"),
}


@pytest.mark.parametrize("case", HIERARCHIES)
def test_a_bad_hierarchy_is_refused_in_one_sentence(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, line, expected = HIERARCHIES[case]
    (tmp_path / "t.csv").write_text(GOOD)
    (tmp_path / "region.hrc").write_text(text)
    table, tree = str(tmp_path / "t.csv"), str(tmp_path / "region.hrc")
    code, sentence = outcome(capsys, "expose", table, "--hierarchy", f"region={tree}")
    assert code == 2
    assert line in sentence
    assert expected in sentence


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--hierarchy", "region"], "DIM=FILE.hrc"),
        (["--hierarchy", "planet=x.hrc"], "x.hrc"),
        (["--levels", "a lot"], "--levels"),
        (["--levels", "-5%"], "--levels"),
        (["--weights", "gold"], "gold"),
        (["--weights", "count"], "contributors"),
        (["--ignore", "colour"], "colour"),
        (["--ignore", "value"], "value is reserved"),
        (["--dimension", "status"], "status is reserved"),
        (["--levels", "9" * 30], "--levels"),
        (["--levels", "9" * 18 + "%"], "--levels"),
        (["--levels", "0." + "1" * 30 + "%"], "--levels"),
        (["--json", "/no/such/folder/x.json"], "folder does not exist"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(
    options: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(GOOD)
    code, sentence = outcome(capsys, "expose", str(tmp_path / "t.csv"), *options)
    assert code == 2
    assert expected in sentence


def test_control_codes_in_labels_never_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = '"\x1b[2J\x1b]0;owned\x07"'
    (tmp_path / "t.csv").write_text(f"region,value,status\n{evil},5,q\nb,6,s\n")
    _, sentence = outcome(capsys, "expose", str(tmp_path / "t.csv"))
    (tmp_path / "u.csv").write_text(f"region,value,status\n{evil},5,s\nb,6,s\nTotal,12,s\n")
    _, other = outcome(capsys, "expose", str(tmp_path / "u.csv"))
    assert "\x1b" not in sentence + other
    assert "\x07" not in sentence + other


def test_no_fault_repeats_a_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("r,value,status\na,74207281x,u\nb,6,s\n")
    _, sentence = outcome(capsys, "expose", str(tmp_path / "t.csv"))
    assert "74207281" not in sentence


def test_a_parquet_file_that_claims_too_much_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = MOST_ROWS + 1
    codes = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(rows, np.int8)), ["a"])
    parquet.write_table(pyarrow.table({"r": codes, "value": codes}), tmp_path / "t.parquet", compression="zstd")
    assert (tmp_path / "t.parquet").stat().st_size < 300_000
    code, sentence = outcome(capsys, "expose", str(tmp_path / "t.parquet"))
    assert code == 2
    assert f"claims {rows} rows" in sentence


NESTED: dict[str, list[object]] = {
    "lists": [[1], [2]],
    "structures": [{"a": 1}, {"a": 2}],
    "bytes": [b"a", b"\xff"],
    "nothing": [None, None],
}


ODD_COLUMNS = [(kind, place) for kind in NESTED for place in ("x", "status", "value")]


@pytest.mark.parametrize(("kind", "place"), [c for c in ODD_COLUMNS if c != ("nothing", "status")])
def test_parquet_columns_that_are_not_plain_are_refused_by_name(
    kind: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"r": ["a", "b"], "value": [1, 2], "status": ["u", "s"], place: NESTED[kind]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    code, sentence = outcome(capsys, "expose", str(tmp_path / "t.parquet"))
    assert code == 2
    assert f"t.parquet, line 1, field {place}:" in sentence


@pytest.mark.parametrize("entry", [["a"], {"a": 1}, (1, 2), np.array([1])])
def test_frames_with_entries_that_are_not_plain_are_refused(entry: object) -> None:
    with pytest.raises(InputError, match="field r: row 2: is not a plain text or number"):
        table_from_frame({"r": ["a", entry], "value": [1, 2], "status": ["u", "s"]})


def test_a_hierarchy_given_in_memory_may_not_be_deeper_than_a_file() -> None:
    deep: dict[str, str | None] = {f"c{i}": f"c{i - 1}" if i else None for i in range(60)}
    with pytest.raises(InputError, match="deeper than 40 levels"):
        table_from_frame({"r": ["c59"], "value": [1]}, hierarchies={"r": deep})
    with pytest.raises(InputError, match="cycle"):
        table_from_frame({"r": ["a"], "value": [1]}, hierarchies={"r": {"a": "b", "b": "c", "c": "b"}})


def test_options_about_columns_and_codes_are_not_for_equations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.jj").write_text(JJ)
    for option in (["--ignore", "x"], ["--dimension", "x"], ["--total", "x"], ["--coincidence", "x=y"]):
        code, sentence = outcome(capsys, "expose", str(tmp_path / "t.jj"), *option)
        assert code == 2
        assert f"takes no {option[0]}" in sentence


def test_an_equation_that_leaves_a_sensitive_cell_out_does_not_tell_its_value(tmp_path: Path) -> None:
    path = tmp_path / "t.jj"
    path.write_text(JJ.replace("0 (1) ", "").replace("0 3 :", "0 2 :"))
    with pytest.raises(InputError, match="does not add up") as fault:
        read_table(path)
    assert "5" not in str(fault.value).replace(str(tmp_path), "")
