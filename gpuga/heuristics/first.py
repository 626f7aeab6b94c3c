"""A first safe pattern in seconds, whatever the table: exact circuits without a search for the best.

Two-way tables get shortest paths. Tables with dimensions get boxes. What is open then, and any other table, gets
circuits of the widest basis (`bottleneck`): first in the neighbourhoods of the cells, at the prices of the cells there;
then of the whole table, for all open cells at once and in several orders, so that what one order leaves open another
shows. The few cells that are left, many of which need several circuits at once, are put to linear programs.
Everything is shown by witnesses that hold exactly, and the pattern is what they move.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpuga.circuits.cheapest_change import CheapestChange
from gpuga.circuits.neighbourhood import Neighbourhoods
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.heuristics.bottleneck import CircuitBasis
from gpuga.heuristics.hypercube import largest_first, rectangles
from gpuga.heuristics.shown import Goals, Shown
from gpuga.problem.two_way import problem_of
from gpuga.protection import Found
from gpuga.safety.boxes import BoxSearch, box_grid
from gpuga.safety.requirements import Requirements
from gpuga.table.table import Ints, Table
from gpuga.table.two_way import TwoWayTable, two_way_table

Floats = NDArray[np.float64]

MOST_LINES, LONG = 5_000, 0.25
"""Tables without labels and with more lines than this are not searched for dimensions, unless their lines are long (few
lines for the cells, as in crossings): that takes longer than to do without."""

STRUCTURE_SHARE = 0.4
"""The share of a limited time in which dimensions are searched for."""

BOXES_AT_ONCE = 2_000
"""Boxes between two looks at what they show of other cells, and at the clock."""

PATHS_SHARE = 0.75
"""The share of a limited time in which shortest paths are tried: mostly as quick as rectangles, and much cheaper."""

NEARBY, SMALLEST = ((4, 1_000), (6, 2_000)), (3, 300)
"""Cells per line and cells in all of the neighbourhoods that are tried, one after the other. Where only whole changes
count, programs are of little use for what is left: the smallest ones come first, and leave less."""

NEARBY_SHARE = 0.5
"""The share of a limited time that neighbourhoods may take."""

ORDERS, FIRST_ORDERS, FEW = 24, 2, 50
"""Orders of the whole table that are tried; after the first ones, programs are quicker for so few open cells."""

SMALL = 3_000
"""Tables of up to so many cells are put to programs as a whole at once."""

WIDER = ((4, 1_000, 1), (4, 2_000, 4), (6, 3_000, 16), (12, 8_000, 16))
"""Neighbourhoods for programs: cells per line, cells in all, and in how many pieces what is needed may come."""


def first_pattern(table: Table, context: Context) -> Found | None:
    """A safe pattern with its proof, quickly rather than cheap; None where none was found (in time)."""
    plane = two_way_table(table)
    if plane is not None:
        return _in_a_plane(plane, context)
    context.progress.stage("first pattern")
    shown = Shown(table, Goals.of(table, context.strict, context.protect_secondary), context.whole)
    _by_boxes(shown, context)
    _nearby(shown, context)
    prices = _prices(shown, context.seed)
    _as_a_whole(shown, context, prices, 0 if shown.whole else FEW)
    _by_programs(shown, context)
    _as_a_whole(shown, context, prices)
    if len(shown.open_cells()):
        return None
    proof = shown.proof()
    return Found(shown.pattern(proof), evaluations=1, details={"pattern": "first"}, proof=proof)


def _in_a_plane(plane: TwoWayTable, context: Context) -> Found:
    """Shortest paths; where they take too long, cheapest rectangles and paths for the rest; no clean-up."""
    problem = problem_of(plane, context.strict, context.clock)
    order, costs = largest_first(problem.levels.need), problem.costs()
    try:
        part = context.clock.part(PATHS_SHARE)
        secondary = by_paths(problem, costs, plain(), order=order, clean=False, clock=part)
    except OutOfTime:
        boxed = rectangles(problem, order)
        secondary = by_paths(problem, costs, plain(), order=order, start=boxed, clean=False)
    return Found(problem.pattern(secondary), evaluations=1, details={"pattern": "first"})


def _by_boxes(shown: Shown, context: Context) -> None:
    """Cheapest boxes, the largest goals first; each shows what it can of other cells, and so does its reverse."""
    table = shown.table
    if (table.grid is None or table.linked) and len(table.lines) > MOST_LINES and len(table.lines) > LONG * len(table):
        return
    try:
        grid = box_grid(table, context.clock.part(STRUCTURE_SHARE).expired)
    except OutOfTime:
        return
    if grid is None:
        return
    search = BoxSearch(grid, table.forced)
    for requirements in (_one_each(shown.requirements()), shown.requirements()):
        order = requirements.subset(np.argsort(-requirements.need, kind="stable"))
        for begin in range(0, len(order), BOXES_AT_ONCE):
            if context.clock.expired():
                return
            part = order.subset(np.arange(begin, min(begin + BOXES_AT_ONCE, len(order))))
            open_ = np.where(part.direction > 0, shown.open_rise[part.cell], shown.open_fall[part.cell])
            shown.add(search.protect(part.subset(open_), context.clock.expired)[1])


def _one_each(requirements: Requirements) -> Requirements:
    """One requirement of every cell, the larger one."""
    order = np.lexsort((-requirements.need, requirements.cell))
    return requirements.subset(np.sort(order[np.unique(requirements.cell[order], return_index=True)[1]]))


def _nearby(shown: Shown, context: Context) -> None:
    """Circuits in neighbourhoods, cell by cell, the largest goals first; those of smaller goals there come along."""
    near, room = Neighbourhoods(shown.table), _room(shown)
    clock = context.clock.part(NEARBY_SHARE)
    for per_line, most in (SMALLEST, *NEARBY) if shown.whole else NEARBY:
        for cell in _largest_first(shown):
            if clock.expired():
                return
            if shown.open_rise[cell] or shown.open_fall[cell]:
                around = near.around(cell, int(shown.goals.need[cell]), shown.suppressed, per_line, most)
                price = np.where(shown.suppressed[around], 0.0, shown.table.weight[around])
                _take_circuits(shown, around, _no_larger(shown, around, cell), price, room)


def _no_larger(shown: Shown, around: Ints, cell: int) -> Ints:
    """The cells of a neighbourhood with open goals that are no larger than those of a cell in it, which is one."""
    open_ = (shown.open_rise | shown.open_fall)[around]
    return np.asarray(around[open_ & (shown.goals.need[around] <= shown.goals.need[cell])])


def _as_a_whole(shown: Shown, context: Context, prices: Iterator[Floats], few: int = 0) -> None:
    """Circuits of the whole table for all open cells, in one order after the other, until few cells are open."""
    room = _room(shown)
    cells = np.flatnonzero(room > 0)
    for number, price in enumerate(prices):
        open_ = shown.open_cells()
        if not len(open_) or context.clock.expired():
            return
        every = np.union1d(cells, open_)
        _take_circuits(shown, every, open_, price[every], room)
        if number + 1 >= FIRST_ORDERS and len(shown.open_cells()) <= few:
            return


def _prices(shown: Shown, seed: int) -> Iterator[Floats]:
    """In which order cells of equal width are taken: what is suppressed first, then large ones, or light ones.

    Large cells are totals: they make short circuits, light cells cheap ones. Later orders are blurred.
    """
    random = np.random.default_rng(seed)
    value, weight = np.abs(shown.table.value).astype(np.float64), shown.table.weight.astype(np.float64)
    for number in range(ORDERS):
        blur = 1.0 if number < 2 else 1.0 + random.random(len(value))
        small = 1.0 / (1.0 + value * blur)  # the largest first; at most 1
        yield np.where(shown.suppressed, small - 1.0, small if number % 2 == 0 else weight * blur)


def _take_circuits(shown: Shown, cells: Ints, goals: Ints, price: Floats, room: Ints) -> None:
    """The circuits of some of the cells in the basis that the cells' widths and prices make, up and down."""
    need = shown.goals.need
    asked = np.zeros(len(cells), bool)
    asked[np.searchsorted(cells, goals)] = True
    width = np.where(asked, need[cells], np.minimum(room[cells], need[goals].max()))
    usable = width > 0
    cells, price, width, asked = cells[usable], price[usable], width[usable], asked[usable]
    order = np.lexsort((cells, price, asked, -width))
    basis = CircuitBasis.of(shown.allowed, cells[order])
    if basis is None:
        return
    places = np.flatnonzero(asked[order])
    for amounts in (shown.goals.rise, -shown.goals.fall):
        amount = amounts[basis.cell[places]]
        shown.add(basis.circuits(places[amount != 0], amount[amount != 0]))


