"""Whole groups of two-way patterns repaired at once: shortest paths and clean-up in the back end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import get_num_threads

from gpuga.context import Context
from gpuga.errors import GpugaError
from gpuga.evolution.breeding import Kernels
from gpuga.evolution.kernels import kernels_of
from gpuga.evolution.run import prices_of
from gpuga.kernels.random import Stream
from gpuga.problem.two_way import TwoWayProblem
from gpuga.table.table import Mask

AT_ONCE = 1024
"""Patterns between two looks at the clock."""


class GroupRepair:
    """Repair by shortest paths at the weights; the cells that a pattern has already cost nothing."""

    def __init__(self, problem: TwoWayProblem, context: Context, stream: Stream) -> None:
        self.clock, self.stream = context.clock, stream
        self.kernels: Kernels = kernels_of(problem, context, get_num_threads())
        self.forced: Mask = problem.forced.ravel()
        weight = problem.weight.ravel()
        self.kernels.set_prices(prices_of(weight, np.zeros(len(weight)))[None], problem.candidate.ravel())

    def repaired(self, starts: Sequence[Mask], clean: bool) -> list[Mask]:
        """Safe secondary suppressions (bool[n]) that contain those of `starts`, before clean-up if that is wanted.

        The requirements of each are led in an order of its own. Where a limited time ends, only the first ones.
        """
        made: list[Mask] = []
        for begin in range(0, len(starts), AT_ONCE):
            if self.clock.expired():
                break
            made += self._some(np.stack(starts[begin : begin + AT_ONCE]), clean)
        return made

    def _some(self, starts: Mask, clean: bool) -> list[Mask]:
        count, kernels = len(starts), self.kernels
        start, zeros = kernels.pack(starts), np.zeros(count, np.int32)
        patterns, possible = kernels.decode(start, start, start, self.stream.seeds(count), zeros, zeros)
        if not possible.all():
            raise GpugaError("internal error: the path search missed a level that can be met")
        if clean:
            patterns = kernels.clean(patterns, self.stream.seeds(count))
        return list(patterns.unpacked() & ~self.forced)
