"""The options of methods: which there are, and what each may be. Unknown ones are refused, never ignored."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuga.errors import InputError, printable


@dataclass(frozen=True)
class Option:
    """One option: a number with a least value, a word of several, words, a text or a flag.

    `kind` is int, float, str, bool or tuple (of words); `needs` names an option without which it means nothing.
    """

    name: str
    kind: type
    least: int = 1
    choices: tuple[str, ...] = ()
    needs: str = ""
    python_only: bool = False

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--{self.name.replace('_', '-')}"

    def checked(self, value: Any, method: str) -> Any:
        """The value as its kind, or a sentence that names the option and the method."""
        try:
            found: Any = _CHECKS[self.kind](value)
        except (TypeError, ValueError, OverflowError):
            what = f"{printable(value, 40)!r} is not {_NAMES[self.kind]}, as {method} needs it"
            raise InputError(what, field=self.flag) from None
        if self.kind in (int, float) and found < self.least:
            raise InputError(f"{found} is below {self.least}, the least that {method} takes", field=self.flag)
        words: tuple[str, ...] = found if self.kind is tuple else (found,)
        if self.choices and (unknown := [word for word in words if word not in self.choices]):
            names = ", ".join(self.choices)
            what = f"unknown {self.name} {printable(unknown[0])!r} of {method}; choose one of {names}"
            raise InputError(what, field=self.flag)
        return found


def _finite(value: Any) -> float:
    number = float(operator.index(value)) if not isinstance(value, float) else value
    if not math.isfinite(number):
        raise ValueError
    return number


def _whole(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: Any) -> str:
    text = os.fspath(value)
    if not isinstance(text, str):
        raise TypeError
    return text


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError
    return tuple(map(_text, value))


_CHECKS: dict[type, Callable[[Any], Any]] = {int: _whole, float: _finite, bool: _flag, str: _text, tuple: _words}
_NAMES = {
    int: "a whole number",
    float: "a finite number",
    bool: "True or False",
    str: "a text",
    tuple: "a list of words",
}


def checked(method: str, known: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given (None: not given), each as it should be; others are refused."""
    by_name = {option.name: option for option in known}
    found = {}
    for name, value in given.items():
        if name not in by_name:
            others = ", ".join(option.flag for option in known)
            flag = f"--{printable(name).replace('_', '-')}"
            raise InputError(f"is not an option of {method}, which has {others}", field=flag)
        if value is not None:
            found[name] = by_name[name].checked(value, method)
    for option in (by_name[name] for name in found):
        if option.needs and found[option.name] and option.needs not in found:
            raise InputError(f"needs {by_name[option.needs].flag}", field=option.flag)
    return found


SELECTIONS = ("elite", "roulette", "tournament")
REPLACEMENTS = ("elite", "kill", "similar")
ITEMS = ("one-p", "one-k", "group-k", "group-k-row", "group-k-column", "ku")
MUTATIONS = ("swap", "insert", "invert", "self-adaptive")
INGREDIENTS = ("lp", "variety", "crossover", "redundancy", "destroy", "dissimilarity", "polish")

POPULATION = Option("population", int)
GENERATIONS = Option("generations", int)
STOPS = (GENERATIONS, Option("patience", int), Option("improvement_rate", float, least=0))
LOG = Option("log", str)
ORDERING = Option("variant", str, choices=(*ITEMS, *(f"{items}:{how}" for items in ITEMS for how in MUTATIONS)))

SOLVER = (Option("no_fallback", bool), Option("cuopt_host", str))
"""Options of every run: which solver of linear programs it may use."""

CIRCUITS = (
    POPULATION,
    *STOPS,
    Option("selection", str, choices=(*SELECTIONS, "dissimilar")),
    Option("replacement", str, choices=(*REPLACEMENTS, "dissimilar")),
    Option("refined", int, least=0, python_only=True),
    Option("without", tuple, choices=INGREDIENTS, python_only=True),
    Option("checkpoint", str),
    Option("resume", bool, needs="checkpoint"),
    LOG,
)
HEURGENE = (
    POPULATION,
    *STOPS,
    Option("selection", str, choices=SELECTIONS),
    Option("replacement", str, choices=REPLACEMENTS),
    LOG,
)
GENSUP = (POPULATION, *STOPS, LOG)
GAPN = (POPULATION, *STOPS, Option("selection", str, choices=SELECTIONS), LOG)
ORDERING_GA = (POPULATION, *STOPS, ORDERING)
ORDERING_LS = (*STOPS, ORDERING)
INCREMENTAL = (Option("variant", str, choices=("clean-up",)),)
PBP = (POPULATION,)
