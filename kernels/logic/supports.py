"""Over which cells requirements were covered in earlier patterns: one that holds the same cells covers them as well.

A flow through suppressed cells fits into every pattern that suppresses them, whatever else it does, since capacities
are the table's.  So the cells of a flow, its support, are all that has to be kept; looking them up asks for no search.
Patterns of a population have much in common: a few supports of a requirement answer it in most of them.  Which
supports are kept depends on what a worker saw before, and decides how long an answer takes, never what it is.
"""

from __future__ import annotations

from ..layout import Bits
from .arcs import carried
from .bits import bit
from .compile import Truth, bare, whole
from .records import Net, Supports, TableRecord

SUPPORTS = 16
"""Supports of a requirement that are kept; the oldest makes way."""

LONGEST_SUPPORT = 47
"""Cells of a support that is kept: with their number before them three lines of a processor's cache."""


@bare
def shift_for(columns: int) -> int:
    """By how many bits a row is shifted to stand before a column in one number."""
    shift = whole(0)
    while whole(1) << shift < columns:
        shift += 1
    return shift


@bare
def holds_one(supports: Supports, rows: Bits, shift: int, t: int) -> Truth:
    """Whether the pattern `rows` holds a support of requirement t, and so covers it."""
    below = (whole(1) << shift) - 1
    for k in range(supports.place.shape[1]):
        length = supports.place[t, k, 0]
        x = whole(1)
        while x <= length and bit(rows, supports.place[t, k, x] >> shift, supports.place[t, k, x] & below):
            x += 1
        if length > 0 and x > length:
            return True
    return False


@bare
def keep_support(table: TableRecord, net: Net, supports: Supports, shift: int, t: int) -> None:
    """Keep the cells of the flow that `room` holds as a support of requirement t, if they are not too many."""
    k = supports.turn[t]
    length = whole(0)
    supports.place[t, k, 0] = 0
    for e in range(net.size[0]):
        if carried(net, e) != 0:
            length += 1
            if length == supports.place.shape[2]:
                return
            supports.place[t, k, length] = net.target[2 * e + 1] << shift | net.target[2 * e] - table.rows
    supports.place[t, k, 0] = length
    supports.turn[t] = k + 1 if k + 1 < supports.place.shape[1] else 0


@bare
def begin_order(supports: Supports) -> None:
    """Requirements of large need are asked first, as long as none has failed; of two in a row none is named twice."""
    last = supports.order.shape[0] - 1
    if last >= 0 and supports.order[0] == supports.order[last]:
        for x in range(last + 1):
            supports.order[x] = last - x


@bare
def ask_first(supports: Supports, x: int) -> None:
    """The requirement that is asked as number x failed: the next pattern is asked for it first."""
    t = supports.order[x]
    while x > 0:
        supports.order[x] = supports.order[x - 1]
        x -= 1
    supports.order[0] = t
