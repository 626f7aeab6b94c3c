"""Repairs: whatever they are given, what they make is safe."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gpuga.bounds.repair import cover as module
from gpuga.bounds.repair.cover import CoverRepair, priced, whole_cells
from gpuga.bounds.repair.paths import PathRepair, guided_costs
from gpuga.bounds.repair.repair import Repair, left_over, wholly
from gpuga.circuits.local_search import LocalSearch
from gpuga.context import Clock, Context
from gpuga.problem.general import GeneralProblem
from gpuga.problem.problem import TableProblem
from gpuga.safety.audit import audit, judge
from gpuga.safety.witness import AllowedChanges, hold
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.generate import smith3d
from gpuga.table.table import Mask
from tests.bounds.problems import small_problem


def repairs() -> list[tuple[TableProblem, Repair]]:
    two_way, general = small_problem(1), GeneralProblem.of(smith3d((4, 4, 3), 0.1, 0.1, 2))
    return [(two_way, PathRepair(two_way)), (general, CoverRepair(general, Context()))]


@pytest.mark.parametrize("which", [0, 1], ids=["paths", "cover"])
def test_whatever_is_made_is_safe(which: int) -> None:
    problem, repair = repairs()[which]
    random, size = np.random.default_rng(1), problem.weight.size
    made = [repair.first(attempt, Clock()) for attempt in range(repair.starts)]
    made += [repair.guided(random.random(size), attempt, Clock()) for attempt in range(repair.guided_starts)]
    made.append(repair.given(problem.table.suppressible, Clock()))
    for pattern in (np.zeros(size, bool), problem.candidate.ravel(), made[0]):
        mended = repair.mended(pattern, Clock())
        assert mended is not None
        made.append(mended)
    for pattern in made:
        assert pattern.shape == (size,)
        assert not (pattern & ~problem.candidate.ravel()).any()
        assert audit(problem.table, problem.pattern(pattern), intervals=False).safe


def test_patterns_led_by_one_point_or_rebuilt_from_one_part_follow_another_order_each_time() -> None:
    problem = GeneralProblem.of(smith3d((6, 5, 4), 0.1, 0.1, 2))
    repair = CoverRepair(problem, Context())
    x, first = np.full(problem.weight.size, 0.3), repair.first(0, Clock())
    kept = first & (np.arange(len(first)) % 2 > 0)
    ways = [
        [repair.guided(x, 0, Clock()) for _ in range(8)],
        [repair.rebuilt(kept, None, Clock()) for _ in range(8)],
        [repair.rebuilt(kept, x, Clock()) for _ in range(8)],
    ]
    for made in ways:
        assert len({pattern.tobytes() for pattern in made}) > 1
        for pattern in made:
            assert not (pattern & ~problem.candidate.ravel()).any()
            assert audit(problem.table, problem.pattern(pattern), intervals=False).safe
    again = CoverRepair(problem, Context())
    again.first(0, Clock())
    assert [again.guided(x, 0, Clock()).tobytes() for _ in range(8)] == [made.tobytes() for made in ways[0]]


def test_what_is_safe_needs_no_mending() -> None:
    for _, repair in repairs():
        first = repair.first(0, Clock())
        mended = repair.mended(first, Clock())
        assert mended is not None
        assert not (mended & ~first).any()


def test_patterns_of_general_tables_come_with_circuits_that_prove_them() -> None:
    problem = GeneralProblem.of(smith3d((5, 4, 4), 0.1, 0.1, 2))
    repair = CoverRepair(problem, Context())
    first, everything = repair.first(0, Clock()), problem.candidate.ravel()
    assert repair.circuits(everything) is None
    assert repair.mended(everything, Clock()) is everything
    for pattern in (first, everything):
        circuits = repair.circuits(pattern)
        assert circuits is not None
        suppressed = problem.pattern(pattern)
        assert hold(AllowedChanges.of(problem.table, suppressed), circuits).all()
        assert suppressed[circuits.cell].all()
        proven = {(int(cell), amount > 0) for cell, amount in zip(circuits.cell, circuits.amount, strict=True)}
        needed = zip(problem.requirements.cell, problem.requirements.direction, strict=True)
        assert {(int(cell), direction > 0) for cell, direction in needed} <= proven


def cover_repair(seed: int = 2) -> tuple[GeneralProblem, CoverRepair]:
    problem = GeneralProblem.of(smith3d((5, 4, 4), 0.1, 0.1, seed))
    return problem, CoverRepair(problem, Context(seed=seed))


def assert_proven(problem: GeneralProblem, repair: CoverRepair, pattern: Mask) -> None:
    """Whether a pattern is safe and has circuits that show every requirement exactly."""
    suppressed, needed = problem.pattern(pattern), problem.requirements
    assert not (pattern & ~problem.candidate).any()
    assert judge(problem.table, suppressed, AttackerModel(False), context=Context()).safe
    circuits = repair.circuits(pattern)
    assert circuits is not None
    assert suppressed[circuits.cell].all()
    assert hold(AllowedChanges.of(problem.table, suppressed), circuits).all()
    most: dict[tuple[int, bool], Fraction] = {}
    for w in range(len(circuits)):
        cells, amounts, denominator = circuits.one(w)
        for cell, amount in zip(cells.tolist(), amounts.tolist(), strict=True):
            way = cell, amount > 0
            most[way] = max(most.get(way, Fraction(0)), Fraction(abs(amount), denominator))
    for cell, direction, need in zip(needed.cell, needed.direction, needed.need, strict=True):
        assert most[int(cell), bool(direction > 0)] >= int(need)


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_local_search_ends_in_proven_patterns_that_are_never_dearer(seed: int) -> None:
    problem, repair = cover_repair(seed)
    random, pattern = np.random.default_rng(seed), repair.first(0, Clock())
    costs = [problem.cost(pattern)]
    for _ in range(8):
        found = repair.searched(pattern, random.random(len(pattern)), Clock())
        assert problem.cost(found) < costs[-1] or found is pattern
        assert_proven(problem, repair, found)
        pattern = found
        costs.append(problem.cost(pattern))


def test_a_local_search_makes_a_pattern_of_everything_far_cheaper() -> None:
    problem, repair = cover_repair()
    everything, x = problem.candidate, np.zeros(problem.weight.size)
    found = everything  # of which the repair knows no circuits
    for _ in range(6):
        found = repair.searched(found, x, Clock())
    assert_proven(problem, repair, found)
    assert problem.cost(found) < 0.5 * problem.cost(everything)


def test_a_local_search_goes_on_around_another_pattern_when_it_is_asked_to() -> None:
    problem, repair = cover_repair()
    x, given = np.zeros(problem.weight.size), [repair.first(attempt, Clock()) for attempt in range(2)]
    for pattern in (given[0], given[1], problem.candidate, given[0]):
        found = repair.searched(pattern, x, Clock())
        assert problem.cost(found) <= problem.cost(pattern)
        assert found is pattern or problem.cost(found) < problem.cost(pattern)
        assert repair._around is not None
        assert np.array_equal(repair._around.suppressed, problem.pattern(found))


def test_the_same_seed_searches_alike() -> None:
    found = []
    for _ in range(2):
        problem, repair = cover_repair()
        found.append(repair.searched(problem.candidate, np.zeros(problem.weight.size), Clock()))
    assert np.array_equal(found[0], found[1])


def test_a_local_search_whose_time_is_up_leaves_the_pattern_as_it_is() -> None:
    problem, repair = cover_repair()
    x, first = np.zeros(problem.weight.size), repair.first(0, Clock())
    over = Clock()
    over.interrupt()
    assert repair.searched(problem.candidate, x, over) is problem.candidate
    assert repair.searched(first, x, over) is first
    assert_proven(problem, repair, repair.searched(first, x, Clock()))  # nothing is left of that


@pytest.mark.parametrize("wrong", ["nothing", "half"])
def test_a_local_search_that_is_wrong_costs_cells_but_never_safety(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, repair = cover_repair()
    first, table = repair.first(0, Clock()), problem.table
    half = table.forced | (problem.pattern(first) & (np.arange(len(table)) % 2 > 0))
    monkeypatch.setattr(LocalSearch, "run", lambda *_: table.forced if wrong == "nothing" else half)
    found = repair.searched(first, np.zeros(len(table)), Clock())
    assert problem.cost(found) <= problem.cost(first)
    assert_proven(problem, repair, found)


def test_what_the_time_does_not_allow_to_prove_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, repair = cover_repair()
    first, clock = repair.first(0, Clock()), Clock()

    def late(local: LocalSearch, steps: int, until: Clock) -> Mask:
        clock.interrupt()
        return problem.table.forced

    monkeypatch.setattr(LocalSearch, "run", late)
    assert repair.searched(first, np.zeros(len(first)), clock) is first


def test_the_circuits_of_the_dearest_patterns_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_REMEMBERED", 1)
    problem = GeneralProblem.of(smith3d((5, 4, 4), 0.1, 0.1, 2))
    repair = CoverRepair(problem, Context())
    first, everything = repair.first(0, Clock()), problem.candidate.ravel()
    repair.mended(everything, Clock())
    assert repair.circuits(first) is not None
    assert repair.circuits(everything) is None
    two_way = small_problem(1)
    assert PathRepair(two_way).circuits(two_way.candidate.ravel()) is None


def test_what_a_point_suppresses_is_nearly_free() -> None:
    x = np.array([0.0, 0.5, 1.0, 1.0 - 1e-9])
    assert np.allclose(left_over(x), [1.02, 0.52, 0.02, 0.02])
    assert wholly(x).tolist() == [False, False, True, True]
    problem = small_problem(1)
    point = problem.candidate.ravel().astype(float)
    costs = guided_costs(problem, point)
    assert np.allclose(costs.cost[problem.candidate], 0.02 * problem.weight[problem.candidate])
    table = smith3d((4, 4, 3), 0.1, 0.1, 2)
    everything = np.ones(len(table))
    assert np.allclose(priced(table, everything).weight, 20 * table.weight)
    assert whole_cells(table, everything).tolist() == table.suppressible.tolist()
