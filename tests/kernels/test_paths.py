"""Cheapest ways to cover a task, piece by piece: rectangles, shortest paths, circuits of several paths."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.kernels import pack
from gpuga.kernels.layout import INFINITE
from gpuga.kernels.logic.paths import (
    cheapest_circuit,
    cheapest_rectangle,
    close,
    moved,
    nearest,
    price,
    push_path,
    relax,
    residual,
    settle,
    shortest_path,
)


class Grid:
    """A random plane: capacities, weights (some negative: must stay published) and a pattern."""

    def __init__(self, seed: int, rows: int = 4, columns: int = 5, forbidden: float = 0.1) -> None:
        rng = np.random.default_rng(seed)
        self.rows, self.columns = rows, columns
        self.forward, self.reverse = rng.integers(0, 7, (2, rows, columns))
        self.weight = rng.integers(1, 9, (rows, columns))
        self.weight[rng.random((rows, columns)) < forbidden] = -1
        self.hidden = rng.random((rows, columns)) < 0.3
        self.bits = pack(self.hidden[None]).bits[0]

    def order(self, line: np.ndarray, size: int) -> list[int]:
        listed = [int(j) for j in np.argsort(line, kind="stable") if line[j] >= 0]
        return listed + [-1] * (size - len(listed))

    def orders(self) -> tuple[np.ndarray, np.ndarray]:
        by_row = np.array([self.order(line, self.columns) for line in self.weight], np.int32)
        by_column = np.array([self.order(line, self.rows) for line in self.weight.T], np.int32)
        return by_row, by_column

    def scratch(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        nodes = self.rows + self.columns
        parent, opened, position = np.full((3, nodes), 9, np.int32)
        return np.zeros(nodes, np.int64), parent, opened, position

    def steps(self, flow: dict[int, int], own: int, threshold: int) -> list[tuple[int, int, int]]:
        """From, to and price of every step that leaves so much room; cells of the flow cost nothing."""
        out = []
        for i in range(self.rows):
            for j in range(self.columns):
                cell = i * self.columns + j
                free = self.hidden[i, j] or cell in flow
                cost = 0 if free else int(self.weight[i, j])
                if cell == own or cost < 0:
                    continue
                if self.forward[i, j] - flow.get(cell, 0) >= threshold:
                    out.append((i, self.rows + j, cost))
                if self.reverse[i, j] + flow.get(cell, 0) >= threshold:
                    out.append((self.rows + j, i, cost))
        return out

    def least(self, flow: dict[int, int], own: int, source: int, sink: int, threshold: int) -> int:
        """The least price of a way, by relaxing every step until nothing changes."""
        distance = {source: 0}
        for _ in range(self.rows + self.columns):
            for a, b, cost in self.steps(flow, own, threshold):
                if a in distance and distance[a] + cost < distance.get(b, INFINITE):
                    distance[b] = distance[a] + cost
        return distance.get(sink, INFINITE)


def test_suppressed_cells_cost_nothing() -> None:
    grid = Grid(1)
    for i in range(grid.rows):
        for j in range(grid.columns):
            expected = 0 if grid.hidden[i, j] else grid.weight[i, j]
            assert price(grid.bits, grid.weight.ravel(), grid.columns, i, j) == expected


def test_what_is_left_of_a_cell_depends_on_the_flow_through_it() -> None:
    forward, reverse = np.array([[5, 6], [7, 8]]), np.array([[1, 2], [3, 4]])
    cells, amounts = np.array([0, 3, 2, 9], np.int32), np.array([4, 3, -2, 9])

    def left(length: int, i: int, j: int) -> tuple[int, int]:
        return tuple(int(residual(forward, reverse, cells, amounts, length, i, j, r)) for r in (True, False))  # type: ignore[return-value]

    assert left(3, 1, 1) == (8 - 3, 4 + 3)
    assert left(3, 1, 0) == (7 + 2, 3 - 2)
    assert left(2, 1, 0) == (7, 3)
    assert left(3, 0, 1) == (6, 2)
    assert left(1, 0, 0) == (5, 1)
    assert [int(moved(cells, amounts, 3, cell)) for cell in (0, 3, 2, 9)] == [0, 1, 2, -1]


def test_open_nodes_are_kept_once_with_their_least_distance() -> None:
    distance = np.full(5, INFINITE)
    parent, opened, position = np.full((3, 5), -1, np.int32)
    count = 0
    for v, u, reached in ((0, 3, 7), (0, 1, 7), (1, 4, 2), (2, 3, 8), (2, 3, 7), (2, 1, 5)):
        count = int(relax(distance, parent, opened, position, count, v, u, reached))
    assert (count, opened[:3].tolist()) == (3, [3, 1, 4])
    assert [int(distance[u]) for u in (3, 1, 4)] == [7, 5, 2]
    assert [int(parent[u]) for u in (3, 1, 4)] == [0, 2, 1]
    assert nearest(distance, opened, count) == 4
    assert close(opened, position, count, 3) == 2  # the last one takes its place
    assert (opened[:2].tolist(), position[[1, 3, 4]].tolist()) == ([4, 1], [1, -2, 0])
    assert close(opened, position, 2, 1) == 1
    assert (opened[0], position[1], position[4]) == (4, -2, 0)


def test_of_equally_near_nodes_the_smaller_number_comes_first() -> None:
    distance = np.array([4, 3, 3, 9, 3])
    assert nearest(distance, np.array([4, 2, 1, 0], np.int32), 4) == 1
    assert nearest(distance, np.array([4, 2, 1, 0], np.int32), 2) == 2
    assert nearest(distance, np.array([0, 3, 4], np.int32), 3) == 4
    assert nearest(distance, np.array([0], np.int32), 1) == 0


@pytest.mark.parametrize("seed", range(6))
def test_a_shortest_path_is_one_and_costs_what_it_says(seed: int) -> None:
    grid = Grid(seed)
    rng = np.random.default_rng(seed + 50)
    orders = grid.orders()
    found = missing = 0
    for own in range(0, grid.rows * grid.columns, 2):
        i0, j0 = divmod(own, grid.columns)
        others = [c for c in rng.permutation(grid.rows * grid.columns)[:3].tolist() if c != own]
        flow = {c: int(rng.integers(-grid.reverse.ravel()[c], grid.forward.ravel()[c] + 1)) for c in others}
        for so_far, threshold, upward in (({}, 1, True), ({}, 4, False), (flow, 1, False), (flow, 3, True)):
            source, sink = (grid.rows + j0, i0) if upward else (i0, grid.rows + j0)
            cells = np.array([own, *so_far, *([0] * 3)], np.int32)
            amounts = np.array([1, *so_far.values(), *([0] * 3)])
            distance, parent, opened, position = grid.scratch()
            cost = int(
                shortest_path(
                    grid.bits, grid.forward, grid.reverse, grid.weight.ravel(), *orders, i0, j0, source, sink,
                    threshold, cells, amounts, 1 + len(so_far), distance, parent, opened, position,
                )
            )  # fmt: skip
            assert cost == grid.least(so_far, own, source, sink, threshold)
            if cost >= INFINITE:
                missing += 1
                continue
            found += 1
            steps = {(a, b): c for a, b, c in grid.steps(so_far, own, threshold)}
            node, spent, seen = sink, 0, 0
            while node != source:
                spent += steps[int(parent[node]), node]
                node, seen = int(parent[node]), seen + 1
                assert seen < 10
            assert spent == cost
    assert found > 5
    assert found + missing == 40


def rectangle_by_hand(grid: Grid, i: int, j: int, upward: bool, need: int) -> tuple[int, int, int]:
    against, along = (grid.reverse, grid.forward) if upward else (grid.forward, grid.reverse)
    best = (INFINITE, -1, -1)
    for r in range(grid.rows):
        for c in range(grid.columns):
            corners = [(r, j), (i, c), (r, c)]
            room = against[r, j] >= need and against[i, c] >= need and along[r, c] >= need
            prices = [0 if grid.hidden[p] else int(grid.weight[p]) for p in corners]
            if r != i and c != j and room and min(prices) >= 0:
                best = min(best, (sum(prices), r, c))
    return best[1], best[2], best[0]


@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_rectangle_is_the_first_of_the_cheapest(seed: int) -> None:
    grid = Grid(seed, forbidden=0.2)
    grid.weight[grid.weight > 0] = 1 + grid.weight[grid.weight > 0] % 3  # many are equally cheap
    there = 0
    for i in range(grid.rows):
        for j in range(grid.columns):
            for upward in (0, 1):
                for need in (1, 3):
                    found = cheapest_rectangle(
                        grid.bits, grid.forward, grid.reverse, grid.weight.ravel(), i, j, upward, need
                    )
                    expected = rectangle_by_hand(grid, i, j, bool(upward), need)
                    assert tuple(int(x) for x in found) == expected
                    there += expected[0] >= 0
    assert there > 10


def test_a_path_carries_what_fits_and_its_cells_join_the_circuit() -> None:
    """From row 0 over column 1, row 1 and column 0: cells (0, 1), (1, 1) backwards and (1, 0)."""
    forward, reverse = np.array([[0, 6], [5, 0]]), np.array([[0, 0], [0, 4]])
    parent = np.array([-1, 3, 1, 0], np.int32)
    cells, amounts = np.array([0, 3, 7, 7], np.int32), np.array([9, 2, 7, 7])
    sent, length = push_path(forward, reverse, 0, 2, 99, parent, cells, amounts, 2)
    assert (int(sent), int(length)) == (5, 4)
    assert dict(zip(cells.tolist(), amounts.tolist(), strict=True)) == {0: 9, 3: 2 - 5, 2: 5, 1: 5}
    full, amounts = np.array([0, 7, 7], np.int32), np.array([9, 7, 7])
    assert push_path(forward, reverse, 0, 2, 3, parent, full, amounts, 1)[1] == -1
    roomy, amounts = np.array([0, 7, 7, 7], np.int32), np.array([9, 7, 7, 7])
    assert tuple(map(int, push_path(forward, reverse, 0, 2, 3, parent, roomy, amounts, 1))) == (3, 4)


def test_flows_become_moves_of_values_and_what_cancels_is_dropped() -> None:
    """In a plane of 3 by 4 the last row and the last column are totals: they move the other way."""
    cells = np.array([0, 3, 5, 8, 11, 7], np.int32)
    amounts = np.array([4, -2, 0, 6, 5, 1])
    assert settle(cells, amounts, 6, 3, 4) == 5
    assert cells[:5].tolist() == [0, 3, 8, 11, 7]
    assert amounts[:5].tolist() == [4, 2, -6, 5, -1]


@pytest.mark.parametrize("seed", range(8))
def test_a_circuit_balances_every_row_and_column_and_keeps_all_capacities(seed: int) -> None:
    grid = Grid(seed, forbidden=0.0)
    orders = grid.orders()
    several = none = 0
    for own in range(grid.rows * grid.columns):
        i0, j0 = divmod(own, grid.columns)
        for upward in (0, 1):
            for need in (1, 5, 9):
                cells, amounts = np.zeros(30, np.int32), np.zeros(30, np.int64)
                length = int(
                    cheapest_circuit(
                        grid.bits, grid.forward, grid.reverse, grid.weight.ravel(), *orders, i0, j0, upward, need,
                        cells, amounts, *grid.scratch(),
                    )
                )  # fmt: skip
                if length == 0:
                    none += 1
                    continue
                flow = np.zeros((grid.rows, grid.columns), np.int64)
                for cell, amount in zip(cells[:length].tolist(), amounts[:length].tolist(), strict=True):
                    i, j = divmod(cell, grid.columns)
                    marginal = (i == grid.rows - 1) != (j == grid.columns - 1)
                    assert amount != 0
                    assert flow[i, j] == 0
                    flow[i, j] = -amount if marginal else amount
                assert flow[i0, j0] == (need if upward else -need)
                assert cells[0] == own
                assert not flow.sum(0).any()
                assert not flow.sum(1).any()
                flow[i0, j0] = 0
                assert (flow <= grid.forward).all()
                assert (-flow <= grid.reverse).all()
                several += length > 4
    assert several > 5
    assert none > 5


def test_a_circuit_of_more_cells_than_there_is_room_for_is_none() -> None:
    grid = Grid(0, 2, 2, forbidden=0.0)
    grid.forward[:], grid.reverse[:] = 9, 9
    for room, length in ((4, 4), (3, 0)):
        cells, amounts = np.zeros(room, np.int32), np.zeros(room, np.int64)
        found = cheapest_circuit(
            grid.bits, grid.forward, grid.reverse, grid.weight.ravel(), *grid.orders(), 0, 0, 1, 5, cells, amounts,
            *grid.scratch(),
        )  # fmt: skip
        assert found == length
