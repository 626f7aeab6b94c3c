"""Cheap proofs of safety, tried before any linear program: flows in two-way tables, boxes in grids."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpuga.safety.boxes import BoxGrid, BoxSearch, box_grid
from gpuga.safety.flow import extreme, reachable
from gpuga.safety.tasks import Tasks
from gpuga.safety.witness import Ground, hold
from gpuga.table.plane import Plane, plane_of, suppressed_grid
from gpuga.table.table import INFINITE, Ints, Mask, Table


class Shown(Protocol):
    """Where proofs are noted: the audit's evidence."""

    def note(self, cell: int, direction: int, reach: Fraction) -> None:
        """`cell` can move by `reach` in `direction`."""

    def note_whole(self, cells: NDArray[np.integer], direction: NDArray[np.integer], reach: Ints) -> None:
        """Many reaches in whole units at once."""

    def asked(self, cells: Ints, direction: NDArray[np.int8]) -> Ints:
        """The least whole numbers of units that settle directions of cells; 0 where nothing is asked."""

    def asks_width(self, cell: int) -> bool:
        """Whether the width of a cell's interval matters."""


def cheap_proofs(table: Table, suppressed: Mask, shown: Shown, cells: Ints) -> None:
    """Note what flows or boxes can show of the cells; in a two-way table flows decide every one of them."""
    if not len(cells):
        return
    plane = plane_of(table)
    if plane is not None:
        _by_flow(plane, suppressed, shown, cells)
    elif (grid := box_grid(table)) is not None:
        _by_boxes(table, grid, suppressed, shown, cells)


def _by_boxes(table: Table, grid: BoxGrid, suppressed: Mask, shown: Shown, cells: Ints) -> None:
    """Boxes of suppressed cells, each checked exactly before it counts."""
    tasks = _tasks(shown, cells)
    covered, witnesses = BoxSearch(grid, suppressed).certify(tasks)
    proven = tasks.subset(covered).subset(hold(Ground.of(table, suppressed), witnesses))
    shown.note_whole(proven.cell, proven.direction, proven.need)


def _by_flow(plane: Plane, suppressed: Mask, shown: Shown, cells: Ints) -> None:
    laid = suppressed_grid(plane, suppressed)
    tasks = _tasks(shown, cells)
    met = reachable(plane, laid, tasks).met
    shown.note_whole(tasks.cell[met], tasks.direction[met], tasks.need[met])
    broad = np.array([c for c in cells.tolist() if shown.asks_width(c)], np.int64)
    for direction, amounts in zip((1, -1), extreme(plane, laid, broad), strict=True):
        for cell, amount in zip(broad.tolist(), amounts.tolist(), strict=True):
            shown.note(cell, direction, Fraction(min(amount, INFINITE)))


def _tasks(shown: Shown, cells: Ints) -> Tasks:
    """What the cells are asked for, as tasks."""
    both = np.repeat(cells, 2)
    direction = np.tile(np.array([1, -1], np.int8), len(cells))
    need = shown.asked(both, direction)
    wanted = need > 0
    return Tasks(both[wanted].astype(np.int32), direction[wanted], need[wanted])
