"""Singletons and common respondents: primaries of one line that undo each other's protection.

If the primaries P of a line are all that is suppressed there, everyone can compute their sum, and a
respondent who is alone in one of them knows that cell and can compute the sum of the others. So P is looked
at as one cell, with a holding that sits in several of its cells counted once, and then again without what
each lone respondent knows. Where a primary rule fires on what is left, P becomes a *group*: a sum with a
protection level of its own, which the pattern has to keep in doubt like any sensitive cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gpuga.microdata.contributions import Makeup, Spread, in_order
from gpuga.microdata.primary_rules import Contribution, Contributions, PrimaryRule, Zeros, required_level
from gpuga.table.table import Lines, Mask


@dataclass(frozen=True)
class Group:
    """Cells whose sum must stay in doubt by `level` (units of `1/(scale * one)`) on either side, and why."""

    members: tuple[int, ...]
    level: Fraction
    reason: str


def crowded_lines(lines: Lines, primary: Mask) -> list[tuple[int, ...]]:
    """The primary parts of every line that has at least two and whose total is not primary itself."""
    found = []
    crowded = np.bincount(lines.line_of_entry[primary[lines.cell]], minlength=len(lines)) >= 2
    for line in np.flatnonzero(crowded):
        entries = slice(int(lines.start[line]), int(lines.start[line + 1]))
        cells, coefs = lines.cell[entries], lines.coef[entries]
        if not primary[cells[coefs < 0]].any():
            found.append(tuple(int(c) for c in cells[(coefs > 0) & primary[cells]]))
    return [members for members in dict.fromkeys(found) if len(members) >= 2]


def groups(
    lines: Sequence[tuple[int, ...]],
    makeup: Mapping[int, Makeup],
    rules: Sequence[PrimaryRule],
    zeros: Zeros,
    scale: int,
) -> list[Group]:
    """The groups that need a level, one per crowded line at most; `makeup` by cell."""
    found = []
    for members in lines:
        parts = {cell: makeup[cell] for cell in members}
        needs = [("common respondent", required_level(union(list(parts.values())), rules, zeros, scale))]
        for known in lone_respondents(parts):
            left = [part for cell, part in parts.items() if cell not in known]
            if left:
                needs.append(("singleton", required_level(union(left), rules, zeros, scale)))
        fired = [(level, reason) for reason, level in needs if level is not None]
        if fired:
            level = max(level for level, _ in fired)
            reason = "singleton" if any(reason == "singleton" for _, reason in fired) else "common respondent"
            found.append(Group(members, level, reason))
    return found


def lone_respondents(parts: Mapping[int, Makeup]) -> list[frozenset[int]]:
    """For every respondent who is alone in at least one cell: the cells in which it is alone."""
    alone: dict[str, set[int]] = {}
    for cell, part in parts.items():
        if part.settled.contributors + len(part.spread) == 1:
            owner = part.spread[0].holder if part.spread else f"cell {cell}"
            alone.setdefault(owner, set()).add(cell)
    return [frozenset(cells) for cells in alone.values()]


def union(parts: Sequence[Makeup]) -> Contributions:
    """Several disjoint cells as one; a contributor that sits in more than one of them counts once."""
    by_holder: dict[str, list[Spread]] = {}
    for part in parts:
        for entry in part.spread:
            by_holder.setdefault(entry.holder, []).append(entry)
    one = parts[0].settled.one
    spread = [_together(entries, one) for entries in by_holder.values()]
    nets = [sum(entry.net for entry in entries) for entries in by_holder.values()]
    settled = [part.settled for part in parts]
    return Contributions(
        value=sum(s.value for s in settled) + sum(nets),
        total=sum(s.total for s in settled) + sum(abs(net) for net in nets),
        contributors=sum(s.contributors for s in settled) + len(spread),
        waived=sum(s.waived for s in settled) + sum(c.waived for c in spread),
        largest=in_order([c for s in settled for c in s.largest] + spread),
        one=one,
    )


def _together(entries: Sequence[Spread], one: int) -> Contribution:
    """One holder's entries in several cells as one contribution."""
    waived = all(entry.waived for entry in entries)
    if len(entries) == 1:
        return Contribution(entries[0].amount, entries[0].mass, waived)
    return Contribution(abs(sum(entry.net for entry in entries)), one, waived)
