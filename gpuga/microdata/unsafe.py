"""Unsafe combinations of a file's records: which keys are rare for which record, and the minimal ones.

A record's unsafe keys are bits of 64-bit words, key by key. A *minuc* is an unsafe key none of whose proper
subsets is unsafe for the same record. Suppressing one field of every minuc protects all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled
from gpuga.microdata.histogram import mark_rare
from gpuga.microdata.keys import Keys

Words = NDArray[np.uint64]
Codes = NDArray[np.int32]


def unsafe_words(codes: Codes, sizes: NDArray[np.int64], keys: Keys, only: int | None = None) -> Words:
    """Each record's unsafe keys as bits (uint64[records, W]); `codes` int32[records, fields], -1 missing.

    With `only`, just the keys that contain that field are looked at.
    """
    words = np.zeros((len(codes), (len(keys) + 63) // 64), np.uint64)
    columns = np.ascontiguousarray(codes.T)
    for position, key in enumerate(keys.keys):
        if only is None or only in key.fields:
            mark_rare(columns, key.fields, [int(sizes[f]) for f in key.fields], key.threshold, words, position)
    return words


def minucs(words: Words, keys: Keys) -> Words:
    """Only the minimal unsafe keys of each record."""
    return np.asarray(_without(words, keys.supersets))


@compiled
def _without(words: Words, related: Words) -> Words:
    """Take from each record the keys related to another of its keys."""
    kept = words.copy()
    for r in range(len(words)):
        for w in range(words.shape[1]):
            if words[r, w] == 0:
                continue
            for b in range(64):
                if words[r, w] & (np.uint64(1) << np.uint64(b)):
                    for v in range(words.shape[1]):
                        kept[r, v] &= ~related[w * 64 + b, v]
    return kept


@dataclass(frozen=True, eq=False)
class Families:
    """Records grouped by equal unsafe keys (and equal cost class): one small problem stands for all of them.

    `record` int64[unsafe records] the records that have an unsafe key, `family` int64 the family of each;
    per family: `words` uint64[families, W], `cost_class` int64, `size` int64.
    """

    record: NDArray[np.int64]
    family: NDArray[np.int64]
    words: Words
    cost_class: NDArray[np.int64]
    size: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.words)


def families(words: Words, cost_class: NDArray[np.int64]) -> Families:
    """Group the records that have an unsafe key."""
    record = np.flatnonzero(words.any(axis=1))
    rows = [*words[record].T, cost_class[record].astype(np.uint64)]
    family = np.zeros(len(record), np.int64)
    for column in rows:  # one column after the other: sorting numbers is much faster than sorting rows
        scores, place = np.unique(column, return_inverse=True)
        _, family = np.unique(family * len(scores) + place, return_inverse=True)
    _, example, size = np.unique(family, return_index=True, return_counts=True)
    return Families(record, family, words[record[example]], cost_class[record[example]], size)


def key_bits(words: Words, keys: int) -> NDArray[np.bool_]:
    """Bits as a table of truth values (bool[rows, keys])."""
    shifts = np.arange(64, dtype=np.uint64)
    bits = ((words[:, :, None] >> shifts) & np.uint64(1)).astype(bool)
    return np.asarray(bits.reshape(len(words), words.shape[1] * 64)[:, :keys])


def set_masks(words: Words, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The families' keys as compressed rows: `start` int64[families+1], `key` and `mask` int64[nnz]."""
    bits = key_bits(words, len(keys))
    start = np.zeros(len(words) + 1, np.int64)
    np.cumsum(bits.sum(axis=1), out=start[1:])
    key = np.nonzero(bits)[1].astype(np.int64)
    return start, key, keys.masks[key]
