"""Boxes: rectangles and their kin in k dimensions and along hierarchies, laid on a table's crossing.

A box is the product of one change per axis (`box_options`), found by the kernels' search. Here a table is laid out
for it (row-major, absent cells without room), boxes are found one after the other as a pattern grows, and circuits
come back as table cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels import AxisGrid
from gpuga.kernels.logic.boxes import Boxed, Bytes
from gpuga.safety.box_options import options_of
from gpuga.safety.box_search import boxes_in_order
from gpuga.safety.requirements import Requirements
from gpuga.safety.witness import together
from gpuga.table.crossing import Expired, crossing_of
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

BOXES_AT_ONCE = 128
"""Boxes between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class BoxGrid:
    """A table laid out row-major for the search of boxes.

    `cell` int32[N] is the table's cell at each place (-1: none), `place` int64[n] the way back. Groups have no place
    (-1); `groups` are their members, so that a box that moves some of them moves the group as well. Rooms and weights
    (int64[N]) are by place; absent cells have no room.
    """

    grid: AxisGrid
    up: Ints
    down: Ints
    weight: Ints
    cell: NDArray[np.int32]
    place: Ints
    groups: tuple[tuple[int, Ints], ...] = ()

    def lay(self, suppressed: Mask) -> Bytes:
        """A pattern on the grid (uint8[N])."""
        return np.where(self.cell >= 0, suppressed[self.cell], False).astype(np.uint8)

    def reweighted(self, weight: Ints) -> BoxGrid:
        """The same grid with other weights of the table's cells (int64[n])."""
        laid = np.where(self.cell >= 0, weight[self.cell], 0).astype(np.int64)
        return replace(self, weight=laid)

    @property
    def boxed(self) -> Boxed:
        """As the search takes it."""
        return Boxed(*self.grid.arrays, self.up, self.down, self.weight)


_SEEN: WeakKeyDictionary[Table, tuple[BoxGrid | None]] = WeakKeyDictionary()


def box_grid(table: Table, expired: Expired = bool) -> BoxGrid | None:
    """The layout of a table that has a crossing, by its labels or by its equations; None for any other.

    Made once for a table: the changes along an axis without a plain hierarchy take long to list. Raises `OutOfTime`
    where the time is up before.
    """
    if table not in _SEEN:
        _SEEN[table] = (_laid_out(table, expired),)
    return _SEEN[table][0]


def _laid_out(table: Table, expired: Expired) -> BoxGrid | None:
    crossing = crossing_of(table, expired)
    if crossing is None:
        return None
    options = [options_of(axis, expired) for axis in crossing.axes]
    # a long axis without sub-totals comes last: its rows are searched as a whole, and lie side by side
    order = sorted(range(len(options)), key=lambda axis: (options[axis].total >= 0, options[axis].most, axis))
    shape = [crossing.shape[axis] for axis in order]
    cell = np.full(int(np.prod(shape)), -1, np.int32)
    placed = np.ravel_multi_index(tuple(crossing.coordinate[:, axis] for axis in order), shape)
    cell[placed] = np.arange(len(placed), dtype=np.int32)
    place = np.full(len(table), -1, np.int64)
    place[: len(placed)] = placed

    def lay(column: Ints) -> Ints:
        return np.where(cell >= 0, column[cell], 0).astype(np.int64)

    grid = AxisGrid.of([options[axis] for axis in order])
    return BoxGrid(grid, lay(table.up), lay(table.down), lay(table.weight), cell, place, _groups(table))


def _groups(table: Table) -> tuple[tuple[int, Ints], ...]:
    """Each group's cell and its members: the last lines of the table, group last."""
    spans = table.lines.start[len(table.lines) - table.groups :]
    found = []
    for begin, end in zip(spans[:-1].tolist(), spans[1:].tolist(), strict=True):
        found.append((int(table.lines.cell[end - 1]), table.lines.cell[begin : end - 1].astype(np.int64)))
    return tuple(found)


class BoxSearch:
    """Boxes on a pattern that changes: the pattern is kept by place, and single cells come and go cheaply."""

    def __init__(self, boxes: BoxGrid, suppressed: Mask) -> None:
        self.boxes = boxes
        self._hidden = boxes.lay(suppressed)

    def suppress(self, cells: NDArray[np.integer]) -> None:
        """Suppress cells of the table."""
        self._hidden[self._at(cells)] = 1

    def publish(self, cells: NDArray[np.integer]) -> None:
        """Publish cells of the table."""
        self._hidden[self._at(cells)] = 0

    def _at(self, cells: NDArray[np.integer]) -> Ints:
        place = self.boxes.place[cells]
        return np.asarray(place[place >= 0], np.int64)

    def certify(self, requirements: Requirements) -> tuple[Mask, Witnesses]:
        """Which requirements a box of suppressed cells proves, and the boxes of those, in their order."""
        return self._run(requirements, inside=True)

    def protect(self, requirements: Requirements, expired: Callable[[], bool] = bool) -> tuple[Mask, Witnesses]:
        """Give each requirement in turn its cheapest box, suppressing what it needs; suppressed cells cost nothing.

        Requirements that no single box covers, or that the end of the time catches, stay open: the mask says which have
        a box.
        """
        covered, found = np.zeros(len(requirements), bool), []
        for begin in range(0, len(requirements), BOXES_AT_ONCE):
            if expired():
                break
            part = np.arange(begin, min(begin + BOXES_AT_ONCE, len(requirements)))
            covered[part], witnesses = self._run(requirements.subset(part), inside=False)
            found.append(witnesses)
        return covered, together(found)

    def _run(self, requirements: Requirements, *, inside: bool) -> tuple[Mask, Witnesses]:
        boxes, room = self.boxes, self.boxes.grid.room()
        placed = np.flatnonzero(boxes.place[requirements.cell] >= 0)
        asked = requirements.subset(placed)
        place = boxes.place[asked.cell]
        found, length, places, amounts = boxes_in_order(
            boxes.boxed, self._hidden, inside, place, asked.direction, asked.need, room.options, room.box
        )
        found = found.astype(bool)
        start = np.concatenate([[0], np.cumsum(length[found])])
        ones = np.ones(int(found.sum()), np.int64)
        covered = np.zeros(len(requirements), bool)
        covered[placed[found]] = True
        return covered, _with_groups(Witnesses(start, boxes.cell[places], amounts, ones), boxes.groups)


def _with_groups(witnesses: Witnesses, groups: tuple[tuple[int, Ints], ...]) -> Witnesses:
    """The same deviations, in which every group moves by the sum of its members."""
    if not groups or not len(witnesses):
        return witnesses
    of_cell: dict[int, list[int]] = {}
    for group, members in groups:
        for member in members.tolist():
            of_cell.setdefault(member, []).append(group)
    cells, amounts, lengths = [], [], []
    for w in range(len(witnesses)):
        moved, by, _ = witnesses.one(w)
        total: dict[int, int] = {}
        for cell, amount in zip(moved.tolist(), by.tolist(), strict=True):
            for group in of_cell.get(cell, ()):
                total[group] = total.get(group, 0) + amount
        extra = [(g, t) for g, t in sorted(total.items()) if t]
        cells += [moved, np.array([g for g, _ in extra], np.int32)]
        amounts += [by, np.array([t for _, t in extra], np.int64)]
        lengths.append(len(moved) + len(extra))
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Witnesses(start, np.concatenate(cells), np.concatenate(amounts), witnesses.denominator)
