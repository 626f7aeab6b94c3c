"""Circuits in patterns: unions, their costs, and what exchanging one of them changes."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.kernels import pack
from gpuga.kernels.logic.bits import bit, cell_bit, lowest, popcount, position
from gpuga.kernels.logic.circuits import in_circuit, is_whole, swap_gain, used_word, word_cost

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


def test_a_circuit_is_whole_where_all_of_its_cells_are_suppressed() -> None:
    for missing in (None, 0, 3, 7, 4, 66, 69, 64):
        hidden = np.ones((1, 2, 35), bool)
        if missing is not None:
            hidden.ravel()[missing] = False
        rows = pack(hidden).bits[0]
        for circuit, cells in enumerate(POOL):
            assert bool(is_whole(rows, 35, START, CELL, circuit)) == (missing not in cells)
        assert not is_whole(rows, 35, START, CELL, -1)


def test_a_circuit_knows_its_cells() -> None:
    for circuit, cells in enumerate(POOL):
        for cell in (0, 3, 4, 7, 64, 66, 69, 5):
            assert bool(in_circuit(START, CELL, circuit, cell)) == (cell in cells)
    assert not in_circuit(START, CELL, -1, 0)


@pytest.mark.parametrize("columns", [35, 70])
def test_the_gain_of_an_exchange_is_the_difference_of_the_costs(columns: int) -> None:
    rng = np.random.default_rng(columns)
    cells = 70
    changed = 0
    for _ in range(60):
        weights = rng.integers(1, 9, cells)
        before = rng.random(cells) < 0.2
        base = pack(before.reshape(1, -1, columns)).bits[0]
        chosen = rng.integers(-1, len(POOL), 4)
        uses = np.zeros(cells, np.int32)
        for circuit in chosen[chosen >= 0]:
            uses[POOL[circuit]] += 1
        leaving = int(chosen[0])
        for coming in range(-1, len(POOL)):
            after = uses.copy()
            if leaving >= 0:
                after[POOL[leaving]] -= 1
            if coming >= 0:
                after[POOL[coming]] += 1
            costs = [int(weights[(used > 0) & ~before].sum()) for used in (uses, after)]
            found = swap_gain(START, CELL, uses, weights, base, columns, leaving, coming)
            assert found == costs[1] - costs[0]
            changed += found != 0
    assert changed > 100
