"""The integer program of the re-count against trying every set of suppressions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuga.microdata.recount import recount
from gpuga.microdata.recount_program import MOST_SHOWN, cheapest_recounted, small_enough
from tests.microdata.tiny_files import cheapest, tiny_problem


def unchanged_only(problem):
    """The problem without recodings."""
    rules = tuple(rule[:1] for rule in problem.rules)
    costs = replace(problem.costs, recode=tuple(np.zeros(1, np.int64) for _ in rules))
    return replace(problem, rules=rules, costs=costs)


def test_the_program_finds_the_cheapest_suppressions_and_proves_them() -> None:
    impossible = 0
    for seed in range(60):
        problem = unchanged_only(tiny_problem(seed))
        codes, sizes = problem.recoded(problem.unchanged)
        found, best = cheapest_recounted(problem, codes, sizes, 20.0), cheapest(problem, "nothing")
        if best is None:
            assert found.floor is None
            impossible += 1
            continue
        assert found.codes is not None
        assert found.cost == best == found.floor, seed
        assert recount(found.codes, problem.keys) == 0
    assert impossible > 0


def test_files_that_are_too_large_are_left_alone() -> None:
    problem = tiny_problem(1)
    assert small_enough(problem)
    many = np.repeat(problem.codes, MOST_SHOWN, axis=0)
    assert not small_enough(replace(problem, codes=many))
