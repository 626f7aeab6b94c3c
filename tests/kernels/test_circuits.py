"""Single bits and words of patterns: where cells lie, what a union of circuits holds and costs."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.kernels import pack
from gpuga.kernels.logic.bits import bit, cell_bit, lowest, popcount, position
from gpuga.kernels.logic.circuits import used_word, word_cost

POOL = [[0, 3, 7], [3, 4], [66, 69, 0], [], [64]]
START = np.concatenate([[0], np.cumsum([len(c) for c in POOL])]).astype(np.int64)
CELL = np.array([cell for circuit in POOL for cell in circuit], np.int32)


def test_bits_are_counted_and_found() -> None:
    words = [0, 1, 2**63, 2**64 - 1, 0b101100, 0x8000000000000001]
    with np.errstate(over="ignore"):
        for word in words:
            assert popcount(np.uint64(word)) == bin(word).count("1")
            if word:
                single = np.uint64(lowest(np.uint64(word)))
                assert int(single) == word & -word
                assert position(single) == (word & -word).bit_length() - 1


@pytest.mark.parametrize("columns", [5, 64, 65, 130])
def test_a_cell_is_where_its_bit_is(columns: int) -> None:
    hidden = np.random.default_rng(columns).random((3, columns)) < 0.5
    rows = pack(hidden[None]).bits[0]
    for i in range(3):
        assert [bool(bit(rows, i, j)) for j in range(columns)] == hidden[i].tolist()
        assert [bool(cell_bit(rows, columns, i * columns + j)) for j in range(columns)] == hidden[i].tolist()


@pytest.mark.parametrize("columns", [5, 64, 70, 130])
def test_a_word_of_a_union_holds_what_was_there_and_what_is_used(columns: int) -> None:
    rng = np.random.default_rng(columns)
    before = rng.random((2, columns)) < 0.3
    uses = (rng.random(2 * columns) < 0.3).astype(np.int32) * 2
    base = pack(before[None]).bits[0]
    weights = rng.integers(1, 9, 2 * columns)
    for i in range(2):
        both = before[i] | (uses[i * columns : (i + 1) * columns] > 0)
        for w in range(base.shape[1]):
            word = np.uint64(used_word(uses, base, columns, i, w))
            there = [j for j in range(64) if int(word) >> j & 1]
            assert there == [j - 64 * w for j in np.flatnonzero(both) if j // 64 == w]
            with np.errstate(over="ignore"):
                cost = word_cost(word, columns, i, w, weights)
            assert cost == sum(int(weights[i * columns + 64 * w + j]) for j in there)
