"""Hypercube's patterns in many orders at once: rectangles on threads, safety and clean-up in the back end.

Each is the pattern that `rectangles`, `by_paths` and clean-up make one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.errors import OutOfTime
from gpuga.evolution.breeding import Kernels
from gpuga.evolution.threads import on_threads
from gpuga.problem.two_way import TwoWayProblem
from gpuga.safety.box_search import boxes_in_order
from gpuga.safety.boxes import BOXES_AT_ONCE, box_grid
from gpuga.table.table import Ints, Mask

AT_ONCE, CELLS_AT_ONCE = 1024, 1 << 24
"""Patterns and cells of all patterns of the largest group."""


class RectangleSearch:
    """The rectangles of a plane's levels; places are numbered as in the plane."""

    def __init__(self, problem: TwoWayProblem) -> None:
        self.problem, plane, levels = problem, problem.plane, problem.levels
        boxes = box_grid(plane.table)
        assert boxes is not None, "a plane always has a box grid"
        self.boxes, self._boxed, self._room = boxes, boxes.boxed, boxes.grid.room()
        self._forced = boxes.lay(plane.table.forced)
        self._place = boxes.place[plane.cell.ravel()[levels.place]]
        self._direction = (np.where(levels.forward, 1, -1) * plane.sign.ravel()[levels.place]).astype(np.int8)
        self._at_box = np.where(boxes.cell >= 0, plane.place[boxes.cell], 0)

    def cheapest(self, order: Ints, blur: NDArray[np.float64] | None = None) -> Mask | None:
        """The union of the levels' cheapest rectangles in order, bool[R, C]; None where the time ends before.

        `blur` float64[n] multiplies the weights of the table's cells.
        """
        boxed, hidden = self._boxed, self._forced.copy()
        if blur is not None:
            boxed = self.boxes.reweighted((self.problem.table.weight * blur).astype(np.int64)).boxed
        for begin in range(0, len(order), BOXES_AT_ONCE):
            if self.problem.clock.expired():
                return None
            part = order[begin : begin + BOXES_AT_ONCE]
            boxes_in_order(
                boxed, hidden, False, self._place[part], self._direction[part], self.problem.levels.need[part],
                self._room.options, self._room.box,
            )  # fmt: skip
        suppressed = np.zeros(self.problem.candidate.size, bool)
        suppressed[self._at_box[(hidden > 0) & (self.boxes.cell >= 0)]] = True
        return suppressed.reshape(self.problem.shape) & self.problem.candidate

    def inside(self, pattern: Mask) -> tuple[Ints, Ints]:
        """Levels and places, int64[E] each: the rectangles of suppressed places that show a level, place by place.

        The pattern is that of the table's cells. A level that no rectangle shows is missing.
        """
        found, length, places, _ = boxes_in_order(
            self._boxed, self.boxes.lay(pattern), True, self._place, self._direction, self.problem.levels.need,
            self._room.options, self._room.box,
        )  # fmt: skip
        shown = np.flatnonzero(found)
        return np.repeat(shown, length[shown]), self._at_box[places]


class GroupSeeds:
    """Safe patterns of one problem, made in groups of up to `at_once`.

    Let groups begin with one pattern and double, so that the end of a limited time finds some ready.
    """

    def __init__(self, problem: TwoWayProblem, kernels: Kernels) -> None:
        self.problem, self.kernels = problem, kernels
        self.rectangles = RectangleSearch(problem)
        self.at_once = max(1, min(AT_ONCE, CELLS_AT_ONCE // problem.candidate.size))
        self._costs = problem.costs()

    def made(self, orders: Sequence[Ints], blurs: Sequence[NDArray[np.float64] | None]) -> list[Mask]:
        """Secondary suppressions (bool[R, C]) without redundant cells, one per order of the levels.

        Where the time ends, only the first ones; `OutOfTime` where there is not even one.
        """
        tasks = list(zip(orders, blurs, strict=True))
        laid = on_threads(lambda task: self.rectangles.cheapest(*task), tasks)
        grids = self._safe([grid for grid in laid[: _first_none(laid)] if grid is not None])
        if not grids:
            raise OutOfTime("time ran out before the first safe pattern was found; allow more with --seconds")
        flat = np.stack(grids).reshape(len(grids), -1)
        cleaned = self.kernels.clean(self.kernels.pack(flat), np.zeros(len(grids), np.uint64))
        return list((cleaned.unpacked() & ~self.problem.forced.ravel()).reshape(-1, *self.problem.shape))

    def _safe(self, grids: list[Mask]) -> list[Mask]:
        """The patterns, judged in one call; where rectangles leave a level open, paths meet it, one after the other."""
        if not grids:
            return []
        safe = self.kernels.safe(self.kernels.pack(np.stack(grids).reshape(len(grids), -1)))
        for z in np.flatnonzero(~safe).tolist():
            try:
                grids[z] = by_paths(self.problem, self._costs, plain(), start=grids[z], clean=False)
            except OutOfTime:
                return grids[:z]
        return grids


def _first_none(laid: Sequence[Mask | None]) -> int:
    return next((z for z, grid in enumerate(laid) if grid is None), len(laid))
