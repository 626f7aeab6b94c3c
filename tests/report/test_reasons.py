"""Reasons are what the audit says once a cell is published."""

from __future__ import annotations

import numpy as np

from gpuga.context import Clock, Context
from gpuga.report.reasons import costliest, helped_by, needs, tightest
from gpuga.safety.audit import audit
from gpuga.table.builders import table_from_array
from gpuga.table.table import Mask, Table


def box() -> tuple[Table, Mask]:
    """One sensitive cell in a box of four suppressed ones, and one more suppressed cell that stands apart."""
    values = [[50, 60, 7, 8], [70, 80, 9, 10], [11, 12, 13, 14], [15, 16, 17, 19]]
    sensitive = np.zeros((4, 4), bool)
    sensitive[0, 0] = True
    table = table_from_array(values, sensitive=sensitive)
    suppressed = table.forced.copy()
    suppressed[[1, 4, 5, 15]] = True
    return table, suppressed


def test_the_corners_of_a_box_are_needed_and_a_cell_apart_is_not() -> None:
    table, suppressed = box()
    found = needs(table, suppressed, costliest(table, suppressed, 10), Context())
    assert list(found) == [5, 4, 1, 15]
    assert [found[cell].needed_by for cell in (1, 4, 5)] == [(0,)] * 3
    assert found[15].needed_by == ()


def test_only_the_costliest_are_judged_and_none_after_the_time() -> None:
    table, suppressed = box()
    assert costliest(table, suppressed, 1).tolist() == [5]
    assert needs(table, suppressed, np.array([5, 4]), Context(clock=Clock(1e-9))) == {}
    assert needs(table, suppressed, np.zeros(0, np.int64), Context()) == {}


def test_a_proof_moves_what_helps() -> None:
    table, suppressed = box()
    proof = audit(table, suppressed, intervals=False, proofs=True).proof
    assert proof is not None
    assert {cell: cells.tolist() for cell, cells in helped_by(table, proof).items()} == {1: [0], 4: [0], 5: [0]}


def test_what_is_needed_is_what_the_audit_misses() -> None:
    rng = np.random.default_rng(5)
    table = table_from_array(rng.integers(1, 99, (5, 5)), sensitive=rng.random((5, 5)) < 0.2)
    suppressed = table.suppressible.copy()
    cells = np.flatnonzero(suppressed & ~table.primary)[:6]
    found = needs(table, suppressed, cells, Context())
    for cell in cells.tolist():
        without = suppressed.copy()
        without[cell] = False
        assert found[cell].needed_by == audit(table, without, intervals=False).unsafe


def test_the_tightest_cell_is_the_one_with_the_least_room_over_its_level() -> None:
    table, suppressed = box()
    (only,) = tightest(table, audit(table, suppressed))
    assert only.cell == 0
    assert only.low is not None
    assert only.high is not None
    value, level = 50, 7.5
    assert float(only.ratio) == min(value - float(only.low), float(only.high) - value) / level
