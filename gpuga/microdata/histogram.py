"""Histograms: frequency tables and the effect of recodings on them; plain arrays in, plain arrays out.

Two operations, each written once for the compiled back end and once in NumPy as the oracle:

- `mark_rare`: which records have a rare combination on one key;
- `unprotected_weights`: for a batch of jobs (one frequency table under one recoding of its fields), the summed weight
  of its unsafe cells that stay rare. All neighbours of a recoding are one such batch.

A frequency table is given by its inhabited cells: their coordinates, counts and weights. Counts and weights are
int64, so the sums are the same in any order.
"""

from __future__ import annotations

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


def combine(codes: Codes, fields: Sequence[int], sizes: Sequence[int]) -> tuple[Ints, int]:
    """One number per record for its scores on `fields` (-1 where one is missing), and the number of bins.

    `codes` int32[records, fields], -1 where missing. Sparse products are renumbered, so the bins stay few.
    """
    flat, bins = np.zeros(len(codes), np.int64), 1
    for field, size in zip(fields, sizes, strict=True):
        flat = _extend(flat, np.ascontiguousarray(codes[:, field]), max(size, 1))
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
def count(flat: Ints, bins: int) -> Ints:
    """How many records lie in each bin (int64[bins]); -1 lies in none."""
    counts = np.zeros(bins, np.int64)
    for r in range(len(flat)):
        if flat[r] >= 0:
            counts[flat[r]] += 1
    return counts


@njit(cache=True)
def _mark(flat: Ints, counts: Ints, threshold: int, words: NDArray[np.uint64], word: int, bit: np.uint64) -> None:
    for r in range(len(flat)):
        if flat[r] >= 0 and counts[flat[r]] < threshold:
            words[r, word] |= bit


def mark_rare(flat: Ints, bins: int, threshold: int, words: NDArray[np.uint64], key: int) -> None:
    """Set bit `key` of each record (`words` uint64[records, W]) whose bin holds fewer than `threshold` records."""
    _mark(flat, count(flat, bins), threshold, words, key // 64, np.uint64(1) << np.uint64(key % 64))


def mark_rare_oracle(flat: Ints, threshold: int) -> NDArray[np.bool_]:
    """The oracle of `mark_rare`: whether each record's bin is rare."""
    distinct, inverse, counts = np.unique(flat, return_inverse=True, return_counts=True)
    return np.asarray((counts[inverse] < threshold) & (flat >= 0))


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Many frequency tables by their inhabited cells, and the recodings of the fields.

    `start` int64[tables+1]; per cell `coordinate` int32[cells, D] (unused places 0), `count` and `weight` int64;
    per table `field` int32[tables, D] (-1 unused) and `threshold` int64. Recoding k of field f sends code c to
    `image[image_start[f, k] + c]`, one of `image_size[f, k]` codes.
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
    """The weight left unprotected by each job (int64[jobs]): table `table[j]`, its fields recoded by `rule[j]`.

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
            np.ascontiguousarray(table[dense]), np.ascontiguousarray(rule[dense]), bins[dense].astype(np.int64),
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
    coordinate: Codes, cell: int, fields: Codes, rules: Codes, image_start: Ints, image_size: Ints, image: Codes
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
