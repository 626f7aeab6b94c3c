"""The method `circuits`, on one population or on islands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from gpuga.cluster.workers import find_workers
from gpuga.context import Context
from gpuga.errors import InputError
from gpuga.evolution import checkpoint
from gpuga.evolution.circuits import circuits as one_population
from gpuga.evolution.circuits import refuse_others, settings_of
from gpuga.evolution.kernels import kernels_of
from gpuga.parameters import CircuitsParameters
from gpuga.problem.problem import TableProblem, problem_for
from gpuga.protection import Bound, Found, ToldCuts
from gpuga.table.table import Mask, Table
from gpuga.table.witnesses import Witnesses

BY_ISLANDS = "the prover beside the islands"


def circuits(table: Table, context: Context, parameters: CircuitsParameters = CircuitsParameters()) -> Found:
    """The best pattern of one population, or of all islands."""
    if parameters.islands is None:
        return one_population(table, context, parameters)
    _refuse(context, parameters)
    settings = settings_of(context, parameters)
    if parameters.checkpoint is None:
        return _islands(table, context, parameters, "")
    folder, fingerprint = Path(parameters.checkpoint), checkpoint.fingerprint(table, settings)
    with checkpoint.claimed(folder):
        refuse_others(folder, fingerprint)
        return _islands(table, context, parameters, fingerprint)


def _refuse(context: Context, parameters: CircuitsParameters) -> None:
    """Refuse what cannot be sent to islands or brought back from them."""
    if context.operators or context.on_generation:
        raise InputError("functions of this process cannot be used on islands", field="operators")
    impossible = {
        "--front": parameters.objectives,
        "--alternatives": parameters.alternatives,
        "--improvement-rate": parameters.improvement_rate is not None,
    }
    for name, given in impossible.items():
        if given:
            raise InputError("is not possible with --islands", field=name)


def _islands(table: Table, context: Context, parameters: CircuitsParameters, fingerprint: str) -> Found:
    from gpuga.cluster.islands import Islands

    problem = problem_for(table, context.strict, context.clock)
    if problem.done:
        nothing = np.zeros(problem.weight.shape, bool)
        return Found(problem.pattern(nothing), Bound(problem.base_cost, "nothing to protect"))
    with find_workers(parameters.cluster, parameters.islands or 1) as workers:
        islands = Islands(problem, context, parameters, workers, fingerprint)
        islands.go()
    assert islands.best is not None, "else it had raised OutOfTime"
    details = {"stopped": islands.why, "children": islands.children, "sent": islands.sent, "received": islands.received}
    bound = None
    if islands.lower > 0:
        root = ToldCuts(problem.table, islands.cuts)
        bound = Bound(problem.base_cost + islands.lower, BY_ISLANDS, context.clock.spent(), root=root)
    return Found(
        problem.pattern(islands.best),
        bound,
        islands.generation,
        islands.children,
        details,
        _proof(problem, islands.best, context),
    )


def _proof(problem: TableProblem, best: Mask, context: Context) -> Witnesses | None:
    """Circuits that prove the pattern, as far as they are found here again: islands do not send amounts."""
    kernels = kernels_of(problem, replace(context, clock=context.clock.finishing()))
    patterns = kernels.pack(best.reshape(1, -1))
    kernels.safe(patterns)
    return kernels.proof(patterns)
