"""Boxes: rectangles and their kin in k dimensions and along hierarchies, laid on a table's grid.

The search for one box is the kernels'; here a table is laid out for it (row-major, absent cells without
room), boxes are found one after the other as a pattern grows, and circuits come back as table cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuga.kernels import layout
from gpuga.kernels.host import box_room
from gpuga.kernels.layout import Bits
from gpuga.kernels.logic.boxes import BEGIN, END, cheapest_box
from gpuga.safety.compiled import compiled
from gpuga.safety.tasks import Tasks
from gpuga.safety.witness import Witnesses
from gpuga.table.plane import plane_of
from gpuga.table.table import INFINITE, Ints, Mask, Table

LARGEST_GRID = 20_000_000
"""A grid with more places than this (mostly empty ones, then) is not laid out; its cells go to the LP."""


@dataclass(frozen=True, eq=False)
class BoxGrid:
    """A table laid out row-major for the search of boxes.

    `cell` int32[N] is the table's cell at each place (-1: none), `place` int64[n] the way back;
    `up`, `down`, `weight` int64[N]. A cell that may not be suppressed weighs -1. Groups have no place (-1);
    `groups` are their members, so that a box that moves some of them moves the group as well.
    """

    grid: layout.Grid
    cell: NDArray[np.int32]
    place: Ints
    up: Ints
    down: Ints
    weight: Ints
    groups: tuple[tuple[int, Ints], ...] = ()

    def lay(self, suppressed: Mask) -> Mask:
        """A pattern on the grid (bool[N])."""
        return np.where(self.cell >= 0, suppressed[self.cell], False)


def box_grid(table: Table) -> BoxGrid | None:
    """The layout of a table that has dimensions, or is a two-way table by its equations; None for any other."""
    plane = plane_of(table)
    if table.grid is not None:
        if len(table.grid.dimensions) > layout.MAX_DIMENSIONS or np.prod(table.grid.shape, dtype=float) > LARGEST_GRID:
            return None
        parents, cell = [d.parent for d in table.grid.dimensions], table.grid.cell_at
    elif plane is not None:
        parents, cell = [_flat_parents(n) for n in plane.shape], plane.cell.ravel()
    else:
        return None
    there = cell >= 0
    place = np.full(len(table), -1, np.int64)
    place[cell[there]] = np.flatnonzero(there)
    weight = np.where(table.suppressible, table.weight, -1)

    def lay(column: Ints, absent: int) -> Ints:
        return np.where(there, column[cell], absent).astype(np.int64)

    return BoxGrid(
        layout.Grid.of(parents), cell, place, lay(table.up, 0), lay(table.down, 0), lay(weight, -1), _groups(table)
    )


def _groups(table: Table) -> tuple[tuple[int, Ints], ...]:
    """Each group's cell and its members: the last lines of the table, group last."""
    spans = table.lines.start[len(table.lines) - table.groups :]
    found = []
    for begin, end in zip(spans[:-1].tolist(), spans[1:].tolist(), strict=True):
        found.append((int(table.lines.cell[end - 1]), table.lines.cell[begin : end - 1].astype(np.int64)))
    return tuple(found)


def _flat_parents(codes: int) -> NDArray[np.int32]:
    """The parents of a dimension without sub-totals, its total last."""
    parent = np.full(codes, codes - 1, np.int32)
    parent[-1] = -1
    return parent


