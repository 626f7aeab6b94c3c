"""Zero-half cuts: halves of sums of cuts, rounded up; they close much of what capacity cuts leave open.

Every capacity cut says that at least one of certain cells is suppressed. Half the sum of several such
statements (with some `x <= 1`) holds too, and since patterns are integer, coefficients and right-hand side may
be rounded up (Chvátal, Gomory). A combination is violated by a fractional pattern when its right-hand side is
odd and its slack plus the distance of the cells with odd coefficients from an integer is below one; such
combinations are looked for by elimination modulo two (Koster, Zymolka, Kutschka 2009). Everything kept is
integer, so validity does not depend on how it was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.cut import Floats, Key
from gpuga.bounds.separators.capacity_cuts import CapacityCut
from gpuga.bounds.separators.line_cuts import LARGEST_HALF, SparseCut
from gpuga.compiled import compiled
from gpuga.table.table import Ints

Bits = NDArray[np.uint64]

MOST_MEMBERS = 40
MOST_LOOKED_AT = 400
LEAST_VIOLATION = 0.02
LEAST_HALF = 0.02
MOST_SLACK = 0.9


@dataclass(frozen=True, eq=False)
class HalfCut:
    """`sum(coefficient * x) >= rhs`: half the sum of `members` and of `-x >= -1` on `complemented`, rounded up.

    `complemented` int64[] are places. Coefficients need be no larger than the right-hand side.
    """

    members: tuple[CapacityCut, ...]
    complemented: Ints
    widest: float = 1.0

    @cached_property
    def rhs(self) -> int:
        """The right-hand side."""
        return (len(self.members) - len(self.complemented) + 1) // 2

    @property
    def scale(self) -> int:
        """What rows of a solver are divided by."""
        return self.rhs

    @cached_property
    def key(self) -> Key:
        """Equal for equal cuts."""
        return (tuple(sorted(hash(cut.key) for cut in self.members)), self.complemented.tobytes())

    def coefficients(self, columns: Ints) -> Ints:
        """The coefficients of the given places (int64)."""
        total = -np.isin(columns, self.complemented).astype(np.int64)
        for cut in self.members:
            total += cut.coefficients(columns) > 0
        return np.clip((total + 1) // 2, 0, self.rhs)


def half_cuts(cuts: Sequence[CapacityCut], places: Ints, x: Floats, most: int) -> list[HalfCut]:
    """Zero-half cuts that the point x over `places` (all positive ones) violates, the worst first."""
    if not cuts:
        return []
    matrix = np.array([cut.coefficients(places) > 0 for cut in cuts])
    slack = matrix @ x - 1.0
    rows = np.flatnonzero(slack < 0.999)
    odd = matrix[rows]
    # a place whose x is nearer to one is complemented: it counts as 1 - x and turns parities round
    upper = x > 0.5
    parity = (1 + (odd & upper).sum(1)) % 2
    combinations = odd_combinations(odd, parity, np.maximum(slack[rows], 0.0), np.minimum(x, np.abs(1.0 - x)), most)
    found = []
    for combination in combinations:
        chosen = rows[combination]
        total = matrix[chosen].sum(0)
        cut = HalfCut(tuple(cuts[int(c)] for c in chosen), places[(total % 2 == 1) & upper])
        if cut.rhs > 0:
            found.append(cut)
    return found


def half_sums(cuts: Sequence[SparseCut], free: Ints, z: Floats, most: int) -> list[SparseCut]:
    """Zero-half cuts: halves of sums of cuts, rounded up, that a point violates (see `odd_combinations`).

    A cover counts as "one of its cells is suppressed", too.
    """
    at = free[z[free] > 1e-9]
    position = np.full(len(z), -1, np.int64)
    position[at] = np.arange(len(at))
    said = [statement for cut in cuts for statement in _statements(cut)]
    matrix = np.zeros((len(said), len(at)), np.int16)
    for row, cut in enumerate(said):
        places = position[cut.cell]
        matrix[row, places[places >= 0]] = cut.coef[places >= 0]
    rhs = np.array([cut.rhs for cut in said], np.int64)
    x = z[at]
    slack = matrix @ x - rhs
    rows = np.flatnonzero(slack < MOST_SLACK)
    upper = x > 0.5
    odd = matrix[rows] % 2 != 0
    parity = (rhs[rows] + (odd & upper).sum(1)) % 2
    found = []
    for members in odd_combinations(odd, parity, np.maximum(slack[rows], 0.0), np.minimum(x, 1.0 - x), most):
        half = _half([said[int(rows[m])] for m in members], z)
        if half is not None and half.violation(z) * half.scale > LEAST_HALF:
            found.append(half)
    return found


def _statements(cut: SparseCut) -> Iterator[SparseCut]:
    """What a cut says in small integers."""
    if cut.rhs <= LARGEST_HALF:
        yield cut
    if cut.rhs > 1 and not cut.summed:
        yield SparseCut(cut.cell, np.sign(cut.coef), 1, origin=("one", cut.origin))


def _half(members: Sequence[SparseCut], z: Floats) -> SparseCut | None:
    """Half the sum of some cuts and of `-z >= -1` where that makes a coefficient of a likely cell even, rounded up."""
    total = np.zeros(len(z), np.int64)
    for cut in members:
        total[cut.cell] += cut.coef
    likely = (total % 2 == 1) & (z > 0.5)
    total[likely] -= 1
    rhs = -(-(sum(cut.rhs for cut in members) - int(likely.sum())) // 2)
    cells = np.flatnonzero(total)
    if not 0 < rhs <= LARGEST_HALF or not len(cells):
        return None
    coef = -(-total[cells] // 2)
    cells, coef = cells[coef != 0], coef[coef != 0]
    if (coef > 0).all():
        coef = np.minimum(coef, rhs)
    made = ("half", np.flatnonzero(likely), [cut.origin for cut in members])
    return SparseCut(cells, coef, rhs, summed=True, origin=made)


def odd_combinations(odd: NDArray[np.bool_], parity: Ints, slack: Floats, weight: Floats, most: int) -> list[Ints]:
    """Combinations of rows with odd right-hand side whose slack and odd weight stay below one.

    The most violated first; one that shares more than half of its rows with a better one is left out.
    """
    count = len(odd)
    fractional = np.flatnonzero(weight > 1e-9)
    fractional = fractional[np.argsort(-weight[fractional], kind="stable")]
    left = _packed(odd[:, fractional])
    members = _packed(np.eye(count, dtype=bool))
    parity, slack = parity.astype(np.int64), slack.copy()
    _eliminate(left, members, parity, slack, len(fractional))
    pairs, totals = _best_pairs(left, parity, slack, weight[fractional], 1.0 - 2 * LEAST_VIOLATION)
    found: list[Ints] = []
    times_used = np.zeros(count, np.int64)
    for z in np.argsort(totals, kind="stable")[:MOST_LOOKED_AT]:
        a, b = pairs[z]
        words = members[a] if a == b else members[a] ^ members[b]
        rows = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")[:count])
        if not 1 < len(rows) <= MOST_MEMBERS or 2 * np.count_nonzero(times_used[rows]) > len(rows):
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
