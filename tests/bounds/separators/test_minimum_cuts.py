"""Minimum cuts: they part the source from the sink, and the point carries less over them than is needed."""

from __future__ import annotations

import numpy as np

from gpuga.bounds.separators.capacity_cuts import crossing
from gpuga.bounds.separators.minimum_cuts import support_of, violated_cuts
from gpuga.problem.two_way import FlowLevels
from gpuga.safety.network import Network


def test_cuts_part_source_and_sink_and_carry_less_than_is_needed() -> None:
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(40):
        rows, columns = 4, 5
        net = Network(rng.integers(0, 9, (rows, columns)), rng.integers(0, 9, (rows, columns)))
        x, places = rng.random(rows * columns), np.arange(rows * columns)
        levels = FlowLevels(np.array([7, 7, 3]), np.array([True, False, True]), np.array([9, 4, 12]))
        found = violated_cuts(net, support_of(places, x, rows, columns), levels, 0.01)
        for q, row_side, column_side in zip(found.level.tolist(), found.rows, found.columns, strict=True):
            seen += 1
            place, need = int(levels.place[q]), int(levels.need[q])
            row, column = bool(row_side[place // columns]), bool(column_side[place % columns])
            assert (row, column) == ((False, True) if levels.forward[q] else (True, False))
            carried = crossing(net, places, row_side, column_side, need) * x
            assert carried.sum() - carried[place] < need * (1 - 0.01) + 1e-6
    assert seen > 40


def test_what_carries_enough_is_not_cut() -> None:
    net = Network(np.full((3, 3), 9), np.full((3, 3), 9))
    levels = FlowLevels(np.array([4]), np.array([True]), np.array([9]))
    support = support_of(np.arange(9), np.ones(9), 3, 3)
    assert len(violated_cuts(net, support, levels, 0.01).level) == 0
