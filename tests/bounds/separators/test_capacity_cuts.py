"""Capacity cuts and their roundings, piece by piece."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.bounds.knapsack import step
from gpuga.bounds.separators.capacity_cuts import (
    crossing,
    cut_of,
    plain_cut,
    residual_need,
    stacked,
    violated_roundings,
)
from gpuga.problem.two_way import FlowLevels
from gpuga.safety.network import Network


def node_set(rows: list[int], columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(rows, np.uint8), np.array(columns, np.uint8)


NET = Network(np.array([[5, 9, 2], [7, 1, 4]]), np.array([[3, 8, 6], [2, 5, 9]]))


def test_what_crosses_a_node_set_leaves_it_by_row_or_enters_it_by_column() -> None:
    every = np.arange(6)
    assert crossing(NET, every, *node_set([1, 0], [0, 0, 0]), 8).tolist() == [5, 8, 2, 0, 0, 0]
    assert crossing(NET, every, *node_set([0, 0], [0, 1, 0]), 9).tolist() == [0, 8, 0, 0, 5, 0]
    assert crossing(NET, every, *node_set([1, 0], [1, 0, 0]), 9).tolist() == [0, 9, 2, 2, 0, 0]
    assert crossing(NET, np.array([4, 1]), *node_set([0, 1], [0, 1, 1]), 9).tolist() == [0, 8]


def test_forced_places_lower_a_need_but_a_levels_own_place_does_not() -> None:
    sides = node_set([1, 0], [1, 0, 0])
    forced = np.array([0, 1, 2, 3])
    assert residual_need(NET, forced, *sides, 0, 20) == 20 - 9 - 2 - 2
    assert residual_need(NET, forced, *sides, 1, 20) == 20 - 2 - 2
    assert residual_need(NET, forced, *sides, 5, 13) == 0
    assert residual_need(NET, forced, *sides, 5, 14) == 1
    assert residual_need(NET, np.array([1]), *sides, 5, 8) == 0
    levels = FlowLevels(np.array([1, 5]), np.array([True, True]), np.array([20, 13]))
    cut = cut_of(NET, forced, levels, 0, *sides)
    assert cut is not None
    assert (cut.need, cut.rhs, cut.scale) == (16, 16, 16)
    assert cut_of(NET, forced, levels, 1, *sides) is None


def test_coefficients_are_capacities_up_to_the_need() -> None:
    cut = plain_cut(NET, *node_set([1, 0], [0, 0, 0]), 4)
    assert cut.coefficients(np.arange(6)).tolist() == [4, 4, 2, 0, 0, 0]
    cover = cut.rounded(np.array([2]), 99)
    assert cover is not None  # without the third place, two units are left
    assert cover.rhs == 2
    assert cover.coefficients(np.arange(6)).tolist() == [2, 2, 0, 0, 0, 0]
    assert cover.plain().key == cut.key
    assert cover.key != cut.key
    divided = plain_cut(NET, *node_set([1, 0], [0, 0, 0]), 7).rounded(np.zeros(0, np.int64), 5)
    assert divided is not None  # 5 x + 7 y + 2 z >= 7 by fives: 2 x + 4 y + 2 z >= 4
    assert divided.coefficients(np.arange(3)).tolist() == [2, 4, 2]
    assert divided.rhs == 4
    assert plain_cut(NET, *node_set([1, 0], [0, 0, 0]), 10).rounded(np.zeros(0, np.int64), 5) is None


@pytest.mark.parametrize(
    ("value", "divisor", "rest", "made"),
    [(7, 5, 2, 4), (5, 5, 2, 2), (3, 5, 2, 2), (1, 5, 2, 1), (-1, 5, 2, 0), (-5, 5, 2, -2), (0, 5, 2, 0), (6, 5, 4, 5)],
)
def test_a_division_counts_whole_parts_and_what_is_left_up_to_the_rest(
    value: int, divisor: int, rest: int, made: int
) -> None:
    assert step(value, divisor, rest) == made


def test_roundings_that_are_found_are_violated_as_they_say_and_beat_all_covers() -> None:
    rng = np.random.default_rng(3)
    seen = divided = covered = 0
    for _ in range(150):
        width = int(rng.integers(3, 9))
        capacity, need = rng.integers(1, 30, width), int(rng.integers(10, 60))
        net = Network(capacity[None, :], np.zeros((1, width), np.int64))
        cut = plain_cut(net, np.ones(1, np.uint8), np.zeros(width, np.uint8), need)
        x = np.sort(rng.random(width))[::-1]
        places = np.arange(width)
        found = violated_roundings([cut], stacked([cut]), places, x, 0.01)
        best = max(miss(cut.rounded(places[:k], 10**9), x) for k in range(width))
        if not found:
            assert best <= 0.01 + 1e-9 or need <= capacity.min()
            continue
        (violation, made), seen = found[0], seen + 1
        assert violation > 0.01
        assert miss(made, x) >= violation - 1e-9
        assert violation >= miss(cut, x) - 1e-6
        divided += made.divisor < need
        covered += len(made.cover) > 0
    assert min(seen, divided, covered) > 10


def test_roundings_of_many_cuts_at_once_are_those_of_each_alone() -> None:
    rng = np.random.default_rng(7)
    rows, width = 50, 12
    net = Network(rng.integers(3, 9, (rows, width)), np.zeros((rows, width), np.int64))
    needs = (net.forward.sum(1) * 9 // 10).tolist()
    one = np.eye(rows, dtype=np.uint8)
    cuts = [plain_cut(net, one[i], np.zeros(width, np.uint8), need) for i, need in enumerate(needs)]
    x = np.sort(rng.random(rows * width) * 0.5 + 0.45)[::-1]
    places = rng.permutation(rows * width)
    together = violated_roundings(cuts, stacked(cuts), places, x, -0.9)
    assert sum(len(cut.cover) for _, cut in together) > 256
    alone = [pair for cut in cuts for pair in violated_roundings([cut], stacked([cut]), places, x, -0.9)]
    assert [v for v, _ in together] == sorted((v for v, _ in together), reverse=True)
    assert sorted(cut.key for _, cut in together) == sorted(cut.key for _, cut in alone)


def miss(cut, x: np.ndarray) -> float:
    """How far a point misses a cut, as a share of its right-hand side."""
    if cut is None:
        return -1.0
    return 1.0 - float(cut.coefficients(np.arange(len(x))) @ x) / cut.rhs
