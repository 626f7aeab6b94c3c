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
from numba.core.caching import FunctionCache

# What numba infers for a scalar that comes out of an array; mypy cannot know it.
Integer = Any
Truth = Any

Function = TypeVar("Function", bound=Callable[..., Any])


def survive_damaged_caches() -> None:
    """Let a compiled function that cannot be read back from disk be compiled again, instead of ending the run.

    A crash, a full disk or another version can leave half a file behind; numba takes only a missing one for a miss.
    """
    if getattr(FunctionCache.load_overload, "survives", False):
        return
    load = FunctionCache.load_overload

    def load_or_compile(self: Any, *arguments: Any) -> Any:
        try:
            return load(self, *arguments)
        except Exception:  # unpickling a damaged file can raise anything
            self.flush()  # an empty index in its place
            return None

    load_or_compile.survives = True  # type: ignore[attr-defined]
    FunctionCache.load_overload = load_or_compile


survive_damaged_caches()


whole: Callable[[Any], int] = cast(Any, np.int64)
"""An integer of the one width that compiled functions pass on: each further one, and each literal, would have the
function that is called compiled once more."""


def device(function: Function) -> Function:
    """Compile `function` on first use, keep the machine code on disk, release the interpreter lock."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy")(function))


def inner(function: Function) -> Function:
    """As `device`, but never called from Python.

    Without the way in from there, which takes longer to compile than the function itself where many arrays are passed.
    """
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy", **options)(function))


def parallel(function: Function) -> Function:
    """The same for a launcher of the CPU back end: its `prange` loops run on all threads."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy", parallel=True)(function))
