"""Linked tables on the command line: plans, patterns in a folder, joint audits, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gpuga.cli.main import run

REGIONS = "region,kind,value,status\na,x,3,u\na,y,20,s\nb,x,30,s\nb,y,40,s\nc,x,15,s\nc,y,9,s\n"
SIZES = "area,size,value\nA,1,11\nA,2,12\nb,1,60\nb,2,10\nc,1,20\nc,2,4\n"
TREES = "top\n-a\n-b\nc\n"
PLAN = """[hierarchies]
region = "r.hrc"

[aliases.region]
A = "a"

[[table]]
file = "regions.csv"

[[table]]
file = "sizes.csv"
name = "by size"
columns = { area = "region" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"regions.csv": REGIONS, "sizes.csv": SIZES, "r.hrc": TREES, "tables.toml": PLAN}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_plan_says_what_is_shared_and_draws_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "plan",
        str(folder / "tables.toml"),
        "--json",
        str(folder / "plan.json"),
        "--out",
        str(folder / "plan.dot"),
    ]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "2 tables, 1 to protect" in said
    assert "5 cells in common with by size" in said  # a, b, c, their sub-total and the total
    content = json.loads((folder / "plan.json").read_text())
    assert content["audience"] == "office"
    assert content["shared"] == [{"tables": ["regions", "by size"], "cells": 5, "suppressible": 5}]
    assert content["clusters"][0]["cells"] == 15 + 15 - 5
    drawing = (folder / "plan.dot").read_text()
    assert 't0 -- t1 [label="5"];' in drawing
    assert drawing.count("subgraph") == 1
    assert run(["plan", str(folder / "tables.toml"), "--out", str(folder / "plan.svg"), "--quiet"]) == 0
    picture = ElementTree.parse(folder / "plan.svg").getroot()
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["regions: 15 cells", "by size: 15 cells", "5"]


def test_linked_tables_get_a_pattern_each_that_are_safe_together(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, out, summary = (str(folder / name) for name in ("tables.toml", "out", "summary.json"))
    common = ["--method", "incremental", "--whole", "no"]
    assert run(["protect", plan, "--out", out, "--json", summary, *common]) == 0
    assert "1 to protect" in capsys.readouterr().out
    assert run(["audit", plan, out, "--whole", "no"]) == 0
    assert "safe, all 1 sensitive cells are protected" in capsys.readouterr().out
    assert json.loads(Path(summary).read_text())["clusters"][0]["tables"] == ["regions", "by size"]
    rows = list(csv.DictReader((Path(out) / "by size.csv").open()))
    assert [row["area"] for row in rows[:6]] == ["A", "A", "b", "b", "c", "c"]  # as the file calls them
    assert all(row["value"] == "" for row in rows if row["suppression"] != "published")
    primary = [row for row in csv.DictReader((Path(out) / "regions.csv").open()) if row["suppression"] == "primary"]
    assert [(row["region"], row["kind"], row["value"]) for row in primary] == [("a", "x", "")]
    assert run(["protect", plan, "--out", str(folder / "turns"), "--one-by-one", "--quiet", *common]) == 0
    assert run(["audit", plan, str(folder / "turns"), "--quiet", "--whole", "no"]) == 0


def test_a_joint_audit_finds_what_another_table_gives_away(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out"
    out.mkdir()
    hidden = [
        "a,x,primary",
        *(f"{code},secondary" for code in ("a,Total", "top,x", "top,Total", "Total,x", "Total,Total")),
    ]
    (out / "regions.csv").write_text("\n".join(["region,kind,suppression", *hidden]) + "\n")
    (out / "by size.csv").write_text("area,size,suppression\nA,1,published\n")
    answer = folder / "audit.json"
    assert run(["audit", str(folder / "tables.toml"), str(out), "--json", str(answer), "--whole", "no"]) == 1
    said = capsys.readouterr().out
    assert "not safe, 1 cells are not protected" in said
    assert "region=a, kind=x" in said
    assert json.loads(answer.read_text())["safe"] is False


def test_a_plan_of_files_can_be_written_and_protected(folder: Path) -> None:
    (folder / "kinds.csv").write_text("kind,value,status\nx,48,s\ny,69,s\n")
    words = [str(folder / name) for name in ("regions.csv", "kinds.csv")]
    tree = ["--hierarchy", f"region={folder / 'r.hrc'}"]
    assert run(["plan", *words, *tree, "--out", str(folder / "made.toml"), "--quiet"]) == 0
    assert (
        run(["protect", str(folder / "made.toml"), "--out", str(folder / "o"), "--method", "incremental", "--quiet"])
        == 0
    )
    assert {path.name for path in (folder / "o").iterdir()} == {"regions.csv", "kinds.csv"}


TABLE = '[[table]]\nfile = "regions.csv"\n'
BAD = {
    "no TOML": ("table = [", "is not TOML"),
    "no table": ("[hierarchies]\n", "names no table"),
    "a number for all tables": ("table = 3\n", "names no table"),
    "an unknown word": (PLAN + 'colour = "red"\n', "field colour: is not one of"),
    "no file": ('[[table]]\nname = "t"\n', "field file: is missing"),
    "a file that is not there": ('[[table]]\nfile = "gone.csv"\n', "there is no such file"),
    "a name with a slash": (TABLE + 'name = "../up"\n', "cannot be the name of a pattern file"),
    "a number for a text": (TABLE + "measure = 3\n", "field measure: must be a text"),
    "a hierarchy that is a number": ("hierarchies = { region = 3 }\n" + TABLE, "must be a file or a list"),
    "columns that are not there": (TABLE + 'columns = { planet = "region" }\n', "has no dimension 'planet'"),
    "two tables of one name": (TABLE + TABLE, "two tables are called 'regions'"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_plan_is_refused_in_one_sentence(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, expected = BAD[case]
    (folder / "bad.toml").write_text(text)
    assert run(["plan", str(folder / "bad.toml")]) == 2
    said = capsys.readouterr().err
    assert expected in said
    assert len(said.strip().splitlines()) == 1


def test_values_that_differ_are_named_without_being_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sizes.csv").write_text(SIZES.replace("A,1,11", "A,1,12"))
    assert run(["plan", str(folder / "tables.toml")]) == 2
    said = capsys.readouterr().err
    assert "has different values in the linked tables" in said
    assert "23" not in said
    assert "24" not in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["protect", "tables.toml", "--out", "o", "--levels", "5%"], "--levels: is said in the .toml file"),
        (["protect", "tables.toml", "--out", "o", "--proof", "p.gz"], "--proof: is said in the .toml file"),
        (["protect", "regions.csv", "--out", "o.csv", "--one-by-one"], "--one-by-one: is for linked tables"),
        (["protect", "tables.toml", "--out", "regions.csv"], "is a file: linked tables need a folder"),
        (["plan", "tables.toml", "regions.csv"], "give one .toml file, or tables, not both"),
        (["plan", "tables.toml", "--out", "plan.png"], "a plan is written as one of .svg, .dot, .toml"),
        (["plan", "regions.csv", "--hierarchy", "planet=r.hrc"], "no table has a dimension 'planet'"),
        (["plan", "tables.toml", "--out", "tables.toml"], "names the same file as TABLES"),
        (["audit", "tables.toml", "nowhere"], "there is no such file"),
    ],
)
def test_what_linked_tables_do_not_take_is_refused(
    words: list[str], expected: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert run(words) == 2
    assert expected in capsys.readouterr().err
