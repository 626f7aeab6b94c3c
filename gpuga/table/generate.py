"""Random test tables of the field, each from one seed: class I, class II, Herrington's, Smith's.

Rows and columns of class I, class II and Herrington's tables count internal cells; Smith's shapes count
the totals, as in the papers. Zeros are never suppressed. Weights are the values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuga.errors import InputError
from gpuga.table.grid import flat_dimension, full_grid, grid_lines, sum_up
from gpuga.table.table import Dimension, Ints, Levels, Mask, Status, Table

MOST_CELLS = 50_000_000
"""Larger tables are refused: they would not fit in the memory of an ordinary machine."""

MEAN_CONTRIBUTORS = 3.0
"""Smith et al. draw the contributors of a cell from a Poisson distribution and give no mean."""

LARGEST_CONTRIBUTION = 1000.0
"""Their contribution -1/log r has no mean; it is cut here, so that no contributor outweighs a whole table."""


def class1(rows: int, cols: int, seed: int, sensitive: float | None = None) -> Table:
    """Counts 0..499, values 1..4 sensitive, `u = a`, `l = a - 1` (Almeida et al. 2008, class I).

    As worded 0.8 % are sensitive. With a share, so many of the cells have a value 1..4: what the paper says of its
    tables (almost 80 % of the levels redundant, nothing to suppress above 300 rows) holds at 5 %.
    """
    dimensions = _plane(rows, cols)
    random = _random(seed)
    inner = random.integers(0, 500, (rows, cols))
    if sensitive is not None:
        _fraction("sensitive", sensitive)
        others = np.where((inner >= 1) & (inner <= 4), inner + 5, inner)
        inner = np.where(random.random((rows, cols)) < sensitive, random.integers(1, 5, (rows, cols)), others)
    value = _with_totals(inner, dimensions)
    primary = np.zeros(value.shape, bool)
    primary[:-1, :-1] = (inner >= 1) & (inner <= 4)
    flat = value.ravel()
    levels = Levels(lower=flat - 1, upper=flat, sliding=np.zeros_like(flat))
    return _table(flat, primary.ravel(), levels, dimensions, f"class1-{rows}x{cols}{_named(sensitive)}-{seed}")


def _named(share: float | None) -> str:
    return "" if share is None else f"-{100 * share:g}%"


def class2(rows: int, cols: int, seed: int) -> Table:
    """Magnitudes 0..1000, sensitive at random (inside 0.2, marginals 0.1), levels 15 % rounded up.

    Almeida et al. 2008, class II. Zeros and the grand total are not sensitive.
    """
    dimensions = _plane(rows, cols)
    random = _random(seed)
    value = _with_totals(random.integers(0, 1001, (rows, cols)), dimensions)
    primary = np.zeros(value.shape, bool)
    primary[:-1, :-1] = random.random((rows, cols)) < 0.2
    primary[:-1, -1] = random.random(rows) < 0.1
    primary[-1, :-1] = random.random(cols) < 0.1
    flat = value.ravel()
    return _table(flat, primary.ravel(), _share(flat, 15), dimensions, f"class2-{rows}x{cols}-{seed}")


def herrington(rows: int, cols: int, sensitive: float, seed: int) -> Table:
    """Reals between 0 and 1000 (kept to three decimals), a share of the inside sensitive, levels 10 %.

    Herrington 2015, table 1. `sensitive` is a fraction such as 0.01.
    """
    dimensions = _plane(rows, cols)
    _fraction("sensitive", sensitive)
    random = _random(seed)
    inner = np.maximum(1, np.rint(random.random((rows, cols)) * 1e6).astype(np.int64))
    value = _with_totals(inner, dimensions)
    chosen = random.choice(rows * cols, round(sensitive * rows * cols), replace=False)
    primary = np.zeros(value.shape, bool)
    primary[chosen // cols, chosen % cols] = True
    flat = value.ravel()
    name = f"herrington-{rows}x{cols}-{sensitive:g}-{seed}"
    return _table(flat, primary.ravel(), _share(flat, 10), dimensions, name, scale=1000)


def smith2d(rows: int, cols: int, sensitive: float, zeros: float, seed: int, hierarchical: int = 0) -> Table:
    """A magnitude table like those of Smith et al. 2012; rows and columns count the totals.

    `hierarchical` (1 or 2) gives the rows or the columns groups of about six codes below the total.
    """
    return _smith((rows, cols), sensitive, zeros, seed, hierarchical)


def smith3d(shape: Sequence[int], sensitive: float, zeros: float, seed: int, hierarchical: int = 0) -> Table:
    """A three-dimensional magnitude table after Smith et al. 2012, table VII; the shape counts the totals.

    `hierarchical` (1, 2 or 3) gives that dimension groups of about six codes below the total. Poisson
    numbers of contributors, contributions `-1/log r`; `sensitive` and `zeros` are fractions of all
    cells; levels `max(1, 10 %)` rounded up.
    """
    if len(shape) != 3:
        raise InputError(f"a shape of three sizes is needed, not {len(shape)}", field="shape")
    return _smith(tuple(shape), sensitive, zeros, seed, hierarchical)


def _smith(shape: tuple[int, ...], sensitive: float, zeros: float, seed: int, hierarchical: int) -> Table:
    _check_shape(shape, smallest=3)
    _fraction("sensitive", sensitive)
    _fraction("zeros", zeros)
    if not 0 <= hierarchical <= len(shape):
        raise InputError(f"there is no dimension {hierarchical}, only 1 to {len(shape)}", field="hierarchical")
    names = ("row", "column", "layer")
    dimensions = [
        _grouped(names[d], size) if d + 1 == hierarchical else flat_dimension(names[d], _codes(names[d], size - 1))
        for d, size in enumerate(shape)
    ]
    random = _random(seed)
    inner = np.ones(shape, bool)
    for axis, dimension in enumerate(dimensions):
        np.moveaxis(inner, axis, 0)[~dimension.is_leaf] = False
    contributors = _contributors(inner.ravel(), zeros, random)
    flat = sum_up(_contributions(contributors, random).reshape(shape), dimensions).ravel()
    primary = _choose(flat, inner.ravel(), dimensions, round(sensitive * flat.size), random)
    size = "x".join(str(s) + ("H" if d + 1 == hierarchical else "") for d, s in enumerate(shape))
    name = f"smith-{size}-{sensitive:g}-{zeros:g}-{seed}"
    persons = sum_up(contributors.reshape(shape), dimensions).ravel()
    return _table(flat, primary, _share(flat, 10), dimensions, name, contributors=persons)


def _contributors(inner: Mask, zeros: float, random: np.random.Generator) -> Ints:
    """How many contribute to each inner cell (int64[n]); the wanted share of all cells gets none."""
    leaves = np.flatnonzero(inner)
    empty = round(zeros * inner.size)
    if empty > len(leaves):
        raise InputError(f"{empty} zeros do not fit into {len(leaves)} inner cells", field="zeros")
    count = np.zeros(inner.size, np.int64)
    count[leaves] = np.maximum(1, random.poisson(MEAN_CONTRIBUTORS, len(leaves)))
    count[random.permutation(leaves)[:empty]] = 0
    return count


def _contributions(contributors: Ints, random: np.random.Generator) -> Ints:
    """The value of each cell: its contributions in tenths, at least 1 where anyone contributes (int64[n])."""
    r = np.maximum(random.random(int(contributors.sum())), 1e-12)
    each = np.minimum(-1.0 / np.log(r), LARGEST_CONTRIBUTION)
    cell = np.repeat(np.arange(len(contributors)), contributors)
    total = np.bincount(cell, weights=each, minlength=len(contributors))
    return np.where(contributors > 0, np.maximum(1, np.rint(10 * total)), 0).astype(np.int64)


def _choose(
    value: Ints, inner: Mask, dimensions: Sequence[Dimension], wanted: int, random: np.random.Generator
) -> Mask:
    """`wanted` primaries among the non-zero inner cells and, when these are used up, the marginals."""
    grand_total = np.ravel_multi_index([d.root for d in dimensions], [len(d.codes) for d in dimensions])
    marginal = (value > 0) & ~inner
    marginal[grand_total] = False
    first = random.permutation(np.flatnonzero(inner & (value > 0)))
    candidates = np.concatenate([first, random.permutation(np.flatnonzero(marginal))])
    if wanted > len(candidates):
        raise InputError(
            f"{wanted} sensitive cells do not fit into {len(candidates)} non-zero cells", field="sensitive"
        )
    primary = np.zeros(len(value), bool)
    primary[candidates[:wanted]] = True
    return primary


def _table(
    value: Ints,
    primary: Mask,
    levels: Levels,
    dimensions: Sequence[Dimension],
    name: str,
    scale: int = 1,
    contributors: Ints | None = None,
) -> Table:
    """The table of a full grid; zeros are frozen and never sensitive, others carry no levels."""
    primary = primary & (value != 0)
    status = np.where(value == 0, Status.FROZEN, np.where(primary, Status.SENSITIVE, Status.SUPPRESSIBLE))
    grid = full_grid(dimensions)
    kept = Levels(*(np.where(primary, level, 0) for level in vars(levels).values()))
    return Table.build(
        value,
        grid_lines(grid),
        status=status.astype(np.uint8),
        levels=kept,
        scale=scale,
        grid=grid,
        contributors=contributors,
        name=name,
    )


def _share(value: Ints, percent: int) -> Levels:
    """Lower and upper levels of so many percent of the value, rounded up to a unit."""
    level = -(-value * percent // 100)
    return Levels(level, level, np.zeros_like(level))


def _with_totals(inner: Ints, dimensions: Sequence[Dimension]) -> Ints:
    padded = np.zeros([size + 1 for size in inner.shape], np.int64)
    padded[tuple(slice(size) for size in inner.shape)] = inner
    return sum_up(padded, dimensions)


def _plane(rows: int, cols: int) -> list[Dimension]:
    _check_shape((rows, cols), smallest=1)
    return [flat_dimension("row", _codes("row", rows)), flat_dimension("column", _codes("column", cols))]


def _codes(name: str, count: int) -> list[str]:
    width = len(str(count))
    return [f"{name[0]}{i:0{width}d}" for i in range(1, count + 1)]


def _grouped(name: str, size: int) -> Dimension:
    """A dimension of `size` codes: leaves, their groups of about six, the total last."""
    if size < 7:
        raise InputError(f"a hierarchical dimension needs at least 7 codes, not {size}", field="hierarchical")
    groups = max(2, (size - 1) // 7)
    leaves = size - 1 - groups
    parent = np.full(size, size - 1, np.int32)
    parent[:leaves] = leaves + np.arange(leaves) * groups // leaves
    parent[-1] = -1
    codes = (*_codes(name, leaves), *_codes("group", groups), "Total")
    return Dimension(name, codes, parent)


def _check_shape(shape: Sequence[int], smallest: int) -> None:
    cells = 1
    for size in shape:
        if size < smallest:
            raise InputError(f"each size must be at least {smallest}, not {size}", field="shape")
        cells *= size
    if cells > MOST_CELLS:
        raise InputError(f"a table of {cells} cells is larger than {MOST_CELLS}", field="shape")


def _fraction(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise InputError(f"{value:g} is not a fraction between 0 and 1", field=name)


def _random(seed: int) -> np.random.Generator:
    if seed < 0:
        raise InputError(f"a seed must be 0 or more, not {seed}", field="seed")
    return np.random.Generator(np.random.PCG64(seed))
