"""Two-way tables with many requirements, and draws for the operations of a generation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels import INFINITE, Capacities, Requirements
from gpuga.kernels.layout import FlowRequirements, plane_lines
from gpuga.kernels.logic.supports import LONGEST_SUPPORT, SUPPORTS
from gpuga.kernels.two_way import BLUR, BY_CAPACITY, BY_NEED, BY_WEIGHT, SINGLE

from .instances import PlaneCase, random_plane


def seeds(rng: np.random.Generator, count: int) -> NDArray[np.uint64]:
    return rng.integers(1, 2**63, count).astype(np.uint64)


def styles(rng: np.random.Generator, count: int) -> NDArray[np.int32]:
    order = rng.choice([0, BY_NEED, BY_WEIGHT], count)
    return (rng.integers(0, BLUR + SINGLE + BY_CAPACITY + 1, count) + order).astype(np.int32)


def wide_plane(rng: np.random.Generator, requirements: int, count: int = 6) -> PlaneCase:
    """A plane with so many requirements: capacities of zero one way, without bound, needs of zero."""
    rows, columns = int(rng.integers(4, 12)), int(rng.integers(20, 70))
    case = random_plane(rng, (rows, columns), count=0)
    up, down = case.up.copy(), case.down.copy()
    up[rng.random(up.shape) < 0.1] = 0
    down[rng.random(up.shape) < 0.1] = 0
    down[rng.random(up.shape) < 0.3] = INFINITE
    cell = rng.choice(up.size, requirements, replace=requirements > up.size)
    need = rng.integers(0, 12, requirements)
    asked = Requirements.of(cell, rng.choice([1, -1], requirements), need)
    primary = np.zeros(up.size, np.bool_)
    primary[cell] = True
    patterns = (rng.random((count, up.size)) < rng.uniform(0.05, 0.6, (count, 1))) | primary
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


GADGET = ((0, 1, 0), (1, 1, 1), (1, 0, 0), (2, 1, 1), (2, 3, 0), (4, 3, 1), (4, 0, 0), (0, 2, 0), (3, 2, 1), (3, 4, 0),
          (1, 4, 1))  # fmt: skip
"""Arcs (row, column, side) from row 0 to column 0: the shortest path, over column 1 and row 1, is in the way of two."""


def tight_plane(rng: np.random.Generator, over: int) -> PlaneCase:
    """A requirement that asks for all that can flow in the first pattern, and for `over` more.

    The first path that a search finds blocks two others, which fit only if it is taken back in part: whoever forgets to
    use room up finds too much, whoever forgets to give it back too little. Further patterns lack a cell.
    """
    copies, room = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    rows, columns = 4 * copies + 2, 4 * copies + 2
    row, column = rng.permutation(rows), rng.permutation(columns)
    capacity = np.full((2, rows, columns), room)
    pattern = np.zeros((rows, columns), np.bool_)
    for copy in range(copies):
        for i, j, side in GADGET:
            at = row[i and i + 4 * copy], column[j and j + 4 * copy]
            pattern[at], capacity[1 - side][at] = True, 0
    own = row[0], column[0]
    capacity[:, own[0], own[1]] = 1000
    pattern[own] = True
    plane, cell = Capacities(*capacity), int(own[0] * columns + own[1])
    way = next(way for way in (1, -1) if not FlowRequirements.of(plane, Requirements.of([cell], [way], [1])).upward[0])
    requirements = Requirements.of([cell], [way], [2 * copies * room + over])
    primary = np.arange(rows * columns) == cell
    patterns = np.repeat(pattern.reshape(1, -1), 6, axis=0)
    patterns[np.arange(1, 6), rng.choice(np.flatnonzero(patterns[0] & ~primary), 5)] = False
    weights = rng.integers(1, 9, rows * columns)
    lines, pairs = plane_lines(rows, columns), np.zeros((0, 2), np.int32)
    return PlaneCase(capacity[0], capacity[1], plane, lines, requirements, patterns, weights, primary, pairs)


def learning_plane(rng: np.random.Generator, narrow: int = LONGEST_SUPPORT // 2 + 1) -> PlaneCase:
    """One requirement and patterns that teach something wrong to whoever keeps supports carelessly.

    First one path after the other, each over a column of its own and more of them than supports are kept; then so many
    narrow paths at once, by default too many cells for a support; then patterns that lack something of those before.
    """
    paths = SUPPORTS + 4
    columns, need = 1 + paths + narrow, narrow
    capacity = np.zeros((2, 3, columns), np.int64)
    capacity[:, :2, 1 : 1 + paths] = capacity[:, [0, 1, 2], 0] = need
    capacity[:, [[0], [2]], 1 + paths :] = 1
    pattern = np.zeros((3, columns), np.bool_)
    pattern[0, 0] = True
    wide, long, patterns = pattern.copy(), pattern.copy(), []
    wide[1, 0] = long[2, 0] = True
    long[[[0], [2]], 1 + paths :] = True
    for j in range(1, 1 + paths):
        patterns.append(wide.copy())
        patterns[-1][:2, j] = True
    patterns.append(long)
    for given in patterns[-6:]:
        for cell in rng.choice(np.flatnonzero(given.ravel()[1:]) + 1, 3):
            patterns.append(given.copy())
            patterns[-1].flat[cell] = False
    patterns.extend([pattern | (np.arange(3)[:, None] == i) for i in range(3)])
    place = np.concatenate([[0], rng.permutation(columns - 1) + 1])  # the columns in no order
    up, down = capacity[:, :, place]
    many = np.stack(patterns)[:, :, place].reshape(len(patterns), -1)
    requirements = Requirements.of([0], [int(rng.choice([1, -1]))], [need])
    weights, primary = rng.integers(1, 9, up.size), np.arange(up.size) == 0
    lines, pairs = plane_lines(3, columns), np.zeros((0, 2), np.int32)
    return PlaneCase(up, down, Capacities(up, down), lines, requirements, many, weights, primary, pairs)