class BoxSearch:
    """Boxes on a pattern that changes: the pattern is kept packed, and single cells come and go cheaply."""

    def __init__(self, boxes: BoxGrid, suppressed: Mask) -> None:
        self.boxes = boxes
        packed = layout.pack(boxes.lay(suppressed)[None, :])
        self._bits, self._columns = packed.bits[0], packed.columns
        self._room = box_room(boxes.grid)

    def suppress(self, cells: NDArray[np.integer]) -> None:
        """Suppress cells of the table."""
        word, bit = self._at(cells)
        np.bitwise_or.at(self._bits[0], word, bit)

    def publish(self, cells: NDArray[np.integer]) -> None:
        """Publish cells of the table."""
        word, bit = self._at(cells)
        np.bitwise_and.at(self._bits[0], word, ~bit)

    def _at(self, cells: NDArray[np.integer]) -> tuple[Ints, Bits]:
        place = self.boxes.place[cells]
        place = place[place >= 0]
        return place >> 6, np.uint64(1) << (place & 63).astype(np.uint64)

    def certify(self, tasks: Tasks) -> tuple[Mask, Witnesses]:
        """Which tasks a box of suppressed cells proves, and the boxes of those, in the order of the tasks."""
        return self._run(tasks, inside=True)

    def protect(self, tasks: Tasks) -> tuple[Mask, Witnesses]:
        """Give each task in turn its cheapest box, suppressing what it needs; suppressed cells cost nothing.

        Tasks that no single box covers stay open: the mask says which tasks have a box.
        """
        return self._run(tasks, inside=False)

    def _run(self, tasks: Tasks, *, inside: bool) -> tuple[Mask, Witnesses]:
        grid, room, boxes = self.boxes.grid, self._room, self.boxes
        placed = np.flatnonzero(boxes.place[tasks.cell] >= 0)
        asked = tasks.subset(placed)
        found = np.zeros(len(asked), bool)
        length = np.zeros(len(asked), np.int64)
        places, amounts = _in_order(
            self._bits, self._columns, grid.shape, grid.stride, grid.offset, grid.parent, grid.depth,
            grid.leaf_start, grid.leaf, boxes.up, boxes.down, boxes.weight, int(inside),
            boxes.place[asked.cell].astype(np.int32), asked.direction, asked.need, room.options, room.codes,
            room.cells, found, length,
        )  # fmt: skip
        start = np.concatenate([[0], np.cumsum(length[found])])
        ones = np.ones(int(found.sum()), np.int64)
        covered = np.zeros(len(tasks), bool)
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


@compiled
def _in_order(
    rows: Bits,
    columns: int,
    shape: NDArray[np.int32],
    stride: Ints,
    offset: NDArray[np.int32],
    parent: NDArray[np.int32],
    depth: NDArray[np.int32],
    leaf_start: NDArray[np.int32],
    leaf: NDArray[np.int32],
    up: Ints,
    down: Ints,
    weight: Ints,
    inside: int,
    place: NDArray[np.int32],
    direction: NDArray[np.int8],
    need: Ints,
    options: int,
    codes_room: int,
    cells_room: int,
    covered: Mask,
    length: Ints,
) -> tuple[NDArray[np.int32], Ints]:
    dimensions = shape.shape[0]
    prices = np.empty(options, np.int64)
    first, second = np.empty(options, np.int32), np.empty(options, np.int32)
    codes, signs = np.empty(codes_room, np.int32), np.empty(codes_room, np.int32)
    members, moves = np.empty(cells_room, np.int32), np.empty(cells_room, np.int32)
    level = np.empty((7, dimensions + 1), np.int64)
    out_cell, out_amount = np.empty(1024, np.int32), np.empty(1024, np.int64)
    used = 0
    for t in range(len(place)):
        price = cheapest_box(
            rows, columns, shape, stride, offset, parent, depth, leaf_start, leaf, up, down, weight, inside, place[t],
            int(direction[t]), need[t], prices, first, second, codes, signs, members, moves, level,
        )  # fmt: skip
        if price >= INFINITE:
            continue
        begin, end = level[BEGIN, dimensions], level[END, dimensions]
        covered[t] = True
        length[t] = end - begin
        while used + end - begin > len(out_cell):
            out_cell = np.concatenate((out_cell, np.empty(len(out_cell), np.int32)))
            out_amount = np.concatenate((out_amount, np.empty(len(out_amount), np.int64)))
        for x in range(begin, end):
            at = members[x]
            out_cell[used], out_amount[used] = at, moves[x] * need[t]
            used += 1
            rows[at // columns, (at % columns) >> 6] |= np.uint64(1) << np.uint64((at % columns) & 63)
    return out_cell[:used].copy(), out_amount[:used].copy()
