"""The problem of a two-way table: what is still to be protected, with which cells, at which capacities.

Requirements that the primaries (and cells suppressed beforehand) already cover need nothing and are left out; in
published experiments that is four fifths of the levels of count tables and nearly all of magnitude tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.context import Clock, Context
from gpuga.errors import InputError
from gpuga.problem.path_costs import PathCosts, costs_of
from gpuga.problem.refusal import impossible
from gpuga.safety.flow import extreme, oriented, reachable
from gpuga.safety.network import Network, PatternNetwork, capacity_of, network_of, pattern_network
from gpuga.safety.requirements import Requirements, level_requirements
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.two_way import TwoWayTable, two_way_table


class FlowLevels(NamedTuple):
    """Protection requirements of a two-way table: each one's place, whether its cell carries flow forward, how much.

    `place` int64[Q], `forward` bool[Q], `need` int64[Q] > 0.
    """

    place: Ints
    forward: Mask
    need: Ints


@dataclass(frozen=True, eq=False)
class TwoWayProblem:
    """What the methods for two-dimensional tables work on; grids are (R, C), totals last.

    `forced` is suppressed in any case, `candidate` may be suppressed besides and can carry flow, `weight`
    int64 is what it costs, `base_cost` what cells suppressed beforehand cost anyway. `levels` are the ones
    that `forced` alone does not cover, sliding levels turned into wider fixed ones; `plain_levels` are those
    of them that every safe pattern must meet, so that bounds may rely on them. `clock` ends whatever works on the
    problem, unless that has a clock of its own.
    """

    plane: TwoWayTable
    net: Network
    forced: Mask
    candidate: Mask
    weight: Ints
    base_cost: int
    levels: FlowLevels
    plain_levels: FlowLevels
    clock: Clock = field(default_factory=Clock)

    @property
    def table(self) -> Table:
        """The table, as the attacker is judged on it."""
        return self.plane.table

    @property
    def done(self) -> bool:
        """Whether nothing has to be protected."""
        return not len(self.levels.place)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, totals included."""
        return self.plane.shape

    @cached_property
    def capacity(self) -> Ints:
        """The capacities of `net` by place and side (int64[R C, 2])."""
        return capacity_of(self.net)

    def network(self, secondary: Mask | None = None) -> PatternNetwork:
        """The network of the forced cells and the given secondary suppressions."""
        return pattern_network(self.capacity, self.forced, secondary)

    @property
    def tightened(self) -> bool:
        """Whether the levels ask for more than every safe pattern must meet (sliding levels)."""
        return self.levels is not self.plain_levels

    def cost(self, secondary: Mask) -> int:
        """The weights of the secondary suppressions on the grid, those suppressed beforehand left out."""
        return int(self.weight[secondary].sum())

    def costs(self) -> PathCosts:
        """Path costs: the weights."""
        return costs_of(self.weight.astype(np.float64), self.candidate)

    def pattern(self, secondary: Mask) -> NDArray[np.bool_]:
        """The whole pattern per cell of the table, forced cells included; suppressions as a grid or flat."""
        return np.asarray(self.plane.lift(self.forced | secondary.reshape(self.shape)), bool)

    def secondary(self, suppressed: NDArray[np.bool_]) -> Mask:
        """The secondary suppressions of a pattern of the table as a grid, without what may not be used."""
        return np.asarray(self.plane.lay(suppressed).astype(bool) & self.candidate)


def two_way_problem(table: Table, context: Context) -> TwoWayProblem:
    """The problem of a two-dimensional table, or `Infeasible`; `InputError` for any other table."""
    return problem_of(required_two_way(table), context.strict, context.clock)


def required_two_way(table: Table) -> TwoWayTable:
    """The table as a two-way one; `InputError` for any other."""
    plane = two_way_table(table)
    if plane is None:
        raise InputError(
            "this method needs a two-way table; hypercube and incremental take any table", field="--method"
        )
    return plane


def problem_of(plane: TwoWayTable, strict: bool, clock: Clock | None = None) -> TwoWayProblem:
    """The problem of a plane, or `Infeasible`; without a clock there is no hurry."""
    problem = with_requirements(plane, plain := level_requirements(plane.table, strict))
    everything = problem.forced | problem.candidate
    fixed = _fixed_requirements(plane, plain, everything, strict)
    _refuse_impossible(plane, everything, fixed)
    levels = _open_levels(plane, problem.forced, fixed)
    bounding = levels if fixed is plain else _open_levels(plane, problem.forced, plain)
    return replace(problem, levels=levels, plain_levels=bounding, clock=clock or Clock())


def with_requirements(plane: TwoWayTable, requirements: Requirements) -> TwoWayProblem:
    """The problem of meeting the requirements, whether or not they are met already or can be met at all."""
    table = plane.table
    forced = plane.lay(table.forced).astype(bool)
    movable = (plane.up > 0) | (plane.down > 0)
    levels = _levels(plane, requirements)
    return TwoWayProblem(
        plane=plane,
        net=network_of(plane),
        forced=forced,
        candidate=plane.lay(table.suppressible).astype(bool) & ~forced & movable,
        weight=plane.lay(table.weight).astype(np.int64),
        base_cost=table.cost(table.forced),
        levels=levels,
        plain_levels=levels,
    )


def _levels(plane: TwoWayTable, requirements: Requirements) -> FlowLevels:
    place, forward = oriented(plane, requirements)
    return FlowLevels(place, forward, requirements.need)


def _open_levels(plane: TwoWayTable, forced: Mask, requirements: Requirements) -> FlowLevels:
    """The requirements that the forced cells alone do not meet."""
    return _levels(plane, requirements.subset(~reachable(plane, forced, requirements).met))


def _fixed_requirements(plane: TwoWayTable, plain: Requirements, everything: Mask, strict: bool) -> Requirements:
    """Upper and lower levels, widened where a sliding level asks for more; `plain` itself where none does.

    A sliding level is laid on the upper side as far as that can be reached, the rest on the lower side.
    """
    table = plane.table
    extra = 1 if strict else 0
    sliding = np.where(table.levels.sliding > 0, table.levels.sliding + extra, 0)
    upper, lower = table.levels.upper + extra, table.levels.lower + extra
    wide = np.flatnonzero(table.primary & (sliding > upper + lower))
    if not len(wide):
        return plain
    rise, _ = extreme(plane, everything, wide)
    upper[wide] = np.maximum(upper[wide], np.minimum(sliding[wide] - lower[wide], rise))
    lower[wide] = np.maximum(lower[wide], sliding[wide] - upper[wide])
    cells = np.repeat(table.sensitive, 2)
    direction = np.tile(np.array([1, -1], np.int8), len(table.sensitive))
    need = np.where(direction > 0, upper[cells], lower[cells])
    return Requirements(cells.astype(np.int32), direction, need.astype(np.int64)).subset(need > 0)


def _refuse_impossible(plane: TwoWayTable, everything: Mask, requirements: Requirements) -> None:
    """Raise if some level is out of reach even when all that may be suppressed is."""
    failed = np.unique(requirements.cell[~reachable(plane, everything, requirements).met])
    if not len(failed):
        return
    raise impossible(plane.table, failed.tolist())
