"""DEAP's operators plug into `circuits`: they are called, repeat under a seed, and leave safe patterns."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest
from deap import tools

import gpuga
from gpuga.evolution.adapters import DeapOperator, mate_by, mutate_by
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table

TABLES = [herrington(14, 14, 0.05, 3), smith3d((6, 5, 4), 0.15, 0.1, 2)]
SHORT = {"generations": 2, "population": 12, "without": ("prover",)}


def operators() -> dict[str, DeapOperator]:
    return {
        "two-point": mate_by(tools.cxTwoPoint),
        "uniform": mate_by(tools.cxUniform, indpb=0.5),
        "shuffle": mutate_by(tools.mutShuffleIndexes, indpb=0.02),
        "flip": mutate_by(tools.mutFlipBit, indpb=0.01),
    }


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "three-way"])
@pytest.mark.parametrize("name", ["two-point", "uniform", "shuffle", "flip"])
def test_an_operator_of_deap_is_called_and_what_comes_of_it_is_safe(table: Table, name: str) -> None:
    operator = operators()[name]
    place = "mate" if name in ("two-point", "uniform") else "mutate"
    found = gpuga.protect(table, seed=1, options=SHORT, operators={place: operator})
    assert operator.calls > 0
    assert gpuga.audit(table, found.suppressed, intervals=False).safe


def test_selections_of_deap_need_no_adapter() -> None:
    calls = []

    def select(population: object, k: int) -> list[object]:
        calls.append(k)
        return tools.selTournament(population, k, tournsize=3)

    found = gpuga.protect(TABLES[0], seed=1, options=SHORT, operators={"select": select})
    assert len(calls) == 2
    assert found.audit.safe
    nsga = gpuga.protect(TABLES[0], seed=1, options=SHORT, operators={"select": partial(tools.selNSGA2)})
    assert nsga.audit.safe


def test_runs_repeat_and_leave_the_global_generator_alone() -> None:
    def run() -> np.ndarray:
        both = {"mate": mate_by(tools.cxTwoPoint), "mutate": mutate_by(tools.mutShuffleIndexes, indpb=0.05)}
        return gpuga.protect(TABLES[0], seed=3, options=SHORT, operators=both).suppressed

    random.seed(1)
    before = random.getstate()
    first = run()
    assert random.getstate() == before
    random.seed(99)
    assert (run() == first).all()
