"""Compilation of the inner loops: typed decorators, results kept on disk for the next process.

Bounds checks are off and integers wrap: callers keep every sum within `table.LARGEST`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gpuga import compiling
from gpuga.kernels.logic.compile import INNER, bare, cached, whole

__all__ = ["bare", "compiled", "inner", "parallel", "whole"]

compiling.watch()

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The function compiled for the processor."""
    return cached(function)


def inner(function: F) -> F:
    """As `compiled`, but to be called from compiled functions only."""
    return cached(function, **INNER)


def parallel(function: F) -> F:
    """As `compiled`; its `prange` loops run on all threads."""
    return cached(function, parallel=True)
