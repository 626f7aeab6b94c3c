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


def test_finer_units_scale_every_figure_and_keep_open_bounds_open() -> None:
    level = np.array([2, 0, 0])
    table = two_parts(
        5, 7, status=np.array([1, 0, 0]), levels=Levels(level, 2 * level, 3 * level), weight=np.array([3, 4, 5]),
        lb=np.array([1, -INFINITE, -2]), ub=np.array([9, 8, INFINITE]),
    )  # fmt: skip
    fine = table.in_units(100, 10)
    assert fine.value.tolist() == [500, 700, 1200]
    assert fine.weight.tolist() == [30, 40, 50]
    assert fine.lb.tolist() == [100, -INFINITE, -200]
    assert fine.ub.tolist() == [900, 800, INFINITE]
    assert [x.tolist() for x in vars(fine.levels).values()] == [[200, 0, 0], [400, 0, 0], [600, 0, 0]]
    assert (fine.scale, fine.weight_scale) == (100, 10)
    finer = fine.in_units(1000, 10)
    assert finer.value.tolist() == [5000, 7000, 12000]
    assert finer.weight.tolist() == [30, 40, 50]


@pytest.mark.parametrize(
    "figures",
    [
        {"lb": np.array([-(2**50), 0, 0])},
        {"ub": np.array([2**50, INFINITE, INFINITE])},
        {"weight": np.array([2**50, 1, 1])},
        {"levels": Levels(np.array([0, 2**50, 0]), np.zeros(3, np.int64), np.zeros(3, np.int64))},
        {"levels": Levels(np.zeros(3, np.int64), np.zeros(3, np.int64), np.array([0, 2**50, 0]))},
    ],
)
def test_units_in_which_a_figure_would_not_fit_are_refused(figures: dict[str, object]) -> None:
    table = two_parts(5, 7, **figures)
    assert table.in_units(2**9, 2**9).scale == 2**9
    with pytest.raises(InputError, match="smallest decimal unit"):
        table.in_units(2**10, 2**10)


def test_what_a_cost_is_in_the_users_units() -> None:
    table = two_parts(5, 7, weight=np.array([25, 10, 7]), weight_scale=10)
    assert table.cost(np.array([True, True, False])) == 35
    assert table.shown_cost(35) == 3.5
    assert isinstance(table.shown_cost(30), int)
    assert table.shown_cost(30) == 3


@pytest.mark.parametrize(
    ("figures", "says", "field"),
    [
        ({"lb": np.array([6, 0, 0])}, "cell 0 lies outside its bounds", "lb"),
        ({"ub": np.array([9, 6, 99])}, "cell 1 lies outside its bounds", "lb"),
        ({"weight": np.array([1, 2, -1])}, "cell 2 has a negative weight", "weight"),
        ({"weight": np.array([2**59, 2**59, 0])}, "weights are too large", "weight"),
        ({"levels": Levels(np.array([0, -1, 0]), np.zeros(3), np.zeros(3))}, "cell 1 has a negative", "lower"),
        ({"levels": Levels(np.zeros(3), np.zeros(3), np.array([0, 0, -1]))}, "cell 2 has a negative", "sliding"),
        ({"status": np.zeros(2)}, "different lengths", None),
        ({"levels": Levels(np.zeros(3), np.array([2**59, 2**59, 0]), np.zeros(3))}, "values are too large", None),
        ({"ub": np.array([2**60, 2**61, 2**61])}, "is too large a bound", "ub"),
    ],
)  # fmt: skip
def test_bad_figures_are_refused_with_their_cell(figures: dict[str, object], says: str, field: str | None) -> None:
    with pytest.raises(InputError, match=says) as fault:
        two_parts(5, 7, **figures)
    assert fault.value.field == field


def test_an_equation_that_does_not_add_up_is_named_by_its_total() -> None:
    lines = Lines(
        np.array([0, 3, 6]),
        np.array([0, 1, 2, 4, 3, 2], np.int32),
        np.array([1, 1, -1, -1, 1, 1]),
        np.zeros(2, np.int64),
    )
    assert len(Table.build(np.array([1, 2, 3, 4, 7]), lines)) == 5
    with pytest.raises(InputError, match="cell 4 is not the sum of its 2 parts: equation 1 does not add up") as fault:
        Table.build(np.array([1, 2, 3, 4, 8]), lines, scale=10)
    assert fault.value.cell == 4


@pytest.mark.parametrize(
    ("value", "scale", "status", "more", "counts"),
    [
        ((5, 7), 1, (1, 0, 0), {}, True),
        ((99, 7), 1, (1, 0, 0), {}, True),
        ((100, 7), 1, (1, 0, 0), {}, False),
        ((100, 7), 1, (0, 1, 0), {}, True),
        ((50, 70), 10, (1, 0, 0), {}, True),
        ((55, 75), 10, (1, 0, 0), {}, False),
        ((50, 70), 10, (1, 0, 0), {"lb": np.array([0, 0, 5])}, False),
        ((50, 70), 10, (1, 0, 0), {"ub": np.array([55, INFINITE, INFINITE])}, False),
        ((50, 70), 10, (1, 0, 0), {"levels": Levels(*[np.array([5, 0, 0])] * 3)}, False),
        ((50, 70), 10, (1, 0, 0), {"levels": Levels(*[np.array([5, 0, 0])] * 3), "whole_levels": True}, True),
        ((50, 70), 10, (1, 0, 0), {"whole_levels": False}, False),
    ],
)
def test_which_tables_look_like_counts(
    value: tuple[int, int], scale: int, status: tuple[int, ...], more: dict[str, object], counts: bool
) -> None:
    assert two_parts(*value, scale=scale, status=np.array(status), **more).counts is counts


@pytest.mark.parametrize(("value", "ub", "fits"), [(5, 5 + 2**60 - 1, True), (5, 5 + 2**60, False), (0, 2**61, False)])
def test_a_bound_whose_distance_from_the_value_does_not_fit_is_refused(value: int, ub: int, fits: bool) -> None:
    lines = Lines(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))
    bounds = {"lb": np.zeros(1, np.int64), "ub": np.array([ub])}
    if fits:
        assert Table.build(np.array([value]), lines, **bounds).up.tolist() == [ub - value]
    else:
        with pytest.raises(InputError):
            Table.build(np.array([value]), lines, **bounds)


def test_patterns_of_another_length_or_against_the_statuses_are_refused() -> None:
    table = two_parts(10, 20, status=np.array([1, 0, 2], np.uint8))
    good = np.array([True, False, False])
    table.check_pattern(good)
    for pattern, says in (
        (good[:-1], "the pattern has 2 cells, the table 3"),
        (~good & good, "publishes the sensitive cell 0"),
        (good | ~good, "suppresses cell 2, which must be published"),
    ):
        with pytest.raises(InputError, match=says):
            table.check_pattern(pattern)
