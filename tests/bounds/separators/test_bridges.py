"""Bridges: secondary cells that are alone in a line."""

from __future__ import annotations

import numpy as np

from gpuga.bounds.separators.bridges import LONGEST_LINE, LoneCell, lone_cells
from tests.bounds.problems import small_problem


def test_a_line_of_nothing_but_secondaries_needs_two() -> None:
    problem = small_problem(1)
    rows, columns = problem.shape
    quiet = [i for i in range(rows) if not problem.forced[i].any()]
    noisy = [i for i in range(rows) if problem.forced[i].any()]
    assert quiet
    assert noisy
    x = np.zeros(problem.shape)
    x[quiet[0], 0], x[quiet[0], 1] = 0.8, 0.3
    x[noisy[0], 2] = 1.0
    found = [cut for cut in lone_cells(problem, x) if cut.in_row]
    assert [cut.place for cut in found] == [quiet[0] * columns]
    own = found[0].coefficients(np.arange(rows * columns)).reshape(problem.shape)
    assert own[quiet[0], 0] == -1
    assert own.sum() == columns - 2
    assert (own[[i for i in range(rows) if i != quiet[0]]] == 0).all()
    down = (
        LoneCell(quiet[0] * columns + 1, False, columns).coefficients(np.arange(rows * columns)).reshape(problem.shape)
    )
    assert down[:, 1].sum() == rows - 2
    assert down[quiet[0], 1] == -1
    assert columns <= LONGEST_LINE
