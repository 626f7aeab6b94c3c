"""The audit: the attacker's verdict on a pattern, for every sensitive cell, in exact arithmetic.

A cell is safe when witnesses show that the attacker cannot exclude `a - lower`, `a + upper` and a
width of `sliding`. Cheap proofs come first (interval propagation refutes, flows decide two-way
tables, boxes certify grids); what is left goes to the attacker's linear program, and every consistent
table that it returns is tried on all open cells before the next one is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Unpack

import numpy as np

from gpuga import compiling
from gpuga.context import Clock, Context
from gpuga.safety.attacker import Attacker, Reach
from gpuga.safety.evidence import Evidence, Rule, SafetyProof
from gpuga.safety.intervals import reaches
from gpuga.safety.proofs import cheap_proofs
from gpuga.safety.unpick import unpick
from gpuga.table.attacker_model import Asked, AttackerModel, SafetyOptions, as_judged
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.two_way import two_way_table
from gpuga.table.witnesses import Witnesses

FEW = 6
"""With fewer open cells than this, each is asked on its own."""

PATIENCE = 3
"""Changes of many cells at once that may settle next to nothing before cells are asked one by one."""


@dataclass(frozen=True)
class CellAudit:
    """One suppressed cell: its verdict and, where asked for, what the attacker can narrow it down to.

    `min` and `max` are in the user's units; None is "no limit" (or "not asked for", see `Audit.intervals`). Where the
    time ended first, `exact` is false and the interval may be wider than shown.
    """

    cell: int
    kind: str
    safe: bool
    min: Fraction | None = None
    max: Fraction | None = None
    exact: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The verdict on a pattern. `audited` counts the sensitive cells that were judged: all of them.

    `undecided` are the cells that were neither shown to be safe nor refuted, because the time ended or no exact answer
    was found: they count as not safe. `whole` says whether the attacker knew that values are whole numbers; `proof`
    holds a witness for every requirement of a safe pattern, and `changes` what else shows how far cells can move, if
    that was asked for.
    """

    safe: bool
    audited: int
    cells: tuple[CellAudit, ...]
    intervals: bool
    solves: int = 0
    undecided: tuple[int, ...] = ()
    whole: bool = False
    proof: SafetyProof | None = None
    changes: Witnesses | None = None

    def __repr__(self) -> str:
        """The verdict, without any interval."""
        verdict = "safe" if self.safe else f"not safe: {len(self.unsafe)} cells are not protected"
        return f"<Audit of {self.audited} sensitive cells: {verdict}>"

    @cached_property
    def unsafe(self) -> tuple[int, ...]:
        """The cells that the pattern does not protect."""
        return tuple(c.cell for c in self.cells if not c.safe)


def audit(
    table: Table,
    suppressed: Mask,
    *,
    intervals: bool = True,
    proofs: bool = False,
    proof: Witnesses | None = None,
    context: Context | None = None,
    **asked: Unpack[SafetyOptions],
) -> Audit:
    """Judge a pattern of a `table`: is every sensitive cell protected?

    `suppressed` (bool[n]) is the pattern, primaries included; it may come from any tool. With `intervals` every
    suppressed cell also gets the attacker's interval; without, only verdicts. `proofs` keeps a witness for every
    requirement. `proof` are witnesses that someone proposes: each is checked exactly before it counts, and none is
    needed. `strict`, `protect_secondary`, `whole` and `level_zero` say what safety means, as in `gpuga.protect`. What
    the clock of `context` (`gpuga.context.Context`) leaves no time for is undecided, which counts as not safe.
    """
    if context is None:
        compiling.say_first()
    judged, model = as_judged(table, Asked(**asked), units=proofs)
    return judge(judged, suppressed, model, intervals=intervals, proofs=proofs, proof=proof, context=context)


