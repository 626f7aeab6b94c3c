"""The cheapest box is the cheapest of all products of changes along the axes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gpuga import kernels
from gpuga.safety.box_options import options_of
from gpuga.safety.boxes import BoxSearch, box_grid
from gpuga.safety.tasks import Tasks, level_tasks
from gpuga.table.crossing import Crossing, crossing_of
from gpuga.table.generate import smith3d
from gpuga.table.table import Table
from tests.support.small_tables import random_pattern, random_table
from tests.table.test_crossing import OVERLAPPING, made_of


def changes_through(crossing: Crossing, axis: int, code: int) -> list[list[tuple[int, int]]]:
    """All changes of an axis that move a code up by one."""
    one = options_of(crossing.axes[axis])
    if one.total >= 0:
        others = [c for c in range(one.codes) if c != code]
        return [[(code, 1), (c, 1 if one.total in (c, code) else -1)] for c in others]
    spans = [slice(*one.start[o : o + 2].tolist()) for o in range(int(one.first[code]), int(one.first[code + 1]))]
    return [[(code, 1), *zip(one.code[s].tolist(), one.sign[s].tolist(), strict=True)] for s in spans]


def cheapest_by_hand(table: Table, crossing: Crossing, hidden: np.ndarray, cell: int, direction: int, need: int) -> int:
    """The least weight of all boxes through a cell; -1 where there is none."""
    best = -1
    place = crossing.coordinate[cell].tolist()
    for box in product(*(changes_through(crossing, axis, code) for axis, code in enumerate(place))):
        price = 0
        for corner in product(*box):
            at = int(crossing.cell_at[np.ravel_multi_index([c for c, _ in corner], crossing.shape)])
            move = direction * int(np.prod([s for _, s in corner]))
            if at < 0 or (table.up if move > 0 else table.down)[at] < need:
                break
            price += 0 if hidden[at] else int(table.weight[at])
        else:
            best = price if best < 0 else min(best, price)
    return best


def tables() -> list[Table]:
    rng = np.random.default_rng(5)
    return [
        random_table(rng, (4, 3)),
        random_table(rng, (4, 3, 2), bounded=True),
        random_table(rng, (2, 2, 2, 2)),
        smith3d((8, 4, 4), 0.2, 0.2, 3, 1),
        made_of(OVERLAPPING, 3, 0.1),
    ]


@pytest.mark.parametrize("number", range(5))
def test_no_box_is_cheaper_than_the_one_found(number: int) -> None:
    table = tables()[number]
    grid, crossing = box_grid(table), crossing_of(table)
    assert grid is not None
    assert crossing is not None
    rng = np.random.default_rng(number)
    pattern = random_pattern(rng, table, 0.2)
    cells = rng.permutation(len(table))[:40]
    for cell in cells.tolist():
        hidden = pattern.copy()
        hidden[cell] = True
        need, direction = int(rng.integers(1, 6)), int(rng.choice([-1, 1]))
        task = Tasks(np.array([cell], np.int32), np.array([direction], np.int8), np.array([need], np.int64))
        least = cheapest_by_hand(table, crossing, hidden, cell, direction, need)
        covered, boxes = BoxSearch(grid, hidden).protect(task)
        assert covered[0] == (least >= 0)
        if covered[0]:
            assert table.weight[boxes.cell[~hidden[boxes.cell]]].sum() == least
        assert BoxSearch(grid, hidden).certify(task)[0][0] == (least == 0)


def test_the_price_of_an_ordering_is_what_its_boxes_suppress() -> None:
    table = smith3d((9, 6, 5), 0.15, 0.2, 2, 1)
    grid = box_grid(table)
    assert grid is not None
    tasks = level_tasks(table)
    _, boxes = BoxSearch(grid, table.forced).protect(tasks)
    suppressed = table.forced.copy()
    suppressed[boxes.cell] = True
    asked = kernels.Tasks.of(grid.place[tasks.cell], tasks.direction, tasks.need)
    order = np.arange(len(tasks), dtype=np.int32)[None]
    priced = kernels.get_backend("cpu").box_costs(
        grid.lay(table.forced).astype(bool), grid.grid, grid.up, grid.down, asked, grid.weight, order
    )
    assert priced.tolist() == [table.cost(suppressed) - table.cost(table.forced)]
