"""Where circuits of any linear table are made: boxes and attacker LPs in several orders, a MIP over the pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.master import Master
from gpuga.bounds.repair.cover import completed, priced, whole_cells
from gpuga.bounds.search import master_of
from gpuga.circuits.cover import Circuit, Cover, proof_of
from gpuga.circuits.neighbourhood import Neighbourhoods
from gpuga.context import Context
from gpuga.errors import OutOfTime
from gpuga.evolution.pool import Supports
from gpuga.evolution.pool_mip import cheapest_union
from gpuga.heuristics.table_search import TableSearch
from gpuga.kernels.random import Stream
from gpuga.problem.general import GeneralProblem, requirements_of
from gpuga.protection import Found
from gpuga.safety.witness import Witnesses
from gpuga.table.table import Ints, Mask, Table

SMALL, MIDDLING = 3_000, 20_000
"""Cells up to which many orders, or at least one more than the plain ones, are tried as seeds."""

BY_WEIGHT = 0.7
"""Share of a limited time that the first seed of a middling table may take."""

ORDERS = 3
GUIDED = 4
GUIDING, GUIDING_ROUNDS = 0.25, 30
"""The share of the time, and the rounds of cutting planes, that guidance may take."""

QUESTIONS = 600
"""Linear programs of one local search."""

REGION = (8, 1_000)
"""Cells per line and cells in all of the part of a large table that is searched."""


class Protected(Cover):
    """A cover that can start from circuits of which only the supports are known."""

    def take_over(self, proof: Witnesses) -> None:
        """Give every task the first witness that proves it."""
        of = {key: t for t, key in enumerate(zip(self.tasks.cell.tolist(), self.tasks.direction.tolist(), strict=True))}
        for w in range(len(proof)):
            circuit = proof.one(w)
            self.suppressed[circuit[0]] = True
            for cell, amount in zip(circuit[0].tolist(), circuit[1].tolist(), strict=True):
                task = of.get((cell, 1 if amount > 0 else -1))
                if task is None or self.circuit[task] is not None:
                    continue
                if abs(amount) >= int(self.tasks.need[task]) * circuit[2]:
                    self._assign(task, circuit)

    def adopt(self, task: int, cells: Ints) -> None:
        """Suppress a circuit and take it as the task's proof; its amounts were exact when it joined the pool."""
        self._assign(task, (cells.astype(np.int32), np.zeros(len(cells), np.int64), 1))


