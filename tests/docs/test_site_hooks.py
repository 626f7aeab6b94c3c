"""The site builds without a warning and loads nothing from elsewhere; links and made pages are as they should be."""

from __future__ import annotations

import html
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import gpuga
from tests.docs.pages import PAGES, ROOT

pytest.importorskip("mkdocs", reason="mkdocs-material is not installed: pip install 'gpuga[docs]'")

LOADED = re.compile(r"""<(?:script|img|iframe|link)[^>]+(?:src|href)=["']?(?:https?:)?//[^>]*>""")


@pytest.fixture(scope="module")
def hooks() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "site_hooks.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    surroundings = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    built = subprocess.run(words, cwd=ROOT, env=surroundings, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return out


def test_every_page_is_on_the_site_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    here = {f"{path.stem}.html" for path in PAGES if path.parent.name == "docs"}
    assert pages >= here | {"index.html", "api.html", "benchmarks.html", "results.html", "changelog.html"}
    assert sum(page.startswith("notebooks/") for page in pages) == 4
    for page in sorted(pages):
        foreign = [tag for tag in LOADED.findall((site / page).read_text(encoding="utf-8")) if "canonical" not in tag]
        assert foreign == [], page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?(?:https?:)?//", style.read_text(encoding="utf-8")), style


def test_every_page_is_in_the_navigation() -> None:
    named = set(re.findall(r": (\w+)\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert {path.stem for path in PAGES if path.parent.name == "docs"} <= named


def test_every_link_between_pages_leads_to_a_file_of_the_site(site: Path) -> None:
    lost = set()
    for page in site.rglob("*.html"):
        if page.name == "404.html":
            continue  # its links are absolute: a server shows it in the place of any page
        for link in re.findall(r"""href=["']?([^"'\s>]+)""", page.read_text(encoding="utf-8")):
            path = unquote(link.partition("#")[0])
            if path and ":" not in path and not (page.parent / path).is_file():
                lost.add((page.name, link))
    assert lost == set()


def test_the_reference_has_every_public_name_and_no_traces_of_its_making(site: Path) -> None:
    page = (site / "api.html").read_text(encoding="utf-8")
    for name in gpuga.__all__:
        if not name.startswith("_"):
            assert f'id="gpuga{name.lower()}"' in page, name
    assert "doctest" not in page
    assert "(what: str = 'pattern', *, rows: str | None = None" in html.unescape(page)
    assert str(ROOT) not in page


def test_links_lead_to_where_things_are_on_the_site(hooks: dict[str, Any]) -> None:
    relinked = hooks["relinked"]
    page = (
        "[a](docs/files.md#x) [b](gpuga/verify.py) [c](https://x.org) [d](#y) ![e](docs/pattern.svg)\n"
        "```\n[f](z.md)\n```\n"
    )
    assert relinked(page, ROOT / "README.md", "index.md") == (
        "[a](files.md#x) [b](repository/gpuga/verify.py) [c](https://x.org) [d](#y) ![e](pattern.svg)\n"
        "```\n[f](z.md)\n```\n"
    )
    inner = relinked("[n](notebooks/first_table.ipynb) [r](../bench/RESULTS.md)", ROOT / "docs" / "x.md", "x.md")
    assert inner == "[n](notebooks/first_table.md) [r](results.md)"
    assert relinked("[up](../files.md)", ROOT / "docs/notebooks/a.ipynb", "notebooks/a.md") == "[up](../files.md)"


def test_the_benchmark_page_measures_against_the_best_of_all_runs(tmp_path: Path) -> None:
    made = runpy.run_path(str(ROOT / "docs" / "site_benchmarks.py"))
    (tmp_path / "history.csv").write_text(
        "version,table,method,cost,lower_bound\n1,t:1,a,110,\n1,t:1,b,100,80\n2,t:1,a,100,\n2,t:1,c,,\n",
        encoding="utf-8",
    )
    contest = '[{"table": "t-1", "method": "a", "cost": 3, "lower_bound": 2}, {"table": "t-1", "method": "b"}]'
    (tmp_path / "contest.json").write_text(contest, encoding="utf-8")
    page = made["benchmark_page"](tmp_path)
    assert "| 1 | `a` | 1 | 10.00 % | 37.50 % |" in page
    assert "| 1 | `b` | 1 | 0.00 % | 25.00 % |" in page
    assert "| 2 | `a` | 1 | 0.00 % | 25.00 % |" in page
    assert "| t | `a` | 1 | 0.00 % | 50.00 % |" in page
    assert "`c`" not in page
