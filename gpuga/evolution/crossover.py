"""Variation on pool-indexed chromosomes, compiled: circuits are exchanged where that makes a pattern cheaper.

The kernels price every exchange of every pair in one launch; here a child takes the exchanges in the order of those
prices, each priced again against what the child already took. Every child is a union of certified circuits
and so as safe as its parents.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from gpuga.compiled import inner, parallel
from gpuga.evolution.individual import Genes
from gpuga.table.table import Ints, Mask


def exchanged(
    genes: Genes, start: Ints, cell: Genes, weight: Ints, pairs: Genes, gains: Ints, neutral: Mask
) -> tuple[Genes, Ints]:
    """Children int32[Q, T] of pairs (taker, giver) int32[Q, 2], and how much dearer than the taker each is.

    `gains` int64[Q, T] orders the exchanges; `neutral` bool[Q, T] lets exchanges happen that cost nothing.
    """
    children = genes[pairs[:, 0]].copy()
    rise = np.zeros(len(pairs), np.int64)
    order = np.argsort(gains, axis=1, kind="stable").astype(np.int32)
    _exchange(genes, start, cell, weight, pairs, order, neutral, children, rise)
    return children, rise


def best_of_pool(
    genes: Genes, start: Ints, cell: Genes, weight: Ints, of_task: Ints, circuits: Genes, orders: Genes
) -> tuple[Genes, Ints]:
    """Each individual with every task, in its order (int32[Q, T]), given the pool's cheapest circuit for it.

    Circuit numbers of task t are `circuits[of_task[t]:of_task[t+1]]`. Returns the new genes and how much
    dearer (never) each became.
    """
    better = genes.copy()
    rise = np.zeros(len(genes), np.int64)
    _search_pool(start, cell, weight, of_task, circuits, orders, better, rise)
    return better, rise


@inner
def _add(start: Ints, cell: Genes, circuit: int, step: int, uses: Genes) -> None:
    if circuit >= 0:
        for e in range(start[circuit], start[circuit + 1]):
            uses[cell[e]] += step


@inner
def _price(start: Ints, cell: Genes, weight: Ints, circuit: int, uses: Genes) -> int:
    """What a circuit adds to a pattern whose cells are used so often."""
    total = 0
    if circuit >= 0:
        for e in range(start[circuit], start[circuit + 1]):
            if uses[cell[e]] == 0:
                total += weight[cell[e]]
    return total


@inner
def _uses(start: Ints, cell: Genes, genes: Genes, columns: int) -> Genes:
    uses = np.zeros(columns, np.int32)
    for t in range(len(genes)):
        _add(start, cell, genes[t], 1, uses)
    return uses


@parallel
def _exchange(
    genes: Genes,
    start: Ints,
    cell: Genes,
    weight: Ints,
    pairs: Genes,
    order: Genes,
    neutral: Mask,
    children: Genes,
    rise: Ints,
) -> None:
    for q in prange(len(pairs)):
        uses = _uses(start, cell, children[q], len(weight))
        for z in range(order.shape[1]):
            t = order[q, z]
            old, new = children[q, t], genes[pairs[q, 1], t]
            if old == new:
                continue
            _add(start, cell, old, -1, uses)
            change = _price(start, cell, weight, new, uses) - _price(start, cell, weight, old, uses)
            taken = change < 0 or (change == 0 and neutral[q, t])
            _add(start, cell, new if taken else old, 1, uses)
            if taken:
                children[q, t] = new
                rise[q] += change


@parallel
def _search_pool(
    start: Ints,
    cell: Genes,
    weight: Ints,
    of_task: Ints,
    circuits: Genes,
    orders: Genes,
    genes: Genes,
    rise: Ints,
) -> None:
    for q in prange(len(genes)):
        uses = _uses(start, cell, genes[q], len(weight))
        for z in range(orders.shape[1]):
            t = orders[q, z]
            old = genes[q, t]
            _add(start, cell, old, -1, uses)
            least = before = _price(start, cell, weight, old, uses)
            best = old
            for y in range(of_task[t], of_task[t + 1]):
                price = _price(start, cell, weight, circuits[y], uses)
                if price < least:
                    least, best = price, circuits[y]
            _add(start, cell, best, 1, uses)
            genes[q, t] = best
            rise[q] += least - before


@parallel
def nearest(genes: Genes, reference: Genes) -> Ints:
    """How many circuits each individual has that its nearest other reference has not (int64[P])."""
    out = np.zeros(len(genes), np.int64)
    for p in prange(len(genes)):
        least = genes.shape[1] + 1
        for r in range(len(reference)):
            different = 0
            for t in range(genes.shape[1]):
                if genes[p, t] != reference[r, t]:
                    different += 1
            if 0 < different < least:
                least = different
        out[p] = min(least, genes.shape[1])
    return out
