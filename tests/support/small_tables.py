"""Small random tables of two and three dimensions, and random patterns on them."""

from __future__ import annotations

import numpy as np

from gpuga.table import Levels, Status, Table
from gpuga.table.grid import flat_dimension, full_grid, grid_lines, sum_up


def random_table(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    *,
    largest: int = 20,
    sensitive: float = 0.35,
    level: float = 0.15,
    sliding: bool = False,
    bounded: bool = False,
) -> Table:
    """A full table (shape counts internal codes) with integer values and random primaries."""
    dimensions = [flat_dimension(f"d{i}", [str(c) for c in range(n)]) for i, n in enumerate(shape)]
    inner = rng.integers(0, largest, shape)
    laid = np.zeros(tuple(n + 1 for n in shape), np.int64)
    laid[tuple(slice(0, n) for n in shape)] = inner
    value = sum_up(laid, dimensions).ravel()
    n = len(value)
    primary = (rng.random(n) < sensitive) & (value > 0)
    status = np.where(value == 0, Status.FROZEN, np.where(primary, Status.SENSITIVE, Status.SUPPRESSIBLE))
    width = np.where(primary, np.maximum(1, np.ceil(level * value)), 0).astype(np.int64)
    slide = np.where(primary & (rng.random(n) < 0.5), 2 * width + rng.integers(0, 3, n), 0) if sliding else 0 * width
    ub = value + rng.integers(0, largest, n) if bounded else None
    lb = np.maximum(0, value - rng.integers(0, largest, n)) if bounded else None
    grid = full_grid(dimensions)
    return Table.build(
        value, grid_lines(grid), status=status, grid=grid, lb=lb, ub=ub, levels=Levels(width, width, slide)
    )


def random_pattern(rng: np.random.Generator, table: Table, share: float) -> np.ndarray:
    """The primaries and some of what may be suppressed."""
    return table.forced | (table.suppressible & (rng.random(len(table)) < share))
