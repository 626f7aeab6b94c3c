"""Who makes safe patterns: from nothing, from a user's pattern, led by a fractional one, or from a broken one."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from gpuga.bounds.cut import Floats
from gpuga.context import Clock
from gpuga.table.table import Mask
from gpuga.table.witnesses import Witnesses

WHOLE = 1e-6
TIES = 1.02


class Repair(Protocol):
    """Makes safe patterns of one problem, as the secondary suppressions over its columns (bool[n]).

    `starts` is how many different patterns are worth trying from nothing, `guided_starts` how many led by one point;
    `quick` says that mending a pattern costs less than to cut it off and ask for another one.
    """

    starts: int
    guided_starts: int
    quick: bool

    def first(self, attempt: int, clock: Clock) -> Mask:
        """A pattern from nothing; `OutOfTime` where the time is up before it is complete."""

    def given(self, suppressed: Mask, clock: Clock) -> Mask:
        """The user's pattern over the cells of the table, completed; `OutOfTime` where it is late."""

    def guided(self, x: Floats, attempt: int, clock: Clock, allowed: Mask | None = None) -> Mask:
        """A pattern led by a fractional one: what that suppresses is cheap; `OutOfTime` where it is late.

        Of the columns those `allowed` are preferred; there must be a safe pattern among them.
        """

    def circuits(self, pattern: Mask) -> Witnesses | None:
        """What proves a pattern that was made here, where that is known and worth keeping."""

    def mended(self, pattern: Mask, clock: Clock) -> Mask | None:
        """A whole pattern with what it lacks; None where the time is up before."""


def left_over(x: Floats) -> Floats:
    """What a fractional pattern leaves of each column, a little more to order ties."""
    return np.asarray(TIES - np.clip(x, 0.0, 1.0))


def wholly(x: Floats) -> Mask:
    """What a fractional pattern suppresses wholly."""
    return np.asarray(x > 1 - WHOLE)
