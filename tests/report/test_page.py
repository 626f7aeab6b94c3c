"""A page shows what its reader may know, runs nothing that a label says, and loads nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuga.cli.main import run
from gpuga.report.data import Judged
from gpuga.report.names import Names
from gpuga.report.page import page_text, percent, safe_json
from gpuga.safety.audit import audit
from gpuga.table.builders import table_from_array
from gpuga.table.table import Levels, Status
from tests.report.browser import dom, needs_browser

HOSTILE = [
    "</script><script>document.title='run'</script>",
    "<img src=x onerror=\"document.title='run'\">",
    "\"'><svg onload=document.title='run'>",
    "<!--<script>",
    "a&amp;b \u2028 \u2029 ]]>",
    "javascript:document.title='run'",
]


def judged(values: list[list[int]], primary: tuple[int, int] = (0, 0), codes: list[list[str]] | None = None) -> Judged:
    """A box of two by two is suppressed in the corner of a table."""
    sensitive = np.zeros((len(values), len(values[0])), bool)
    sensitive[primary] = True
    table = table_from_array(values, sensitive=sensitive, names=["row", "column"], codes=codes, levels="1%")
    table = replace(table, name="example")
    assert table.grid is not None
    suppressed = np.zeros(len(table), bool)
    suppressed[: len(values) * len(values[0])].reshape(sensitive.shape)[:2, :2] = True
    verdict = audit(table, suppressed, intervals=True, proofs=True)
    return Judged(table, suppressed, verdict, Names(table), "1.0")


def payload(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    content: dict[str, object] = json.loads(found[1])
    return content


VALUES = [[531, 642, 11], [753, 864, 12], [13, 14, 15]]


def test_the_office_edition_says_what_it_is_and_shows_everything() -> None:
    page = page_text(judged(VALUES))
    assert "CONFIDENTIAL: internal use only" in page
    assert page.index("Safe.") < page.index("What is suppressed") < page.index('id="cells"')
    assert {"interval", "level", "weight", "reason", "tight"} <= payload(page).keys()
    assert '"531"' in page


@pytest.mark.parametrize("by", [1, 37, 300])
@pytest.mark.parametrize("primary", [(0, 0), (1, 1)])
def test_tables_that_differ_in_suppressed_cells_only_have_the_same_public_page(
    by: int, primary: tuple[int, int]
) -> None:
    others = [[531 + by, 642 - by, 11], [753 - by, 864 + by, 12], [13, 14, 15]]
    assert page_text(judged(VALUES), public=True) == page_text(judged(others, primary), public=True)


@settings(max_examples=30, deadline=None)
@given(by=st.integers(-500, 500), weights=st.integers(1, 10**6), level=st.integers(0, 50))
def test_levels_weights_and_bounds_do_not_show_in_the_public_page(by: int, weights: int, level: int) -> None:
    one = judged(VALUES)
    other = judged([[531 + by, 642 - by, 11], [753 - by, 864 + by, 12], [13, 14, 15]])
    n = len(one.table)
    levels = Levels(np.full(n, level), np.full(n, level), np.zeros(n, np.int64))
    table = replace(other.table, weight=np.full(n, weights), levels=levels, contributors=np.full(n, weights))
    made = {"cost": weights, "lower_bound": weights, "gap": 0.5}
    other = replace(other, table=table, made=made, origin={"table": "secret"}, names=Names(table))
    assert page_text(one, public=True) == page_text(other, public=True)


def test_the_public_edition_has_no_place_for_anything_else() -> None:
    content = payload(page_text(judged(VALUES), public=True))
    assert content.keys() == {"edition", "dimensions", "at", "names", "kind", "value"}
    hidden = [kind > 0 for kind in content["kind"]]  # type: ignore[attr-defined]
    assert [value is None for value in content["value"]] == hidden  # type: ignore[attr-defined]
    assert sum(hidden) == 4


class Seen(HTMLParser):
    """The elements of a page, and everything in it that a browser would follow."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.followed: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.followed += [
            name for name, _ in attrs if name in ("src", "href", "data", "action") or name.startswith("on")
        ]


