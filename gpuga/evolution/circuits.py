"""The method `circuits`: prepare a table, evolve patterns, return the best with its bound."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds.incumbent import BY_CUTS, BY_TREE
from gpuga.bounds.small_instance import small, solve_small
from gpuga.bounds.tree import prove
from gpuga.context import Clock, Context
from gpuga.errors import InputError
from gpuga.evolution import checkpoint, replacement, selection
from gpuga.evolution.circuits_ga import Circuits, circuits_toolbox, diversity
from gpuga.evolution.engine import Evolution, begin, evolve
from gpuga.evolution.individual import Individual
from gpuga.evolution.plane_workshop import PlaneWorkshop
from gpuga.evolution.pool import CircuitPool
from gpuga.evolution.progress import Reporter
from gpuga.evolution.stopping import Stop
from gpuga.evolution.table_workshop import TableWorkshop
from gpuga.kernels import Stream, get_backend
from gpuga.parameters import CircuitsParameters
from gpuga.problem.problem import problem_for
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Bound, Found
from gpuga.table.table import Mask, Table

LEAST_PROOF_SECONDS, MOST_PROOF_SECONDS = 1.0, 20.0
"""How long the exact confirmation of an optimum may take, when the time is up and when there is plenty."""

SECONDS_BETWEEN = 0.2
"""Checkpoints are not written more often than this."""

MOST_COUNTS = 64_000_000
"""Use counts (population times columns) that are kept at once; larger tables get smaller populations."""


def circuits(table: Table, context: Context, parameters: CircuitsParameters = CircuitsParameters()) -> Found:
    """The best pattern that evolution finds; ends at proof, or as the parameters say."""
    if parameters.checkpoint is None:
        return _circuits(table, context, parameters)
    folder = Path(parameters.checkpoint)
    with checkpoint.claimed(folder):
        _refuse_others(folder, checkpoint.fingerprint(table, settings_of(context, parameters)))
        return _circuits(table, context, parameters)


def _refuse_others(folder: Path, fingerprint: str) -> None:
    """Neither resume from checkpoints of something else nor mix them with our own."""
    owner = checkpoint.owner(folder)
    if owner is not None and owner != fingerprint:
        what = "its checkpoints belong to another table, seed, parameter or version: name another folder"
        raise InputError(what, path=folder, field="--checkpoint")


def _circuits(table: Table, context: Context, parameters: CircuitsParameters) -> Found:
    problem = problem_for(table, context.strict, context.clock)
    if isinstance(problem, TwoWayProblem):
        return _plane_circuits(table, problem, context, parameters)
    workshop = TableWorkshop(table, context)
    run = Run(table, workshop, context, table.cost(table.forced), parameters)
    run.go()
    master = workshop.master
    limit = None
    if master is not None:
        limit = Bound(table.cost(table.forced) + master.bound, BY_CUTS, context.clock.spent(), root=master)
    proof = workshop.proof(run.operators.pool.supports(run.evolution.best.genes))
    return replace(run.found(table.forced | run.best(), limit), proof=proof)


def _plane_circuits(table: Table, problem: TwoWayProblem, context: Context, parameters: CircuitsParameters) -> Found:
    if not len(problem.levels.place):
        nothing = np.zeros(problem.shape, bool)
        return Found(problem.pattern(nothing), Bound(problem.base_cost, "nothing to protect"))
    given = settings_of(context, parameters)
    if small(problem) and not parameters.changed():  # whoever changes parameters of the evolution wants to see it
        context.progress.stage("exact solution")
        short = solve_small(problem, context.clock.part(0.5))
        pattern = problem.pattern(short.best)
        if short.proven or context.clock.expired():
            kind = BY_TREE if short.proven else BY_CUTS
            limit = Bound(problem.base_cost + short.lower, kind, context.clock.spent(), root=short.master)
            _reporter(table, context, problem.base_cost, parameters).tell_settled(short.cost, short.lower)
            ended = "interrupt" if context.clock.interrupted else "seconds"
            return Found(pattern, limit, details={"stopped": "proof" if short.proven else ended})
        context = replace(context, start=(*context.start, pattern))
    workshop = PlaneWorkshop(problem, context)
    run = Run(table, workshop, context, problem.base_cost, parameters, given)
    run.go()
    best = run.best().reshape(problem.shape)
    bound = _bound(problem, workshop, problem.cost(best & ~problem.forced), context)
    return run.found(problem.pattern(best), bound)


def _bound(problem: TwoWayProblem, workshop: PlaneWorkshop, cost: int, context: Context) -> Bound | None:
    """The best bound that holds in exact arithmetic; None where there is none yet.

    Where the solver's branch and bound says that the pattern is optimal, an exact tree is asked to confirm it.
    """
    master = workshop.master
    if master is None:
        return None
    if workshop.branched > master.bound and workshop.branched >= cost:
        clock = Clock(min(max(context.clock.left(), LEAST_PROOF_SECONDS), MOST_PROOF_SECONDS))
        if prove(master, Settled(cost), clock).closed:
            return Bound(problem.base_cost + cost, BY_TREE, context.clock.spent(), root=master)
    return Bound(problem.base_cost + master.bound, BY_CUTS, context.clock.spent(), root=master)


@dataclass
class Settled:
    """The incumbent of a proof that looks for no better pattern."""

    cost: int

    def try_point(self, x: NDArray[np.float64]) -> int:
        """The pattern stays."""
        return self.cost


class Run:
    """One run of `circuits` from seeds or from a checkpoint to the end."""

    def __init__(
        self,
        table: Table,
        workshop: PlaneWorkshop | TableWorkshop,
        context: Context,
        base: int = 0,
        parameters: CircuitsParameters = CircuitsParameters(),
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.table, self.workshop, self.context, self.parameters = table, workshop, context, parameters
        self.settings = settings or settings_of(context, parameters)
        self.operators = Circuits(
            workshop,
            context,
            get_backend(context.backend),
            CircuitPool(workshop.tasks, workshop.weight),
            Stream(context.seed, 1),
            frozenset(parameters.without),
            parameters.refined,
        )
        self.toolbox = circuits_toolbox(self.operators)
        self._choose_strategies()
        patience = parameters.patience_for(isinstance(workshop, PlaneWorkshop), context.clock.seconds is not None)
        self.stop = Stop.of(context, replace(parameters, patience=patience))
        self.reporter = _reporter(table, context, base, parameters)
        self.folder = None if parameters.checkpoint is None else Path(parameters.checkpoint)
        self.saved = -SECONDS_BETWEEN
        self.unsaved = False
        self.evolution: Evolution

    def _choose_strategies(self) -> None:
        """The user's selection and replacement instead of our own."""
        wanted, stream = self.parameters, self.operators.stream
        if wanted.selection is not None:
            self.toolbox.register("select", selection.find_selection(wanted.selection), stream=stream)
        if wanted.replacement is not None:
            distance = lambda a, b: int((a.genes != b.genes).sum())  # noqa: E731
            self.toolbox.register("survive", replacement.find_replacement(wanted.replacement, stream, distance))

    def go(self) -> None:
        """Evolve to the end."""
        self.evolution = self._resumed() or self._begun()
        self.operators.hall = self.evolution.hall
        self.operators.settle(self.evolution.population)
        self.context.progress.stage("evolution", self.stop.generations)
        evolve(self.evolution, self.toolbox, self.stop, self._watch, lambda: self.workshop.lower)

    def best(self) -> Mask:
        """The cells of the best individual."""
        return self.operators.pool.union(self.evolution.best.genes)

    def found(self, suppressed: Mask, bound: Bound | None) -> Found:
        """The result with how it was found."""
        launches = {f"launches_{name}": count for name, count in self.operators.launches.items()}
        details = {"stopped": self.stop.why, "pool": len(self.operators.pool), **launches}
        return Found(suppressed, bound, self.evolution.generation, self.evolution.evaluations, details)

    def _begun(self) -> Evolution:
        size = self.parameters.population
        population = self.operators.first(size, MOST_COUNTS)
        if "population" in self.parameters.changed() and len(population) < size:
            said = f"the population size is reduced from {size} to {len(population)} to save memory and time"
            warnings.warn(said, stacklevel=2)
        return begin(population, self.toolbox)

    def _watch(self, evolution: Evolution) -> None:
        apart = diversity(evolution.population)
        self.reporter.tell(evolution, self.workshop.lower, apart, pool=len(self.operators.pool))
        now = self.context.clock.spent()
        if self.folder is not None and now - self.saved >= SECONDS_BETWEEN:
            self.saved = now
            self._save()

    # --- checkpoints -----------------------------------------------------------------------------------

    def _fingerprint(self) -> str:
        return checkpoint.fingerprint(self.table, self.settings)

    def _save(self) -> None:
        run, operators = self.evolution, self.operators
        pool = operators.pool.arrays()
        figures = {
            "fingerprint": self._fingerprint(),
            "generation": run.generation,
            "evaluations": run.evaluations,
            "position": operators.stream.position,
            "since": self.stop.since,
            "width": operators.pool.width,
        }
        arrays = {
            "genes": np.stack([individual.genes for individual in run.population]),
            "hall": np.stack([individual.genes for individual in run.hall]),
            "pool_cells": operators.pool.cells,
            "pool_start": pool.start,
            "pool_cell": pool.cell,
            "pool_task": operators.pool.task,
            **self.workshop.memory(),
        }
        assert self.folder is not None
        try:
            checkpoint.save(self.folder, run.generation, figures, arrays)
        except OSError as fault:
            if not self.unsaved:
                said = f"checkpoints cannot be written ({fault.strerror}): continuing without them"
                warnings.warn(said, stacklevel=2)
            self.unsaved = True

    def _resumed(self) -> Evolution | None:
        """The run where its latest checkpoint left it; None if there is none to resume from."""
        if self.folder is None or not self.parameters.resume:
            return None
        loaded = checkpoint.load(self.folder)
        if loaded is None:
            return None
        figures, arrays = loaded
        _refuse_others(self.folder, self._fingerprint())
        self.context.progress.stage("resume")
        self.operators.stream.position = figures["position"]
        self.operators.pool = CircuitPool.of(
            self.workshop.tasks,
            self.workshop.weight,
            arrays["pool_cells"],
            figures["width"],
            arrays["pool_start"],
            arrays["pool_cell"],
            arrays["pool_task"],
        )
        self.workshop.remember(arrays)
        return self._revived(figures, arrays)

    def _revived(self, figures: dict[str, Any], arrays: checkpoint.Arrays) -> Evolution:
        evolution = begin([Individual(genes) for genes in arrays["genes"]], self.toolbox)
        famous = [Individual(genes) for genes in arrays["hall"]]
        for one, values in zip(famous, self.operators.evaluate(famous), strict=True):
            one.fitness.values = values
        evolution.hall.clear()
        for one in reversed(famous):
            evolution.hall.update([one])
        self.operators.evaluate(evolution.population)  # their use counts, again
        evolution.generation, evolution.evaluations = figures["generation"], figures["evaluations"]
        self.operators.generation = figures["generation"]
        self.stop.best, self.stop.since = evolution.best.cost, figures["since"] - 1
        self.saved = self.context.clock.spent()
        return evolution


def _reporter(table: Table, context: Context, base: int, parameters: CircuitsParameters) -> Reporter:
    return Reporter(table, context, base, parameters.log, parameters.resume)


def settings_of(context: Context, parameters: CircuitsParameters = CircuitsParameters()) -> dict[str, Any]:
    """What shapes a run besides its table: method, attacker, seed, patterns to start from, parameters of the search.

    Stops may change from run to run, and so may the machine and what is found first in the time that it has.
    """
    given = [hashlib.sha256(pattern.tobytes()).hexdigest() for pattern in context.start]
    return {
        "method": parameters.method,
        "seed": context.seed,
        "attacker": asdict(context.model),
        "start": given,
        "parameters": parameters.values(["search"]),
    }
