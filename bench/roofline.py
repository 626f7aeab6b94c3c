"""An estimate of how fast an operation could be if it only had to move its data: the roof that memory sets.

The least an operation can do is to read the packed patterns once and write its results once. What that takes at
the bandwidth measured by copying a large array is a ceiling, not a prediction: an operation far below it is bound by
arithmetic, branches and caches. Every figure made of it is to be called an estimate.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

LARGE = 1 << 25
"""Elements of 8 bytes that are copied: far more than any cache holds."""


def bytes_per_pattern(cells: int, lines: int, levels: int) -> dict[str, int]:
    """What each operation must at least move for one pattern: bits in, counts, sums or verdicts out."""
    packed = -(-cells // 8)
    return {
        "b": packed + lines * (4 + 8) + packed + levels,
        "c": packed + levels,
        "b+c": packed + lines * (4 + 8) + packed + levels + packed + levels,
        "d": 2 * packed,
    }


def bandwidth(name: str) -> float:
    """Bytes per second, reads and writes together, of copying a large array where the back end computes."""
    copy = _device_copy() if name == "cuda" else _host_copy()
    best = min(copy() for _ in range(3))
    return 2 * 8 * LARGE / best


def _host_copy() -> Callable[[], float]:
    source = np.ones(LARGE, np.int64)
    target = np.zeros_like(source)

    def copy() -> float:
        begun = time.perf_counter()
        np.copyto(target, source)
        return time.perf_counter() - begun

    return copy


def _device_copy() -> Callable[[], float]:
    import cupy

    source = cupy.ones(LARGE, cupy.int64)
    target = cupy.zeros_like(source)

    def copy() -> float:
        cupy.cuda.Device().synchronize()
        begun = time.perf_counter()
        cupy.copyto(target, source)
        cupy.cuda.Device().synchronize()
        return time.perf_counter() - begun

    return copy
