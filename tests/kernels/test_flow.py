"""Flows in the networks of patterns, piece by piece, against plain searches and plain maximum flows."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.kernels.layout import SAFE, UNDECIDED, UNSAFE
from gpuga.kernels.logic.flow import (
    augment,
    covers,
    depends,
    ends,
    enters,
    finer,
    keep_witness,
    lane_verdict,
    leaves,
    reach,
)

from .test_logic import NETS, Net


def plain_flow(net: Net, own: int, source: int, sink: int) -> int:
    """The largest flow between two nodes without one arc, unit by unit."""
    left = {}
    for h, (a, b, capacity) in enumerate(net.edges()):
        if h not in (own, int(net.twin[own])):
            left[a, b] = left.get((a, b), 0) + capacity
    total = 0
    while True:
        parent, waiting = {source: source}, [source]
        while waiting and sink not in parent:
            node = waiting.pop(0)
            for (a, b), capacity in left.items():
                if a == node and capacity > 0 and b not in parent:
                    parent[b] = a
                    waiting.append(b)
        if sink not in parent:
            return total
        node = sink
        while node != source:
            before = parent[node]
            left[before, node] -= 1
            left[node, before] = left.get((node, before), 0) + 1
            node = before
        total += 1


def test_the_counter_flow_of_a_task_runs_against_its_cell() -> None:
    assert ends(2, 3, 1, 10) == (13, 2)
    assert ends(2, 3, 0, 10) == (2, 13)


def test_thresholds_fall_to_an_eighth_and_then_to_one() -> None:
    assert [finer(t) for t in (2**20, 8192, 4097, 4096, 9, 2, 1)] == [2**17, 1024, 512, 1, 1, 1, 1]


@pytest.mark.parametrize("net", NETS[:6])
def test_what_leaves_and_enters_a_node_is_counted_up_to_what_is_asked(net: Net) -> None:
    for node in range(net.rows + net.columns):
        out = [c for a, _, c in net.edges() if a == node]
        into = [c for _, b, c in net.edges() if b == node]
        for cap in (1, 3, 9, 100):
            assert leaves(net.start, net.capacity, node, cap) == min(cap, sum(min(cap, c) for c in out))
            assert enters(net.start, net.twin, net.capacity, node, cap) == min(cap, sum(min(cap, c) for c in into))


def test_a_path_carries_what_its_narrowest_arc_leaves() -> None:
    """Node 0 to 2 and on to 1, which is a path of two half-arcs in a net of two rows and one column."""
    target, twin = np.array([2, 2, 0, 1], np.int32), np.array([2, 3, 0, 1], np.int32)
    parent = np.array([-1, 3, 0], np.int32)
    for remaining, expected in ((9, 4), (4, 4), (3, 3)):
        room = np.array([6, 0, 1, 4])
        assert augment(target, twin, room, 0, 1, remaining, parent) == expected
        assert room.tolist() == [6 - expected, expected, 1 + expected, 4 - expected]


@pytest.mark.parametrize(("factor", "first_threshold"), [(1, 1), (1, 4), (1, 100), (9_000, 1), (9_000, 9_999)])
def test_a_need_is_covered_just_where_the_largest_flow_reaches_it(factor: int, first_threshold: int) -> None:
    met = unmet = 0
    for net in NETS[:6]:
        nodes, capacity = net.rows + net.columns, net.capacity * factor
        for own in range(net.arcs):
            row, column = net.edges()[own][:2]
            source, sink = (row, column) if own % 2 else (column, row)
            most = plain_flow(net, own, source, sink) * factor
            for need in {max(1, most - 1), max(1, most), most + 1}:
                room, stamp = np.full(2 * net.arcs, -9, np.int64), np.zeros(1, np.int32)
                parent, queue, mark = np.zeros((3, nodes), np.int32)
                found = covers(
                    net.start, net.target, net.twin, capacity, net.arcs, own, source, sink, need,
                    first_threshold, room, parent, queue, mark, stamp,
                )  # fmt: skip
                assert found == (need <= most)
                met, unmet = met + found, unmet + (not found)
                if found:
                    check_flow(net, capacity, room, own, source, sink, need)
    assert met > 20
    assert unmet > 20


def check_flow(net: Net, capacity: np.ndarray, room: np.ndarray, own: int, source: int, sink: int, need: int) -> None:
    """What is left of the capacities is a flow of `need` from source to sink, and its witness names its arcs."""
    balance = np.zeros(net.rows + net.columns, np.int64)
    for e in range(net.arcs):
        a, b, _ = net.edges()[e]
        twin = int(net.twin[e])
        if e == own:
            assert room[e] == room[twin] == 0
            continue
        sent = capacity[e] - room[e]
        assert room[twin] - capacity[twin] == sent
        assert room[e] >= 0
        assert room[twin] >= 0
        balance[a] -= sent
        balance[b] += sent
    wanted = np.zeros_like(balance)
    wanted[source], wanted[sink] = -need, need
    assert balance.tolist() == wanted.tolist()
    witness = np.full((net.arcs + 63) // 64, 7, np.uint64)
    keep_witness(capacity, room, net.arcs, own, witness)
    for e in range(net.arcs):
        assert bool(depends(witness, e)) == (e == own or room[e] != capacity[e])


def test_a_witness_names_arcs_beyond_the_sixty_fourth() -> None:
    capacity, room, witness = np.ones(70, np.int64), np.ones(70, np.int64), np.zeros(2, np.uint64)
    room[[0, 63, 64, 69]] = 0
    keep_witness(capacity, room, 70, 66, witness)
    assert [e for e in range(70) if depends(witness, e)] == [0, 63, 64, 66, 69]


@pytest.mark.parametrize("net", NETS[:8])
def test_sixty_four_patterns_are_searched_as_each_of_them_would_be(net: Net) -> None:
    """Each pattern holds some of the arcs; asked of some patterns only, nothing is said of the others."""
    rng = np.random.default_rng(net.arcs)
    nodes, count = net.rows + net.columns, 64
    holds = rng.random((net.arcs, count)) < 0.7
    lanes = np.array([sum(1 << b for b in range(count) if row[b]) for row in holds], np.uint64)
    asked = np.uint64(int(rng.integers(0, 2**62)) * 4 + 3)
    for own in (0, net.arcs - 1):
        for threshold in (1, 4):
            row, column = net.edges()[own][:2]
            for source, sink in ((row, column), (column, row)):
                reached = np.full(nodes, 7, np.uint64)
                queue, queued = np.full((2, nodes), 5, np.int32)
                found = int(
                    reach(
                        net.start, net.target, net.twin, net.capacity, lanes, net.arcs, own, source, sink, threshold,
                        asked, reached, queue, queued,
                    )
                )  # fmt: skip
                for lane in range(count):
                    if not int(asked) >> lane & 1:
                        assert not found >> lane & 1
                        continue
                    assert (found >> lane & 1) == (sink in walked(net, holds[:, lane], own, source, threshold))


def walked(net: Net, holds: np.ndarray, own: int, source: int, threshold: int) -> set[int]:
    """The nodes that one pattern's arcs of so much capacity lead to."""
    seen, waiting = {source}, [source]
    while waiting:
        node = waiting.pop()
        for h, (a, b, capacity) in enumerate(net.edges()):
            arc = h if h < net.arcs else int(net.twin[h])
            if a == node and b not in seen and holds[arc] and arc != own and capacity >= threshold:
                seen.add(b)
                waiting.append(b)
    return seen


def test_a_wide_path_is_safe_and_no_path_is_not() -> None:
    for lane in (0, 5, 63):
        one, none = np.uint64(1 << lane), np.uint64(0)
        others = np.uint64((2**64 - 1) ^ (1 << lane))
        assert lane_verdict(one, one, lane) == SAFE
        assert lane_verdict(others, one, lane) == UNDECIDED
        assert lane_verdict(none, others, lane) == UNSAFE
        assert lane_verdict(none, none, lane) == UNSAFE
