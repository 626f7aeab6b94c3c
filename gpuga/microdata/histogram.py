"""Histograms: frequency tables and the effect of recodings on them; plain arrays in, plain arrays out.

Two operations, each written once for the compiled back end and once in NumPy as the oracle:

- `mark_rare`: which records have a rare combination on one key;
- `unprotected_weights`: for a batch of jobs (one frequency table under one recoding of its fields), the summed
  weight of its unsafe cells that stay rare. All neighbours of a recoding are one such batch.

A frequency table is given by its inhabited cells: their coordinates, counts and weights. Counts and weights
are int64, so the sums are the same in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

MOST_BINS = 2**24
"""Dense histograms are used up to this many bins; above, cells are sorted instead."""
WORTH_THREADS = 200_000
"""A batch that touches fewer cells than this is done sooner than threads are woken."""


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


@njit(cache=True)
def _extend(flat: Ints, codes: Codes, size: int) -> Ints:
    longer = np.empty(len(flat), np.int64)
    for r in range(len(flat)):
        if flat[r] < 0 or codes[r] < 0:
            longer[r] = -1
        else:
            longer[r] = flat[r] * size + codes[r]
    return longer


@njit(cache=True)
def _mark(flat: Ints, bins: int, threshold: int, words: NDArray[np.uint64], word: int, bit: np.uint64) -> None:
    counts = np.zeros(bins, np.int64)
    for r in range(len(flat)):
        if flat[r] >= 0:
            counts[flat[r]] += 1
    for r in range(len(flat)):
        if flat[r] >= 0 and counts[flat[r]] < threshold:
            words[r, word] |= bit


@njit(cache=True)
def _place(columns: Codes, fields: Ints, sizes: Ints, record: int) -> int:
    """The bin of one record, -1 where one of its scores is missing."""
    at = 0
    for place in range(len(fields)):
        score = columns[fields[place], record]
        if score < 0:
            return -1
        at = at * sizes[place] + score
    return at


@njit(cache=True)
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


def mark_rare_oracle(columns: Codes, fields: Sequence[int], threshold: int) -> NDArray[np.bool_]:
    """The oracle of `mark_rare`, by sorting: whether each record's scores are rare."""
    scores = columns[list(fields)].T
    _, inverse, counts = np.unique(scores, axis=0, return_inverse=True, return_counts=True)
    return np.asarray((counts[inverse.reshape(-1)] < threshold) & (scores >= 0).all(axis=1))


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Many frequency tables by their inhabited cells, and the recodings of the fields.

    `start` int64[tables+1]; per cell `coordinate` int32[cells, D] (unused places 0), `count` and `weight`
    int64; per table `field` int32[tables, D] (-1 unused) and `threshold` int64. Recoding k of field f sends
    code c to `image[image_start[f, k] + c]`, one of `image_size[f, k]` codes.
    """

    start: Ints
    coordinate: Codes
    count: Ints
    weight: Ints
    field: Codes
    threshold: Ints
    image_start: Ints
    image_size: Ints
    image: Codes


def unprotected_weights(tables: Frequencies, table: Codes, rule: Codes) -> Ints:
    """The weight left unprotected by each job (int64[jobs]): table `table[j]`, its fields recoded by
    `rule[j]`.

    `table` int32[jobs]; `rule` int32[jobs, D], one recoding per place of the table's fields.
    """
    bins = job_bins(tables, table, rule)
    answer = np.empty(len(table), np.int64)
    dense = np.flatnonzero(bins <= MOST_BINS)
    if len(dense):
        cells = int((tables.start[table[dense] + 1] - tables.start[table[dense]]).sum())
        launch = _jobs if cells + bins[dense].sum() >= WORTH_THREADS else _jobs_in_turn
        answer[dense] = launch(
            tables.start, tables.coordinate, tables.count, tables.weight, tables.field, tables.threshold,
            tables.image_start, tables.image_size, tables.image,
            np.ascontiguousarray(table[dense]), np.ascontiguousarray(rule[dense]),
            bins[dense].astype(np.int64),
        )  # fmt: skip
    for job in np.flatnonzero(bins > MOST_BINS):
        answer[job] = unprotected_weight_oracle(tables, int(table[job]), rule[job])
    return answer


def job_bins(tables: Frequencies, table: Codes, rule: Codes) -> NDArray[np.float64]:
    """The number of bins of each job's recoded table (float64: it may be enormous)."""
    bins = np.ones(len(table))
    for place in range(tables.field.shape[1]):
        field = tables.field[table, place]
        size = tables.image_size[np.maximum(field, 0), rule[:, place]]
        bins *= np.where(field >= 0, size, 1)
    return bins


