"""What the attacker is taken to know, and the table as he must be judged on it.

A sensitive cell whose levels are all 0 must still not be exactly known: it gets a sliding level of one unit of the
table's last decimal (`level_zero="exact"`), unless that is waived (`"ignore"`). An attacker who knows that all values
are whole numbers (`whole`) is judged on the table in whole units, its levels rounded up and its bounds inwards: only
whole changes are witnesses for him.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.table.table import INFINITE, Ints, Levels, Lines, Table
from gpuga.table.two_way import two_way_table

WHOLE = ("auto", "yes", "no")
LEVEL_ZERO = ("exact", "ignore")


class AttackerOptions(TypedDict, total=False):
    """What a user may say of the attacker; meanings and defaults stand in `Asked`."""

    strict: bool
    whole: str
    level_zero: str


class SafetyOptions(AttackerOptions, total=False):
    """The same, with what is asked of secondary suppressions."""

    protect_secondary: bool


@dataclass(frozen=True)
class Asked:
    """What safety means, as a user asks for it.

    `strict`: a level must be exceeded, not just reached; `protect_secondary`: no secondary suppression may be exactly
    determined either; `whole`: whether the attacker knows that values are whole numbers (auto: of tables of counts);
    `level_zero`: whether a sensitive cell without any level must not be exactly known, or needs nothing (ignore).
    """

    strict: bool = False
    protect_secondary: bool = False
    whole: str = "auto"
    level_zero: str = "exact"


@dataclass(frozen=True)
class AttackerModel:
    """How levels are read and what the attacker of one table knows: `whole` is decided, all else as in `Asked`."""

    strict: bool = False
    protect_secondary: bool = False
    whole: bool = False


def as_judged(table: Table, asked: Asked, *, units: bool = False) -> tuple[Table, AttackerModel]:
    """The table as the attacker is judged on it, and what he knows.

    Flows of two-way tables are whole by themselves: they get other units only where `units` are asked for.
    """
    judged, knows = with_level_zero(table, asked.level_zero, asked.strict), knows_whole(table, asked.whole)
    if knows and (units or two_way_table(judged) is None):
        judged = in_whole_units(judged, asked.strict)
    return judged, AttackerModel(asked.strict, asked.protect_secondary, knows)


def with_level_zero(table: Table, level_zero: str, strict: bool) -> Table:
    """The table with a sliding level of one unit where a sensitive cell has no level at all.

    The strict reading asks such cells to move both ways already.
    """
    check_choice(level_zero, LEVEL_ZERO, "--level-zero")
    cells = levels_of_zero(table)
    if strict or level_zero == "ignore" or not len(cells):
        return table
    sliding = table.levels.sliding.copy()
    sliding[cells] = 1
    return replace(table, levels=Levels(table.levels.lower, table.levels.upper, sliding))


def levels_of_zero(table: Table) -> Ints:
    """The sensitive cells whose levels are all 0."""
    levels = table.levels
    return np.flatnonzero(table.primary & (levels.lower == 0) & (levels.upper == 0) & (levels.sliding == 0))


def knows_whole(table: Table, whole: str) -> bool:
    """Whether the attacker of a table is taken to know that values are whole; `auto`: of tables of counts."""
    check_choice(whole, WHOLE, "--whole")
    if whole == "auto":
        return table.counts
    if whole == "yes":
        _refuse_parts(table)
    return whole == "yes"


def check_choice(given: str, choices: tuple[str, ...], field: str) -> None:
    """Refuse a word that is none of the choices."""
    if given not in choices:
        raise InputError(f"{printable(given)!r} is not one of {', '.join(choices)}", field=field)


def _refuse_parts(table: Table) -> None:
    parts = table.value % table.scale != 0
    if parts.any():
        cell = int(np.argmax(parts))
        raise InputError(f"{table.label(cell)} is not a whole number: do not use --whole yes", field="value", cell=cell)


def in_whole_units(table: Table, strict: bool) -> Table:
    """The table as whole numbers: levels up to the next whole number (strict: down, and exceeded), bounds inwards."""
    scale = table.scale
    if scale == 1:
        return table

    def level(amount: Ints) -> Ints:
        return amount // scale if strict else -(-amount // scale)

    def bound(amount: Ints, inwards: Ints) -> Ints:
        return np.where(np.abs(amount) >= INFINITE, amount, inwards).astype(np.int64)

    levels = table.levels
    lines = table.lines
    return replace(
        table,
        value=table.value // scale,
        lb=bound(table.lb, -(-table.lb // scale)),
        ub=bound(table.ub, table.ub // scale),
        levels=Levels(level(levels.lower), level(levels.upper), level(levels.sliding)),
        lines=Lines(lines.start, lines.cell, lines.coef, lines.rhs // scale),
        scale=1,
    )
