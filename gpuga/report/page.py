"""One HTML file to look at: no network, no other file; light, dark and on paper.

Labels are hostile text: everything that enters the page is escaped, the data of the script is JSON in which no tag can
begin, and a policy lets the browser run the one script whose hash stands in the page, and load nothing.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from gpuga.audience import CONFIDENTIAL
from gpuga.report.curve import cost_curve
from gpuga.report.data import Judged, level_rows, page_data

MOST_TOTALS = 30


def page_text(judged: Judged, *, public: bool = False) -> str:
    """The page of a report: the office edition with values, or the public one with what is published."""
    style, script = (
        files("gpuga.report").joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js")
    )
    pin = b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{pin}'"
    title = f"{judged.table.name}: {'suppressed cells' if public else 'protection report'}"
    sections = [_head(judged, title, public), _figures(judged, public), _losses(judged, public), *_maps(judged, public)]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n"
        f'<body class="{"public" if public else "office"}">\n<main>\n{"".join(sections)}</main>\n'
        f'<script type="application/json" id="data">{safe_json(page_data(judged, public))}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def safe_json(content: Any) -> str:
    """JSON inside a script element: no tag, comment or line separator can begin or end in it."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _head(judged: Judged, title: str, public: bool) -> str:
    verdict = judged.verdict
    banner = "" if public else f'<p class="banner">{CONFIDENTIAL}</p>'
    cells = "sensitive cells" if not public else "cells that need protection"
    count = f"all {verdict.audited:,} " if not public else "all "
    words = f"An exact audit checked {count}{cells}: each is protected."
    if not verdict.safe:
        open_ = f", {len(verdict.undecided):,} of them undecided" if verdict.undecided else ""
        words = f"{len(verdict.unsafe):,} cells are not protected{open_}; they are marked below."
        words += " Do not publish this pattern."
    knows = "the published cells, all sums, and the bounds of every value"
    # whether he is taken to know that values are whole may hang on how large the sensitive ones are
    whole = " He also knows that values are whole numbers." if verdict.whole and not public else ""
    return (
        f"<header>{banner}<h1>{escape(title)}</h1>"
        f'<p class="verdict {"safe" if verdict.safe else "unsafe"}"><strong>{"Safe" if verdict.safe else "Not safe"}.'
        f"</strong> {words}</p>"
        f"<p>The attacker knows {knows}, and computes with them as well as anybody can.{whole}</p></header>\n"
    )


def _figures(judged: Judged, public: bool) -> str:
    losses, made = judged.losses, judged.made
    tiles = [("cells", f"{losses.cells:,}"), ("suppressed", f"{losses.suppressed:,}"), ("share", percent(losses.share))]
    if not public:
        tiles[2:2] = [("primary", f"{losses.primary:,}"), ("secondary", f"{losses.secondary:,}")]
        tiles.append(("cost", plain_number(judged.table.shown_cost(judged.table.cost(judged.suppressed)))))
        if made.get("lower_bound") is not None:
            tiles.append(("lower bound", plain_number(made["lower_bound"])))
        if made.get("gap") is not None:
            tiles.append(("gap", "0, proven optimal" if made.get("optimal") else percent(made["gap"])))
    inner = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(figure)}</dd></div>" for name, figure in tiles)
    return f'<dl class="figures">{inner}</dl>\n'


def _losses(judged: Judged, public: bool) -> str:
    rows = level_rows(judged, public)
    parts = ["<section><h2>What is suppressed</h2>"]
    if rows:
        heads = ["dimension", "level", "cells", "suppressed", "share of cells", *([] if public else ["share of value"])]
        body = [
            [
                escape(row["dimension"]),
                row["level"].replace(" ", "&nbsp;"),
                f"{row['cells']:,}",
                f"{row['suppressed']:,}",
                bar(row["share"]),
                *([] if public else [bar(row["value_share"])]),
            ]
            for row in rows
        ]
        parts.append(table_of(heads, body, numbers=(2, 3)))
    totals = judged.losses.totals
    names = [escape(judged.names(cell)) for cell in totals[:MOST_TOTALS]]
    more = f"<li>and {len(totals) - MOST_TOTALS:,} more</li>" if len(totals) > MOST_TOTALS else ""
    listed = f"<ul>{''.join(f'<li>{name}</li>' for name in names)}{more}</ul>" if names else "<p>None.</p>"
    parts.append(f"<h3>Suppressed totals: {len(totals):,}</h3>{listed}</section>\n")
    return "".join(parts)


