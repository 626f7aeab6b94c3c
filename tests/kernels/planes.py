"""Two-way tables with many requirements, and draws for the operations of a generation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels import INFINITE, Capacities, Tasks
from gpuga.kernels.two_way import BLUR, BY_CAPACITY, BY_NEED, BY_WEIGHT, SINGLE

from .instances import PlaneCase, random_plane


def seeds(rng: np.random.Generator, count: int) -> NDArray[np.uint64]:
    return rng.integers(1, 2**63, count).astype(np.uint64)


def styles(rng: np.random.Generator, count: int) -> NDArray[np.int32]:
    order = rng.choice([0, BY_NEED, BY_WEIGHT], count)
    return (rng.integers(0, BLUR + SINGLE + BY_CAPACITY + 1, count) + order).astype(np.int32)


def wide_plane(rng: np.random.Generator, tasks: int) -> PlaneCase:
    """A plane with so many requirements: capacities of zero one way, without bound, needs of zero."""
    rows, columns = int(rng.integers(4, 12)), int(rng.integers(20, 70))
    case = random_plane(rng, (rows, columns), count=0)
    up, down = case.up.copy(), case.down.copy()
    up[rng.random(up.shape) < 0.1] = 0
    down[rng.random(up.shape) < 0.1] = 0
    down[rng.random(up.shape) < 0.3] = INFINITE
    cell = rng.choice(up.size, tasks, replace=tasks > up.size)
    need = rng.integers(0, 12, tasks)
    asked = Tasks.of(cell, rng.choice([1, -1], tasks), need)
    primary = np.zeros(up.size, np.bool_)
    primary[cell] = True
    patterns = (rng.random((6, up.size)) < rng.uniform(0.05, 0.6, (6, 1))) | primary
    return PlaneCase(
        up,
        down,
        Capacities.of(up, down),
        case.lines,
        asked,
        patterns,
        case.weights,
        primary,
        np.zeros((0, 2), np.int32),
    )
