"""Explanations of a pattern as data and as sentences; cells are named by their codes."""

from __future__ import annotations

import re
from dataclasses import replace
from math import isinf
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuga.cli.losses import loss_content, loss_lines
from gpuga.cli.report import number
from gpuga.errors import Infeasible, InputError, OutOfTime, printable
from gpuga.report.data import counted_names
from gpuga.report.reasons import Need, needs, tightest
from gpuga.table.exact import shown
from gpuga.table.table import Status

if TYPE_CHECKING:
    from gpuga.context import Clock
    from gpuga.report.data import Judged
    from gpuga.report.names import Names
    from gpuga.table.attacker_model import SafetyOptions

FREEZE_SECONDS = 10.0
"""Without a time limit, how long a pattern is looked for that publishes a cell."""


def named_cell(names: Names, text: str) -> int:
    """The cell that a user names by `DIM=CODE,...`, or by its index in a file without dimensions."""
    table = names.table
    cells = len(table) - table.groups
    if table.grid is None:
        wanted = [text.strip()]
    else:
        known = "|".join(re.escape(d.name) for d in table.grid.dimensions)
        parts = re.split(rf"(?:^|,)\s*({known})=", text.strip())
        said = dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))
        if parts[0] or len(parts) != 2 * len(table.grid.dimensions) + 1 or len(said) != len(table.grid.dimensions):
            form = ",".join(f"{printable(d.name)}=CODE" for d in table.grid.dimensions)
            raise InputError(f"{printable(text)!r} is not a cell such as {form}", field="--cell")
        wanted = [said[d.name] for d in table.grid.dimensions]
    found = next((cell for cell in range(cells) if names.codes(cell) == wanted), None)
    if found is None:
        raise InputError(f"{printable(text)!r} is not a cell of the table", field="--cell")
    return found


def overview_content(judged: Judged, most: int) -> dict[str, Any]:
    """What was lost, the costliest secondary suppressions with what needs them, and the tightest cells."""
    table, names = judged.table, judged.names
    return {
        "safe": judged.verdict.safe,
        "losses": loss_content(judged.losses, table, names),
        "secondary": [_need_content(judged, need) for need in judged.needs.values() if not need.undecided],
        "tightest": [
            {
                "cell": names(tight.cell),
                "room_over_level": round(float(tight.ratio), 6),
                "value": shown(int(table.value[tight.cell]), table.scale),
                "min": number(tight.low),
                "max": number(tight.high),
            }
            for tight in tightest(table, judged.verdict)[:most]
        ],
    }


def _need_content(judged: Judged, need: Need) -> dict[str, Any]:
    return {
        "cell": judged.names(need.cell),
        "cost": judged.table.shown_cost(int(judged.table.weight[need.cell])),
        "needed_by": [judged.names(c) for c in need.needed_by if c not in judged.verdict.unsafe],
        "beforehand": need.beforehand,
    }


def overview_lines(content: dict[str, Any]) -> list[str]:
    """An overview for people."""
    lines = [_verdict(content["safe"]), *loss_lines(content["losses"])]
    lines.append("costliest secondary suppressions:" if content["secondary"] else "no secondary suppressions")
    lines += [f"  {one['cell']}  cost {one['cost']:,}  {_needed(one)}" for one in content["secondary"]]
    if content["tightest"]:
        lines.append("tightest cells (what the attacker cannot exclude, over the level):")
    for one in content["tightest"]:
        interval = f"{_end(one['min'])} .. {_end(one['max'])}"
        lines.append(f"  {one['cell']}  {one['room_over_level']:.3g} x  value {one['value']}, interval {interval}")
    return lines


def _verdict(safe: bool) -> str:
    return "safe: all sensitive cells are protected" if safe else "not safe: gpuga audit lists the unprotected cells"


def _needed(one: dict[str, Any]) -> str:
    if one["beforehand"]:
        return "suppressed beforehand"
    by = one["needed_by"]
    return f"needed by {counted_names(len(by), by)}" if by else "no sensitive cell needs it alone"


def _end(value: float | None) -> str:
    return "no limit" if value is None else f"{value:,}"


def cell_content(judged: Judged, cell: int, clock: Clock, asked: SafetyOptions) -> dict[str, Any]:
    """All that is known of one cell."""
    from gpuga.context import Context

    table, names = judged.table, judged.names
    kind = "published"
    if judged.suppressed[cell]:
        kind = "primary" if table.primary[cell] else "secondary"
    content: dict[str, Any] = {"cell": names(cell), "kind": kind, "value": shown(int(table.value[cell]), table.scale)}
    for one in judged.verdict.cells:
        if one.cell == cell:
            content |= {"safe": one.safe, "min": number(one.min), "max": number(one.max)}
    if kind == "primary":
        levels = {name: shown(int(level[cell]), table.scale) for name, level in vars(table.levels).items()}
        rule = {"rule": judged.rules[cell]} if cell in judged.rules else {}
        return content | {"levels": levels} | rule
    if kind == "secondary":
        found = needs(table, judged.suppressed, np.array([cell]), Context(clock=clock), judged.verdict, **asked)
        need = found.get(cell, Need(cell, (), undecided=True))
        content |= {name: said for name, said in _need_content(judged, need).items() if name != "cell"}
        content |= {"undecided": need.undecided, "published_instead": _frozen(judged, cell, clock, asked)}
    return content


def _frozen(judged: Judged, cell: int, clock: Clock, asked: SafetyOptions) -> dict[str, Any]:
    """The cheapest pattern found that publishes a cell: its cost, what it costs more, and whether less is possible."""
    import gpuga

    table = judged.table
    status = table.status.copy()
    status[cell] = Status.FROZEN
    seconds = FREEZE_SECONDS if isinf(clock.left()) else max(clock.left(), 0.01)
    try:
        found = gpuga.protect(replace(table, status=status), seconds=seconds, **asked)
    except Infeasible:
        return {"possible": False}
    except OutOfTime:
        return {"possible": None}
    more = found.scaled_cost - table.cost(judged.suppressed)
    costs = {"cost": found.cost, "more": table.shown_cost(more)}
    return {"possible": True, **costs, "optimal": found.optimal}


def cell_lines(content: dict[str, Any]) -> list[str]:
    """One cell for people."""
    lines = [f"{content['cell']}: {content['kind']}, value {content['value']}"]
    if "safe" in content:
        lines.append(f"  interval {_end(content['min'])} .. {_end(content['max'])}")
    if "rule" in content:
        lines.append(f"  sensitive by {printable(content['rule'])}")
    if "levels" in content:
        levels = ", ".join(f"{name} {level}" for name, level in content["levels"].items())
        lines.append(f"  levels: {levels}; {'protected' if content.get('safe') else 'not protected'}")
    if "published_instead" in content:
        undecided = " (undecided: time limit)" if content["undecided"] else ""
        lines.append(f"  cost {content['cost']:,}; {_needed(content)}{undecided}")
        lines.append(f"  {_instead(content['published_instead'])}")
    return lines


def _instead(found: dict[str, Any]) -> str:
    if found["possible"] is None:
        return "no pattern that publishes it was found in time"
    if not found["possible"]:
        return "no safe pattern publishes it"
    proven = "the cheapest" if found["optimal"] else "the cheapest found"
    change = f"{abs(found['more']):,} {'less' if found['more'] < 0 else 'more'}"
    return f"publishing it: {proven} pattern costs {found['cost']:,}, {change} than this one"
