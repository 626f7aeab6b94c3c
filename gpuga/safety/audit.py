"""The audit: the attacker's verdict on a pattern, for every sensitive cell, in exact arithmetic.

A cell is safe when witnesses show that the attacker cannot exclude `a - lower`, `a + upper` and a
width of `sliding`. Cheap proofs come first (interval propagation refutes, flows decide two-way
tables, boxes certify grids); what is left goes to the attacker's linear program, and every consistent
table that it returns is tried on all open cells before the next one is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from gpuga.context import Context
from gpuga.errors import InputError
from gpuga.safety.attacker import Attacker, Reach
from gpuga.safety.proofs import cheap_proofs
from gpuga.safety.unpick import unpick
from gpuga.safety.witness import Witnesses, reversal
from gpuga.table.plane import plane_of, suppressed_grid
from gpuga.table.table import INFINITE, Ints, Mask, Table


@dataclass(frozen=True)
class CellAudit:
    """One suppressed cell: its verdict and, where asked for, what the attacker can narrow it down to.

    `min` and `max` are in the user's units; None is "no limit" (or "not asked for", see `Audit.intervals`).
    """

    cell: int
    kind: str
    safe: bool
    min: Fraction | None = None
    max: Fraction | None = None


@dataclass(frozen=True, eq=False)
class Audit:
    """The verdict on a pattern. `audited` counts the sensitive cells that were judged: all of them."""

    safe: bool
    audited: int
    cells: tuple[CellAudit, ...]
    intervals: bool
    solves: int = 0

    @cached_property
    def unsafe(self) -> tuple[int, ...]:
        """The cells that the pattern does not protect."""
        return tuple(c.cell for c in self.cells if not c.safe)


@dataclass(frozen=True, eq=False)
class Rule:
    """What must be shown of each suppressed cell, as least rises, falls and widths in units (int64[n]).

    The strict reading asks for more than the level; a width of 1 unit over nothing stands for "not
    determined", which any movement at all satisfies.
    """

    cells: Ints
    rise: Ints
    fall: Ints
    width: Ints
    strict: bool

    @classmethod
    def of(cls, table: Table, suppressed: Mask, strict: bool, protect_secondary: bool) -> Rule:
        """The levels of all sensitive cells and, if wanted, that no secondary is exactly determined."""
        levels = table.levels
        secondary = suppressed & ~table.primary
        judged = suppressed if protect_secondary else table.primary
        none = np.int64(-1)  # nothing is asked for, not even in the strict reading
        return cls(
            cells=np.flatnonzero(judged),
            rise=np.where(table.primary, levels.upper, none),
            fall=np.where(table.primary, levels.lower, none),
            width=np.where(table.primary, np.where(levels.sliding > 0, levels.sliding, none), np.where(secondary, 0, none)),
            strict=strict,
        )

    def short(self, room: Ints, asked: Ints) -> Mask:
        """Whether rooms in whole units fall short of what is asked for, cell by cell."""
        return np.asarray((asked >= 0) & ((room <= asked) if self.strict else (room < asked)))

    def met(self, reached: Fraction | int, asked: int, strict: bool | None = None) -> bool:
        """Whether a reach satisfies a level."""
        return reached > asked if (self.strict if strict is None else strict) else reached >= asked


class Evidence:
    """What has been shown so far: the best exact rises and falls of every cell."""

    def __init__(self, table: Table, rule: Rule) -> None:
        self.table, self.rule = table, rule
        self.rise: dict[int, Fraction] = {}
        self.fall: dict[int, Fraction] = {}

    def reached(self, cell: int, direction: int) -> Fraction:
        """The best rise (or fall) shown."""
        return (self.rise if direction > 0 else self.fall).get(cell, Fraction(0))

    def note(self, cell: int, direction: int, reach: Fraction) -> None:
        """One more reach, if it is better."""
        if reach > self.reached(cell, direction):
            (self.rise if direction > 0 else self.fall)[cell] = reach

    def asked(self, cell: int, direction: int) -> int:
        """The least whole number of units that settles a direction of a cell; 0 where nothing is asked."""
        level = int((self.rule.rise if direction > 0 else self.rule.fall)[cell])
        return max(0, level + 1 if self.rule.strict and level >= 0 else level)

    def asks_width(self, cell: int) -> bool:
        """Whether the width of a cell's interval matters."""
        return bool(self.rule.width[cell] >= 0)

    def open_directions(self, cell: int) -> list[int]:
        """The directions in which a cell still has to be shown to move further."""
        rule = self.rule
        open_ = []
        if rule.rise[cell] >= 0 and not rule.met(self.reached(cell, 1), int(rule.rise[cell])):
            open_.append(1)
        if rule.fall[cell] >= 0 and not rule.met(self.reached(cell, -1), int(rule.fall[cell])):
            open_.append(-1)
        if not open_ and not self.wide(cell):
            open_ = [1, -1]
        return open_

    def wide(self, cell: int) -> bool:
        """Whether the width of a cell's interval is shown to suffice."""
        asked = int(self.rule.width[cell])
        if asked < 0:
            return True
        secondary = not self.table.primary[cell]
        width = self.reached(cell, 1) + self.reached(cell, -1)
        return self.rule.met(width, asked, strict=True if secondary else None)

    def settled(self, cell: int) -> bool:
        """Whether a cell is shown to be safe."""
        return not self.open_directions(cell)

    def use(self, attacker: Attacker, witness: Witnesses, cells: Sequence[int]) -> None:
        """Try one witness, and its reverse as far as it goes, on all open cells."""
        moved, amounts, denominator = witness.one(0)
        amount_of = dict(zip(moved.tolist(), amounts.tolist(), strict=True))
        back = reversal(attacker.ground, witness, 0)
        for cell in cells:
            amount = amount_of.get(cell, 0)
            if amount:
                direction = 1 if amount > 0 else -1
                self.note(cell, direction, Fraction(abs(amount), denominator))
                self.note(cell, -direction, back * abs(amount) / denominator)