def _maps(judged: Judged, public: bool) -> Iterable[str]:
    """The sections that the script fills, the cost curve, and where the page comes from."""
    if judged.table.grid is not None and len(judged.table.grid.dimensions) > 1:
        yield (
            '<section id="map" hidden><h2>Map</h2><p class="hint">Select a row or column with parts to open or close '
            "it. A shade shows how many cells below a published one are suppressed.</p>"
            '<div class="controls" id="axes"></div><div class="legend" id="legend"></div>'
            '<div class="scroll" id="heat"></div></section>\n'
        )
    yield (
        f'<section id="cells" hidden><h2>Cells</h2>{"" if public else _missing(judged)}'
        '<div class="controls"><label>Search <input type="search" id="search">'
        '</label><label>Show <select id="which"></select></label><span id="count" role="status"></span></div>'
        '<div class="scroll"><table id="list"></table></div>'
        '<button type="button" id="more">Show more</button></section>\n'
    )
    yield "<noscript><p>The map and the list of cells need JavaScript, which runs in this file only.</p></noscript>\n"
    if public:
        made = f"Made with gpuga {escape(judged.version)}. Suppressed values are not part of this file."
        yield f"<footer><p>{made}</p></footer>\n"
        return
    inner = '<div class="scroll"><table id="tightest"></table></div>'
    yield f'<section id="tight" hidden><h2>Tightest cells</h2>{inner}</section>\n'
    if judged.curve:
        yield f"<section><h2>Cost by time</h2>{cost_curve(judged.curve)}</section>\n"
    origin = {**judged.origin, **{k: v for k, v in judged.made.items() if k in MADE}, "gpuga": judged.version}
    rows = [
        [escape(str(name).replace("_", " ")), escape(str(said))] for name, said in origin.items() if said is not None
    ]
    yield f"<section><h2>Where this comes from</h2>{table_of(['', ''], rows)}</section>\n"


def _missing(judged: Judged) -> str:
    """What could not be told of the cells, or not exactly."""
    secondary, judged_ones = judged.losses.secondary, sum(not need.undecided for need in judged.needs.values())
    open_ = sum(not cell.exact for cell in judged.verdict.cells)
    said = []
    if judged_ones < secondary:
        said.append(
            f"What needs a secondary suppression was judged for {judged_ones:,} of {secondary:,}, the costliest first; "
            "for the others it is named what they help to protect in the proof of safety."
        )
    if open_:
        said.append(
            f"The time limit left {open_:,} of {len(judged.verdict.cells):,} intervals open: they may be wider than "
            "shown, and such cells are not among the tightest."
        )
    return "".join(f'<p class="hint">{text}</p>' for text in said)


MADE = ("method", "backend", "lp", "seed", "generations", "evaluations", "seconds", "version")
"""What a summary tells of a run besides costs and counts."""


def table_of(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table of texts that are escaped already."""
    kind = ['class="number"' if at in numbers else "" for at in range(len(heads))]
    head = "".join(f"<th {k}>{text}</th>" for text, k in zip(heads, kind, strict=True)) if any(heads) else ""
    body = "".join(
        f"<tr>{''.join(f'<td {k}>{text}</td>' for text, k in zip(row, kind, strict=True))}</tr>" for row in rows
    )
    facts = "" if any(heads) else ' class="facts"'
    return f'<div class="scroll"><table{facts}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def bar(share: float) -> str:
    """A share as a bar with its figure."""
    width = round(100 * share, 2)
    return (
        f'<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{percent(share)}">'
        f'<rect class="track" width="100" height="10"/><rect class="fill" width="{width}" height="10"/></svg> '
        f"{percent(share)}"
    )


def percent(share: float) -> str:
    """A share in per cent; what is not nothing is not shown as nothing."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f} %"


def plain_number(value: float) -> str:
    """A cost with its thousands apart."""
    return f"{value:,}"
