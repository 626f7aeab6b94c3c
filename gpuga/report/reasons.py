"""Why cells are suppressed: which sensitive cells a secondary suppression protects, and how tight protection is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Unpack

import numpy as np

from gpuga.context import Context
from gpuga.safety.audit import Audit, audit
from gpuga.safety.evidence import SafetyProof
from gpuga.table.attacker_model import SafetyOptions
from gpuga.table.table import Ints, Mask, Status, Table


def helped_by(table: Table, proof: SafetyProof) -> dict[int, Ints]:
    """The sensitive cells whose proof of safety moves a cell, by that cell: what it helps to protect.

    Another proof may use other cells; `needed_by` says what cannot do without it.
    """
    proves = np.repeat(proof.cell.astype(np.int64), np.diff(proof.witnesses.start)[proof.witness])
    moved = proof.witnesses.subset(proof.witness).cell.astype(np.int64)
    pairs = np.unique(np.column_stack([moved, proves])[~table.primary[moved]], axis=0)
    cells, first = np.unique(pairs[:, 0], return_index=True)
    return dict(zip(cells.tolist(), np.split(pairs[:, 1], first[1:]), strict=True))


@dataclass(frozen=True)
class Need:
    """Why a secondary suppression is there: the sensitive cells that are not protected once it is published.

    `undecided` is true where the time ended before all were judged; `beforehand` where the table itself asks for it.
    """

    cell: int
    needed_by: tuple[int, ...]
    undecided: bool = False
    beforehand: bool = False


def needed_by(
    table: Table, suppressed: Mask, cell: int, context: Context | None = None, **asked: Unpack[SafetyOptions]
) -> Need:
    """Judge the pattern with one secondary suppression published, in exact arithmetic."""
    without = suppressed.copy()
    without[cell] = False
    verdict = audit(table, without, intervals=False, context=context, **asked)
    sure = tuple(c for c in verdict.unsafe if c not in verdict.undecided)
    return Need(cell, sure, bool(verdict.undecided), bool(table.status[cell] == Status.SUPPRESSED))


def needs(
    table: Table, suppressed: Mask, most: int, context: Context, **asked: Unpack[SafetyOptions]
) -> dict[int, Need]:
    """Why the `most` costly secondary suppressions are there, the costliest first, as far as the time allows."""
    cells = np.flatnonzero(suppressed & ~table.primary)
    cells = cells[np.argsort(-table.weight[cells], kind="stable")][:most]
    context.progress.stage("reasons", len(cells))
    found = {}
    for cell in cells.tolist():
        if context.clock.expired():
            break
        found[cell] = needed_by(table, suppressed, cell, context, **asked)
        context.progress.advance()
    return {cell: need for cell, need in found.items() if not need.undecided}


@dataclass(frozen=True)
class Tight:
    """How tight a sensitive cell is protected: what the attacker cannot exclude over what is asked (1 or more)."""

    cell: int
    ratio: Fraction
    low: Fraction | None
    high: Fraction | None


def tightest(table: Table, verdict: Audit) -> list[Tight]:
    """The sensitive cells with levels, those whose levels are just reached first; needs an audit with intervals."""
    found = []
    for one in verdict.cells:
        value = Fraction(int(table.value[one.cell]), table.scale)
        levels = [Fraction(int(x[one.cell]), table.scale) for x in (table.levels.lower, table.levels.upper)]
        rooms = (None if one.min is None else value - one.min, None if one.max is None else one.max - value)
        ratios = [room / level for room, level in zip(rooms, levels, strict=True) if room is not None and level]
        if one.kind == "primary" and one.exact and ratios:
            found.append(Tight(one.cell, min(ratios), one.min, one.max))
    return sorted(found, key=lambda tight: (tight.ratio, tight.cell))
