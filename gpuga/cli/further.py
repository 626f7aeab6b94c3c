"""Further patterns of `gpuga protect` as files and as sentences: alternatives, fronts, likeness, wishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuga.audience import OFFICE
from gpuga.cli.wish_options import numbered
from gpuga.errors import printable
from gpuga.files.csv import rows_text
from gpuga.files.pattern import pattern_content

if TYPE_CHECKING:
    from gpuga import Protection
    from gpuga.files.atomic import Content
    from gpuga.files.read import Source
    from gpuga.further import Alternative


def further_files(source: Source, protection: Protection, out: str, front: str | None) -> list[tuple[str, Content]]:
    """The patterns of alternatives beside that of the best, the front with its patterns."""
    files: list[tuple[str, Content]] = [
        (path, pattern_content(source, one.suppressed, path))
        for path, one in zip(alternative_paths(out, len(protection.alternatives)), protection.alternatives, strict=True)
    ]
    if front is None:
        return files
    rows = [_figures(number, one) | {"audience": OFFICE} for number, one in enumerate(protection.front, 1)]
    header = list(rows[0]) if rows else ["pattern"]
    files.append((front, rows_text(header, [[str(v) for v in row.values()] for row in rows])))
    for number, one in enumerate(protection.front, 1):
        path = numbered(front, number)
        files.append((path, pattern_content(source, one.suppressed, path)))
    return files


def alternative_paths(out: str, count: int) -> list[str]:
    """Where alternatives are written: NAME-2.csv, NAME-3.csv and so on."""
    return [numbered(out, number) for number in range(2, count + 2)]


def _figures(number: int, one: Alternative) -> dict[str, Any]:
    """A row of a front, or of the alternatives in the summary."""
    figures = {
        "pattern": number,
        "cost": one.cost,
        "secondary": one.secondary,
        "totals": one.totals,
        "apart": one.apart,
    }
    return figures if one.difference is None else figures | {"difference": one.difference}


def further_summary(protection: Protection) -> dict[str, Any]:
    """What SUMMARY.json says of it; nothing where nothing of the kind was asked for."""
    content: dict[str, Any] = {}
    if protection.parameters.values(["result"]).get("alternatives"):
        content["alternatives"] = [_safe(number, one) for number, one in enumerate(protection.alternatives, 2)]
    if protection.front:
        content["front"] = [_safe(number, one) for number, one in enumerate(protection.front, 1)]
    if protection.likeness is not None:
        content["like"] = protection.likeness.changes(protection.suppressed)._asdict()
        content["like"]["percent"] = protection.likeness.percent
    if protection.kept:
        content["kept"] = [{"wish": one.wish, "cells": int(one.cells.sum())} for one in protection.kept]
    return content


def _safe(number: int, one: Alternative) -> dict[str, Any]:
    return _figures(number, one) | {"safe": one.audit.safe, "audited": one.audit.audited}


def further_lines(protection: Protection, out: str, front: str | None) -> list[str]:
    """The same, for people."""
    lines = []
    if protection.likeness is not None:
        changes = protection.likeness.changes(protection.suppressed)
        lines.append(
            f"against the earlier pattern: {changes.kept} cells kept, {changes.added} added, {changes.dropped} dropped"
        )
    if protection.kept:
        cells = sum(int(one.cells.sum()) for one in protection.kept)
        named = ", ".join(printable(one.wish) for one in protection.kept)
        lines.append(f"published as wished: {cells} cells ({named})")
    asked = protection.parameters.values(["result"]).get("alternatives", 0)
    for path, one in zip(alternative_paths(out, asked), protection.alternatives, strict=False):
        cost = f"cost {one.cost:,}"
        lines.append(f"alternative: {cost}, differs in {one.apart} cells, safe: {printable(path, 300)}")
    if len(protection.alternatives) < asked:
        lines.append(f"{len(protection.alternatives)} of {asked} alternatives were found and shown to be safe")
    if front is not None:
        lines.append(f"front: {len(protection.front)} patterns: {printable(front, 300)}")
    return lines
