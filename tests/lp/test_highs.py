"""HiGHS is asked only what it answers."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.lp.highs import WIDEST, solve_whole
from gpuga.lp.solver import Model, SolveStatus


def one_column(upper: float) -> Model:
    """A column from 0 on in one row that does not limit it."""
    start, index, value = np.array([0, 1], np.int32), np.zeros(1, np.int32), np.ones(1)
    rows = np.array([-np.inf]), np.array([np.inf])
    return Model(np.ones(1), np.zeros(1), np.array([upper]), *rows, start, index, value, maximise=True)


def test_whole_columns_that_are_wider_than_the_solver_counts_are_refused() -> None:
    answer = solve_whole(one_column(WIDEST))
    assert answer.status is SolveStatus.OPTIMAL
    assert answer.x.tolist() == [WIDEST]
    with pytest.raises(ValueError, match="too wide"):
        solve_whole(one_column(WIDEST + 1))
