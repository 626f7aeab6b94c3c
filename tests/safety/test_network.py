"""Patterns as networks: lists that grow and shrink, and flows that are what a plain maximum flow finds."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from gpuga.safety.network import (
    FORCED,
    PUBLISHED,
    SECONDARY,
    Links,
    Network,
    add,
    clear,
    drop,
    new_flow,
    new_links,
    send,
    sink_of,
    source_of,
    wide_path,
)


@njit
def change(links, i, j, kind):
    if kind == 0:
        drop(links, i, j)
    else:
        add(links, i, j, kind)


@njit
def sent(net, links, flow, own, forth, limit):
    rows, columns = flow.amount.shape
    return send(net, links, flow, own, source_of(forth, own, rows, columns), sink_of(forth, own, rows, columns), limit)


@njit
def has_path(net, links, flow, own, forth, width):
    rows, columns = flow.amount.shape
    return wide_path(
        net, links, flow, own, source_of(forth, own, rows, columns), sink_of(forth, own, rows, columns), width
    )


@njit
def emptied(flow):
    clear(flow)


def consistent(links: Links, kind: np.ndarray) -> bool:
    """Whether the lists hold just the suppressed places, each at the position that is noted."""
    rows, columns = kind.shape
    good = np.array_equal(links.kind, kind)
    for i in range(rows):
        listed = links.row_list[i, : links.row_size[i]].tolist()
        good &= sorted(listed) == np.flatnonzero(kind[i]).tolist()
        good &= all(listed[links.row_at[i, j]] == j for j in listed)
    for j in range(columns):
        listed = links.column_list[j, : links.column_size[j]].tolist()
        good &= sorted(listed) == np.flatnonzero(kind[:, j]).tolist()
        good &= all(listed[links.column_at[i, j]] == i for i in listed)
    return bool(good)


def test_lists_follow_what_is_suppressed_and_published() -> None:
    rng = np.random.default_rng(1)
    forced = rng.random((5, 6)) < 0.3
    links = new_links(forced, rng.random((5, 6)) < 0.3)
    kind = links.kind.copy()
    assert (kind[forced] == FORCED).all()
    assert set(np.unique(kind)) == {PUBLISHED, FORCED, SECONDARY}
    assert consistent(links, kind)
    assert consistent(new_links(forced), np.where(forced, FORCED, 0).astype(np.uint8))
    for _ in range(200):
        i, j = int(rng.integers(5)), int(rng.integers(6))
        kind[i, j] = 0 if kind[i, j] else SECONDARY
        change(links, i, j, int(kind[i, j]))
        assert consistent(links, kind)


def plain_flow(net: Network, hidden: np.ndarray, own: int, forth: bool) -> int:
    """The largest counter-flow of a place by scipy, on arcs of its own."""
    rows, columns = hidden.shape
    capacity = np.zeros((rows + columns, rows + columns), np.int32)
    for i, j in np.argwhere(hidden):
        if i * columns + j != own:
            capacity[i, rows + j] = net.forth[i, j]
            capacity[rows + j, i] = net.back[i, j]
    row, column = own // columns, rows + own % columns
    ends = (column, row) if forth else (row, column)
    return int(maximum_flow(csr_array(capacity), *ends).flow_value)


def plain_path(net: Network, hidden: np.ndarray, own: int, forth: bool, width: int) -> bool:
    """Whether a path of arcs of at least this width leads from one end of a place to the other without it."""
    rows, columns = hidden.shape
    row, column = own // columns, rows + own % columns
    source, sink = (column, row) if forth else (row, column)
    reached, waiting = {source}, [source]
    while waiting:
        node = waiting.pop()
        for other in range(rows + columns):
            if (node < rows) == (other < rows):
                continue
            i, j = (node, other - rows) if node < rows else (other, node - rows)
            capacity = net.forth[i, j] if node < rows else net.back[i, j]
            if hidden[i, j] and i * columns + j != own and capacity >= width and other not in reached:
                reached.add(other)
                waiting.append(other)
    return sink in reached


def test_an_empty_flow_has_touched_nothing() -> None:
    flow = new_flow(3, 4)
    assert flow.used.tolist() == [0]
    assert not flow.amount.any()
    assert not flow.is_touched.any()
    assert flow.amount.shape == flow.is_touched.shape == (3, 4)
    assert len(flow.touched) == 12
    assert len(flow.parent) == len(flow.queue) == len(flow.seen) == len(flow.depth) == len(flow.next_arc) == 7


def test_flows_are_largest_and_balanced_after_any_changes_of_the_pattern() -> None:
    rng = np.random.default_rng(2)
    positive = cut = 0
    for _ in range(40):
        rows, columns = (int(x) for x in rng.integers(2, 6, 2))
        net = Network(rng.integers(0, 9, (rows, columns)), rng.integers(0, 9, (rows, columns)))
        links = new_links(rng.random((rows, columns)) < 0.6)
        for _ in range(6):
            i, j = int(rng.integers(rows)), int(rng.integers(columns))
            change(links, i, j, 0 if links.kind[i, j] else SECONDARY)
        flow = new_flow(rows, columns)
        for own in np.flatnonzero(links.kind).tolist():
            for forth in (True, False):
                most = plain_flow(net, links.kind > 0, own, forth)
                for limit in (1, 4, 100):
                    found = sent(net, links, flow, own, forth, limit)
                    assert found == min(most, limit)
                    positive += found > 0
                    cut += most > limit
                    assert flow.amount.ravel()[own] == 0
                    assert (flow.amount <= net.forth).all()
                    assert (-flow.amount <= net.back).all()
                    assert not flow.amount[links.kind == 0].any()
                    across = flow.amount.copy()
                    across.ravel()[own] = found if forth else -found
                    assert not across.sum(0).any()
                    assert not across.sum(1).any()
                    assert set(np.flatnonzero(flow.amount)) <= set(flow.touched[: flow.used[0]].tolist())
                    left = Network(net.forth - flow.amount, net.back + flow.amount)
                    further = has_path(net, links, flow, own, forth, 2)
                    assert further == plain_path(left, links.kind > 0, own, forth, 2)
                    emptied(flow)
                    assert not flow.amount.any()
                    assert not flow.is_touched.any()
                    wide = has_path(net, links, flow, own, forth, limit)
                    assert wide == plain_path(net, links.kind > 0, own, forth, limit)
    assert positive > 300
    assert cut > 100
