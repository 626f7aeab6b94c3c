"""Protection levels from a rule such as `15%`, `5` or `max(1,10%)`: how far an attacker must be kept away."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError, printable
from gpuga.table.exact import MOST_DIGITS
from gpuga.table.table import INFINITE, Ints, Levels, Status

DEFAULT_RULE = "15%"

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_RULE = re.compile(
    rf"(?:max\(\s*(?P<least>{_NUMBER})\s*,\s*(?P<share>{_NUMBER})\s*%\s*\)"
    rf"|(?P<only_share>{_NUMBER})\s*%|(?P<only_least>{_NUMBER}))"
)


@dataclass(frozen=True)
class LevelRule:
    """The level is `share` of the value, but never less than `least` (in the user's units)."""

    share: Fraction
    least: Fraction

    @property
    def digits(self) -> int:
        """Decimals that a level has beyond those of its value."""
        digits = 0
        while (self.share * 10**digits).denominator != 1 or (self.least * 10**digits).denominator != 1:
            digits += 1
        return digits

    def levels(self, value: Ints, scale: int) -> Ints:
        """The level of each cell in units of `1/scale` (int64[n]); exact where the scale has room for its decimals.

        Where it has not, the level is rounded up to a unit.
        """
        floor = _ceil(self.least * scale)
        number, over = self.share.numerator, self.share.denominator
        largest = int(np.abs(value).max(initial=0))
        if max(floor, largest * number // over) >= INFINITE:
            raise InputError("gives levels that are too large for exact arithmetic", field="--levels")
        if largest * number >= 2**62:
            exact = [-(-abs(int(v)) * number // over) for v in value]
            return np.asarray(np.maximum(np.array(exact, np.int64), floor), np.int64)
        return np.asarray(np.maximum(-(-np.abs(value) * number // over), floor), np.int64)


def parse_rule(text: str) -> LevelRule:
    """A rule as written on the command line: `15%`, `5`, or `max(1,10%)`."""
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{printable(text)!r} is not a rule for levels: write 15%, 5 or max(1,10%)", field="--levels")
    share = match["share"] or match["only_share"] or "0"
    least = match["least"] or match["only_least"] or "0"
    if max(len(share), len(least)) > MOST_DIGITS:
        raise InputError("has too many digits for exact arithmetic", field="--levels")
    return LevelRule(Fraction(share) / 100, Fraction(least))


def _ceil(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)


def refuse_negative_level(level: Ints, name: str, first: int = 0) -> None:
    """Refuse a level below 0; `first` is the row of the first one."""
    if (level < 0).any():
        raise InputError("is a negative level", field=name, cell=first + int(np.argmax(level < 0)))


def refuse_frozen_sensitive(status: NDArray[np.uint8], lb: Ints, ub: Ints, levels: Levels) -> None:
    """Refuse a sensitive cell whose bounds leave no room for its levels."""
    stuck = (status == Status.SENSITIVE) & (lb == ub) & (levels.lower + levels.upper + levels.sliding > 0)
    if stuck.any():
        raise InputError(
            "a sensitive cell is frozen: its bounds lb and ub leave no room for its levels",
            field="lb",
            cell=int(np.argmax(stuck)),
        )
