"""Orderings of sensitive cells: what is ordered, and the pattern that an ordering stands for.

Smith, Clark, Staggemeier and Serpell (2012). An item is one primary (`one-p`), one candidate for initial
exposure (`one-k`), a group of such candidates (`group-k`: 40 groups by weight; `group-k-row`, `group-k-column`:
one group per code of the first or second dimension), one primary that unpicking exposes (`ku`), or a group of such
(`group-ku`). The other primaries follow as one last group. Patterns grow by cheapest paths in two-way tables, by boxes
in grids, by the incremental attacker's LPs in any other table. As published they grow by two LPs per cell or group in
every table (minimum-cost flows in two-way ones), nothing is cleaned up, K is what a cell's own lines expose together,
and Ku what single lines expose, which lies inside K.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gpuga import kernels
from gpuga.circuits.cover import Cover
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Clock, Context
from gpuga.errors import InputError, OutOfTime, printable
from gpuga.heuristics.incremental import by_flows
from gpuga.kernels import get_backend
from gpuga.parameters import ITEMS
from gpuga.problem.general import requirements_of
from gpuga.problem.mutual_protection import mutual_protection_of
from gpuga.problem.problem import problem_for
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Found
from gpuga.safety.boxes import box_grid
from gpuga.safety.evidence import Rule
from gpuga.safety.exposure import initially_exposed
from gpuga.safety.unpick import one_line_each, unpick
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.table import Ints, Mask, Table

FEW_ITEMS = 40
"""Up to so many items, the requirements of each are looked up by themselves."""

Items = list[Ints]
"""The sensitive cells of each item."""


class OrderingVariant(NamedTuple):
    """What is ordered: the variant, the number of groups, and whether by the letter of the paper."""

    variant: str
    groups: int = 40
    as_published: bool = False


def items_of(table: Table, wanted: OrderingVariant, strict: bool) -> Items:
    """The items of a variant, by falling weight of their heaviest cell."""
    variant = wanted.variant
    if variant == "one-p":
        chosen = table.sensitive
    elif wanted.as_published:
        chosen = _published_candidates(table, variant, strict)
    elif variant.endswith("ku"):
        chosen = _short(table, *unpick(table, table.forced), strict)
    else:
        chosen = _short(table, *one_line_each(table, table.forced), strict)
    by_weight = chosen[np.argsort(-table.weight[chosen], kind="stable")]
    if variant in ("group-k", "group-ku"):
        return [part for part in np.array_split(by_weight, wanted.groups) if len(part)]
    if variant.startswith("group-k-"):
        return _by_code(table, by_weight, 0 if variant == "group-k-row" else 1)
    return [np.array([cell]) for cell in by_weight.tolist()]


def _published_candidates(table: Table, variant: str, strict: bool) -> Ints:
    """K, what the lines through a primary expose together (by programs), or Ku, what one of them exposes alone."""
    if variant.endswith("ku"):
        return _short(table, *one_line_each(table, table.forced), strict)
    return initially_exposed(table, AttackerModel(strict))


def _short(table: Table, rise: Ints, fall: Ints, strict: bool) -> Ints:
    """The primaries whose levels lie outside what the rises and falls allow."""
    rule = Rule.of(table, table.forced, strict, protect_secondary=False)
    short = rule.short(rise, rule.rise) | rule.short(fall, rule.fall)
    return table.sensitive[short[table.sensitive]]


def _by_code(table: Table, cells: Ints, axis: int) -> Items:
    if table.grid is None or axis >= len(table.grid.dimensions):
        raise InputError("groups by row or column need a table with dimensions", field="--variant")
    code = table.grid.coordinate[cells, axis]
    _, first = np.unique(code, return_index=True)
    return [cells[code == code[at]] for at in np.sort(first)]


class Evaluator(Protocol):
    """Turns orderings of items into costs, and the best one into a pattern."""

    items: Items

    def costs(self, orderings: Sequence[NDArray[np.int32]], clock: Clock) -> list[int]:
        """The costs of several orderings, side by side where possible; `OutOfTime` where the clock ends before."""

    def finish(self, ordering: NDArray[np.int32]) -> Found:
        """The complete pattern of an ordering, every requirement protected, without redundant cells."""


def evaluator_of(table: Table, wanted: OrderingVariant, context: Context) -> Evaluator:
    """The evaluator that suits a table, or the paper's."""
    if wanted.variant not in ITEMS:
        names = ", ".join(ITEMS)
        raise InputError(f"unknown variant {printable(wanted.variant)!r}; choose one of {names}", field="--variant")
    items = items_of(table, wanted, context.strict)
    problem = problem_for(table, context.strict, context.clock)
    if wanted.as_published:
        alone = not wanted.variant.startswith("group")
        if isinstance(problem, TwoWayProblem) and alone:
            return FlowEvaluator(problem, items)
        return ProgramEvaluator(table, items, context) if alone else GroupEvaluator(table, items, context)
    if isinstance(problem, TwoWayProblem):
        return PathEvaluator(problem, items)
    if box_grid(table, context.clock.expired) is not None:
        return BoxEvaluator(table, items, context)
    return ChangeEvaluator(table, items, context)


