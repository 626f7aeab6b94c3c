"""Parse command-line options: thresholds, keys and per-field options as they are written there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from gpuga.errors import InputError, printable
from gpuga.microdata.contributions import Layout
from gpuga.microdata.primary_rules import Zeros, parse_rule
from gpuga.microdata.protect import Wish

T = TypeVar("T")


def parse_names(text: str, option: str) -> tuple[str, ...]:
    """`A,B` as names."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise InputError(f"{printable(text)!r} has an empty name", field=option)
    return names


def parse_threshold(text: str) -> int | dict[int, int]:
    """`3` for all keys, or `1:10,2:5,3:3` by the number of fields."""
    if ":" not in text:
        return _whole(text, "--threshold")
    pairs = [part.partition(":") for part in text.split(",")]
    return {_whole(size, "--threshold"): _whole(limit, "--threshold") for size, _, limit in pairs}


def parse_key(text: str) -> tuple[tuple[str, ...], int]:
    """`A,B:5`: the fields of a key and its threshold."""
    names, colon, limit = text.rpartition(":")
    if not colon:
        raise InputError(f"{printable(text)!r} is not a key such as A,B:5", field="--key")
    return parse_names(names, "--key"), _whole(limit, "--key")


def by_field(pairs: Sequence[str], option: str, convert: Callable[[str, str], T]) -> dict[str, T]:
    """`FIELD=WORDS` pairs, the words converted."""
    found: dict[str, T] = {}
    for pair in pairs:
        name, sign, words = pair.partition("=")
        if not (name and sign and words):
            raise InputError(f"{printable(pair)!r} is not FIELD=...", field=option)
        found[name] = convert(words, option)
    return found


def parse_whole(text: str, option: str) -> int:
    """A whole number, 0 or more."""
    number = _whole(text, option)
    if number < 0:
        raise InputError(f"{printable(text)!r} is below 0", field=option)
    return number


def parse_cost(text: str, option: str) -> float:
    """A number, 0 or more."""
    return parse_costs(text, option)[0]


def parse_costs(text: str, option: str) -> list[float]:
    """Numbers, 0 or more, separated by commas."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{printable(text)!r} is not a list of numbers", field=option) from None
    if not all(0 <= number < 1e12 for number in numbers):
        raise InputError(f"{printable(text)!r}: costs are 0 or more", field=option)
    return numbers


def as_written(text: str, option: str) -> str:
    """The words themselves."""
    return text


def _whole(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{printable(text)!r} is not a whole number", field=option) from None


def protect_wish(
    *,
    fields: str,
    threshold: str,
    keys: Sequence[str],
    recode: Sequence[str],
    suppress_cost: Sequence[str],
    recode_cost: Sequence[str],
    cap: Sequence[str],
    greedy: bool,
    delimiter: str,
    **plain: Any,
) -> Wish:
    """What `gpuga microdata protect` was asked for."""
    return Wish(
        fields=parse_names(fields, "--fields"),
        threshold=parse_threshold(threshold),
        keys=tuple(parse_key(key) for key in keys),
        recode=by_field(recode, "--recode", as_written),
        suppress_cost=by_field(suppress_cost, "--suppress-cost", parse_cost),
        recode_cost=by_field(recode_cost, "--recode-cost", parse_costs),
        caps=by_field(cap, "--cap", parse_whole),
        exact=not greedy,
        delimiter=parse_delimiter(delimiter),
        **plain,
    )


def tabulate_wish(
    *,
    rules: Sequence[str],
    by: str,
    hierarchy: Sequence[str],
    zeros: str,
    zero_level: str,
    no_singletons: bool,
    total: str,
    delimiter: str,
    threads: int | None,
    **columns: Any,
) -> dict[str, Any]:
    """The arguments of `tabulate` that `gpuga tabulate` was asked for."""
    level = _amount(zero_level, "--zero-level")
    return {
        "layout": Layout(by=parse_names(by, "--by"), **columns),
        "rules": [parse_rule(rule) for rule in rules],
        "hierarchies": by_field(hierarchy, "--hierarchy", as_written),
        "zeros": Zeros(zeros, level),
        "singletons": not no_singletons,
        "total": total,
        "delimiter": parse_delimiter(delimiter),
        "threads": threads,
    }


def parse_delimiter(text: str) -> str:
    """One sign that can separate columns; `\\t` is a tab."""
    sign = "\t" if text == "\\t" else text
    if len(sign) != 1 or sign.isalnum() or sign in "\"'\r\n":
        raise InputError(f"{printable(text)!r} is not one separating sign", field="--delimiter")
    return sign


def _amount(text: str, option: str) -> Fraction:
    try:
        amount = Fraction(text)
    except (ValueError, ZeroDivisionError):
        amount = Fraction(0)
    if amount <= 0:
        raise InputError(f"{printable(text)!r} is not an amount above 0", field=option)
    return amount
