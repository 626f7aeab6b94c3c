"""The method `circuits`: prepare a table, evolve patterns beside the prover, return the best with its bound."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from gpuga.bounds.incumbent import BY_CUTS, BY_TREE, Best
from gpuga.bounds.search import BranchAndCut
from gpuga.bounds.small_instance import small, solve_small
from gpuga.context import Context
from gpuga.errors import InputError
from gpuga.evolution import checkpoint
from gpuga.evolution.breeding import Kernels
from gpuga.evolution.kernels import kernels_of
from gpuga.evolution.progress import Reporter
from gpuga.evolution.run import Run
from gpuga.parameters import CircuitsParameters
from gpuga.problem.problem import TableProblem, problem_for
from gpuga.problem.two_way import TwoWayProblem
from gpuga.protection import Bound, Found
from gpuga.table.table import Table

MOST_CELLS, STEPS = 500, 60
"""General tables up to this size are searched exactly at first, in so many steps."""


def circuits(table: Table, context: Context, parameters: CircuitsParameters = CircuitsParameters()) -> Found:
    """The best pattern that evolution and prover find; ends at proof, or as the parameters say."""
    settings = settings_of(context, parameters)
    if parameters.checkpoint is None:
        return _circuits(table, context, parameters, settings)
    folder = Path(parameters.checkpoint)
    with checkpoint.claimed(folder):
        refuse_others(folder, checkpoint.fingerprint(table, settings))
        return _circuits(table, context, parameters, settings)


def refuse_others(folder: Path, fingerprint: str) -> None:
    """Neither resume from checkpoints of something else nor mix them with our own."""
    owner = checkpoint.owner(folder)
    if owner is not None and owner != fingerprint:
        what = "its checkpoints belong to another table, seed, parameter or version: name another folder"
        raise InputError(what, path=folder, field="--checkpoint")


def _circuits(table: Table, context: Context, parameters: CircuitsParameters, settings: dict[str, Any]) -> Found:
    problem = problem_for(table, context.strict, context.clock)
    if problem.done:
        nothing = np.zeros(problem.weight.shape, bool)
        return Found(problem.pattern(nothing), Bound(problem.base_cost, "nothing to protect"))
    # whoever changes parameters of the evolution wants to see it, and alternatives need a population
    if is_small(problem) and not parameters.changed() and not parameters.alternatives:
        settled, found = _settled(problem, context, parameters)
        if settled:
            return found
        context = replace(context, start=(*context.start, found.suppressed))
    run = Run(problem, kernels_of(problem, context), context, parameters, settings)
    run.go()
    return run.found()


def prepared(
    table: Table, context: Context, parameters: CircuitsParameters, watched: Callable[[Kernels], Kernels]
) -> Run:
    """A run that is not begun, with its operations watched by somebody, such as a measurement."""
    problem = problem_for(table, context.strict, context.clock)
    return Run(problem, watched(kernels_of(problem, context)), context, parameters)


def is_small(problem: TableProblem) -> bool:
    """Whether a short exact search may settle a problem, before anything longer is begun or even compiled."""
    return small(problem) if isinstance(problem, TwoWayProblem) else problem.weight.size <= MOST_CELLS


def _short_search(problem: TableProblem, context: Context) -> Best:
    """A few steps of the exact search: a count, so that the outcome does not depend on the machine."""
    if isinstance(problem, TwoWayProblem):
        return solve_small(problem, context.clock.part(0.5))
    search = BranchAndCut(problem, replace(context, clock=context.clock.part(0.5)))
    for step, _ in enumerate(search.steps()):
        if search.proven or step >= STEPS:
            break
    search.proven_bound()
    return search


def _settled(problem: TableProblem, context: Context, parameters: CircuitsParameters) -> tuple[bool, Found]:
    """What a short exact search finds, and whether that ends the run."""
    context.progress.stage("exact solution")
    short = _short_search(problem, context)
    kind = BY_TREE if short.proven else BY_CUTS
    bound = Bound(problem.base_cost + short.lower, kind, context.clock.spent(), root=short.master)
    ended = "interrupt" if context.clock.interrupted else "seconds"
    found = Found(problem.pattern(short.best), bound, details={"stopped": "proof" if short.proven else ended})
    over = short.proven or context.clock.expired()
    if over:
        reporter = Reporter(problem.table, context, problem.base_cost, parameters.log, parameters.resume)
        reporter.tell_settled(short.cost, short.lower)
    return over, found


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
