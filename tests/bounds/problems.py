"""Small problems and random cuts over them, for the tests of bounds."""

from __future__ import annotations

import numpy as np

from gpuga.bounds.separators.capacity_cuts import (
    plain_cut,
)
from gpuga.bounds.separators.line_cuts import SparseCut
from gpuga.bounds.separators.zero_half import OneOf, half_of
from gpuga.context import Context
from gpuga.problem.two_way import TwoWayProblem, two_way_problem
from tests.planes import random_plane_table


def small_problem(seed: int) -> TwoWayProblem:
    return two_way_problem(random_plane_table(4, 4, seed, largest=30, sensitive=0.15), Context())


def random_cuts(problem: TwoWayProblem, rng: np.random.Generator, count: int) -> list:
    """Plain cuts over random node sets, roundings and halves of them, and lone cells."""
    rows, columns = problem.shape
    cuts: list = []
    while len(cuts) < count:
        sides = (rng.random(rows) < 0.5).astype(np.uint8), (rng.random(columns) < 0.5).astype(np.uint8)
        cut = plain_cut(problem.net, *sides, int(rng.integers(1, 40)))
        every = np.arange(rows * columns)
        if not cut.coefficients(every).any():
            continue
        cuts.append(cut)
        rounded = cut.rounded(every[rng.random(len(every)) < 0.2], int(rng.integers(2, 20)))
        cuts += [] if rounded is None else [rounded]
    half = half_of([OneOf(cut) for cut in cuts[:3]], np.zeros(0, np.int64), np.arange(rows * columns))
    row, column = np.arange(columns), 5 % columns + columns * np.arange(rows)
    lone = [SparseCut(line, np.where(line == one, -1, 1), 0) for line, one in ((row, 1), (column, 5))]
    return [*cuts, half, *lone]
