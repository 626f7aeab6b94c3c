"""What a worker learns from the patterns that it judges makes it quicker and changes no verdict."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from gpuga.kernels import Capacities, Requirements
from gpuga.kernels.layout import pack
from gpuga.kernels.logic.judge import HELD, OPEN
from gpuga.kernels.logic.records import Supports
from gpuga.kernels.logic.supports import LONGEST_SUPPORT, SUPPORTS, shift_for
from gpuga.kernels.two_way import TwoWayCpu

from .instances import Bools, PlaneCase, random_plane
from .oracle import covered
from .planes import learning_plane, tight_plane, wide_plane
from .test_two_way import engine


@njit
def _shift(columns):  # type: ignore[no-untyped-def]
    return shift_for(np.int64(columns))


def judged(work: TwoWayCpu, patterns: Bools, columns: int) -> Bools:
    """Verdicts of patterns that are given one by one."""
    return np.concatenate([work.safe(pack(one[None], columns)) for one in patterns])


def supports_of(work: TwoWayCpu) -> Supports:
    scratch = work.free.get()
    work.free.put(scratch)
    return scratch.supports


def relatives(rng: np.random.Generator, case: PlaneCase, count: int) -> Bools:
    """Patterns that share most of their cells, as those of a population do."""
    parents = case.patterns[rng.integers(0, len(case.patterns), count)]
    return (parents & (rng.random(parents.shape) < rng.choice([0.8, 0.95, 0.99], (count, 1)))) | case.primary


@pytest.mark.parametrize("seed", range(20))
def test_what_was_learnt_from_other_patterns_changes_no_verdict(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_plane(rng) if seed % 2 else wide_plane(rng, int(rng.integers(1, 9)))
    work, patterns = engine(case), relatives(rng, case, 60)
    patterns = np.concatenate([patterns, patterns[rng.permutation(60)]])
    expected = covered(patterns, case.plane, case.requirements).all(axis=1)
    np.testing.assert_array_equal(judged(work, patterns, case.columns), expected)


@pytest.mark.parametrize("seed", range(10))
def test_a_support_that_lost_a_cell_or_was_too_long_to_be_kept_covers_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = learning_plane(rng)
    work, expected = engine(case), covered(case.patterns, case.plane, case.requirements).all(axis=1)
    np.testing.assert_array_equal(judged(work, case.patterns, case.columns), expected)
    assert SUPPORTS + 5 <= expected.sum() < len(expected)
    lengths = supports_of(work).place[0, :, 0]
    assert sorted(set(lengths)) == [0, 3], "only whole supports are kept, and single paths have three cells"
    assert 2 * case.requirements.need[0] + 1 == LONGEST_SUPPORT + 2


def test_as_many_and_as_long_supports_are_kept_as_there_is_room_for() -> None:
    case = learning_plane(np.random.default_rng(1), LONGEST_SUPPORT // 2)
    work = engine(case)
    assert judged(work, case.patterns[: SUPPORTS + 5], case.columns).all()
    place = supports_of(work).place[0]
    assert sorted(place[:, 0]) == [3] * (SUPPORTS - 1) + [LONGEST_SUPPORT]
    assert len(np.unique(place, axis=0)) == SUPPORTS


@pytest.mark.parametrize("over", [0, 1])
def test_a_support_is_the_cells_of_a_flow_and_holds_in_every_larger_pattern(over: int) -> None:
    rng = np.random.default_rng(over)
    case = tight_plane(rng, over)
    work = engine(case)
    assert work.safe(pack(case.patterns[:1], case.columns))[0] == (over == 0)
    place, shift = supports_of(work).place[0], _shift(case.columns)
    assert (place[:, 0] > 0).sum() == (over == 0)
    if over:
        return
    cells = place[0, 1 : 1 + place[0, 0]]
    support = case.primary.copy()
    support[(cells >> shift) * case.columns + (cells & (1 << shift) - 1)] = True
    assert not (support & ~case.patterns[0]).any()
    assert covered(support[None], case.plane, case.requirements).all()
    assert work.safe(pack(support[None], case.columns)).all()


def test_a_requirement_that_failed_is_asked_first_of_the_next_pattern() -> None:
    room = np.full((4, 4), 9, np.int64)
    plane, requirements = Capacities.of(room, room), Requirements.of([0, 5, 10], [1, 1, 1], [1, 2, 3])
    forced = np.isin(np.arange(16), [0, 5, 10])
    work = TwoWayCpu(plane, requirements, np.ones(16, np.int64), forced, ~forced, 1)
    everything = np.ones(16, np.bool_)
    lonely = everything.copy()
    lonely[1:4] = False  # nothing else in the row of the first
    verdicts = judged(work, np.stack([everything, lonely, everything]), 4)
    assert verdicts.tolist() == [True, False, True]
    scratch = work.free.get()
    work.free.put(scratch)
    assert set(scratch.witnesses.state) <= {HELD, OPEN}, "the last pattern is safe: all of it was looked up"
    assert supports_of(work).order.tolist() == [0, 2, 1]


@pytest.mark.parametrize(("columns", "shift"), [(1, 0), (2, 1), (3, 2), (64, 6), (65, 7), (1000, 10)])
def test_a_row_and_a_column_have_room_in_one_number(columns: int, shift: int) -> None:
    assert _shift(columns) == shift
