"""Zero-half cuts: halves of sums of cuts, rounded up; they close much of what capacity cuts leave open.

Every capacity cut says that at least one of certain cells is suppressed. Half the sum of several such
statements (with some `x <= 1`) holds too, and since patterns are integer, coefficients and right-hand side may
be rounded up (Chvátal, Gomory). A combination is violated by a fractional pattern when its right-hand side is
odd and its slack plus the distance of the cells with odd coefficients from an integer is below one; such
combinations are looked for by elimination modulo two (Koster, Zymolka, Kutschka 2009). Everything kept is
integer, so validity does not depend on how it was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.cut import Cut, Floats
from gpuga.bounds.separators.line_cuts import SparseCut
from gpuga.compiled import compiled
from gpuga.table.table import Ints

Bits = NDArray[np.uint64]

MOST_MEMBERS = 40
"""Halves of more statements than this are left out, unless longer ones are asked for."""

MOST_LOOKED_AT = 400
LEAST_VIOLATION = 0.02
LEAST_HALF = 0.02
LARGEST_HALF = 50
"""Halves are made of statements in small integers, and are such."""

MOST_SLACK = 0.9
POSITIVE = 1e-9


@dataclass(frozen=True, eq=False)
class OneOf:
    """What a cut says at least: one of its columns is suppressed."""

    cut: Cut
    rhs: int = 1

    def coefficients(self, columns: Ints) -> Ints:
        """The coefficients of the given columns (int64)."""
        return (self.cut.coefficients(columns) > 0).astype(np.int64)

    def entries(self, columns: Ints, position: Ints) -> tuple[Ints, Ints]:
        """Where its columns stand among `columns`, and coefficients; as those of a cut."""
        at, value = self.cut.entries(columns, position)
        return at[value > 0], np.ones(int((value > 0).sum()), np.int64)


Statement = Cut | OneOf


def half_cuts(
    statements: Sequence[Statement], cell: Ints, x: Floats, most: int, members: int = MOST_MEMBERS
) -> list[SparseCut]:
    """Zero-half cuts of statements in small integers that a point (float64[n]) violates, the worst first.

    `cell` int64[n] is the table's cell of each column, for the words of a proof; at most `members` are summed.
    """
    if not statements:
        return []
    at = np.flatnonzero(x > POSITIVE)
    matrix = np.array([one.coefficients(at) for one in statements])
    rhs, value = np.array([one.rhs for one in statements]), x[at]
    slack = matrix @ value - rhs
    rows = np.flatnonzero(slack < MOST_SLACK)
    # a column whose value is nearer to one is complemented: it counts as 1 - x and turns parities round
    upper, odd = value > 0.5, matrix[rows] % 2 != 0
    parity = (rhs[rows] + (odd & upper).sum(1)) % 2
    distance, found = np.minimum(value, np.abs(1.0 - value)), []
    for summed in odd_combinations(odd, parity, np.maximum(slack[rows], 0.0), distance, most, members):
        total = matrix[rows[summed]].sum(0)
        likely = at[(total % 2 == 1) & upper]
        half = half_of([statements[c] for c in rows[summed].tolist()], likely, cell)
        if half is not None and half.violation(x) * half.scale > LEAST_HALF:
            found.append(half)
    return found


def half_of(members: Sequence[Statement], complemented: Ints, cell: Ints) -> SparseCut | None:
    """Half the sum of some statements and of `-x >= -1` on some columns, rounded up; None if that asks for nothing."""
    every, total = np.arange(len(cell)), np.zeros(len(cell), np.int64)
    for one in members:
        at, value = one.entries(every, every)
        total[at] += value
    total[complemented] -= 1
    rhs = -(-(sum(one.rhs for one in members) - len(complemented)) // 2)
    columns = np.flatnonzero(total)
    if not 0 < rhs <= LARGEST_HALF or not len(columns):
        return None
    coef = -(-total[columns] // 2)
    columns, coef = columns[coef != 0], coef[coef != 0]
    if (coef > 0).all():
        coef = np.minimum(coef, rhs)
    return SparseCut(columns, coef, rhs, summed=True, origin=("half", cell[complemented], list(members)))


def odd_combinations(
    odd: NDArray[np.bool_], parity: Ints, slack: Floats, weight: Floats, most: int, members: int = MOST_MEMBERS
) -> list[Ints]:
    """Combinations of at most so many rows with odd right-hand side whose slack and odd weight stay below one.

    The most violated first; one that shares more than half of its rows with a better one is left out.
    """
    count = len(odd)
    fractional = np.flatnonzero(weight > 1e-9)
    fractional = fractional[np.argsort(-weight[fractional], kind="stable")]
    left = _packed(odd[:, fractional])
    summed = _packed(np.eye(count, dtype=bool))
    parity, slack = parity.astype(np.int64), slack.copy()
    _eliminate(left, summed, parity, slack, len(fractional))
    pairs, totals = _best_pairs(left, parity, slack, weight[fractional], 1.0 - 2 * LEAST_VIOLATION)
    found: list[Ints] = []
    times_used = np.zeros(count, np.int64)
    for z in np.argsort(totals, kind="stable")[:MOST_LOOKED_AT]:
        a, b = pairs[z]
        words = summed[a] if a == b else summed[a] ^ summed[b]
        rows = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")[:count])
        if not 1 < len(rows) <= members or 2 * np.count_nonzero(times_used[rows]) > len(rows):
            continue
        times_used[rows] += 1
        found.append(rows)
        if len(found) == most:
            break
    return found


def _packed(bits: NDArray[np.bool_]) -> Bits:
    """Rows of bits as rows of 64-bit words."""
    width = max(1, -(-bits.shape[1] // 64))
    padded = np.zeros((bits.shape[0], 64 * width), bool)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


@compiled
def _eliminate(left: Bits, members: Bits, parity: Ints, slack: Floats, columns: int) -> None:
    """Clear heavy columns from all rows but one, adding tight rows to others; in place."""
    rows = len(left)
    used = np.zeros(rows, np.bool_)
    one = np.uint64(1)
    for column in range(columns):
        word, bit = column // 64, np.uint64(column % 64)
        pivot = -1
        for r in range(rows):
            if not used[r] and slack[r] < 1e-6 and (left[r, word] >> bit) & one != np.uint64(0):
                pivot = r
                break
        if pivot < 0:
            continue
        used[pivot] = True
        for r in range(rows):
            if r == pivot or (left[r, word] >> bit) & one == np.uint64(0):
                continue
            for w in range(left.shape[1]):
                left[r, w] ^= left[pivot, w]
            for w in range(members.shape[1]):
                members[r, w] ^= members[pivot, w]
            parity[r] ^= parity[pivot]
            slack[r] += slack[pivot]


@compiled
def _best_pairs(left: Bits, parity: Ints, slack: Floats, weight: Floats, limit: float) -> tuple[Ints, Floats]:
    """Rows, and pairs of rows, that are odd and stay below the limit (int64[K, 2], a row alone twice)."""
    rows, words = left.shape
    out = np.zeros((20_000, 2), np.int64)
    totals = np.zeros(len(out))
    count = 0
    one = np.uint64(1)
    for a in range(rows):
        for b in range(a, rows):
            if (parity[a] if a == b else parity[a] ^ parity[b]) == 0 or count >= len(out):
                continue
            total = slack[a] if a == b else slack[a] + slack[b]
            for w in range(words):
                if total >= limit:
                    break
                bits = left[a, w] if a == b else left[a, w] ^ left[b, w]
                place = 64 * w
                while bits != np.uint64(0) and total < limit:
                    if bits & one != np.uint64(0):
                        total += weight[place]
                    bits = bits >> one
                    place += 1
            if total < limit:
                out[count, 0], out[count, 1] = a, b
                totals[count] = total
                count += 1
    return out[:count], totals[:count]
