"""A DEAP user replaces one operator by his own, and watches every generation.

python examples/evolution/own_selection.py
"""

from __future__ import annotations

from typing import Any

import gpuga
from gpuga.evolution.population import Population, PopulationMember
from gpuga.table.generate import herrington


class BestWithEveryone:
    """Pairs in which the best individual gives parts of its pattern to all the others, one after the other."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, population: Population, k: int) -> list[PopulationMember]:
        """As many parents as asked for, pair by pair."""
        self.calls += 1
        return [one for z in range(k // 2) for one in (population[z % len(population)], population.best)]


def main() -> int:
    """Evolve a small table with this selection, audit what came out; how often the selection was called."""
    table, select = herrington(30, 30, 0.04, seed=1), BestWithEveryone()

    def told(evolution: Any) -> None:
        print(f"generation {evolution.generation}: best {table.shown_cost(evolution.best.cost)}")

    found = gpuga.protect(
        table,
        "circuits",
        seed=1,
        options={"generations": 10, "population": 64},
        operators={"select": select},
        on_generation=told,
    )
    print(f"cost {found.cost}, safe: {found.audit.safe}, selections: {select.calls}")
    return select.calls


if __name__ == "__main__":
    main()
