"""Codes that are the sum of other codes throughout a table, though nobody declared them as totals.

A total that is taken for one more category is published, and gives away what was suppressed among its parts. So the
codes of a dimension are looked at as vectors, one entry per combination of the other dimensions; a code whose vector
is the sum of others is named, and the reader refuses it until the user declares it or calls it a coincidence.

Candidates come from sums modulo 2**64 of weighted entries, which are equal where vectors are: all other codes,
neighbours, codes that begin like the code itself, pairs, any of a few codes; and from elimination modulo a prime,
which finds any set where there are more combinations than codes. A candidate is then checked entry by entry and
believed only where chance would hardly have made it: the bits that its entries agree in must outweigh the number of
sums that could have been tried.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log, log2

import numpy as np
from numpy.typing import NDArray

from gpuga.table.elimination import zero_one_rows, zero_one_solution
from gpuga.table.grid import keys
from gpuga.table.table import Dimension, Grid, Ints, Mask
from gpuga.table.words import named_like_a_total, perhaps_a_total

MARGIN = 8.0
"""Bits by which the evidence outweighs the number of possible sums: chance refuses one table in 256 at the worst."""

MARGIN_WITH_A_WEAK_NAME = 4.0
MARGIN_BESIDE_ANOTHER = 2.0
"""A dimension with one sum in it has more of them: they are named as well."""

MOST_CODES_FOR_SUBSETS = 30
MOST_CODES_FOR_SETS = 300
MOST_CODES_FOR_PAIRS = 800
MOST_ENTRIES_FOR_PROGRAMS = 20_000
MOST_CODES_FOR_RUNS = 3000
MOST_CODES_FOR_NAMES = 100_000

MOST_PARTIAL_CODES = 200
MOST_WORK = 20_000_000
"""Entries read again for codes that some combinations lack, and how many such codes are looked at."""

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Sum:
    """A code and the codes whose sum it is, as positions in the dimension; `of_all`: of all that are no sums."""

    dimension: Dimension
    code: int
    parts: tuple[int, ...]
    of_all: bool


@dataclass(frozen=True)
class _Candidate:
    """A guess: live code, its parts, how many bits of choice went into it; `obvious`: the codes' names say it, too."""

    code: int
    parts: Ints
    choice: float
    of_all: bool = False
    obvious: bool = False


def find_sums(grid: Grid, value: Ints, coincidences: Sequence[Sequence[str]]) -> list[Sum]:
    """The undeclared sums among the codes of all dimensions; `coincidences` are codes to leave alone, by dimension."""
    found: list[Sum] = []
    for axis, chance in enumerate(coincidences):
        face = _Face(grid, value, axis)
        if len(face.live) > 1:
            found += _Search(face, frozenset(chance)).run()
    return found


