"""Unsafe combinations, histograms and covers against plain Python."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuga.errors import Infeasible, InputError
from gpuga.kernels import get_backend, host
from gpuga.microdata import histogram
from gpuga.microdata.caps import minimal_covers
from gpuga.microdata.cover import cheapest_covers, cover_costs, feasible_prices, highs_cover
from gpuga.microdata.histogram import mark_rare
from gpuga.microdata.keys import make_keys
from gpuga.microdata.problem import local_suppression
from gpuga.microdata.relaxed import Relaxed, frequency_tables, priced
from gpuga.microdata.suppression import suppress
from gpuga.microdata.unsafe import families, key_bits, minucs, unsafe_words
from tests.microdata.random_problems import random_problem


def random_codes(seed: int, records: int = 60, fields: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 4, (records, fields)).astype(np.int32)  # -1: missing


def plainly_unsafe(codes, keys) -> set[tuple[int, int]]:
    found = set()
    for position, key in enumerate(keys.keys):
        scores = [tuple(row[list(key.fields)]) for row in codes]
        counts = Counter(scores)
        found |= {(r, position) for r, s in enumerate(scores) if -1 not in s and counts[s] < key.threshold}
    return found


def plainly_rare(columns, fields, threshold) -> np.ndarray:
    """Whether each record's scores on some fields are rare, by sorting."""
    scores = columns[list(fields)].T
    _, inverse, counts = np.unique(scores, axis=0, return_inverse=True, return_counts=True)
    return (counts[inverse.reshape(-1)] < threshold) & (scores >= 0).all(axis=1)


@pytest.mark.parametrize("seed", range(10))
def test_unsafe_combinations_and_minucs_by_definition(seed):
    codes = random_codes(seed)
    keys = make_keys("abcd", 3, 3, [(("a", "b", "c", "d"), 2)])
    words = unsafe_words(codes, np.full(4, 4), keys)
    expected = plainly_unsafe(codes, keys)

    def pairs(w):
        return {(int(r), int(k)) for r, k in zip(*np.nonzero(key_bits(w, len(keys))), strict=True)}

    fields = [set(key.fields) for key in keys.keys]
    assert pairs(words) == expected
    assert pairs(minucs(words, keys)) == {
        (r, k) for r, k in expected if not any(fields[o] < fields[k] for q, o in expected if q == r)
    }


@pytest.mark.parametrize("most_bins", [2**24, 4])
def test_rare_marks_equal_the_oracle_dense_and_sorted(monkeypatch, most_bins):
    monkeypatch.setattr(histogram, "MOST_BINS", most_bins)
    columns = np.ascontiguousarray(random_codes(1, 500).T)
    for key, fields in enumerate([(0,), (1, 3), (0, 1, 2), (0, 1, 2, 3)]):
        words = np.zeros((500, 1), np.uint64)
        mark_rare(columns, fields, [4] * len(fields), 5, words, key)
        marked = (words[:, 0] >> np.uint64(key)) & np.uint64(1)
        assert np.array_equal(marked.astype(bool), plainly_rare(columns, fields, 5))


@pytest.mark.parametrize("most_bins", [2**24, 2])
def test_batched_evaluation_equals_the_oracle(monkeypatch, most_bins):
    monkeypatch.setattr(host, "MOST_BINS", most_bins)
    problem = random_problem(3)
    tables = priced(problem, frequency_tables(problem), problem.unchanged)
    rng = np.random.default_rng(0)
    table = rng.integers(len(problem.keys), size=50).astype(np.int32)
    rule = rng.integers(3, size=(50, 3)).astype(np.int32)
    oracle = get_backend("numpy").rare_weights(tables, table, rule)
    assert np.array_equal(get_backend("cpu").rare_weights(tables, table, rule), oracle)
    assert Relaxed(problem, tables).estimates(np.zeros((1, problem.fields), np.int32))[0] > 0


