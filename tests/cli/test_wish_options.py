"""`gpuga protect` with alternatives, a front, an earlier pattern, and cells that must be published."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from gpuga.cli.main import run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    words = "generate herrington --rows 12 --cols 12 --sensitive 5% --seed 3 --quiet --out"
    assert run([*words.split(), str(path)]) == 0
    return path


def protect(table: Path, *words: str) -> int:
    return run(["protect", str(table), "--out", str(table.parent / "p.csv"), *words])


def test_alternatives_are_written_beside_the_pattern(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = table.parent / "s.json"
    assert protect(table, "--alternatives", "2", "--json", str(summary)) == 0
    said = capsys.readouterr().out
    listed = json.loads(summary.read_text())["alternatives"]
    assert [one["pattern"] for one in listed] == [2, 3]
    assert all(one["safe"] and one["apart"] > 0 for one in listed)
    for number in (2, 3):
        path = table.parent / f"p-{number}.csv"
        assert str(path) in said
        assert path.read_text() != (table.parent / "p.csv").read_text()
        assert run(["audit", str(table), str(path), "--quiet"]) == 0


def test_no_alternative_may_be_written_over_a_file_that_is_read(table: Path) -> None:
    second = table.rename(table.with_name("p-2.csv"))
    assert protect(second, "--alternatives", "1") == 2


def test_a_front_has_a_row_and_a_pattern_each(table: Path) -> None:
    assert protect(table, "--method", "hypercube", "--quiet") == 0
    last = (table.parent / "p.csv").rename(table.parent / "last.csv")
    front = table.parent / "front.csv"
    assert protect(table, "--front", str(front), "--like", str(last), "--generations", "3", "--quiet") == 0
    rows = list(csv.DictReader(front.open()))
    assert rows
    assert list(rows[0]) == ["pattern", "cost", "secondary", "totals", "apart", "difference", "audience"]
    assert {row["audience"] for row in rows} == {"office"}
    for row in rows:
        pattern = list(csv.DictReader((table.parent / f"front-{row['pattern']}.csv").open()))
        assert sum(one["suppression"] == "secondary" for one in pattern) == int(row["secondary"])
        before = list(csv.DictReader(last.open()))
        changed = sum((a["value"] == "") != (b["value"] == "") for a, b in zip(pattern, before, strict=True))
        assert changed == int(row["difference"])


def test_an_earlier_pattern_with_unknown_codes_is_used_for_the_rest(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert protect(table, "--method", "hypercube", "--quiet") == 0
    last, summary = table.parent / "last.csv", table.parent / "s.json"
    rows = (table.parent / "p.csv").read_text().splitlines()
    renamed = [row.replace("r01,", "gone,", 1) if row.startswith("r01,") else row for row in rows]
    last.write_text("\n".join(renamed) + "\n")
    assert protect(table, "--like", str(last), "--like-weight", "90", "--json", str(summary)) == 0
    said = capsys.readouterr()
    unknown = sum(row.startswith("gone,") for row in renamed)
    assert f"{unknown} rows of the earlier pattern are no cells of this table: the others are used" in said.err
    like = json.loads(summary.read_text())["like"]
    assert like["percent"] == 90
    line = f"{like['kept']} cells kept, {like['added']} added, {like['dropped']} dropped"
    assert f"against the earlier pattern: {line}" in said.out


def test_an_earlier_pattern_without_a_cell_in_common_is_refused(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    last = table.parent / "last.csv"
    last.write_text("row,column,suppression\nx,y,published\n")
    assert protect(table, "--like", str(last)) == 2
    assert "has no cell in common with the table" in capsys.readouterr().err


def test_kept_cells_are_published_and_named(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = table.parent / "s.json"
    words = ["--keep", "row=r02", "--keep-totals", "0", "--json", str(summary)]
    assert protect(table, *words) == 0
    said = capsys.readouterr().out
    assert "published as wished: 2 cells (row=r02, totals of level 0)" in said
    assert json.loads(summary.read_text())["kept"] == [
        {"wish": "row=r02", "cells": 1},
        {"wish": "totals of level 0", "cells": 1},
    ]
    pattern = list(csv.DictReader((table.parent / "p.csv").open()))
    for row in pattern:
        if row["column"] == "Total" and row["row"] in ("r02", "Total"):
            assert row["suppression"] == "published"


def test_wishes_that_cannot_be_met_end_in_exit_code_3(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert protect(table, "--keep", "row=*,column=*") == 3
    assert "what is to be kept cannot be published: with row=*,column=* published" in capsys.readouterr().err
    assert not (table.parent / "p.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--like-weight 5", "--like-weight: needs --like"),
        ("--like t.csv --like-weight 100", "suppression"),
        ("--front f.xlsx", "is written as .csv"),
        ("--method castro --alternatives 2", "--alternatives: is not an option of castro"),
        ("--method castro --front f.csv", "is not an option of castro"),
        ("--alternatives -1", "--alternatives"),
        ("--keep row", "is not DIM=CODE"),
        ("--keep row=none", "has no code"),
        ("--keep-totals -2", "is not a level"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    table: Path, words: str, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    assert protect(table, *words.split()) == 2
    fault = capsys.readouterr().err
    assert said in fault
    assert fault.count("\n") == 1


def test_a_proof_of_a_pattern_with_kept_cells_verifies(table: Path) -> None:
    proof = table.parent / "proof.gz"
    assert protect(table, "--keep-totals", "1", "--proof", str(proof), "--quiet") == 0
    assert run(["verify", str(table), str(table.parent / "p.csv"), str(proof)]) == 0
