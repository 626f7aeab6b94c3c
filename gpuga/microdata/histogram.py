"""Which records have a rare combination on a key: the histogram of the key, looked up again per record.

Written once compiled and once in NumPy as the oracle. What recodings do to frequency tables is the kernels' work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

MOST_BINS = 2**24
"""Dense histograms are used up to this many bins; above, cells are sorted instead."""


def combine(columns: Codes, fields: Sequence[int], sizes: Sequence[int]) -> tuple[Ints, int]:
    """One number per record for its scores on `fields` (-1 where one is missing), and the number of bins.

    `columns` int32[fields, records], -1 where missing. Sparse products are renumbered, so the bins stay few.
    """
    flat, bins = np.zeros(columns.shape[1], np.int64), 1
    for field, size in zip(fields, sizes, strict=True):
        flat = _extend(flat, columns[field], max(size, 1))
        bins *= max(size, 1)
        if bins > MOST_BINS:
            flat, bins = renumber(flat)
    return flat, bins


def renumber(flat: Ints) -> tuple[Ints, int]:
    """The same partition of the records with consecutive numbers; -1 stays -1."""
    distinct, inverse = np.unique(flat, return_inverse=True)
    missing = int(len(distinct) > 0 and distinct[0] < 0)
    return inverse.astype(np.int64) - missing, max(len(distinct) - missing, 1)


@compiled
def _extend(flat: Ints, codes: Codes, size: int) -> Ints:
    longer = np.empty(len(flat), np.int64)
    for r in range(len(flat)):
        if flat[r] < 0 or codes[r] < 0:
            longer[r] = -1
        else:
            longer[r] = flat[r] * size + codes[r]
    return longer


@compiled
def _mark(flat: Ints, bins: int, threshold: int, words: NDArray[np.uint64], word: int, bit: np.uint64) -> None:
    counts = np.zeros(bins, np.int64)
    for r in range(len(flat)):
        if flat[r] >= 0:
            counts[flat[r]] += 1
    for r in range(len(flat)):
        if flat[r] >= 0 and counts[flat[r]] < threshold:
            words[r, word] |= bit


@compiled
def _place(columns: Codes, fields: Ints, sizes: Ints, record: int) -> int:
    """The bin of one record, -1 where one of its scores is missing."""
    at = 0
    for place in range(len(fields)):
        score = columns[fields[place], record]
        if score < 0:
            return -1
        at = at * sizes[place] + score
    return at


@compiled
def _mark_dense(
    columns: Codes, fields: Ints, sizes: Ints, bins: int, threshold: int,
    words: NDArray[np.uint64], word: int, bit: np.uint64,
) -> None:  # fmt: skip
    counts = np.zeros(bins, np.int64)
    for r in range(columns.shape[1]):
        at = _place(columns, fields, sizes, r)
        if at >= 0:
            counts[at] += 1
    for r in range(columns.shape[1]):
        at = _place(columns, fields, sizes, r)
        if at >= 0 and counts[at] < threshold:
            words[r, word] |= bit


def mark_rare(
    columns: Codes,
    fields: Sequence[int],
    sizes: Sequence[int],
    threshold: int,
    words: NDArray[np.uint64],
    key: int,
) -> None:
    """Set bit `key` of each record whose scores on `fields` are shared by fewer than `threshold` records.

    `columns` int32[fields, records]; `sizes` are the numbers of codes; `words` uint64[records, W].
    """
    word, bit = key // 64, np.uint64(1) << np.uint64(key % 64)
    bins = math.prod(max(int(size), 1) for size in sizes)
    if bins <= MOST_BINS:
        places = (np.array(fields, np.int64), np.maximum(np.array(sizes, np.int64), 1))
        _mark_dense(columns, *places, bins, threshold, words, word, bit)
    else:
        flat, few = combine(columns, fields, sizes)
        _mark(flat, few, threshold, words, word, bit)
