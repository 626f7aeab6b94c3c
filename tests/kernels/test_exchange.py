"""Crossover by components: against connected components by SciPy, and against what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gpuga.kernels.crossing import Crossing
from gpuga.kernels.layout import pack, plane_lines, unpack
from gpuga.kernels.logic.exchange import ALL, BEST, SOME

ROWS, COLUMNS = 9, 70


def crossing(weights: np.ndarray) -> Crossing:
    hubs = np.zeros(ROWS + COLUMNS, bool)
    hubs[[ROWS - 1, ROWS + COLUMNS - 1]] = True
    return Crossing(plane_lines(ROWS, COLUMNS), weights, hubs)


def components(one: np.ndarray, other: np.ndarray) -> list[np.ndarray]:
    """The cells of the difference by component, totals joining nothing."""
    cells = np.flatnonzero(one ^ other)
    i, j = cells // COLUMNS, cells % COLUMNS
    inner = (i < ROWS - 1) & (j < COLUMNS - 1)
    size = ROWS + COLUMNS
    _, label = connected_components(coo_array((np.ones(inner.sum()), (i[inner], ROWS + j[inner])), shape=(size, size)))
    at = np.where(i < ROWS - 1, label[i], label[ROWS + j])
    at[(i == ROWS - 1) & (j == COLUMNS - 1)] = -1
    return [cells[at == one] for one in np.unique(at)]


def drawn(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.integers(1, 9, ROWS * COLUMNS), random.random((count, ROWS * COLUMNS)) < 0.03


@pytest.mark.parametrize("seed", range(6))
def test_a_child_takes_every_component_that_gains(seed: int) -> None:
    weights, patterns = drawn(seed, 2)
    kids, gains = crossing(weights).exchange(
        pack(patterns, COLUMNS), np.array([[0, 1]], np.int32), np.array([ALL], np.int32), np.array([7], np.uint64)
    )
    child, (one, other) = unpack(kids)[0], patterns
    for cells in components(one, other):
        gain = weights[cells][one[cells]].sum() - weights[cells][other[cells]].sum()
        if gain:
            assert (child[cells] == (other if gain > 0 else one)[cells]).all()
        else:
            assert (child[cells] == other[cells]).all() or (child[cells] == one[cells]).all()
    assert gains[0] == weights[one].sum() - weights[child].sum()


@pytest.mark.parametrize("seed", range(6))
def test_the_best_component_alone_and_a_random_choice(seed: int) -> None:
    weights, patterns = drawn(seed, 2)
    pairs, ways = np.array([[0, 1], [0, 1]], np.int32), np.array([BEST, SOME], np.int32)
    kids, gains = crossing(weights).exchange(pack(patterns, COLUMNS), pairs, ways, np.array([3, 5], np.uint64))
    (best, some), (one, other) = unpack(kids), patterns
    gain = [weights[c][one[c]].sum() - weights[c][other[c]].sum() for c in components(one, other)]
    assert gains[0] == max(0, *gain)
    assert gains[1] >= 0
    assert gains.tolist() == [weights[one].sum() - weights[best].sum(), weights[one].sum() - weights[some].sum()]


def test_digests_tell_patterns_apart_and_distances_count_cells() -> None:
    weights, patterns = drawn(1, 40)
    patterns[7] = patterns[3]
    table, packed = crossing(weights), pack(patterns, COLUMNS)
    digests = table.digests(packed)
    assert len(np.unique(digests)) == 39
    assert digests[7] == digests[3]
    apart = table.nearest(packed, packed)
    every = (patterns[:, None] ^ patterns[None]).sum(2)
    assert apart.tolist() == [int(row[row > 0].min()) for row in every]
