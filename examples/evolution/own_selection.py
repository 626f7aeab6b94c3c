"""A DEAP user takes our toolbox, swaps one operator for his own, and runs.

python examples/evolution/own_selection.py
"""

from __future__ import annotations

from collections.abc import Sequence

import gpuga
from gpuga.context import Context
from gpuga.evolution.circuits import Run
from gpuga.evolution.individual import Individual
from gpuga.evolution.plane_workshop import PlaneWorkshop
from gpuga.parameters import CircuitsParameters
from gpuga.problem.two_way import two_way_problem
from gpuga.table.generate import herrington


def best_with_everyone(population: Sequence[Individual], k: int) -> list[Individual]:
    """Pairs in which the best individual gives circuits to all the others, one after the other."""
    best = min(population, key=lambda individual: individual.cost)
    return [one for z in range(k // 2) for one in (population[z % len(population)], best)]


def main() -> None:
    """Evolve a small table with this selection, and audit what came out."""
    table = herrington(20, 20, 0.04, seed=1)
    context, parameters = Context(seed=1), CircuitsParameters(generations=10, population=64)
    problem = two_way_problem(table, context)
    run = Run(table, PlaneWorkshop(problem, context), context, problem.base_cost, parameters)
    run.toolbox.register("select", best_with_everyone)
    run.go()
    suppressed = problem.pattern(run.best().reshape(problem.shape))
    verdict = gpuga.audit(table, suppressed, intervals=False)
    for record in run.evolution.logbook:
        print(f"generation {record['generation']}: best {table.shown_cost(record['best'])}")
    print(f"cost {table.shown_cost(table.cost(suppressed))}, safe: {verdict.safe}")


if __name__ == "__main__":
    main()
