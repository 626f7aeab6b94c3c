"""What the page of a report shows, as plain data: the office edition everything, the public one what is published.

The public edition is made from published values only: no suppressed value, no level, no rule, no difference between
primaries and secondaries, no cost, and no hash of a file that holds suppressed values (guesses could be tried on it).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from gpuga.context import Context
from gpuga.report.losses import Losses, level_word, losses_of
from gpuga.report.names import Names
from gpuga.report.reasons import Need, costliest, helped_by, needs, tightest
from gpuga.safety.audit import Audit, with_intervals
from gpuga.table.attacker_model import SafetyOptions
from gpuga.table.exact import shown
from gpuga.table.table import Mask, Table

MOST_REASONS = 5
"""So many sensitive cells are named beside a secondary suppression; the others are counted."""

MOST_NEEDS = 200
"""Of so many secondary suppressions, the costliest, it is judged exactly what needs them."""

MOST_TIGHT = 25


@dataclass(frozen=True, eq=False)
class Judged:
    """A pattern of a table with the verdict on it, and what is known of how it was made (for the office)."""

    table: Table
    suppressed: Mask
    verdict: Audit
    names: Names
    version: str
    needs: Mapping[int, Need] = field(default_factory=dict)
    made: Mapping[str, Any] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)
    curve: Sequence[Mapping[str, float]] = ()
    rules: Mapping[int, str] = field(default_factory=dict)

    @property
    def losses(self) -> Losses:
        """What the pattern takes away."""
        return losses_of(self.table, self.suppressed)


def in_detail(judged: Judged, most: int, context: Context, **asked: Unpack[SafetyOptions]) -> Judged:
    """The same with the attacker's intervals and what needs the `most` costly secondary suppressions, in the time left.

    The verdict stays what it is; it was asked for with `asked` and proofs.
    """
    table, suppressed = judged.table, judged.suppressed
    verdict = with_intervals(table, suppressed, judged.verdict, context, **asked)
    found = needs(table, suppressed, costliest(table, suppressed, most), context, verdict, **asked)
    return replace(judged, verdict=verdict, needs=found)


def page_data(judged: Judged, public: bool) -> dict[str, Any]:
    """What the script of a page works on."""
    table = judged.table
    cells = len(table) - table.groups
    hidden = judged.suppressed[:cells]
    kind = np.where(hidden, 1 if public else np.where(table.primary[:cells], 1, 2), 0)
    values = table.value[:cells].tolist()
    shows = [None if public and h else shown(v, table.scale) for v, h in zip(values, hidden.tolist(), strict=True)]
    found = {
        "edition": "public" if public else "office",
        "dimensions": _dimensions(table),
        "at": table.grid.coordinate.tolist() if table.grid is not None else [],
        "names": [] if table.grid is not None else [judged.names.codes(c)[0] for c in range(cells)],
        "kind": kind.tolist(),
        "value": shows,
    }
    return found if public else found | _for_the_office(judged)


def _dimensions(table: Table) -> list[dict[str, Any]]:
    return [
        {"name": d.name, "codes": list(d.codes), "parent": d.parent.tolist()}
        for d in (table.grid.dimensions if table.grid is not None else ())
    ]


def _for_the_office(judged: Judged) -> dict[str, Any]:
    """Intervals, levels, weights and reasons, by cell."""
    table, verdict = judged.table, judged.verdict
    interval = {
        str(c.cell): [number(c.min), number(c.max), c.exact]
        for c in verdict.cells
        if verdict.intervals and c.cell < len(table) - table.groups
    }
    level = {
        str(cell): [shown(int(x[cell]), table.scale) for x in vars(table.levels).values()]
        for cell in table.sensitive.tolist()
    }
    weights = np.flatnonzero(judged.suppressed & ~table.primary).tolist()
    return {
        "interval": interval,
        "level": level,
        "weight": {str(c): shown(int(table.weight[c]), table.weight_scale) for c in weights},
        "reason": {str(cell): text for cell, text in reason_texts(judged).items()},
        "unsafe": sorted(set(verdict.unsafe)),
        "tight": [[t.cell, float(t.ratio)] for t in tightest(table, verdict)[:MOST_TIGHT]],
    }


def reason_texts(judged: Judged) -> dict[int, str]:
    """Why each suppression is there, in words: by its rule, as it was judged, else as the proof of safety uses it."""
    verdict = judged.verdict
    helped = {} if verdict.proof is None else helped_by(judged.table, verdict.proof)
    found = {cell: f"helps to protect {_by_codes(judged, cells.tolist())}" for cell, cells in helped.items()}
    for cell, need in judged.needs.items():
        if need.undecided:
            continue
        others = [c for c in need.needed_by if c not in verdict.unsafe]
        if need.beforehand:
            found[cell] = "suppressed beforehand"
        else:
            found[cell] = f"needed by {_by_codes(judged, others)}" if others else "no sensitive cell needs it alone"
    return found | {cell: f"sensitive by {rule}" for cell, rule in judged.rules.items()}


def _by_codes(judged: Judged, cells: Sequence[int]) -> str:
    return counted_names(len(cells), [" × ".join(judged.names.codes(c)) for c in cells[:MOST_REASONS]])


def counted_names(count: int, names: Sequence[str]) -> str:
    """How many there are, and the first of them by name."""
    more = f"; and {count - MOST_REASONS} more" if count > MOST_REASONS else ""
    return f"{count}: {'; '.join(names[:MOST_REASONS])}{more}"


def number(value: Fraction | None) -> float | None:
    """An end of an interval for the page; None: no limit."""
    return None if value is None else float(value)


def level_rows(judged: Judged, public: bool) -> list[dict[str, Any]]:
    """The losses by level of every dimension, in words."""
    grid = judged.table.grid
    by_name = {d.name: d for d in grid.dimensions} if grid is not None else {}
    rows: list[dict[str, Any]] = []
    for level in judged.losses.levels:
        row = {
            "dimension": level.dimension,
            "level": level_word(by_name[level.dimension], level.depth),
            "cells": level.cells,
            "suppressed": level.suppressed,
            "share": level.share,
        }
        rows.append(row if public else row | {"value_share": level.value_share})
    return rows
