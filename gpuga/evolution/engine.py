"""The loop, on DEAP: a toolbox says how to vary, evaluate and replace; one evaluation per generation.

The toolbox has `map`, `evaluate`, `vary(population) -> offspring` and `replace(population, offspring)`; `vary` is
usually made of `select`, `mate` and `mutate`, each of which a DEAP user can replace by his own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import Any

import numpy as np
from deap import base, tools

from gpuga.errors import InputError, OutOfTime, printable
from gpuga.evolution.individual import assign, whole_group
from gpuga.evolution.population import Population
from gpuga.evolution.selection import costs_of
from gpuga.evolution.stopping import Stop

HALL = 8


@dataclass
class Evolution:
    """A run: the population, the hall of fame and DEAP's logbook, one record per generation."""

    population: Any
    hall: Any
    logbook: Any = field(default_factory=tools.Logbook)
    generation: int = 0
    evaluations: int = 0

    @property
    def best(self) -> Any:
        """The best individual ever seen."""
        return self.hall[0]


Watch = Callable[[Evolution], None]


def new_toolbox() -> base.Toolbox:
    """A toolbox whose `map` sends the whole group to `evaluate` in one call."""
    toolbox = base.Toolbox()
    toolbox.register("map", whole_group)
    return toolbox


def with_operators(toolbox: base.Toolbox, operators: Mapping[str, Callable[..., Any]]) -> base.Toolbox:
    """The toolbox with the user's operators; a name that it does not have is refused."""
    names = [name for name in vars(toolbox) if name not in ("clone", "map")]
    for name, operator in operators.items():
        if name not in names:
            known = ", ".join(sorted(names))
            raise InputError(f"there is no operator {printable(name)!r}; choose from {known}", field="operators")
        toolbox.register(name, operator)
    return toolbox


def begin(population: Sequence[Any], toolbox: base.Toolbox, similar: Callable[[Any, Any], bool] = eq) -> Evolution:
    """Evaluate the first population."""
    group = population if isinstance(population, Population) else list(population)
    run = Evolution(group, tools.HallOfFame(HALL, similar))
    run.evaluations += assign(toolbox, run.population)
    _note(run, run.population)
    return run


def evolve(
    run: Evolution, toolbox: base.Toolbox, stop: Stop, watch: Watch, lower: Callable[[], int | None]
) -> Evolution:
    """Generations until `stop` says so; `watch` is called after each of them, `lower` is a proven bound.

    A generation that the end of the time catches is left out.
    """
    stop.note(run.best.fitness.values[0])
    while not stop.reached(run.generation, lower()):
        try:
            offspring = toolbox.vary(run.population)
            run.evaluations += assign(toolbox, offspring)
        except OutOfTime:
            stop.why = "seconds"
            break
        run.population = toolbox.replace(run.population, offspring)
        run.generation += 1
        _note(run, offspring)
        stop.note(run.best.fitness.values[0])
        watch(run)
    return run


def _note(run: Evolution, fresh: Sequence[Any]) -> None:
    """Update the hall of fame with the best of the new individuals, and write the record."""
    if fresh:
        order = np.argsort(costs_of(fresh), kind="stable")[:HALL]
        run.hall.update([fresh[z] for z in order])
    record = statistics().compile(costs_of(run.population).tolist())
    run.logbook.record(generation=run.generation, evaluations=run.evaluations, **record)


def statistics() -> Any:
    """DEAP statistics over costs (sums of weights, as the summary shows them)."""
    compiled = tools.Statistics()
    compiled.register("best", min)
    compiled.register("mean", lambda costs: float(np.mean(costs)))
    compiled.register("worst", max)
    return compiled
