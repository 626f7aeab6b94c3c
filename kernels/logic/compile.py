"""The one decorator of the logic: a function for the CPU that CUDA kernels may call as well.

numba-cuda treats a CPU-compiled function that a kernel calls as a device function and compiles its Python
source again for the GPU, so a plain cached `njit` is all that single-source code needs, and the disk cache
keeps working.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher

from ..compile_cache import SourceCache

# What numba infers for a scalar that comes out of an array; mypy cannot know it.
Integer = Any
Truth = Any

Function = TypeVar("Function", bound=Callable[..., Any])

INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of functions that are never called from Python: without the way in from there, which takes longer to compile
than the function itself where many arrays are passed."""

whole: Callable[[Any], int] = cast(Any, np.int64)
"""An integer of the one width that compiled functions pass on: each further one, and each literal, would have the
function that is called compiled once more."""


def cached(function: Function, **options: Any) -> Function:
    """Compile `function` on first use, keep the machine code on disk where there is a place; release the lock."""
    found = njit(nogil=True, **options)(function)
    if isinstance(found, Dispatcher):  # not where compilation is switched off
        try:
            found._cache = SourceCache(found.py_func)
        except RuntimeError:  # no folder can be written: compiled anew by every process
            return cast(Function, found)
    return cast(Function, found)


def device(function: Function) -> Function:
    """A function that divides as arrays do: nothing is raised."""
    return cached(function, error_model="numpy")


def inner(function: Function) -> Function:
    """As `device`, but never called from Python."""
    return cached(function, error_model="numpy", **INNER)


def bare(function: Function) -> Function:
    """As `inner`, for logic that allocates nothing and keeps no array: without counting who holds which array.

    Counting takes longer than the work where records of many arrays are passed to small functions.
    """
    return cached(function, error_model="numpy", _nrt=False, **INNER)


def parallel(function: Function) -> Function:
    """As `device`, for a launcher of the CPU back end: its `prange` loops run on all threads."""
    return cached(function, error_model="numpy", parallel=True)
