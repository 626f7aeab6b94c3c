"""Where CUDA work runs: a device with CuPy's arrays, or numba's simulator with NumPy's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cuda_kernels import launch, ready, select_device
from .probe import simulated


@dataclass(frozen=True)
class Machine:
    """The array module `xp`, how many bytes of memory are free, how a kernel is launched by name on some blocks.

    `ready` turns a record that is passed again and again into what launches take at once; `wait` returns when all that
    was launched is done.
    """

    xp: Any
    free: Callable[[], int]
    launch: Callable[..., None] = launch
    ready: Callable[[Any], Any] = ready
    wait: Callable[[], None] = lambda: None


def to_host(array: Any) -> NDArray[Any]:
    """An array of a device in host memory; one that is there already as it is."""
    found: NDArray[Any] = np.asarray(array.get() if hasattr(array, "get") else array)
    return found


def this_machine(device: int | None = None) -> Machine:
    """A device (None: the current one), from now on that of the calling thread; or the simulator, where it is on."""
    if simulated():
        return Machine(np, lambda: 2**30)
    cupy = importlib.import_module("cupy")
    if device is not None:
        select_device(device)
        cupy.cuda.Device(device).use()
    pool = cupy.get_default_memory_pool()
    return Machine(
        cupy,
        lambda: int(cupy.cuda.Device().mem_info[0] + pool.free_bytes()),
        wait=lambda: cupy.cuda.Device().synchronize(),
    )
