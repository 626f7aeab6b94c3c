"""Cheap proofs of safety, tried before any linear program: flows in two-way tables, boxes in grids."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from gpuga.errors import OutOfTime
from gpuga.safety.boxes import BoxGrid, BoxSearch, box_grid
from gpuga.safety.evidence import Evidence
from gpuga.safety.flow import extreme, reachable
from gpuga.safety.requirements import Requirements
from gpuga.table.crossing import Expired
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.two_way import TwoWayTable, suppressed_grid, two_way_table
from gpuga.table.witnesses import Witnesses

BOXES_AT_ONCE = 2_000
"""Boxes between two looks at the clock."""


def cheap_proofs(table: Table, suppressed: Mask, shown: Evidence, cells: Ints, expired: Expired = bool) -> None:
    """Note what flows or boxes can show of the cells; in a two-way table flows decide every one of them.

    Boxes are looked for until the time is up; what they leave open is not decided.
    """
    if not len(cells):
        return
    plane = two_way_table(table)
    if plane is not None:
        _by_flow(plane, suppressed, shown, cells)
        return
    with suppress(OutOfTime):
        if (grid := box_grid(table, expired)) is not None:
            _by_boxes(grid, suppressed, shown, cells, expired)


def _by_boxes(grid: BoxGrid, suppressed: Mask, shown: Evidence, cells: Ints, expired: Expired) -> None:
    """Boxes of suppressed cells, each checked exactly before it counts."""
    search, requirements = BoxSearch(grid, suppressed), _requirements(shown, cells)
    for begin in range(0, len(requirements), BOXES_AT_ONCE):
        if expired():
            return
        part = np.arange(begin, min(begin + BOXES_AT_ONCE, len(requirements)))
        shown.offer(search.certify(requirements.subset(part))[1])


def _by_flow(plane: TwoWayTable, suppressed: Mask, shown: Evidence, cells: Ints) -> None:
    """Maximum flows: what they do not reach is out of reach."""
    laid = suppressed_grid(plane, suppressed)
    _show(plane, laid, shown, _requirements(shown, cells))
    broad = np.array([c for c in cells.tolist() if shown.asks_width(c)], np.int64)
    for direction, amounts in zip((1, -1), extreme(plane, laid, broad), strict=True):
        goal = np.array([shown.goal(c, direction) for c in broad.tolist()], np.int64)
        need = np.minimum(amounts, goal)
        moving = need > 0
        signs = np.full(int(moving.sum()), direction, np.int8)
        _show(plane, laid, shown, Requirements(broad[moving].astype(np.int32), signs, need[moving]))


def _show(plane: TwoWayTable, laid: Mask, shown: Evidence, requirements: Requirements) -> None:
    """Note the requirements that flows meet, with their witnesses where those are kept."""
    reach = reachable(plane, laid, requirements, witnesses=shown.keep)
    if shown.keep:
        ones = np.ones(len(requirements), np.int64)
        shown.offer(Witnesses(reach.start, reach.cell, reach.amount, ones).subset(np.flatnonzero(reach.met)))
    else:
        shown.note_whole(requirements.cell[reach.met], requirements.direction[reach.met], requirements.need[reach.met])


def _requirements(shown: Evidence, cells: Ints) -> Requirements:
    """What the cells are asked for, as requirements."""
    both = np.repeat(cells, 2)
    direction = np.tile(np.array([1, -1], np.int8), len(cells))
    need = shown.asked(both, direction)
    wanted = need > 0
    return Requirements(both[wanted].astype(np.int32), direction[wanted], need[wanted])
