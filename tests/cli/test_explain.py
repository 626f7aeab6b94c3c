"""Explanations name cells by their codes, and say what the audit says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuga.cli.explained import named_cell
from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.report.names import Names
from gpuga.table.builders import table_from_array

ROWS = [
    "r,c,value,status",
    "a,x,50,u", "a,y,60,s", "a,z,7,s", "b,x,70,s", "b,y,80,s", "b,z,9,s", "d,x,11,s", "d,y,12,s", "d,z,13,s",
]  # fmt: skip
PATTERN = "r,c,suppression\na,x,primary\na,y,secondary\nb,x,secondary\nb,y,secondary\nd,z,secondary\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("\n".join(ROWS) + "\n")
    (tmp_path / "p.csv").write_text(PATTERN)
    return tmp_path


def explain(folder: Path, *more: str) -> int:
    return run(["explain", str(folder / "t.csv"), str(folder / "p.csv"), *more])


def test_the_overview_says_what_is_lost_what_needs_it_and_what_is_tight(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(files, "--json", str(files / "e.json")) == 0
    said = capsys.readouterr().out
    assert said.startswith("CONFIDENTIAL")
    assert "suppressed: 5 of 16 cells (31.2 %): 1 primary, 4 secondary" in said
    assert "suppressed totals: none" in said
    assert "r=b, c=y  cost 80  needed by 1: r=a, c=x" in said
    assert "r=d, c=z  cost 13  no sensitive cell needs it alone" in said
    content = json.loads((files / "e.json").read_text())
    assert content["audience"] == "office"
    assert [one["cell"] for one in content["secondary"]] == ["r=b, c=y", "r=b, c=x", "r=a, c=y", "r=d, c=z"]
    assert [one["cell"] for one in content["tightest"]] == ["r=a, c=x"]
    assert content["tightest"][0]["room_over_level"] >= 1


def test_a_cell_is_explained_with_what_publishing_it_would_cost(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(files, "--cell", "c=y, r=b", "--json", str(files / "e.json")) == 0
    said = capsys.readouterr().out
    assert "r=b, c=y: secondary, value 80" in said
    assert "cost 80; needed by 1: r=a, c=x" in said
    (cell,) = json.loads((files / "e.json").read_text())["cells"]
    instead = cell["published_instead"]
    assert instead["possible"]
    assert instead["optimal"]
    assert instead["cost"] - instead["more"] == 60 + 70 + 80 + 13


def test_a_sensitive_and_a_published_cell_are_explained_too(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(files, "--cell", "r=a,c=x", "--cell", "r=a,c=Total") == 0
    said = capsys.readouterr().out
    assert "r=a, c=x: primary, value 50" in said
    assert "levels: lower 7.5, upper 7.5, sliding 0; protected" in said
    assert "r=a, c=Total: published, value 117" in said


def test_a_cell_without_which_nothing_is_safe_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(
        "r,c,value,status\na,x,50,u\na,y,60,s\nb,x,70,s\nb,y,80,s\na,Total,110,z\nb,Total,150,z\n"
    )
    (tmp_path / "p.csv").write_text("r,c,suppression\na,x,primary\na,y,secondary\nb,x,secondary\nb,y,secondary\n")
    assert explain(tmp_path, "--cell", "r=a,c=y") == 0
    assert "no safe pattern publishes it" in capsys.readouterr().out


def test_an_unsafe_pattern_is_explained_and_says_so(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "p.csv").write_text("r,c,suppression\na,x,primary\na,y,secondary\n")
    assert explain(files) == 1
    assert "not safe" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "a", "r=a", "r=a,c=q", "r=a,r=b", "x,r=a,c=x", "r=a,c=x,c=y"])
def test_what_is_no_cell_is_refused(text: str, files: Path) -> None:
    assert explain(files, "--cell", text) == 2


def test_codes_may_have_commas_and_signs_in_them() -> None:
    table = table_from_array([[1, 2], [3, 4]], names=["r", "c"], codes=[["a, b", "r=x"], ["c", "d,e=f"]])
    names = Names(table)
    assert named_cell(names, "r=a, b,c=d,e=f") == 1
    assert named_cell(names, "c=c, r=r=x") == 2
    with pytest.raises(InputError, match="--cell"):
        named_cell(names, "r=a,c=c")


def test_cells_without_codes_are_named_by_the_index_of_their_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.jj").write_text(
        "0\n3\n7 50 50 u 0 100 1 1 0\n8 70 70 s 0 100 0 0 0\n9 120 120 s 0 200 0 0 0\n1\n0 3 : 9 (-1) 7 (1) 8 (1)\n"
    )
    (tmp_path / "p.csv").write_text("index,suppression\n7,primary\n8,secondary\n9,published\n")
    assert run(["explain", str(tmp_path / "t.jj"), str(tmp_path / "p.csv"), "--cell", "8"]) == 0
    assert "cell 8: secondary, value 70" in capsys.readouterr().out
    assert run(["explain", str(tmp_path / "t.jj"), str(tmp_path / "p.csv")]) == 0
    assert "cell 8  cost 70  needed by 1: cell 7" in capsys.readouterr().out


def test_protect_says_what_is_lost(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--method", "hypercube", "--out", str(files / "q.csv"), "--json", str(files / "s.json")]
    assert run(["protect", str(files / "t.csv"), *words]) == 0
    said = capsys.readouterr().out
    assert "% of value)" in said
    assert "suppressed totals" in said
    losses = json.loads((files / "s.json").read_text())["losses"]
    assert losses["primary"] == 1
    assert sum(level["cells"] for level in losses["levels"] if level["dimension"] == "r") == losses["cells"] == 16


def test_exposed_cells_are_named_by_their_codes(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["expose", str(files / "t.csv"), "--json", str(files / "e.json")]) == 0
    said = capsys.readouterr().out
    assert "\nexposed: 1 (r=a, c=x)\n" in said
    assert "\nconsequentially exposed: 0\n" in said
    assert json.loads((files / "e.json").read_text())["exposed"] == [0]
