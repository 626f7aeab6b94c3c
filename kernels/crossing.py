"""Crossover of whole populations by components of the parents' difference, and how patterns are told apart (CPU)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .layout import Bits, EquationLines, Int32, Int64, Patterns, owned
from .logic.compile import device
from .logic.exchange import Chosen, Joins, Labels, digest, exchange
from .logic.workers import nearest_at

Words = NDArray[np.uint64]
Share = Callable[[Callable[[int, int], None], int], None]


def joins_of(lines: EquationLines, weights: Int64, hubs: NDArray[np.bool_]) -> Joins:
    """Which lines join the cells of a table; `hubs` bool[m] are lines that join none."""
    counts = ~hubs[lines.line]
    cell = np.repeat(np.arange(lines.cells), np.diff(lines.cell_start))
    size = np.bincount(cell[counts], minlength=lines.cells)
    begins = np.concatenate([[0], np.cumsum(size)])
    alone = np.where(size == 0, np.cumsum(size == 0) - 1, -1)
    joining = owned(lines.line[counts], np.int32)
    return Joins(owned(begins, np.int64), joining, owned(alone, np.int32), owned(weights, np.int64), len(hubs))


class Crossing:
    """The operations of one table, on patterns in host memory; `share(work, count)` spreads a range over threads."""

    def __init__(
        self, lines: EquationLines, weights: Int64, hubs: NDArray[np.bool_], share: Share | None = None
    ) -> None:
        self.joins = joins_of(lines, weights, hubs)
        self.nodes = len(hubs) + int((self.joins.alone >= 0).sum())
        self.share = share or (lambda work, count: work(0, count))

    def exchange(self, patterns: Patterns, pairs: Int32, ways: Int32, seeds: Words) -> tuple[Patterns, Int64]:
        """A child per pair int32[Q, 2]: the first parent with components of the second; what each gains (int64[Q]).

        `ways` int32[Q] says which components are taken (`ALL`, `BEST`, `SOME`), `seeds` uint64[Q] are the coins.
        """
        children = np.empty((len(pairs), *patterns.bits.shape[1:]), np.uint64)
        gains = np.empty(len(pairs), np.int64)

        def work(begin: int, end: int) -> None:
            part = slice(begin, end)
            chosen = Chosen(pairs[part], ways[part], seeds[part])
            _exchange(patterns.bits, patterns.columns, self.joins, self._room(), chosen, children[part], gains[part])

        self.share(work, len(pairs))
        return Patterns(children, patterns.columns), gains

    def _room(self) -> Labels:
        size = self.nodes
        return Labels(np.empty(size, np.int32), np.empty(size, np.int64), np.empty(size, np.int32))

    def digests(self, patterns: Patterns) -> Words:
        """uint64[P]: equal for equal patterns, and for others all but never."""
        found = np.empty(patterns.count, np.uint64)
        self.share(lambda begin, end: _digests(patterns.bits[begin:end], found[begin:end]), patterns.count)
        return found

    def nearest(self, patterns: Patterns, others: Patterns) -> Int64:
        """int64[P]: in how many cells each pattern differs from the nearest of the others that is not the same."""
        found = np.empty(patterns.count, np.int64)
        self.share(lambda begin, end: _nearest(patterns.bits[begin:end], others.bits, found[begin:end]), len(found))
        return found


@device
def _exchange(
    bits: Bits, columns: int, joins: Joins, labels: Labels, chosen: Chosen, children: Bits, gains: Int64
) -> None:
    for q in range(len(gains)):
        first, second = bits[chosen.pairs[q, 0]], bits[chosen.pairs[q, 1]]
        gains[q] = exchange(first, second, columns, joins, labels, chosen.ways[q], chosen.seeds[q], children[q])


@device
def _digests(bits: Bits, found: Words) -> None:
    for p in range(len(found)):
        found[p] = digest(bits[p])


@device
def _nearest(bits: Bits, others: Bits, found: Int64) -> None:
    for p in range(len(found)):
        found[p] = nearest_at(bits, others, p)
