"""A table is checked when it is built, and nothing that is made from it alters it."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.table import INFINITE, Levels, Lines, Status, Table


def two_parts(one: int, other: int, **more: object) -> Table:
    """Two cells and their sum, unit weights."""
    lines = Lines(np.array([0, 3]), np.arange(3, dtype=np.int32), np.array([1, 1, -1]), np.zeros(1, np.int64))
    given = {"weight": np.ones(3, np.int64)} | more
    return Table.build(np.array([one, other, one + other]), lines, **given)  # type: ignore[arg-type]


def test_sums_beyond_exact_arithmetic_are_refused() -> None:
    with pytest.raises(InputError, match="too large for exact arithmetic"):
        two_parts(2**60, 2**60)
    with pytest.raises(InputError, match="too large for exact arithmetic"):
        two_parts(2**58, 2**58)  # the absolute values of all cells sum to 2**60
    assert two_parts(2**58, 2**57).value.tolist() == [2**58, 2**57, 2**58 + 2**57]


def test_other_primaries_leave_the_original_as_it_was() -> None:
    level = np.array([1, 0, 0])
    table = two_parts(5, 7, status=np.array([1, 0, 0]), levels=Levels(level, level, 0 * level))
    assert table.sensitive.tolist() == [0]
    other = table.with_primaries(np.array([False, True, False]), Levels(level[::-1], level[::-1], 0 * level))
    assert other.status.tolist() == [Status.SUPPRESSIBLE, Status.SENSITIVE, Status.SUPPRESSIBLE]
    assert table.status.tolist() == [Status.SENSITIVE, Status.SUPPRESSIBLE, Status.SUPPRESSIBLE]
    assert table.levels.upper.tolist() == [1, 0, 0]


def test_what_cannot_rise_or_fall_has_no_room() -> None:
    table = two_parts(
        5, 7, status=np.array([0, Status.FROZEN, 0]), lb=np.array([2, 0, -INFINITE]), ub=np.array([INFINITE, 9, 20])
    )
    assert table.up.tolist() == [INFINITE, 0, 8]
    assert table.down.tolist() == [3, 0, INFINITE]
