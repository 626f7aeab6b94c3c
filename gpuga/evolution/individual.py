"""What individuals of every method have in common for DEAP: an exact cost as fitness, evaluation of whole groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from deap import base

from gpuga.errors import GpugaError


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


def fitness_of(objectives: int) -> type[Cost]:
    """The class of fitnesses with that many objectives, all minimised."""
    return Cost if objectives == 1 else type("Costs", (Cost,), {"weights": (-1,) * objectives})


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