class TableWorkshop:
    """Makes circuits for all tasks of a table; cells of the table are the cells of the pool.

    No pattern's circuits cost less than `lower` besides the forced cells; only small tables have a `master` program.
    """

    def __init__(self, table: Table, context: Context) -> None:
        self.table, self.context = table, context
        self.levels = requirements_of(table, context.strict, context.clock)
        self.tasks = len(self.levels)
        self.weight: Ints = np.where(table.forced, 0, table.weight)
        self.master: Master | None = None
        self.lower = 0
        self._proven_by: dict[tuple[int, bytes], Circuit] = {}

    # --- seeds -----------------------------------------------------------------------------------------

    def seeds(self, stream: Stream, variety: bool) -> Iterator[tuple[str, Supports]]:
        """The user's patterns, hypercube and incremental, then both in random orders as size and time allow."""
        for given in self.context.start:
            yield "start", self._made(np.zeros(0, np.int64), self._largest_first(), given)
        safe = None if len(self.table) <= SMALL or self.context.first is None else self._carried(self.context.first)
        if safe is not None:
            yield "first", safe
        try:
            yield from self._own_seeds(stream, variety)
        except OutOfTime:
            if safe is None:
                raise

    def _carried(self, first: Found) -> Supports | None:
        """The pattern that was made first, by the circuits that it carries; None where one is missing."""
        cover = Protected(self.table, self.levels, self.context)
        if first.proof is not None:
            cover.take_over(first.proof)
        return None if cover.open() else self._supports(cover)

    def _own_seeds(self, stream: Stream, variety: bool) -> Iterator[tuple[str, Supports]]:
        """Hypercube or incremental first, whichever suits the size; what follows may be cut short."""
        first = None if not SMALL < len(self.table) <= MIDDLING else self._by_weight_in_time()
        if first is not None:
            yield "incremental", first
        else:
            yield "hypercube", self._made(self._largest_first(), self._largest_first())
        try:
            if variety:
                yield from self._further_seeds(stream, self.context.clock.spent(), first is not None)
        except OutOfTime:
            return  # there is a safe pattern; further ones would take longer than is left

    def _by_weight_in_time(self) -> Supports | None:
        """What `incremental` makes in a share of the time; boxes are quicker, but dear in tables of this size."""
        context = replace(self.context, clock=self.context.clock.part(BY_WEIGHT))
        try:
            return self._made(np.zeros(0, np.int64), self._heaviest_first(), context=context)
        except OutOfTime:
            return None

    def _further_seeds(self, stream: Stream, longest: float, by_weight: bool) -> Iterator[tuple[str, Supports]]:
        """What the first one was not made by, then both ways in random orders."""
        largest, heaviest, nothing = self._largest_first(), self._heaviest_first(), np.zeros(0, np.int64)
        listed = [("hypercube", largest, largest) if by_weight else ("incremental", nothing, heaviest)]
        orders = ORDERS if len(self.table) <= SMALL else 1 if len(self.table) <= MIDDLING else 0
        for order in stream.permutations(orders, self.tasks):
            listed += [("hypercube", order, order), ("incremental", nothing, order)]
        for name, boxed, order in listed:
            if not self._time_for(longest):
                return
            begun = self.context.clock.spent()
            yield name, self._made(boxed, order)
            longest = max(longest, self.context.clock.spent() - begun)

    def guide(self) -> None:
        """Bound a small table, while others make seeds: what the relaxation suppresses leads further ones."""
        if len(self.table) > SMALL or not self.tasks:
            return
        clock = self.context.clock.part(GUIDING)
        master = master_of(GeneralProblem.of(self.table, clock=clock))
        master.tighten(clock, GUIDING_ROUNDS)
        self.master, self.lower = master, master.bound

    def guided_seeds(self, stream: Stream) -> Iterator[tuple[str, Supports]]:
        """Patterns completed at the relaxation's prices in random orders, where there is one."""
        if self.master is None:
            return
        z, begun = self.master.point(), self.context.clock.spent()
        prices, start = priced(self.table, z), whole_cells(self.table, z)
        try:
            for order in stream.permutations(GUIDED, self.tasks):
                if not self._time_for(self.context.clock.spent() - begun):
                    return
                begun = self.context.clock.spent()
                cover = Protected(self.table, self.levels, self.context, start)
                cover.boost()
                yield "guided", self._supports(completed(cover, prices, order))
        except OutOfTime:
            return  # there are other seeds

    def _time_for(self, seconds: float) -> bool:
        return self.context.clock.left() > 1.5 * seconds

    def _largest_first(self) -> Ints:
        return np.argsort(-self.levels.need, kind="stable")

    def _heaviest_first(self) -> Ints:
        return np.argsort(-self.table.weight[self.levels.cell], kind="stable")

    def _made(self, boxed: Ints, order: Ints, given: Mask | None = None, context: Context | None = None) -> Supports:
        """Boxes for the tasks in `boxed`, LPs in `order` for the rest, clean-up."""
        start = None if given is None else given & self.table.suppressible
        cover = Protected(self.table, self.levels, context or self.context, start)
        cover.boost()
        cover.by_boxes(boxed.tolist())
        cover.by_lp(order.tolist())
        cover.clean_up()
        return self._supports(cover)

    def _supports(self, cover: Cover) -> Supports:
        cells = [self._loose(circuit[0]) for circuit in cover.circuit if circuit is not None]
        for task, (circuit, loose) in enumerate(zip(cover.circuit, cells, strict=True)):
            if circuit is not None and circuit[1].any():
                self._proven_by[task, np.sort(loose).tobytes()] = circuit
        start = np.concatenate([[0], np.cumsum([len(c) for c in cells])]).astype(np.int64)
        return Supports(start, np.concatenate([*cells, np.zeros(0, np.int64)]).astype(np.int64))

    def proof(self, supports: Supports) -> Witnesses:
        """The exact changes that an individual's circuits stand for, as far as they are remembered."""
        parts = np.split(supports.cell, supports.start[1:-1])
        known = ((task, np.sort(cells).tobytes()) for task, cells in enumerate(parts))
        return proof_of(self._proven_by[key] for key in known if key in self._proven_by)

    def _loose(self, cells: NDArray[np.int32]) -> Ints:
        return cells[~self.table.forced[cells]].astype(np.int64)

    # --- mutation --------------------------------------------------------------------------------------

    def refined(self, supports: Supports, guided: bool, seed: int) -> Supports:
        """The individual after a local search around it, or around a part of a large table, if that is cheaper."""
        leans = np.split(supports.cell, supports.start[1:-1])
        stream = Stream(seed)
        search = TableSearch(
            self.table,
            self.levels,
            leans,
            stream.integer(0, 2**31),
            self.context.solver,
            self._region(supports, stream),
        )
        pattern = search.run(QUESTIONS, self.context.clock)
        if int(self.weight[pattern].sum()) >= self._cost(supports):
            return supports
        kept = [t for t, cells in enumerate(leans) if pattern[cells].all()]
        cover = self._covered(supports, np.setdiff1d(np.arange(self.tasks), kept), pattern)
        try:
            cover.inside(range(self.tasks))
            cover.by_lp(range(self.tasks))
        except OutOfTime:
            return supports
        made = self._supports(cover)
        return made if self._cost(made) < self._cost(supports) else supports

    def _region(self, supports: Supports, stream: Stream) -> Ints | None:
        """Where a large table is searched: around one of the individual's cells."""
        if len(self.table) <= SMALL or not len(supports.cell):
            return None
        cell = int(supports.cell[stream.integer(0, len(supports.cell))])
        suppressed = self.table.forced.copy()
        suppressed[supports.cell] = True
        return self._near.around(cell, 1, suppressed, *REGION)

    @cached_property
    def _near(self) -> Neighbourhoods:
        return Neighbourhoods(self.table)

    def cleaned(self, supports: Supports) -> Supports:
        """The individual without redundant cells."""
        cover = self._covered(supports, np.zeros(0, np.int64))
        cover.clean_up()
        return self._supports(cover)

    def _covered(self, supports: Supports, without: Ints, pattern: Mask | None = None) -> Protected:
        """A cover of an individual's circuits, but for some tasks, with more suppressed if a pattern says so."""
        kept = np.ones(self.tasks, bool)
        kept[without] = False
        suppressed = self.table.forced.copy()
        suppressed[supports.cell[np.repeat(kept, np.diff(supports.start))]] = True
        cover = Protected(
            self.table, self.levels, self.context, suppressed if pattern is None else suppressed | pattern
        )
        for t in np.flatnonzero(kept).tolist():
            cover.adopt(t, supports.cell[supports.start[t] : supports.start[t + 1]])
        return cover

    def _cost(self, supports: Supports) -> int:
        return int(self.weight[np.unique(supports.cell)].sum())

    def memory(self) -> dict[str, NDArray[Any]]:
        """The bound, which may end a run; nothing else is learnt besides the pool."""
        return {"bound": np.array([self.lower])}

    def remember(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the bound."""
        self.lower = int(arrays["bound"][0])

    # --- polishing -------------------------------------------------------------------------------------

    def polish(self, best: Mask, elite: Sequence[Supports], seed: int) -> list[Supports]:
        """The cheapest union that takes one of the elite's circuits for each task."""
        found = cheapest_union(elite, self.weight, self.context.clock)
        return [] if found is None else [found]
