"""The clean-up of planes stays right when the room for what it remembers is gone."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.circuits import path_cover, witness_lists
from gpuga.circuits.path_cover import by_paths
from gpuga.circuits.paths import plain
from gpuga.context import Context
from gpuga.errors import Infeasible
from gpuga.problem.two_way import two_way_problem
from tests.brute_force import is_safe
from tests.planes import random_plane_table


def four_entries(levels: int, places: int) -> witness_lists.WitnessLists:
    """Lists whose pool holds four entries in all."""
    lists = witness_lists.new_lists(levels, places)
    lists.following[3] = -1
    return lists


def test_levels_that_did_not_fit_are_checked_again_at_every_removal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_cover, "new_lists", four_entries)
    published = 0
    for seed in range(12):
        table = random_plane_table(5, 5, seed, sensitive=0.3)
        problem = two_way_problem(table, Context())
        try:
            found = by_paths(problem, problem.costs(), plain(), clean=False)
        except Infeasible:
            continue
        wide = found | (problem.candidate & (np.random.default_rng(seed).random(found.shape) < 0.4))
        left = path_cover.clean_up(problem, wide)
        published += int(wide.sum() - left.sum())
        assert is_safe(table, problem.pattern(left))
    assert published > 20
