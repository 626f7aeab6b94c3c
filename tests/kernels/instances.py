"""Random planes, grids, populations and circuits for the kernels' tests, with the corner cases that break kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels import INFINITE, Capacities, EquationLines, Frequencies, Pool, Requirements, plane_lines
from gpuga.kernels.layout import AxisGrid
from gpuga.safety.box_options import options_of
from gpuga.table.crossing import Axis

Bools = NDArray[np.bool_]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

SHAPES = [(1, 5), (6, 1), (1, 1), (2, 63), (2, 64), (2, 65), (3, 130), (4, 4), (5, 7), (8, 6), (7, 9)]


@dataclass(frozen=True)
class PlaneCase:
    """A plane with requirements and a population."""

    up: Int64
    down: Int64
    plane: Capacities
    lines: EquationLines
    requirements: Requirements
    patterns: Bools
    weights: Int64
    primary: Bools
    items: Int32

    @property
    def columns(self) -> int:
        return self.plane.columns


def capacities(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Int64, Int64]:
    """How far cells may rise and fall: often without bound above, sometimes frozen."""
    up = np.where(rng.random(shape) < rng.random(), INFINITE, rng.integers(0, 30, shape))
    down = rng.integers(0, 30, shape)
    frozen = rng.random(shape) < 0.1
    return np.where(frozen, 0, up).astype(np.int64), np.where(frozen, 0, down).astype(np.int64)


def population(rng: np.random.Generator, cells: int, count: int, primary: Bools) -> Bools:
    """Random patterns of one density; the first is empty, the second full; primaries are nearly always suppressed."""
    patterns = rng.random((count, cells)) < rng.random()
    patterns |= primary & (rng.random((count, cells)) < 0.97)
    patterns[:1] = False
    patterns[1:2] = True
    return patterns


def random_requirements(rng: np.random.Generator, cells: int, sensitive: int) -> Requirements:
    """Both directions of some cells; now and then a need of zero."""
    cell = np.repeat(rng.choice(cells, min(sensitive, cells), replace=False), 2)
    return Requirements.of(cell, np.tile([1, -1], len(cell) // 2), rng.integers(0, 25, len(cell)))


# Arcs (row, column) of a network in which the shortest way from row 0 to column 0 blocks two disjoint ways.
BLOCKING = [(0, 1), (1, 1), (1, 0), (2, 1), (2, 2), (3, 2), (3, 0), (0, 3), (4, 3), (4, 4), (1, 4)]


def blocking_plane(rng: np.random.Generator) -> tuple[Int64, Int64, Requirements, Bools]:
    """Unit capacities on the blocking network in random order: for two units, flow must be taken back."""
    row, column = rng.permutation(5), rng.permutation(5)
    up, down = np.zeros((6, 6), np.int64), np.zeros((6, 6), np.int64)
    cells = [row[i] * 6 + column[j] for i, j in [(0, 0), *BLOCKING]]
    up.flat[cells] = down.flat[cells] = 1
    up.flat[cells[0]] = down.flat[cells[0]] = 2
    direction = int(rng.choice([1, -1]))
    # The cell that the shortest way blocks moves one way only: it can be freed, but not be walked back on its own.
    (down if direction > 0 else up).flat[cells[2]] = 0
    pattern = np.zeros(36, np.bool_)
    pattern[cells] = True
    return up, down, Requirements.of([cells[0]], [direction], [2]), pattern


def pairs_of(patterns: int, requirements: int) -> Int32:
    """All (pattern, requirement) pairs."""
    return np.array([(p, t) for p in range(patterns) for t in range(requirements)], np.int32).reshape(-1, 2)


def random_plane(rng: np.random.Generator, shape: tuple[int, int] | None = None, count: int | None = None) -> PlaneCase:
    """A plane of one of the usual shapes with up to four sensitive cells (sometimes none)."""
    rows, columns = shape if shape is not None else SHAPES[rng.integers(len(SHAPES))]
    up, down = capacities(rng, (rows, columns))
    requirements = random_requirements(rng, rows * columns, int(rng.integers(0, 5)))
    blocked = shape is None and rng.random() < 0.15
    if blocked:
        rows, columns = 6, 6
        up, down, requirements, pattern = blocking_plane(rng)
    primary = np.zeros(rows * columns, np.bool_)
    primary[requirements.cell] = True
    patterns = population(rng, rows * columns, int(rng.integers(3, 7)) if count is None else count, primary)
    if blocked:
        patterns[2] = pattern
    return PlaneCase(
        up, down, Capacities.of(up, down), plane_lines(rows, columns), requirements, patterns,
        rng.integers(0, 9, rows * columns), primary, pairs_of(len(patterns), len(requirements)),
    )  # fmt: skip


@dataclass(frozen=True)
class GridCase:
    """A grid with requirements and a population."""

    axes: list[Axis]
    grid: AxisGrid
    up: Int64
    down: Int64
    requirements: Requirements
    patterns: Bools
    weights: Int64
    items: Int32


def random_axis(rng: np.random.Generator, size: int) -> Axis:
    """One total of all other codes, a hierarchy in random numbering, or a total that two families add up to."""
    kind, order = rng.integers(3), rng.permutation(size).tolist()
    if size < 3 or kind == 0:
        return Axis(size, ((order[0], tuple(order[1:])),) if size > 1 else ())
    if kind == 1 or size < 5:
        families: dict[int, list[int]] = {}
        for x in range(1, size):
            families.setdefault(order[rng.integers(0, min(x, 3))], []).append(order[x])
        return Axis(size, tuple((total, tuple(parts)) for total, parts in families.items()))
    half = 1 + (size - 1) // 2
    return Axis(size, ((order[0], tuple(order[1:half])), (order[0], tuple(order[half:]))))


def random_grid(rng: np.random.Generator, largest: int = 6) -> GridCase:
    """A grid of one to three axes, with sub-totals or without."""
    axes = [random_axis(rng, int(rng.integers(2, largest))) for _ in range(rng.integers(1, 4))]
    grid = AxisGrid.of([options_of(axis) for axis in axes])
    up, down = capacities(rng, (grid.cells,))
    requirements = random_requirements(rng, grid.cells, 2)
    requirements = Requirements.of(requirements.cell, requirements.direction, np.maximum(1, requirements.need))
    patterns = population(rng, grid.cells, 3, np.zeros(grid.cells, np.bool_))
    weights = rng.integers(-1, 9, grid.cells)
    return GridCase(axes, grid, up, down, requirements, patterns, weights, pairs_of(3, len(requirements)))


def pool_of(circuits: Sequence[tuple[Int32, Int64]]) -> Pool:
    """Circuits given as pairs of cells and amounts."""
    start = np.cumsum([0, *(len(cells) for cells, _ in circuits)])
    cells, amounts = ([part for pair in circuits for part in pair[which].tolist()] for which in (0, 1))
    return Pool.of(start, cells, amounts)


def random_pool(rng: np.random.Generator, cells: int, count: int) -> Pool:
    """Circuits of up to six different cells, some of them empty."""
    chosen = [rng.choice(cells, rng.integers(0, min(cells, 6) + 1), replace=False) for _ in range(count)]
    return pool_of([(cell, rng.integers(-5, 6, len(cell))) for cell in chosen])


def random_lines(rng: np.random.Generator, cells: int, count: int) -> EquationLines:
    """Equations with coefficients other than one."""
    members = [rng.choice(cells, rng.integers(1, min(cells, 5) + 1), replace=False) for _ in range(count)]
    start = np.concatenate([[0], np.cumsum([len(member) for member in members])])
    coef = rng.choice([-3, -2, -1, 1, 2, 3], start[-1])
    return EquationLines.of(start, np.concatenate(members), coef, cells)


def random_frequencies(rng: np.random.Generator, fields: int = 4, rules: int = 3) -> Frequencies:
    """Frequency tables of one to three of the fields, each field with rules that merge more and more codes."""
    sizes = rng.integers(2, 6, fields)
    image_size = np.maximum(1, np.stack([sizes, sizes // 2, np.ones_like(sizes)], axis=1))
    images = [
        np.minimum(np.arange(size), after - 1) for size, row in zip(sizes, image_size, strict=True) for after in row
    ]
    image_start = np.concatenate([[0], np.cumsum([len(image) for image in images])[:-1]]).reshape(fields, rules)
    table_fields = [rng.choice(fields, rng.integers(1, 4), replace=False) for _ in range(int(rng.integers(1, 5)))]
    field = np.full((len(table_fields), 3), -1, np.int32)
    cells = []
    for row, chosen in zip(field, table_fields, strict=True):
        row[: len(chosen)] = chosen
        codes = np.zeros((int(rng.integers(0, 90)), 3), np.int32)
        for place, f in enumerate(chosen):
            codes[:, place] = rng.integers(0, sizes[f], len(codes))
        cells.append(codes)
    start = np.concatenate([[0], np.cumsum([len(codes) for codes in cells])])
    count = rng.integers(1, 4, start[-1])
    return Frequencies(
        start.astype(np.int64), np.concatenate(cells), count.astype(np.int64),
        rng.integers(0, 9, start[-1]).astype(np.int64), field, rng.integers(1, 9, len(field)).astype(np.int64),
        image_start.astype(np.int64), image_size.astype(np.int64), np.concatenate(images).astype(np.int32),
    )  # fmt: skip
