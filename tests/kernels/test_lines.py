"""Lines: what their cells can do together, what one of them proves, and how they tighten each other."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.kernels.layout import INFINITE
from gpuga.kernels.logic.lines import line_room, others_room, tightened

NO_LIMIT = INFINITE


def test_the_room_of_a_line_counts_what_has_no_limit_apart() -> None:
    start, cell, coef = np.array([0, 4]), np.arange(4, dtype=np.int32), np.array([1, -1, 2, -3])
    fall, rise = np.array([5, 6, 7, 8]), np.array([1, 2, 3, 4])
    # the sum falls where positive cells fall and negative ones rise
    assert line_room(start, cell, coef, fall, rise, 0) == (5 + 2 + 14 + 12, 0, 1 + 6 + 6 + 24, 0)
    fall[[0, 3]] = NO_LIMIT
    assert line_room(start, cell, coef, fall, rise, 0) == (2 + 14 + 12, 1, 1 + 6 + 6, 1)
    rise[1] = NO_LIMIT
    assert line_room(start, cell, coef, fall, rise, 0) == (14 + 12, 2, 1 + 6 + 6, 1)
    rise[1] = NO_LIMIT - 1
    assert line_room(start, cell, coef, fall, rise, 0)[1] == 1


@pytest.mark.parametrize(
    ("total", "endless", "own", "factor", "room"),
    [
        (10, 0, 4, 1, 6),
        (10, 0, 2, 2, 3),
        (11, 0, 2, 2, 4),  # seven halves, rounded outwards
        (10, 0, 3, 3, 1),
        (10, 1, 4, 1, NO_LIMIT),
        (10, 1, NO_LIMIT, 1, 10),
        (10, 1, NO_LIMIT, 4, 3),
        (10, 2, NO_LIMIT, 1, NO_LIMIT),
        (8, 0, 8, 1, 0),
    ],
)
def test_what_the_others_can_do_is_in_units_of_the_cell(
    total: int, endless: int, own: int, factor: int, room: int
) -> None:
    assert others_room(total, endless, own, factor) == room


def test_a_cell_is_tightened_by_each_of_its_lines() -> None:
    """Cell 0 is in line 0 with 1 and in line 1 with -2; rooms are (falls, endless, rises, endless)."""
    start, line, coef = np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, -2])

    def new(first: list[int], second: list[int], fall: int = 9, rise: int = 8) -> tuple[int, int]:
        found = tightened(start, line, coef, np.array([first, second]), fall, rise, 0)
        return int(found[0]), int(found[1])

    open_ = [0, 2, 0, 2]
    assert new(open_, open_) == (9, 8)
    # line 0: the others fall by 14 - 9 = 5 and rise by 11 - 8 = 3
    assert new([14, 0, 11, 0], open_) == (3, 5)
    # line 1: with -2 the cell's rise is the line's fall: others fall by 20 - 16 = 4, rise by 22 - 18 = 4
    assert new(open_, [20, 0, 22, 0]) == (2, 2)
    assert new(open_, [26, 0, 23, 0]) == (5, 3)
    assert new([14, 0, 11, 0], [26, 0, 23, 0]) == (3, 3)
    assert new([5, 1, 11, 0], open_, fall=NO_LIMIT) == (3, 5)
    assert new([30, 0, 30, 0], [60, 0, 60, 0]) == (9, 8)
