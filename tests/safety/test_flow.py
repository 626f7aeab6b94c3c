"""The exact attacker of two-dimensional tables against an independent maximum flow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import lil_array
from scipy.sparse.csgraph import maximum_flow

from gpuga.safety.flow import extreme, reachable
from gpuga.safety.requirements import Requirements, level_requirements
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table import INFINITE, two_way_table
from gpuga.table.builders import table_from_array
from gpuga.table.generate import class2
from gpuga.table.witnesses import Witnesses
from tests.planes import random_plane_table

LARGE = 10_000_000


def attacker_reach(plane, suppressed, cell, direction):
    """What a cell can move in a direction, by scipy's maximum flow on the whole network."""
    rows, columns = plane.shape
    graph = lil_array((rows + columns, rows + columns), dtype=np.int32)
    own = divmod(int(plane.place[cell]), columns)
    for i, j in zip(*np.nonzero(suppressed), strict=True):
        if (i, j) == own:
            continue
        up, down = min(plane.up[i, j], LARGE), min(plane.down[i, j], LARGE)
        forward, back = (up, down) if plane.sign[i, j] > 0 else (down, up)
        graph[i, rows + j] = forward
        graph[rows + j, i] = back
    i, j = own
    forward = direction * plane.sign[i, j] > 0
    source, sink = (rows + j, i) if forward else (i, rows + j)
    flow = int(maximum_flow(graph.tocsr(), source, sink).flow_value)
    capacity = int(plane.up[i, j] if direction > 0 else plane.down[i, j])
    reach = min(flow, capacity)
    return INFINITE if reach >= LARGE else reach


def random_suppressed_plane(rows, columns, seed):
    """A random plane and a pattern on it (bool[R, C]) that suppresses about two cells of five."""
    table = random_plane_table(rows, columns, seed, bounded=seed % 2 == 0, gaps=seed % 3 == 0)
    plane = two_way_table(table)
    chosen = np.random.default_rng(seed).random(len(table)) < 0.4
    return plane, plane.lay(table.forced | (chosen & table.suppressible)).astype(bool)


@pytest.mark.parametrize("seed", range(25))
def test_every_reach_is_the_maximum_flow(seed):
    plane, suppressed = random_suppressed_plane(5, 6, seed)
    cells = plane.cell[suppressed]
    rise, fall = extreme(plane, suppressed, cells)
    for at, cell in enumerate(cells):
        assert rise[at] == attacker_reach(plane, suppressed, cell, +1)
        assert fall[at] == attacker_reach(plane, suppressed, cell, -1)


@pytest.mark.parametrize("seed", range(25))
def test_a_requirement_is_met_just_when_the_reach_covers_its_need(seed):
    plane, suppressed = random_suppressed_plane(6, 5, seed)
    cells = plane.cell[suppressed]
    rise, fall = extreme(plane, suppressed, cells)
    reach = np.concatenate([rise, fall])
    cell = np.tile(cells, 2).astype(np.int32)
    direction = np.repeat([1, -1], len(cells)).astype(np.int8)
    for extra in (0, 1):
        need = np.maximum(1, np.where(reach == INFINITE, LARGE, reach + extra)).astype(np.int64)
        met = reachable(plane, suppressed, Requirements(cell, direction, need)).met
        assert (met == (need <= reach)).all()


@pytest.mark.parametrize("seed", range(10))
def test_every_witness_is_a_consistent_table_that_reaches_the_level(seed):
    table = random_plane_table(7, 7, seed, bounded=seed % 2 == 0, gaps=seed % 3 == 0)
    plane = two_way_table(table)
    suppressed = plane.lay(table.suppressible).astype(bool)
    requirements = level_requirements(table)
    reach = reachable(plane, suppressed, requirements, witnesses=True)
    assert (reach.met == reachable(plane, suppressed, requirements).met).all()
    assert len(requirements) == 0 or reach.met.any()
    for t in np.flatnonzero(reach.met):
        entries = slice(reach.start[t], reach.start[t + 1])
        change = np.zeros(len(table), np.int64)
        change[reach.cell[entries]] = reach.amount[entries]
        assert not table.lines.apply(change).any()
        assert change[requirements.cell[t]] == requirements.direction[t] * requirements.need[t]
        assert (change <= table.up).all()
        assert (-change <= table.down).all()
    assert (np.diff(reach.start)[~reach.met] == 0).all()


def test_a_published_cell_reaches_nothing():
    table = random_plane_table(4, 4, 0)
    plane = two_way_table(table)
    nothing = np.zeros(plane.shape, bool)
    rise, fall = extreme(plane, nothing, np.arange(len(table)))
    assert not rise.any()
    assert not fall.any()


def test_nearly_all_levels_of_a_class_two_table_are_covered_by_its_primaries():
    table = class2(60, 60, 3)
    plane = two_way_table(table)
    met = reachable(plane, plane.lay(table.forced).astype(bool), level_requirements(table)).met
    assert met.mean() > 0.95


def test_a_witness_may_move_more_cells_than_there_was_room_for():
    """A cell that rises by many units where every column carries one: all columns move."""
    width = 60
    values = np.ones((2, width), np.int64)
    values[:, 0] = 100
    table = table_from_array(values, levels="1")
    plane = two_way_table(table)
    hidden = plane.lay(np.arange(len(table)) < 2 * width).astype(bool)
    need = np.array([width - 1, 3, width])
    requirements = Requirements(
        np.array([0, 1, 0], np.int32), np.array([1, -1, 1], np.int8), np.where(need == 3, 1, need)
    )
    found = reachable(plane, hidden, requirements, witnesses=True)
    assert found.met.tolist() == [True, True, False]
    assert np.diff(found.start).tolist() == [2 * width, 4, 0]
    witnesses = Witnesses(found.start, found.cell, found.amount, np.ones(3, np.int64))
    allowed = AllowedChanges.of(table, plane.lift(hidden).astype(bool))
    assert hold(allowed, witnesses).all()
    for requirement in range(2):
        cells, amounts, _ = witnesses.one(requirement)
        moved = dict(zip(cells.tolist(), amounts.tolist(), strict=True))
        assert (
            moved[int(requirements.cell[requirement])]
            == requirements.direction[requirement] * requirements.need[requirement]
        )
