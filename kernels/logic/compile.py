"""The one decorator of the logic: a function for the CPU that CUDA kernels may call as well.

numba-cuda treats a CPU-compiled function that a kernel calls as a device function and compiles its Python
source again for the GPU, so a plain cached `njit` is all that single-source code needs, and the disk cache
keeps working.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

# What numba infers for a scalar that comes out of an array; mypy cannot know it.
Integer = Any
Truth = Any

Function = TypeVar("Function", bound=Callable[..., Any])


def device(function: Function) -> Function:
    """Compile `function` on first use, keep the machine code on disk, release the interpreter lock."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy")(function))


def parallel(function: Function) -> Function:
    """The same for a launcher of the CPU back end: its `prange` loops run on all threads."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy", parallel=True)(function))
