"""The operations of a two-way problem as evolution uses them, on a CUDA device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from gpuga.evolution.two_way_kernels import PathsFindAll, TwoWayKernels
from gpuga.kernels.cuda_machine import Machine
from gpuga.kernels.layout import Patterns
from gpuga.kernels.two_way_cuda import TwoWayCuda
from gpuga.problem.two_way import TwoWayProblem


class TwoWayDeviceKernels(PathsFindAll, TwoWayCuda):
    """As `TwoWayKernels`, with which the CPU goes on where device memory is gone."""

    def __init__(self, problem: TwoWayProblem, threads: int, machine: Machine | None = None) -> None:
        host = TwoWayKernels(problem, threads)
        super().__init__(host, host.crossing, machine)

    def arrays(self, patterns: Patterns) -> dict[str, NDArray[Any]]:
        """The patterns as host arrays."""
        return {"bits": self.fetched(patterns).bits}

    def of_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Patterns:
        """Patterns from such arrays."""
        return self.together([Patterns(arrays["bits"], self.table.columns)])
