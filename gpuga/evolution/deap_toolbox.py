"""A table as DEAP's own algorithms see it: individuals are lists of 0 and 1, one per cell that may be suppressed.

`deap.algorithms.eaSimple`, `eaMuPlusLambda` and DEAP's operators (`cxTwoPoint`, `cxUniform`, `mutShuffleIndexes`,
`selTournament`, `selNSGA2`, ...) work on them as they are. Evaluation takes all new individuals at once: each is
completed to a safe pattern and freed of redundant cells in the back end, and keeps what came of it. DEAP draws from
Python's global generator: `random.seed` makes a run repeatable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from deap import base, tools
from numba import get_num_threads
from numpy.typing import NDArray

from gpuga.context import Context
from gpuga.errors import GpugaError, InputError
from gpuga.evolution.breeding import Breeder
from gpuga.evolution.engine import new_toolbox
from gpuga.evolution.individual import fitness_of
from gpuga.evolution.kernels import kernels_of
from gpuga.evolution.objectives import Objectives
from gpuga.evolution.population import Population
from gpuga.evolution.run import prices_of
from gpuga.problem.problem import problem_for
from gpuga.table.table import Table


class Bits(list[int]):
    """A pattern over the cells that may be suppressed, with its fitness."""

    def __init__(self, values: Sequence[int], objectives: int = 1) -> None:
        super().__init__(values)
        self.fitness = fitness_of(objectives)()

    def __deepcopy__(self, memo: dict[int, Any]) -> Bits:
        twin = Bits(self, len(self.fitness.weights))
        if self.fitness.valid:
            twin.fitness.values = self.fitness.values
        return twin


class DeapTable:
    """The operators of one table in DEAP's form."""

    def __init__(self, table: Table, context: Context, objectives: Sequence[str]) -> None:
        self.table = table
        self.problem = problem_for(table, context.strict, context.clock)
        if self.problem.done:
            raise InputError("nothing has to be protected in this table", field="table")
        self.objectives = Objectives(self.problem, objectives, context.likeness)
        self.cells = np.flatnonzero(self.problem.candidate)
        self.kernels = kernels_of(self.problem, context, get_num_threads())  # no prover is beside them
        self.breeder = Breeder(self.kernels, context.stream(1), 1)
        weight = self.problem.weight.ravel()
        self.breeder.price([prices_of(weight, np.zeros(len(weight)))], self.problem.candidate.ravel())

    def individual(self) -> Bits:
        """A safe pattern, made from nothing."""
        return self._bits(self.breeder.newcomers(1))[0]

    def population(self, n: int) -> list[Bits]:
        """Some of them, made at once."""
        return self._bits(self.breeder.newcomers(n))

    def evaluate(self, group: Sequence[Bits]) -> list[tuple[int, ...]]:
        """Complete and clean a whole group in one call; every individual becomes what came of it."""
        start = np.zeros((len(group), self.problem.weight.size), bool)
        start[:, self.cells] = np.array(group, bool)
        made = self.breeder.newcomers(len(group), self.kernels.pack(start))
        if len(made) < len(group):
            raise GpugaError("a pattern could not be completed: some requirement cannot be led")
        for one, other in zip(group, self._bits(made), strict=True):
            one[:] = other
        return [tuple(row) for row in self.objectives.values(made).tolist()]

    def pattern(self, individual: Sequence[int]) -> NDArray[np.bool_]:
        """The whole pattern of an evaluated individual, per cell of the table."""
        secondary = np.zeros(self.problem.weight.size, bool)
        secondary[self.cells[np.array(individual, bool)]] = True
        return np.asarray(self.problem.pattern(secondary.reshape(self.problem.weight.shape)))

    def _bits(self, population: Population) -> list[Bits]:
        patterns = population.unpacked(range(len(population)))[:, self.cells]
        return [Bits(row.astype(int).tolist(), len(self.objectives.names)) for row in patterns]


def deap_toolbox(
    table: Table, *, seed: int = 0, objectives: Sequence[str] = ("cost",), context: Context | None = None
) -> base.Toolbox:
    """A toolbox for DEAP's algorithms: `population(n)`, `individual()`, `evaluate`, `mate`, `mutate`, `select`.

    `pattern(individual)` gives an individual's pattern per cell of the table. All operators may be registered anew.
    """
    own, toolbox = DeapTable(table, context or Context(seed=seed), objectives), new_toolbox()
    for name in ("individual", "population", "evaluate", "pattern"):
        toolbox.register(name, getattr(own, name))
    toolbox.register("mate", tools.cxUniform, indpb=0.5)
    toolbox.register("mutate", tools.mutShuffleIndexes, indpb=0.02)
    if len(own.objectives.names) > 1:
        toolbox.register("select", tools.selNSGA2)
    else:
        toolbox.register("select", tools.selTournament, tournsize=3)
    return toolbox
