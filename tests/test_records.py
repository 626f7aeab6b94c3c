"""From records to a protected table in one call, and what it shows of itself."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path
from typing import Any

import pytest

import gpuga
from gpuga.cli.main import run
from gpuga.errors import InputError
from gpuga.records import records_source, tabulated
from gpuga.table.builders import table_from_array

pytest.importorskip("duckdb")
pandas = pytest.importorskip("pandas")


def firms() -> dict[str, list[Any]]:
    """Few firms of very different size in every cell."""
    draw = random.Random(5)
    rows = [(r, a) for r in ("North", "South", "East", "West") for a in ("Food", "Metal", "Trade") for _ in range(4)]
    return {
        "region": [r for r, _ in rows],
        "activity": [a for _, a in rows],
        "turnover": [round(draw.lognormvariate(6, 1.6), 2) for _ in rows],
    }


BY, VALUE, RULES = ["region", "activity"], "turnover", ["p:10", "frequency:3"]


@pytest.fixture(scope="module")
def protection() -> gpuga.Protection:
    return gpuga.protect_records(pandas.DataFrame(firms()), BY, VALUE, RULES, method="hypercube")


def test_records_become_a_safe_table(protection: gpuga.Protection) -> None:
    assert protection.audit.safe
    assert len(protection.table.sensitive) > 0
    assert gpuga.audit(protection.table, protection.suppressed, intervals=False).safe


def test_a_frame_of_any_kind_and_a_file_make_the_same_table(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    content = firms()
    pandas.DataFrame(content).to_csv(tmp_path / "r.csv", index=False)
    kinds = [content, pandas.DataFrame(content), polars.DataFrame(content), tmp_path / "r.csv", str(tmp_path / "r.csv")]
    tables = [tabulated(records, BY, VALUE, RULES).table() for records in kinds]
    assert len({tuple(table.value.tolist()) for table in tables}) == 1
    assert len({tuple(table.status.tolist()) for table in tables}) == 1


def test_faults_of_a_frame_name_the_row() -> None:
    content = firms()
    content["turnover"][6] = "many"
    with pytest.raises(InputError, match="row 7: is not a number") as fault:
        gpuga.protect_records(content, BY, VALUE, RULES)
    assert fault.value.path is None
    with pytest.raises(InputError, match="colour"):
        gpuga.protect_records(firms(), BY, VALUE, RULES, tabulating={"colour": "red"})


def test_further_columns_are_passed_on() -> None:
    content = firms() | {"group": ["one"] * 48}
    alone = gpuga.protect_records(content, BY, VALUE, "p:10", method="hypercube", tabulating={"total": "All"})
    assert alone.table.grid is not None
    assert "All" in alone.table.grid.dimensions[0].codes
    together = tabulated(content, BY, VALUE, "p:10", holding="group").table()
    assert len(together.sensitive) > len(alone.table.sensitive)


def test_what_is_printed_shows_no_value(protection: gpuga.Protection) -> None:
    for text in (repr(protection), repr(protection.table), repr(protection.audit), protection._repr_html_()):
        assert len(text) < 1500
        shown = {float(x) for x in re.findall(r"[0-9]+\.?[0-9]*", text)}
        hidden = protection.table.value[protection.suppressed] / protection.table.scale
        assert not shown & set(hidden.tolist())
        assert str(protection.cost) not in text
    assert repr(protection).startswith("<Protection of 'table' by hypercube: ")
    assert len(repr(protection)) < 120


def test_labels_are_escaped_in_notebooks() -> None:
    table = table_from_array([[5, 6], [7, 8]], sensitive=[[1, 0], [0, 0]], names=["<b>", "c"], name="<script>")
    html = gpuga.protect(table, "hypercube")._repr_html_()
    assert "<b>" not in html
    assert "<script>" not in html


def test_a_frame_comes_back_with_blanks(protection: gpuga.Protection) -> None:
    frame = protection.to_frame()
    assert list(frame.columns) == ["region", "activity", "value", "suppression"]
    assert (frame["value"].isna() == (frame["suppression"] != "published")).all()
    assert (frame["suppression"] == "primary").sum() == len(protection.table.sensitive) - protection.table.groups
    assert list(protection.to_frame("polars").columns) == list(frame.columns)
    assert protection.to_frame("arrow").num_rows == len(frame)
    with pytest.raises(InputError, match="kind"):
        protection.to_frame("excel")


def test_costs_are_in_the_units_of_the_table() -> None:
    table = table_from_array([[5.5, 6.25], [7, 8]], sensitive=[[1, 0], [0, 0]])
    found = gpuga.protect(table, "exact")
    assert found.cost == 6.25 + 7 + 8
    assert found.scaled_cost == found.cost * table.weight_scale


def test_it_publishes_and_reports(protection: gpuga.Protection, tmp_path: Path) -> None:
    protection.publish(tmp_path / "public.csv", flag="x")
    rows = list(csv.DictReader((tmp_path / "public.csv").open()))
    assert [row["flag"] == "x" for row in rows] == protection.suppressed[: len(rows)].tolist()
    protection.report(tmp_path / "office.html")
    protection.report(tmp_path / "public.html", public=True)
    assert "CONFIDENTIAL" in (tmp_path / "office.html").read_text()
    assert "CONFIDENTIAL" not in (tmp_path / "public.html").read_text()


def test_a_table_without_dimensions_is_not_published_from_memory(tmp_path: Path) -> None:
    (tmp_path / "t.jj").write_text(
        "0\n3\n0 5 5 u 0 100 1 1 0\n1 7 7 s 0 100 0 0 0\n2 12 12 s 0 100 0 0 0\n1\n0 3 : 2 (-1) 0 (1) 1 (1)\n"
    )
    found = gpuga.protect(gpuga.read_table(tmp_path / "t.jj"), "hypercube")
    with pytest.raises(InputError, match="without dimensions"):
        found.publish(tmp_path / "public.csv")
    assert list(found.to_frame().columns) == ["cell", "value", "suppression"]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    rows = zip(*firms().values(), strict=True)
    text = "".join(f"{r};{a};{v:.2f}\n".replace(".", ",") for r, a, v in rows)
    (tmp_path / "r.csv").write_text("region;activity;turnover\n" + text)
    return tmp_path / "r.csv"


ASKED = ["--by", "region,activity", "--value", "turnover", "--rule", "p:10", "--rule", "frequency:3", "--quiet"]


def test_records_are_protected_and_published_without_a_table_between(records: Path, tmp_path: Path) -> None:
    pattern, public = str(tmp_path / "p.csv"), tmp_path / "public.csv"
    assert run(["protect", str(records), *ASKED, "--method", "hypercube", "--out", pattern]) == 0
    assert run(["audit", str(records), pattern, *ASKED]) == 0
    assert run(["publish", str(records), pattern, *ASKED, "--out", str(public)]) == 0
    rows = list(csv.DictReader(public.open()))
    assert list(rows[0]) == ["region", "activity", "value", "flag"]
    assert len(rows) == 5 * 4
    source = records_source(records, {"by": BY, "value": VALUE, "rule": RULES})
    value = {
        tuple(codes): v for *codes, v in zip(*(source.columns().by_name()[n] for n in (*BY, "value")), strict=True)
    }
    assert all(row["value"] in ("", value[row["region"], row["activity"]]) for row in rows)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--value", "turnover"], "--value: is for records"),
        (["--rule", "p:10"], "--rule: is for records"),
        (["--by", "region"], "--value: is missing"),
        (["--by", "region", "--value", "turnover"], "--rule: is missing"),
        ([*ASKED, "--wide", "x"], "--wide: is not for records"),
        ([*ASKED, "--total", "region=All"], "--total: records take one code"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    words: list[str], says: str, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["protect", str(records), "--out", str(records.parent / "p.csv"), *words]) == 2
    assert says in capsys.readouterr().err
