"""The shipped examples run and end in a safe pattern."""

from __future__ import annotations

import csv
import json
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

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