class PathEvaluator:
    """Two-way tables: cheapest paths in the order given, then clean-up."""

    def __init__(self, problem: TwoWayProblem, items: Items) -> None:
        self.problem, self.items = problem, items
        cells = problem.plane.cell.ravel()[problem.levels.place]
        self._levels = [np.flatnonzero(np.isin(cells, item)) for item in items]
        listed = np.concatenate([*self._levels, np.zeros(0, np.int64)]).astype(np.int64)
        self._rest = np.setdiff1d(np.arange(len(cells)), listed)
        self._costs = problem.costs()
        self._best: tuple[int, bytes, Mask] | None = None

    def costs(self, orderings: Sequence[NDArray[np.int32]], clock: Clock) -> list[int]:
        """One after the other: they share the network's scratch arrays."""
        return [self._cost(ordering, clock) for ordering in orderings]

    def _cost(self, ordering: NDArray[np.int32], clock: Clock) -> int:
        pattern = self._pattern(ordering, clock)
        cost = int(self.problem.cost(pattern))
        if self._best is None or cost < self._best[0]:
            self._best = cost, ordering.tobytes(), pattern
        return cost

    def _pattern(self, ordering: NDArray[np.int32], clock: Clock | None = None) -> Mask:
        return by_paths(self.problem, self._costs, plain(), order=self._order(ordering), clock=clock)

    def _order(self, ordering: NDArray[np.int32]) -> Ints:
        """The levels of an ordering, those of cells that are no items last."""
        return np.concatenate([*(self._levels[i] for i in ordering.tolist()), self._rest]).astype(np.int64)

    def finish(self, ordering: NDArray[np.int32]) -> Found:
        """The pattern itself; the best one is kept."""
        kept = self._best is not None and self._best[1] == ordering.tobytes()
        pattern = self._best[2] if self._best is not None and kept else self._pattern(ordering)
        return Found(self.problem.pattern(pattern))


class FlowEvaluator(PathEvaluator):
    """As published, in two-way tables: two LPs per cell, which are minimum-cost flows there, and no clean-up.

    The cost is that of the ordered cells alone, as in the paper; the others are protected at the end.
    """

    def _cost(self, ordering: NDArray[np.int32], clock: Clock) -> int:
        order = np.concatenate([self._levels[i] for i in ordering.tolist()]).astype(np.int64)
        if clock.expired():
            raise OutOfTime("time ran out before the orderings were evaluated; allow more with --seconds")
        return int(self.problem.cost(by_flows(self.problem, clock, order)))

    def _pattern(self, ordering: NDArray[np.int32], clock: Clock | None = None) -> Mask:
        return by_flows(self.problem, clock or self.problem.clock, self._order(ordering))


class RequirementOrders:
    """Requirements of items in order, for tables that are protected one requirement after the other.

    Those that sensitive cells meet for each other are left out.
    """

    def __init__(self, table: Table, items: Items, context: Context) -> None:
        self.table, self.items, self.context = table, items, context
        self.requirements = requirements_of(table, context.strict, context.clock)
        self._open = mutual_protection_of(table, self.requirements, context).proven_by < 0
        requirements = (
            [np.flatnonzero(np.isin(self.requirements.cell, item)) for item in items]
            if len(items) <= FEW_ITEMS
            else (self._by_cell())
        )
        self._of_items = [numbers[self._open[numbers]] for numbers in requirements]
        listed = np.concatenate([*self._of_items, np.zeros(0, np.int64)]).astype(np.int64)
        rest = np.setdiff1d(np.flatnonzero(self._open), listed)
        self._rest = rest[np.argsort(-table.weight[self.requirements.cell[rest]], kind="stable")]

    def _by_cell(self) -> list[Ints]:
        """The requirements of items of any number, in one pass: requirements lie by ascending cell."""
        return [
            np.concatenate(
                [np.arange(*np.searchsorted(self.requirements.cell, [cell, cell + 1])) for cell in item.tolist()]
            ).astype(np.int64)
            for item in self.items
        ]

    def order(self, ordering: NDArray[np.int32]) -> Ints:
        """The requirements of an ordering of items."""
        return np.concatenate([*(self._of_items[i] for i in ordering.tolist()), np.zeros(0, np.int64)]).astype(np.int64)

    def finish(self, ordering: NDArray[np.int32]) -> Found:
        """All requirements in order, the rest last; certificates come along."""
        cover = Cover(self.table, self.requirements, self.context)
        order = np.concatenate([self.order(ordering), self._rest]).tolist()
        cover.presolve()
        cover.by_boxes(order)
        cover.by_lp(order)
        cover.clean_up()
        return Found(cover.suppressed, proof=cover.proof())


