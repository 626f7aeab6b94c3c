"""Rows of an integer matrix that are plain sums of others: by elimination modulo a prime, or by a linear program."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

PRIME = 2_097_143
"""Below 2**21: sums of a thousand products of residues are exact in floats."""

Floats = NDArray[np.float64]


def zero_one_rows(matrix: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Rows that are, modulo the prime, a sum of earlier independent rows, with those rows.

    Earlier independent rows determine the answer: of several ways to write a row only that one is found.
    """
    rows, columns = matrix.shape
    echelon, made_of = np.zeros((0, columns)), np.zeros((0, rows))
    pivots: list[int] = []
    for row in range(rows):
        rest = (matrix[row] % PRIME).astype(np.float64)
        unit = np.zeros(rows)
        unit[row] = 1.0
        factor = rest[pivots]
        rest, combination = (rest - factor @ echelon) % PRIME, (unit - factor @ made_of) % PRIME
        if not rest.any():
            weights = (-combination) % PRIME
            weights[row] = 0.0
            if ((weights == 0) | (weights == 1)).all() and weights.any():
                yield row, np.flatnonzero(weights)
            continue
        pivot = int(np.argmax(rest != 0))
        inverse = float(pow(int(rest[pivot]), -1, PRIME))
        rest, combination = rest * inverse % PRIME, combination * inverse % PRIME
        factor = echelon[:, pivot : pivot + 1]
        echelon = np.vstack([(echelon - factor * rest) % PRIME, rest])
        made_of = np.vstack([(made_of - factor * combination) % PRIME, combination])
        pivots.append(pivot)


def zero_one_solution(rows: NDArray[np.int64], total: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Rows that may add up to `total`, if a linear program says so.

    With more than half as many columns as rows, a sum of rows usually is the only answer between 0 and 1; what the
    program says is a guess that the caller checks.
    """
    from scipy.optimize import linprog

    size = np.maximum(1.0, np.abs(total).astype(float))
    answer = linprog(np.zeros(len(rows)), A_eq=(rows / size).T, b_eq=total / size, bounds=(0, 1), method="highs")
    if answer.status == 0:
        chosen = np.flatnonzero(np.asarray(answer.x) > 0.5)
        if len(chosen) and np.array_equal(rows[chosen].sum(axis=0), total):
            yield chosen
