"""Every search on tiny files, against trying every recoding with every set of suppressions."""

from __future__ import annotations

import pytest

from gpuga.context import Context
from gpuga.errors import Infeasible
from gpuga.microdata.protect import MicrodataParameters, protect_records
from gpuga.microdata.search import SEARCHES
from tests.microdata.tiny_files import cheapest, tiny_problem


@pytest.mark.parametrize("cases", [range(36), pytest.param(range(36, 300), marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", ["nothing", "anything"])
def test_bounds_are_never_above_the_optimum_and_exact_finds_it_in_its_mode(mode: str, cases: range) -> None:
    for seed in cases:
        problem = tiny_problem(seed)
        best = cheapest(problem, mode)
        for search in SEARCHES:
            parameters = MicrodataParameters(problem.keys.fields, search=search, missing_matches=mode)
            if best is None:
                with pytest.raises(Infeasible):
                    protect_records(problem, parameters, Context(seed=seed))
                continue
            found = protect_records(problem, parameters, Context(seed=seed))
            assert found.bound.value <= best <= found.cost, (seed, search)
            if search == "exact":
                assert found.cost == best == found.bound.value, seed


@pytest.mark.parametrize("search", list(SEARCHES))
def test_greedy_suppressions_never_raise_the_bound_above_the_optimum(search: str) -> None:
    for seed in range(24):
        problem = tiny_problem(seed)
        best = cheapest(problem, "nothing")
        if best is None:
            continue
        parameters = MicrodataParameters(problem.keys.fields, search=search, exact=False)
        found = protect_records(problem, parameters, Context(seed=seed))
        assert found.bound.value <= best <= found.cost, seed
