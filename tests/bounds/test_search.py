"""The search of `exact`: what its parts do with the time and with the incumbent."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.bounds import search as module
from gpuga.bounds.neighbourhood import Neighbourhood
from gpuga.bounds.repair.cover import CoverRepair
from gpuga.bounds.search import BranchAndCut
from gpuga.bounds.tree import Tree
from gpuga.context import Clock, Context
from gpuga.problem.general import GeneralProblem
from gpuga.problem.two_way import two_way_problem
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Mask


def general_search() -> BranchAndCut:
    """A search in a general table with a gap, its root cut for a while."""
    search = BranchAndCut(GeneralProblem.of(smith3d((6, 6, 5), 0.1, 0.1, 3)), Context())
    search.master.tighten(Clock(), rounds=3)
    search.raise_lower(search.master.bound)
    assert 0 < search.lower < search.cost
    return search


def test_parts_of_a_pattern_are_let_go_until_some_in_a_row_were_in_vain_while_the_gap_is_wide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search, kept, searched = general_search(), [], []

    def in_vain(repair: CoverRepair, part: Mask, x: np.ndarray | None, clock: Clock, by_capacity: bool) -> Mask:
        kept.append((part, x, by_capacity))
        return search.best

    monkeypatch.setattr(CoverRepair, "rebuilt", in_vain)
    monkeypatch.setattr(CoverRepair, "searched", lambda repair, best, x, clock: searched.append(1) or best)
    monkeypatch.setattr(module, "REBUILDS", 80)
    for _ in search._rebuilds(Clock()):
        pass
    assert (len(kept), len(searched)) == (40, 40)
    shares = [int(part.sum()) / int(search.best.sum()) for part, *_ in kept]
    assert all(not (part & ~search.best).any() for part, *_ in kept)
    assert 0.4 < min(shares) < 0.6
    assert 0.8 < max(shares) < 1
    assert {(x is None, by_capacity) for _, x, by_capacity in kept} == {
        (True, True),
        (True, False),
        (False, True),
        (False, False),
    }
    kept.clear()
    monkeypatch.setattr(module, "MOST_FOR_LOCAL", int(search.best.sum()))  # and cells that are suppressed anyway
    for _ in search._rebuilds(Clock()):
        pass
    assert (len(kept), len(searched)) == (80, 40)
    kept.clear()
    search.lower = int(0.96 * search.cost)
    for _ in search._rebuilds(Clock()):
        pass
    assert (kept, len(searched)) == ([], 40)


def test_where_many_columns_are_left_rebuilds_local_searches_and_looks_take_turns_for_most_of_a_limited_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search, done = general_search(), []
    monkeypatch.setattr(CoverRepair, "rebuilt", lambda *_: done.append("rebuild") or search.best)
    monkeypatch.setattr(CoverRepair, "searched", lambda *_: done.append("local search") or search.best)
    monkeypatch.setattr(search.neighbourhood, "improve", lambda *_: done.append("look") or search.best)
    monkeypatch.setattr(module, "REBUILDS", 12)
    for columns, looks in ((module.FEW_COLUMNS, 0), (module.FEW_COLUMNS + 1, 3)):
        done.clear()
        monkeypatch.setattr(search, "_columns", lambda columns=columns: columns)
        for _ in search._rebuilds(Clock()):
            pass
        assert (len(done), done.count("look"), done.count("local search")) == (12, looks, 6)
    done.clear()
    limited = Clock(3600.0)
    for _ in search._rebuilds(limited):
        if len(done) == 100:
            limited.interrupt()
    assert len(done) == 100  # far more than 12 in vain: only the time ends them


def test_more_than_a_few_patterns_are_led_by_a_point_only_where_the_gap_is_wide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search, made = general_search(), []
    monkeypatch.setattr(CoverRepair, "guided", lambda *_: made.append(1) or search.best)
    for _ in search._guided(Clock()):
        pass
    assert len(made) == CoverRepair.guided_starts > 3
    made.clear()
    search.lower = int(0.96 * search.cost)
    for _ in search._guided(Clock()):
        pass
    assert len(made) == 3


def test_rebuilds_keep_what_they_gain_and_go_on_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REBUILDS", 20)
    search = general_search()
    before, best = search.cost, search.best.copy()
    for _ in search._rebuilds(Clock()):
        assert search.cost <= before
    assert search.cost < before
    assert search.cost == int(search.problem.weight[search.best].sum())
    assert (search.best != best).any()


def test_neighbourhoods_are_searched_after_a_dive_that_used_up_the_time_of_the_dives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search = BranchAndCut(two_way_problem(herrington(40, 40, 0.03, 1), Context()), Context())
    search.master.tighten(Clock(), rounds=4)
    time_of_dives, asked = Clock(), []
    monkeypatch.setattr(Tree, "dive", lambda *_: time_of_dives.interrupt())

    def nothing_near(near: Neighbourhood, pattern: Mask, random: np.random.Generator, clock: Clock) -> Mask:
        asked.append(clock.expired())
        return pattern

    monkeypatch.setattr(Neighbourhood, "improve", nothing_near)
    for _ in search._dives(time_of_dives):
        pass
    assert asked
    assert not any(asked)