def _by_programs(shown: Shown, context: Context) -> None:
    """The cheapest changes that linear programs find, for the few that are left.

    In wider and wider neighbourhoods, which hold cells with room both ways only; then in the whole table.
    """
    table, near = shown.table, Neighbourhoods(shown.table)
    for per_line, most, pieces in WIDER if len(table) > SMALL else ():
        for cell, direction, need in _questions(shown, context.clock):
            around = near.around(cell, -(-need // pieces), shown.suppressed, per_line, most)
            change = CheapestChange(table, shown.suppressed, context.solver, within=around, allowed=shown.allowed)
            _take_change(shown, change, (cell, direction, need), context.clock)
    if len(shown.open_cells()) and not context.clock.expired():
        change = CheapestChange(table, shown.suppressed, context.solver, allowed=shown.allowed)
        for question in _questions(shown, context.clock):
            _take_change(shown, change, question, context.clock)


def _take_change(shown: Shown, change: CheapestChange, question: tuple[int, int, int], clock: Clock) -> None:
    witness = change.find(*question, clock.left())
    if witness is not None and shown.whole and witness.denominator[0] != 1:
        witness = change.find_whole(*question, clock.left())
    if witness is not None:
        shown.add(witness)


def _questions(shown: Shown, clock: Clock) -> Iterator[tuple[int, int, int]]:
    """Cell, direction and need of what is open when its turn comes, until the time is up."""
    requirements = shown.requirements()
    for cell, direction, need in zip(
        requirements.cell.tolist(), requirements.direction.tolist(), requirements.need.tolist(), strict=True
    ):
        if clock.expired():
            return
        if (shown.open_rise if direction > 0 else shown.open_fall)[cell]:
            yield cell, direction, need


def _room(shown: Shown) -> Ints:
    """How far cells can move both ways."""
    return np.minimum(shown.allowed.up, shown.allowed.down)


def _largest_first(shown: Shown) -> list[int]:
    cells = shown.open_cells()
    ordered: list[int] = cells[np.argsort(-shown.goals.need[cells], kind="stable")].tolist()
    return ordered
