"""Exact solutions of the systems behind a simplex basis: floats propose, integers decide.

`B x = b` with integer `B` and `b` is solved by a floating-point LU factorisation whose residuals are formed exactly:
each round adds some thirty binary digits to `x` (numeric-symbolic lifting, Wan 2006). Continued fractions then read
off the one denominator that all components share. The result counts only if one exact product confirms it, so neither
rounding nor a wrapped integer can make a wrong answer look right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import SuperLU, splu

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Integers = NDArray[Any]
"""int64, or Python integers (dtype object) where that is too narrow."""

Solution = tuple[Integers, int]
"""Numerators over one positive denominator."""

STEP = 28
"""Binary digits that a round of lifting adds; what the factorisation must get right of each component."""

MOST_DIGITS = 8_192
"""Binary digits after which no denominator is looked for any more."""

NARROW = 2**61
"""Below this, numbers are kept in int64."""


@dataclass(frozen=True, eq=False)
class ExactSystem:
    """A square integer system and its factorisation; solved exactly, as it is or transposed."""

    matrix: csr_array
    factors: SuperLU

    @classmethod
    def of(cls, matrix: csc_array) -> ExactSystem | None:
        """The factorised system, None where it is singular for the solver of floats."""
        try:
            factors = splu(matrix.astype(np.float64), options={"Equil": False})
        except RuntimeError:  # SuperLU's word for an exactly singular factor
            return None
        return cls(csr_array(matrix), factors)

    def solve(self, right: Integers, expired: Callable[[], bool] = bool) -> Solution | None:
        """`x` with `matrix x = right` (integers), or None where none was confirmed."""
        return _lifted(self.matrix, lambda r: np.asarray(self.factors.solve(r)), right, expired)

    def solve_transposed(self, right: Integers, expired: Callable[[], bool] = bool) -> Solution | None:
        """`y` with `y matrix = right`, or None where none was confirmed."""
        solve: Any = self.factors.solve
        return _lifted(csr_array(self.matrix.T), lambda r: np.asarray(solve(r, trans="T")), right, expired)


def _lifted(
    matrix: csr_array, solve: Callable[[Floats], Floats], right: Integers, expired: Callable[[], bool]
) -> Solution | None:
    """Integer part first, which nearly always is all; then as many digits as the denominator asks for."""
    whole = _integer_part(matrix, solve, right)
    if whole is None:
        return None
    x, rest = whole
    if not rest.any():
        return narrow(x), 1
    digits, wanted, lifted = 0, 2 * STEP, np.zeros(len(x), dtype=object)
    residual = rest
    while digits < MOST_DIGITS and not expired():
        while digits < wanted:
            step = solve(residual.astype(np.float64)) * 2.0**STEP
            if not np.isfinite(step).all() or np.abs(step).max(initial=0.0) >= 2.0**52:
                return None
            part = np.rint(step).astype(np.int64)
            residual = (residual << STEP) - np.asarray(matrix @ part, np.int64)
            if np.abs(residual).max(initial=0) >= 2 ** (62 - STEP):
                return None  # the factorisation is too inexact to gain digits
            lifted = (lifted << STEP) + part.astype(object)
            digits += STEP
        fraction = _read(lifted, digits)
        if fraction is not None and _confirmed(matrix, *fraction, rest):
            numerator, denominator = fraction
            return narrow(x.astype(object) * denominator + numerator), denominator
        wanted *= 2
    return None


def _integer_part(
    matrix: csr_array, solve: Callable[[Floats], Floats], right: Integers
) -> tuple[Integers, Ints] | None:
    """Integers near the solution and the exact residual, which is small; None where that does not settle."""
    residual: Integers = right
    x = np.zeros(len(right), dtype=object)
    for _ in range(8):
        step = solve(residual.astype(np.float64))
        if not np.isfinite(step).all():
            return None
        largest = max(float(np.abs(step).max(initial=0.0)), float(np.abs(residual.astype(float)).max(initial=0.0)))
        if largest < 2.0**52:
            part = np.rint(step).astype(np.int64)
            residual = residual.astype(np.int64) - np.asarray(matrix @ part, np.int64)
            return x + part if x.any() else part, residual
        rounded = np.array([int(s) for s in np.rint(step).tolist()], dtype=object)
        x = x + rounded
        residual = residual.astype(object) - _product(matrix, rounded)
    return None


def _product(matrix: csr_array, x: Integers) -> Integers:
    """`matrix x` in Python integers."""
    terms = matrix.data.astype(object) * x[matrix.indices]
    sums = np.zeros(matrix.shape[0], dtype=object)
    np.add.at(sums, np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), terms)
    return sums


def _read(lifted: Integers, digits: int) -> tuple[Integers, int] | None:
    """Numerators over the common denominator of numbers known to `digits` binary digits; None: too few digits."""
    one, near = 1 << digits, 1 << (digits // 4)
    denominator = 1
    scaled = lifted
    while True:
        away = _away(scaled, digits)
        far = np.flatnonzero(away > near * denominator)
        if not len(far):
            return (scaled + (one >> 1)) >> digits, denominator
        factor = _denominator(int(scaled[far[0]]), one, 1 << (digits // 2))
        if factor is None or denominator * factor >= 1 << (digits // 2):
            return None
        denominator *= factor
        scaled = scaled * factor


def _away(scaled: Integers, digits: int) -> Integers:
    """How far each number is from a whole one, in its last digit."""
    one = 1 << digits
    part = scaled & (one - 1)
    return np.asarray(np.minimum(part, one - part))


def _denominator(number: int, one: int, most: int) -> int | None:
    """The denominator that `number / one` stands for, None where there is none up to `most`.

    A fraction known to twice the digits of its denominator is the convergent after which the next one is far longer.
    """
    above, below = number % one, one
    before, now = 1, 0
    while True:
        quotient, rest = divmod(above, below)
        before, now = now, quotient * now + before
        above, below = below, rest
        if below == 0 or (above // below) * now + before > most:
            return now if now > 1 else None


def _confirmed(matrix: csr_array, numerator: Integers, denominator: int, right: Ints) -> bool:
    """Whether `matrix numerator = denominator right`, exactly."""
    return bool((_product(matrix, numerator) == right.astype(object) * denominator).all())


def narrow(numbers: Integers) -> Integers:
    """The same numbers in int64 where they fit, Python integers where they do not."""
    if numbers.dtype != object:
        return numbers
    if len(numbers) == 0 or max(abs(int(numbers.max())), abs(int(numbers.min()))) < NARROW:
        return numbers.astype(np.int64)
    return numbers
