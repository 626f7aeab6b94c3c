"""Pictures of a plan: tables as boxes, clusters around them, and lines for the cells that they share."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from gpuga.errors import printable

WIDTH, BOX, STEP, MARGIN = 300, 36, 56, 20
"""Of a table's box: width, height, and the distance to the next; and the room around clusters."""


def dot_text(content: dict[str, Any]) -> str:
    """The plan, as in PLAN.json, as a graph for Graphviz; shared cells that are all published are dotted."""
    number = {one["name"]: at for at, one in enumerate(content["tables"])}
    lines = ["graph plan {", "  node [shape=box];"]
    for at, cluster in enumerate(content["clusters"], 1):
        lines.append(f"  subgraph cluster_{at} {{")
        lines += [f"    t{number[name]} [label={json.dumps(printable(name, 200))}];" for name in cluster["tables"]]
        lines.append("  }")
    for pair in content["shared"]:
        style = "" if pair["suppressible"] else ", style=dotted"
        one, other = (number[name] for name in pair["tables"])
        lines.append(f'  t{one} -- t{other} [label="{pair["cells"]}"{style}];')
    return "\n".join([*lines, "}", ""])


def svg_text(content: dict[str, Any]) -> str:
    """The plan as one picture: clusters below each other, arcs between tables, with the number of shared cells."""
    cells = {one["name"]: one["cells"] for one in content["tables"]}
    shapes: list[str] = []
    middle: dict[str, int] = {}
    top = MARGIN
    for cluster in content["clusters"]:
        height = STEP * len(cluster["tables"]) - (STEP - BOX) + 2 * MARGIN
        shapes.append(_box(MARGIN, top, WIDTH + 2 * MARGIN, height, "#f2f2f2"))
        for at, name in enumerate(cluster["tables"]):
            y = top + MARGIN + STEP * at
            middle[name] = y + BOX // 2
            shapes.append(_box(2 * MARGIN, y, WIDTH, BOX, "white"))
            words = f"{printable(name, 30)}: {cells[name]:,} cells"
            shapes.append(f'<text x="{3 * MARGIN}" y="{y + BOX // 2 + 5}">{escape(words)}</text>')
        top += height + MARGIN
    arcs = [_arc(pair, *(middle[name] for name in pair["tables"])) for pair in content["shared"]]
    width = WIDTH + 4 * MARGIN + max([_bow(*(middle[name] for name in p["tables"])) for p in content["shared"]] or [0])
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 80}" height="{top}" font-family="sans-serif"'
    return "\n".join([f'{head} font-size="13">', *shapes, *arcs, "</svg>", ""])


def _box(x: int, y: int, width: int, height: int, colour: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{colour}" stroke="#777"/>'


def _bow(one: int, other: int) -> int:
    """How far an arc reaches to the right: longer ones farther, so that they do not lie on each other."""
    return 30 + abs(other - one) // 2


def _arc(pair: dict[str, Any], one: int, other: int) -> str:
    x, bow = 2 * MARGIN + WIDTH, _bow(one, other)
    dash = "" if pair["suppressible"] else ' stroke-dasharray="4 4"'
    path = f'<path d="M {x} {one} C {x + bow} {one}, {x + bow} {other}, {x} {other}" fill="none" stroke="#246"{dash}/>'
    return f'{path}<text x="{x + 4 + 3 * bow // 4}" y="{(one + other) // 2 + 4}">{pair["cells"]:,}</text>'
