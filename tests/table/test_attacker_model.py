"""What the attacker is taken to know, and the table as he is judged on it."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.errors import InputError
from gpuga.table import INFINITE, Levels, Lines, Table
from gpuga.table.attacker_model import Asked, as_judged, in_whole_units, knows_whole, levels_of_zero, with_level_zero


def line_of(*values: int, **more: object) -> Table:
    """Parts and their total in one line; the first part is sensitive."""
    n = len(values) + 1
    coef = np.append(np.ones(n - 1, np.int64), -1)
    lines = Lines(np.array([0, n]), np.arange(n, dtype=np.int32), coef, np.zeros(1, np.int64))
    level = np.append([2], np.zeros(n - 1, np.int64))
    given = {"status": (np.arange(n) == 0).astype(np.uint8), "levels": Levels(level, level, 0 * level)} | more
    return Table.build(np.array([*values, sum(values)]), lines, **given)  # type: ignore[arg-type]


def test_what_the_attacker_knows_of_whole_numbers() -> None:
    counts = line_of(10, 10, 10)
    assert knows_whole(counts, "auto")
    assert knows_whole(counts, "yes")
    assert not knows_whole(counts, "no")
    halves = line_of(15, 10, 10, scale=10)
    assert not knows_whole(halves, "auto")
    with pytest.raises(InputError, match="cell 0 is not a whole number"):
        knows_whole(halves, "yes")
    with pytest.raises(InputError, match="'maybe' is not one of auto, yes, no"):
        knows_whole(counts, "maybe")
    with pytest.raises(InputError, match="not one of exact, ignore"):
        with_level_zero(counts, "perhaps", False)


def test_whole_units_round_levels_to_what_an_attacker_must_be_kept_from() -> None:
    level = Levels(np.array([21, 0, 0]), np.array([20, 0, 0]), np.array([1, 0, 0]))
    table = line_of(100, 30, levels=level, scale=10, lb=np.array([-5, 1, -INFINITE]), ub=np.array([109, INFINITE, 200]))
    loose, strict = in_whole_units(table, False), in_whole_units(table, True)
    assert loose.value.tolist() == [10, 3, 13]
    assert loose.lb.tolist() == [0, 1, -INFINITE]
    assert loose.ub.tolist() == [10, INFINITE, 20]
    assert [int(x[0]) for x in vars(loose.levels).values()] == [3, 2, 1]
    assert [int(x[0]) for x in vars(strict.levels).values()] == [2, 2, 0]
    assert loose.scale == 1
    assert in_whole_units(loose, False) is loose


def test_cells_without_any_level_get_one_unit_of_width() -> None:
    none = Levels(*[np.zeros(3, np.int64)] * 3)
    table = line_of(10, 10, levels=none)
    assert levels_of_zero(table).tolist() == [0]
    assert with_level_zero(table, "exact", False).levels.sliding.tolist() == [1, 0, 0]
    assert with_level_zero(table, "ignore", False) is table
    assert with_level_zero(table, "exact", True) is table
    assert levels_of_zero(line_of(10, 10)).tolist() == []
    judged, model = as_judged(table, Asked(whole="yes"))
    assert model.whole
    assert judged.levels.sliding.tolist() == [1, 0, 0]