@pytest.mark.parametrize("public", [True, False])
def test_labels_are_texts_whatever_they_say_and_nothing_is_loaded(public: bool) -> None:
    plain, hostile = Seen(), Seen()
    plain.feed(page_text(judged(VALUES, codes=[["a", "b", "c"], ["x", "y", "z"]]), public=public))
    page = page_text(judged(VALUES, codes=[HOSTILE[:3], HOSTILE[3:]]), public=public)
    hostile.feed(page)
    assert hostile.tags == plain.tags
    assert hostile.followed == []
    assert hostile.tags.count("script") == 2
    assert "default-src 'none'" in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert [d["codes"][:3] for d in payload(page)["dimensions"]] == [HOSTILE[:3], HOSTILE[3:]]  # type: ignore[attr-defined]


@given(st.recursive(st.text() | st.none() | st.integers(), lambda inside: st.lists(inside, max_size=4)))
def test_no_tag_begins_in_the_data_of_a_script(content: object) -> None:
    text = safe_json(content)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == content


def test_what_is_little_is_not_shown_as_nothing() -> None:
    assert [percent(x) for x in (0, 0.0001, 0.25, 1)] == ["0.0 %", "< 0.1 %", "25.0 %", "100.0 %"]


@needs_browser
@pytest.mark.parametrize("public", [True, False])
def test_in_a_browser_hostile_labels_do_nothing_and_cells_are_listed(public: bool, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(page_text(judged(VALUES, codes=[HOSTILE[:3], HOSTILE[3:]]), public=public), encoding="utf-8")
    shown = dom(page)
    assert "<title>example: " in shown
    assert "<title>run</title>" not in shown
    assert shown.count('class="kind1"') >= 1, "the map is drawn"
    assert len(re.findall(r"<tr[^>]*><td[^>]*>&lt;", shown)) >= 1, "the list shows the labels as texts"
    assert "4 cells" in shown
    assert ("531" in shown) == (not public)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text(
        "r,c,value,status\na,x,531,u\na,y,642,s\na,z,11,s\nb,x,753,s\nb,y,864,s\nb,z,12,s\n"
    )
    table, pattern = str(tmp_path / "t.csv"), str(tmp_path / "p.csv")
    words = ["--method", "hypercube", "--quiet", "--json", str(tmp_path / "s.json")]
    assert run(["protect", table, "--out", pattern, *words]) == 0
    return tmp_path


def report(folder: Path, *more: str, out: str = "r.html") -> int:
    return run(["report", str(folder / "t.csv"), str(folder / "p.csv"), "--out", str(folder / out), *more])


def test_the_command_writes_either_edition(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(files, "--summary", str(files / "s.json")) == 0
    assert "CONFIDENTIAL" in capsys.readouterr().out
    page = (files / "r.html").read_text()
    assert "SHA-256" in page
    assert "hypercube" in page
    assert "needed by 1: a × x" in page
    assert report(files, "--public") == 0
    public = (files / "r.html").read_text()
    assert "SHA-256" not in public
    assert "hypercube" not in public
    assert "ready for publication" in capsys.readouterr().out


def test_an_unsafe_pattern_gets_an_office_edition_that_says_so_and_no_public_one(files: Path) -> None:
    (files / "p.csv").write_text("r,c,suppression\na,x,primary\n")
    assert report(files, "--public") == 1
    assert not (files / "r.html").exists()
    assert report(files) == 1
    page = (files / "r.html").read_text()
    assert "Not safe." in page
    assert payload(page)["unsafe"] == [0]


@pytest.mark.parametrize(
    ("more", "out"),
    [(["--public", "--summary", "s.json"], "r.html"), (["--public", "--log", "s.json"], "r.html"), ([], "r.txt"),
     (["--summary", "t.csv"], "r.html"), (["--log", "t.csv"], "r.html")],
)  # fmt: skip
def test_what_does_not_belong_to_an_edition_is_refused(more: list[str], out: str, files: Path) -> None:
    words = [str(files / word) if "." in word else word for word in more]
    assert report(files, *words, out=out) == 2
    assert not (files / out).exists()


def test_a_summary_of_another_pattern_is_refused(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = json.loads((files / "s.json").read_text())
    (files / "s.json").write_text(json.dumps(summary | {"cost": summary["cost"] + 1}))
    assert report(files, "--summary", str(files / "s.json")) == 2
    assert "is not the summary of this pattern" in capsys.readouterr().err


def test_a_table_without_dimensions_is_listed_by_its_numbers(tmp_path: Path) -> None:
    table = tmp_path / "t.jj"
    assert run(["generate", "class2", "--rows", "5", "--cols", "5", "--out", str(table), "--quiet"]) == 0
    assert run(["protect", str(table), "--method", "hypercube", "--out", str(tmp_path / "p.csv"), "--quiet"]) == 0
    words = [str(table), str(tmp_path / "p.csv"), "--out", str(tmp_path / "r.html"), "--quiet"]
    assert run(["report", *words]) == 0
    content = payload((tmp_path / "r.html").read_text())
    assert content["dimensions"] == []
    assert len(content["names"]) == len(content["value"])  # type: ignore[arg-type]


def test_tables_of_equations_that_differ_in_suppressed_cells_only_have_the_same_public_page(tmp_path: Path) -> None:
    equations = "2\n0 3 : 2 (-1) 0 (1) 1 (1)\n0 3 : 4 (-1) 3 (1) 5 (1)\n"
    pages = []
    for values in ([50, 60, 110, 70, 90, 20], [30, 55, 85, 130, 150, 20]):
        cells = "".join(f"{i} {v} {v} {'u' if i == 0 else 's'} 0 999 1 1 0\n" for i, v in enumerate(values))
        (tmp_path / "t.jj").write_text(f"0\n6\n{cells}{equations}")
        hidden = "".join(f"{i},secondary\n" for i in range(5))
        (tmp_path / "p.csv").write_text(f"index,suppression\n{hidden}5,published\n")
        words = [
            str(tmp_path / "t.jj"),
            str(tmp_path / "p.csv"),
            "--out",
            str(tmp_path / "r.html"),
            "--public",
            "--quiet",
        ]
        assert run(["report", *words]) == 0
        pages.append((tmp_path / "r.html").read_text())
    assert pages[0] == pages[1]
    assert "Suppressed totals: 2" in pages[0]


def test_the_order_of_the_rows_is_noted_in_the_public_edition(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["r,c,value,status", "a,z,11,s", "b,z,12,s", "a,x,531,u", "a,y,642,s", "b,x,753,s", "b,y,864,s"]
    (files / "t.csv").write_text("\n".join(rows) + "\n")
    assert report(files, "--public") == 0
    assert "sorted by value" in capsys.readouterr().err


def test_every_cell_keeps_its_status() -> None:
    found = judged(VALUES)
    assert found.table.status[0] == Status.SENSITIVE
    assert payload(page_text(found))["kind"][:5] == [1, 2, 0, 2, 2]  # type: ignore[index]


def test_a_time_limit_leaves_the_verdict_and_the_page_says_what_is_missing(tmp_path: Path) -> None:
    table, pattern, page = (str(tmp_path / name) for name in ("t.csv", "p.csv", "r.html"))
    sizes = ["--shape", "5x4x4", "--sensitive", "0.2", "--zeros", "0"]
    assert run(["generate", "smith3d", *sizes, "--seed", "1", "--out", table]) == 0
    assert run(["protect", table, "--method", "incremental", "--quiet", "--out", pattern]) == 0
    words = ["report", table, pattern, "--out", page, "--quiet"]
    assert run(words) == 0
    whole = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "The time limit left" not in whole
    assert "was judged for" not in whole
    assert run([*words, "--seconds", "0.001"]) == 0
    cut = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "The time limit left" in cut
    assert "was judged for 0 of" in cut
    for page_of in (whole, cut):
        assert re.search(r"<strong>Safe\.</strong> An exact audit checked all \d+ sensitive cells", page_of)


def test_cells_without_an_exact_answer_are_said_to_be_undecided() -> None:
    found = judged(VALUES)
    cells = tuple(replace(cell, safe=cell.cell != 0) for cell in found.verdict.cells)
    page = page_text(replace(found, verdict=replace(found.verdict, safe=False, cells=cells, undecided=(0,))))
    assert "1 cells are not protected, 1 of them undecided" in page
