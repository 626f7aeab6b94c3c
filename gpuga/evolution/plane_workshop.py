"""Where circuits of two-dimensional tables are made: seeds, repairs at guided costs, polishing by a small MIP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.cut import first_of
from gpuga.bounds.master import Master, useful_columns
from gpuga.bounds.neighbourhood import WholeProgram
from gpuga.bounds.repair.paths import guided_costs
from gpuga.bounds.search import master_of
from gpuga.circuits.path_cover import by_paths, clean_up
from gpuga.circuits.paths import blurred, plain
from gpuga.compiled import compiled
from gpuga.context import Clock, Context
from gpuga.errors import GpugaError, OutOfTime
from gpuga.evolution.pool import Supports
from gpuga.heuristics.castro import by_disjoint_paths
from gpuga.heuristics.destroy_repair import improve
from gpuga.heuristics.hypercube import largest_first, rectangles
from gpuga.heuristics.pbp import pbp_patterns
from gpuga.kernels.random import Stream
from gpuga.problem.path_costs import PathCosts
from gpuga.problem.two_way import Requirements, TwoWayProblem
from gpuga.safety.flow import meets
from gpuga.safety.network import SECONDARY, Flow, Links, Network, clear, new_flow
from gpuga.table.table import Ints, Mask

ORDERS = 8
"""Shortest-path seeds in random orders, and as many on guided costs."""

FEW = 500
"""Cutting planes end when a slice of them raises the bound by less than one part in so many."""

SEEDING = 0.15
"""Share of the time left that the heuristics get for their seeds, and the guided ones for theirs."""

PBP_SEEDS = 4
STEPS_WORK = 20_000
"""Steps of destroy and repair times secondary suppressions, for one individual."""

LARGEST_FOR_ALL_SEEDS = 2000
"""With more open levels than this only the fast heuristics seed."""

ROUNDS, ROUNDS_BETWEEN = 30, 6
"""Rounds of cutting planes before the first generation, and in each later one."""

NODES = 200
MOST_WHOLE = 2500
COLUMNS = 1200
"""Columns of the polishing MIP: the cells of the elite's circuits, and the cheapest by reduced cost."""


BRANCHED = -1


class Step(NamedTuple):
    """What was done to the relaxation: rounds of cutting planes, or (`BRANCHED`) a MIP: its columns and answer."""

    rounds: int
    columns: Mask | None = None
    answer: Mask | None = None


class Counted(Clock):
    """A clock that runs out after so many looks: work that must be repeatable cannot be limited by time."""

    def __init__(self, looks: int, whole: Clock) -> None:
        super().__init__(None, whole)
        self.looks, self.seen = looks, 0

    def expired(self) -> bool:
        """Whether it was looked at as often as allowed, or the whole time is up."""
        self.seen += 1
        return self.seen > self.looks or super().expired()


