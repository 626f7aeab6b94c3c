"""What the makers of pages share: the part of a page between two marks, written anew or checked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

END = "<!-- end -->\n"


def remade(text: str, begin: str, made: str) -> str:
    """The page with what stands between the marks replaced."""
    before, rest = text.split(begin)
    return f"{before}{begin}{made}{END}{rest.split(END, 1)[1]}"


def write_or_check(path: Path, page: Callable[[str], str], arguments: list[str]) -> int:
    """Write the page, or with --check only say whether it is up to date; the exit code."""
    old = path.read_text(encoding="utf-8")
    new = page(old)
    if "--check" not in arguments:
        path.write_text(new, encoding="utf-8")
        return 0
    if old != new:
        print(f"docs/{path.name} is out of date: run make docs", file=sys.stderr)
    return int(old != new)
