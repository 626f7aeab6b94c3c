"""An answer in time: a first safe pattern, then the method's own, each audited; a method can only improve on the first.

Where the time is limited, a first pattern that carries its proof is made and audited at once. The method then works
with a clock that ends early enough for the audit, the bound and the writing of its result. What it has not shown to be
safe by then is given up for the first pattern. Without a limit nothing of this happens, unless the user interrupts a
method that has no pattern yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuga.circuits.cover import Cover
from gpuga.context import Clock, Context, Silent
from gpuga.errors import GpugaError, Infeasible, OutOfTime
from gpuga.heuristics.first import first_pattern
from gpuga.methods import Run
from gpuga.problem.general import requirements_of
from gpuga.problem.refusal import impossible
from gpuga.protection import Bound, Found
from gpuga.safety.audit import Audit, judge
from gpuga.safety.requirements import Requirements
from gpuga.safety.unpick import unpick
from gpuga.table.table import Mask, Table
from gpuga.table.witnesses import Witnesses

RESERVE, MOST_RESERVE = 0.02, 0.4
"""The shares of the time that are kept for what comes after the method, at least and at most."""

WRITING = 0.5
"""Writing takes at most this share of the time that reading took."""

COLLECTING = 0.5
"""Putting a method's circuits together takes about this share of the time that finding the first ones took."""

STARTING = 0.5
"""The share of a limited time in which patterns to start from are shown to be safe."""

AUDITS = 3.0
"""The audit of a method's pattern is expected to take at most so many times as long as that of the first one."""


@dataclass(frozen=True, eq=False)
class SafeAnswer:
    """A pattern with its audit, and how it was found."""

    suppressed: Mask
    audit: Audit
    found: Found
    repaired: int = 0


@dataclass(frozen=True, eq=False)
class First:
    """The first pattern, and how long it took to find and to audit it."""

    answer: SafeAnswer
    finding: float
    auditing: float


def in_time(run: Run, table: Table, context: Context) -> SafeAnswer:
    """The method's pattern, shown to be safe; the first one where the time ends before that, or if it is cheaper then.

    Raises `OutOfTime` where there is neither.
    """
    if not len(table.sensitive):
        found = Found(table.forced.copy(), bound=Bound(table.cost(table.forced), "nothing to protect"))
        return _shown(table, found, context)
    reading = context.clock.spent()
    first = None if context.clock.seconds is None else _first(table, context)
    if first is None and context.clock.seconds is not None and context.clock.expired():
        return _instead(table, context, None)
    working = context
    if first is not None:
        kept = _kept(context, reading, first)
        if context.clock.left() - kept < first.finding:  # no method is quicker
            return first.answer
        clock = context.clock.keeping(kept)
        working = replace(context, clock=clock, first=first.answer.found, first_seconds=first.finding)
    try:
        own = _shown(table, _found(run, table, working), context)
    except OutOfTime:
        return _instead(table, context, first)
    late = working.clock.expired()
    if first is not None and late and table.cost(first.answer.suppressed) < table.cost(own.suppressed):
        return first.answer
    return own


def _kept(context: Context, reading: float, first: First) -> float:
    """Seconds that are kept for the audits, the bound and the writing of what a method finds."""
    clock = context.clock
    assert clock.seconds is not None, "only limited time is kept"
    audits = AUDITS + context.further
    expected = (1 + context.further) * WRITING * reading + audits * first.auditing + COLLECTING * first.finding
    return min(max(expected, RESERVE * clock.seconds), MOST_RESERVE * clock.left())


def _first(table: Table, context: Context) -> First | None:
    """The first pattern with its audit; None where there is none, or none that is shown to be safe.

    It may use the time of grace as well: nothing would be gained by giving it up at the limit.
    """
    context = replace(context, clock=context.clock.graced())
    begun = context.clock.spent()
    try:
        found = _safe_start(table, context) or first_pattern(table, context)
        if found is None:
            return None
        finding = context.clock.spent() - begun
        answer = _shown(table, found, context)
    except (OutOfTime, Infeasible):
        return None  # the method may find one, or say which cells cannot be protected
    return First(answer, finding, context.clock.spent() - begun - finding)


def _safe_start(table: Table, context: Context) -> Found | None:
    """The cheapest of the patterns to start from that is safe, with its proof; None where none is shown to be so."""
    hurried = replace(context, clock=context.clock.part(STARTING), progress=Silent())
    for pattern in sorted(context.start, key=table.cost):
        verdict = judge(table, pattern, replace(context.model, protect_secondary=False), proofs=True, context=hurried)
        if verdict.proof is not None:
            return Found(pattern, details={"pattern": "start"}, proof=verdict.proof.witnesses)
    return None


