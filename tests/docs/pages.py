"""The pages that people read: their links and their blocks of code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])


class Block(NamedTuple):
    """A block of code: its language, its text, and the line of the page in which it begins."""

    language: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    found, begun, lines = [], None, page.splitlines()
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if begun is None:
            begun = number
        else:
            found.append(Block(lines[begun][3:].strip(), "\n".join(lines[begun + 1 : number]), begun + 1))
            begun = None
    assert begun is None, f"the block of line {begun} does not end"
    return found


def links(page: str) -> list[str]:
    """The targets of all links of a page, those in blocks of code left out."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def anchors(page: str) -> set[str]:
    """The places on a page that links can name: its headings, as the site and repositories spell them."""
    heads = re.findall(r"^#+ (.+)$", page, flags=re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", head.lower())).strip("-") for head in heads}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()
