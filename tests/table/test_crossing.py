"""Crossings are recovered from equations where there are any, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuga.safety.boxes import BoxSearch, box_grid
from gpuga.safety.tasks import Tasks
from gpuga.safety.witness import Ground, hold
from gpuga.table.crossing import Axis, Crossing, _Kinds, crossing_of
from gpuga.table.generate import smith2d, smith3d
from gpuga.table.grid import csr_lines
from gpuga.table.table import Lines, Table
from tests.heuristics.test_general_heuristics import unlabelled

OVERLAPPING = (Axis(8, ((4, (0, 1, 2, 3)), (5, (0, 1)), (6, (1, 2)), (7, (2, 3)))), Axis(4, ((3, (0, 1, 2)),)))
"""An axis whose codes belong to several totals, times a plain one."""


def crossed_lines(crossing: Crossing) -> Lines:
    """The lines of a crossing, through the cells that are there."""
    line, cell, coef, count = [], [], [], 0
    for d, axis in enumerate(crossing.axes):
        others = np.unique(np.delete(crossing.coordinate, d, axis=1), axis=0)
        for total, parts in axis.families:
            for other in others:
                codes = np.insert(np.tile(other, (len(parts) + 1, 1)), d, [*parts, total], axis=1)
                at = crossing.cell_at[np.ravel_multi_index(tuple(codes.T), crossing.shape)]
                if (at >= 0).sum() > 1 and at[-1] >= 0:
                    line += [count] * int((at >= 0).sum())
                    coef += [1] * int((at[:-1] >= 0).sum()) + [-1]
                    cell += at[at >= 0].tolist()
                    count += 1
    return csr_lines(count, np.array(line), np.array(cell), np.array(coef, np.int64))


def made_of(axes: tuple[Axis, ...], seed: int, absent: float = 0.0) -> Table:
    """A table with these axes: parts that are nobody's total are drawn, totals follow."""
    rng = np.random.default_rng(seed)
    shape = tuple(axis.codes for axis in axes)
    value = rng.integers(1, 30, shape) * (rng.random(shape) >= absent)
    for d, axis in enumerate(axes):
        along = np.moveaxis(value, d, 0)
        for total, parts in sorted(axis.families, key=lambda f: -int(axis.depth[f[0]])):
            along[total] = along[list(parts)].sum(axis=0)
    there = np.argwhere(value > 0).astype(np.int32)
    crossing = Crossing(axes, there)
    return Table.build(value[tuple(there.T)], crossed_lines(crossing))


@pytest.mark.parametrize(("shape", "hierarchical"), [((6, 5, 4), 0), ((9, 5, 4), 1), ((4, 14, 5), 2)])
def test_the_axes_of_a_table_without_labels_are_found(shape: tuple[int, ...], hierarchical: int) -> None:
    table = smith3d(shape, 0.1, 0.2, 3, hierarchical)
    labelled, found = crossing_of(table), crossing_of(unlabelled(table, 5))
    assert labelled is not None
    assert found is not None

    def families(crossing: Crossing) -> list[list[int]]:
        return sorted(sorted(len(parts) for _, parts in axis.families) for axis in crossing.axes)

    assert families(found) == families(labelled)
    assert sorted(found.shape) == sorted(labelled.shape)


def test_a_plane_is_a_crossing_of_two_axes() -> None:
    found = crossing_of(unlabelled(smith2d(9, 7, 0.1, 0.2, 3), 1))
    assert found is not None
    assert sorted(found.shape) == [7, 9]


@pytest.mark.parametrize("absent", [0.0, 0.15])
def test_axes_whose_codes_have_several_totals_are_found(absent: float) -> None:
    axes = (*OVERLAPPING, Axis(4, ((0, (1, 2, 3)),)))
    table = unlabelled(made_of(axes, 2, absent), 3)
    found = crossing_of(table)
    assert found is not None
    assert sorted(found.shape) == [4, 4, 8]
    assert sorted(len(axis.families) for axis in found.axes) == [1, 1, 4]


def test_one_more_equation_makes_it_no_crossing_of_three_axes() -> None:
    table = unlabelled(smith3d((5, 4, 4), 0.1, 0.0, 3), 2)
    lines = table.lines
    a, b = (lines.cell[lines.start[at] : lines.start[at + 1]] for at in (0, len(lines) - 1))
    # the sum of two lines is true of the values, and lies along no axis
    only_a, only_b = np.setdiff1d(a, b), np.setdiff1d(b, a)
    coef = [lines.coef[lines.start[at] : lines.start[at + 1]] for at in (0, len(lines) - 1)]
    cell = np.concatenate([lines.cell, only_a, only_b]).astype(np.int32)
    signs = np.concatenate([lines.coef, coef[0][np.isin(a, only_a)], coef[1][np.isin(b, only_b)]])
    extra = len(only_a) + len(only_b)
    more = Lines(np.append(lines.start, lines.start[-1] + extra), cell, signs, np.zeros(len(lines) + 1, np.int64))
    if len(only_a) == len(a):
        assert crossing_of(replace(table, lines=more)) is None


