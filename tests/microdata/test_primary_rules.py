"""A primary rule can be written as it is read."""

from __future__ import annotations

import pytest

from gpuga.errors import InputError
from gpuga.microdata.primary_rules import parse_rule


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("freq:3", "frequency:3"),
        ("frequency:3,20%", "frequency:3,20"),
        ("dominance:2, 85.5", "nk:2,85.5"),
        ("p%:10", "p:10"),
        ("pq:10,50", "pq:10,50"),
        ("p:1/3", "p:1/3"),
    ],
)
def test_a_rule_says_its_words_and_is_read_back_from_them(text: str, words: str) -> None:
    rule = parse_rule(text)
    assert rule.words == words
    assert parse_rule(rule.words) == rule


@pytest.mark.parametrize("text", ["dominance", "p", "nk:", "frequency: "])
def test_a_rule_without_numbers_is_shown_how_rules_are_written(text: str) -> None:
    with pytest.raises(InputError, match=r"lacks its numbers: choose frequency:m\[,range%\], nk:n,k, p:p or pq:p,q"):
        parse_rule(text)