class PlaneWorkshop:
    """Makes circuits for the open levels of a plane; places of the grid are the cells of the pool."""

    def __init__(self, problem: TwoWayProblem, context: Context) -> None:
        self.problem, self.context = problem, context
        self.weight: Ints = problem.weight.ravel()
        self.tasks = len(problem.levels.place)
        self.base_cost = problem.base_cost
        self.plain_costs: PathCosts = problem.costs()
        self.guided: PathCosts | None = None
        self.master: Master | None = None
        # with a pattern in hand nobody is told that there is none
        self.limit = context.clock.finishing() if context.start else context.clock
        self.first: Mask = by_paths(problem, self.plain_costs, plain(), clock=self.limit)
        self.tight = self.settled = False
        self.branched = 0
        self.steps: list[Step] = []

    # --- seeds -----------------------------------------------------------------------------------------

    def seeds(self, stream: Stream, variety: bool) -> Iterator[tuple[str, Supports]]:
        """Safe individuals with the names of their makers: the user's patterns first, then the heuristics.

        Without `variety` a single shortest-path pattern.
        """
        for name, pattern in self._patterns(stream, variety):
            yield name, self.supports(pattern)

    def _patterns(self, stream: Stream, variety: bool) -> Iterator[tuple[str, Mask]]:
        problem, clock = self.problem, self.context.clock.part(SEEDING)
        for given in self.context.start:
            yield (
                "start",
                by_paths(problem, self.plain_costs, plain(), start=problem.secondary(given), clock=self.limit),
            )
        yield "shortest-path", self.first
        if variety and not clock.expired():
            with suppress(OutOfTime):
                yield from self._further_patterns(stream, clock)

    def _further_patterns(self, stream: Stream, clock: Clock) -> Iterator[tuple[str, Mask]]:
        problem = self.problem
        yield "hypercube", self._hypercube(largest_first(problem.levels.need))
        yield "hypercube", self._hypercube(stream.permutation(self.tasks))
        for order in stream.permutations(ORDERS, self.tasks):
            yield "shortest-path", self._by_paths(order, stream, clock)
        if self.tasks > LARGEST_FOR_ALL_SEEDS or clock.expired():
            return
        yield "castro", clean_up(problem, by_disjoint_paths(problem, self.context)[0])
        for pattern in pbp_patterns(problem, PBP_SEEDS, self.context):
            yield "pbp", pattern

    def guided_seeds(self, stream: Stream) -> Iterator[tuple[str, Supports]]:
        """Shortest paths on the relaxation's costs, in random orders and by different tastes."""
        assert self.guided is not None, "guide comes first"
        clock = self.context.clock.part(SEEDING)
        with suppress(OutOfTime):
            yield "guided", self.supports(by_paths(self.problem, self.guided, plain(single=False, by_capacity=True)))
            for number, order in enumerate(stream.permutations(ORDERS - 1, self.tasks)):
                # one wide piece first does not pay here: what the relaxation likes are several narrow ones
                taste = plain(single=False, by_capacity=number % 2 == 1)
                pattern = by_paths(self.problem, self.guided, taste, order=order, clock=clock)
                yield "guided", self.supports(pattern)

    def _hypercube(self, order: Ints) -> Mask:
        boxed = rectangles(self.problem, order)
        return by_paths(self.problem, self.plain_costs, plain(), start=boxed)

    def _by_paths(self, order: Ints, stream: Stream, clock: Clock) -> Mask:
        choice = stream.integer(0, 8)
        single, by_capacity, blur = bool(choice & 1), bool(choice & 2), bool(choice & 4)
        seed = stream.integer(0, 2**31)
        taste = blurred(seed, single, by_capacity) if blur else plain(single, by_capacity)
        return by_paths(self.problem, self.plain_costs, taste, order=order, clock=clock)

    # --- the guiding relaxation ------------------------------------------------------------------------

    def guide(self) -> None:
        """Tighten the relaxation a first time and price cells by it; may run beside the seeds."""
        self.master = master_of(self.problem, self.first)
        self._tighten(ROUNDS, self.context.clock.part(0.3))

    def _tighten(self, rounds: int, clock: Clock) -> None:
        assert self.master is not None
        counted, before = Counted(rounds, clock), self.master.bound
        self.master.tighten(counted)
        gained = self.master.bound - before
        self.tight = not clock.expired() and (counted.seen <= rounds or gained * FEW < self.master.bound)
        by_time = counted.seen <= rounds and clock.expired()
        self.steps.append(Step(counted.seen - 1 if by_time else rounds))
        self.guided = guided_costs(self.problem, self.master.point())

    @property
    def lower(self) -> int:
        """What no pattern can undercut, without the base cost."""
        proven = 0 if self.master is None else self.master.bound
        return max(proven, self.branched)

    # --- circuits of patterns --------------------------------------------------------------------------

    def supports(self, pattern: Mask, flow: Flow | None = None) -> Supports:
        """One circuit per open level inside a safe pattern (bool[R, C] or flat), found by maximum flow."""
        problem = self.problem
        links = problem.links(pattern.reshape(problem.shape))
        start, place = level_supports(problem.net, links, flow or problem.flow, problem.levels)
        if start[-1] < 0:
            raise GpugaError("circuits were asked for of a pattern that is not safe")
        return Supports(start, place)

    def refined(self, supports: Supports, guided: bool, seed: int) -> Supports:
        """An individual no dearer, after destroying and re-protecting regions of its pattern.

        Each call has room of its own: several may run in threads. When the time is up it stays as it is.
        """
        if self.context.clock.expired():
            return supports
        problem = replace(self.problem, flow=new_flow(*self.problem.shape))
        grid = self._grid(supports)
        costs = self.guided if guided and self.guided is not None else self.plain_costs
        better = improve(problem, grid, costs, self._length(grid), seed)
        return self.supports(better, problem.flow)

    def cleaned(self, supports: Supports) -> Supports:
        """An individual without redundant cells."""
        return self.supports(clean_up(self.problem, self._grid(supports)))

    def _grid(self, supports: Supports) -> Mask:
        pattern = np.zeros(self.problem.shape, bool)
        pattern.reshape(-1)[supports.cell] = True
        return pattern

    # --- polishing -------------------------------------------------------------------------------------

    def polish(self, best: Mask, elite: Sequence[Supports], seed: int) -> list[Supports]:
        """New individuals from the relaxation: guided paths while it gains, then a small MIP on the elite's cells."""
        if self.master is None:
            return []
        clock = self.context.clock
        self.master.session.forget_basis()  # what follows depends on the model alone, and can be repeated
        if not self.tight:
            self._tighten(ROUNDS_BETWEEN, clock.part(0.5))
            return self._guided_paths(seed)
        mask = self._branch(best, elite)
        try:
            return [] if mask is None else [self._repaired(mask, seed)]
        except OutOfTime:
            return []

    def _branch(self, best: Mask, elite: Sequence[Supports]) -> Mask | None:
        """The answer of branch and bound on few columns; the cuts that it violates stay for the next time."""
        master, clock = self.master, self.context.clock
        assert master is not None
        grid = best.reshape(self.problem.shape)
        cost = self.problem.cost(grid)
        useful = useful_columns(master, cost) | best.ravel()
        whole = int(useful.sum()) <= MOST_WHOLE
        allowed = useful if whole else self._columns(grid, elite).ravel()
        gap = 0.0 if self.settled else min(0.02, 0.3 * (cost - self.lower) / max(1, cost))
        limit = Clock(None, clock) if clock.seconds is None else clock.part(0.3)
        answer = WholeProgram(master, allowed, np.zeros(allowed.shape, bool)).solve(best.ravel(), NODES, limit, gap)
        if whole:
            self._believe(answer.bound, cost)
        if answer.pattern is None:
            return None
        self.steps.append(Step(BRANCHED, allowed, answer.pattern))
        self.settled = not self._learn(answer.pattern)
        return answer.pattern.reshape(self.problem.shape)

    def _believe(self, bound: float, cost: int) -> None:
        """A bound by branch and bound over all columns that matter, after allowing for the solver's tolerance."""
        assert self.master is not None
        step = self.master.step
        rounded = int(np.ceil(bound / step - 1e-6 * max(1.0, abs(bound / step) * 1e-3))) * step
        self.branched = max(self.branched, min(rounded, cost))

    def memory(self) -> dict[str, NDArray[Any]]:
        """What was done to the relaxation, as arrays without values: enough to do it again."""
        masks = [mask.ravel() for step in self.steps for mask in (step.columns, step.answer) if mask is not None]
        bits = np.packbits(masks, axis=1) if masks else np.zeros((0, 0), np.uint8)
        rounds = np.array([step.rounds for step in self.steps], np.int64)
        return {"step_rounds": rounds, "step_bits": bits, "bound": np.array([self.branched])}

    def remember(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Bring the relaxation to where the steps in `arrays` left it, without solving their MIPs again."""
        rounds = arrays["step_rounds"].tolist()
        self.branched = int(arrays["bound"][0])
        if not rounds:
            return
        size = self.weight.size
        masks = iter(np.unpackbits(arrays["step_bits"], axis=1)[:, :size].astype(bool) if BRANCHED in rounds else ())
        self.master = master_of(self.problem, self.first)
        for number, looks in enumerate(rounds):
            if number:
                self.master.session.forget_basis()
            if looks != BRANCHED:
                self._tighten(looks, Clock())
                continue
            columns, answer = next(masks), next(masks)
            self.settled = not self._learn(answer)
            self.steps.append(Step(BRANCHED, columns, answer))

    def _learn(self, mask: Mask) -> int:
        assert self.master is not None
        point = mask.ravel().astype(np.float64)
        violated = first_of(self.master.separator.at_whole(point, self.context.clock))
        return self.master.add(violated, keep=True)

    def _columns(self, best: Mask, elite: Sequence[Supports]) -> Mask:
        """The cells of the best, then of the elite, then those of low reduced cost, as many as there is room for."""
        assert self.master is not None
        wanted = best.copy()
        for supports in elite:
            if int(wanted.sum()) > COLUMNS // 2:
                break
            wanted |= self._grid(supports)
        reduced = np.where(
            self.problem.candidate & ~wanted, self.master.certificate.reduced.reshape(wanted.shape), 2**62
        )
        room = COLUMNS - int(wanted.sum())
        if room > 0:
            cheap = np.argsort(reduced, kind="stable")[:room]
            wanted.reshape(-1)[cheap[reduced[cheap] < 2**62]] = True
        return wanted

    def _repaired(self, mask: Mask, seed: int) -> Supports:
        problem = replace(self.problem, flow=new_flow(*self.problem.shape))
        order = Stream(seed, 1).permutation(self.tasks)
        repaired = min(
            (by_paths(problem, self.plain_costs, plain(s, True), order=order, start=mask) for s in (True, False)),
            key=problem.cost,
        )
        better = improve(problem, repaired, self.plain_costs, self._length(repaired), seed)
        return self.supports(better, problem.flow)

    def _guided_paths(self, seed: int) -> list[Supports]:
        """Individuals by paths on the relaxation's costs of now, as many as there is time for."""
        assert self.guided is not None
        problem = replace(self.problem, flow=new_flow(*self.problem.shape))
        made = []
        for by_capacity in (True, False):
            order, taste = Stream(seed, int(by_capacity)).permutation(self.tasks), plain(False, by_capacity)
            try:
                pattern = by_paths(problem, self.guided, taste, order=order, clock=self.context.clock)
            except OutOfTime:
                break
            made.append(self.supports(pattern, problem.flow))
        return made

    def _length(self, pattern: Mask) -> int:
        """Steps of destroy and repair that a pattern gets; large ones get fewer, because each step is longer."""
        return max(20, min(100, STEPS_WORK // max(1, int(pattern.sum()))))


@compiled
def level_supports(net: Network, links: Links, flow: Flow, levels: Requirements) -> tuple[Ints, Ints]:
    """The secondary places of one flow per level; the last start is -1 if a level is not met."""
    columns = flow.amount.shape[1]
    count = len(levels.place)
    start = np.zeros(count + 1, np.int64)
    out = np.zeros(16 * count + 64, np.int64)
    end = 0
    for q in range(count):
        met = meets(net, links, flow, levels.place[q], levels.forth[q], levels.need[q])
        if not met:
            clear(flow)
            start[count] = -1
            return start, out[:0].copy()
        if end + flow.used[0] > len(out):
            out = np.concatenate((out, np.zeros(len(out) + flow.used[0], np.int64)))
        for z in range(flow.used[0]):
            place = flow.touched[z]
            i, j = place // columns, place % columns
            if flow.amount[i, j] != 0 and links.kind[i, j] == SECONDARY:
                out[end] = place
                end += 1
        start[q + 1] = end
        clear(flow)
    return start, out[:end].copy()
