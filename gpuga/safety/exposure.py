"""Exposure before anything is done: which primaries an attacker narrows down when only primaries are hidden.

Serpell, Clark, Smith and Staggemeier (2008) call a primary *exposed* (E) when it is not protected by
the primaries alone, *initially exposed* (I) when the lines through it suffice to see that,
*consequentially exposed* (C) when they do not, and *not exposed* (N) otherwise. Their conjecture that it
is enough to protect I is false; the sets serve speed and insight, never a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from gpuga.context import Context
from gpuga.safety.audit import judge
from gpuga.safety.evidence import Rule
from gpuga.safety.unpick import one_line_each
from gpuga.table.attacker_model import Asked, AttackerModel, AttackerOptions, as_judged
from gpuga.table.crossing import Expired
from gpuga.table.table import INFINITE, Ints, Lines, Mask, Table


@dataclass(frozen=True)
class Exposure:
    """The primaries by exposure, as cell positions, ascending."""

    exposed: tuple[int, ...]
    initially_exposed: tuple[int, ...]
    consequentially_exposed: tuple[int, ...]
    not_exposed: tuple[int, ...]


def exposure(table: Table, *, context: Context | None = None, **asked: Unpack[AttackerOptions]) -> Exposure:
    """E, I, C and N of a `table` whose primaries alone (and cells suppressed beforehand) are hidden.

    `strict`, `whole` and `level_zero` say what the attacker knows, as in `gpuga.protect`; `context`
    (`gpuga.context.Context`) has the clock, and what was left undecided counts as exposed.
    """
    table, model = as_judged(table, Asked(**asked))
    context = context or Context()
    by_lines = initially_exposed(table, model, expired=context.clock.expired)  # this first: it is quick
    exposed = set(judge(table, table.forced, model, context=context).unsafe)
    initially = exposed & set(by_lines.tolist())
    return Exposure(
        tuple(sorted(exposed)),
        tuple(sorted(initially)),
        tuple(sorted(exposed - initially)),
        tuple(sorted(set(table.sensitive.tolist()) - exposed)),
    )


def initially_exposed(table: Table, model: AttackerModel | None = None, *, expired: Expired = bool) -> Ints:
    """The primaries whose own lines expose them, ascending; when the time is up, those that are known to be."""
    model, hidden = model or AttackerModel(), table.forced
    rise, fall = one_line_each(table, hidden)
    rule = Rule.of(table, hidden, model.strict, protect_secondary=False)
    short = rule.short(rise, rule.rise) | rule.short(fall, rule.fall)
    free = (rise >= INFINITE) | (fall >= INFINITE)  # left out of the sum, which would overflow
    width = np.where(free, INFINITE, np.where(free, 0, rise) + np.where(free, 0, fall))
    short |= rule.short(width, rule.width)
    seen = set(table.sensitive[short[table.sensitive]].tolist())
    for cell in _beyond_single_lines(table, hidden):
        if expired():
            break
        if cell not in seen and not _safe_in_own_lines(table, cell, model):
            seen.add(cell)
    return np.array(sorted(seen), np.int64)


def _beyond_single_lines(table: Table, hidden: Mask) -> list[int]:
    """Primaries of which sums of single lines, in whole units, do not tell all.

    Two of their lines share another hidden cell, and must be taken together; or a line counts them more than once,
    so that what the others leave them is a part of a unit.
    """
    start, line, coef = table.lines.by_cell(len(table))
    out = []
    for cell in table.sensitive.tolist():
        mine = line[start[cell] : start[cell + 1]]
        cells = np.concatenate([_hidden_of(table.lines, int(k), hidden) for k in mine]) if len(mine) else mine
        shared = len(np.unique(cells)) < len(cells) - max(0, len(mine) - 1)
        if shared or (np.abs(coef[start[cell] : start[cell + 1]]) > 1).any():
            out.append(cell)
    return out


def _hidden_of(lines: Lines, line: int, hidden: Mask) -> Ints:
    cells = lines.cell[int(lines.start[line]) : int(lines.start[line + 1])]
    return cells[hidden[cells]].astype(np.int64)


def _safe_in_own_lines(table: Table, cell: int, model: AttackerModel) -> bool:
    """The attacker's verdict on one primary when only the lines through it are known."""
    start, line, _ = table.lines.by_cell(len(table))
    own = line[start[cell] : start[cell + 1]]
    lines = table.lines.subset(own)
    alone = replace(table, lines=lines)
    return cell not in judge(alone, table.forced, model).unsafe