class BoxEvaluator(RequirementOrders):
    """Tables with dimensions: each requirement in turn its cheapest box; the orderings side by side on the back end."""

    def __init__(self, table: Table, items: Items, context: Context) -> None:
        super().__init__(table, items, context)
        boxes = box_grid(table)
        assert boxes is not None, "the caller has looked"
        self._backend, self._boxes = get_backend(context.backend), boxes
        self._hidden = boxes.lay(table.forced).astype(bool)
        self._base = table.cost(table.forced)
        # groups of cells have no place, hence no boxes
        self._placed = boxes.place[self.requirements.cell] >= 0
        place = np.where(self._placed, boxes.place[self.requirements.cell], 0)
        self._asked = kernels.Requirements.of(place, self.requirements.direction, self.requirements.need)
        self._each: float | None = None  # seconds that one ordering took at most

    def costs(self, orderings: Sequence[NDArray[np.int32]], clock: Clock) -> list[int]:
        """Side by side; the costs do not depend on the back end or its threads.

        A call cannot be cut short: none is begun that is likely to take longer than there is time.
        """
        each = self.context.first_seconds if self._each is None else self._each
        if clock.expired() or clock.left() < each * len(orderings):
            raise OutOfTime("time ran out before the orderings were evaluated; allow more with --seconds")
        begun = clock.spent()
        costs = self._costs(orderings)
        self._each = max(self._each or 0.0, (clock.spent() - begun) / len(orderings))
        return costs

    def _costs(self, orderings: Sequence[NDArray[np.int32]]) -> list[int]:
        boxes = self._boxes
        listed = np.stack([self.order(ordering) for ordering in orderings])
        orders = np.where(self._placed[listed], listed, -1).astype(np.int32)
        added = self._backend.box_costs(
            self._hidden, boxes.grid, boxes.up, boxes.down, self._asked, boxes.weight, orders
        )
        return [self._base + cost for cost in added.tolist()]


class ChangeEvaluator(RequirementOrders):
    """Any table: the incremental attacker's LPs."""

    def costs(self, orderings: Sequence[NDArray[np.int32]], clock: Clock) -> list[int]:
        """One after the other."""
        searching = replace(self.context, clock=clock)
        return [self._cost(ordering, searching) for ordering in orderings]

    def _cost(self, ordering: NDArray[np.int32], context: Context) -> int:
        cover = Cover(self.table, self.requirements, context)
        cover.by_lp(self.order(ordering).tolist())
        return self.table.cost(cover.suppressed)


class ProgramEvaluator(ChangeEvaluator):
    """As published, in any table: two LPs per cell, no boxes and no clean-up."""

    def finish(self, ordering: NDArray[np.int32]) -> Found:
        """The cells in order, then the others."""
        cover = Cover(self.table, self.requirements, self.context)
        cover.presolve()
        self._protect(cover, ordering)
        cover.by_lp(self._rest.tolist())
        return Found(cover.suppressed, proof=cover.proof())

    def _cost(self, ordering: NDArray[np.int32], context: Context) -> int:
        cover = Cover(self.table, self.requirements, context)
        self._protect(cover, ordering)
        return self.table.cost(cover.suppressed)

    def _protect(self, cover: Cover, ordering: NDArray[np.int32]) -> None:
        cover.by_lp(self.order(ordering).tolist())


class GroupEvaluator(ProgramEvaluator):
    """As published, in any table: one pair of LPs per group."""

    def _protect(self, cover: Cover, ordering: NDArray[np.int32]) -> None:
        cover.by_group_lp(self._of_items[i].tolist() for i in ordering.tolist())
