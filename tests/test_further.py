"""Alternatives and fronts of a run: all audited exactly, with the figures that they are reported with."""

from __future__ import annotations

import numpy as np
import pytest

import gpuga
from gpuga.context import Clock, Context
from gpuga.errors import InputError
from gpuga.further import FurtherPatterns
from gpuga.protection import Candidate
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table

TABLES = [herrington(14, 14, 0.05, 3), smith3d((6, 5, 4), 0.15, 0.1, 2)]


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "three-way"])
def test_alternatives_are_safe_different_and_no_cheaper(table: Table) -> None:
    found = gpuga.protect(table, seed=1, options={"alternatives": 3, "generations": 5})
    assert len(found.alternatives) == 3
    seen = [found.suppressed]
    for one in found.alternatives:
        assert gpuga.audit(table, one.suppressed, intervals=False).safe
        assert one.audit.safe
        assert one.scaled_cost == table.cost(one.suppressed) >= found.scaled_cost
        assert one.cost == table.shown_cost(one.scaled_cost)
        assert one.apart == (one.suppressed ^ found.suppressed).sum()
        assert not any(np.array_equal(one.suppressed, other) for other in seen)
        seen.append(one.suppressed)


def test_small_tables_have_alternatives_too() -> None:
    table = herrington(6, 6, 0.1, 1)
    found = gpuga.protect(table, seed=1, options={"alternatives": 2})
    assert found.optimal
    assert len(found.alternatives) == 2


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "three-way"])
def test_no_pattern_of_a_front_is_better_than_another_in_everything(table: Table) -> None:
    last = gpuga.protect(table, "hypercube", seed=1).suppressed
    options = {"objectives": ("cost", "cells", "totals", "difference"), "generations": 4}
    found = gpuga.protect(table, seed=1, like=last, options=options)
    points = np.array([(one.cost, one.secondary, one.totals, one.difference) for one in found.front])
    assert len(points) >= 2
    for row in points:
        assert not ((points <= row).all(1) & (points < row).any(1)).any()
    assert all(gpuga.audit(table, one.suppressed, intervals=False).safe for one in found.front)


def test_a_difference_without_an_earlier_pattern_is_refused() -> None:
    with pytest.raises(InputError, match="needs an earlier pattern"):
        gpuga.protect(TABLES[0], options={"objectives": ("cost", "difference")})


def test_what_is_unsafe_is_repaired_before_it_is_an_alternative_and_nothing_comes_after_the_time() -> None:
    table = TABLES[0]
    best = gpuga.protect(table, "exact", seed=1).suppressed
    offered = [Candidate(table.forced.copy())]
    (one,) = FurtherPatterns(table, table, best, Context()).audited(offered)
    assert one.audit.safe
    assert gpuga.audit(table, one.suppressed, intervals=False).safe
    late = Clock(0.0)
    late.interrupt()
    assert FurtherPatterns(table, table, best, Context(clock=late)).audited(offered) == ()


def test_alternatives_show_no_values() -> None:
    found = gpuga.protect(TABLES[0], seed=1, options={"alternatives": 1, "generations": 2})
    said = repr(found.alternatives[0])
    assert said.startswith("<Alternative: ")
    assert str(found.alternatives[0].cost) not in said
