"""The cheapest box through every cell of small grids, with sub-totals and without, is the oracle's."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.kernels import Tasks, get_backend
from gpuga.kernels.layout import Grid
from gpuga.safety.box_options import options_of
from gpuga.table.crossing import Axis

from .cases import same_circuits
from .test_oracle import grid_lines, is_kernel_vector

FLAT, LAST = Axis(3, ((2, (0, 1)),)), Axis(4, ((3, (0, 1, 2)),))
FIRST = Axis(4, ((0, (1, 2, 3)),))  # the total comes first
TREE = Axis(5, ((4, (2, 3)), (2, (0, 1))))
LOOSE = Axis(4, ((2, (0, 1)),))  # one code stands for itself

SHAPES = {
    "a line": [LAST],
    "a plane": [FLAT, LAST],
    "a plane whose totals come first": [FIRST, FIRST],
    "a plane with sub-totals": [FLAT, TREE],
    "three axes": [FLAT, FIRST, LAST],
    "three axes, sub-totals first": [TREE, FLAT, FIRST],
    "three axes, sub-totals in the middle": [FLAT, TREE, FLAT],
    "three axes, two with sub-totals": [TREE, TREE, FLAT],
    "three axes, sub-totals last": [FLAT, FLAT, TREE],
    "a code for itself": [LOOSE, FLAT, LAST],
    "four axes": [FLAT, FLAT, FLAT, FLAT],
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_cheapest_box_of_every_cell_is_the_oracles(shape: str, inside: bool, seed: int) -> None:
    axes = SHAPES[shape]
    grid = Grid.of([options_of(axis) for axis in axes])
    rng = np.random.default_rng([len(shape), seed])
    some = rng.permutation(grid.cells)[:40]
    tasks = Tasks.of(some, rng.choice([-1, 1], len(some)), rng.integers(1, 4, len(some)))
    patterns = rng.random((2, grid.cells)) < [[0.9 if inside else 0.2], [0.95 if inside else 0.5]]
    up, down = rng.integers(2, 9, (2, grid.cells))
    up[rng.random(grid.cells) < 0.1] = 0
    weights = rng.integers(1, 6, grid.cells)
    weights[rng.random(grid.cells) < 0.1] = -1
    items = np.array([[p, t] for p in range(2) for t in range(len(tasks))], np.int32)
    arguments = (patterns, grid, up, down, tasks, weights, items, inside)
    found, expected = (get_backend(name).cheapest_boxes(*arguments) for name in ("cpu", "numpy"))
    same_circuits(found, expected, ordered=False)
    lines = grid_lines(axes)
    for q in np.flatnonzero(found.found).tolist():
        cells, amounts = found.pool.circuit(q)
        assert is_kernel_vector(lines, found.pool, q)
        p, t = items[q]
        assert (amounts <= up[cells]).all()
        assert (-amounts <= down[cells]).all()
        assert amounts[cells == tasks.cell[t]].tolist() == [tasks.direction[t] * tasks.need[t]]
        assert set(np.abs(amounts).tolist()) == {int(tasks.need[t])}
        others = cells[cells != tasks.cell[t]]
        assert patterns[p, others].all() or not inside
        assert (weights[others[~patterns[p, others]]] >= 0).all()


@pytest.mark.parametrize("shape", ["a plane", "three axes", "three axes, two with sub-totals", "four axes"])
def test_prices_may_be_as_large_as_weights_are(shape: str) -> None:
    """Weights near 2**50 add up without a loss, beside weights of 1."""
    grid = Grid.of([options_of(axis) for axis in SHAPES[shape]])
    rng = np.random.default_rng(3)
    weights = np.where(rng.random(grid.cells) < 0.5, 2**50 - rng.integers(0, 3, grid.cells), 1)
    room = np.full(grid.cells, 5)
    some = np.arange(0, grid.cells, 3)
    tasks = Tasks.of(some, np.ones(len(some)), np.full(len(some), 5))
    items = np.stack([np.zeros(len(tasks)), np.arange(len(tasks))], axis=1).astype(np.int32)
    arguments = (np.zeros((1, grid.cells), bool), grid, room, room, tasks, weights, items, False)
    found, expected = (get_backend(name).cheapest_boxes(*arguments) for name in ("cpu", "numpy"))
    assert found.cost.tolist() == expected.cost.tolist()
    assert max(found.cost.tolist()) > 2**50


@pytest.mark.parametrize("shape", ["a plane with sub-totals", "three axes", "three axes, sub-totals in the middle"])
def test_boxes_in_order_are_paid_for_once(shape: str) -> None:
    grid = Grid.of([options_of(axis) for axis in SHAPES[shape]])
    rng = np.random.default_rng(9)
    cells = rng.permutation(grid.cells)[:8]
    tasks = Tasks.of(cells, rng.choice([-1, 1], 8), rng.integers(1, 6, 8))
    up, down = rng.integers(3, 9, (2, grid.cells))
    weights = rng.integers(0, 6, grid.cells)
    pattern = np.isin(np.arange(grid.cells), cells)
    orders = np.stack([rng.permutation(8) for _ in range(5)]).astype(np.int32)
    orders[0, 3:] = -1
    orders[1] = -1
    arguments = (pattern, grid, up, down, tasks, weights, orders)
    found, expected = (get_backend(name).box_costs(*arguments).tolist() for name in ("cpu", "numpy"))
    assert found == expected
    assert found[1] == 0
    assert 0 < found[0] < max(found)
