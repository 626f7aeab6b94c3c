"""The prover beside evolution: exchanges at counted steps, repeats, ends when told, and passes its failures on."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.bounds.search import BranchAndCut
from gpuga.context import Clock, Context
from gpuga.evolution.prover import Offers, Prover
from gpuga.problem.problem import problem_for
from gpuga.safety.audit import audit
from gpuga.table.generate import herrington, smith3d
from gpuga.table.table import Table

TABLES = (herrington(20, 20, 0.04, 2), smith3d((5, 4, 4), 0.08, 0.1, 1))


def told(table: Table, steps: int, offers: Offers | None = None) -> list[tuple[int, int, int]]:
    problem = problem_for(table)
    everything = problem.candidate.ravel()
    prover = Prover(problem, Context(), paced=True, offers=offers)
    cost = int(problem.weight.ravel()[everything].sum())
    heard = [prover.exchange(everything, cost) for _ in range(steps)]
    prover.stop()
    return [(news.steps, news.cost, news.lower) for news in heard if news is not None]


@pytest.mark.parametrize("table", TABLES, ids=["two-way", "3-D"])
def test_a_paced_prover_tells_the_same_every_time(table: Table) -> None:
    first = told(table, 6)
    assert first == told(table, 6)
    assert [steps for steps, _, _ in first] == sorted(steps for steps, _, _ in first)


def test_a_search_is_done_again_with_what_was_offered() -> None:
    whole = told(TABLES[0], 8)
    later = told(TABLES[0], 4, Offers(until=4))
    assert later == whole[4:]


def test_offers_survive_as_arrays() -> None:
    masks = np.random.default_rng(1).random((2, 37)) < 0.3
    offers = Offers([(3, masks[0]), (5, masks[1])], 6)
    again = Offers.of(offers.arrays(37), 37, 6)
    assert [step for step, _ in again.made] == [3, 5]
    assert all(np.array_equal(one, two) for (_, one), (_, two) in zip(offers.made, again.made, strict=True))


def test_a_prover_ends_when_it_is_told() -> None:
    prover = Prover(problem_for(herrington(60, 60, 0.02, 1)), Context(clock=Clock(60.0)), paced=False)
    prover.stop()
    assert prover.ended


def test_a_failure_reaches_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: BranchAndCut, *given: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(BranchAndCut, "__init__", broken)
    problem = problem_for(TABLES[0])
    prover = Prover(problem, Context(), paced=True)
    with pytest.raises(ZeroDivisionError):
        prover.exchange(problem.candidate.ravel(), 1)


def test_programs_clean_up_what_evolution_offers_but_not_every_small_step(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, asked = problem_for(TABLES[1]), []
    prover = Prover(problem, Context(), paced=True)
    prover.exchange(problem.candidate, 1)
    prover.stop()
    search = prover.search
    assert isinstance(search, BranchAndCut)
    monkeypatch.setattr("gpuga.evolution.prover.DEARER", 1e9)
    given = search.repair.given
    monkeypatch.setattr(search.repair, "given", lambda pattern, clock: asked.append(1) or given(pattern, Clock()))
    search.best, search.cost = problem.candidate, problem.cost(problem.candidate)
    prover._consider(problem.candidate)
    cleaned = search.cost
    assert asked == [1]
    assert cleaned < problem.cost(problem.candidate)
    assert audit(TABLES[1], problem.pattern(search.best), intervals=False).safe
    prover._consider(problem.candidate)
    assert asked == [1]
