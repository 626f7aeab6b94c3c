"""Words for reserved columns and totals: what is taken for which, and what is not."""

from __future__ import annotations

import pytest

from gpuga.table.words import (
    FIGURE_ALIAS,
    MARK_ALIAS,
    RESERVED,
    named_like_a_total,
    perhaps_a_total,
    plain,
    reserved_alike,
    slip_of_the_pen,
)


def test_spellings_are_compared_without_case_accents_and_signs() -> None:
    assert plain("Obs_Value") == plain("OBS VALUE") == "obsvalue"
    assert plain("Häufigkeit") == plain("haeufigkeit")
    assert plain("Confidentialité") == "confidentialite"
    assert plain("Łódź") == "lodz"


@pytest.mark.parametrize("word", RESERVED)
def test_a_reserved_column_is_known_by_its_plural_and_its_capitals(word: str) -> None:
    assert reserved_alike(word.upper()) == word
    assert reserved_alike(f" {word}s ") == word
    assert reserved_alike(f"x{word}") is None


@pytest.mark.parametrize(
    ("name", "meant"), [("vlaue", "value"), ("valu", "value"), ("statuss", "status"), ("region", None), ("ulb", None)]
)
def test_one_letter_more_or_less_or_two_exchanged_is_a_slip_of_the_pen(name: str, meant: str | None) -> None:
    assert slip_of_the_pen(name) == meant


def test_no_word_stands_for_two_columns() -> None:
    assert not set(FIGURE_ALIAS) & set(MARK_ALIAS)
    assert all(word == plain(word) for word in (*FIGURE_ALIAS, *MARK_ALIAS))
    assert not set(RESERVED) & {*FIGURE_ALIAS, *MARK_ALIAS}


def test_totals_are_known_by_their_first_or_last_word() -> None:
    assert all(map(named_like_a_total, ("TOTAL", "Insgesamt", "Total manufacturing", "Region - total", "Итого")))
    assert not named_like_a_total("a total sum")
    assert all(map(perhaps_a_total, ("All", "T", "Sum")))
    assert not perhaps_a_total("Total")
