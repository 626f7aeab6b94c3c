"""What the launchers of every back end do on the host: packed patterns, histograms too large for one array."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .backend import Population
from .layout import (
    Frequencies,
    Int32,
    Int64,
    Patterns,
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
