"""Numbers are read as they were meant, or the user is asked: never as something else."""

from __future__ import annotations

import warnings
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuga.errors import InputError
from gpuga.files.notation import APOSTROPHE, NONE, SPACE, Notation, Written, parse_sign, plain_columns


def read(*texts: str, decimal: str | None = None, thousands: str | None = None, commas: bool = False) -> list[object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(plain_columns({"value": texts}, decimal, thousands, commas)["value"])


@pytest.mark.parametrize(
    ("text", "plain"),
    [("12,5", "12.5"), ("1.234,5", "1234.5"), ("1,234.5", "1234.5"), ("1 234,5", "1234.5"), ("1'234.5", "1234.5"),
     ("1\u202f234", "1234"), ("1\u00a0234\u00a0567", "1234567"), ("1\u2019234", "1234"), ("1.234.567", "1234567"),
     ("1,234,567", "1234567"), ("\u22125,5", "-5.5"), ("0,123", "0.123"), (",5", ".5"), ("-1.234,50", "-1234.50"),
     ("1,5e3", "1.5e3"), ("1234.567", "1234.567"), (" 12,5 ", "12.5"), ("1\u2009234,5", "1234.5")],
)  # fmt: skip
def test_a_number_that_can_be_read_in_one_way_only_is_read_so(text: str, plain: str) -> None:
    assert read(text) == [plain]


@pytest.mark.parametrize("text", ["1.234", "1,234", "-12.345", "999,999"])
def test_a_number_that_can_be_read_in_two_ways_is_not_guessed_at(text: str) -> None:
    with pytest.raises(InputError, match=r"Say --decimal point or --decimal comma") as fault:
        read(text)
    assert not any(c.isdigit() for c in str(fault.value))
    assert read(text, decimal=",") == [text.replace(".", "").replace(",", ".")]
    assert read(text, decimal=".") == [text.replace(",", "")]


def test_one_clear_number_makes_all_clear() -> None:
    assert read("1.234", "12,5") == ["1234", "12.5"]
    assert read("1.234", "12.5") == ["1.234", "12.5"]
    assert read("1,234", "1 234,5") == ["1.234", "1234.5"]


def test_a_point_in_a_file_of_commas_is_a_decimal_point() -> None:
    assert read("1.234", "5", commas=True) == ["1.234", "5"]
    assert read("1.234,5", "1.234", commas=True) == ["1234.5", "1234"]
    with pytest.raises(InputError, match="--decimal"):
        read("1,234", commas=True)


def test_numbers_that_are_written_in_two_ways_are_refused_with_their_row() -> None:
    with pytest.raises(InputError, match="another way") as fault:
        read("7", "1.234,5", "1,234.5")
    assert (fault.value.field, fault.value.cell) == ("value", 2)
    assert "234" not in str(fault.value)


@pytest.mark.parametrize("text", ["12.5", "1,2,3", "12 34", "1'23", "01.234,5"])
def test_what_does_not_fit_the_signs_that_are_given_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a number with decimal comma") as fault:
        read("1", text, decimal=",")
    assert fault.value.cell == 1
    assert text not in str(fault.value)


def test_words_blanks_and_numbers_of_workbooks_stay_as_they_are() -> None:
    columns = plain_columns({"ub": ["inf", "", None, 2.5, "1,5"]}, ",", None, False)
    assert columns["ub"] == ["inf", "", None, 2.5, "1.5"]


def test_what_was_found_is_said_in_one_line_and_what_was_given_is_not() -> None:
    with pytest.warns(UserWarning, match="decimal comma, thousands separated by points") as said:
        plain_columns({"value": ["1.234,5"]}, None, None, False)
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain_columns({"value": ["1.234,5"]}, ",", ".", False)
        plain_columns({"value": ["1234.5"]}, None, None, True)


@pytest.mark.parametrize(
    ("text", "sign"),
    [(",", ","), ("Comma", ","), ("\u202f", SPACE), ("space", SPACE), ("none", NONE), ("’", APOSTROPHE)],
)
def test_signs_are_given_as_they_are_or_in_words(text: str, sign: str) -> None:
    assert parse_sign(text, "--thousands") == sign


@pytest.mark.parametrize(("text", "option"), [("", "--thousands"), ("x", "--thousands"), (" ", "--decimal")])
def test_what_is_no_sign_is_refused(text: str, option: str) -> None:
    with pytest.raises(InputError, match=option):
        parse_sign(text, option)


def test_one_sign_cannot_mean_both() -> None:
    with pytest.raises(InputError, match="--thousands"):
        Written(decimal=",", thousands=",").numbers({"value": ["1"]}, Path("t.csv"))


NOTATIONS = [(d, t) for d in ".," for t in ("", " ", "\u00a0", "\u202f", "'", "\u2019", ".", ",") if t != d]
NUMBERS = st.tuples(st.integers(-(10**12), 10**12), st.integers(0, 4)).map(lambda x: Decimal(x[0]).scaleb(-x[1]))


def written(number: Decimal, decimal: str, thousands: str) -> str:
    return f"{number:,f}".replace(",", "T").replace(".", decimal).replace("T", thousands)


@given(notation=st.sampled_from(NOTATIONS), numbers=st.lists(NUMBERS, min_size=1, max_size=8), commas=st.booleans())
def test_numbers_written_in_any_notation_are_read_back_or_asked_about(
    notation: tuple[str, str], numbers: list[Decimal], commas: bool
) -> None:
    texts = [written(number, *notation) for number in numbers]
    kind = {"\u00a0": " ", "\u202f": " ", "\u2019": "'"}.get(notation[1], notation[1])
    assert [Decimal(str(t)) for t in read(*texts, decimal=notation[0], thousands=kind, commas=commas)] == numbers
    point = commas and not any("," in text for text in texts)  # a point in a file of commas is a decimal point
    with suppress(InputError):
        assert [Decimal(str(text)) for text in read(*texts, commas=commas)] == numbers or point


@given(text=st.text("0123456789.,' -+e\u202f", max_size=12))
def test_no_reading_makes_up_or_loses_digits(text: str) -> None:
    for decimal, thousands in (d_t for d_t in NOTATIONS if d_t[1] in ("", " ", "'", ".", ",")):
        plain = Notation(decimal, thousands).plain(text)
        if plain is not None:
            assert [c for c in plain if c.isdigit()] == [c for c in text if c.isdigit()]
            Decimal(plain)
