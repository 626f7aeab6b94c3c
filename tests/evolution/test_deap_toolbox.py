"""DEAP's own algorithms and operators work on a table as they are, and what they find is safe."""

from __future__ import annotations

import random

import numpy as np
import pytest
from deap import algorithms, tools

import gpuga
from gpuga.errors import InputError
from gpuga.evolution.deap_toolbox import deap_toolbox
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table


@pytest.fixture(params=[herrington(14, 14, 0.05, 3), smith3d((6, 5, 4), 0.15, 0.1, 2)], ids=["two-way", "three-way"])
def table(request: pytest.FixtureRequest) -> Table:
    found: Table = request.param
    return found


def safe(table: Table, suppressed: np.ndarray) -> bool:
    return bool(gpuga.audit(table, suppressed, intervals=False).safe)


def test_ea_simple_runs_with_statistics_logbook_and_hall_of_fame(table: Table) -> None:
    random.seed(1)
    toolbox, hall = deap_toolbox(table), tools.HallOfFame(3)
    statistics = tools.Statistics(lambda one: one.fitness.values[0])
    statistics.register("best", min)
    population, logbook = algorithms.eaSimple(
        toolbox.population(12), toolbox, 0.7, 0.3, 5, stats=statistics, halloffame=hall, verbose=False
    )
    assert len(population) == 12
    best = [record["best"] for record in logbook]
    assert hall[0].fitness.values[0] == min(best) <= best[0]
    suppressed = toolbox.pattern(hall[0])
    assert safe(table, suppressed)
    assert table.cost(suppressed) - table.cost(table.forced) == hall[0].fitness.values[0]


@pytest.mark.parametrize("mate", [tools.cxTwoPoint, tools.cxOnePoint])
def test_mu_plus_lambda_with_other_crossovers(table: Table, mate: object) -> None:
    random.seed(2)
    toolbox = deap_toolbox(table)
    toolbox.register("mate", mate)
    toolbox.register("mutate", tools.mutFlipBit, indpb=0.01)
    toolbox.register("select", tools.selBest)
    first = toolbox.population(8)
    population, _ = algorithms.eaMuPlusLambda(first, toolbox, 8, 12, 0.5, 0.4, 4, verbose=False)
    assert all(safe(table, toolbox.pattern(one)) for one in population)


def test_nsga2_gives_a_front_of_cost_and_cells(table: Table) -> None:
    random.seed(3)
    toolbox = deap_toolbox(table, objectives=("cost", "cells", "totals"))
    population, _ = algorithms.eaMuPlusLambda(toolbox.population(12), toolbox, 12, 12, 0.6, 0.3, 3, verbose=False)
    front = tools.sortNondominated(population, len(population), first_front_only=True)[0]
    assert all(len(one.fitness.values) == 3 for one in front)
    assert all(safe(table, toolbox.pattern(one)) for one in front)


def test_the_same_seeds_give_the_same_run(table: Table) -> None:
    def run() -> list[list[int]]:
        random.seed(4)
        toolbox = deap_toolbox(table, seed=5)
        population, _ = algorithms.eaSimple(toolbox.population(6), toolbox, 0.5, 0.5, 3, verbose=False)
        return [list(one) for one in population]

    assert run() == run()


def test_unknown_objectives_and_tables_without_sensitive_cells_are_refused(table: Table) -> None:
    with pytest.raises(InputError, match="choose from cost, cells, totals, difference"):
        deap_toolbox(table, objectives=("beauty",))
    with pytest.raises(InputError, match="nothing has to be protected"):
        deap_toolbox(herrington(5, 5, 0.0, 1))
