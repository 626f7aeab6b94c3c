"""The cheapest suppressions that a re-count accepts, as one integer program over all records (small files).

Variables: `x[r, f]` whether the score is suppressed, `y[c]` whether combination c is still shown by anyone, and
`s[r, c]` whether record r shows c in full. A combination is shown by nobody (every record of it loses one of
its scores) or by at least its threshold:

    sum of x[r, f] over the fields of c  >=  1 - y[c]        for every record r of c
    s[r, c] + x[r, f] <= 1,   sum over r of s[r, c] >= threshold * y[c]

What HiGHS finds is counted again; its bound is rounded to the next unit of the costs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from gpuga.microdata.histogram import combine
from gpuga.microdata.problem import Problem
from gpuga.microdata.recount import recount

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

MOST_SHOWN = 6000
"""Records times keys up to which the program is tried."""
INFEASIBLE = 2
"""The status of an integer program without any solution."""


class Recounted(NamedTuple):
    """The protected codes and their cost (None: nothing was found), and a proven lower bound (None: impossible)."""

    codes: Codes | None
    cost: int
    floor: int | None


class _Shown(NamedTuple):
    """Records that could show a combination: the record, the combination's number and its key, one entry each."""

    record: Ints
    combination: Ints
    key: Ints
    thresholds: Ints


def small_enough(problem: Problem) -> bool:
    """Whether the program is worth a try."""
    return len(problem.codes) * len(problem.keys) <= MOST_SHOWN


def cheapest_recounted(problem: Problem, codes: Codes, sizes: Ints, seconds: float) -> Recounted:
    """The cheapest suppressions of a recoded file within the caps that leave nothing rare in a re-count."""
    shown = _combinations(problem, codes, sizes)
    scores = codes.size
    costs = np.zeros(scores + len(shown.thresholds) + len(shown.record))
    costs[:scores] = problem.costs.suppress[problem.costs.record_class].ravel()
    upper = np.ones_like(costs)
    upper[:scores] = (codes >= 0).ravel()
    integrality = np.zeros(len(costs), np.int64)
    integrality[: scores + len(shown.thresholds)] = 1
    answer = milp(
        costs, integrality=integrality, bounds=Bounds(0, upper),
        constraints=_constraints(problem, shown, len(costs)),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )  # fmt: skip
    if answer.status == INFEASIBLE:
        return Recounted(None, 0, None)
    bound = answer.mip_dual_bound
    floor = 0 if bound is None or not math.isfinite(bound) else max(math.ceil(bound - 1e-4 - 1e-9 * abs(bound)), 0)
    if answer.x is None:
        return Recounted(None, 0, floor)
    gone = (answer.x[:scores] > 0.5).reshape(codes.shape)
    left = np.where(gone, np.int32(-1), codes).astype(np.int32)
    cost = int((gone * problem.costs.suppress[problem.costs.record_class]).sum())
    return Recounted(None if recount(left, problem.keys) else left, cost, min(floor, cost))


def _combinations(problem: Problem, codes: Codes, sizes: Ints) -> _Shown:
    columns = np.ascontiguousarray(codes.T)
    record, combination, key, thresholds = [], [], [], []
    count = 0
    for position, one in enumerate(problem.keys.keys):
        flat, _ = combine(columns, one.fields, [int(sizes[f]) for f in one.fields])
        at = np.flatnonzero(flat >= 0)
        number = np.unique(flat[at], return_inverse=True)[1].astype(np.int64)
        found = int(number.max(initial=-1)) + 1
        record.append(at)
        combination.append(number + count)
        key.append(np.full(len(at), position))
        thresholds.append(np.full(found, one.threshold))
        count += found
    parts = [np.concatenate(part).astype(np.int64) for part in (record, combination, key, thresholds)]
    return _Shown(*parts)


def _constraints(problem: Problem, shown: _Shown, variables: int) -> list[LinearConstraint]:
    fields, entries = problem.fields, len(shown.record)
    scores = len(problem.codes) * fields
    y, s = scores + shown.combination, scores + len(shown.thresholds) + np.arange(entries)
    member = (problem.keys.masks[shown.key][:, None] >> np.arange(fields)) & 1
    entry, field = np.nonzero(member)
    x = shown.record[entry] * fields + field
    each, pairs = np.arange(entries), np.arange(len(entry))
    ones = np.ones
    hidden = _rows([entry, each], [x, y], [ones(len(entry)), ones(entries)], (entries, variables))
    seen = _rows([pairs, pairs], [x, s[entry]], [ones(len(entry)), ones(len(entry))], (len(entry), variables))
    every = np.arange(len(shown.thresholds))
    enough = _rows(
        [shown.combination, every], [s, scores + every], [ones(entries), -shown.thresholds.astype(float)],
        (len(every), variables),
    )  # fmt: skip
    constraints = [LinearConstraint(hidden, lb=1), LinearConstraint(seen, ub=1), LinearConstraint(enough, lb=0)]
    if problem.caps:
        limited = sorted(problem.caps)
        cells = [np.arange(f, scores, fields) for f in limited]
        capped = _rows(
            [np.full(len(c), i) for i, c in enumerate(cells)], cells, [ones(len(c)) for c in cells],
            (len(limited), variables),
        )  # fmt: skip
        constraints.append(LinearConstraint(capped, ub=[problem.caps[f] for f in limited]))
    return constraints


def _rows(
    row: list[NDArray[np.int64]],
    column: list[NDArray[np.int64]],
    value: list[NDArray[np.float64]],
    shape: tuple[int, int],
) -> csr_array:
    """A sparse matrix from parts of its entries."""
    return csr_array((np.concatenate(value), (np.concatenate(row), np.concatenate(column))), shape=shape)
