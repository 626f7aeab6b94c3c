"""The shipped examples run and end in a safe pattern."""

from __future__ import annotations

import csv
import json
import runpy
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.optimize import linprog

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_demo_protects_the_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo = runpy.run_path(str(EXAMPLES / "demo.py"))
    assert demo["main"](tmp_path) == 0
    said = capsys.readouterr().out
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["safe"] is True
    assert summary["audited"] == summary["sensitive"] == 55
    assert str(tmp_path / "pattern.csv") in said
    given = list(csv.DictReader((EXAMPLES / "turnover.csv").open(encoding="utf-8")))
    pattern = list(csv.DictReader((tmp_path / "pattern.csv").open(encoding="utf-8")))
    assert [(r["region"], r["activity"]) for r in pattern] == [(r["region"], r["activity"]) for r in given]
    assert all(p["value"] in ("", g["value"]) for p, g in zip(pattern, given, strict=True))
    attack_the_demo(tmp_path, given)


def attack_the_demo(folder: Path, given: list[dict[str, str]]) -> None:
    """What the demo writes for publication gives no sensitive count or value to one who solves linear programs."""
    primaries = {(r["region"], r["activity"]) for r in given if r["status"] == "u"}
    kept, public = (list(csv.DictReader((folder / f).open(encoding="utf-8"))) for f in ("pattern.csv", "public.csv"))
    assert determined(kept, "contributors", 1.0) & primaries, "the attack itself works, on what stays in the office"
    assert set(public[0]) == {"region", "activity", "value", "flag"}
    assert {r["flag"] for r in public} == {"c", ""}
    assert primaries <= {(r["region"], r["activity"]) for r in public if r["flag"] == "c"}
    assert not determined(public, "value", 0.0) & primaries


def determined(rows: list[dict[str, str]], figure: str, least: float) -> set[tuple[str, str]]:
    """The blank cells whose figure follows exactly, where every blank is at least `least`."""
    known = {(r["region"], r["activity"]): float(r[figure]) for r in rows if r[figure]}
    blank = [(r["region"], r["activity"]) for r in rows if not r[figure]]
    place = {cell: at for at, cell in enumerate(blank)}
    matrix, right = [], []
    for cells in equations(set(known) | set(blank)):
        row, rest = np.zeros(len(blank)), 0.0
        for cell, sign in cells.items():
            if cell in place:
                row[place[cell]] = sign
            else:
                rest -= sign * known[cell]
        if row.any():
            matrix.append(row)
            right.append(rest)
    found = set()
    for cell, at in place.items():
        goal = np.zeros(len(blank))
        goal[at] = 1
        ends = [linprog(s * goal, A_eq=np.array(matrix), b_eq=right, bounds=(least, None)) for s in (1, -1)]
        if all(e.status == 0 for e in ends) and -ends[1].fun - ends[0].fun < 1e-4:
            found.add(cell)
    return found


def equations(cells: set[tuple[str, str]]) -> list[dict[tuple[str, str], int]]:
    """Every total of the example as the sum of its parts, from the hierarchies' files."""
    out = []
    for axis, name in enumerate(("region", "activity")):
        parts, above = {"Total": []}, ""
        for line in (EXAMPLES / f"{name}.hrc").read_text(encoding="utf-8").splitlines():
            if line.startswith("@"):  # two levels: a code, or a part of the last one
                parts[above].append(line[1:])
            else:
                above = line
                parts["Total"].append(line)
                parts[above] = []
        others = {cell[1 - axis] for cell in cells}
        for total, codes in ((total, codes) for total, codes in parts.items() if codes):
            for other in others:
                pair = [(code, other) if axis == 0 else (other, code) for code in (total, *codes)]
                out.append({cell: -1 if at == 0 else 1 for at, cell in enumerate(pair)})
    return out


def test_the_example_table_is_made_by_its_script(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLES / "make_turnover.py"))["main"](tmp_path)
    for name in ("region.hrc", "activity.hrc"):
        assert (tmp_path / name).read_text() == (EXAMPLES / name).read_text()
    made = list(csv.reader((tmp_path / "turnover.csv").open(encoding="utf-8")))
    shipped = list(csv.reader((EXAMPLES / "turnover.csv").open(encoding="utf-8")))
    assert [row[:2] for row in made] == [row[:2] for row in shipped]


def test_the_picture_can_be_drawn(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLES / "picture.py"))["main"](tmp_path / "pattern.svg")
    assert ElementTree.parse(tmp_path / "pattern.svg").getroot().tag.endswith("svg")


def test_firms_no_wish_makes_a_table_cheaper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walk = runpy.run_path(str(EXAMPLES / "firms" / "walk.py"))
    found = walk["main"](tmp_path, 300, ["--seconds", "6"])
    assert list(found) == ["grand total and regions", "grand total", "nothing"]
    costs = [outcome.cost for outcome in found.values()]
    assert costs[0] >= costs[1] >= costs[2] > 0
    assert all(0 < outcome.share < 1 for outcome in found.values())
    said = capsys.readouterr().out
    assert said.count("safe: the exact audit checked all") == 3
    for number, kept in enumerate((("North", "East", "South", "West", "Total"), ("Total",))):
        rows = csv.DictReader((tmp_path / f"pattern-{number}.csv").open(encoding="utf-8"))
        totals = {r["region"]: r for r in rows if r["activity"] == r["size"] == "Total"}
        assert all(totals[code]["suppression"] == "published" for code in kept)
    public = list(csv.DictReader((tmp_path / "public.csv").open(encoding="utf-8")))
    assert set(public[0]) == {"region", "activity", "size", "value", "flag"}


def test_the_firms_are_the_same_every_time(tmp_path: Path) -> None:
    make = runpy.run_path(str(EXAMPLES / "firms" / "make_firms.py"))["write_firms"]
    first, second = ((tmp_path / name) for name in ("one", "two"))
    for folder in (first, second):
        folder.mkdir()
        make(folder, 200)
    for name in ("firms.csv", "region.hrc", "activity.hrc"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert len(list(csv.DictReader((first / "firms.csv").open(encoding="utf-8")))) == 200
