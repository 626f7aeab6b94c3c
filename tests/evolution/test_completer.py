"""Patterns by linear programs beside evolution, for tables that are too large for a prover."""

from __future__ import annotations

import numpy as np
import pytest

import gpuga
from gpuga.context import Clock, Context
from gpuga.errors import OutOfTime
from gpuga.evolution import completer, run
from gpuga.evolution.breeding import Breeder
from gpuga.evolution.completer import Completer, Completions
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Found
from gpuga.table.generate import smith3d

TABLE = smith3d((6, 5, 4), 0.06, 0.1, 2)


def test_every_attempt_gives_a_safe_pattern_with_its_circuits() -> None:
    problem = GeneralProblem.of(TABLE)
    made = Completions(problem, Context())
    for attempt in range(2):
        made.make(attempt)
        assert made.circuits is not None
        assert gpuga.audit(TABLE, problem.pattern(made.best), intervals=False).safe
    assert not made.offer(problem.candidate)
    assert made.cost == problem.cost(made.best)


def test_a_paced_completer_tells_the_same_every_time() -> None:
    problem = GeneralProblem.of(TABLE)

    def told() -> list[tuple[int, int]]:
        beside = Completer(problem, Context(), paced=True)
        heard = [beside.exchange(problem.candidate, problem.cost(problem.candidate)) for _ in range(3)]
        beside.stop()
        return [(news.steps, news.cost) for news in heard if news is not None]

    assert told() == told()


def test_a_table_without_axes_evolves_on_the_circuits_of_linear_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MOST_CELLS_TO_PROVE", 10)
    monkeypatch.setattr("gpuga.evolution.general_kernels.box_grid", lambda table: None)
    found = gpuga.protect(TABLE, "circuits", options={"generations": 6, "population": 8})
    again = gpuga.protect(TABLE, "circuits", options={"generations": 6, "population": 8})
    assert found.audit.safe
    assert np.array_equal(found.suppressed, again.suppressed)
    assert found.cost <= gpuga.protect(TABLE, "incremental").cost


def test_what_programs_completed_counts_where_evolution_had_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MOST_CELLS_TO_PROVE", 10)
    monkeypatch.setattr(Breeder, "newcomers", lambda self, count, start=None: self.evaluated(self.kernels.nothing(0)))
    found = gpuga.protect(TABLE, "circuits", seconds=20.0, options={"generations": 1, "population": 8})
    assert found.audit.safe
    without = {"generations": 1, "population": 8, "without": ("prover",)}
    assert gpuga.protect(TABLE, "circuits", seconds=5.0, options=without).audit.safe  # the first pattern


def test_after_a_pattern_of_its_own_none_is_finished_by_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completer, "PROGRAMS", 0.0)
    problem = GeneralProblem.of(TABLE)
    first = gpuga.protect(TABLE, "hypercube", proof=True)
    assert first.audit.proof is not None
    found = Found(first.suppressed, proof=first.audit.proof.witnesses)
    made = Completions(problem, Context(clock=Clock(60.0), first=found))
    made.make(0)
    assert made.circuits is not None
    assert gpuga.audit(TABLE, problem.pattern(made.best), intervals=False).safe
    with pytest.raises(OutOfTime):
        made.make(1)


def test_no_pattern_is_finished_by_the_first_one_when_the_time_is_over() -> None:
    first = gpuga.protect(TABLE, "hypercube", proof=True)
    assert first.audit.proof is not None
    found = Found(first.suppressed, proof=first.audit.proof.witnesses)
    with pytest.raises(OutOfTime):
        Completions(GeneralProblem.of(TABLE), Context(clock=Clock(0.0), first=found)).make(0)