def check_pattern(table: Table, suppressed: Mask) -> None:
    """Refuse a pattern that publishes a sensitive cell or suppresses a frozen one."""
    if len(suppressed) != len(table):
        raise InputError(f"the pattern has {len(suppressed)} cells, the table {len(table)}")
    if (bad := np.flatnonzero(table.primary & ~suppressed)).size:
        raise InputError(f"the pattern publishes the sensitive {table.label(int(bad[0]))}")
    if (bad := np.flatnonzero(suppressed & ~table.suppressible)).size:
        raise InputError(f"the pattern suppresses {table.label(int(bad[0]))}, which must be published")


def audit(
    table: Table,
    suppressed: Mask,
    *,
    strict: bool = False,
    protect_secondary: bool = False,
    intervals: bool = True,
    context: Context | None = None,
) -> Audit:
    """Judge a pattern (bool[n], primaries included): is every sensitive cell protected?

    With `intervals` every suppressed cell also gets the attacker's interval; without, only verdicts.
    """
    context = context or Context()
    suppressed = np.asarray(suppressed, bool)
    check_pattern(table, suppressed)
    rule = Rule.of(table, suppressed, strict, protect_secondary)
    evidence = Evidence(table, rule)
    if intervals:
        return _with_intervals(table, suppressed, rule, evidence, context)
    attacker, refuted = _judge(table, suppressed, evidence, context)
    cells = tuple(
        CellAudit(int(c), _kind(table, int(c)), int(c) not in refuted and evidence.settled(int(c))) for c in rule.cells
    )
    return Audit(all(c.safe for c in cells), len(table.sensitive), cells, False, attacker.solves)


def _kind(table: Table, cell: int) -> str:
    return "primary" if table.primary[cell] else "secondary"


