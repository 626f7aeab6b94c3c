"""Draws the picture of the README: a corner of the example before and after, and what an attacker still sees.

    make demo
    python examples/picture.py docs/pattern.svg demo-out/pattern.csv

The firms are invented, so that the left side may show what a real office would keep to itself.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import gpuga
from gpuga.files.atomic import write_whole
from gpuga.files.pattern import read_pattern
from gpuga.files.read import read_source
from gpuga.safety.audit import CellAudit
from gpuga.table.exact import shown
from gpuga.table.table import Table

HERE = Path(__file__).parent
ROWS = ["Hartwell", "Ivybourne", "Kingsmere", "Southvale"]
COLUMNS = ["C10 Food", "C13 Textiles", "C16 Wood", "C25 Metal goods", "C28 Machinery", "C Manufacturing"]
WIDTH, HEIGHT, LEFT, TOP, GAP = 78, 34, 92, 74, 60
RED, AMBER, INK, GREY = "#c0392b", "#e69f00", "#1f2933", "#7b8794"


def text(
    x: float,
    y: float,
    words: str,
    size: int = 12,
    fill: str = INK,
    anchor: str = "middle",
    bold: bool = False,
) -> str:
    """One SVG text."""
    weight = ' font-weight="600"' if bold else ""
    look = f'font-size="{size}" fill="{fill}" text-anchor="{anchor}"{weight}'
    return f'<text x="{x:g}" y="{y:g}" {look}>{escape(words)}</text>'


def box(x: float, y: float, fill: str) -> str:
    """One cell."""
    return f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="4" fill="{fill}"/>'


def frame(left: float, title: str) -> list[str]:
    """Title, column heads and row heads of one table."""
    out = [text(left, 28, title, 15, anchor="start", bold=True)]
    for j, column in enumerate(COLUMNS):
        code, _, name = column.partition(" ")
        middle = left + LEFT + (j + 0.5) * WIDTH
        out += [text(middle, TOP - 20, code, 11, GREY), text(middle, TOP - 7, name, 10, GREY)]
    for i, row in enumerate(ROWS):
        out.append(text(left + LEFT - 10, TOP + (i + 0.62) * HEIGHT, row, 12, anchor="end"))
    return out


def cells_of(table: Table) -> dict[tuple[str, str], int]:
    """The cell at each region and activity."""
    assert table.grid is not None  # the example has dimensions
    region, activity = table.grid.dimensions
    return {(region.codes[r], activity.codes[a]): i for i, (r, a) in enumerate(table.grid.coordinate.tolist())}


def before(table: Table) -> list[str]:
    """What the office has: sensitive cells are marked, their values left to the imagination."""
    out, at = frame(20, "What the office has"), cells_of(table)
    for i, row in enumerate(ROWS):
        for j, column in enumerate(COLUMNS):
            cell = at[row, column]
            x, y = 20 + LEFT + j * WIDTH, TOP + i * HEIGHT
            hidden = bool(table.primary[cell])
            out.append(box(x, y, RED if hidden else "#eef2f6"))
            words = "sensitive" if hidden else shown(int(table.value[cell]), table.scale)
            out.append(text(x + WIDTH / 2, y + 21, words, 11 if hidden else 12, "white" if hidden else INK))
    return out


def after(table: Table, seen: dict[int, CellAudit]) -> list[str]:
    """What is published: suppressed cells show the interval that an attacker can compute."""
    left = 20 + LEFT + len(COLUMNS) * WIDTH + GAP
    out, at = frame(left, "What may be published, and what an attacker can still compute"), cells_of(table)
    for i, row in enumerate(ROWS):
        for j, column in enumerate(COLUMNS):
            cell = at[row, column]
            x, y = left + LEFT + j * WIDTH, TOP + i * HEIGHT
            if cell not in seen:
                value = shown(int(table.value[cell]), table.scale)
                out += [box(x, y, "#eef2f6"), text(x + WIDTH / 2, y + 21, value)]
                continue
            low, high = seen[cell].min, seen[cell].max
            interval = f"{float(low or 0):.0f} – {'∞' if high is None else f'{float(high):.0f}'}"
            out += [
                box(x, y, RED if table.primary[cell] else AMBER),
                text(x + WIDTH / 2, y + 21, interval, 11, "white"),
            ]
    return out


def main(path: Path, pattern: Path) -> None:
    """Audit the pattern of the demo, draw the corner."""
    trees = {name: HERE / f"{name}.hrc" for name in ("region", "activity")}
    source = read_source(HERE / "turnover.csv", hierarchies=trees)
    table = source.table
    audit = gpuga.audit(table, read_pattern(source, pattern))
    assert audit.safe, "what is shown as publishable must be"
    seen = {cell.cell: cell for cell in audit.cells}
    width = 2 * (LEFT + len(COLUMNS) * WIDTH) + GAP + 40
    height = TOP + len(ROWS) * HEIGHT + 44
    foot = TOP + len(ROWS) * HEIGHT + 26
    legend = [
        f'<rect x="{20 + LEFT}" y="{foot - 10}" width="12" height="12" rx="2" fill="{RED}"/>',
        text(20 + LEFT + 18, foot, "primary: must be protected", 11, GREY, "start"),
        f'<rect x="{20 + LEFT + 190}" y="{foot - 10}" width="12" height="12" rx="2" fill="{AMBER}"/>',
        text(
            20 + LEFT + 208,
            foot,
            "secondary: suppressed so that the primaries cannot be computed",
            11,
            GREY,
            "start",
        ),
    ]
    body = "\n".join([*before(table), *after(table, seen), *legend])
    size = f'viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif"'
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    write_whole(path, f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{ground}\n{body}\n</svg>\n')


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
