"""Which operations a problem has in a back end."""

from __future__ import annotations

from numba import get_num_threads

from gpuga.context import Context
from gpuga.evolution.breeding import Kernels
from gpuga.evolution.general_kernels import GeneralKernels
from gpuga.evolution.two_way_kernels import TwoWayKernels
from gpuga.problem.problem import TableProblem
from gpuga.problem.two_way import TwoWayProblem


def kernels_of(problem: TableProblem, context: Context, threads: int | None = None) -> Kernels:
    """The operations of a problem; by default the prover keeps one thread of the processor."""
    if isinstance(problem, TwoWayProblem):
        return TwoWayKernels(problem, threads or max(1, get_num_threads() - 1))
    return GeneralKernels(problem, context.clock)
