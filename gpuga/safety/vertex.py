"""From a solver's floats to the exact vertex that they stand for.

Components near an integer are that integer; the fractional ones follow from the equations, solved by
elimination in rationals. Only a proposal until it is checked; but unlike rounding it finds any
denominator.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from gpuga.table.table import Ints

NEAR = 1e-6
MOST_FRACTIONAL = 3_000
"""With more fractional components than this the elimination would take too long."""

Row = dict[int, Fraction]


def exact_vertex(
    x: NDArray[np.float64], start: NDArray[np.int32], index: NDArray[np.int32], coef: Ints
) -> tuple[NDArray[np.generic], int] | None:
    """Amounts over one denominator with `A amounts = 0`, near `x`; `A` in compressed columns. None: not found.

    Amounts are int64 where they fit, Python integers (dtype object) where they do not.
    """
    if not np.isfinite(x).all() or np.abs(x).max(initial=0.0) >= 2**52:
        return None
    nearest = np.rint(x).astype(np.int64)
    fractional = np.flatnonzero(np.abs(x - nearest) > NEAR)
    if not len(fractional):
        return nearest, 1
    if len(fractional) > MOST_FRACTIONAL:
        return None
    rows, right = _system(nearest, fractional, start, index, coef)
    solved = _solve(rows, right, {j: x[j] for j in fractional.tolist()})
    return None if solved is None else _over_one_denominator(nearest, solved)


def _system(
    nearest: Ints, fractional: Ints, start: NDArray[np.int32], index: NDArray[np.int32], coef: Ints
) -> tuple[list[Row], list[Fraction]]:
    """The equations in which fractional components occur, the integers moved to the right-hand side."""
    rows: dict[int, Row] = {}
    for j in fractional.tolist():
        for e in range(int(start[j]), int(start[j + 1])):
            rows.setdefault(int(index[e]), {})[j] = Fraction(int(coef[e]))
    known = nearest.copy()
    known[fractional] = 0
    column = np.repeat(np.arange(len(nearest)), np.diff(start))
    total = np.zeros(int(index.max()) + 1, np.int64)
    np.add.at(total, index, coef * known[column])
    lines = sorted(rows)
    return [rows[r] for r in lines], [Fraction(-int(total[r])) for r in lines]


def _solve(rows: list[Row], right: list[Fraction], guess: dict[int, float]) -> dict[int, Fraction] | None:
    """Sparse elimination, shortest row first; components that stay free take a simple value near their guess."""
    pivots: list[tuple[int, Row, Fraction]] = []
    where: dict[int, set[int]] = {}
    for r, row in enumerate(rows):
        for j in row:
            where.setdefault(j, set()).add(r)
    left = set(range(len(rows)))
    while left:
        r = min(left, key=lambda q: (len(rows[q]), q))
        left.discard(r)
        row = rows[r]
        if not row:
            if right[r] != 0:
                return None
            continue
        j = min(row, key=lambda k: (len(where[k]), k))
        factor = row[j]
        pivots.append((j, row, right[r]))
        for k in row:
            where[k].discard(r)
        for q in sorted(where[j] & left):
            ratio = rows[q][j] / factor
            for k, v in row.items():
                value = rows[q].get(k, Fraction(0)) - ratio * v
                if value:
                    rows[q][k] = value
                    where[k].add(q)
                else:
                    rows[q].pop(k, None)
                    where[k].discard(q)
            right[q] -= ratio * right[r]
    solution: dict[int, Fraction] = {}
    for j, row, value in reversed(pivots):
        for k, v in row.items():
            if k != j:
                if k not in solution:
                    solution[k] = Fraction(guess[k]).limit_denominator(60)
                value -= v * solution[k]
        solution[j] = value / row[j]
    return solution


def _over_one_denominator(nearest: Ints, parts: dict[int, Fraction]) -> tuple[NDArray[np.generic], int]:
    denominator = lcm(*(p.denominator for p in parts.values()))
    amounts = [a * denominator for a in nearest.tolist()]
    for j, part in parts.items():
        amounts[j] = part.numerator * (denominator // part.denominator)
    if max(abs(a) for a in amounts) < 2**60 and denominator < 2**60:
        return np.array(amounts, np.int64), denominator
    return np.array(amounts, dtype=object), denominator
