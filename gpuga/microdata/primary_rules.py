"""Primary rules: which cells are too revealing to publish, and how wide the doubt about them must be.

Each rule looks at the contributions to one cell, largest first, and answers with the protection level it
asks for, or None where the cell is harmless. With `T` the cell's total and `x1 >= x2 >= ...` its
contributions:

    frequency   fewer than m contributors                   level: a chosen share of the value
    (n,k)       x1 + ... + xn > k% of T                     level: 100/k * (x1 + ... + xn) - T
    p%          T - x1 - x2 < p% of x1                      level: p/100 * x1 - (T - x1 - x2)
    p/q         T - x1 - x2 < p/q of x1                     level: p/q * x1 - (T - x1 - x2)

The levels are those of the field's handbook: just wide enough that the rule, read from the outside, holds
again. All arithmetic is on integers. A contribution may stand for several units of the population (sampling
weights): it then counts as that many contributions of its size. Who has waived protection cannot be harmed:
p% looks at the largest contributor without a waiver, (n,k) and frequency fire unless everyone they look at
has waived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from gpuga.errors import InputError, printable

DEFAULT_RANGE = Fraction(15, 100)


@dataclass(frozen=True, order=True)
class Contribution:
    """One contributor: its absolute amount (units of `1/(scale * one)`) and its mass (`1/one`)."""

    amount: int
    mass: int
    waived: bool = False


@dataclass(frozen=True)
class Contributions:
    """What the rules see of a cell: its absolute total, its number of contributors and its largest ones.

    `one` is the mass of a single unit of the population; without sampling weights every mass is 1. `total`
    and `value` are in units of `1/(scale * one)`, like the amounts. `largest` is sorted, largest amount
    first, and holds enough contributors with and without a waiver for every rule (`reach` of each).
    """

    value: int
    total: int
    contributors: int
    waived: int
    largest: tuple[Contribution, ...]
    one: int = 1

    def leading(self, units: int) -> int:
        """The sum of the largest contributions that make up `units` units of the population, times `one`."""
        return _leading(self.largest, units * self.one)

    def leaders_waived(self, units: int) -> bool:
        """Whether all of the largest `units` units have waived protection."""
        wanted = units * self.one
        for contribution in self.largest:
            if wanted <= 0:
                break
            if not contribution.waived:
                return False
            wanted -= contribution.mass
        return True


def _leading(largest: Sequence[Contribution], mass: int) -> int:
    """The sum of amount * mass over the largest contributions, up to `mass` in all."""
    total = 0
    for contribution in largest:
        taken = min(contribution.mass, mass)
        total += contribution.amount * taken
        mass -= taken
        if mass <= 0:
            break
    return total


def _decimal(number: Fraction) -> str:
    """A percentage as it is written: a decimal where it is one, else a fraction."""
    return format(float(number), "g") if Fraction(format(float(number), "g")) == number else str(number)


class PrimaryRule(Protocol):
    """A primary rule."""

    @property
    def words(self) -> str:
        """The rule as `parse_rule` reads it, in its shortest form."""

    @property
    def reach(self) -> int:
        """How many of the largest contributors (of each kind, waived or not) the rule must see."""

    def level(self, cell: Contributions) -> Fraction | None:
        """The level the cell needs, in units of `1/(scale * one)`; None where the rule does not fire."""


@dataclass(frozen=True)
class Frequency:
    """Fewer than `minimum` contributors; the level is `range` times the value."""

    minimum: int
    range: Fraction = DEFAULT_RANGE

    @property
    def words(self) -> str:
        """`frequency:m`, with the range in percent where it is not the usual one."""
        share = "" if self.range == DEFAULT_RANGE else f",{_decimal(100 * self.range)}"
        return f"frequency:{self.minimum}{share}"

    @property
    def reach(self) -> int:
        """Counts need no contribution."""
        return 0

    def level(self, cell: Contributions) -> Fraction | None:
        """`range * |value|` where the contributors are too few and not all have waived."""
        if 0 < cell.contributors < self.minimum and cell.waived < cell.contributors:
            return self.range * abs(cell.value)
        return None


@dataclass(frozen=True)
class Dominance:
    """The (n,k) rule: the `n` largest make up more than `k` percent of the total."""

    n: int
    k: Fraction

    @property
    def words(self) -> str:
        """`nk:n,k`."""
        return f"nk:{self.n},{_decimal(self.k)}"

    @property
    def reach(self) -> int:
        """The n largest."""
        return self.n

    def level(self, cell: Contributions) -> Fraction | None:
        """`100/k * (x1 + ... + xn) - T` where the n largest dominate and not all of them have waived."""
        leading = Fraction(cell.leading(self.n), cell.one)
        if 100 * leading > self.k * cell.total and not cell.leaders_waived(self.n):
            return 100 * leading / self.k - cell.total
        return None


@dataclass(frozen=True)
class PercentRule:
    """The p% rule (`q` = 100) and the p/q rule: someone can estimate the largest contribution to within p
    percent.

    The estimate is the total minus the estimator's own contribution; before publication anyone knows any
    contribution to within `q` percent.
    """

    p: Fraction
    q: Fraction = Fraction(100)

    @property
    def words(self) -> str:
        """`p:p`, or `pq:p,q`."""
        return f"p:{_decimal(self.p)}" if self.q == 100 else f"pq:{_decimal(self.p)},{_decimal(self.q)}"

    @property
    def reach(self) -> int:
        """The victim and the best placed estimator."""
        return 2

    def level(self, cell: Contributions) -> Fraction | None:
        """`p/q * x - (T - x - y)`: x the largest contribution without waiver, y the largest of the others."""
        victim = next((c for c in cell.largest if not c.waived), None)
        if victim is None:
            return None
        at = cell.largest.index(victim)
        left_of_victim = Contribution(victim.amount, max(victim.mass - cell.one, 0))
        others = (*cell.largest[:at], left_of_victim, *cell.largest[at + 1 :])
        estimator = Fraction(_leading(others, cell.one), cell.one)
        shortfall = self.p * victim.amount / self.q - (cell.total - victim.amount - estimator)
        return shortfall if shortfall > 0 else None


def parse_rule(text: str) -> PrimaryRule:
    """A rule from words such as `frequency:3`, `frequency:3,20`, `nk:2,85`, `p:10`, `pq:10,50`."""
    name, _, numbers = text.partition(":")
    parsers: dict[str, Callable[[str, list[Fraction]], PrimaryRule]] = {
        "frequency": _frequency, "freq": _frequency,
        "nk": _dominance, "dominance": _dominance,
        "p": _percent, "p%": _percent, "pq": _percent, "p/q": _percent,
    }  # fmt: skip
    parser = parsers.get(name.strip().lower())
    if parser is None or not numbers.strip():
        what = f"unknown rule {printable(text)!r}" if parser is None else f"rule {printable(text)!r} lacks its numbers"
        raise InputError(f"{what}: choose frequency:m[,range%], nk:n,k, p:p or pq:p,q", field="--rule")
    return parser(text, [_number(text, part) for part in numbers.split(",")])


def _number(text: str, part: str) -> Fraction:
    try:
        return Fraction(part.strip().removesuffix("%"))
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(f"rule {printable(text)!r}: {printable(part)!r} is not a number", field="--rule") from error


def _expect(text: str, fine: bool, what: str) -> None:
    if not fine:
        raise InputError(f"rule {printable(text)!r}: {what}", field="--rule")


def _frequency(text: str, numbers: list[Fraction]) -> Frequency:
    _expect(text, len(numbers) in (1, 2), "give the minimum frequency and, if wanted, the range in percent")
    minimum = numbers[0]
    _expect(text, minimum.denominator == 1 and minimum >= 1, "the minimum frequency is a whole number, 1 or more")
    share = numbers[1] / 100 if len(numbers) == 2 else DEFAULT_RANGE
    _expect(text, share > 0, "the range is above 0 percent")
    return Frequency(int(minimum), share)


def _dominance(text: str, numbers: list[Fraction]) -> Dominance:
    _expect(text, len(numbers) == 2, "give n and k, as in nk:2,85")
    n, k = numbers
    _expect(text, n.denominator == 1 and n >= 1, "n is a whole number, 1 or more")
    _expect(text, 0 < k < 100, "k lies between 0 and 100 percent")
    return Dominance(int(n), k)


def _percent(text: str, numbers: list[Fraction]) -> PercentRule:
    quotient = text.lower().startswith(("pq", "p/q"))
    _expect(text, len(numbers) == (2 if quotient else 1), "give p, as in p:10, or p and q, as in pq:10,50")
    p, q = numbers[0], numbers[1] if quotient else Fraction(100)
    _expect(text, p > 0 and q > 0, "p and q are above 0 percent")
    _expect(text, p < q or not quotient, "p is below q")
    return PercentRule(p, q)


@dataclass(frozen=True)
class Zeros:
    """What to do with cells whose respondents all reported zero: a published zero discloses each of them.

    `unsafe`: all of them are primaries; `rules`: those with too few respondents are; `safe`: none is. A share
    of zero would be no protection at all, so they get the level `level` (units of the value) instead.
    """

    treatment: str = "rules"
    level: Fraction = Fraction(1)


def required_level(cell: Contributions, rules: Sequence[PrimaryRule], zeros: Zeros, scale: int) -> Fraction | None:
    """The widest level that any rule asks for (units of `1/(scale * one)`); None: harmless."""
    fired = [level for rule in rules if (level := rule.level(cell)) is not None]
    if cell.total == 0 and cell.contributors > 0:
        endangered = cell.waived < cell.contributors
        unsafe = endangered and (zeros.treatment == "unsafe" or (zeros.treatment == "rules" and bool(fired)))
        return zeros.level * scale * cell.one if unsafe else None
    if not fired:
        return None
    # A rule that fires where gains and losses cancel must not end with a level of zero either.
    return max(fired) or Fraction(cell.one)
