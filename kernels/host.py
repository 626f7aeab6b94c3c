"""What the launchers of every back end prepare on the host: packed patterns, orders of cells, room for results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .backend import Circuits, Population
from .layout import (
    INFINITE,
    Bools,
    Frequencies,
    Int32,
    Int64,
    Lines,
    Patterns,
    Pool,
    Tasks,
    owned,
    pack,
    unpack,
)


def resident(patterns: Population, columns: int | None = None) -> Patterns:
    """Packed patterns in host memory, rows of `columns` cells where that is asked for."""
    if not isinstance(patterns, Patterns):
        return pack(patterns, columns)
    if columns is not None and columns != patterns.columns:
        return pack(unpack(patterns), columns)
    return patterns


def cell_order(weights: Int64, keep: Bools) -> Int32:
    """The cells that may be dropped, heaviest first, smaller cell number first among equals."""
    heaviest = np.argsort(-np.asarray(weights, np.int64).ravel(), kind="stable")
    return owned(heaviest[~np.asarray(keep, np.bool_).ravel()[heaviest]], np.int32)


def line_orders(weights: Int64, rows: int, columns: int) -> tuple[Int32, Int32]:
    """Each row's columns (int32[R, C]) and each column's rows (int32[C, R]) by rising weight; forbidden cells: -1."""
    table = weights.reshape(rows, columns)
    return _orders(table), _orders(table.T)


def _orders(table: Int64) -> Int32:
    last = np.iinfo(np.int64).max
    priced = np.where(table < 0, last, table)
    order = np.argsort(priced, axis=1, kind="stable")
    order[np.take_along_axis(priced, order, axis=1) == last] = -1
    return owned(order, np.int32)


def line_pushes(lines: Lines, up: Int64, down: Int64, tasks: Tasks) -> tuple[Int64, Int64]:
    """How far each cell can push the sum of each of its lines (up, down), in the order of `lines.line`.

    Cells count with no more than any task needs: that changes no verdict, and unbounded cells do not overflow sums.
    """
    cell = np.repeat(np.arange(lines.cells), np.diff(lines.cell_start))
    factor = np.abs(lines.line_coef)
    cap = int(tasks.need.max(initial=0)) * int(factor.max(initial=1))
    rise, fall = np.minimum(up, cap)[cell] * factor, np.minimum(down, cap)[cell] * factor
    positive = lines.line_coef > 0
    return owned(np.where(positive, rise, fall), np.int64), owned(np.where(positive, fall, rise), np.int64)


def circuits_of(
    patterns: Patterns, items: Int32, weights: Int64, length: Int64, cells: Int32, amounts: Int64
) -> Circuits:
    """Collect fixed-width results (`cells`, `amounts` [Q, room], `length` of each) into a pool with prices."""
    start = np.zeros(len(length) + 1, np.int64)
    np.cumsum(length, out=start[1:])
    inside = np.arange(cells.shape[1]) < length[:, None]
    member = cells[inside]
    item = np.repeat(np.arange(len(length)), length)
    published = ~suppressed_at(patterns, items[item, 0], member)
    cost = np.zeros(len(length), np.int64)
    np.add.at(cost, item, np.where(published, weights[member], 0))
    found = length > 0
    return Circuits(Pool.of(start, member, amounts[inside]), found, np.where(found, cost, INFINITE))


def suppressed_at(patterns: Patterns, which: Int64, cell: Int32) -> Bools:
    """Is cell[x] suppressed in pattern which[x]?"""
    row, column = np.divmod(cell.astype(np.int64), patterns.columns)
    word = patterns.bits[which, row, column >> 6]
    suppressed: Bools = (word >> (column & 63).astype(np.uint64)) & np.uint64(1) != 0
    return suppressed


def word_seed(value: int) -> np.uint64:
    """A seed, stream or counter as an unsigned word, whatever its sign."""
    return np.uint64(int(value) % 2**64)


MOST_BINS = 2**24
"""Histograms are used up to this many bins; above, cells are sorted instead."""


def in_histograms(
    tables: Frequencies, table: Int32, rule: Int32, by_bins: Callable[[Int32, Int32, Int64], Int64]
) -> Int64:
    """The answers to all jobs: `by_bins(table, rule, bins)` for those whose bins are few, sorting for the rest."""
    bins = tables.bins(table, rule)
    few = bins <= MOST_BINS
    weights = np.empty(len(table), np.int64)
    if few.any():
        weights[few] = by_bins(owned(table[few], np.int32), owned(rule[few], np.int32), bins[few].astype(np.int64))
    for job in np.flatnonzero(~few):
        weights[job] = rare_weight(tables, int(table[job]), rule[job])
    return weights


def rare_weight(tables: Frequencies, table: int, rule: Int32) -> int:
    """The answer to one job, by sorting: any number of bins."""
    cells = slice(int(tables.start[table]), int(tables.start[table + 1]))
    recoded = [np.zeros(cells.stop - cells.start, np.int32)]
    for place, field in enumerate(tables.field[table]):
        if field >= 0:
            recoded.append(tables.image[tables.image_start[field, rule[place]] + tables.coordinate[cells, place]])
    _, inverse = np.unique(np.stack(recoded, axis=1), axis=0, return_inverse=True)
    total = np.zeros(int(inverse.max(initial=-1)) + 1, np.int64)
    np.add.at(total, inverse.reshape(-1), tables.count[cells])
    rare = total[inverse.reshape(-1)] < tables.threshold[table]
    return int(tables.weight[cells][rare].sum())
