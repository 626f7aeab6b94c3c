"""Crossings are recovered from equations where there are any, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuga.safety.boxes import BoxSearch, box_grid
from gpuga.safety.requirements import Requirements
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table.crossing import (
    Axis,
    CrossedAxes,
    _Absence,
    _acyclic,
    _ascending,
    _Draft,
    _fits,
    _held_together,
    _joined,
    _Kinds,
    _roots,
    _totals,
    crossing_of,
)
from gpuga.table.generate import smith2d, smith3d
from gpuga.table.grid import csr_lines
from gpuga.table.groups import with_groups
from gpuga.table.table import Levels, Lines, Table
from tests.heuristics.test_general_heuristics import unlabelled

OVERLAPPING = (Axis(8, ((4, (0, 1, 2, 3)), (5, (0, 1)), (6, (1, 2)), (7, (2, 3)))), Axis(4, ((3, (0, 1, 2)),)))
"""An axis whose codes belong to several totals, times a plain one."""


def crossed_lines(crossing: CrossedAxes) -> Lines:
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
    crossing = CrossedAxes(axes, there)
    return Table.build(value[tuple(there.T)], crossed_lines(crossing))


@pytest.mark.parametrize(("shape", "hierarchical"), [((6, 5, 4), 0), ((9, 5, 4), 1), ((4, 14, 5), 2)])
def test_the_axes_of_a_table_without_labels_are_found(shape: tuple[int, ...], hierarchical: int) -> None:
    table = smith3d(shape, 0.1, 0.2, 3, hierarchical)
    labelled, found = crossing_of(table), crossing_of(unlabelled(table, 5))
    assert labelled is not None
    assert found is not None

    def families(crossing: CrossedAxes) -> list[list[int]]:
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
    requirements = Requirements(cells, np.where(cells % 2, 1, -1).astype(np.int8), np.ones(len(cells), np.int64))
    covered, boxes = BoxSearch(grid, np.zeros(len(table), bool)).protect(requirements)
    assert covered.sum() > len(table) // 2
    assert hold(AllowedChanges.of(table, np.ones(len(table), bool)), boxes).all()


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
    table = Table.build(value[tuple(there.T)], crossed_lines(CrossedAxes(axes, there)))
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
    crossing = CrossedAxes(
        (Axis(2, ((1, (0,)),)), Axis(3, ((2, (0, 1)),))), np.array([[0, 1], [1, 2], [0, 0]], np.int32)
    )
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


def test_codes_are_absent_only_where_none_of_them_has_a_cell() -> None:
    there = np.array([[0, 0], [0, 1], [1, 0], [1, 2], [2, 1], [2, 2]], np.int32)
    absent = _Absence(there, 1, [3, 3])
    assert absent.everywhere([], [0, 2, 4])
    assert absent.everywhere([2], [0])
    assert absent.everywhere([2], [0, 1])
    assert not absent.everywhere([2], [0, 2])
    assert not absent.everywhere([1, 2], [0])
    assert absent.everywhere({1}, [2, 3])
    assert not absent.everywhere({1}, [2, 4])
    assert _Absence(there, 0, [3, 3]).everywhere([1], [1])
    assert not _Absence(there, 0, [3, 3]).everywhere([1], [0])


def test_ways_to_break_a_total_down_are_joined_where_what_is_lacking_is_absent() -> None:
    # axis 1: on row 0 the total 0 has parts 1 and 2, on row 1 parts 2 and 3, on row 2 parts 1, 2, 3
    rows = {0: (0, 1, 2), 1: (0, 2, 3), 2: (0, 1, 2, 3)}
    there = np.array([(row, code) for row, codes in rows.items() for code in codes], np.int32)
    first = {row: int(np.flatnonzero(there[:, 0] == row)[0]) for row in rows}
    absent = _Absence(there, 1, [3, 4])

    def joined(*drafts: tuple[tuple[int, ...], int]) -> list[tuple[list[int], list[int]]]:
        made = [_Draft(frozenset(parts), [first[row]]) for parts, row in drafts]
        found = [(sorted(d.parts), d.somewhere) for d in _joined(made, absent)]
        assert [d.somewhere for d in made] == [[first[row]] for _, row in drafts]
        return found

    assert joined(((1, 2), 0), ((2, 3), 1)) == [([1, 2, 3], [first[0], first[1]])]
    assert joined(((1, 2), 0), ((1, 2, 3), 2)) == [([1, 2, 3], [first[2], first[0]])]
    # where part 3 is there beside 1 and 2, parts 1 and 2 alone are another way
    assert joined(((1, 2), 2), ((3,), 2)) == [([1, 2], [first[2]]), ([3], [first[2]])]
    # what has been joined must be absent on the lines of all that were
    assert joined(((1, 2), 0), ((2,), 0), ((2, 3), 1)) == [
        ([1, 2, 3], [first[0], first[1]]),
        ([2], [first[0]]),
    ]


@pytest.mark.parametrize(
    ("families", "acyclic"),
    [
        ([], True),
        ([(0, (1, 2))], True),
        ([(0, (1, 2)), (1, (3, 4)), (3, (5, 6))], True),
        ([(3, (5, 6)), (1, (3, 4)), (0, (1, 2))], True),
        ([(0, (1, 2)), (0, (3, 4)), (4, (1, 5))], True),
        ([(0, (0, 1))], False),
        ([(0, (1, 2)), (1, (0, 3))], False),
        ([(0, (1, 2)), (1, (3,)), (3, (4, 0))], False),
        ([(9, (8, 7)), (0, (1, 2)), (1, (0, 3))], False),
    ],
)
def test_no_code_may_be_a_part_of_itself(families: list[tuple[int, tuple[int, ...]]], acyclic: bool) -> None:
    assert _acyclic(families) is acyclic


def test_the_total_of_a_line_is_the_cell_of_the_other_sign() -> None:
    def totals(*lines: list[int], rhs: int = 0) -> list[int] | None:
        start = np.cumsum([0, *map(len, lines)])
        cells = np.arange(start[-1], dtype=np.int32)
        found = _totals(Lines(start, cells, np.concatenate(lines), np.full(len(lines), rhs)))
        return None if found is None else found.tolist()

    assert totals([1, 1, -1], [-1, -1, 1, -1], [1, -1]) == [2, 5, 8]
    assert totals([-1, 1]) == [0]
    assert totals([1, 1, -1], [1, 1]) is None
    assert totals([1, 1, -1, -1]) is None
    assert totals([-1, -1, -1]) is None
    assert totals([1, -1], [1]) is None
    assert totals([1, 2, -1]) is None
    assert totals([1, 1, -1], rhs=1) is None
    empty = Lines(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert _totals(empty) is None


def test_cells_are_held_together_by_chosen_lines_alone() -> None:
    lines = csr_lines(3, np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 2, 3, 1, 2]), np.ones(6, np.int64))

    def parts(*chosen: int) -> list[int]:
        return _held_together(lines, 5, np.isin(np.arange(3), chosen)).tolist()

    assert parts() == [0, 1, 2, 3, 4]
    assert parts(0) == [0, 0, 1, 2, 3]
    assert parts(0, 1) == [0, 0, 1, 1, 2]
    assert parts(0, 1, 2) == [0, 0, 0, 0, 1]


def test_groups_are_numbered_from_zero() -> None:
    assert _roots(np.array([0, 0, 4, 3, 4, 3])).tolist() == [0, 0, 2, 1, 2, 1]
    lines = csr_lines(2, np.array([0, 0, 1, 1, 1]), np.array([4, 1, 3, 0, 2]), np.ones(5, np.int64))
    assert _ascending(lines).tolist() == [1, 4, 0, 2, 3]


@pytest.mark.parametrize("seed", range(4))
def test_a_recovered_crossing_has_the_lines_of_the_table_and_no_others(seed: int) -> None:
    axes = (
        (*OVERLAPPING, Axis(4, ((0, (1, 2, 3)),)))
        if seed % 2
        else (OVERLAPPING[1], Axis(5, ((0, (1, 2)), (2, (3, 4)))))
    )
    table = unlabelled(made_of(axes, seed, 0.1 * seed), seed)
    found = crossing_of(table)
    assert found is not None
    again = crossed_lines(found)

    def written(lines: Lines) -> set[frozenset[int]]:
        return {frozenset(lines.cell[a:b].tolist()) for a, b in zip(lines.start, lines.start[1:], strict=False)}

    assert written(again) == written(table.lines)
    assert len(again) == len(table.lines)
    assert sorted(found.flat.tolist()) == sorted(set(found.flat.tolist()))


def test_crossings_of_too_many_axes_or_places_are_not_laid_out() -> None:
    def fits(*sizes: int) -> bool:
        axes = tuple(Axis(size, ()) for size in sizes)
        return _fits(CrossedAxes(axes, np.zeros((0, len(sizes)), np.int32)))

    assert fits(*[2] * 8)
    assert not fits(*[2] * 9)
    assert fits(20_000_000)
    assert not fits(20_000_001)
    assert fits(2, 10_000_000)
    assert not fits(3, 10_000_000)


def test_groups_loose_cells_and_single_cells_have_no_crossing_of_their_own() -> None:
    table = unlabelled(smith3d((4, 3, 3), 0.1, 0.0, 3), 2)
    assert crossing_of(table) is not None
    grouped = with_groups(table, [[0, 1]], Levels(*[np.ones(1, np.int64)] * 3))
    assert crossing_of(grouped) is None
    loose = Table.build(np.append(table.value, 7), table.lines)
    assert crossing_of(loose) is None


def test_a_tree_of_all_cells_is_a_crossing_of_one_axis_and_other_webs_are_none() -> None:
    def one_axis(*lines: list[int]) -> CrossedAxes | None:
        """Lines as lists of cells, the total first; all values 0."""
        start = np.cumsum([0, *map(len, lines)])
        coef = np.concatenate([[-1] + [1] * (len(line) - 1) for line in lines])
        cells = np.concatenate(lines).astype(np.int32)
        made = Lines(start, cells, coef, np.zeros(len(lines), np.int64))
        return crossing_of(Table.build(np.zeros(int(cells.max()) + 1, np.int64), made))

    tree = one_axis([0, 1, 2], [1, 3, 4], [2, 5, 6])
    assert tree is not None
    assert [axis.codes for axis in tree.axes] == [7]
    assert len(tree.axes[0].families) == 3
    assert one_axis([0, 1, 2], [0, 3, 4]) is None
    assert one_axis([0, 1], [1, 2], [2, 0]) is None
