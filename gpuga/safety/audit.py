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
from numpy.typing import NDArray

from gpuga.context import Context
from gpuga.errors import InputError
from gpuga.safety.attacker import Attacker, Reach
from gpuga.safety.proofs import cheap_proofs
from gpuga.safety.unpick import unpick
from gpuga.safety.witness import Ground, Witnesses, hold, reversal
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
            width=np.where(
                table.primary, np.where(levels.sliding > 0, levels.sliding, none), np.where(secondary, 0, none)
            ),
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
        self.whole_rise = np.zeros(len(table), np.int64)
        self.whole_fall = np.zeros(len(table), np.int64)

    def reached(self, cell: int, direction: int) -> Fraction:
        """The best rise (or fall) shown."""
        whole = int((self.whole_rise if direction > 0 else self.whole_fall)[cell])
        return max(Fraction(whole), (self.rise if direction > 0 else self.fall).get(cell, Fraction(0)))

    def note_whole(self, cells: NDArray[np.integer], direction: NDArray[np.integer], reach: Ints) -> None:
        """Many reaches in whole units at once."""
        up = direction > 0
        np.maximum.at(self.whole_rise, cells[up], reach[up])
        np.maximum.at(self.whole_fall, cells[~up], reach[~up])

    def note_proof(self, ground: Ground, proof: Witnesses) -> None:
        """What proposed witnesses show, of those that hold exactly; parts of a unit are left out."""
        length = np.diff(proof.start)
        held = np.repeat(hold(ground, proof), length)
        amount = proof.amount[held]
        reach = np.abs(amount) // np.repeat(proof.denominator, length)[held]
        self.note_whole(proof.cell[held], np.sign(amount), reach)

    def unsettled(self, cells: Ints) -> list[int]:
        """Those of the cells that are not yet shown to be safe."""
        rule, rise, fall = self.rule, self.whole_rise[cells], self.whole_fall[cells]
        extra = 1 if rule.strict else 0
        wide = np.where(self.table.primary[cells], rule.width[cells] + extra, 1)
        shown = (
            ((rule.rise[cells] < 0) | (rise >= rule.rise[cells] + extra))
            & ((rule.fall[cells] < 0) | (fall >= rule.fall[cells] + extra))
            & ((rule.width[cells] < 0) | (rise + fall >= wide))
        )
        return [c for c in cells[~shown].tolist() if not self.settled(c)]

    def note(self, cell: int, direction: int, reach: Fraction) -> None:
        """One more reach, if it is better."""
        if reach > self.reached(cell, direction):
            (self.rise if direction > 0 else self.fall)[cell] = reach

    def asked(self, cells: Ints, direction: NDArray[np.int8]) -> Ints:
        """The least whole numbers of units that settle directions of cells; 0 where nothing is asked."""
        level = np.where(direction > 0, self.rule.rise[cells], self.rule.fall[cells])
        return np.where(level < 0, 0, level + (1 if self.rule.strict else 0)).astype(np.int64)

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
    proof: Witnesses | None = None,
    context: Context | None = None,
) -> Audit:
    """Judge a pattern (bool[n], primaries included): is every sensitive cell protected?

    With `intervals` every suppressed cell also gets the attacker's interval; without, only verdicts. `proof` are
    witnesses that someone proposes: each is checked exactly before it counts, and none is needed.
    """
    context = context or Context()
    suppressed = np.asarray(suppressed, bool)
    check_pattern(table, suppressed)
    rule = Rule.of(table, suppressed, strict, protect_secondary)
    evidence = Evidence(table, rule)
    if intervals:
        return _with_intervals(table, suppressed, rule, evidence, context)
    solves, refuted = _judge(table, suppressed, evidence, context, proof)
    bad = refuted | set(evidence.unsettled(rule.cells))
    cells = tuple(CellAudit(c, _kind(table, c), c not in bad) for c in rule.cells.tolist())
    return Audit(not bad, len(table.sensitive), cells, False, solves)


def _kind(table: Table, cell: int) -> str:
    return "primary" if table.primary[cell] else "secondary"


def _judge(
    table: Table, suppressed: Mask, evidence: Evidence, context: Context, proof: Witnesses | None
) -> tuple[int, set[int]]:
    """Collect evidence until every judged cell is settled or refuted; returns the solves and the refuted."""
    cells = evidence.rule.cells
    if proof is not None:
        evidence.note_proof(Ground.of(table, suppressed), proof)
    open_cells = np.array(evidence.unsettled(cells), np.int64)
    if not len(open_cells):
        return 0, set()
    refuted = set(open_cells[_short_by_propagation(table, suppressed, evidence.rule)[open_cells]].tolist())
    cheap_proofs(table, suppressed, evidence, np.array([c for c in open_cells.tolist() if c not in refuted], np.int64))
    left = [c for c in evidence.unsettled(open_cells) if c not in refuted]
    if plane_of(table) is not None or not left:
        return 0, refuted | set(left)  # in a plane flows have decided: what is open is unsafe
    attacker = Attacker(table, suppressed)
    context.progress.stage("attacker", len(left))
    while left:
        cell = left[0]
        _ask(attacker, evidence, cell, left)
        if not evidence.settled(cell):
            refuted.add(cell)
        still = [c for c in left[1:] if not evidence.settled(c)]
        context.progress.advance(len(left) - len(still))
        left = still
    return attacker.solves, refuted


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


def _short_by_propagation(table: Table, suppressed: Mask, rule: Rule) -> Mask:
    """Cells whose levels lie outside what the lines alone allow: unsafe without any solver (bool[n])."""
    rise, fall = unpick(table, suppressed)
    return rule.short(rise, rule.rise) | rule.short(fall, rule.fall)


def _with_intervals(table: Table, suppressed: Mask, rule: Rule, evidence: Evidence, context: Context) -> Audit:
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
