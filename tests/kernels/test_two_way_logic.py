"""The parts of the two-way logic one by one: networks, floods, flows, cheapest paths, kept flows, random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from gpuga.kernels import INFINITE, Capacities, Requirements
from gpuga.kernels.layout import pack, unpack
from gpuga.kernels.logic.arcs import build, find
from gpuga.kernels.logic.augment import empty_flow, send
from gpuga.kernels.logic.cheapest import cheapest_path
from gpuga.kernels.logic.clean import clean_pattern
from gpuga.kernels.logic.compile import bare
from gpuga.kernels.logic.decode import decode_child
from gpuga.kernels.logic.destroy import ANYWHERE, FLOW, LINE, WALK
from gpuga.kernels.logic.hashing import below, mixed, small_share
from gpuga.kernels.logic.ordering import sort_by_key
from gpuga.kernels.logic.records import Needs, Scratch, TableRecord
from gpuga.kernels.logic.spread import begin, has_reached, open_arcs, spread, start_at, wait
from gpuga.kernels.logic.witnesses import LONGEST_FLOW
from gpuga.kernels.two_way import SINGLE, TwoWayCpu

from .instances import Bools, random_plane
from .oracle import by_one_path, cheapest_way, without_redundant
from .test_two_way import engine


@njit
def _flow_left(record, needs, scratch, rows, t):  # type: ignore[no-untyped-def]
    build(record, scratch.net, rows)
    empty_flow(scratch.net, find(scratch.net, needs.cell[t]))
    source, sink = np.int64(needs.source[t]), np.int64(needs.sink[t])
    return send(scratch.net, scratch.search, source, sink, needs.need[t], needs.need[t])


@njit
def _arrivals(record, needs, scratch, rows, arrived):  # type: ignore[no-untyped-def]
    build(record, scratch.net, rows)
    begin(scratch.flood)
    waiting = np.int64(0)
    for t in range(len(arrived)):
        start_at(scratch.flood, needs.source[t], t)
        waiting = wait(scratch.flood, np.int64(needs.source[t]), waiting)
    open_arcs(needs, scratch.net, scratch.flood)
    spread(scratch.net, scratch.flood, waiting)
    for t in range(len(arrived)):
        arrived[t] = has_reached(scratch.flood, np.int64(needs.sink[t]), t)


@njit
def _sorted(item, key):  # type: ignore[no-untyped-def]
    sort_by_key(item, key, np.int64(len(item)))


@njit
def _draws(seed, count):  # type: ignore[no-untyped-def]
    shares = np.array([small_share(seed, np.int64(x)) for x in range(count)])
    return mixed(seed, np.int64(0)), np.array([below(seed, np.int64(x), np.int64(7)) for x in range(count)]), shares


def parts(work: TwoWayCpu) -> tuple[TableRecord, Needs, Scratch]:
    return work.table, work.needs, work.free.get()


def largest_flow(work: TwoWayCpu, suppressed: Bools, t: int) -> int:
    """By another method, on the network written out."""
    record, needs = work.table, work.needs
    nodes, limit = record.rows + record.columns, int(needs.need[t])
    table = np.zeros((nodes, nodes), np.int32)
    for c in np.flatnonzero(suppressed):
        if c != needs.cell[t]:
            i, j = c // record.columns, record.rows + c % record.columns
            table[i, j], table[j, i] = np.minimum(record.capacity[c], limit)
    return int(maximum_flow(csr_array(table), int(needs.source[t]), int(needs.sink[t])).flow_value)


@pytest.mark.parametrize("seed", range(25))
def test_what_a_flow_lacks_is_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_plane(rng)
    work = engine(case)
    record, needs, scratch = parts(work)
    for pattern in case.patterns | case.primary:
        rows = pack(pattern[None], case.columns).bits[0]
        for t in range(len(case.requirements)):
            left = _flow_left(record, needs, scratch, rows, t)
            assert left == max(0, needs.need[t] - largest_flow(work, pattern, t))


@pytest.mark.parametrize("seed", range(25))
def test_a_flood_carries_a_requirement_to_its_sink_exactly_where_one_wide_path_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_plane(rng)
    record, needs, scratch = parts(engine(case))
    order = np.argsort(case.requirements.need, kind="stable")
    patterns = case.patterns | case.primary
    expected = by_one_path(patterns, case.plane, case.requirements)[:, order]
    asked = (needs.need > 0) & (needs.possible > 0)
    for pattern, wide in zip(patterns, expected, strict=True):
        arrived = np.zeros(len(order), np.bool_)
        _arrivals(record, needs, scratch, pack(pattern[None], case.columns).bits[0], arrived)
        np.testing.assert_array_equal(arrived[asked], wide[asked])


@pytest.mark.parametrize("seed", range(40))
def test_one_requirement_costs_as_much_as_the_cheapest_path(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(2, 9)), int(rng.integers(2, 9))
    up, down = (np.where(rng.random((rows, columns)) < 0.8, 30, 0) for _ in range(2))
    cell = int(rng.integers(rows * columns))
    up.flat[cell] = down.flat[cell] = 30
    plane, requirements = Capacities.of(up, down), Requirements.of([cell], [rng.choice([1, -1])], [7])
    forced = rng.random(rows * columns) < 0.15
    forced[cell] = True
    weights = rng.integers(0, 50, rows * columns)
    expected = cheapest_way(np.where(forced, 0, weights), plane, requirements, 0)
    work = TwoWayCpu(plane, requirements, weights, forced, ~forced, 1)
    work.set_prices(1000 * weights[None], ~forced)  # so that the number of cells matters among equals only
    bits, one = pack(forced[None], columns), np.ones(1, np.uint64)
    found, safe = work.decode(bits, bits, bits, one, np.full(1, SINGLE, np.int32), np.zeros(1, np.int32))
    assert safe[0] == (expected < INFINITE)
    if safe[0]:
        assert work.costs(found)[0] == expected


def test_flows_too_long_to_be_kept_are_cleaned_exactly() -> None:
    columns = LONGEST_FLOW
    one = np.ones((3, columns), np.int64)
    one[0, 0] = columns
    plane, requirements = Capacities.of(one, one), Requirements.of([0, 0], [1, -1], [columns - 20, columns - 20])
    forced = np.zeros(one.size, np.bool_)
    forced[0] = True
    work = TwoWayCpu(plane, requirements, np.arange(one.size), forced, ~forced, 1)
    everything = pack(np.ones((1, one.size), np.bool_), columns)
    cleaned = work.clean(everything, np.zeros(1, np.uint64))
    expected = without_redundant(unpack(everything), plane, requirements, np.arange(one.size), forced)
    np.testing.assert_array_equal(unpack(cleaned), expected)


def test_sorting_is_by_key_then_by_item() -> None:
    rng = np.random.default_rng(0)
    for count in (0, 1, 2, 3, 10, 100):
        item, key = rng.permutation(count).astype(np.int32), rng.integers(0, 5, count)
        expected = item[np.lexsort((item, key))]
        _sorted(item, key)
        np.testing.assert_array_equal(item, expected)


def test_random_numbers_are_the_same_for_ever() -> None:
    first, draws, shares = _draws(np.uint64(1), 1000)
    assert first == 0x910A2DEC89025CC1
    assert np.bincount(draws, minlength=7).min() > 100
    assert shares.min() == 0
    assert shares.max() <= 1022
    assert np.median(shares) < 300


@njit
def _way(seed):  # type: ignore[no-untyped-def]
    return below(seed, np.int64(0), np.int64(4))


def test_every_way_of_destroying_takes_what_it_says() -> None:
    case = random_plane(np.random.default_rng(1), (8, 6))
    seeds = np.arange(1, 129, dtype=np.uint64)
    patterns = pack(np.ones((len(seeds), case.plane.cells), np.bool_), case.columns)
    left = unpack(engine(case).destroy(patterns, seeds, np.full(len(seeds), 5, np.int32)))
    ways = np.array([_way(seed) for seed in seeds])
    assert set(ways) == {ANYWHERE, LINE, WALK, FLOW}
    for way, pattern in zip(ways, left, strict=True):
        row, column = np.divmod(np.flatnonzero(~pattern), case.columns)
        if way == LINE:
            assert len(set(row)) == 1 or len(set(column)) == 1
        elif way == WALK:
            # a walk also passes primaries, which stay
            i, j = np.divmod(np.flatnonzero(~pattern | case.primary), case.columns)
            assert all(((i == r) | (j == c)).sum() > 1 for r, c in zip(row, column, strict=True))


def test_the_logic_is_compiled_without_a_way_in_from_python() -> None:
    for function in (cheapest_path, clean_pattern, decode_child):
        assert isinstance(function, type(bare(function.py_func)))
        assert function.targetoptions["no_cpython_wrapper"]
        assert not function.targetoptions["_nrt"]
