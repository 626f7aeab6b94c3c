"""A bound of large general tables, part by part.

Whoever knows some of the equations alone knows less than the attacker of the whole. So what a safe pattern suppresses
in the cells of a part is safe there, and costs at least what cuts prove of the part. Parts share cells, so they share
costs: multipliers that prove a bound need of each cell's cost only what the cuts take of it, and the reduced cost is
left for the parts to come.

Of a crossed table the parts are its two-way sections: one family (a total with its parts) on two axes, one code on
every other axis. Those of the same two axes are disjoint where there are no sub-totals, and cuts of flows are strong
there. Of any other table they are runs of equations, with the cuts of single lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gpuga.bounds.cut import Floats
from gpuga.bounds.master import NO_LIMIT
from gpuga.bounds.proof import step_of, up_to_step
from gpuga.bounds.search import master_of
from gpuga.context import Clock
from gpuga.errors import Infeasible, OutOfTime
from gpuga.problem.problem import problem_for
from gpuga.table.crossing import Axis, CrossedAxes, crossing_of
from gpuga.table.table import Ints, Levels, Lines, Table

ROUNDS = 10
"""Rounds of cuts of a part: of 100 x 100 cells they give 99 % of what all would, in a third of the time."""

MOST_ENTRIES = 5_000
"""Of tables that are no crossing, the entries of the equations that are a part."""

Place = tuple[int, ...]


class PartsBound:
    """What the parts of a table prove together of the cost of its secondary suppressions.

    `left` int64[n] is what no part has taken of the cells' costs, `point` float64[n] where the relaxations of the parts
    suppress.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.left: Ints = table.weight.copy()
        self.point: Floats = np.zeros(len(table))
        self.proven = Fraction(0)
        self.step = step_of(table.weight[table.suppressible])

    @property
    def bound(self) -> int:
        """The bound in units of the weights, rounded up to what costs can be at all."""
        return up_to_step(math.ceil(self.proven), self.step)

    def rounds(self, clock: Clock, most: int = NO_LIMIT) -> Iterator[None]:
        """One part after the other, until the time is up or the bound is as high as `most`."""
        for lines in parts_of(self.table, clock):
            if clock.expired() or self.bound >= most:
                return
            self._take(lines, clock)
            yield

    def _take(self, lines: Ints, clock: Clock) -> None:
        """Add what a part proves with the costs that are left, and take what it needs of them."""
        part, cells = _table_of(self.table, self.table.lines.subset(lines), self.left)
        try:
            problem = problem_for(part, clock=clock)
        except (Infeasible, OutOfTime):
            return  # nothing is said of this part
        if problem.done or not problem.weight[problem.candidate].any():
            return
        master = master_of(problem, quick=True)
        master.tighten(clock, ROUNDS)
        columns, proof = np.flatnonzero(master.candidate), master.certificate
        own = cells[master.separator.cell[columns]]
        self.point[own] = np.maximum(self.point[own], master.point()[columns])
        if proof.total > 0:
            self.left[own] = np.maximum(0, proof.reduced[columns] >> proof.shift)
            self.proven += Fraction(proof.total, 1 << proof.shift)


def parts_of(table: Table, clock: Clock) -> list[Ints]:
    """The equations of each part with something to protect (line numbers)."""
    try:
        crossing = crossing_of(table, clock.expired)
    except OutOfTime:
        return []
    found = runs(table) if crossing is None or len(crossing.axes) < 3 else sections(table, crossing)
    asks = np.bincount(table.lines.line_of_entry, table.primary[table.lines.cell], len(table.lines)) > 0
    return [lines for lines in found if asks[lines].any()]


def runs(table: Table) -> list[Ints]:
    """All equations in their order, some at a time."""
    return np.split(np.arange(len(table.lines)), np.flatnonzero(np.diff(table.lines.start[1:] // MOST_ENTRIES)) + 1)


def sections(table: Table, crossing: CrossedAxes) -> list[Ints]:
    """The equations of each two-way section, those of the axes with most codes first."""
    found: dict[tuple[int, ...], list[int]] = {}
    held = [_families_of_codes(axis) for axis in crossing.axes]
    for line, axis, family, place in _lines_on_axes(table, crossing):
        for other in range(len(place)):
            if other == axis:
                continue
            rest = [-1 if d in (axis, other) else code for d, code in enumerate(place)]
            for its in held[other][place[other]]:
                key = (axis, other, family, its, *rest) if axis < other else (other, axis, its, family, *rest)
                found.setdefault(key, []).append(line)
    shape = crossing.shape
    order = sorted(found, key=lambda key: (-shape[key[0]] * shape[key[1]], key))
    return [np.array(found[key]) for key in order]


def _families_of_codes(axis: Axis) -> list[list[int]]:
    """By code, the families that hold it."""
    held: list[list[int]] = [[] for _ in range(axis.codes)]
    for number, (total, parts) in enumerate(axis.families):
        for code in (total, *parts):
            held[code].append(number)
    return held


def _lines_on_axes(table: Table, crossing: CrossedAxes) -> Iterator[tuple[int, int, int, Place]]:
    """Each equation that lies along an axis: its number, axis, family, and the codes of one of its cells."""
    lines, at = table.lines, crossing.coordinate
    family = [
        {(total, part): number for number, (total, parts) in enumerate(axis.families) for part in parts}
        for axis in crossing.axes
    ]
    depth = [axis.depth for axis in crossing.axes]
    for line in range(len(lines)):
        cells = lines.cell[lines.start[line] : lines.start[line + 1]]
        if len(cells) < 2 or int(cells.max()) >= len(at):
            continue  # a group of cells has no place
        one = at[cells[0]]
        axes = np.flatnonzero((at[cells] != one).any(axis=0))
        if len(axes) != 1:
            continue
        axis = int(axes[0])
        codes = at[cells, axis]
        deep = depth[axis][codes]
        its = family[axis].get((int(codes[deep.argmin()]), int(codes[deep.argmax()])))
        if its is not None:
            yield line, axis, its, tuple(one.tolist())


def _table_of(table: Table, lines: Lines, weight: Ints) -> tuple[Table, Ints]:
    """Some equations as a table of its own, with these costs (int64[n]), and its cells."""
    cells = np.unique(lines.cell).astype(np.int64)
    inside = Lines(lines.start, np.searchsorted(cells, lines.cell).astype(np.int32), lines.coef, lines.rhs)
    levels = table.levels
    part = Table.build(
        table.value[cells],
        inside,
        status=table.status[cells],
        weight=weight[cells],
        lb=table.lb[cells],
        ub=table.ub[cells],
        levels=Levels(levels.lower[cells], levels.upper[cells], levels.sliding[cells]),
        scale=table.scale,
        weight_scale=table.weight_scale,
    )
    return part, cells
