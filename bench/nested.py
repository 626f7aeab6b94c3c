"""Magnitude tables of three dimensions with hierarchies on two of them, as surveys by region, activity and size have.

Cells sum up the contributions of a few firms each. The inner cells of the fewest firms are sensitive, as many as asked
for; levels are 10 % of the value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuga.table import Levels, Table
from gpuga.table.grid import dimension_from_parents, flat_dimension, full_grid, grid_lines, sum_up
from gpuga.table.table import Dimension, Status

LARGEST, MEAN_FIRMS = 1_000.0, 6.0


def grouped(name: str, size: int, members: int) -> Dimension:
    """A dimension of `size` codes: leaves, their groups of about so many members, and the total."""
    groups = max(2, round((size - 1) / (members + 1)))
    leaves = size - 1 - groups
    if leaves < groups:
        raise ValueError(f"{size} codes are too few for groups of {members}")
    codes = [f"{name}{i}" for i in range(leaves)] + [f"{name} group {g}" for g in range(groups)] + ["Total"]
    parents = [f"{name} group {i * groups // leaves}" for i in range(leaves)] + ["Total"] * groups
    return dimension_from_parents(name, codes, [*parents, None])


def nested3d(shape: Sequence[int], sensitive: float, seed: int) -> Table:
    """Regions in groups of three, activities in groups of two, sizes without groups; the shape counts all totals."""
    regions, activities, sizes = shape
    dimensions = [
        grouped("region", regions, 3),
        grouped("activity", activities, 2),
        flat_dimension("size", [f"size{i}" for i in range(sizes - 1)]),
    ]
    random, inner = np.random.default_rng([seed, 3]), np.ones(tuple(shape), bool)
    for axis, dimension in enumerate(dimensions):
        np.moveaxis(inner, axis, 0)[~dimension.is_leaf] = False
    firms = np.where(inner, random.poisson(MEAN_FIRMS, inner.shape), 0)
    each = np.minimum(random.pareto(1.2, int(firms.sum())) + 1.0, LARGEST)
    of_firm = np.repeat(np.arange(firms.size), firms.ravel())
    whole = np.rint(10.0 * np.bincount(of_firm, weights=each, minlength=firms.size)).astype(np.int64)
    value = sum_up(whole.reshape(inner.shape), dimensions).ravel()
    people = np.where(inner.ravel() & (value > 0), firms.ravel() + random.random(firms.size), np.inf)
    primary = np.zeros(value.size, bool)
    primary[np.argsort(people, kind="stable")[: round(sensitive * value.size)]] = True
    level = np.where(primary, -(-value // 10), 0)
    status = np.where(value == 0, Status.FROZEN, np.where(primary, Status.SENSITIVE, Status.SUPPRESSIBLE))
    grid = full_grid(dimensions)
    levels = Levels(level, level, np.zeros_like(level))
    name = f"nested-{'x'.join(map(str, shape))}-{sensitive:g}-{seed}"
    return Table.build(value, grid_lines(grid), status=status.astype(np.uint8), levels=levels, grid=grid, name=name)
