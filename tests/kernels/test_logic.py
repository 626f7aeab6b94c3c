"""Networks of patterns and floods over them, against plain searches, arc by arc and task by task."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.kernels import Tasks, get_backend, pack
from gpuga.kernels.layout import Grid
from gpuga.kernels.logic.flow import search
from gpuga.kernels.logic.levels import covered_needs, flood, open_arcs, task_bit
from gpuga.kernels.logic.network import build_network, find_arc, suppressed_count
from gpuga.safety.box_options import options_of
from gpuga.table.crossing import Axis

from .test_oracle import grid_lines, is_kernel_vector


class Net:
    """The network of one random pattern, and the same as a list of arcs."""

    def __init__(self, seed: int, rows: int = 4, columns: int = 5) -> None:
        rng = np.random.default_rng(seed)
        self.rows, self.columns = rows, columns
        self.hidden = rng.random((rows, columns)) < 0.5
        self.forward, self.reverse = rng.integers(0, 9, (2, rows, columns))
        self.bits = pack(self.hidden[None]).bits[0]
        self.arcs = int(suppressed_count(self.bits))
        self.start = np.full(rows + columns + 1, -1, np.int32)
        self.target, self.twin = np.full((2, 2 * self.arcs), -1, np.int32)
        self.capacity = np.zeros(2 * self.arcs, np.int64)
        made = build_network(self.bits, self.forward, self.reverse, self.start, self.target, self.twin, self.capacity)
        assert made == self.arcs == self.hidden.sum()

    def edges(self) -> list[tuple[int, int, int]]:
        """From, to and capacity of every half-arc, in the order of the lists."""
        out = []
        for i in range(self.rows):
            out += [(i, self.rows + j, int(self.forward[i, j])) for j in np.flatnonzero(self.hidden[i])]
        for j in range(self.columns):
            out += [(self.rows + j, int(i), int(self.reverse[i, j])) for i in np.flatnonzero(self.hidden[:, j])]
        return out

    def reached(self, source: int, need: int, own: int) -> set[int]:
        """Where a task comes to over half-arcs that carry its need, its own arc and its twin left out."""
        found, waiting = {source}, [source]
        while waiting:
            node = waiting.pop()
            for h, (a, b, capacity) in enumerate(self.edges()):
                mine = own >= 0 and h in (own, int(self.twin[own]))
                if a == node and capacity >= need and not mine and b not in found:
                    found.add(b)
                    waiting.append(b)
        return found


NETS = [Net(seed) for seed in range(8)] + [Net(9, 3, 66), Net(10, 1, 4)]


@pytest.mark.parametrize("net", NETS)
def test_half_arcs_are_those_of_the_suppressed_cells_and_know_their_twins(net: Net) -> None:
    edges = net.edges()
    assert net.start[0] == 0
    assert net.start[-1] == len(edges) == 2 * net.arcs
    for node in range(net.rows + net.columns):
        for h in range(net.start[node], net.start[node + 1]):
            assert (node, int(net.target[h]), int(net.capacity[h])) == edges[h]
            back = int(net.twin[h])
            assert edges[back][:2] == (edges[h][1], node)
            assert net.twin[back] == h


@pytest.mark.parametrize("net", NETS)
def test_an_arc_is_found_just_where_a_cell_is_suppressed(net: Net) -> None:
    for i in range(net.rows):
        for j in range(net.columns):
            arc = int(find_arc(net.start, net.target, i, net.rows + j))
            assert (arc >= 0) == net.hidden[i, j]
            assert arc < 0 or net.edges()[arc][:2] == (i, net.rows + j)


@pytest.mark.parametrize("net", NETS[:8])
def test_a_search_finds_a_way_where_there_is_one_and_never_returns_to_its_source(net: Net) -> None:
    nodes = net.rows + net.columns
    for source in range(nodes):
        for sink in range(nodes):
            for need in (1, 5):
                if sink == source:
                    continue
                parent, queue, mark = np.full((3, nodes), -7, np.int32)
                room = net.capacity.copy()
                found = search(net.start, net.target, room, source, sink, need, parent, queue, mark, 3)
                assert found == (sink in net.reached(source, need, -1))
                assert parent[source] == -7
                node, steps = sink, 0
                while found and node != source:
                    arc = int(parent[node])
                    assert net.target[arc] == node
                    assert room[arc] >= need
                    node, steps = int(net.target[net.twin[arc]]), steps + 1
                    assert steps <= nodes


def test_needs_that_a_capacity_covers_are_counted() -> None:
    needs = np.array([1, 3, 3, 8])
    assert [int(covered_needs(needs, capacity)) for capacity in (0, 1, 2, 3, 7, 8, 99)] == [0, 1, 1, 3, 3, 4, 4]
    assert covered_needs(np.zeros(0, np.int64), 5) == 0


@pytest.mark.parametrize("count", [1, 5, 64, 65, 130])
@pytest.mark.parametrize("net", NETS[:4])
def test_a_flood_carries_every_task_as_far_as_a_search_of_its_own(net: Net, count: int) -> None:
    rng = np.random.default_rng(count)
    nodes = net.rows + net.columns
    need = np.sort(rng.integers(1, 9, count))
    own = rng.integers(-1, net.arcs, count).astype(np.int32)
    source = rng.integers(0, nodes, count)
    words = (count + 63) // 64
    opened = np.zeros((2 * net.arcs, words), np.uint64)
    open_arcs(net.capacity, net.twin, net.arcs, need, own, opened)
    for h, (_, _, capacity) in enumerate(net.edges()):
        for t in range(count):
            mine = own[t] >= 0 and h in (own[t], net.twin[own[t]])
            walks = int(opened[h, t >> 6]) >> (t & 63) & 1
            assert walks == (capacity >= need[t] and not mine)
    reached = np.zeros((nodes, words), np.uint64)
    for t in range(count):
        reached[source[t], t >> 6] |= np.uint64(1) << np.uint64(t & 63)
    queue, queued = np.zeros((2, nodes), np.int32)
    flood(net.start, net.target, opened, reached, queue, queued)
    for t in range(count):
        expected = net.reached(int(source[t]), int(need[t]), int(own[t]))
        assert {v for v in range(nodes) if task_bit(reached, v, t)} == expected


@pytest.mark.parametrize("room", [4, 5, 6])
@pytest.mark.parametrize("axes", [2, 3])
def test_a_box_may_use_up_all_the_room_of_its_cells(axes: int, room: int) -> None:
    grid = Grid.of([options_of(Axis(3, ((2, (0, 1)),)))] * axes)
    bound = np.full(grid.cells, room)
    tasks = Tasks.of(np.arange(grid.cells), np.ones(grid.cells), np.full(grid.cells, 5))
    items = np.stack([np.zeros(grid.cells), np.arange(grid.cells)], axis=1).astype(np.int32)
    for hidden in (False, True):
        pattern = np.full((1, grid.cells), hidden)
        weights = np.ones(grid.cells, np.int64)
        found = get_backend("cpu").cheapest_boxes(pattern, grid, bound, bound, tasks, weights, items, hidden)
        assert found.found.all() == found.found.any() == (room >= 5)
        if room >= 5:
            assert set(found.cost.tolist()) == {0 if hidden else 2**axes}


@pytest.mark.parametrize("most", [1, 3, 4, 6, 8, 12])
@pytest.mark.parametrize("flat_first", [True, False])
def test_boxes_of_more_cells_than_there_is_room_for_are_not_found(
    most: int, flat_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpuga.kernels.layout.MAX_BOX", most)
    deep, flat = Axis(7, ((6, (4, 5)), (4, (0, 1)), (5, (2, 3)))), Axis(3, ((2, (0, 1)),))
    axes = [flat, deep] if flat_first else [deep, flat]
    grid = Grid.of([options_of(axis) for axis in axes])
    cells = grid.cells
    tasks = Tasks.of(np.arange(cells), np.ones(cells), np.full(cells, 2))
    items = np.stack([np.zeros(cells), np.arange(cells)], axis=1).astype(np.int32)
    room, weights = np.full(cells, 9), np.random.default_rng(1).integers(1, 9, cells)
    found = get_backend("cpu").cheapest_boxes(
        np.zeros((1, cells), bool), grid, room, room, tasks, weights, items, False
    )
    lines = grid_lines(axes)
    lengths = set()
    for q in np.flatnonzero(found.found).tolist():
        box, _ = found.pool.circuit(q)
        assert is_kernel_vector(lines, found.pool, q)
        assert found.cost[q] == weights[box].sum()
        lengths.add(len(box))
    assert max(lengths, default=0) <= most
    assert bool(lengths) == (most >= 4)
    assert most < 8 or found.found.all()