def _instead(table: Table, context: Context, first: First | None) -> SafeAnswer:
    """The first pattern in place of a method's that was not finished; of an interrupted one it is made now."""
    if first is None and context.clock.seconds is None:
        first = _first(table, replace(context, clock=Clock()))
    if first is None:
        raise OutOfTime("time ran out before the first safe pattern was found; allow more with --seconds")
    return first.answer


def _shown(table: Table, found: Found, context: Context) -> SafeAnswer:
    """A pattern that is safe, or made so."""
    finishing = replace(context, clock=context.clock.finishing())
    suppressed, verdict, repaired = make_safe(table, found.suppressed, finishing, found.proof)
    return SafeAnswer(suppressed, verdict, found, repaired)


def _found(run: Run, table: Table, context: Context) -> Found:
    """What the method finds; a claim that nothing is possible is believed only if the audit agrees."""
    try:
        return run(table, context)
    except Infeasible:
        if not everything_is_safe(table, context):
            raise
        return Found(table.suppressible.copy())  # reached only by fractions of a unit: rare, and safe


def everything_is_safe(table: Table, context: Context) -> bool:
    """Whether all sensitive cells are safe with everything suppressed that may be; `OutOfTime` where that is open."""
    finishing = replace(context, clock=context.clock.finishing())
    model = replace(context.model, protect_secondary=False)
    verdict = judge(table, table.suppressible.copy(), model, context=finishing)
    if not verdict.safe and set(verdict.unsafe) == set(verdict.undecided) and finishing.clock.expired():
        raise OutOfTime("time ran out before it was known whether a safe pattern exists; allow more with --seconds")
    return verdict.safe


def make_safe(
    table: Table, suppressed: Mask, context: Context, proof: Witnesses | None = None
) -> tuple[Mask, Audit, int]:
    """The pattern, repaired where the audit finds it short, its audit, and how many cells were repaired.

    Where no secondary may be exactly determined, those that are get published: that tells the attacker nothing new.
    Raises `OutOfTime` where the context's clock ends before the pattern is shown to be safe.
    """
    suppressed = np.asarray(suppressed, bool) | table.forced
    table.check_pattern(suppressed)
    repaired: set[int] = set()
    everything = False
    while True:
        context.progress.stage("audit")
        verdict = judge(table, suppressed, context.model, proof=proof, context=context)
        if verdict.safe:
            return suppressed, verdict, len(repaired)
        if context.clock.expired():
            raise OutOfTime("time ran out before the pattern was shown to be safe; allow more with --seconds")
        unsafe = np.array(verdict.unsafe, np.int64)
        loose = unsafe[~table.forced[unsafe]]
        if not set(verdict.unsafe) - repaired:
            # what is published because it is determined comes back to protect something else: from everything
            # suppressed, only publishing is left, and it ends
            if everything and set(verdict.unsafe) <= set(verdict.undecided):
                raise GpugaError("the pattern could not be repaired: no exact answer was found for some cells")
            if everything:
                raise impossible(table, unsafe[table.forced[unsafe]].tolist())
            everything, repaired, suppressed = True, set(), table.suppressible.copy()
            continue
        repaired |= set(verdict.unsafe)
        suppressed[loose] = False
        if len(loose) < len(unsafe) and not everything:
            suppressed = _repaired(table, suppressed, unsafe[table.forced[unsafe]].tolist(), context)


def _repaired(table: Table, suppressed: Mask, unsafe: Sequence[int], context: Context) -> Mask:
    """More suppressions, so that the cells named become safe; nothing is published."""
    bad = np.array(unsafe, np.int64)
    all_requirements = requirements_of(table, context.strict, context.clock)
    levels = all_requirements.subset(np.isin(all_requirements.cell, bad[table.primary[bad]]))
    beforehand = bad[~table.primary[bad]]  # must not be exactly determined: any movement will do
    direction = np.where(unpick(table, table.suppressible)[0][beforehand] > 0, 1, -1)
    requirements = Requirements(
        np.concatenate([levels.cell, beforehand]).astype(np.int32),
        np.concatenate([levels.direction, direction]).astype(np.int8),
        np.concatenate([levels.need, np.ones(len(beforehand), np.int64)]),
    )
    cover = Cover(table, requirements, context, suppressed)
    try:
        cover.by_boxes(range(len(requirements)))
        cover.by_lp(range(len(requirements)))
    except Infeasible:
        everything = table.suppressible.copy()
        if not everything_is_safe(table, context) or (suppressed == everything).all():
            raise
        return everything  # reached only by fractions of a unit
    return cover.suppressed