def judge(
    table: Table,
    suppressed: Mask,
    model: AttackerModel,
    *,
    intervals: bool = False,
    proofs: bool = False,
    proof: Witnesses | None = None,
    context: Context | None = None,
) -> Audit:
    """As `audit`, for a table that is as the attacker must be judged on it already."""
    context = context or Context()
    suppressed = np.asarray(suppressed, bool)
    table.check_pattern(suppressed)
    evidence = Evidence(table, suppressed, model, proofs)
    solves, refuted = collect(table, suppressed, evidence, context, proof)
    cells = evidence.rule.cells
    bad = set(evidence.unsettled(cells))
    undecided = tuple(sorted(bad - refuted))
    kept = evidence.proof() if proofs and not bad else None
    reported = tuple(CellAudit(c, _kind(table, c), c not in bad) for c in cells.tolist())
    verdict = Audit(not bad, len(table.sensitive), reported, False, solves, undecided, model.whole, kept)
    return _measured(table, suppressed, evidence, context, verdict) if intervals else verdict


def with_intervals(
    table: Table, suppressed: Mask, verdict: Audit, context: Context, **asked: Unpack[SafetyOptions]
) -> Audit:
    """A verdict of `audit` with the attacker's intervals as well, as far as there is time: the verdict stays as it is.

    `asked` are the options that the verdict was asked for with, `proofs` among them.
    """
    judged, model = as_judged(table, Asked(**asked), units=True)
    evidence = Evidence(judged, suppressed, model, keep=True)
    if verdict.proof is not None:
        evidence.offer(verdict.proof.witnesses)
    return _measured(judged, suppressed, evidence, context, verdict)


def _measured(table: Table, suppressed: Mask, evidence: Evidence, context: Context, verdict: Audit) -> Audit:
    """The verdict with intervals."""
    bad, found = set(verdict.unsafe), reaches(table, suppressed, evidence, context)
    cells = tuple(_reported(table, c, c not in bad, *both) for c, both in found.by_cell.items())
    return replace(verdict, cells=cells, intervals=True, solves=verdict.solves + found.solves, changes=found.changes)


def open_cells(table: Table, suppressed: Mask, model: AttackerModel, clock: Clock) -> Ints:
    """The cells that only the attacker's programs can decide about: cheap proofs neither settle nor refute them."""
    evidence = Evidence(table, suppressed, model)
    if two_way_table(table) is not None:
        return np.zeros(0, np.int64)
    cells = np.array(evidence.unsettled(evidence.rule.cells), np.int64)
    cells = cells[~short_by_propagation(table, suppressed, evidence.rule)[cells]]
    cheap_proofs(table, suppressed, evidence, cells, clock.expired)
    return np.array(evidence.unsettled(cells), np.int64)


def found_witnesses(table: Table, suppressed: Mask, model: AttackerModel, cells: Ints, context: Context) -> Witnesses:
    """Changes that show some cells to be safe, as far as the attacker's programs find them in the time there is."""
    evidence = Evidence(table, suppressed, model, keep=True)
    _by_attacker(table, suppressed, evidence, context, cells.tolist(), set())
    return evidence.proof().witnesses


def _kind(table: Table, cell: int) -> str:
    return "primary" if table.primary[cell] else "secondary"


def collect(
    table: Table, suppressed: Mask, evidence: Evidence, context: Context, proof: Witnesses | None
) -> tuple[int, set[int]]:
    """Collect evidence until every judged cell is settled or refuted; returns the solves and the refuted."""
    cells = evidence.rule.cells
    if proof is not None:
        evidence.offer(proof)
    open_cells = np.array(evidence.unsettled(cells), np.int64)
    if not len(open_cells):
        return 0, set()
    refuted = set(open_cells[short_by_propagation(table, suppressed, evidence.rule)[open_cells]].tolist())
    asked = np.array([c for c in open_cells.tolist() if c not in refuted], np.int64)
    cheap_proofs(table, suppressed, evidence, asked, context.clock.expired)
    left = [c for c in evidence.unsettled(open_cells) if c not in refuted]
    if two_way_table(table) is not None or not left:
        return 0, refuted | set(left)  # in a plane flows have decided: what is open is unsafe
    return _by_attacker(table, suppressed, evidence, context, left, refuted)


def _by_attacker(
    table: Table, suppressed: Mask, evidence: Evidence, context: Context, left: list[int], refuted: set[int]
) -> tuple[int, set[int]]:
    """Put what is left to the attacker's linear program; the solves and all that is refuted."""
    attacker = Attacker(table, suppressed, expired=context.clock.expired)
    context.progress.stage("attacker", len(left))
    refuted |= ask_all(attacker, evidence, context, left)
    return attacker.solves, refuted


