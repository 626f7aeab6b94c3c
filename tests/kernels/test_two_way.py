"""Whole generations of two-way patterns: decoded children are safe, cleaned ones lean, verdicts exact."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from gpuga.kernels import Patterns
from gpuga.kernels.layout import pack, unpack
from gpuga.kernels.two_way import TwoWayCpu

from .instances import PlaneCase, random_plane
from .oracle import covered as verdicts_of
from .oracle import without_redundant
from .planes import seeds, styles, wide_plane

Bools = NDArray[np.bool_]


def engine(case: PlaneCase, threads: int = 1, candidate: Bools | None = None) -> TwoWayCpu:
    allowed = ~case.primary if candidate is None else candidate
    return TwoWayCpu(case.plane, case.requirements, case.weights, case.primary, allowed, threads)


def verdicts(case: PlaneCase, patterns: Bools) -> Bools:
    return verdicts_of(patterns, case.plane, case.requirements)


def packed(case: PlaneCase, patterns: Bools) -> Patterns:
    return pack(patterns, case.columns)


def decoded(work: TwoWayCpu, case: PlaneCase, patterns: Bools, rng: np.random.Generator) -> tuple[Bools, Bools]:
    start = packed(case, patterns & (rng.random(patterns.shape) < 0.3))
    order = rng.permutation(len(patterns))
    first, second = packed(case, patterns), packed(case, patterns[order])
    count = len(patterns)
    found, safe = work.decode(start, first, second, seeds(rng, count), styles(rng, count), np.zeros(count, np.int32))
    assert not (unpack(start) & ~unpack(found)).any()
    return unpack(found), safe


@pytest.mark.parametrize("seed", range(40))
def test_safe_says_what_the_oracle_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_plane(rng)
    patterns = case.patterns | case.primary
    found = engine(case).safe(packed(case, patterns))
    np.testing.assert_array_equal(found, verdicts(case, patterns).all(axis=1))


@pytest.mark.parametrize("requirements", [1, 63, 64, 65, 130, 400])
@pytest.mark.parametrize("seed", range(3))
def test_safe_is_exact_for_any_number_of_requirements(requirements: int, seed: int) -> None:
    rng = np.random.default_rng([requirements, seed])
    case = wide_plane(rng, requirements)
    covered = verdicts(case, case.patterns)
    np.testing.assert_array_equal(engine(case).safe(packed(case, case.patterns)), covered.all(axis=1))
    # only what each pattern covers is asked, so that there are safe ones with many requirements
    for pattern, met in zip(case.patterns, covered, strict=True):
        work = TwoWayCpu(case.plane, case.requirements.subset(met), case.weights, case.primary, ~case.primary)
        assert work.safe(packed(case, pattern[None])).all()


@pytest.mark.parametrize("seed", range(40))
def test_decoded_patterns_are_safe_and_no_others_are_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_plane(rng) if seed % 4 else wide_plane(rng, int(rng.integers(1, 140)))
    patterns = case.patterns | case.primary
    candidate = ~case.primary & (rng.random(case.plane.cells) < 0.9)
    work = engine(case, candidate=candidate)
    if seed % 3:
        core = candidate & (rng.random(case.plane.cells) < 0.5)
        work.set_prices(rng.integers(0, 1000, (1, case.plane.cells)), core)
    found, safe = decoded(work, case, patterns & (candidate | case.primary), rng)
    possible = verdicts(case, (candidate | case.primary)[None]).all()
    np.testing.assert_array_equal(safe, np.full(len(patterns), possible))
    if possible:
        assert verdicts(case, found).all()
        assert not (found & ~(candidate | case.primary)).any()


@pytest.mark.parametrize("seed", range(40))
def test_cleaned_patterns_cover_the_same_and_cannot_lose_a_single_cell(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_plane(rng, (5, 7)) if seed % 4 else wide_plane(rng, 20)
    patterns = case.patterns[:4] | case.primary
    work = engine(case)
    chosen = np.zeros(len(patterns), np.uint64) if seed % 2 else seeds(rng, len(patterns))
    cleaned = unpack(work.clean(packed(case, patterns), chosen))
    before, after = verdicts(case, patterns), verdicts(case, cleaned)
    np.testing.assert_array_equal(before, after)
    assert not (cleaned & ~patterns).any()
    for pattern, covered in zip(cleaned, after, strict=True):
        extra = np.flatnonzero(pattern & ~case.primary)
        without = np.repeat(pattern[None], len(extra), axis=0)
        without[np.arange(len(extra)), extra] = False
        assert not verdicts(case, without)[:, covered].all(axis=1).any()


@pytest.mark.parametrize("seed", range(20))
def test_seed_0_cleans_exactly_by_weight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_plane(rng, [(1, 4), (3, 3), (4, 5), (5, 7)][seed % 4], count=3)
    patterns = case.patterns | case.primary
    found = engine(case).clean(packed(case, patterns), np.zeros(len(patterns), np.uint64))
    expected = without_redundant(patterns, case.plane, case.requirements, case.weights, case.primary)
    np.testing.assert_array_equal(unpack(found), expected)


@pytest.mark.parametrize("seed", range(20))
def test_destroying_takes_secondary_cells_only_and_no_more_than_asked(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_plane(rng) if seed % 2 else wide_plane(rng, 20)
    patterns = np.repeat(case.patterns | case.primary, 8, axis=0)
    strength = rng.integers(0, 7, len(patterns)).astype(np.int32)
    found = unpack(engine(case).destroy(packed(case, patterns), seeds(rng, len(patterns)), strength))
    assert not (found & ~patterns).any()
    assert found[:, case.primary].all()
    taken = (patterns & ~found).sum(axis=1)
    assert (taken <= strength).all()
    assert (taken[(strength > 0) & (patterns & ~case.primary).any(axis=1)] > 0).all()


def test_costs_leave_forced_cells_out() -> None:
    rng = np.random.default_rng(1)
    case = wide_plane(rng, 20)
    found = engine(case).costs(packed(case, case.patterns))
    np.testing.assert_array_equal(found, (case.patterns & ~case.primary) @ case.weights)


def test_the_number_of_threads_changes_nothing() -> None:
    results = []
    for threads in (1, 2):
        rng = np.random.default_rng(5)
        case = wide_plane(rng, 30)
        patterns = np.repeat(case.patterns, 20, axis=0)
        work = engine(case, threads)
        found, safe = decoded(work, case, patterns, rng)
        cleaned = work.clean(packed(case, found), seeds(rng, len(found)))
        left = work.destroy(cleaned, seeds(rng, len(found)), np.full(len(found), 4, np.int32))
        results.append([found, safe, unpack(cleaned), unpack(left), work.safe(left), work.costs(left)])
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)


def test_patterns_of_another_shape_are_refused() -> None:
    case = random_plane(np.random.default_rng(0), (4, 4))
    with pytest.raises(ValueError, match="rows and columns"):
        engine(case).safe(pack(np.zeros((1, 20), np.bool_), 5))


@pytest.mark.parametrize("price", [-1, 2**40])
def test_prices_that_do_not_fit_are_refused(price: int) -> None:
    case = random_plane(np.random.default_rng(0), (4, 4))
    with pytest.raises(ValueError, match="prices must lie between"):
        engine(case).set_prices(np.full((1, 16), price), ~case.primary)
