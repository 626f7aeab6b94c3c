"""Every link of the pages leads somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, links, name_of


def lost(page: str, where: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading of it; addresses must be whole ones."""
    found = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        if path.startswith("http"):
            if not path.startswith("https://") or "." not in path:
                found.append(link)
            continue
        target = where.parent / path
        there = not path or target.exists()
        if not there or (anchor and anchor not in anchors(target.read_text(encoding="utf-8") if path else page)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", [*PAGES, ROOT / "bench" / "RESULTS.md", ROOT / "bench" / "EARLIER.md"], ids=name_of)
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    assert lost(page.read_text(encoding="utf-8"), page) == []


def test_a_link_that_leads_nowhere_is_found() -> None:
    page = "# A head\n[x](nowhere.py) [y](#a-head) [z](#b) [r](README.md#use) [q](README.md#nothing) [h](http://x)\n"
    assert lost(page, ROOT / "page.md") == ["nowhere.py", "#b", "README.md#nothing", "http://x"]
