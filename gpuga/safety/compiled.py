"""Compilation of the inner loops: one decorator, typed, cached on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The function compiled for the processor, the result kept for the next process.

    Bounds checks are off and integers wrap: callers keep every sum within `table.LARGEST`.
    """
    return cast(F, njit(cache=True, nogil=True)(function))
