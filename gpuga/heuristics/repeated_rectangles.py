"""Rectangles again and again until every cell is safe, as in Herrington (2015), figures 2 and 3.

Each sensitive cell in turn, as long as it is not safe: the cheapest rectangle that carries the whole level,
suppressed corners costing nothing; where there is none, the cheapest one that adds a suppression. Redundant
suppressions are then removed, but only in rows and columns with more than two suppressed cells. Whether a cell is safe
is judged exactly, by a flow. Rectangles cannot protect every cell: what they leave open is counted, and met by paths.
Counted apart are levels that no single rectangle carries: on these the hypercube method of Almeida et al. (2008) fails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuga.circuits.path_cover import by_paths, publish_redundant
from gpuga.circuits.paths import plain
from gpuga.circuits.witness_lists import new_lists, show_all
from gpuga.compiled import bare, compiled
from gpuga.errors import GpugaError, OutOfTime
from gpuga.problem.two_way import FlowLevels, TwoWayProblem
from gpuga.safety.network import PUBLISHED, SECONDARY, PatternNetwork, add, clear, kind_of, meets
from gpuga.table.table import Ints, Mask

LEVELS_AT_ONCE = 4
"""Levels between two looks at the clock: one search for a rectangle looks at the whole table."""


class Corners(NamedTuple):
    """What a place costs until it is suppressed, and whether it may be (int64 and bool [R C])."""

    weight: Ints
    usable: Mask


class Rectangles(NamedTuple):
    """A safe pattern (bool[R, C]), how many levels rectangles could not meet, and how many no single one carries."""

    secondary: Mask
    failed: int
    narrow: int


def rectangles_until_safe(problem: TwoWayProblem, order: Ints) -> Rectangles:
    """The pattern that levels in order lead to, without its redundant cells; `OutOfTime` if the clock ends before."""
    network = problem.network()
    corners = Corners(problem.weight.ravel(), (problem.candidate | problem.forced).ravel())
    failed = narrow = 0
    for begin in range(0, len(order), LEVELS_AT_ONCE):
        if problem.clock.expired():
            raise OutOfTime("time ran out before the first safe pattern was found; allow more with --seconds")
        part = _protect(network, corners, problem.levels, order[begin : begin + LEVELS_AT_ONCE])
        failed, narrow = failed + part[0], narrow + part[1]
    found = np.asarray(network.kind == SECONDARY)
    if failed:
        found = by_paths(problem, problem.costs(), plain(), start=found, clean=False)
    return Rectangles(without_crowded(problem, found), failed, narrow)


def without_crowded(problem: TwoWayProblem, secondary: Mask) -> Mask:
    """The pattern, which must be safe, without redundant suppressions of rows and columns that have more than two."""
    network = problem.network(secondary)
    lists = new_lists(len(problem.levels.place), secondary.size)
    if show_all(network, problem.levels, lists):
        raise GpugaError("clean-up was given a pattern that is not safe")
    hidden = problem.forced | secondary
    rows, columns = hidden.sum(axis=1), hidden.sum(axis=0)
    for place in np.flatnonzero(secondary):
        i, j = divmod(int(place), secondary.shape[1])
        if rows[i] > 2 and columns[j] > 2 and publish_redundant(problem, network, lists, np.array([place])):
            rows[i] -= 1
            columns[j] -= 1
    return np.asarray(network.kind == SECONDARY)


@compiled
def _protect(network: PatternNetwork, corners: Corners, levels: FlowLevels, order: Ints) -> tuple[int, int]:
    """Add rectangles for the levels in order; how many levels no further one can meet, and no single one carries."""
    failed, narrow = 0, 0
    for q in order:
        place, forward, need = levels.place[q], levels.forward[q], levels.need[q]
        carried = True
        while True:
            met = meets(network, place, forward, need)
            clear(network)
            if met:
                break
            corner, wide = _cheapest(network, corners, place, forward, need)
            carried = carried and wide
            if corner < 0:
                failed += 1
                break
            _suppress(network, place, corner)
        narrow += not carried
    return failed, narrow


@bare
def _cheapest(network: PatternNetwork, corners: Corners, own: int, forward: bool, need: int) -> tuple[int, bool]:
    """The corner opposite to a place in its cheapest rectangle (-1: none adds anything), and if that carries all."""
    columns = network.columns
    r, c = own // columns, own % columns
    back, forth = (1, 0) if forward else (0, 1)
    best, best_cost, wide = -1, 0, False
    for i in range(network.rows):
        if i == r or not corners.usable[i * columns + c]:
            continue
        beside = min(need, network.capacity[i * columns + c, back])
        for j in range(columns):
            one, two = r * columns + j, i * columns + j
            if j == c or not corners.usable[one] or not corners.usable[two]:
                continue
            room = min(beside, network.capacity[one, back], network.capacity[two, forth])
            cost, new = _price(network, corners, i * columns + c, one, two)
            if room <= 0 or new == 0 or (wide and room < need):
                continue
            if best < 0 or (room >= need and not wide) or cost < best_cost:
                best, best_cost, wide = two, cost, room >= need
    return best, wide


@bare
def _price(network: PatternNetwork, corners: Corners, first: int, second: int, third: int) -> tuple[int, int]:
    """What three corners cost, suppressed ones nothing, and how many of them are published."""
    cost, new = 0, 0
    for place in (first, second, third):
        if kind_of(network, place) == PUBLISHED:
            cost += corners.weight[place]
            new += 1
    return cost, new


@bare
def _suppress(network: PatternNetwork, own: int, corner: int) -> None:
    columns = network.columns
    for place in (
        corner,
        own // columns * columns + corner % columns,
        corner // columns * columns + own % columns,
    ):
        if kind_of(network, place) == PUBLISHED:
            add(network, place, SECONDARY)