@njit(cache=True)
def _bin(
    coordinate: Codes,
    cell: int,
    fields: Codes,
    rules: Codes,
    image_start: Ints,
    image_size: Ints,
    image: Codes,
) -> int:
    """The bin of one cell in the recoded table."""
    at = 0
    for place in range(len(fields)):
        f = fields[place]
        if f >= 0:
            k = rules[place]
            at = at * image_size[f, k] + image[image_start[f, k] + coordinate[cell, place]]
    return at


@njit(cache=True)
def _job(
    first: int, last: int, coordinate: Codes, counts: Ints, weight: Ints, fields: Codes, threshold: int,
    image_start: Ints, image_size: Ints, image: Codes, rules: Codes, histogram: Ints,
) -> int:  # fmt: skip
    """One job: fill the recoded histogram, then sum the weights of cells whose bin is still rare."""
    for cell in range(first, last):
        at = _bin(coordinate, cell, fields, rules, image_start, image_size, image)
        histogram[at] += counts[cell]
    left = 0
    for cell in range(first, last):
        if weight[cell] > 0:
            at = _bin(coordinate, cell, fields, rules, image_start, image_size, image)
            if histogram[at] < threshold:
                left += weight[cell]
    return left


@njit(cache=True, parallel=True)
def _jobs(
    start: Ints, coordinate: Codes, counts: Ints, weight: Ints, field: Codes, threshold: Ints,
    image_start: Ints, image_size: Ints, image: Codes, table: Codes, rule: Codes, bins: Ints,
) -> Ints:  # fmt: skip
    answer = np.zeros(len(table), np.int64)
    for job in prange(len(table)):
        t = table[job]
        answer[job] = _job(
            start[t], start[t + 1], coordinate, counts, weight, field[t], threshold[t],
            image_start, image_size, image, rule[job], np.zeros(bins[job], np.int64),
        )  # fmt: skip
    return answer


@njit(cache=True)
def _jobs_in_turn(
    start: Ints, coordinate: Codes, counts: Ints, weight: Ints, field: Codes, threshold: Ints,
    image_start: Ints, image_size: Ints, image: Codes, table: Codes, rule: Codes, bins: Ints,
) -> Ints:  # fmt: skip
    answer = np.zeros(len(table), np.int64)
    for job in range(len(table)):
        t = table[job]
        answer[job] = _job(
            start[t], start[t + 1], coordinate, counts, weight, field[t], threshold[t],
            image_start, image_size, image, rule[job], np.zeros(bins[job], np.int64),
        )  # fmt: skip
    return answer


def unprotected_weight_oracle(tables: Frequencies, table: int, rule: Codes) -> int:
    """The oracle of one job, by sorting."""
    cells = slice(int(tables.start[table]), int(tables.start[table + 1]))
    columns = []
    for place, f in enumerate(tables.field[table]):
        if f >= 0:
            at = tables.image_start[f, rule[place]]
            columns.append(tables.image[at + tables.coordinate[cells, place]])
    _, inverse = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    total = np.zeros(int(inverse.max(initial=-1)) + 1, np.int64)
    np.add.at(total, inverse.reshape(-1), tables.count[cells])
    rare = total[inverse.reshape(-1)] < tables.threshold[table]
    return int(tables.weight[cells][rare].sum())