def _judge(table: Table, suppressed: Mask, evidence: Evidence, context: Context) -> tuple[Attacker, set[int]]:
    """Collect evidence until every judged cell is settled or refuted."""
    attacker = Attacker(table, suppressed)
    cells = [int(c) for c in evidence.rule.cells]
    refuted = _refuted_by_propagation(table, suppressed, evidence.rule)
    cheap_proofs(table, suppressed, evidence, [c for c in cells if c not in refuted])
    open_cells = [c for c in cells if c not in refuted and not evidence.settled(c)]
    if plane_of(table) is not None:
        return attacker, refuted | set(open_cells)  # flows have decided: what is open is unsafe
    context.progress.stage("attacker", len(open_cells))
    while open_cells:
        cell = open_cells[0]
        _ask(attacker, evidence, cell, open_cells)
        if not evidence.settled(cell):
            refuted.add(cell)
        left = [c for c in open_cells[1:] if not evidence.settled(c)]
        context.progress.advance(len(open_cells) - len(left))
        open_cells = left
    return attacker, refuted


def _ask(attacker: Attacker, evidence: Evidence, cell: int, open_cells: Sequence[int]) -> None:
    """Put the open questions of one cell to the attacker's linear program."""
    for direction in evidence.open_directions(cell):
        if direction not in evidence.open_directions(cell):
            continue
        asked = int((evidence.rule.rise if direction > 0 else evidence.rule.fall)[cell])
        reach = attacker.reach(cell, direction, max(asked, int(evidence.rule.width[cell]), 0) + 1)
        if reach.witness is not None:
            evidence.note(cell, direction, reach.attained)
            evidence.use(attacker, reach.witness, open_cells)


def _refuted_by_propagation(table: Table, suppressed: Mask, rule: Rule) -> set[int]:
    """Sensitive cells whose levels lie outside what the lines alone allow: unsafe without any solver."""
    rise, fall = unpick(table, suppressed)
    bad = rule.short(rise, rule.rise) | rule.short(fall, rule.fall)
    return {int(c) for c in rule.cells if bad[c]}


def _with_intervals(
    table: Table, suppressed: Mask, rule: Rule, evidence: Evidence, context: Context
) -> Audit:
    """The attacker's interval of every suppressed cell, and the verdicts that follow."""
    from gpuga.safety.flow import extreme

    cells = np.flatnonzero(suppressed)
    reaches: dict[tuple[int, int], Fraction | None] = {}
    solves = 0
    plane = plane_of(table)
    if plane is not None:
        rises, falls = extreme(plane, suppressed_grid(plane, suppressed), cells)
        for cell, rise, fall in zip(cells.tolist(), rises.tolist(), falls.tolist(), strict=True):
            for direction, amount in ((1, rise), (-1, fall)):
                reaches[cell, direction] = None if amount >= INFINITE else Fraction(amount)
    else:
        attacker = Attacker(table, suppressed)
        context.progress.stage("attacker", len(cells))
        for cell in cells.tolist():
            for direction in (1, -1):
                asked = max(int(x[cell]) for x in (rule.rise, rule.fall, rule.width))
                reaches[cell, direction] = _extreme_by_lp(attacker.reach(cell, direction, max(asked, 0) + 1))
            context.progress.advance()
        solves = attacker.solves
    return _report(table, rule, evidence, cells, reaches, solves)


def _extreme_by_lp(reach: Reach) -> Fraction | None:
    """The reach to report: attained exactly; None without limit."""
    return None if reach.unbounded else reach.attained


def _report(
    table: Table,
    rule: Rule,
    evidence: Evidence,
    cells: Ints,
    reaches: dict[tuple[int, int], Fraction | None],
    solves: int,
) -> Audit:
    judged = set(rule.cells.tolist())
    out = []
    for cell in cells.tolist():
        rise, fall = reaches[cell, 1], reaches[cell, -1]
        evidence.note(cell, 1, Fraction(INFINITE) if rise is None else rise)
        evidence.note(cell, -1, Fraction(INFINITE) if fall is None else fall)
        value = Fraction(int(table.value[cell]))
        out.append(
            CellAudit(
                cell,
                _kind(table, cell),
                cell not in judged or evidence.settled(cell),
                None if fall is None else (value - fall) / table.scale,
                None if rise is None else (value + rise) / table.scale,
            )
        )
    return Audit(all(c.safe for c in out), len(table.sensitive), tuple(out), True, solves)
