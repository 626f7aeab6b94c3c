"""Hierarchies in tau-ARGUS `.hrc` files: one code per line, its depth shown by leading signs, usually `@`.

North            below the total
@Coast           below North
@Hills
South
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gpuga.errors import InputError, printable
from gpuga.files.atomic import write_whole
from gpuga.files.source import read_text
from gpuga.table.grid import MOST_DEPTH
from gpuga.table.hierarchies import Hierarchy, dimension_of
from gpuga.table.table import Dimension


def read_hierarchy(path: str | Path, encoding: str | None = None, sign: str | None = None) -> Hierarchy:
    """The hierarchy in a file; `encoding` is that of text that is not UTF-8, `sign` stands before a code once a level.

    The sign is found out where it is not said; it may be a word.
    """
    path = Path(path)
    lines = [(i, t.rstrip()) for i, t in enumerate(read_text(path, encoding).splitlines(), 1) if t.strip()]
    sign = sign or _leading_sign([text for _, text in lines])
    codes: list[str] = []
    parents: list[str | None] = []
    above: list[str] = []  # the codes on the way from the total to the current line
    for number, text in lines:
        depth, code = _depth_and_code(text, sign)
        if not code:
            raise InputError("has no code", path=path, line=number)
        if depth > len(above):
            raise InputError("is more than one step deeper than the line above it", path=path, line=number)
        if depth >= MOST_DEPTH:
            raise InputError(f"is deeper than {MOST_DEPTH} levels", path=path, line=number)
        del above[depth:]
        if code in above:
            raise InputError(f"code {printable(code)!r} lies below itself: a cycle", path=path, line=number)
        codes.append(code)
        parents.append(above[-1] if above else None)
        above.append(code)
    _refuse_twice(codes, [number for number, _ in lines], path)
    if not codes:
        raise InputError("has no codes", path=path)
    return Hierarchy(tuple(codes), tuple(parents), str(path), tuple(number for number, _ in lines))


def _depth_and_code(text: str, sign: str) -> tuple[int, str]:
    depth = 0
    while text.startswith(sign):
        depth, text = depth + 1, text[len(sign) :]
    return depth, text.strip()


Files = str | Path | Sequence[str | Path]
"""The file of a hierarchy, or those of several hierarchies of one dimension."""


def files_of(given: Files) -> list[str | Path]:
    """The files as a list."""
    return [given] if isinstance(given, str | Path) else list(given)


def read_dimension(files: Files, name: str, total: str) -> Dimension:
    """The dimension that one or several files describe, below a total of that code."""
    return dimension_of(name, [read_hierarchy(path) for path in files_of(files)], total)


def _leading_sign(texts: list[str]) -> str:
    """`@` where any line begins with it, else the first sign that begins a line after the first."""
    if any(text.startswith("@") for text in texts):
        return "@"
    return next((t[0] for t in texts[1:] if not t[0].isalnum()), "@")


def _refuse_twice(codes: list[str], numbers: list[int], path: Path) -> None:
    seen: set[str] = set()
    for code, number in zip(codes, numbers, strict=True):
        if code in seen:
            raise InputError(f"code {printable(code)!r} occurs twice", path=path, line=number)
        seen.add(code)


def write_hierarchy(dimension: Dimension, path: str | Path) -> None:
    """The hierarchy of a dimension as a file, parents before their parts."""
    below: dict[int, list[int]] = {}
    for code, parent in enumerate(dimension.parent.tolist()):
        below.setdefault(parent, []).append(code)
    out: list[str] = []
    waiting = [(code, 0) for code in reversed(below.get(dimension.root, []))]
    while waiting:
        code, depth = waiting.pop()
        out.append("@" * depth + dimension.codes[code])
        waiting += [(part, depth + 1) for part in reversed(below.get(code, []))]
    write_whole(path, "\n".join(out) + "\n")
