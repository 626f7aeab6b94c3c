"""Results as JSON files and as sentences: the schemas that users rely on."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gpuga import __version__
from gpuga.audience import CONFIDENTIAL, OFFICE
from gpuga.errors import printable
from gpuga.files.atomic import write_whole

if TYPE_CHECKING:
    from gpuga import Audit, Exposure, Protection
    from gpuga.table.attacker_model import AttackerOptions
    from gpuga.table.table import Table

INTERVALS = "what an attacker can compute about suppressed cells"


def json_text(content: dict[str, Any]) -> str:
    """The text of a JSON file, which says on its face that it stays in the office."""
    marked = {"audience": OFFICE, "notice": CONFIDENTIAL} | content
    return json.dumps(marked, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def write_json(path: str, content: dict[str, Any]) -> None:
    """A JSON file, whole or not at all."""
    write_whole(path, json_text(content))


def number(value: Fraction | int | None) -> float | int | None:
    """An exact number for JSON: an integer where it is one."""
    if value is None:
        return None
    exact = Fraction(value)
    return int(exact) if exact.denominator == 1 else float(exact)


def summary(protection: Protection) -> dict[str, Any]:
    """SUMMARY.json."""
    from gpuga.cli.further import further_summary

    table, bound = protection.table, protection.bound
    return {
        "schema": 1,
        "cells": len(table),
        "equations": len(table.lines),
        "sensitive": len(table.sensitive),
        "method": protection.method,
        "backend": protection.backend,
        "device": protection.device,
        "lp": protection.lp,
        "seed": protection.seed,
        "parameters": protection.parameters.values(),
        "secondary": protection.secondary,
        "cost": protection.cost,
        "lower_bound": None if bound is None else table.shown_cost(bound.lower_bound),
        "gap": protection.gap,
        "optimal": protection.optimal,
        "safe": protection.audit.safe,
        "whole": protection.audit.whole,
        "audited": protection.audit.audited,
        "repaired": protection.repaired,
        "generations": protection.found.generations,
        "evaluations": protection.found.evaluations,
        "details": details_of(protection),
        "seconds": round(protection.seconds, 3),
        "version": __version__,
    } | further_summary(protection)


def details_of(protection: Protection) -> dict[str, int | float | str]:
    """What a method counted besides, such as levels that it failed at, or why it stopped."""
    return {name: value for name, value in protection.found.details.items() if isinstance(value, int | float | str)}


def audit_content(audit: Audit) -> dict[str, Any]:
    """AUDIT.json."""
    cells = [
        {"cell": c.cell, "kind": c.kind, "safe": c.safe, "min": number(c.min), "max": number(c.max)}
        | ({} if c.exact else {"exact": False})
        for c in audit.cells
    ]
    return {
        "shows": INTERVALS,
        "safe": audit.safe,
        "whole": audit.whole,
        "audited": audit.audited,
        "undecided": list(audit.undecided),
        "cells": cells,
    }


def exposure_content(exposure: Exposure) -> dict[str, Any]:
    """EXPOSURE.json: cells by their position in the file, from 0."""
    return {
        "exposed": list(exposure.exposed),
        "initially_exposed": list(exposure.initially_exposed),
        "consequentially_exposed": list(exposure.consequentially_exposed),
        "not_exposed": list(exposure.not_exposed),
    }


def heading(table: Table, attacker: AttackerOptions) -> str:
    """What a command prints first: that its output stays in the office, the table's size, what the attacker knows."""
    return "\n".join([CONFIDENTIAL, size_line(table), *attacker_lines(table, attacker)])


def attacker_lines(table: Table, attacker: AttackerOptions) -> list[str]:
    """What the attacker is taken to know, and what is asked of sensitive cells without levels."""
    from gpuga.table.attacker_model import knows_whole, levels_of_zero

    knows = "knows" if knows_whole(table, attacker["whole"]) else "does not know"
    lines = [f"attacker: {knows} that values are whole numbers"]
    if count := len(levels_of_zero(table)):
        cells, it = ("cell has", "it") if count == 1 else ("cells have", "they")
        of = "it" if count == 1 else "them"
        asked = f"{it} must not be exactly known"
        if attacker["level_zero"] == "ignore":
            asked = f"nothing is asked of {of} (--level-zero ignore)"
        lines.append(f"{count} sensitive {cells} no level: {asked}")
    return lines


def size_line(table: Table) -> str:
    """How large a table is, in one line."""
    notes = {"marginals added": len(table) - table.given - table.groups, "groups": table.groups}
    named = ", ".join(f"{count} {what}" for what, count in notes.items() if count)
    extra = f" ({named})" if named else ""
    name = printable(table.name)
    return f"{name}: {len(table)} cells{extra}, {len(table.lines)} equations, {len(table.sensitive)} sensitive"


def protection_lines(protection: Protection) -> list[str]:
    """What was done, for people."""
    table = protection.table
    cost = f"cost {protection.cost:,}"
    if protection.optimal:
        cost += ", proven optimal"
    elif protection.bound is not None and protection.gap is not None:
        least = table.shown_cost(protection.bound.lower_bound)
        cost += f", gap {100 * protection.gap:.2f} %, lower bound {least:,}"
    repaired = f", {protection.repaired} repaired" if protection.repaired else ""
    backend = protection.backend + (f" on device {protection.device}" if protection.device else "")
    return [
        f"{protection.method}: {protection.secondary} secondary suppressions, {cost}",
        f"safe: the exact audit checked all {protection.audit.audited} sensitive cells{repaired}",
        f"{protection.seconds:.2f} s, back end {backend}, LP solver {protection.lp}, seed {protection.seed}",
    ]


def named(table: Table, cells: tuple[int, ...], most: int = 20) -> list[str]:
    """Cells by name, the first few."""
    lines = [f"  {table.label(cell)}" for cell in cells[:most]]
    return lines if len(cells) <= most else [*lines, f"  and {len(cells) - most} more"]