class _Face:
    """The entries of a dimension's lowest codes, sorted by code.

    Live codes (those with a value other than 0) are counted in the dimension's order, `live` says where they stand in
    it. Columns are the combinations of the other dimensions. `code`, `column`, `value` are int64[entries].
    """

    def __init__(self, grid: Grid, value: Ints, axis: int) -> None:
        self.dimension = grid.dimensions[axis]
        given = np.flatnonzero(self.dimension.is_leaf[grid.coordinate[:, axis]])
        others = np.delete(grid.coordinate[given], axis, axis=1)
        sizes = [size for d, size in enumerate(grid.shape) if d != axis]
        _, place, column = np.unique(keys(others, sizes), return_index=True, return_inverse=True)
        code = grid.coordinate[given, axis]
        self.live = np.unique(code[value[given] != 0])
        kept = np.flatnonzero(np.isin(code, self.live))
        order = kept[np.argsort(code[kept], kind="stable")]
        self.code = np.searchsorted(self.live, code[order])
        self.column = column[order].astype(np.int64)
        self.value = value[given][order]
        self.first = np.searchsorted(self.code, np.arange(len(self.live) + 1))
        self.crowd = np.bincount(column, minlength=len(place))
        leaf = [d.is_leaf[others[place, at]] for at, d in enumerate(_without(grid.dimensions, axis))]
        self.inner = np.logical_and.reduce(leaf) if leaf else np.ones(len(place), bool)

    def entries(self, code: int) -> slice:
        """Where the entries of a live code stand."""
        return slice(int(self.first[code]), int(self.first[code + 1]))

    def hashes(self, columns: Mask | None = None) -> Hashes:
        """One number per live code, linear in its vector (over these columns only)."""
        terms = self.value.astype(np.uint64) * _mixed(self.column)
        if columns is not None:
            terms[~columns[self.column]] = 0
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms)])
        return np.asarray(sums[self.first[1:]] - sums[self.first[:-1]], np.uint64)

    def lies_in(self, code: int) -> Mask:
        """The columns in which a live code is there beside another (bool[columns])."""
        there = np.zeros(len(self.crowd), bool)
        there[self.column[self.entries(code)]] = True
        return there & (self.crowd > 1)

    def is_sum(self, code: int, parts: Ints) -> bool:
        """Whether a code is the sum of the parts wherever it is there beside another code."""
        own = self.entries(code)
        total = np.zeros(len(self.crowd), np.int64)
        for part in parts.tolist():
            at = self.entries(part)
            total[self.column[at]] += self.value[at]
        beside = self.crowd[self.column[own]] > 1
        return bool((total[self.column[own]] == self.value[own])[beside].all())

    @cached_property
    def fresh(self) -> Mask:
        """Columns that say something of their own: no totals of other dimensions, no multiples of another column."""
        order = np.argsort(self.column, kind="stable")
        there, start = np.unique(self.column[order], return_index=True)
        divisor = np.ones(len(self.crowd), np.int64)
        divisor[there] = np.maximum(1, np.gcd.reduceat(self.value[order], start))
        terms = (self.value // divisor[self.column]).astype(np.uint64) * _mixed(self.code + 1)
        mark = np.zeros(len(self.crowd), np.uint64)
        mark[there] = np.add.reduceat(terms[order], start)
        usable = self.inner if self.inner.any() else np.ones(len(self.crowd), bool)
        candidates = np.flatnonzero(usable)
        fresh = np.zeros(len(self.crowd), bool)
        fresh[candidates[np.unique(mark[candidates], return_index=True)[1]]] = True
        return fresh

    @cached_property
    def unit(self) -> int:
        """What all values are multiples of: tables rounded to thousands agree more easily."""
        return max(1, int(np.gcd.reduce(self.value)))

    def evidence(self, parts: Ints | None, columns: Mask) -> NDArray[np.float64]:
        """Bits of agreement, column by column: how unlikely it is to meet a sum of such parts (all codes: None)."""
        at = np.ones(len(self.code), bool) if parts is None else np.isin(self.code, parts)
        squares = np.bincount(self.column[at], self.value[at].astype(float) ** 2, minlength=len(self.crowd))
        spread = np.sqrt(np.pi / 2 * squares[self.fresh & columns]) / self.unit
        return np.asarray(np.log2(np.maximum(spread, 1.0)), np.float64)


def _without(dimensions: Sequence[Dimension], axis: int) -> list[Dimension]:
    return [d for at, d in enumerate(dimensions) if at != axis]


def _mixed(numbers: Ints) -> Hashes:
    """Well mixed odd-looking 64-bit numbers, one for each number (the finaliser of splitmix64)."""
    x = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)


