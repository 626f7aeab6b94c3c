"""Individuals for DEAP: an exact cost as fitness, genes that never alias, no `creator`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from deap import base
from numpy.typing import ArrayLike, NDArray

from gpuga.errors import GpugaError

Genes = NDArray[np.int32]


class Cost(base.Fitness):  # type: ignore[misc]
    """A cost to be minimised, kept as a Python integer so that large costs compare exactly.

    DEAP's own fitness accepts NaN, which then wins or loses every comparison at random; this one refuses it.
    """

    weights = (-1,)

    def _set(self, values: Sequence[Any]) -> None:
        if any(isinstance(v, float) and not math.isfinite(v) for v in values):
            raise GpugaError("an individual's cost is not a number")
        base.Fitness.setValues(self, values)

    def _get(self) -> tuple[int, ...]:
        return tuple(-value for value in self.wvalues)  # DEAP divides by the weights, which rounds

    values = property(_get, _set, base.Fitness.delValues)


class Individual:
    """One circuit of the pool per task (`genes` int32[T], -1 where none is needed) and its fitness.

    `row` is the individual's row in the latest evaluation. Slices are copies: with views, DEAP's crossovers
    `a[i:j], b[i:j] = b[i:j], a[i:j]` would lose one parent's genes.
    """

    __slots__ = ("fitness", "genes", "row")

    def __init__(self, genes: ArrayLike) -> None:
        self.genes: Genes = np.array(genes, np.int32)
        self.fitness = Cost()
        self.row = -1

    @property
    def cost(self) -> int:
        """The cost, in units of the table's weights."""
        return int(self.fitness.values[0])

    def __len__(self) -> int:
        return len(self.genes)

    def __getitem__(self, at: int | slice) -> Any:
        taken = self.genes[at]
        return taken.copy() if isinstance(taken, np.ndarray) else int(taken)

    def __setitem__(self, at: int | slice, value: ArrayLike) -> None:
        self.genes[at] = value

    def __deepcopy__(self, memo: dict[int, Any]) -> Individual:
        twin = Individual(self.genes)
        twin.row = self.row
        if self.fitness.valid:
            twin.fitness.values = self.fitness.values
        return twin


def same_genes(one: Individual, other: Individual) -> bool:
    """Whether two individuals are the same, for DEAP's hall of fame."""
    return bool(np.array_equal(one.genes, other.genes))


def whole_group(evaluate: Callable[[Sequence[Any]], Iterable[Any]], group: Sequence[Any]) -> list[Any]:
    """The `map` of our toolboxes: the whole group goes to `evaluate` in one call.

    A result that is too short would silently shrink the population in DEAP's loops; here it is refused.
    """
    results = list(evaluate(group))
    if len(results) != len(group):
        raise GpugaError(f"the evaluation returned {len(results)} results for {len(group)} individuals")
    return results


def assign(toolbox: base.Toolbox, group: Sequence[Any]) -> int:
    """Evaluate the individuals of a group that have no valid fitness, in one call; returns how many."""
    fresh = [individual for individual in group if not individual.fitness.valid]
    if fresh:
        for individual, values in zip(fresh, toolbox.map(toolbox.evaluate, fresh), strict=True):
            individual.fitness.values = values
    return len(fresh)
