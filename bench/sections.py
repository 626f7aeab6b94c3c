"""Sections of a report: a table of figures with its words and its plot, as Markdown, CSV and SVG."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuga.files.atomic import write_whole

OTHER_TABLES = (
    "Published / measured: the published figures are of other random tables from the same kind of generator and of "
    "another machine; compare proportions, not digits."
)
"""Said wherever published and measured figures stand side by side."""

PUBLISHED, MEASURED = ", published", ", measured"
"""How the headers of two columns end that are shown as one, `published / measured`, to people."""


@dataclass(frozen=True)
class Section:
    """One table of a report; `name` is that of its files, `chart` the text of an SVG plot."""

    name: str
    title: str
    header: tuple[str, ...]
    body: Sequence[tuple[str, ...]]
    words: str = ""
    chart: str | None = None


def figure(value: float | None, digits: int = 0) -> str:
    """A number for people; a dash where there is none."""
    return "–" if value is None else f"{value:,.{digits}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """A share as per cent; a dash where there is none."""
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def seconds(value: float | None) -> str:
    """Seconds with as many digits as mean something."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def markdown_table(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table whose columns are aligned, so that it reads as well on a terminal."""
    wide = [max(len(row[c]) for row in (header, *body)) for c in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(wide[0]), *(cell.rjust(w) for cell, w in zip(row[1:], wide[1:], strict=True))]
        return f"| {' | '.join(cells)} |"

    rule = "|".join(["-" * (wide[0] + 2), *("-" * (w + 1) + ":" for w in wide[1:])])
    return "\n".join([line(header), f"|{rule}|", *(line(row) for row in body)])


def paired(section: Section) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and body with each published column and the measured one after it as a single column."""
    header, columns = list(section.header), []
    at = 0
    while at < len(header):
        name = header[at].removesuffix(PUBLISHED)
        pair = at + 1 < len(header) and header[at] == name + PUBLISHED and header[at + 1] == name + MEASURED
        columns.append((name if pair else header[at], (at, at + 1) if pair else (at,)))
        at += 2 if pair else 1
    body = [tuple(" / ".join(row[c] for c in places) for _, places in columns) for row in section.body]
    return tuple(name for name, _ in columns), body


def markdown(section: Section, plots: str | None = None, level: int = 3) -> str:
    """A section as Markdown; `plots` is the folder of its plot, as seen from the file."""
    parts = [f"{'#' * level} {section.title}"]
    if section.words:
        parts.append(section.words)
    if section.body:
        parts.append(markdown_table(*paired(section)))
    if section.chart is not None and plots is not None:
        parts.append(f"![{section.title}]({plots}/{section.name}.svg)")
    return "\n\n".join(parts) + "\n"


def write_section(section: Section, folder: Path) -> None:
    """Its CSV and its plot."""
    folder.mkdir(parents=True, exist_ok=True)
    if section.body:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([section.header, *map(_plain, section.body)])
        write_whole(folder / f"{section.name}.csv", text.getvalue())
    if section.chart is not None:
        write_whole(folder / f"{section.name}.svg", section.chart)


def _plain(row: Sequence[str]) -> list[str]:
    """A line for machines: no commas within numbers, nothing where there is no figure."""
    return [cell.replace(",", "") if re.fullmatch(r"-?[\d,]+(\.\d+)?( %)?", cell) else cell.strip("–") for cell in row]
