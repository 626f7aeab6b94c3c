"""Tabulations as table files, and the example from records to a published table."""

from __future__ import annotations

import csv
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import gpuga
from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.microdata import Layout, parse_rule, tabulate, write_tabulation
from tests.microdata.test_tabulate import random_records, write
from tests.microdata.test_traps import HOLDING, SINGLETON

EXAMPLE = Path(__file__).parents[2] / "examples" / "microdata"


def tabulated(tmp_path, text=SINGLETON, **more):
    (tmp_path / "m.csv").write_text(text)
    return tabulate(tmp_path / "m.csv", Layout(("region", "branch"), "turnover", **more), [parse_rule("p:20")])


def test_a_jj_file_carries_the_groups_as_cells_and_equations(tmp_path):
    made = tabulated(tmp_path, HOLDING, holding="holding")
    write_tabulation(made, tmp_path / "t.jj")
    read, kept = gpuga.read_table(tmp_path / "t.jj"), made.table()
    assert len(made.groups) == 1
    assert np.array_equal(read.value, kept.value)
    assert np.array_equal(read.status, kept.status)
    assert np.array_equal(read.levels.upper, kept.levels.upper)
    assert len(read.lines) == len(kept.lines)


def test_a_table_without_groups_is_read_as_it_was_written(tmp_path):
    write(tmp_path / "m.csv", random_records(5))
    layout = Layout(("a", "b"), "v", cost="w")
    made = tabulate(tmp_path / "m.csv", layout, [parse_rule("frequency:3")], singletons=False)
    for name in ("t.csv", "t.parquet"):
        write_tabulation(made, tmp_path / name)
        read = gpuga.read_table(tmp_path / name)
        assert np.array_equal(read.value, made.value)
        assert np.array_equal(read.primary, made.primary)
        assert np.array_equal(read.levels.upper, made.level)
        assert np.array_equal(read.weight, made.cost)
        assert np.array_equal(read.contributors, made.contributors)


def test_group_rows_stand_after_the_cells_and_list_their_members(tmp_path):
    made = tabulated(tmp_path, HOLDING, holding="holding")
    write_tabulation(made, tmp_path / "t.csv")
    with open(tmp_path / "t.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    *cells, group = rows
    members = [int(m) for m in group["members"].split()]
    assert [cells[m]["branch"] for m in members] == ["a", "b"]
    assert group["region"] == group["branch"] == ""
    assert int(group["value"]) == sum(int(cells[m]["value"]) for m in members)
    assert not any(cell["members"] for cell in cells)


def test_a_table_ends_in_a_known_suffix(tmp_path):
    with pytest.raises(InputError, match=r"\.csv, \.parquet or \.jj"):
        write_tabulation(tabulated(tmp_path), tmp_path / "t.xlsx")


def test_the_command_counts_but_shows_no_value(tmp_path, capsys):
    (tmp_path / "m.csv").write_text(SINGLETON)
    words = f"tabulate {tmp_path}/m.csv --by region,branch --value turnover --rule frequency:3"
    assert run([*f"{words} --out {tmp_path}/t.jj --json {tmp_path}/s.json".split()]) == 0
    said = capsys.readouterr().out.replace(str(tmp_path), "")  # the folder's own name may hold any digits
    assert json.loads((tmp_path / "s.json").read_text())["primaries"] == 2
    assert "CONFIDENTIAL: internal use only" in said
    assert "61" not in said


def test_the_example_goes_from_records_to_a_published_table(tmp_path, capsys):
    runpy.run_path(str(EXAMPLE / "walk.py"))["main"](tmp_path, 150, 0.5, ["--method", "hypercube"])
    said = capsys.readouterr().out
    assert "sensitive cells are protected" in said
    with open(tmp_path / "published.csv", newline="") as file:
        published = list(csv.DictReader(file))
    assert set(published[0]) == {"region", "industry", "value", "flag"}
    assert {row["flag"] for row in published} == {"c", ""}
    assert all((row["value"] == "") == (row["flag"] == "c") for row in published)