def ask_all(attacker: Attacker, evidence: Evidence, context: Context, left: list[int]) -> set[int]:
    """Ask about all cells together as long as that pays, then one by one, until the time is up; the refuted ones."""
    refuted = set()
    left = _together(attacker, evidence, context, left)
    while left and not context.clock.expired():
        cell = left[0]
        if _ask(attacker, evidence, cell, left, context.clock):
            refuted.add(cell)
        still = [c for c in left[1:] if not evidence.settled(c)]
        context.progress.advance(len(left) - len(still))
        left = still
    return refuted


def _together(attacker: Attacker, evidence: Evidence, context: Context, left: list[int]) -> list[int]:
    """Changes that move all open cells at once, each towards what it lacks; returns the cells that stay open."""
    random = np.random.default_rng(0)
    failures = 0
    while len(left) >= FEW and failures < PATIENCE and not context.clock.expired():
        cells = np.array(left, np.int64)
        direction = np.array([random.choice(evidence.open_directions(c)) for c in left], np.int8)
        need = np.array([evidence.goal(c, d) for c, d in zip(left, direction.tolist(), strict=True)], np.int64)
        witness = attacker.shared(cells, direction, np.maximum(need, 1), context.clock.left())
        if witness is None:
            break
        evidence.use(witness, left)
        still = [c for c in left if not evidence.settled(c)]
        context.progress.advance(len(left) - len(still))
        failures += 1 if len(left) - len(still) < len(left) / 20 else 0
        left = still
    return left


def _ask(attacker: Attacker, evidence: Evidence, cell: int, open_cells: Sequence[int], clock: Clock) -> bool:
    """Put the open questions of one cell to the attacker's program; whether it is refuted."""
    most: dict[int, Fraction | None] = {}
    while todo := [d for d in evidence.open_directions(cell) if d not in most]:
        direction = todo[0]
        goal = evidence.goal(cell, direction)
        reach = attacker.reach(cell, direction, goal, clock.left(), or_nothing=True)
        parts = reach.witness is None or reach.witness.denominator[0] != 1
        if evidence.whole and parts and reach.attained >= max(1, evidence.least(cell, direction)):
            # short of the goal, the farthest whole move may do: the rest of a width is left to the other direction
            need = goal if reach.attained >= goal else None
            reach = attacker.whole_reach(cell, direction, need, reach, clock.left())
        if reach.witness is not None:
            evidence.use(reach.witness, open_cells)
        most[direction] = reach.bound
    return not evidence.settled(cell) and _falls_short(evidence, cell, most)


def _falls_short(evidence: Evidence, cell: int, most: dict[int, Fraction | None]) -> bool:
    """Whether bounds on a cell's reach prove that it is not safe."""
    rule = evidence.rule
    for direction, asked in ((1, int(rule.rise[cell])), (-1, int(rule.fall[cell]))):
        bound = most.get(direction)
        if asked >= 0 and bound is not None and not rule.met(bound, asked):
            return True
    bounds = [most.get(direction) for direction in (1, -1)]
    if rule.width[cell] < 0 or any(bound is None for bound in bounds):
        return False
    strict = True if not evidence.table.primary[cell] else None
    return not rule.met(sum(b for b in bounds if b is not None), int(rule.width[cell]), strict)


def short_by_propagation(table: Table, suppressed: Mask, rule: Rule) -> Mask:
    """Cells whose levels lie outside what the lines alone allow: unsafe without any solver (bool[n])."""
    rise, fall = unpick(table, suppressed)
    return rule.short(rise, rule.rise) | rule.short(fall, rule.fall)


def _reported(table: Table, cell: int, safe: bool, rise: Reach, fall: Reach) -> CellAudit:
    value = Fraction(int(table.value[cell]))
    return CellAudit(
        cell,
        _kind(table, cell),
        safe,
        None if fall.unbounded else (value - fall.attained) / table.scale,
        None if rise.unbounded else (value + rise.attained) / table.scale,
        all(r.unbounded or r.bound == r.attained for r in (rise, fall)),
    )
