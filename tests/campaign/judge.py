"""The judge: what an attacker learns from a pattern, by the definitions and in exact arithmetic.

A sensitive cell with value `a` is safe when `min <= a - lower`, `max >= a + upper` and, where a sliding level is
given, `max - min >= sliding`; the strict reading asks for more than that. One whose levels are all 0 must at
least have room for one unit of the table's last decimal (strictly read, it has to move both ways anyway). Who knows
that values are whole thinks of whole tables only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tests.campaign.problem import Problem
from tests.campaign.simplex import Simplex, furthest_whole

Reach = Fraction | None  # None: no limit


@dataclass(frozen=True)
class Reading:
    """How levels are read: strictly or not, whole numbers or not, level zero as a demand or not."""

    strict: bool = False
    whole: bool = False
    level_zero: bool = True
    protect_secondary: bool = False
    unit: Fraction = Fraction(1)  # one unit of the last decimal, in the problem's units


class Judge:
    """The attacker of one pattern of one problem; knows the equations given, all of them unless told otherwise."""

    def __init__(
        self, problem: Problem, pattern: Iterable[int], *, whole: bool = False, equations: Iterable[int] | None = None
    ) -> None:
        self.problem, self.whole = problem, whole
        self.cells = sorted(pattern)
        self.variable = {c: i for i, c in enumerate(self.cells)}
        self.step = problem.scale if whole else 1
        known = problem.equations if equations is None else [problem.equations[e] for e in equations]
        rows = []
        for _, entries in known:
            row: dict[int, int] = {}
            for c, k in entries:
                if c in self.variable:
                    row[self.variable[c]] = row.get(self.variable[c], 0) + k
            if any(row.values()):
                rows.append(row)
        self.simplex = Simplex(rows, *self._bounds())
        self.known: dict[tuple[int, int], Reach] = {}

    def _bounds(self) -> tuple[list[int | None], list[int | None]]:
        """How far each suppressed cell may fall and rise, in steps."""
        low: list[int | None] = []
        high: list[int | None] = []
        for c in self.cells:
            a, lb, ub = self.problem.value[c], self.problem.lb[c], self.problem.ub[c]
            low.append(None if lb is None else -((a - lb) // self.step))
            high.append(None if ub is None else (ub - a) // self.step)
        return low, high

    def reach(self, cell: int, sign: int) -> Reach:
        """How far a suppressed cell can be thought to rise or fall, in the problem's units."""
        if (cell, sign) not in self.known:
            variable = self.variable[cell]
            if self.whole:
                most, _ = furthest_whole(self.simplex, variable, sign)
                self.known[cell, sign] = None if most is None else Fraction(most * self.step)
            else:
                self.known[cell, sign] = self.simplex.furthest(variable, sign)
        return self.known[cell, sign]

    def interval(self, cell: int) -> tuple[Reach, Reach]:
        """Least and largest value in the user's units; None is "no limit"."""
        a, scale = self.problem.value[cell], self.problem.scale
        fall, rise = self.reach(cell, -1), self.reach(cell, 1)
        return (
            None if fall is None else Fraction(a - fall) / scale,
            None if rise is None else Fraction(a + rise) / scale,
        )

    def safe(self, cell: int, reading: Reading) -> bool:
        """The verdict on a suppressed cell."""
        p = self.problem
        if p.status[cell] != "u":
            return not reading.protect_secondary or self.moves(cell)
        demands = demands_of(p, cell, reading)
        for sign, asked in ((1, demands.rise), (-1, demands.fall)):
            if not _met(self.reach(cell, sign), asked, reading.strict):
                return False
        if demands.width is None:
            return True
        rise, fall = self.reach(cell, 1), self.reach(cell, -1)
        return rise is None or fall is None or _met(rise + fall, demands.width, reading.strict)

    def moves(self, cell: int) -> bool:
        """Whether a cell is not exactly determined."""
        return self.reach(cell, 1) != 0 or self.reach(cell, -1) != 0

    def unsafe(self, reading: Reading) -> list[int]:
        """The cells that the pattern does not protect."""
        judged = self.cells if reading.protect_secondary else self.problem.sensitive
        return [c for c in judged if not self.safe(c, reading)]


@dataclass(frozen=True)
class Demands:
    """What has to be shown of one sensitive cell, in the problem's units; a width of None is not asked for."""

    rise: Fraction
    fall: Fraction
    width: Fraction | None


def demands_of(problem: Problem, cell: int, reading: Reading) -> Demands:
    """The levels of a sensitive cell under a reading."""
    rise, fall, width = (Fraction(level[cell]) for level in (problem.upper, problem.lower, problem.sliding))
    if rise == fall == width == 0 and reading.level_zero and not reading.strict:
        width = reading.unit
    return Demands(rise, fall, width or None)


def _met(reach: Reach, asked: Fraction, strict: bool) -> bool:
    return reach is None or (reach > asked if strict else reach >= asked)


def possible(problem: Problem, reading: Reading) -> bool:
    """Whether any safe pattern exists.

    More suppressions never narrow an interval, so everything that may be suppressed decides on the sensitive
    cells. With `protect_secondary`, what is determined even then can be published, unless it is hidden already.
    """
    judge = Judge(problem, problem.everything, whole=reading.whole)
    if any(not judge.safe(c, reading) for c in problem.sensitive):
        return False
    hidden = [c for c, letter in enumerate(problem.status) if letter == "m"]
    return not reading.protect_secondary or all(judge.moves(c) for c in hidden)


def exposure(problem: Problem, reading: Reading) -> dict[str, list[int]]:
    """Which primaries are exposed when they alone are hidden, and whether their own equations show it."""
    judge = Judge(problem, problem.forced, whole=reading.whole)
    exposed = [c for c in problem.sensitive if not judge.safe(c, reading)]
    initially = []
    for cell in exposed:
        own = [e for e, (_, row) in enumerate(problem.equations) if any(c == cell for c, _ in row)]
        if not Judge(problem, problem.forced, whole=reading.whole, equations=own).safe(cell, reading):
            initially.append(cell)
    return {
        "exposed": exposed,
        "initially_exposed": initially,
        "consequentially_exposed": [c for c in exposed if c not in initially],
        "not_exposed": [c for c in problem.sensitive if c not in exposed],
    }
