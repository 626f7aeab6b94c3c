"""Numbers come in exactly, or not at all."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuga.errors import InputError
from gpuga.table import INFINITE
from gpuga.table.exact import all_shown, decimals, shown
from gpuga.table.levels import parse_rule
from gpuga.table.table import LARGEST

written = st.decimals(min_value=-(10**9), max_value=10**9, places=4, allow_nan=False, allow_infinity=False)


@given(st.lists(written, min_size=1))
def test_texts_become_exactly_what_they_say(numbers: list[Decimal]) -> None:
    column = decimals([str(n) for n in numbers], "value")
    assert [Fraction(int(m), 10**column.digits) for m in column.mantissa] == [Fraction(n) for n in numbers]
    assert column.digits <= 4


@given(st.lists(written, min_size=1))
def test_what_is_shown_reads_back(numbers: list[Decimal]) -> None:
    column = decimals(numbers, "value")
    texts = [shown(int(m), 10**column.digits) for m in column.mantissa]
    assert [Fraction(t) for t in texts] == [Fraction(n) for n in numbers]


@given(st.lists(st.integers(-(10**7), 10**7), min_size=1), st.integers(0, 5))
def test_floats_stand_for_their_shortest_decimals(mantissa: list[int], digits: int) -> None:
    column = decimals(np.array([float(Decimal(m).scaleb(-digits)) for m in mantissa]), "value")
    assert column.scaled(max(digits, column.digits)).tolist() == [
        m * 10 ** (max(digits, column.digits) - digits) for m in mantissa
    ]


def test_the_scale_is_the_smallest_that_shows_all() -> None:
    assert decimals(["1.500", "2", "0.25", "1e-1"], "value").digits == 2
    assert decimals(["10", "20.0", "3e2"], "value").digits == 0


@pytest.mark.parametrize("text", ["", " ", "."])
def test_blanks_are_missing_and_lone_points_are_not_numbers(text: str) -> None:
    if text.strip():
        with pytest.raises(InputError):
            decimals([text], "value")
    else:
        assert not decimals([text], "value").present.any()


@pytest.mark.parametrize(
    "text", ["nan", "inf", "1e400", "0x10", "1_000", "--1", "1.2.3", "1-2", "٣", "1e-400", "+", "1 2"]
)
def test_what_is_no_number_is_refused_with_its_row(text: str) -> None:
    with pytest.raises(InputError) as fault:
        decimals(["1", text, "2"], "value")
    assert fault.value.cell == 1


def test_words_and_numbers_from_ten_to_the_nineteenth_on_mean_no_bound() -> None:
    texts = ["inf", "-inf", "1e30", "-" + "9" * 25, "1" + "0" * 19, "5"]
    column = decimals(texts, "ub", infinite=True)
    assert column.bounds(2).tolist() == [INFINITE, -INFINITE, INFINITE, -INFINITE, INFINITE, 500]
    assert decimals(np.array([1e20, 3.0]), "ub", infinite=True).bounds(0).tolist() == [INFINITE, 3]
    assert decimals(np.array([2**64 - 1, 3], np.uint64), "ub", infinite=True).bounds(0).tolist() == [INFINITE, 3]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("digits", [0, 3, 15])
def test_the_largest_bound_that_fits_is_kept(digits: int, sign: int) -> None:
    whole = (2 * LARGEST - 1) // 10**digits
    assert decimals([str(sign * whole)], "ub", infinite=True).bounds(digits).tolist() == [sign * whole * 10**digits]
    for beyond in (whole + 1, 9 * 10**18, 2**63 - 1, 10**19 - 1):
        with pytest.raises(InputError, match="write inf") as fault:
            decimals(["1", str(sign * beyond)], "ub", infinite=True).bounds(digits)
        assert (fault.value.field, fault.value.cell) == ("ub", 1)


def test_the_lowest_integer_is_no_small_number() -> None:
    with pytest.raises(InputError, match="write inf"):
        decimals(np.array([-(2**63)]), "lb", infinite=True).bounds(0)
    with pytest.raises(InputError, match="too many digits"):
        decimals(np.array([-(2**63)]), "lower").scaled(0)


@pytest.mark.parametrize("number", ["184467440737095517", "-184467440737095517", str(2**62 // 100 + 1)])
def test_a_number_that_would_wrap_round_in_finer_units_is_refused(number: str) -> None:
    column = decimals(["7", number], "value")
    with pytest.raises(InputError, match="too many digits") as fault:
        column.scaled(2)
    assert fault.value.cell == 1
    assert decimals(["7", str(2**62 // 100)], "value").scaled(2).tolist() == [700, 2**62 // 100 * 100]


@pytest.mark.parametrize(
    ("rule", "value", "scale", "level"),
    [
        ("15%", 100, 1, 15),
        ("15%", 101, 1, 16),
        ("15%", -101, 1, 16),
        ("max(1,10%)", 3, 1, 1),
        ("max(1, 10%)", 45, 1, 5),
        ("max(1,10%)", 45, 10, 10),
        ("2.5", 45, 10, 25),
        ("2.5", 45, 1, 3),
        ("0%", 45, 1, 0),
        ("12.5%", 8, 1, 1),
    ],
)
def test_levels_are_rounded_up_to_a_unit(rule: str, value: int, scale: int, level: int) -> None:
    assert parse_rule(rule).levels(np.array([value]), scale).tolist() == [level]


@given(st.integers(0, 2**59), st.integers(1, 200))
def test_levels_of_large_values_are_exact(value: int, percent: int) -> None:
    level = int(parse_rule(f"{percent}%").levels(np.array([value]), 1)[0])
    assert 0 <= Fraction(level) - Fraction(value * percent, 100) < 1


@pytest.mark.parametrize(
    ("word", "bound"),
    [("inf", 1), ("+inf", 1), ("Infinity", 1), ("+INFINITY", 1), ("-inf", -1), ("-infinity", -1), ("-Inf", -1)],
)
def test_words_for_no_bound(word: str, bound: int) -> None:
    assert decimals([word, "3"], "ub", infinite=True).bounds(1).tolist() == [bound * INFINITE, 30]
    with pytest.raises(InputError):
        decimals([word], "value")


def test_values_of_any_kind_are_read_as_they_would_stand_in_a_file() -> None:
    mixed = [
        True,
        np.bool_(False),
        np.float32(0.5),
        np.float64(2.25),
        1.5,
        7,
        " 3.5 ",
        None,
        float("nan"),
        Decimal("0.125"),
    ]
    found = decimals(mixed, "value")
    assert found.present.tolist() == [True] * 7 + [False, False, True]
    assert found.digits == 3
    assert found.mantissa.tolist() == [1000, 0, 500, 2250, 1500, 7000, 3500, 0, 0, 125]


def test_endless_floats_are_bounds_and_no_values() -> None:
    for sign in (1, -1):
        with pytest.raises(InputError, match="is not a finite number") as fault:
            decimals(np.array([1.0, 2.5, sign * np.inf, np.inf]), "value")
        assert (fault.value.field, fault.value.cell) == ("value", 2)
        bounds = decimals(np.array([1.5, sign * np.inf, np.nan]), "ub", infinite=True)
        assert bounds.scaled(1).tolist() == [15, sign * INFINITE, 0]
        assert bounds.present.tolist() == [True, True, False]


@pytest.mark.parametrize("text", ["1e30", "-1e30", "9e99999", "1e999999999"])
def test_numbers_beyond_all_digits_are_refused_before_they_are_written_out(text: str) -> None:
    with pytest.raises(InputError, match="has too many digits") as fault:
        decimals(["1", text], "value")
    assert (fault.value.field, fault.value.cell) == ("value", 1)


def test_numbers_are_written_in_the_users_units_and_open_bounds_as_a_word() -> None:
    assert all_shown(np.array([5, -7, 0]), 1) == ["5", "-7", "0"]
    assert all_shown(np.array([5, INFINITE, -INFINITE]), 1) == ["5", "inf", "-inf"]
    assert all_shown(np.array([50, -75, INFINITE]), 10, "1e20") == ["5", "-7.5", "1e20"]
    assert all_shown(np.array([INFINITE - 1]), 1) == [str(INFINITE - 1)]
