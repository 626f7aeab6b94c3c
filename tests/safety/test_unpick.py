"""Interval propagation is the same in 64-bit and in Python's integers, and right where 64 bits do not suffice."""

from __future__ import annotations

import numpy as np

import gpuga
from gpuga.safety import unpick as module
from gpuga.safety.unpick import one_line_each, unpick
from gpuga.table.table import Levels, Lines, Table
from tests.support.small_tables import random_pattern, random_table


def test_propagation_in_wide_integers_is_that_of_the_kernels() -> None:
    rng = np.random.default_rng(4)
    moved = 0
    for shape in [(4, 5), (3, 3, 3), (2, 3, 2, 2)]:
        for _ in range(6):
            table = random_table(rng, shape)
            suppressed = random_pattern(rng, table, 0.4)
            for narrow, sweeps in ((one_line_each, 1), (unpick, 1000)):
                rise, fall = narrow(table, suppressed)
                wide_rise, wide_fall = module._wide_sweeps(table, suppressed, sweeps)
                assert (rise == wide_rise).all()
                assert (fall == wide_fall).all()
                moved += int(rise.sum() > 0)
    assert moved > 10


def test_sums_beyond_64_bits_refute_nothing() -> None:
    # one total of forty cells, each of which may rise by nearly 2**59: together far more than 2**63
    cells, far = 40, 2**59
    lines = Lines(
        np.array([0, cells + 1]),
        np.arange(cells + 1, dtype=np.int32),
        np.array([1] * cells + [-1]),
        np.zeros(1, np.int64),
    )
    value = np.append(np.full(cells, 10), 10 * cells)
    level = np.zeros(cells + 1, np.int64)
    level[cells] = far // 2
    status = np.zeros(cells + 1, np.uint8)
    status[cells] = 1
    table = Table.build(
        value, lines, status=status, ub=value + far, levels=Levels(np.zeros_like(level), level, np.zeros_like(level))
    )
    rise, _ = unpick(table, np.ones(cells + 1, bool))
    assert rise[cells] == far
    assert gpuga.audit(table, np.ones(cells + 1, bool), whole="no").safe
