"""Caps on the suppressions per field: HiGHS chooses how many records of each family take which cover.

Caps couple the records, so the cheapest cover of each record no longer makes the cheapest file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from gpuga.errors import Infeasible, OutOfTime, printable
from gpuga.microdata.problem import Problem, Suppressions
from gpuga.microdata.unsafe import Families, set_masks

Ints = NDArray[np.int64]

CAP_SECONDS = 120.0
"""Without a time limit, how long suppressions within the caps are looked for."""

OUT_OF_TIME = 1
"""The status of an integer program that ended at its time limit."""


class Capped(NamedTuple):
    """The cover of each unsafe record (bits over the fields) and what all of them cost."""

    covers: Ints
    cost: int
    proven: bool


def excess(found: Suppressions, caps: Mapping[int, int]) -> int:
    """By how many suppressions the cheapest covers exceed the caps, all fields together."""
    sizes = found.families.size
    used = {field: int((((found.covers >> field) & 1) * sizes).sum()) for field in caps}
    return sum(max(used[field] - cap, 0) for field, cap in caps.items())


def capped_covers(problem: Problem, found: Suppressions, caps: Mapping[int, int], seconds: float) -> Capped:
    """The cheapest covers within the caps; `Infeasible` and `OutOfTime` say why there are none."""
    if not caps or excess(found, caps) == 0:
        return Capped(found.covers[found.families.family], found.cost, found.proven)
    return _program(problem, found.families, caps, seconds)


def minimal_covers(masks: Ints, fields: int) -> list[int]:
    """All inclusion-wise minimal covers of a family of sets (few fields)."""
    covers = {0}
    for mask in masks:
        hit = {c for c in covers if c & mask}
        grown = {c | (1 << f) for c in covers - hit for f in range(fields) if (int(mask) >> f) & 1}
        covers = hit | {c for c in grown if not any(h & c == h for h in hit)}
        covers = {c for c in covers if not any(o != c and o & c == o for o in covers)}
    return sorted(covers)


def _program(problem: Problem, grouped: Families, caps: Mapping[int, int], seconds: float) -> Capped:
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
    amount = np.rint(answer.x).astype(np.int64)
    return Capped(_dealt(grouped, cover, amount), int((amount * cost).sum()), answer.status == 0)


def _dealt(grouped: Families, cover: Ints, amount: Ints) -> Ints:
    """Deal the chosen covers to the records of each family, in file order."""
    order = np.argsort(grouped.family, kind="stable")
    dealt = np.empty(len(order), np.int64)
    dealt[order] = np.repeat(cover, amount)
    return dealt