@pytest.mark.parametrize("absent", [0.0, 0.2])
@pytest.mark.parametrize("axes", [OVERLAPPING, (*OVERLAPPING, Axis(5, ((0, (1, 2)), (2, (3, 4)))))])
def test_boxes_on_recovered_axes_keep_every_equation(axes: tuple[Axis, ...], absent: float) -> None:
    table = unlabelled(made_of(axes, 4, absent), 1)
    grid = box_grid(table)
    assert grid is not None
    cells = np.arange(len(table), dtype=np.int32)
    tasks = Tasks(cells, np.where(cells % 2, 1, -1).astype(np.int8), np.ones(len(cells), np.int64))
    covered, boxes = BoxSearch(grid, np.zeros(len(table), bool)).protect(tasks)
    assert covered.sum() > len(table) // 2
    assert hold(Ground.of(table, np.ones(len(table), bool)), boxes).all()


def test_a_total_that_is_broken_down_in_two_ways_keeps_both() -> None:
    """By sex and by age, say: the parts of the one are there where those of the other are, and are not joined."""
    axes = (Axis(6, ((0, (1, 2)), (0, (3, 4, 5)))), Axis(4, ((3, (0, 1, 2)),)), Axis(3, ((2, (0, 1)),)))
    rng = np.random.default_rng(1)
    value = np.zeros((6, 4, 3), np.int64)
    value[1:, :3, :2] = rng.integers(5, 30, (5, 3, 2))
    value[5] = value[1] + value[2] - value[3] - value[4] + 100
    value[1] += 100
    for d, axis in enumerate(axes):
        along = np.moveaxis(value, d, 0)
        for total, parts in axis.families:
            along[total] = along[list(parts)].sum(axis=0)
    there = np.argwhere(value > 0).astype(np.int32)
    table = Table.build(value[tuple(there.T)], crossed_lines(Crossing(axes, there)))
    found = crossing_of(unlabelled(table, 3))
    assert found is not None
    assert sorted(found.shape) == [3, 4, 6]
    (twice,) = (axis for axis in found.axes if axis.codes == 6)
    assert sorted(len(parts) for _, parts in twice.families) == [2, 3]
    assert twice.parent is None


def test_an_axis_knows_its_parents_and_depths() -> None:
    tree = Axis(6, ((5, (0, 1, 4)), (4, (2, 3))))
    assert tree.parent is not None
    assert tree.parent.tolist() == [5, 5, 4, 4, 5, -1]
    assert tree.depth.tolist() == [1, 1, 2, 2, 1, 0]
    assert OVERLAPPING[0].parent is None
    assert OVERLAPPING[0].depth.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    assert Axis(3, ((0, (1,)), (0, (2,)))).parent is None


def test_cells_lie_where_their_codes_say() -> None:
    crossing = Crossing((Axis(2, ((1, (0,)),)), Axis(3, ((2, (0, 1)),))), np.array([[0, 1], [1, 2], [0, 0]], np.int32))
    assert crossing.flat.tolist() == [1, 5, 0]
    assert crossing.cell_at.tolist() == [2, 0, -1, -1, -1, 1]


@pytest.mark.parametrize(
    ("coef", "rhs"), [([1, 1, -2], 0), ([1, 1, -1], 1), ([1, 1, 1], 0)], ids=["twice", "constant", "no total"]
)
def test_equations_that_are_no_sums_are_no_crossing(coef: list[int], rhs: int) -> None:
    value = np.array([3, 5, 8]) if coef[2] == -1 else np.array([3, 5, 4]) if coef[2] == -2 else np.array([3, -1, -2])
    if rhs:
        value = np.array([3, 5, 7])
    lines = Lines(np.array([0, 3]), np.arange(3, dtype=np.int32), np.array(coef), np.array([rhs]))
    table = Table.build(value, lines, lb=np.full(3, -99))
    assert crossing_of(table) is None
    plain = Lines(np.array([0, 3]), np.arange(3, dtype=np.int32), np.array([1, 1, -1]), np.zeros(1, np.int64))
    assert crossing_of(Table.build(np.array([3, 5, 8]), plain)) is not None


def test_kinds_of_lines_that_span_squares_most_seldom_are_taken_together() -> None:
    squares, tries = np.array([[0, 1, 1], [1, 0, 2], [1, 2, 0]]), np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    fewer = _Kinds(np.array([0, 1, 2, 2, 1]), squares, tries).fewer()  # 1 of 1, 1 of 2, 2 of 3
    assert fewer.count == 2
    assert fewer.number.tolist() == [0, 1, 0, 0, 1]
    assert fewer.squares[0, 1] == 3
    assert fewer.tries[0, 1] == 4
    untried = _Kinds(np.array([0, 1, 2]), np.zeros((3, 3), int), np.array([[0, 0, 0], [0, 0, 5], [0, 5, 0]])).fewer()
    assert untried.number.tolist() == [0, 1, 1]
