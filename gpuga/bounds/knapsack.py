"""The rounding of a knapsack row that a point violates most: which entries to complement, what to divide by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import inner
from gpuga.table.table import Ints

Floats = NDArray[np.float64]

LIKELY = 0.5
"""Entries from this value on are complemented where a row is divided."""

LEAST_COVERED = 0.02
MOST_SLACK = 1.6
FINEST = 64


def step(value: int, divisor: int, rest: int) -> int:
    """What a coefficient becomes when its row, whose right-hand side leaves `rest`, is divided and rounded."""
    return rest * (value // divisor) + min(rest, value % divisor)


compiled_step = inner(step)


@inner
def best_rounding(capacity: Ints, value: Floats, place: Ints, need: int, cover: Ints) -> tuple[float, int, int]:
    """How much a point violates the best rounding of a row, the size of its cover and its divisor.

    Entries by falling value; covers are prefixes of them, and the places of the best one are left in `cover`.
    """
    used = len(capacity)
    covered = np.zeros(used, np.bool_)
    whole = 2 * need + 1
    reached = 0.0
    for z in range(used):
        reached += value[z] * capacity[z] / need
    # a row with much slack gains nothing by division
    divided = reached < MOST_SLACK
    left, size, best_size, best, best_divisor = need, 0, 0, -1.0, whole
    for e in range(-1, used):
        if e >= 0:
            if capacity[e] >= left or value[e] < LEAST_COVERED:
                continue
            left -= capacity[e]
            covered[e] = True
            cover[size] = place[e]
            size += 1
        found = _violation(capacity, value, covered, left, whole)
        if found > best + 1e-9:
            best, best_size, best_divisor = found, size, whole
        if not divided or (e >= 0 and value[e] < LIKELY):
            continue
        last = -1
        for z in range(used + 3):
            divisor = capacity[z] if z < used else left // (z - used + 2) + 1
            if divisor == last or divisor < need // FINEST + 2 or left % divisor == 0:
                continue
            if z < used and (covered[z] or divisor >= left):
                continue
            last = divisor
            found = _violation(capacity, value, covered, left, divisor)
            if found > best + 1e-9:
                best, best_size, best_divisor = found, size, divisor
    return best, best_size, best_divisor


@inner
def _violation(capacity: Ints, value: Floats, covered: NDArray[np.bool_], left: int, divisor: int) -> float:
    """How far the point is from meeting the rounded row, its right-hand side counted as one."""
    size = float(divisor)
    times = np.floor(left / size)
    rest = left - times * size
    rhs = rest * (times + 1.0)
    reached = 0.0
    for z in range(len(value)):
        signed = -float(capacity[z]) if covered[z] else float(capacity[z])
        times = np.floor(signed / size)
        share = rest * times + min(rest, signed - times * size)
        if covered[z]:
            rhs -= share
            reached -= share * value[z]
        else:
            reached += share * value[z]
    return 1.0 - reached / rhs if rhs > 0.0 else -1.0


@inner
def appended(covers: Ints, end: int, cover: Ints, size: int) -> Ints:
    """Covers with one more behind the first `end` places, in a longer array where it does not fit."""
    if end + size > len(covers):
        longer = np.zeros(2 * (end + size), np.int64)
        for z in range(end):
            longer[z] = covers[z]
        covers = longer
    for z in range(size):
        covers[end + z] = cover[z]
    return covers
