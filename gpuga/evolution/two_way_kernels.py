"""The operations of a two-way problem as evolution uses them, on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.evolution.breeding import Shares
from gpuga.kernels.crossing import Crossing
from gpuga.kernels.layout import Capacities, Patterns, Requirements, pack, plane_lines
from gpuga.kernels.logic.records import TableRecord
from gpuga.kernels.two_way import TwoWayCpu
from gpuga.problem.two_way import TwoWayProblem
from gpuga.table.witnesses import Witnesses


class PathsFindAll:
    """What a two-way table answers alike in every back end: paths find all circuits, so that nothing is learnt."""

    table: TableRecord
    shares = Shares(decoded=1 / 16, destroyed=1 / 4, new=1 / 128)
    usual = 256
    finds_circuits = True

    @property
    def bytes_each(self) -> int:
        """What a pattern takes."""
        return int(self.table.forced.nbytes)

    def learn(self, witnesses: Witnesses) -> int:
        """Nothing: paths find every circuit of a two-way table."""
        return 0

    def proof(self, patterns: Patterns) -> None:
        """None: flows prove two-way patterns quickly."""

    def memory(self) -> dict[str, NDArray[Any]]:
        """Nothing is learnt."""
        return {}

    def remember(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Nothing was learnt."""


class TwoWayKernels(PathsFindAll, TwoWayCpu):
    """Decoding, clean-up and safety of a two-way problem, with crossover by components."""

    def __init__(self, problem: TwoWayProblem, threads: int) -> None:
        levels, sign = problem.levels, problem.plane.sign.ravel()
        direction = np.where(levels.forward, 1, -1) * sign[levels.place]
        requirements = Requirements.of(levels.place, direction, levels.need)
        weights = np.where(problem.forced, 0, problem.weight).ravel()
        net = Capacities(problem.net.forward, problem.net.backward)
        super().__init__(net, requirements, weights, problem.forced.ravel(), problem.candidate.ravel(), threads)
        rows, columns = problem.shape
        hubs = np.zeros(rows + columns, bool)
        hubs[[rows - 1, rows + columns - 1]] = True  # totals meet everything: no component would be small
        self.crossing = Crossing(plane_lines(rows, columns), weights, hubs, self._spread)
        self.exchange, self.digests = self.crossing.exchange, self.crossing.digests
        self.nearest = self.crossing.nearest
        self._forced = problem.forced.ravel()

    def _spread(self, work: Callable[[int, int], None], count: int) -> None:
        self._share(lambda _, begin, end: work(begin, end), count)

    def pack(self, suppressed: NDArray[np.bool_]) -> Patterns:
        """bool[P, n] as patterns; forced cells are added."""
        return pack(suppressed | self._forced, self.table.columns)

    def nothing(self, count: int) -> Patterns:
        """Patterns of the forced cells alone."""
        return self.pack(np.zeros((count, len(self._forced)), bool))

    def arrays(self, patterns: Patterns) -> dict[str, NDArray[Any]]:
        """The patterns as host arrays."""
        return {"bits": patterns.bits}

    def of_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Patterns:
        """Patterns from such arrays."""
        return Patterns(arrays["bits"], self.table.columns)
