"""The method `circuits`: prepare a table, evolve patterns, return the best with its bound."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gpuga.bounds.incumbent import BY_CUTS
from gpuga.context import Context
from gpuga.evolution import checkpoint, replacement, selection
from gpuga.evolution.circuits_ga import Circuits, circuits_toolbox, diversity
from gpuga.evolution.engine import Evolution, begin, evolve
from gpuga.evolution.individual import Individual
from gpuga.evolution.pool import CircuitPool
from gpuga.evolution.progress import Reporter
from gpuga.evolution.stopping import Stop
from gpuga.evolution.table_workshop import TableWorkshop
from gpuga.kernels import Stream, get_backend
from gpuga.parameters import CircuitsParameters
from gpuga.protection import Bound, Found
from gpuga.table.table import Mask, Table

LEAST_PROOF_SECONDS, MOST_PROOF_SECONDS = 1.0, 20.0
"""How long the exact confirmation of an optimum may take, when the time is up and when there is plenty."""

SECONDS_BETWEEN = 0.2
"""Checkpoints are not written more often than this."""

MOST_COUNTS = 64_000_000
"""Use counts (population times columns) that are kept at once; larger tables get smaller populations."""


def table_circuits(table: Table, context: Context, parameters: CircuitsParameters, settings: dict[str, Any]) -> Found:
    """The best pattern of any linear table; ends at proof, or as the parameters say."""
    workshop = TableWorkshop(table, context)
    run = Run(table, workshop, context, table.cost(table.forced), parameters, settings)
    run.go()
    master = workshop.master
    limit = None
    if master is not None:
        limit = Bound(table.cost(table.forced) + master.bound, BY_CUTS, context.clock.spent(), root=master)
    proof = workshop.proof(run.operators.pool.supports(run.evolution.best.genes))
    return replace(run.found(table.forced | run.best(), limit), proof=proof)


class Run:
    """One run of `circuits` from seeds or from a checkpoint to the end."""

    def __init__(
        self,
        table: Table,
        workshop: TableWorkshop,
        context: Context,
        base: int = 0,
        parameters: CircuitsParameters = CircuitsParameters(),
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.table, self.workshop, self.context, self.parameters = table, workshop, context, parameters
        self.settings = settings or {}
        self.operators = Circuits(
            workshop,
            context,
            get_backend(context.backend),
            CircuitPool(workshop.tasks, workshop.weight),
            Stream(context.seed, 1),
            frozenset(),
            4,
        )
        self.toolbox = circuits_toolbox(self.operators)
        self._choose_strategies()
        patience = parameters.patience_for(context.clock.seconds is not None)
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
