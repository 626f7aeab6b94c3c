"""Parse the options of `gpuga microdata` and `gpuga tabulate`: thresholds, keys, options by field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from gpuga.cli.options import files_by_dimension, pair_of
from gpuga.errors import InputError, printable
from gpuga.files.notation import Written
from gpuga.microdata.contributions import Layout
from gpuga.microdata.primary_rules import Zeros, parse_rule
from gpuga.microdata.protect import MicrodataParameters
from gpuga.microdata.risk import RiskParameters

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
        name, words = pair_of(pair, option, "FIELD=...")
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


def protect_parameters(**given: Any) -> MicrodataParameters:
    """What `gpuga microdata protect` was asked for; options that are not texts go through as they are."""
    return MicrodataParameters(
        fields=parse_names(given.pop("fields"), "--fields"),
        threshold=parse_threshold(given.pop("threshold")),
        keys=tuple(parse_key(key) for key in given.pop("keys")),
        recode=by_field(given.pop("recode"), "--recode", as_written),
        suppress_cost=by_field(given.pop("suppress_cost"), "--suppress-cost", parse_cost),
        recode_cost=by_field(given.pop("recode_cost"), "--recode-cost", parse_costs),
        suppress_cost_column=by_field(given.pop("suppress_cost_column"), "--suppress-cost-column", as_written),
        caps=by_field(given.pop("cap"), "--cap", parse_whole),
        exact=not given.pop("greedy"),
        written=Written(**given.pop("written")),
        **given,
    )


def risk_parameters(**given: Any) -> RiskParameters:
    """What `gpuga microdata risk` was asked for."""
    return RiskParameters(
        fields=parse_names(given.pop("fields"), "--fields"),
        threshold=parse_threshold(given.pop("threshold")),
        keys=tuple(parse_key(key) for key in given.pop("keys")),
        written=Written(**given.pop("written")),
        **given,
    )


def tabulate_arguments(**given: Any) -> dict[str, Any]:
    """The arguments of `tabulate` that `gpuga tabulate` was asked for; what is left over names columns."""
    return {
        "rules": [parse_rule(rule) for rule in given.pop("rules")],
        "hierarchies": files_by_dimension(given.pop("hierarchy")),
        "zeros": Zeros(given.pop("zeros"), _amount(given.pop("zero_level"), "--zero-level")),
        "singletons": not given.pop("no_singletons"),
        "total": given.pop("total"),
        "written": Written(**given.pop("written")),
        "threads": given.pop("threads"),
        "layout": Layout(by=parse_names(given.pop("by"), "--by"), **given),
    }


def _amount(text: str, option: str) -> Fraction:
    try:
        amount = Fraction(text)
    except (ValueError, ZeroDivisionError):
        amount = Fraction(0)
    if amount <= 0:
        raise InputError(f"{printable(text)!r} is not an amount above 0", field=option)
    return amount
