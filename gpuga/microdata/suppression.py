"""Local suppression of a recoded file until no combination is rare, also by a re-count of what is left.

A suppressed score no longer counts, so suppressing in one record can make a combination of others rare. The
cheapest covers are therefore repeated on what is left until a count finds nothing; then scores whose
suppression has become superfluous are given back. Caps on the suppressions per field couple the records:
HiGHS then chooses how many records of each family take which cover.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from gpuga.compiled import compiled
from gpuga.context import GRACE, Clock, Progress, Silent
from gpuga.errors import Infeasible, OutOfTime, printable
from gpuga.microdata.problem import Problem, Suppressions, local_suppression
from gpuga.microdata.unsafe import Families, set_masks, unsafe_words

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

CAP_SECONDS = 120.0
"""Without a time limit, how long suppressions within the caps are looked for."""

OUT_OF_TIME = 1
"""The status of an integer program that ended at its time limit."""


@dataclass(frozen=True, eq=False)
class Suppressed:
    """The protected codes (-1: missing), what was suppressed (bool[records, fields]) and its cost."""

    codes: Codes
    suppressed: NDArray[np.bool_]
    cost: int
    first_round_cost: int
    rounds: int
    proven: bool


def suppress(
    problem: Problem,
    codes: Codes,
    sizes: Ints,
    *,
    caps: Mapping[int, int] | None = None,
    exact: bool = True,
    once: bool = False,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> Suppressed:
    """Suppress until a re-count finds no rare combination; `caps` limits the suppressions per field.

    With `once`, only what is rare before any suppression is protected: enough where `missing` could be
    anything. The clock limits the integer program of the caps, and the search for superfluous suppressions.
    """
    clock, progress = clock or Clock(), progress or Silent()
    seconds = CAP_SECONDS if clock.seconds is None else max(GRACE, clock.left())
    left, rounds, first, proven = codes.copy(), 0, 0, True
    while True:
        found = local_suppression(problem, left, sizes, exact=exact)
        if len(found.families) == 0:
            break
        covers = _covers_of_records(problem, found, _remaining(caps, codes, left), seconds)
        _take(left, found.families.record, covers)
        first, rounds = (found.cost if rounds == 0 else first), rounds + 1
        progress.advance(records=len(found.families.record))
        proven = proven and found.proven
        if once:
            break
    if rounds > 1:
        _give_back(problem, codes, left, sizes, clock)
    taken = (codes >= 0) & (left < 0)
    cost = int((taken * problem.costs.suppress[problem.costs.record_class]).sum())
    return Suppressed(left, taken, cost, first, rounds, proven)


def _remaining(caps: Mapping[int, int] | None, codes: Codes, left: Codes) -> dict[int, int] | None:
    if not caps:
        return None
    used = ((codes >= 0) & (left < 0)).sum(axis=0)
    return {field: cap - int(used[field]) for field, cap in caps.items()}


@compiled
def _take(codes: Codes, record: Ints, covers: Ints) -> None:
    for i in range(len(record)):
        for f in range(codes.shape[1]):
            if (covers[i] >> f) & 1:
                codes[record[i], f] = -1


def _covers_of_records(problem: Problem, found: Suppressions, caps: Mapping[int, int] | None, seconds: float) -> Ints:
    """The cover of each unsafe record: its family's cheapest, or what the caps allow."""
    if caps is None or _within(found, caps):
        return found.covers[found.families.family]
    return _capped(problem, found.families, caps, seconds)


def _within(found: Suppressions, caps: Mapping[int, int]) -> bool:
    sizes = found.families.size
    return all(int((((found.covers >> f) & 1) * sizes).sum()) <= cap for f, cap in caps.items())


def minimal_covers(masks: Ints, fields: int) -> list[int]:
    """All inclusion-wise minimal covers of a family of sets (few fields)."""
    covers = {0}
    for mask in masks:
        hit = {c for c in covers if c & mask}
        grown = {c | (1 << f) for c in covers - hit for f in range(fields) if (int(mask) >> f) & 1}
        covers = hit | {c for c in grown if not any(h & c == h for h in hit)}
        covers = {c for c in covers if not any(o != c and o & c == o for o in covers)}
    return sorted(covers)


def _capped(problem: Problem, grouped: Families, caps: Mapping[int, int], seconds: float) -> Ints:
    """Per family, how many records take which minimal cover: one integer program for all families."""
    start, _, masks = set_masks(grouped.words, problem.keys)
    choices = [minimal_covers(masks[start[g] : start[g + 1]], problem.fields) for g in range(len(grouped))]
    family = np.repeat(np.arange(len(grouped)), [len(c) for c in choices])
    cover = np.array([c for some in choices for c in some], np.int64)
    bits = (cover[:, None] >> np.arange(problem.fields)) & 1
    cost = (bits * problem.costs.suppress[grouped.cost_class[family]]).sum(axis=1)
    limited = sorted(caps)
    everyone = csr_array((np.ones(len(cover)), (family, np.arange(len(cover)))), shape=(len(grouped), len(cover)))
    answer = milp(
        cost.astype(float), integrality=np.ones(len(cover), np.int64), bounds=Bounds(0, np.inf),
        constraints=[
            LinearConstraint(everyone, grouped.size, grouped.size),
            LinearConstraint(csr_array(bits[:, limited].T.astype(float)), ub=[caps[f] for f in limited]),
        ],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )  # fmt: skip
    if answer.x is None:
        names = ", ".join(printable(problem.keys.fields[f]) for f in limited)
        if answer.status == OUT_OF_TIME:
            what = f"time ran out before suppressions within the caps on {names} were found: raise the caps or recode"
            raise OutOfTime(what)
        raise Infeasible(f"no protection keeps within the caps on suppressions of {names}: raise them or recode", [])
    return _dealt(grouped, family, cover, np.rint(answer.x).astype(np.int64))


def _dealt(grouped: Families, family: Ints, cover: Ints, amount: Ints) -> Ints:
    """Deal the chosen covers to the records of each family, in file order."""
    order = np.argsort(grouped.family, kind="stable")
    dealt = np.empty(len(order), np.int64)
    dealt[order] = np.repeat(cover, amount)
    return dealt


def _give_back(problem: Problem, codes: Codes, left: Codes, sizes: Ints, clock: Clock) -> None:
    """Restore scores, record by record, that nothing rare depends on any more.

    A restored score only raises counts, so it endangers no other record. Records are tried together, one
    field at a time, dearest first: those in which the restored field would lie in a rare combination lose it
    again before the next field. When the time is up, what is not tried yet stays suppressed.
    """
    for field in np.argsort(-problem.costs.suppress.max(axis=0), kind="stable"):
        gone = np.flatnonzero((codes[:, field] >= 0) & (left[:, field] < 0))
        if len(gone) == 0:
            continue
        if clock.expired():
            return
        left[gone, field] = codes[gone, field]
        while len(gone):
            rare = unsafe_words(left, sizes, problem.keys, only=int(field))
            bad = gone[rare[gone].any(axis=1)]
            if len(bad) == 0:
                break
            left[bad, field] = -1
            gone = np.setdiff1d(gone, bad)
