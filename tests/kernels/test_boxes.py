"""The cheapest box through every cell of small grids, with sub-totals and without, is the oracle's."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.kernels import Requirements, get_backend
from gpuga.kernels.layout import AxisGrid
from gpuga.safety.box_options import options_of
from gpuga.table.crossing import Axis

from .boxes import by_trying, cost, searched
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
    grid = AxisGrid.of([options_of(axis) for axis in axes])
    rng = np.random.default_rng([len(shape), seed])
    some = rng.permutation(grid.cells)[:40]
    requirements = Requirements.of(some, rng.choice([-1, 1], len(some)), rng.integers(1, 4, len(some)))
    patterns = rng.random((2, grid.cells)) < [[0.9 if inside else 0.2], [0.95 if inside else 0.5]]
    up, down = rng.integers(2, 9, (2, grid.cells))
    up[rng.random(grid.cells) < 0.1] = 0
    weights = rng.integers(1, 6, grid.cells)
    weights[rng.random(grid.cells) < 0.1] = -1
    arguments = (patterns, grid, (up, down), requirements, weights, inside)
    found = searched(*arguments)
    assert found == by_trying(*arguments)
    lines = grid_lines(axes)
    for q, box in enumerate(found):
        if not box:
            continue
        p, t = divmod(q, len(requirements))
        own, cells, amounts = int(requirements.cell[t]), np.array(list(box)), np.array(list(box.values()))
        assert is_kernel_vector(lines, box)
        assert (amounts <= up[cells]).all()
        assert (-amounts <= down[cells]).all()
        assert box[own] == requirements.direction[t] * requirements.need[t]
        assert set(np.abs(amounts).tolist()) == {int(requirements.need[t])}
        others = cells[cells != own]
        assert patterns[p, others].all() or not inside
        assert (weights[others[~patterns[p, others]]] >= 0).all()


@pytest.mark.parametrize("shape", ["a plane", "three axes", "three axes, two with sub-totals", "four axes"])
def test_prices_may_be_as_large_as_weights_are(shape: str) -> None:
    """Weights near 2**50 add up without a loss, beside weights of 1."""
    grid = AxisGrid.of([options_of(axis) for axis in SHAPES[shape]])
    rng = np.random.default_rng(3)
    weights = np.where(rng.random(grid.cells) < 0.5, 2**50 - rng.integers(0, 3, grid.cells), 1)
    room = np.full(grid.cells, 5)
    some = np.arange(0, grid.cells, 3)
    requirements = Requirements.of(some, np.ones(len(some)), np.full(len(some), 5))
    nothing = np.zeros((1, grid.cells), bool)
    arguments = (nothing, grid, (room, room), requirements, weights, False)
    found, expected = ([cost(box, nothing[0], weights) for box in way(*arguments)] for way in (searched, by_trying))
    assert found == expected
    assert max(found) > 2**50


@pytest.mark.parametrize("shape", ["a plane with sub-totals", "three axes", "three axes, sub-totals in the middle"])
def test_boxes_in_order_are_paid_for_once(shape: str) -> None:
    grid = AxisGrid.of([options_of(axis) for axis in SHAPES[shape]])
    rng = np.random.default_rng(9)
    cells = rng.permutation(grid.cells)[:8]
    requirements = Requirements.of(cells, rng.choice([-1, 1], 8), rng.integers(1, 6, 8))
    up, down = rng.integers(3, 9, (2, grid.cells))
    weights = rng.integers(0, 6, grid.cells)
    pattern = np.isin(np.arange(grid.cells), cells)
    orders = np.stack([rng.permutation(8) for _ in range(5)]).astype(np.int32)
    orders[0, 3:] = -1
    orders[1] = -1
    arguments = (pattern, grid, up, down, requirements, weights, orders)
    found, expected = (get_backend(name).box_costs(*arguments).tolist() for name in ("cpu", "numpy"))
    assert found == expected
    assert found[1] == 0
    assert 0 < found[0] < max(found)


@pytest.mark.parametrize("room", [4, 5, 6])
@pytest.mark.parametrize("axes", [2, 3])
def test_a_box_may_use_up_all_the_room_of_its_cells(axes: int, room: int) -> None:
    grid = AxisGrid.of([options_of(FLAT)] * axes)
    bound = np.full(grid.cells, room)
    requirements = Requirements.of(np.arange(grid.cells), np.ones(grid.cells), np.full(grid.cells, 5))
    weights = np.ones(grid.cells, np.int64)
    for hidden in (False, True):
        pattern = np.full((1, grid.cells), hidden)
        boxes = searched(pattern, grid, (bound, bound), requirements, weights, hidden)
        assert all(boxes) == any(boxes) == (room >= 5)
        if room >= 5:
            assert {cost(box, pattern[0], weights) for box in boxes} == {0 if hidden else 2**axes}


@pytest.mark.parametrize("most", [1, 3, 4, 6, 8, 12])
@pytest.mark.parametrize("flat_first", [True, False])
def test_boxes_of_more_cells_than_there_is_room_for_are_not_found(
    most: int, flat_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpuga.kernels.layout.MAX_BOX", most)
    deep = Axis(7, ((6, (4, 5)), (4, (0, 1)), (5, (2, 3))))
    axes = [FLAT, deep] if flat_first else [deep, FLAT]
    grid = AxisGrid.of([options_of(axis) for axis in axes])
    requirements = Requirements.of(np.arange(grid.cells), np.ones(grid.cells), np.full(grid.cells, 2))
    room, weights = np.full(grid.cells, 9), np.random.default_rng(1).integers(1, 9, grid.cells)
    boxes = searched(np.zeros((1, grid.cells), bool), grid, (room, room), requirements, weights, False)
    lines = grid_lines(axes)
    lengths = {len(box) for box in boxes if box}
    assert all(is_kernel_vector(lines, box) for box in boxes)
    assert max(lengths, default=0) <= most
    assert bool(lengths) == (most >= 4)
    assert most < 8 or all(boxes)
