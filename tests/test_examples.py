"""The shipped examples run and end in a safe pattern."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import runpy
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest

from gpuga.anytime import make_safe
from gpuga.cli.main import run
from gpuga.context import Context
from gpuga.files.tables import read_tables
from gpuga.heuristics.hypercube import hypercube
from gpuga.safety.audit import audit
from gpuga.table.plan import plan
from gpuga.table.table import Table
from tests.support.public_attacker import PublicAttacker, parts_of

EXAMPLES = Path(__file__).parents[1] / "examples"


class Demo(NamedTuple):
    """What the demo wrote and said."""

    folder: Path
    said: str


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder, said = tmp_path_factory.mktemp("demo"), io.StringIO()
    with contextlib.redirect_stdout(said):
        assert runpy.run_path(str(EXAMPLES / "demo.py"))["main"](folder) == 0
    return Demo(folder, said.getvalue())


def test_the_demo_protects_the_example(demo: Demo) -> None:
    folder, said = demo
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["safe"] is True
    assert summary["audited"] == summary["sensitive"] == 55
    assert str(folder / "pattern.csv") in said
    given = list(csv.DictReader((EXAMPLES / "turnover.csv").open(encoding="utf-8")))
    pattern = list(csv.DictReader((folder / "pattern.csv").open(encoding="utf-8")))
    assert [(r["region"], r["activity"]) for r in pattern] == [(r["region"], r["activity"]) for r in given]
    assert all(p["value"] in ("", g["value"]) for p, g in zip(pattern, given, strict=True))
    attack_the_demo(folder, given)
    corners = said.partition("A corner of the table")[2]
    assert all(word in corners for word in ("112.8 u", "primary", "secondary", " c "))
    assert (folder / "report.html").resolve().as_uri() in said
    assert "CONFIDENTIAL" in (folder / "report.html").read_text(encoding="utf-8")


def attack_the_demo(folder: Path, given: list[dict[str, str]]) -> None:
    """What the demo writes for publication gives no sensitive value or count to one who solves linear programs."""
    axes = {name: parts_of(EXAMPLES / f"{name}.hrc") for name in ("region", "activity")}
    kept, public = (list(csv.DictReader((folder / f).open(encoding="utf-8"))) for f in ("pattern.csv", "public.csv"))
    levels = {
        (r["region"], r["activity"]): (v := float(r["value"]), min(v, 0.15 * v), 0.15 * v)
        for r in given
        if r["status"] == "u"
    }
    counted = PublicAttacker(kept, axes, "contributors")
    exact = [cell for cell in levels if np.ptp(counted.interval(cell, least=1.0)) < 1e-4]
    assert exact, "the attack itself works, on what stays in the office"
    assert set(public[0]) == {"region", "activity", "value", "flag"}
    assert {r["flag"] for r in public} == {"c", ""}
    assert levels.keys() <= {(r["region"], r["activity"]) for r in public if r["flag"] == "c"}
    assert PublicAttacker(public, axes).too_close(levels) == []
    bare = [
        r | {"value": "" if (r["region"], r["activity"]) in levels else g["value"]}
        for r, g in zip(public, given, strict=True)
    ]
    assert PublicAttacker(bare, axes).too_close(levels) != [], "without secondary suppressions it would succeed"


def test_the_example_table_is_made_by_its_script(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLES / "make_turnover.py"))["main"](tmp_path)
    for name in ("region.hrc", "activity.hrc"):
        assert (tmp_path / name).read_text() == (EXAMPLES / name).read_text()
    made = list(csv.reader((tmp_path / "turnover.csv").open(encoding="utf-8")))
    shipped = list(csv.reader((EXAMPLES / "turnover.csv").open(encoding="utf-8")))
    assert [row[:2] for row in made] == [row[:2] for row in shipped]


def test_the_picture_of_the_readme_shows_what_the_demo_makes(demo: Demo, tmp_path: Path) -> None:
    made, shipped = tmp_path / "pattern.svg", EXAMPLES.parent / "docs" / "pattern.svg"
    runpy.run_path(str(EXAMPLES / "picture.py"))["main"](made, demo.folder / "pattern.csv")
    assert ElementTree.parse(made).getroot().tag.endswith("svg")
    again = "make demo, then python examples/picture.py docs/pattern.svg demo-out/pattern.csv"
    assert made.read_text(encoding="utf-8") == shipped.read_text(encoding="utf-8"), again


def test_firms_no_wish_makes_a_table_cheaper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walk = runpy.run_path(str(EXAMPLES / "firms" / "walk.py"))
    found = walk["price_wishes"](tmp_path, 300, ["--seconds", "6"])
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


def walk_and_attack(folder: Path, firms: int, seconds: float, most: int) -> dict[str, float]:
    """The three commands, then linear programs on the public workbook for at most so many sensitive cells."""
    openpyxl = pytest.importorskip("openpyxl")
    walk = runpy.run_path(str(EXAMPLES / "firms" / "walk.py"))
    times: dict[str, float] = walk["three_commands"](folder, firms, ["--seconds", str(seconds)])
    assert list(times) == ["protect", "publish", "report"]
    assert "CONFIDENTIAL" in (folder / "report.html").read_text(encoding="utf-8")
    head, *rows = openpyxl.load_workbook(folder / "public.xlsx").active.iter_rows(values_only=True)
    assert list(head) == ["region", "activity", "size", "value", "flag"], "and nothing else"
    public = [dict(zip(head, ("" if entry is None else str(entry) for entry in row), strict=True)) for row in rows]
    table = folder / "table.csv"
    assert run(["tabulate", str(folder / "firms.csv"), *walk["asked"](folder), "--quiet", "--out", str(table)]) == 0
    office = list(csv.DictReader(table.open(encoding="utf-8")))
    levels = {
        (r["region"], r["activity"], r["size"]): (float(r["value"]), float(r["lower"]), float(r["upper"]))
        for r in office
        if r["status"] == "u" and r["region"]
    }
    axes = {name: parts_of(folder / f"{name}.hrc") for name in ("region", "activity")}
    axes["size"] = {"Total": sorted({r["size"] for r in public} - {"Total"})}
    attacker = PublicAttacker(public, axes)
    assert levels.keys() <= attacker.blank.keys()
    chosen = np.random.default_rng(1).permutation(len(levels))[:most]
    cells = list(levels)
    asked = {cells[z]: levels[cells[z]] for z in chosen.tolist()}
    assert attacker.too_close(asked) == []
    bare = [r | {"value": "" if r["status"] == "u" else r["value"]} for r in office if r["region"]]
    assert PublicAttacker(bare, axes).too_close(asked) != [], "without secondary suppressions it would succeed"
    return times


def test_three_commands_lead_from_records_to_a_workbook_that_withstands_linear_programs(tmp_path: Path) -> None:
    walk_and_attack(tmp_path, 500, 5, 60)


@pytest.mark.slow  # minutes of linear programs on a table of 8,465 cells
def test_the_public_workbook_of_all_firms_withstands_linear_programs(tmp_path: Path) -> None:
    walk_and_attack(tmp_path, 20_000, 120, 150)


def test_the_firms_are_the_same_every_time(tmp_path: Path) -> None:
    make = runpy.run_path(str(EXAMPLES / "firms" / "make_firms.py"))["write_firms"]
    first, second = ((tmp_path / name) for name in ("one", "two"))
    for folder in (first, second):
        folder.mkdir()
        make(folder, 200)
    for name in ("firms.csv", "region.hrc", "activity.hrc"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert len(list(csv.DictReader((first / "firms.csv").open(encoding="utf-8")))) == 200


@pytest.mark.parametrize("firms", [100, pytest.param(250, marks=pytest.mark.slow)])
def test_linked_tables_of_firms_are_safe_together_and_not_alone(tmp_path: Path, firms: int) -> None:
    walk = runpy.run_path(str(EXAMPLES / "firms" / "linked.py"))
    planned = plan([one.member for one in read_tables(walk["tabulated"](tmp_path, firms))])
    assert [len(cluster.members) for cluster in planned.clusters] == [3]
    linked = planned.clusters[0].linked
    groups = [where[len(where) - part.groups :] for where, part in zip(linked.position, linked.members, strict=True)]
    assert set(np.concatenate(groups)) == set(range(len(linked.table) - linked.table.groups, len(linked.table)))
    assert all(len(of_one) for of_one in groups)
    alone = [safe_by_boxes(member.table) for member in planned.members]
    assert audit(linked.table, linked.together(alone), whole="no", intervals=False).unsafe
    together = safe_by_boxes(linked.table)
    verdict = audit(linked.table, linked.together(linked.apart(together)), whole="no", intervals=False)
    assert verdict.safe
    assert verdict.audited == len(linked.table.sensitive)


def safe_by_boxes(table: Table) -> np.ndarray:
    """A pattern of a table that is safe on its own, without a bound on its cost."""
    found = hypercube(table, Context())
    suppressed, verdict, _ = make_safe(table, found.suppressed, Context(), found.proof)
    assert verdict.safe
    return suppressed


def test_the_walk_through_linked_tables_ends_in_safe_patterns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walk = runpy.run_path(str(EXAMPLES / "firms" / "linked.py"))
    assert walk["main"](tmp_path, 40, ["--method", "incremental", "--seed", "1"])["together"] == 0
    assert "together" in capsys.readouterr().out
    assert {path.stem for path in (tmp_path / "together").iterdir()} == set(walk["TABLES"])
