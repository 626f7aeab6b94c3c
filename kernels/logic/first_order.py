"""One entry of a step of a first-order method: the primal-dual hybrid gradient with diagonal steps.

Chambolle and Pock (2011) for `maximise c.z` subject to `A z = 0`, `lower <= z <= upper`, for many objectives and bounds
side by side. Floats: what comes out is a proposal, and may differ in the last bits from one back end to another.
"""

from __future__ import annotations

from ..layout import Floats, Int32, Int64
from .compile import device


@device
def weighted_sum(start: Int64, index: Int32, value: Floats, x: Floats, line: int, b: int) -> float:
    """Entries of one row (or column) of the matrix times column b of x."""
    total = 0.0
    for e in range(start[line], start[line + 1]):
        total += value[e] * x[index[e], b]
    return total


@device
def kept_within(new: float, lower: float, upper: float) -> float:
    """The nearest number between two bounds."""
    if new < lower:
        return lower
    if new > upper:
        return upper
    return new