class _Search:
    """The search for sums among the codes of one face."""

    def __init__(self, face: _Face, coincidences: frozenset[str]) -> None:
        self.face = face
        self.count = len(face.live)
        self.names = [face.dimension.codes[i] for i in face.live.tolist()]
        look = self.count <= MOST_CODES_FOR_NAMES
        self.strong = [look and named_like_a_total(name) for name in self.names]
        self.weak = [look and perhaps_a_total(name) for name in self.names]
        self.chance = np.array([name in coincidences for name in self.names])
        self.found: dict[int, _Candidate] = {}

    def run(self) -> list[Sum]:
        """All sums that are found, those of all codes first."""
        if self._promising(np.ones(len(self.face.crowd), bool)) or any(self.strong) or any(self.weak):
            self._whole()
            self._partial()
        live = self.face.live
        sums = [
            Sum(self.face.dimension, int(live[c.code]), tuple(live[c.parts].tolist()), c.of_all)
            for c in self.found.values()
            if not self.chance[c.code]
        ]
        return sorted(sums, key=lambda s: not s.of_all)

    def _promising(self, columns: Mask) -> bool:
        """Whether these columns hold enough evidence for any sum at all."""
        return float(self.face.evidence(None, columns).sum()) >= MARGIN + log2(self.count)

    def _whole(self) -> None:
        """Codes that are sums over the whole table, absent entries being 0."""
        hashes, everywhere = self.face.hashes(), np.ones(len(self.face.crowd), bool)
        self._quick(hashes, None)
        base = self._base(everywhere)
        self._accept(_pairs(hashes, base, self.count))
        if len(base) <= MOST_CODES_FOR_SETS:
            matrix = self._matrix(base, everywhere)
            self._accept(self._eliminated(base, matrix))
            for at in range(len(base)):
                self._accept(self._subsets(hashes, base, matrix, at))
        self._quick(hashes, None)

    def _partial(self) -> None:
        """Codes that some combinations lack are looked at in the others alone."""
        face = self.face
        size = np.bincount(face.code, np.abs(face.value.astype(float)), minlength=self.count)
        crowded = np.bincount(face.code[face.crowd[face.column] > 1], minlength=self.count)
        lacks = crowded < int((face.crowd > 1).sum())
        lacking = [c for c in np.flatnonzero(lacks).tolist() if c not in self.found]
        lacking.sort(key=lambda c: (not self.strong[c], not self.weak[c], -size[c]))
        for code in lacking[: min(MOST_PARTIAL_CODES, MOST_WORK // max(1, len(face.code)))]:
            columns = face.lies_in(code)
            if not (self.strong[code] or self.weak[code] or self._promising(columns)):
                continue
            hashes = face.hashes(columns)
            self._quick(hashes, (code, columns))
            base = self._base(columns)
            if len(base) <= MOST_CODES_FOR_SETS and code in base:
                at = int(np.searchsorted(base, code))
                self._accept(self._subsets(hashes, base, self._matrix(base, columns), at))

    def _base(self, columns: Mask) -> Ints:
        """The live codes that are not known as sums (chance apart) and have a value in these columns."""
        face = self.face
        seen = (face.value != 0) & columns[face.column]
        known = np.zeros(self.count, bool)
        known[list(self.found)] = True
        return np.flatnonzero((np.bincount(face.code[seen], minlength=self.count) > 0) & ~(known & ~self.chance))

    def _quick(self, hashes: Hashes, only: tuple[int, Mask] | None) -> None:
        """All others, names and neighbours, again and again while that uncovers more."""
        before = -1
        while len(self.found) > before:
            before = len(self.found)
            base = self._base(np.ones(len(self.face.crowd), bool) if only is None else only[1])
            asked = base if only is None else base[base == only[0]]
            self._accept(_all_others(hashes, base, asked, self.count))
            self._accept(self._begun_alike(hashes, base, asked))
            self._accept(_runs(hashes, base, asked, self.count))

    def _begun_alike(self, hashes: Hashes, base: Ints, asked: Ints) -> Iterator[_Candidate]:
        """A code and the codes that begin like it and go on: 10 and 10.1, 10.2; those with such codes left out."""
        if len(base) > MOST_CODES_FOR_NAMES:
            return
        start = self.names[int(asked[0])] if len(asked) == 1 else ""
        order = sorted((c for c in base.tolist() if self.names[c].startswith(start)), key=self.names.__getitem__)
        names = [self.names[c] for c in order]
        lowest = [i + 1 == len(names) or not names[i + 1].startswith(names[i]) for i in range(len(names))]
        for i, name in enumerate(names):
            if not lowest[i]:
                end = bisect_right(names, name + "\U0010ffff")
                parts = np.array([order[j] for j in range(i + 1, end) if lowest[j]], np.int64)
                if parts.size and hashes[parts].sum() == hashes[order[i]]:
                    yield _Candidate(order[i], np.sort(parts), log2(self.count) + 1, obvious=True)

    def _matrix(self, base: Ints, columns: Mask) -> Ints:
        """The vectors of some codes in a few more columns than there are codes: int64[codes, columns].

        Half of the columns are the fullest, the others are spread over the rest.
        """
        face, wanted = self.face, len(base) + 32
        filled = np.bincount(face.column[face.value != 0], minlength=len(face.crowd)) * columns
        order = np.argsort(-filled, kind="stable")[: int((filled > 0).sum())]
        if len(order) > wanted:
            rest = order[wanted // 2 :]
            spread = rest[np.linspace(0, len(rest) - 1, wanted - wanted // 2).astype(np.int64)]
            order = np.concatenate([order[: wanted // 2], spread])
        place, row = np.full(len(face.crowd), -1, np.int64), np.full(self.count, -1, np.int64)
        place[order], row[base] = np.arange(len(order)), np.arange(len(base))
        at = (place[face.column] >= 0) & (row[face.code] >= 0)
        matrix = np.zeros((len(base), len(order)), np.int64)
        matrix[row[face.code[at]], place[face.column[at]]] = face.value[at]
        return matrix

    def _eliminated(self, base: Ints, matrix: Ints) -> Iterator[_Candidate]:
        """Sums among linearly dependent codes, the smaller codes being tried as parts of the larger."""
        ascending = np.argsort(np.abs(matrix.astype(float)).sum(axis=1), kind="stable")
        for total, parts in zero_one_rows(matrix[ascending]):
            yield _Candidate(int(base[ascending[total]]), np.sort(base[ascending[parts]]), self._choice(len(parts)))

    def _subsets(self, hashes: Hashes, base: Ints, matrix: Ints, at: int) -> Iterator[_Candidate]:
        """Any set of the other codes: met in the middle where few can be parts, else by a linear program.

        Where there are more columns than codes, elimination has found what there is.
        """
        fits = np.arange(len(base)) != at
        if matrix.min(initial=0) >= 0:
            fits &= (matrix <= matrix[at]).all(axis=1)
            if (matrix[fits].sum(axis=0) < matrix[at]).any():
                return
        others = base[fits]
        code = int(base[at])
        if len(others) <= MOST_CODES_FOR_SUBSETS:
            sets = list(_met_in_the_middle(hashes, others, code))
        elif matrix.size <= MOST_ENTRIES_FOR_PROGRAMS and matrix.shape[1] < len(others) < 2 * matrix.shape[1]:
            sets = [others[chosen] for chosen in zero_one_solution(matrix[fits], matrix[at])]
        else:
            return
        for parts in sets:
            yield _Candidate(code, parts, self._choice(len(parts)))

    def _choice(self, parts: int) -> float:
        return _choice(self.count, parts)

    def _accept(self, guesses: Iterator[_Candidate]) -> None:
        for guess in guesses:
            if guess.code not in self.found and self._believed(guess):
                self.found[guess.code] = guess

    def _believed(self, guess: _Candidate) -> bool:
        """Whether a guess is true and no likely coincidence."""
        code, parts = guess.code, guess.parts
        if not self.face.is_sum(code, parts):
            return False
        evidence = self.face.evidence(parts, self.face.lies_in(code))
        bits = float(evidence.sum())
        if self.strong[code]:
            return bits > 0 and (guess.of_all or bits >= guess.choice)
        if self.weak[code] and guess.of_all:
            return bits >= MARGIN_WITH_A_WEAK_NAME
        if not guess.obvious and (len(parts) < 2 or int((evidence >= 1).sum()) < 2):
            return False
        return bits >= guess.choice + (MARGIN_BESIDE_ANOTHER if self.found else MARGIN)


def _choice(count: int, parts: int) -> float:
    """Bits of choice in a code, a number of parts, and the parts."""
    ways = lgamma(count) - lgamma(parts + 1) - lgamma(max(count - parts, 1))
    return ways / log(2) + 2 * log2(count)


def _all_others(hashes: Hashes, base: Ints, asked: Ints, count: int) -> Iterator[_Candidate]:
    """Codes that are the sum of all others; where a total stands twice, of all but the two."""
    own, alike = np.unique(hashes[base], return_counts=True)
    twins = alike[np.searchsorted(own, hashes[asked])].astype(np.uint64)
    everything = hashes[base].sum()
    for code in asked[hashes[asked] * np.uint64(2) == everything].tolist():
        yield _Candidate(code, base[base != code], log2(count), of_all=True)
    for code in asked[(twins > 1) & (hashes[asked] * (twins + np.uint64(1)) == everything)].tolist():
        yield _Candidate(code, base[hashes[base] != hashes[code]], log2(count), of_all=True)


def _runs(hashes: Hashes, base: Ints, asked: Ints, count: int) -> Iterator[_Candidate]:
    """Neighbours right before or after a code; in dimensions that are not too long, anywhere."""
    upto = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes[base])])
    order = np.argsort(upto, kind="stable")
    ascending = upto[order]
    here, own = np.searchsorted(base, asked), hashes[asked]
    for after, wanted in ((True, upto[here + 1] + own), (False, upto[here] - own)):
        at = np.minimum(np.searchsorted(ascending, wanted), len(base))
        for i in np.flatnonzero(ascending[at] == wanted).tolist():
            end = int(order[at[i]])
            low, high = (int(here[i]) + 1, end) if after else (end, int(here[i]))
            if low < high:
                yield _Candidate(int(asked[i]), base[low:high], 2 * log2(count) + 1)
    if len(base) > MOST_CODES_FOR_RUNS:
        return
    for i, place in enumerate(here.tolist()):
        at = np.minimum(np.searchsorted(ascending, upto + own[i]), len(base))
        for low in np.flatnonzero(ascending[at] == upto + own[i]).tolist()[:8]:
            high = int(order[at[low]])
            if low < high and not low <= place < high:
                yield _Candidate(int(asked[i]), base[low:high], 3 * log2(count))


def _pairs(hashes: Hashes, base: Ints, count: int) -> Iterator[_Candidate]:
    if not 2 < len(base) <= MOST_CODES_FOR_PAIRS:
        return
    one, two = np.triu_indices(len(base), 1)
    sums = hashes[base[one]] + hashes[base[two]]
    order = np.argsort(sums, kind="stable")
    at = np.minimum(np.searchsorted(sums[order], hashes[base]), len(order) - 1)
    for i in np.flatnonzero(sums[order[at]] == hashes[base]).tolist():
        pair = order[at[i]]
        yield _Candidate(int(base[i]), base[[one[pair], two[pair]]], _choice(count, 2))


def _met_in_the_middle(hashes: Hashes, others: Ints, code: int) -> Iterator[Ints]:
    """The sets of other codes that may add up to a code, the smallest few."""
    half = len(others) // 2
    left, right = _all_sums(hashes[others[:half]]), _all_sums(hashes[others[half:]])
    order = np.argsort(left, kind="stable")
    wanted = hashes[code] - right
    at = np.minimum(np.searchsorted(left[order], wanted), len(left) - 1)
    hits = np.flatnonzero(left[order[at]] == wanted)
    chosen = [int(order[at[h]]) | int(h) << half for h in hits[:64]]
    for bits in sorted(filter(None, chosen), key=int.bit_count)[:8]:
        yield others[[i for i in range(len(others)) if bits >> i & 1]]


def _all_sums(hashes: Hashes) -> Hashes:
    """The sums of all subsets; bit i of a position says whether number i is in it."""
    sums = np.zeros(1, np.uint64)
    for number in hashes:
        sums = np.concatenate([sums, sums + number])
    return sums
