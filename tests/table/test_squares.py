"""Squares between lines: every function against the same question asked of plain sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gpuga.table.generate import smith3d
from gpuga.table.squares import (
    TRIES,
    Incidence,
    corner,
    corners,
    join_parallels,
    lies_on,
    root_of,
    shared,
    span_squares,
)
from tests.heuristics.test_general_heuristics import unlabelled


class Web:
    """Lines as ascending lists of cells, and the same as the arrays that the functions take."""

    def __init__(self, lines: list[list[int]], cells: int) -> None:
        self.lines, self.cells = lines, cells
        self.through = [[at for at, line in enumerate(lines) if c in line] for c in range(cells)]
        self.start = np.cumsum([0, *map(len, lines)]).astype(np.int64)
        self.cell = np.array([c for line in lines for c in line], np.int32)
        self.cell_start = np.cumsum([0, *map(len, self.through)]).astype(np.int64)
        self.cell_line = np.array([at for through in self.through for at in through], np.int32)

    @property
    def arrays(self) -> Incidence:
        return Incidence(self.start, self.cell, self.cell_start, self.cell_line)

    def meeting(self) -> Iterator[tuple[int, int, int]]:
        """Every cell with every two of its lines."""
        for x, through in enumerate(self.through):
            yield from ((x, one, two) for i, one in enumerate(through) for two in through[i + 1 :])

    def corner(self, one: int, two: int, x: int, y: int, z: int) -> tuple[int, int] | None:
        """The lines opposite to two lines, as the words of the module say it."""
        for beside_two in self.through[y]:
            for beside_one in self.through[z]:
                near, far = set(self.lines[beside_two]), set(self.lines[beside_one])
                if {x, z} & near or {x, y} & far or len(near & far) != 1:
                    continue
                if not near & far & (set(self.lines[one]) | set(self.lines[two])):
                    return beside_one, beside_two
        return None

    def neighbours(self, line: int, x: int) -> list[int]:
        """The cells of a line that follow on another, as many as are tried."""
        cells = self.lines[line]
        at = cells.index(x)
        return (cells[at + 1 :] + cells[:at])[:TRIES]

    def corners(self, one: int, two: int, x: int) -> list[tuple[int, int] | None]:
        return [self.corner(one, two, x, y, z) for y in self.neighbours(one, x) for z in self.neighbours(two, x)]


def random_web(seed: int) -> Web:
    rng = np.random.default_rng(seed)
    cells = int(rng.integers(8, 14))
    lines = [sorted(rng.choice(cells, int(rng.integers(2, 5)), replace=False).tolist()) for _ in range(9)]
    return Web(lines, cells)


def product_web() -> Web:
    table = unlabelled(smith3d((4, 3, 3), 0.1, 0.1, 3), 2)
    lines = table.lines
    cells = [sorted(lines.cell[a:b].tolist()) for a, b in zip(lines.start, lines.start[1:], strict=False)]
    return Web(cells, len(table))


def long_web() -> Web:
    """Two ways of seven cells each through a table of seven by eight: more neighbours than are tried."""
    place = np.arange(56).reshape(7, 8)
    return Web([*place.tolist(), *place.T.tolist()], 56)


WEBS = [*(random_web(seed) for seed in range(6)), product_web(), long_web()]


@pytest.mark.parametrize("web", WEBS)
def test_cells_that_two_lines_share_are_counted_and_the_first_two_named(web: Web) -> None:
    for one in range(len(web.lines)):
        for two in range(len(web.lines)):
            both = sorted(set(web.lines[one]) & set(web.lines[two]))
            out = np.full(2, -7, np.int32)
            assert shared(web.arrays, one, two, out) == len(both)
            assert out.tolist() == [*both[:2], -7, -7][:2]


@pytest.mark.parametrize("web", WEBS[:7])
def test_a_cell_lies_on_the_lines_that_hold_it_and_on_no_other(web: Web) -> None:
    for line, cells in enumerate(web.lines):
        for x in range(-1, web.cells + 1):
            assert lies_on(web.arrays, line, x) == (x in cells)


def test_a_square_has_a_fourth_corner_that_lies_on_neither_line() -> None:
    square = Web([[0, 1], [0, 2], [1, 3], [2, 3]], 4)
    sides = np.zeros(2, np.int64)
    assert corner(square.arrays, 0, 1, 0, 1, 2, sides)
    assert sides.tolist() == [3, 2]
    closed = Web([[0, 1, 3], [0, 2], [1, 3], [2, 3]], 4)
    assert not corner(closed.arrays, 0, 1, 0, 1, 2, sides)
    assert not corner(Web([[0, 1], [0, 2, 3], [1, 3], [2, 3]], 4).arrays, 0, 1, 0, 1, 2, sides)
    twice = Web([[0, 1], [0, 2], [1, 3, 4], [2, 3, 4]], 5)
    assert not corner(twice.arrays, 0, 1, 0, 1, 2, sides)


@pytest.mark.parametrize("web", WEBS[:7])
def test_fourth_corners_are_those_of_the_definition(web: Web) -> None:
    seen = set()
    for x, one, two in web.meeting():
        for y in web.neighbours(one, x):
            for z in web.neighbours(two, x):
                sides = np.full(2, -1, np.int64)
                expected = web.corner(one, two, x, y, z)
                assert corner(web.arrays, one, two, x, y, z, sides) == (expected is not None)
                assert tuple(sides.tolist()) == (expected or (-1, -1))
                seen.add(expected is not None)
    assert True in seen


@pytest.mark.parametrize("web", WEBS)
def test_squares_at_a_cell_are_counted_over_a_few_neighbours(web: Web) -> None:
    for x, one, two in list(web.meeting())[:60]:
        expected = web.corners(one, two, x)
        sides = np.zeros(2, np.int64)
        found = [at for at, square in enumerate(expected) if square]
        assert corners(web.arrays, one, two, x, False, sides) == (len(found), len(expected))
        first = (1, found[0] + 1) if found else (0, len(expected))
        sides = np.full(2, -1, np.int64)
        assert corners(web.arrays, one, two, x, True, sides) == first
        assert tuple(sides.tolist()) == ((expected[found[0]] or ()) if found else (-1, -1))


@pytest.mark.parametrize("web", WEBS[:7])
def test_lines_side_by_side_and_opposite_sides_are_of_one_kind(web: Web) -> None:
    kind = list(range(len(web.lines)))

    def join(a: int, b: int) -> None:
        old, new = kind[a], kind[b]
        kind[:] = [new if k == old else k for k in kind]

    for x, one, two in web.meeting():
        if len(set(web.lines[one]) & set(web.lines[two])) > 1:
            join(one, two)
        elif square := next(filter(None, web.corners(one, two, x)), None):
            join(one, square[0])
            join(two, square[1])
    group = np.arange(len(web.lines))
    join_parallels(web.arrays, group)
    found = [root_of(group, at) for at in range(len(web.lines))]
    assert [[a == b for a in found] for b in found] == [[a == b for a in kind] for b in kind]


def test_the_three_directions_of_a_table_are_three_kinds() -> None:
    web = product_web()
    group = np.arange(len(web.lines))
    join_parallels(web.arrays, group)
    assert len({root_of(group, at) for at in range(len(web.lines))}) == 3


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("web", [WEBS[0], WEBS[1], WEBS[2], WEBS[6]])
def test_squares_that_two_kinds_span_are_counted_both_ways(web: Web, step: int) -> None:
    number = np.arange(len(web.lines)) % 3
    squares, tries = np.zeros((3, 3), int), np.zeros((3, 3), int)
    for x, one, two in web.meeting():
        a, b = number[one], number[two]
        if a == b or x % step:
            continue
        expected = web.corners(one, two, x)
        for i, j in ((a, b), (b, a)):
            squares[i, j] += len(list(filter(None, expected)))
            tries[i, j] += len(expected)
    found = span_squares(web.arrays, number, 3, step)
    assert [part.tolist() for part in found] == [squares.tolist(), tries.tolist()]
    assert tries.any()


def test_the_way_to_a_representative_is_shortened() -> None:
    group = np.array([0, 0, 1, 2, 3])
    assert root_of(group, 4) == 0
    assert group.tolist() == [0, 0, 0, 2, 2]
    assert root_of(np.array([3, 1, 3, 3]), 2) == 3
