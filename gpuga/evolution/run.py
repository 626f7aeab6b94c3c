"""One run of evolution in the back end with the prover beside it, from seeds or from a checkpoint to the end.

Every generation exchanges with the prover. Evolution's best pattern goes there and cuts its tree; the prover's best
joins the population, the point of its relaxation prices the cells, and the columns that can still matter are tried
first. A run without a time limit waits for the prover's step, so that it can be repeated, and resumed bit for bit.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from deap import base
from numpy.typing import NDArray

from gpuga.backends import device_used
from gpuga.bounds.search import MOST_CELLS_TO_PROVE
from gpuga.context import Context, Silent
from gpuga.errors import OutOfTime
from gpuga.evolution import checkpoint
from gpuga.evolution.adapters import DeapOperator
from gpuga.evolution.breeding import Breeder, Kernels
from gpuga.evolution.completer import Completer
from gpuga.evolution.engine import Evolution, begin, evolve, new_toolbox, with_operators
from gpuga.evolution.front import Front, alternatives
from gpuga.evolution.objectives import Objectives
from gpuga.evolution.population import Population, PopulationMember, cells_apart, same_pattern
from gpuga.evolution.programs import Programs
from gpuga.evolution.progress import Reporter
from gpuga.evolution.prover import Beside, News, Offers, Prover
from gpuga.evolution.prover_process import ProverProcess, worth_a_process
from gpuga.evolution.replacement import find_replacement
from gpuga.evolution.rest import Rests
from gpuga.evolution.selection import find_selection
from gpuga.evolution.stopping import Stop
from gpuga.heuristics.first import first_pattern
from gpuga.kernels.backend import kind_of
from gpuga.parameters import MOST_ON_FRONT, CircuitsParameters
from gpuga.problem.general import GeneralProblem
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Candidate, Found
from gpuga.safety.audit import judge
from gpuga.table.table import Mask
from gpuga.table.witnesses import Witnesses

FINEST = 2**35
"""The price of the heaviest cell: finer than differences that matter, and thousands of them add up without overflow."""

TIES = 1.02
"""What a cell costs that the relaxation suppresses wholly is not nothing, so that ties are ordered by weight."""

FIRST = 32
"""Individuals that are made before the first generation; the population grows from there at better prices."""

GENERATIONS_BETWEEN_PRICES = 4
"""Prices change at most so often."""

MOST_BYTES = 1 << 30
"""Memory that the patterns of a population may take, with what proves them."""

SECONDS_BETWEEN = 0.2
"""Checkpoints are not written more often than this."""


State = tuple[dict[str, Any], checkpoint.Arrays]
"""The state of a run: figures and arrays, as a checkpoint holds them."""


def prices_of(weight: NDArray[np.int64], point: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole prices: weights times what a fractional pattern leaves of each cell."""
    unit = FINEST / max(1.0, float(weight.max(initial=1)))
    return np.maximum(1, np.round(weight * (TIES - np.clip(point, 0.0, 1.0)) * unit)).astype(np.int64)


