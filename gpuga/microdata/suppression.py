"""Local suppression of a recoded file until no combination is rare, also by a re-count of what is left.

A suppressed score no longer counts, so suppressing in one record can make a combination of others rare. The
cheapest covers are therefore repeated on what is left until a count finds nothing; then scores whose
suppression has become superfluous are given back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled
from gpuga.context import GRACE, Clock, Progress, Silent
from gpuga.microdata.caps import CAP_SECONDS, capped_covers
from gpuga.microdata.problem import Problem, local_suppression
from gpuga.microdata.unsafe import unsafe_words

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


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
    exact: bool = True,
    once: bool = False,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> Suppressed:
    """Suppress until a re-count finds no rare combination, within the problem's caps.

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
        taken = capped_covers(problem, found, _remaining(problem.caps, codes, left), seconds)
        _take(left, found.families.record, taken.covers)
        first, rounds = (taken.cost if rounds == 0 else first), rounds + 1
        progress.advance(records=len(found.families.record))
        proven = proven and taken.proven
        if once:
            break
    if rounds > 1:
        _give_back(problem, codes, left, sizes, clock)
    gone = (codes >= 0) & (left < 0)
    cost = int((gone * problem.costs.suppress[problem.costs.record_class]).sum())
    return Suppressed(left, gone, cost, first, rounds, proven)


def _remaining(caps: Mapping[int, int], codes: Codes, left: Codes) -> dict[int, int]:
    used = ((codes >= 0) & (left < 0)).sum(axis=0)
    return {field: cap - int(used[field]) for field, cap in caps.items()}


@compiled
def _take(codes: Codes, record: Ints, covers: Ints) -> None:
    for i in range(len(record)):
        for f in range(codes.shape[1]):
            if (covers[i] >> f) & 1:
                codes[record[i], f] = -1


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
