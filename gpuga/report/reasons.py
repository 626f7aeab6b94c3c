"""Why cells are suppressed: which sensitive cells a secondary suppression protects, and how tight protection is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Unpack

import numpy as np

from gpuga.context import Context, Silent
from gpuga.safety.audit import Audit
from gpuga.safety.evidence import SafetyProof
from gpuga.safety.without import Known, Without
from gpuga.table.attacker_model import Asked, SafetyOptions, as_judged
from gpuga.table.table import Ints, Mask, Status, Table

MOST_PROGRAMS = 2_000
"""After so many of the attacker's programs no further cell is judged: a count, so that a page can be made again."""


def helped_by(table: Table, proof: SafetyProof) -> dict[int, Ints]:
    """The sensitive cells whose proof of safety moves a cell, by that cell: what it helps to protect.

    Another proof may use other cells; `needs` says what cannot do without it.
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


def needs(
    table: Table,
    suppressed: Mask,
    cells: Ints,
    context: Context,
    verdict: Audit | None = None,
    **asked: Unpack[SafetyOptions],
) -> dict[int, Need]:
    """Why secondary suppressions are there, in their order, as far as the time allows; an audit of the pattern helps.

    Each is judged in exact arithmetic as the pattern with that cell published; what is not protected now needs nothing.
    """
    if not len(cells):
        return {}
    judged, model = as_judged(table, Asked(**asked), units=True)
    context.progress.stage("reasons", len(cells))
    quiet = replace(context, progress=Silent())
    without = Without(judged, suppressed, model, quiet, known_from(verdict))
    found: dict[int, Need] = {}
    for cell in cells.tolist():
        if context.clock.expired() or without.solves > MOST_PROGRAMS:
            break
        exposed, undecided = without.exposed(cell)
        found[cell] = Need(cell, exposed, bool(undecided), bool(table.status[cell] == Status.SUPPRESSED))
        context.progress.advance()
    return found


def known_from(verdict: Audit | None) -> Known:
    """What an audit with proofs has found of a pattern."""
    proof = None if verdict is None or verdict.proof is None else verdict.proof.witnesses
    return Known(proof, None if verdict is None else verdict.changes)


def costliest(table: Table, suppressed: Mask, most: int) -> Ints:
    """The costliest secondary suppressions."""
    cells = np.flatnonzero(suppressed & ~table.primary)
    return cells[np.argsort(-table.weight[cells], kind="stable")][:most]


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
