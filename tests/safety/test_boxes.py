"""The cheapest box is the cheapest of all products of changes along the axes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gpuga import kernels
from gpuga.safety.box_options import options_of
from gpuga.safety.boxes import BoxGrid, BoxSearch, _with_groups, box_grid
from gpuga.safety.requirements import Requirements, level_requirements
from gpuga.safety.witness import together, witness_of
from gpuga.table.builders import table_from_array
from gpuga.table.crossing import CrossedAxes, crossing_of
from gpuga.table.generate import smith3d
from gpuga.table.groups import with_groups
from gpuga.table.table import Levels, Table
from tests.support.small_tables import random_pattern, random_table
from tests.table.test_crossing import OVERLAPPING, made_of


def changes_through(crossing: CrossedAxes, axis: int, code: int) -> list[list[tuple[int, int]]]:
    """All changes of an axis that move a code up by one."""
    one = options_of(crossing.axes[axis])
    if one.total >= 0:
        others = [c for c in range(one.codes) if c != code]
        return [[(code, 1), (c, 1 if one.total in (c, code) else -1)] for c in others]
    spans = [slice(*one.start[o : o + 2].tolist()) for o in range(int(one.first[code]), int(one.first[code + 1]))]
    return [[(code, 1), *zip(one.code[s].tolist(), one.sign[s].tolist(), strict=True)] for s in spans]


def cheapest_by_hand(
    table: Table, crossing: CrossedAxes, hidden: np.ndarray, cell: int, direction: int, need: int
) -> int:
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
        requirement = Requirements(
            np.array([cell], np.int32), np.array([direction], np.int8), np.array([need], np.int64)
        )
        least = cheapest_by_hand(table, crossing, hidden, cell, direction, need)
        covered, boxes = BoxSearch(grid, hidden).protect(requirement)
        assert covered[0] == (least >= 0)
        if covered[0]:
            assert table.weight[boxes.cell[~hidden[boxes.cell]]].sum() == least
        assert BoxSearch(grid, hidden).certify(requirement)[0][0] == (least == 0)


def test_the_price_of_an_ordering_is_what_its_boxes_suppress() -> None:
    table = smith3d((9, 6, 5), 0.15, 0.2, 2, 1)
    grid = box_grid(table)
    assert grid is not None
    requirements = level_requirements(table)
    _, boxes = BoxSearch(grid, table.forced).protect(requirements)
    suppressed = table.forced.copy()
    suppressed[boxes.cell] = True
    asked = kernels.Requirements.of(grid.place[requirements.cell], requirements.direction, requirements.need)
    order = np.arange(len(requirements), dtype=np.int32)[None]
    priced = kernels.get_backend("cpu").box_costs(
        grid.lay(table.forced).astype(bool), grid.grid, grid.up, grid.down, asked, grid.weight, order
    )
    assert priced.tolist() == [table.cost(suppressed) - table.cost(table.forced)]


def laid_out() -> tuple[Table, BoxGrid]:
    table = smith3d((8, 4, 3), 0.2, 0.2, 3, 1)
    grid = box_grid(table)
    assert grid is not None
    return table, grid


def test_a_table_is_laid_out_place_by_place_and_back() -> None:
    table, grid = laid_out()
    assert box_grid(table) is grid
    assert grid.cell[grid.place].tolist() == list(range(len(table)))
    there = grid.cell >= 0
    assert there.sum() == len(table)
    for laid, column in ((grid.up, table.up), (grid.down, table.down), (grid.weight, table.weight)):
        assert laid[there].tolist() == column[grid.cell[there]].tolist()
        assert not laid[~there].any()
    pattern = np.arange(len(table)) % 3 == 0
    assert grid.lay(pattern)[grid.place].tolist() == pattern.astype(int).tolist()
    assert grid.lay(np.ones(len(table), bool)).sum() == len(table)
    other = grid.reweighted(np.arange(len(table)) + 5)
    assert other.weight[grid.place].tolist() == list(range(5, len(table) + 5))
    assert other.weight[~there].sum() == 0
    assert other.up is grid.up


def test_absent_cells_have_no_room_and_no_pattern() -> None:
    table = made_of(OVERLAPPING, 3, 0.3)
    grid = box_grid(table)
    assert grid is not None
    absent = grid.cell < 0
    assert absent.any()
    assert not grid.up[absent].any()
    assert not grid.down[absent].any()
    assert not grid.lay(np.ones(len(table), bool))[absent].any()
    assert not grid.reweighted(np.ones(len(table), np.int64)).weight[absent].any()


def test_cells_come_and_go_in_a_search() -> None:
    table, grid = laid_out()
    requirement = Requirements(np.array([0], np.int32), np.array([1], np.int8), np.array([1]))
    search = BoxSearch(grid, np.zeros(len(table), bool))
    assert not search.certify(requirement)[0][0]
    covered, boxes = BoxSearch(grid, np.zeros(len(table), bool)).protect(requirement)
    assert covered.tolist() == [True]
    search.suppress(boxes.cell)
    assert search.certify(requirement)[0][0]
    others = boxes.cell[boxes.cell != 0]
    search.publish(others[:1])
    again, found = search.certify(requirement)
    assert not again[0]
    assert len(found) == 0
    search.suppress(others[:1])
    assert search.certify(requirement)[0][0]


def test_a_box_that_is_paid_for_serves_the_next_requirement() -> None:
    table, grid = laid_out()
    requirement = Requirements(np.array([0, 0], np.int32), np.array([1, 1], np.int8), np.array([1, 1]))
    search = BoxSearch(grid, np.zeros(len(table), bool))
    covered, boxes = search.protect(requirement)
    assert covered.all()
    assert boxes.one(0)[0].tolist() == boxes.one(1)[0].tolist()
    assert boxes.one(0)[1][boxes.one(0)[0] == 0].tolist() == [1]
    assert search.certify(requirement)[0].all()


def test_groups_move_by_the_sum_of_their_members_and_have_no_box_of_their_own() -> None:
    plain = smith3d((4, 3, 3), 0.2, 0.0, 3)
    levels = Levels(*[np.ones(3, np.int64)] * 3)
    table = with_groups(plain, [[0, 1], [2, 3, 4], [0, 5]], levels)
    grid = box_grid(table)
    assert grid is not None
    n = len(plain)
    assert [(g, m.tolist()) for g, m in grid.groups] == [(n, [0, 1]), (n + 1, [2, 3, 4]), (n + 2, [0, 5])]
    assert grid.place[n:].tolist() == [-1] * 3
    moved = _with_groups(
        together([
            witness_of(np.array([0, 1, 2], np.int32), np.array([3, -3, 4])),
            witness_of(np.array([7, 8], np.int32), np.array([1, -1])),
            witness_of(np.array([5, 1], np.int32), np.array([2, 6])),
        ]),
        grid.groups,
    )  # fmt: skip
    found = [dict(zip(*(part.tolist() for part in moved.one(w)[:2]), strict=True)) for w in range(3)]
    assert found == [
        {0: 3, 1: -3, 2: 4, n + 1: 4, n + 2: 3},
        {7: 1, 8: -1},
        {5: 2, 1: 6, n: 6, n + 2: 2},
    ]
    search = BoxSearch(grid, table.forced)
    asked = Requirements(np.array([n, 0], np.int32), np.array([1, 1], np.int8), np.array([1, 1]))
    covered, boxes = search.protect(asked)
    assert covered.tolist() == [False, True]
    assert len(boxes) == 1
    search.suppress(np.array([n, 0]))
    search.publish(np.array([n]))


def square() -> tuple[Table, BoxGrid]:
    table = table_from_array([[10, 20], [30, 40]])
    grid = box_grid(table)
    assert grid is not None
    return table, grid


@pytest.mark.parametrize("count", [1, 127, 128, 129, 256, 300])
def test_any_number_of_boxes_is_found_in_order(count: int) -> None:
    """Three hundred boxes of four cells are more than there is room for at first, and more than one portion."""
    table, grid = square()
    needs = 1 + np.arange(count) % 7
    requirements = Requirements(np.zeros(count, np.int32), np.where(np.arange(count) % 2, -1, 1).astype(np.int8), needs)
    hidden = np.arange(len(table)) < 9
    for covered, boxes in (
        BoxSearch(grid, hidden).certify(requirements),
        BoxSearch(grid, hidden).protect(requirements),
    ):
        assert covered.tolist() == [True] * count
        assert np.diff(boxes.start).tolist() == [4] * count
        own = boxes.cell.reshape(count, 4) == 0
        assert boxes.amount.reshape(count, 4)[own].tolist() == (requirements.direction * needs).tolist()
        assert (np.abs(boxes.amount).reshape(count, 4) == needs[:, None]).all()
        assert boxes.denominator.tolist() == [1] * count


def test_boxes_are_given_in_portions_until_the_time_is_up() -> None:
    table, grid = square()
    count = 300
    requirements = Requirements(np.zeros(count, np.int32), np.ones(count, np.int8), np.ones(count, np.int64))
    for looks, expected in ((0, 0), (1, 128), (2, 256), (3, 300)):
        left = [True] * looks
        search = BoxSearch(grid, np.zeros(len(table), bool))
        covered, boxes = search.protect(requirements, lambda left=left: not (left and left.pop()))
        assert covered.tolist() == [True] * expected + [False] * (count - expected)
        assert len(boxes) == expected


def test_a_requirement_without_a_box_leaves_the_pattern_as_it_is_and_the_next_one_in_its_place() -> None:
    table, grid = square()
    cells = np.array([0, 0, 3, 0], np.int32)
    requirements = Requirements(cells, np.array([-1, -1, 1, 1], np.int8), np.array([11, 10, 5, 21]))
    covered, boxes = BoxSearch(grid, np.zeros(len(table), bool)).protect(requirements)
    assert covered.tolist() == [False, True, True, True]  # the first holds but 10
    assert len(boxes) == 3
    assert [int(boxes.one(w)[1][boxes.one(w)[0] == c][0]) for w, c in enumerate((0, 3, 0))] == [-10, 5, 21]
    nothing = Requirements(cells[:0], np.zeros(0, np.int8), np.zeros(0, np.int64))
    covered, boxes = BoxSearch(grid, np.zeros(len(table), bool)).protect(nothing)
    assert (len(covered), len(boxes)) == (0, 0)
