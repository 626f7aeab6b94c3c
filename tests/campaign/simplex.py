"""An attacker in integers: the simplex method with bounds on a fraction-free tableau, and branch and bound on it.

What he may think of is `M d = 0, low <= d <= high` for the deviations `d` of the suppressed cells from the true
table, so `d = 0` is always a start. The tableau keeps one common denominator and divides without remainder
(Edmonds, Bareiss); nothing is ever rounded. Bland's rule takes over where a search for one extreme gets long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

UNLIMITED = None
PATIENT = 60  # pivots of one search before Bland's rule decides


class Undecided(Exception):
    """Branch and bound gave up: nothing may be concluded."""


class Simplex:
    """A vertex of the polytope as a tableau; successive questions start where the last one ended.

    Row `i` reads `denominator * x[basic[i]] + sum(row[j] * (x[column[j]] - at[column[j]])) = row[-1]`.
    """

    def __init__(
        self, rows: Sequence[Mapping[int, int]], low: Sequence[int | None], high: Sequence[int | None]
    ) -> None:
        self.low, self.high = list(low), list(high)
        n = len(self.low)
        self.at = [0] * n
        self.basic: list[int] = []
        self.denominator = 1
        dense = _eliminated(rows, n, self)
        taken = set(self.basic)
        self.column = [j for j in range(n) if j not in taken]
        self.row = [[line[j] for j in self.column] + [0] for line in dense]
        self.row_of = {v: i for i, v in enumerate(self.basic)}
        self.column_of = {v: j for j, v in enumerate(self.column)}

    def copy(self) -> Simplex:
        """The same vertex, to go another way from."""
        twin = object.__new__(Simplex)
        twin.low, twin.high, twin.at = self.low[:], self.high[:], self.at[:]
        twin.basic, twin.column, twin.denominator = self.basic[:], self.column[:], self.denominator
        twin.row = [line[:] for line in self.row]
        twin.row_of, twin.column_of = dict(self.row_of), dict(self.column_of)
        return twin

    def value(self, variable: int) -> Fraction:
        """The variable at this vertex."""
        at = self.row_of.get(variable)
        return Fraction(self.at[variable] if at is None else Fraction(self.row[at][-1], self.denominator))

    def point(self) -> list[Fraction]:
        """The vertex."""
        return [self.value(v) for v in range(len(self.at))]

    def furthest(self, target: int, sign: int) -> Fraction | None:
        """The largest `sign * x[target]`; None is "no limit". The tableau moves to a vertex where it is reached."""
        pivots = 0
        while (move := self._entering(target, sign, pivots > PATIENT)) is not None:
            if not self._step(*move):
                return UNLIMITED
            pivots += 1
        return sign * self.value(target)

    def tighten(self, variable: int, sign: int, bound: int) -> bool:
        """Ask for `sign * x[variable] >= sign * bound` from now on; False if that is impossible."""
        blocking = self.high if sign > 0 else self.low
        if sign * self.value(variable) < sign * bound:
            kept, blocking[variable] = blocking[variable], bound
            reached = self.furthest(variable, sign)
            blocking[variable] = kept
            if reached is not None and reached < sign * bound:
                return False
        (self.low if sign > 0 else self.high)[variable] = bound
        return True

    def _entering(self, target: int, sign: int, first: bool) -> tuple[int, int] | None:
        """A column that brings the target further and can move, and its direction."""
        at = self.row_of.get(target)
        if at is None:
            j = self.column_of[target]
            limit = (self.high if sign > 0 else self.low)[target]
            return None if limit is not None and limit == self.at[target] else (j, sign)
        best, best_gain = None, 0
        for j, entry in enumerate(self.row[at][:-1]):
            if entry == 0:
                continue
            direction = -sign if entry > 0 else sign
            v = self.column[j]
            limit = (self.high if direction > 0 else self.low)[v]
            if limit is not None and limit == self.at[v]:
                continue
            gain = -v if first else abs(entry)
            if best is None or gain > best_gain:
                best, best_gain = (j, direction), gain
        return best

    def _step(self, j: int, direction: int) -> bool:
        """Move a column as far as it goes; False if nothing stops it."""
        v, common = self.column[j], self.denominator
        own = (self.high if direction > 0 else self.low)[v]
        room, rate = (None, 1) if own is None else (abs(own - self.at[v]), 1)
        leaving, bound = -1, 0
        for i, line in enumerate(self.row):
            entry = line[j]
            if entry == 0:
                continue
            rising = (entry > 0) == (direction < 0)
            b = self.basic[i]
            limit = (self.high if rising else self.low)[b]
            if limit is None:
                continue
            left = limit * common - line[-1] if rising else line[-1] - limit * common
            speed = abs(entry)
            order = -1 if room is None else left * rate - room * speed
            if order < 0 or (order == 0 and leaving >= 0 and b < self.basic[leaving]):
                room, rate, leaving, bound = left, speed, i, limit
        if room is None:
            return False
        if leaving < 0:
            self.at[v] += direction * room
            for line in self.row:
                line[-1] -= line[j] * direction * room
        else:
            self._pivot(leaving, j, bound)
        return True

    def _pivot(self, r: int, j: int, bound: int) -> None:
        """Let row `r` leave at its bound and column `j` enter."""
        entering, leaving, common = self.column[j], self.basic[r], self.denominator
        pivot_row = self.row[r]
        pivot_row[-1] -= bound * common
        p = pivot_row[j]
        if p < 0:
            pivot_row = [-e for e in pivot_row]
            p = -p
            unit = -common
        else:
            unit = common
        for i, line in enumerate(self.row):
            if i == r:
                continue
            f = line[j]
            if f == 0:
                if p != common:
                    self.row[i] = [e * p // common for e in line]
                continue
            if p == common == 1:
                new = [e - f * g if g else e for e, g in zip(line, pivot_row, strict=True)]
            else:
                new = [(p * e - f * g) // common for e, g in zip(line, pivot_row, strict=True)]
            new[j] = -f if unit > 0 else f
            self.row[i] = new
        pivot_row[j] = unit
        pivot_row[-1] += self.at[entering] * p
        self.row[r] = pivot_row
        self.denominator = p
        self.at[leaving] = bound
        self.basic[r], self.column[j] = entering, leaving
        del self.row_of[leaving], self.column_of[entering]
        self.row_of[entering], self.column_of[leaving] = r, j


def _eliminated(rows: Sequence[Mapping[int, int]], n: int, into: Simplex) -> list[list[int]]:
    """The rows in reduced form over one denominator; sets `basic` and `denominator`."""
    waiting = [[row.get(j, 0) for j in range(n)] for row in rows]
    done: list[list[int]] = []
    common = 1
    while waiting:
        line = waiting.pop()
        candidates = [j for j, e in enumerate(line) if e]
        if not candidates:
            continue
        k = min(candidates, key=lambda j: abs(line[j]))
        if line[k] < 0:
            line = [-e for e in line]
        p = line[k]
        done = [_combined(other, line, k, p, common) for other in done]
        waiting = [_combined(other, line, k, p, common) for other in waiting]
        done.append(line)
        into.basic.append(k)
        common = p
    into.denominator = common
    return done


def _combined(other: list[int], line: list[int], k: int, p: int, common: int) -> list[int]:
    f = other[k]
    if f == 0:
        return other if p == common else [e * p // common for e in other]
    if p == common == 1:
        return [e - f * g if g else e for e, g in zip(other, line, strict=True)]
    return [(p * e - f * g) // common for e, g in zip(other, line, strict=True)]


def furthest_whole(
    start: Simplex, target: int, sign: int, *, least: int = 1, enough: int | None = None, nodes: int = 4000
) -> tuple[int | None, list[int] | None]:
    """The largest `sign * x[target]` over whole points and such a point; None is "no limit".

    Points below `least` do not matter (then 0 is the answer), and `enough` ends the search early.
    """
    relaxed = start.furthest(target, sign)
    if relaxed is UNLIMITED:
        return UNLIMITED, None
    best, best_point = 0, None
    waiting = [start.copy()]
    while waiting:
        nodes -= 1
        if nodes < 0:
            raise Undecided
        node = waiting.pop()
        top = node.furthest(target, sign)
        assert top is not None  # the first relaxation was bounded, and every other one lies in it
        if top.__floor__() < max(best + 1, least):
            continue
        split = _fractional(node)
        if split is None:
            best, best_point = int(top), [int(x) for x in node.point()]
            if enough is not None and best >= enough:
                break
            continue
        variable, at = split
        below, above = node, node.copy()
        branches = [(below, -1, at.__floor__()), (above, 1, at.__floor__() + 1)]
        waiting += [twin for twin, way, bound in branches if twin.tighten(variable, way, bound)]
    return best, best_point


def _fractional(node: Simplex) -> tuple[int, Fraction] | None:
    """A variable that is not whole at the vertex."""
    if node.denominator == 1:
        return None
    for i, v in enumerate(node.basic):
        if node.row[i][-1] % node.denominator:
            return v, Fraction(node.row[i][-1], node.denominator)
    return None
