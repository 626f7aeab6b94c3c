"""Exact vertices and exact duals of the attacker's linear programs, from the solver's basis alone.

The program is `maximise c x` with `A x = 0` and integer bounds. A basis says which columns stand on which bound; put
them there exactly, solve for the others exactly (`basis.py`), and the vertex is exact, whatever the floats said. The
same basis has exact multipliers, and every multiplier proves a bound on the objective. Vertex and bound are judged by
whoever asks: a basis that was optimal within a tolerance need not be feasible or optimal without one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from gpuga.lp.solver import AT_LOWER, AT_UPPER, BASIC, Basis
from gpuga.safety.basis import ExactSystem, Integers, Solution, narrow
from gpuga.table.table import INFINITE, Ints

WIDE = 2.0**61
"""Sums that may reach this are formed in Python integers."""


@dataclass(frozen=True, eq=False)
class IntegerProgram:
    """`A x = 0`, `lower <= x <= upper`: `matrix` in compressed columns (int64), bounds int64[n] (`INFINITE`: none)."""

    matrix: csc_array
    lower: Ints
    upper: Ints

    def at(self, basis: Basis, expired: Callable[[], bool] = bool) -> Vertex | None:
        """The basis made exact; None where it is singular or stands on a bound that is not there."""
        basic, rows = np.flatnonzero(basis.column == BASIC), np.flatnonzero(~basis.row)
        if len(basic) != len(rows):
            return None
        x = np.zeros(len(self.lower), np.int64)
        for place, bound in ((AT_LOWER, self.lower), (AT_UPPER, self.upper)):
            standing = basis.column == place
            x[standing] = bound[standing]
        if (np.abs(x) >= INFINITE).any():
            return None
        columns = self.matrix[:, basic]
        square = ExactSystem.of(csc_array(columns[rows, :])) if len(basic) else None
        if len(basic) and square is None:
            return None
        return Vertex(self, basic, rows, x, square, expired)

    def bound_by(self, multipliers: Ints, denominator: int, column: int, direction: int) -> Fraction | None:
        """What multipliers of the rows prove of `direction * x[column]`: no feasible point has more; None: nothing.

        Any multipliers will do, wherever they come from: the sum is exact.
        """
        largest = float(np.abs(multipliers).max(initial=0)) * float(np.abs(self.matrix.data).max(initial=1))
        if max(largest * self.matrix.shape[0], denominator) >= WIDE:
            return None
        reduced = -np.asarray(self.matrix.T @ multipliers, np.int64)
        reduced[column] += direction * denominator
        return bound_of_prices(self, reduced, denominator)

    def times(self, x: Integers) -> Integers:
        """`A x` exactly."""
        largest = np.inf if x.dtype == object else float(np.abs(x.astype(float)).max(initial=0.0))
        if largest * float(np.abs(self.matrix.data).sum()) < WIDE:
            return np.asarray(self.matrix @ x)
        terms = self.matrix.data.astype(object) * np.repeat(x.astype(object), np.diff(self.matrix.indptr))
        sums = np.zeros(self.matrix.shape[0], dtype=object)
        np.add.at(sums, self.matrix.indices, terms)
        return sums


@dataclass(frozen=True, eq=False)
class Vertex:
    """A basis of an integer program, ready to be solved exactly."""

    program: IntegerProgram
    basic: NDArray[np.intp]
    rows: NDArray[np.intp]
    standing: Ints
    square: ExactSystem | None
    expired: Callable[[], bool]

    def point(self) -> Solution | None:
        """All components over one denominator, None where none was confirmed. Bounds are not checked here."""
        if self.square is None:
            return self.standing, 1
        solved = self.square.solve(-self.program.times(self.standing)[self.rows], self.expired)
        if solved is None:
            return None
        amounts, denominator = solved
        if denominator == 1 and amounts.dtype != object:
            whole = self.standing.copy()
            whole[self.basic] = amounts
            return whole, 1
        wide = self.standing.astype(object) * denominator
        wide[self.basic] = amounts
        return narrow(wide), denominator

    def reduced(self, column: int, direction: int) -> Solution | None:
        """Reduced costs of the objective `direction * x[column]` under the basis's exact multipliers."""
        count = len(self.program.lower)
        unit = np.zeros(count, np.int64)
        unit[column] = direction
        cost = unit[self.basic]
        if self.square is None or not cost.any():
            return unit, 1
        solved = self.square.solve_transposed(cost, self.expired)
        if solved is None:
            return None
        multipliers, denominator = solved
        matrix = self.program.matrix
        price = np.zeros(matrix.shape[0], dtype=object)
        price[self.rows] = multipliers
        terms = matrix.data.astype(object) * price[matrix.indices]
        sums = np.zeros(count, dtype=object)
        np.add.at(sums, np.repeat(np.arange(count), np.diff(matrix.indptr)), terms)
        return unit.astype(object) * denominator - sums, denominator

    def bound_of(self, priced: Solution) -> Fraction | None:
        """No feasible point has an objective above this; None where these reduced costs prove no bound."""
        return bound_of_prices(self.program, *priced)


def bound_of_prices(program: IntegerProgram, reduced: Integers, denominator: int) -> Fraction | None:
    """No feasible point has an objective above what these reduced costs say; None where they prove no bound."""
    moving = reduced != 0
    room = np.where(reduced > 0, program.upper, program.lower)[moving]
    if (np.abs(room) >= INFINITE).any():
        return None
    total = sum(r * c for r, c in zip(reduced[moving].tolist(), room.tolist(), strict=True))
    return Fraction(total, denominator)
