"""Compilation of the inner loops: typed decorators, results cached on disk.

Bounds checks are off and integers wrap: callers keep every sum within `table.LARGEST`. The cache of a
function notices changes of its own file only: after a change of a callee in another file, remove the caches
(files ending in .nbi and .nbc below __pycache__).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from gpuga import compiling
from gpuga.kernels.logic.compile import survive_damaged_caches

compiling.watch()
survive_damaged_caches()

F = TypeVar("F", bound=Callable[..., Any])

whole: Callable[[Any], int] = cast(Any, np.int64)
"""An integer of the one width that compiled functions pass on: each further one, and each literal, would have the
function that is called compiled once more."""


def compiled(function: F) -> F:
    """The function compiled for the processor, the result kept for the next process."""
    return cast(F, njit(cache=True, nogil=True)(function))


def inner(function: F) -> F:
    """As `compiled`, but to be called from compiled functions only.

    Without the way in from Python, which takes longer to compile than the function itself where many arrays
    are passed.
    """
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(F, njit(cache=True, nogil=True, **options)(function))
