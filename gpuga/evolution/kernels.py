"""Which operations a problem has in a back end."""

from __future__ import annotations

from numba import get_num_threads

from gpuga.backends import chosen_backend
from gpuga.context import Context
from gpuga.evolution.breeding import Kernels
from gpuga.evolution.general_kernels import GeneralKernels
from gpuga.evolution.two_way_kernels import TwoWayKernels
from gpuga.kernels.backend import device_of
from gpuga.problem.problem import TableProblem
from gpuga.problem.two_way import TwoWayProblem


def kernels_of(problem: TableProblem, context: Context, threads: int | None = None) -> Kernels:
    """The operations of a problem; by default the prover keeps one thread of the processor.

    There is no NumPy version of a generation: with `numpy`, as with `cpu`, the compiled operations of the CPU do it,
    and NumPy does what it has a version of, such as the costs of `gapn`, `gensup` and `heurgene`. General tables are
    worked on by the CPU in every back end.
    """
    if not isinstance(problem, TwoWayProblem):
        return GeneralKernels(problem, context.clock)
    threads = threads or max(1, get_num_threads() - 1)
    if chosen_backend(context.backend).name == "cuda":
        from gpuga.evolution.two_way_device import TwoWayDeviceKernels  # imports CUDA
        from gpuga.kernels.cuda_machine import this_machine

        return TwoWayDeviceKernels(problem, threads, this_machine(device_of(context.backend)))
    return TwoWayKernels(problem, threads)
