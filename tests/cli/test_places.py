"""Outputs are looked at before the work: none is an input or another output, and all of them can be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuga.cli.main import run

TABLE = "r,c,value,status\na,x,20,u\na,y,30,s\nb,x,40,s\nb,y,50,s\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    (tmp_path / "r.hrc").write_text("a\nb\n")
    return path


def protect(table: Path, *more: str) -> int:
    return run(["protect", str(table), "--quiet", *more])


def refused(code: int, capsys: pytest.CaptureFixture[str], *words: str) -> None:
    said = capsys.readouterr().err
    assert code == 2
    assert said.count("\n") == 1
    for word in words:
        assert word in said


@pytest.mark.parametrize("option", ["--out", "--json", "--log"])
@pytest.mark.parametrize("kind", ["name", "symbolic link", "hard link", "another spelling"])
def test_no_output_names_the_table(table: Path, option: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = table.parent / "other.csv"
    if kind == "symbolic link":
        name.symlink_to(table)
    elif kind == "hard link":
        os.link(table, name)
    else:
        name = table if kind == "name" else table.parent / ".." / table.parent.name / table.name
    out = [] if option == "--out" else ["--out", str(table.parent / "p.csv")]
    refused(protect(table, *out, option, str(name)), capsys, option, "same file as TABLE")
    assert table.read_text() == TABLE


@pytest.mark.parametrize("option", ["--hierarchy", "--start"])
def test_no_output_names_another_input(table: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = table.parent / "r.hrc"
    given = f"r={name}" if option == "--hierarchy" else str(name)
    refused(protect(table, option, given, "--out", str(name)), capsys, f"same file as {option}")
    assert name.read_text() == "a\nb\n"


@pytest.mark.parametrize(
    ("one", "two"), [("--out", "--json"), ("--out", "--log"), ("--json", "--log"), ("--out", "--checkpoint")]
)
def test_no_output_names_another_output(table: Path, one: str, two: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, link = table.parent / "p.csv", table.parent / "link.csv"
    link.symlink_to(name)
    more = [] if "--out" in (one, two) else ["--out", str(table.parent / "q.csv")]
    refused(protect(table, one, str(name), two, str(link), *more), capsys, f"same file as {one}")
    assert not name.exists()


@pytest.mark.parametrize("command", ["audit", "expose", "bound", "compare"])
def test_no_command_writes_over_its_table(table: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    pattern = [str(table.parent / "p.csv")] if command == "audit" else []
    refused(run([command, str(table), *pattern, "--json", str(table)]), capsys, "same file as TABLE")
    assert table.read_text() == TABLE


def test_an_audit_does_not_write_over_its_pattern(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern = table.parent / "p.csv"
    pattern.write_text("r,c,suppression\na,x,primary\n")
    refused(run(["audit", str(table), str(pattern), "--json", str(pattern)]), capsys, "same file as PATTERN")


def test_microdata_are_not_written_over(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--by", "r,c", "--value", "value", "--rule", "p:10", "--out", str(table)]
    refused(run(["tabulate", str(table), *words]), capsys, "same file as MICRODATA")
    refused(run(["microdata", "protect", str(table), "--fields", "r,c", "--out", str(table)]), capsys, "FILE")
    assert table.read_text() == TABLE


def test_a_pattern_is_not_written_under_the_name_of_another_kind(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(protect(table, "--out", str(table.parent / "p.ods")), capsys, ".ods", ".csv")


def test_devices_may_take_several_outputs(table: Path) -> None:
    assert protect(table, "--out", "/dev/null", "--json", "/dev/null") == 0


BAD_NAMES = ["bad\0name.csv", "\ud800.csv", "x" * 300 + ".csv", "r.hrc/p.csv"]


@pytest.mark.parametrize(
    ("option", "name"),
    [(option, name) for option in ("--out", "--json", "--log") for name in [*BAD_NAMES, "folder/p.csv"]]
    + [("--checkpoint", name) for name in BAD_NAMES],  # folders of checkpoints are made, with those above them
)
def test_names_that_cannot_be_written_are_refused_before_the_table_is_read(
    table: Path, option: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table.write_text("no table")
    out = [] if option == "--out" else ["--out", str(table.parent / "p.csv")]
    code = protect(table, *out, option, str(table.parent / name))
    said = capsys.readouterr().err
    assert code == 2
    assert "no column" not in said
    assert said.count("\n") == 1


def test_a_result_that_cannot_be_written_takes_the_others_with_it(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pattern = table.parent / "p.csv"
    refused(protect(table, "--out", str(pattern), "--json", "/dev/full"), capsys, "/dev/full", "No space left")
    assert sorted(p.name for p in table.parent.iterdir()) == ["r.hrc", "t.csv"]


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "0", "-1", "1e999", "ten"])
@pytest.mark.parametrize("command", ["protect", "bound", "compare"])
def test_a_time_limit_is_a_positive_number(
    table: Path, command: str, seconds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--out", str(table.parent / "p.csv")] if command == "protect" else []
    refused(run([command, str(table), "--seconds", seconds, *more]), capsys, "--seconds")


@pytest.mark.parametrize("command", ["protect", "audit", "expose", "bound", "compare"])
def test_what_stays_in_the_office_says_so_on_its_face(
    table: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    pattern, out = table.parent / "p.csv", table.parent / "out.json"
    assert protect(table, "--out", str(pattern)) == 0
    more = {
        "protect": ["--out", str(table.parent / "q.csv"), "--method", "hypercube"],
        "audit": [str(pattern)],
        "compare": ["--methods", "hypercube"],
    }
    assert run([command, str(table), *more.get(command, []), "--json", str(out)]) == 0
    assert json.loads(out.read_text())["audience"] == "office"
    assert capsys.readouterr().out.startswith("CONFIDENTIAL: internal use only\n")


def test_a_start_that_gives_a_sensitive_cell_away_is_refused(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = table.parent / "start.csv"
    out = ["--method", "exact", "--out", str(table.parent / "p.csv"), "--start", str(start)]
    start.write_text("r,c,suppression\na,x,published\n")
    refused(protect(table, *out), capsys, "start.csv", "publishes the sensitive cell 0 (r=a, c=x)")
    table.write_text(TABLE.replace("b,y,50,s", "b,y,50,z"))
    start.write_text("r,c,suppression\nb,y,secondary\n")
    refused(protect(table, *out), capsys, "start.csv", "must be published")


def test_a_time_limit_of_microdata_is_a_positive_number(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--fields", "r,c", "--out", str(table.parent / "m.csv"), "--seconds", "nan"]
    refused(run(["microdata", "protect", str(table), *words]), capsys, "--seconds")