@dataclass
class Run:
    """Evolution and prover of one problem; masks are flat."""

    problem: TwoWayProblem | GeneralProblem
    kernels: Kernels
    context: Context
    parameters: CircuitsParameters
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problem, context, parameters = self.problem, self.context, self.parameters
        self.forced: Mask = problem.forced.ravel()
        self.weight = problem.weight.ravel()
        self.breeder = Breeder(
            self.kernels, context.stream(1), self._size(), frozenset(parameters.without), context.clock
        )
        self.programs = self._programs()
        self.front = self._front()
        self.points: list[tuple[NDArray[np.float64], Mask]] = []
        self.price(np.zeros(len(self.weight)), problem.candidate.ravel())
        self.toolbox = self._toolbox()
        self.paced = context.clock.seconds is None
        patience = parameters.patience_for(not self.paced)
        self.stop = Stop(context, parameters.generations, patience, parameters.improvement_rate)
        self.reporter = Reporter(problem.table, context, problem.base_cost, parameters.log, parameters.resume)
        self.folder = None if parameters.checkpoint is None else Path(parameters.checkpoint)
        self.saved, self.unsaved = -SECONDS_BETWEEN, False
        self.prover: Beside | None = None
        self.lower, self.heard, self.priced_at = 0, 0, -GENERATIONS_BETWEEN_PRICES
        self.learnt, self.arrived = "", False
        provable = isinstance(problem, GeneralProblem) and problem.weight.size <= MOST_CELLS_TO_PROVE
        self.apart = provable and "prover" not in parameters.without and worth_a_process(context.clock)
        # generations of two-way tables leave the prover a processor of its own
        self.rests = Rests(context.clock) if provable and not self.paced and not self.apart else None
        self.evolution: Evolution

    def _size(self) -> int:
        """The population size; smaller where the memory planned for it would not hold as many."""
        own = "population" in self.parameters.changed()
        wanted, most = self.parameters.population, max(2, MOST_BYTES // self.kernels.bytes_each)
        if not own:
            return min(self.kernels.usual, most)
        if most < wanted:
            said = f"the population size is reduced from {wanted} to {most} to save memory"
            warnings.warn(said, stacklevel=2)
        return min(wanted, most)

    def _programs(self) -> Programs | None:
        """Who makes children by linear programs: of general tables for which these do not take too long."""
        problem, wanted = self.problem, self.parameters
        if isinstance(problem, TwoWayProblem) or problem.weight.size > MOST_CELLS_TO_PROVE:
            return None
        if "programs" in wanted.without or wanted.objectives:  # programs know no other objective than the cost
            return None
        return Programs(problem, self.breeder, self.context)

    def _front(self) -> Front | None:
        """The front of several objectives, where some are asked for."""
        names = self.parameters.objectives
        if not names:
            return None
        return Front(Objectives(self.problem, names, self.context.likeness), self.breeder.size)

    def _toolbox(self) -> base.Toolbox:
        """The operators by their DEAP names; each may be replaced."""
        toolbox, breeder = new_toolbox(), self.breeder
        for name in ("select", "mate", "mutate", "newcomers", "survive"):
            toolbox.register(name, getattr(self.programs, name, getattr(breeder, name)))
        wanted, stream = self.parameters, breeder.stream
        if wanted.selection is not None:
            toolbox.register("select", find_selection(wanted.selection), stream=stream)
        if self.front is not None:
            toolbox.register("survive", self.front.survive)
        if wanted.replacement is not None:
            toolbox.register("survive", find_replacement(wanted.replacement, stream, cells_apart))
        toolbox.register("vary", self._vary)
        toolbox.register("replace", self._replace)
        return with_operators(toolbox, {name: self._bound(one) for name, one in self.context.operators.items()})

    def _bound(self, operator: Callable[..., Any]) -> Callable[..., Any]:
        """An operator of the user's; one of DEAP's kind is bound to this run."""
        if not isinstance(operator, DeapOperator):
            return operator
        return operator.bound(self.breeder, self.problem.candidate.ravel())

    def go(self) -> None:
        """Evolve to the end, then end the prover."""
        try:
            self.evolution = self._resumed() or self._begun()
            self.context.progress.stage("evolution", self.stop.generations)
            evolve(self.evolution, self.toolbox, self.stop, self._watch, lambda: self.lower)
        finally:
            self.end()

    def begin(self, state: State | None = None) -> None:
        """Make the first population, or go on from a state; `advance` then evolves it bit by bit, `end` ends all."""
        self.evolution = self._begun() if state is None else self._restored(*state)
        self.stop.since += 1

    def advance(self, generations: int) -> None:
        """So many generations more; fewer where proof or time ends the run, as `stop.why` then says."""
        self.stop.generations, self.stop.why = self.evolution.generation + generations, ""
        self.stop.since -= 1  # the loop begins by noting the best once more
        evolve(self.evolution, self.toolbox, self.stop, self._watch, lambda: self.lower)

    def end(self) -> None:
        """End the prover."""
        if self.prover is not None:
            self.prover.stop()

    def welcome(self, secondary: NDArray[np.bool_]) -> None:
        """Let patterns of another population, bool[k, n], compete with those of this one."""
        arrived = self.breeder.newcomers(len(secondary), self.kernels.pack(secondary))
        self.evolution.population = self._replace(self.evolution.population, arrived)
        self.evolution.hall.update(arrived.members)

    def best(self) -> Mask:
        """The cheapest secondary suppressions, flat; the prover's where it found cheaper ones at the very end."""
        search = None if self.prover is None else self.prover.search
        if search is not None and search.cost < self.evolution.best.cost:
            return np.asarray(search.best).ravel()
        return self._secondary()

    def _prover_cost(self) -> int | None:
        search = None if self.prover is None else self.prover.search
        return None if search is None else search.cost

    def found(self) -> Found:
        """The result with how it was found."""
        bound = None if self.prover is None else self.prover.bound()
        details = {"stopped": self.stop.why, "children": self.breeder.children}
        best = self.best()
        ours = self.evolution.best.population.take([self.evolution.best.place]).patterns
        own = np.array_equal(best, self._secondary())
        proof = None if self.prover is None else self.prover.proof()
        if own and (proof is None or self.evolution.best.cost != self._prover_cost()):
            proof = self.kernels.proof(ours)
        return Found(
            self.problem.pattern(best.reshape(self.problem.weight.shape)),
            bound,
            self.evolution.generation,
            self.breeder.children,
            details,
            proof,
            self._alternatives(best),
            self._on_front(),
        )

    def _alternatives(self, best: Mask) -> tuple[Candidate, ...]:
        """The cheapest of the last population that differ from the best pattern."""
        count = self.parameters.alternatives
        if not count:
            return ()
        secondary = int((best & ~self.forced).sum())
        return self._candidates(alternatives(self.kernels, self._pool(), self._one(best), secondary, count))

    def _on_front(self) -> tuple[Candidate, ...]:
        """The patterns of the last population that none is better than in everything."""
        return () if self.front is None else self._candidates(self.front.best(self._pool(), MOST_ON_FRONT))

    def _one(self, best: Mask) -> Population:
        return self.breeder.evaluated(self.kernels.pack(best.reshape(1, -1)))

    def _pool(self) -> Population:
        pool: Population = self.evolution.population
        return pool.joined(Population.of(list(self.evolution.hall)))

    def _candidates(self, chosen: Population) -> tuple[Candidate, ...]:
        shape, secondary = self.problem.weight.shape, chosen.unpacked(range(len(chosen))) & ~self.forced
        return tuple(
            Candidate(self.problem.pattern(row.reshape(shape)), self.kernels.proof(chosen.take([z]).patterns))
            for z, row in enumerate(secondary)
        )

    # --- the first population ----------------------------------------------------------------------------

    def _begun(self) -> Evolution:
        self._start_prover(Offers())
        self.context.progress.stage("seeds")
        return begin(self._first(), self.toolbox, same_pattern)

    def _start_prover(self, offers: Offers) -> None:
        if "prover" in self.parameters.without:
            return
        if self.apart and isinstance(self.problem, GeneralProblem):
            try:
                self.prover = ProverProcess(self.problem, self.context)
                return
            except OSError as fault:
                said = f"no process can be begun for the prover ({fault}); it shares this one"
                warnings.warn(said, stacklevel=2)
                self.rests = Rests(self.context.clock)
        if isinstance(self.problem, TwoWayProblem) or self.problem.weight.size <= MOST_CELLS_TO_PROVE:
            self.prover = Prover(self.problem, self.context, self.paced, offers)
        else:
            self.prover = Completer(
                self.problem, self.context, self.paced, offers, patterns_first=not self.kernels.finds_circuits
            )

    def _first(self) -> Population:
        """The user's patterns, completed, and some individuals at the weights as prices.

        Where circuits cannot be found in the back end, a pattern is made that brings its own.
        """
        given = [self.problem.secondary(pattern).ravel() for pattern in self.context.start]
        made, led = self.context.first, self._learn_from_start()
        first = self.breeder.seeded(FIRST)
        if not len(first):  # without circuits of its own, evolution would only be in the way of who finds some
            if self.prover is not None:
                self.prover.await_news()
            made = made or first_pattern(self.problem.table, self.context)
        if made is not None and not led:
            if made.proof is not None:
                self.kernels.learn(made.proof)
            given.append(self.problem.secondary(made.suppressed).ravel())
        if given:
            first = self.breeder.newcomers(len(given), self.kernels.pack(np.stack(given))).joined(first)
        return first.take(first.distinct()) if len(first) else self._handed_over()

    def _learn_from_start(self) -> bool:
        """Take circuits inside the user's patterns into the pool: without them, a safe pattern could not be kept.

        With a time limit, the cheapest safe one is what the run begins with, and has its circuits along. Returns
        whether there is one.
        """
        made = self.context.first
        if made is not None and made.proof is not None and _is_one_of(made.suppressed, self.context.start):
            return self.kernels.learn(made.proof) > 0
        learnt = 0
        if isinstance(self.problem, GeneralProblem) and self.paced:
            context = replace(self.context, progress=Silent())
            for pattern in self.context.start:
                verdict = judge(self.problem.table, pattern, context.model, proofs=True, context=context)
                learnt += 0 if verdict.proof is None else self.kernels.learn(verdict.proof.witnesses)
        return learnt > 0

    def _handed_over(self) -> Population:
        """What the prover has, where the time ended before evolution made anything of its own."""
        search = None if self.prover is None else self.prover.search
        if search is None or (self.prover is not None and self.prover.proof() is None):
            raise OutOfTime("time ran out before evolution had a pattern; allow more with --seconds")
        return self.breeder.evaluated(self.kernels.pack(np.asarray(search.best).reshape(1, -1)))

    # --- generations -------------------------------------------------------------------------------------

    def _secondary(self) -> Mask:
        return np.asarray(self.evolution.best.suppressed & ~self.forced)

    def _vary(self, population: Population) -> Population:
        """The offspring of a generation, and the prover's best pattern where that is cheaper."""
        arrived = population.take([])
        if self.prover is not None:
            news = self.prover.exchange(self._secondary(), self.evolution.best.cost)
            if news is not None and news.steps > self.heard:
                arrived = self._heed(news)
        self.arrived = len(arrived) > 0
        children = self.breeder.vary(population, self.toolbox).joined(arrived)
        self.evolution.evaluations = self.breeder.children
        return children

    def _replace(self, population: Population, offspring: Population) -> Population:
        """The survivors; an operator of DEAP's kind may return them as a list."""
        survivors: Population | list[PopulationMember] = self.toolbox.survive(population, offspring)
        return survivors if isinstance(survivors, Population) else Population.of(survivors)

    def _heed(self, news: News) -> Population:
        """Take over what the prover found."""
        if news.lower > self.lower:
            self.lower, self.stop.since = news.lower, 0  # patience is for runs of which neither end moves
        self.heard = news.steps
        if news.point.any() and self.evolution.generation - self.priced_at >= GENERATIONS_BETWEEN_PRICES:
            self.priced_at = self.evolution.generation
            self.price(news.point, news.core)
        if news.circuits is not None and (name := _name_of(news.circuits)) != self.learnt:
            self.learnt = name
            self.kernels.learn(news.circuits)
        if news.cost >= self.evolution.best.cost:
            nobody: Population = self.evolution.population.take([])
            return nobody
        return self.breeder.newcomers(1, self.kernels.pack(np.asarray(news.best).reshape(1, -1)))

    def price(self, point: NDArray[np.float64], core: Mask) -> None:
        """Decode at the prices of another point of the relaxation; the latest few are kept."""
        self.points = [(point, core), *self.points][: self.breeder.SNAPSHOTS]
        prices = [prices_of(self.weight, one) for one, _ in self.points]
        if self.front is not None:  # some children are led by what else counts
            prices += [prices_of(weight, np.zeros(len(weight))) for weight in self.front.objectives.prices()]
        self.breeder.price(prices, core)
        if self.programs is not None:
            self.programs.point = point

    def _watch(self, evolution: Evolution) -> None:
        self.reporter.tell(evolution, self.lower, self._diversity(evolution.population), children=self.breeder.children)
        if self.context.on_generation is not None:
            self.context.on_generation(evolution)
        now = self.context.clock.spent()
        if self.folder is not None and now - self.saved >= SECONDS_BETWEEN:
            self.saved = now
            self._save(self.folder)
        if self.rests is not None and self.prover is not None and not self.prover.ended:
            self.rests.after(evolution.best.cost, self.arrived)

    def _diversity(self, population: Population) -> float:
        """How many cells individuals differ from the best in, as a share of what two patterns of its size could."""
        best = population.take([int(np.argmin(population.costs))])
        cells = max(1, int(best.unpacked([0]).sum()) - int(self.forced.sum()))
        apart = self.breeder.kernels.nearest(population.patterns, best.patterns)
        return float(np.minimum(apart, 2 * cells).mean()) / (2 * cells)

    # --- checkpoints -------------------------------------------------------------------------------------

    def state(self) -> State:
        """Everything that `begin` needs to go on from here."""
        run = self.evolution
        figures = {
            "fingerprint": checkpoint.fingerprint(self.problem.table, self.settings),
            "backend": kind_of(self.context.backend),
            "device": device_used(self.context.backend),
            "generation": run.generation,
            "children": self.breeder.children,
            "position": self.breeder.stream.position,
            "since": self.stop.since,
            "heard": self.heard,
            "priced_at": self.priced_at,
            "learnt": self.learnt,
        }
        offers = Offers() if self.prover is None else self.prover.offers
        arrays = {
            **self._named("population", run.population),
            **self._named("hall", Population.of(list(run.hall))),
            **{f"memory_{part}": array for part, array in self.kernels.memory().items()},
            "points": np.stack([point for point, _ in self.points]),
            "cores": np.packbits([core for _, core in self.points], axis=1),
            "lower": np.array([self.lower]),
            **offers.arrays(len(self.weight)),
        }
        return figures, arrays

    def _save(self, folder: Path) -> None:
        self.unsaved = checkpoint.save_or_say(folder, self.evolution.generation, self.state(), self.unsaved)

    def _named(self, name: str, group: Population) -> checkpoint.Arrays:
        return {f"{name}_{part}": array for part, array in self.kernels.arrays(group.patterns).items()}

    def _group(self, name: str, arrays: checkpoint.Arrays) -> Population:
        return self.breeder.evaluated(self.kernels.of_arrays(checkpoint.part(name, arrays)))

    def _resumed(self) -> Evolution | None:
        """The run where its latest checkpoint left it; None if there is none to resume from."""
        if self.folder is None or not self.parameters.resume:
            return None
        loaded = checkpoint.load(self.folder)
        return None if loaded is None else self._restored(*loaded)

    def _restored(self, figures: dict[str, Any], arrays: checkpoint.Arrays) -> Evolution:
        self.context.progress.stage("resume")
        offers = Offers.of(arrays, len(self.weight), figures["heard"] if self.paced else 0)
        self._start_prover(offers)
        self.kernels.remember(checkpoint.part("memory", arrays))
        self.breeder.stream.position = figures["position"]
        self.breeder.children = figures["children"]
        self.lower, self.priced_at, self.learnt = int(arrays["lower"][0]), figures["priced_at"], figures["learnt"]
        self.heard = figures["heard"] if self.paced else 0
        cores = np.unpackbits(arrays["cores"], axis=1)[:, : len(self.weight)].astype(bool)
        self.points = []
        for point, core in zip(arrays["points"][::-1], cores[::-1], strict=True):
            self.price(point, core)
        return self._revived(figures, arrays)

    def _revived(self, figures: dict[str, Any], arrays: checkpoint.Arrays) -> Evolution:
        population, hall = (self._group(name, arrays) for name in ("population", "hall"))
        evolution = begin(population, self.toolbox, same_pattern)
        evolution.hall.clear()
        for member in reversed(hall.members):
            evolution.hall.update([member])
        evolution.generation = figures["generation"]
        self.stop.best, self.stop.since = evolution.best.cost, figures["since"] - 1
        self.saved = self.context.clock.spent()
        return evolution


def _is_one_of(pattern: Mask, others: Sequence[Mask]) -> bool:
    return any(np.array_equal(pattern, other) for other in others)


def _name_of(circuits: Witnesses) -> str:
    """What circuits are told apart by: a run that is resumed does not learn the same ones twice."""
    parts = (circuits.start.tobytes(), circuits.cell.tobytes(), repr(circuits.amount.tolist()).encode())
    return hashlib.sha256(b"".join(parts)).hexdigest()
