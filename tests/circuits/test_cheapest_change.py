"""Cheapest changes by linear programs: exact, found where flows find one, and free over what is suppressed."""

from __future__ import annotations

import numpy as np

from gpuga.circuits.cheapest_change import CheapestChange
from gpuga.safety.flow import reachable
from gpuga.safety.requirements import level_requirements
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table.generate import smith3d
from gpuga.table.two_way import two_way_table
from tests.planes import random_plane_table


def test_a_change_is_found_just_where_a_flow_meets_the_level_and_holds_exactly() -> None:
    answers = set()
    for seed in range(12):
        table = random_plane_table(5, 5, seed, bounded=seed % 2 == 0)
        plane, requirements = two_way_table(table), level_requirements(table)
        assert plane is not None
        met = reachable(plane, plane.lay(table.suppressible | table.forced).astype(bool), requirements).met
        change = CheapestChange(table, table.forced)
        usable = AllowedChanges.of(table, table.suppressible | table.forced)
        for t, (cell, direction, need) in enumerate(
            zip(requirements.cell, requirements.direction, requirements.need, strict=True)
        ):
            witness = change.find(int(cell), int(direction), int(need))
            answers.add(bool(met[t]))
            assert (witness is not None) == met[t]
            if witness is not None:
                cells, amounts, denominator = witness.one(0)
                assert hold(usable, witness).all()
                assert amounts[cells == cell][0] == int(direction) * int(need) * denominator
    assert answers == {True, False}


def test_what_is_suppressed_costs_nothing_from_then_on() -> None:
    table = random_plane_table(6, 6, 1)
    requirements = level_requirements(table)
    change = CheapestChange(table, table.forced)
    asked = int(requirements.cell[0]), int(requirements.direction[0]), int(requirements.need[0])
    first = change.find(*asked)
    assert first is not None
    change.suppress(first.cell)
    again = change.find(*asked)
    assert again is not None
    assert set(again.cell.tolist()) <= set(first.cell.tolist()) | set(np.flatnonzero(table.forced).tolist())


def test_priced_by_capacity_changes_hold_and_move_fewer_cells_where_needs_are_large() -> None:
    table = smith3d((10, 8, 6), 0.05, 0.1, 3)
    requirements = level_requirements(table)
    large = np.argsort(-requirements.need, kind="stable")[:8]
    usable, moved = AllowedChanges.of(table, table.suppressible | table.forced), dict[bool, int]()
    for by_capacity in (False, True):
        change = CheapestChange(table, table.forced, by_capacity=by_capacity)
        moved[by_capacity] = 0
        for t in large.tolist():
            cell, direction, need = (
                int(part[t]) for part in (requirements.cell, requirements.direction, requirements.need)
            )
            witness = change.find(cell, direction, need)
            assert witness is not None
            assert hold(usable, witness).all()
            cells, amounts, denominator = witness.one(0)
            assert amounts[cells == cell][0] == direction * need * denominator
            moved[by_capacity] += len(cells)
    assert moved[True] < moved[False]
