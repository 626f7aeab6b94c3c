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
    and NumPy does what it has a version of, such as the costs of `gapn`, `gensup` and `heurgene`.
    """
    threads = threads or max(1, get_num_threads() - 1)
    if chosen_backend(context.backend).name == "cuda":
        return _on_device(problem, context, threads)
    if isinstance(problem, TwoWayProblem):
        return TwoWayKernels(problem, threads)
    return GeneralKernels(problem, context.clock)


def _on_device(problem: TableProblem, context: Context, threads: int) -> Kernels:
    """The operations on a CUDA device; only here anything of CUDA is imported."""
    from gpuga.evolution.general_device import GeneralDeviceKernels
    from gpuga.evolution.two_way_device import TwoWayDeviceKernels
    from gpuga.kernels.cuda_machine import this_machine

    machine = this_machine(device_of(context.backend))
    if isinstance(problem, TwoWayProblem):
        return TwoWayDeviceKernels(problem, threads, machine)
    return GeneralDeviceKernels(problem, context.clock, machine)