families_of_sets = st.lists(st.integers(1, 63), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None)
@given(families_of_sets, st.lists(st.integers(1, 9), min_size=6, max_size=6))
def test_the_cheapest_cover_is_the_cheapest_of_all_subsets(sets, costs):
    masks, prices = np.array(sets, np.int64), np.array([costs], np.int64)
    start = np.array([0, len(sets)])
    every = chain.from_iterable(combinations(range(6), n) for n in range(7))
    cost = {sum(1 << f for f in some): sum(costs[f] for f in some) for some in every}
    best = min(c for cover, c in cost.items() if all(m & cover for m in sets))
    covers, proven = cheapest_covers(start, masks, prices)
    assert proven[0]
    assert all(m & int(covers[0]) for m in sets)
    assert cover_costs(covers, prices)[0] == best == cost[highs_cover(masks, prices[0])]
    greedy, _ = cheapest_covers(start, masks, prices, exact=False)
    assert all(m & int(greedy[0]) for m in sets)
    assert best <= cover_costs(greedy, prices)[0]


@settings(max_examples=150, deadline=None)
@given(families_of_sets, st.lists(st.integers(1, 9), min_size=6, max_size=6))
def test_prices_are_feasible_and_bound_the_cheapest_cover(sets, costs):
    masks, start = np.array(sets, np.int64), np.array([0, len(sets)])
    fine = np.array([costs], np.int64) * 60
    prices = feasible_prices(start, masks, fine)
    assert (prices >= 0).all()
    for f in range(6):
        assert prices[((masks >> f) & 1) == 1].sum() <= fine[0, f]
    covers, _ = cheapest_covers(start, masks, fine)
    assert prices.sum() <= cover_costs(covers, fine)[0]


def test_a_family_beyond_the_node_limit_goes_to_highs():
    rng = np.random.default_rng(1)
    masks = rng.integers(1, 2**12, 40)
    costs = rng.integers(1, 20, (1, 12))
    start = np.array([0, 40])
    limited, proven = cheapest_covers(start, masks, costs, limit=1)
    full, _ = cheapest_covers(start, masks, costs)
    assert proven[0]
    assert cover_costs(limited, costs) == cover_costs(full, costs)


@settings(max_examples=60, deadline=None)
@given(families_of_sets)
def test_minimal_covers_are_all_of_them(sets):
    covers = [c for c in range(64) if all(m & c for m in sets)]
    minimal = [c for c in covers if not any(o != c and o & c == o for o in covers)]
    assert minimal_covers(np.array(sets, np.int64), 6) == minimal


def test_families_gather_equal_records():
    problem = random_problem(2)
    words = minucs(unsafe_words(*problem.recoded(problem.unchanged), problem.keys), problem.keys)
    grouped = families(words, problem.costs.record_class)
    assert grouped.size.sum() == len(grouped.record) == int(words.any(axis=1).sum())
    assert np.array_equal(grouped.words[grouped.family], words[grouped.record])


def test_caps_are_kept_and_cost_no_less():
    kept = 0
    for seed in range(0, 30, 3):
        problem = random_problem(seed)
        codes, sizes = problem.recoded(tuple(c - 1 for c in problem.choices))
        free = suppress(problem, codes, sizes)
        used = free.suppressed.sum(axis=0)
        field = int(used.argmax())
        cap = int(used[field]) - 1
        if cap < 0:
            continue
        first = local_suppression(problem, codes, sizes).cost
        try:
            capped = suppress(replace(problem, caps={field: cap}), codes, sizes)
        except Infeasible:
            continue
        kept += 1
        assert capped.suppressed[:, field].sum() <= cap
        assert capped.cost >= first
        assert not unsafe_words(capped.codes, sizes, problem.keys).any()
    assert kept > 0


@pytest.mark.parametrize("threshold", [0, -1])
def test_a_threshold_below_one_is_refused(threshold):
    with pytest.raises(InputError, match="threshold is 1 or more"):
        make_keys(["a", "b"], 2, threshold)
