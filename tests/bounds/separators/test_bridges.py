"""Bridges: secondary cells that are alone in a line."""

from __future__ import annotations

import numpy as np

from gpuga.bounds.separators.bridges import LoneCells
from gpuga.bounds.separators.flow import LONGEST_LINE, FlowSeparator
from tests.bounds.problems import small_problem


def test_a_line_of_nothing_but_secondaries_needs_two() -> None:
    problem = small_problem(1)
    rows, columns = problem.shape
    quiet = [i for i in range(rows) if not problem.forced[i].any()]
    noisy = [i for i in range(rows) if problem.forced[i].any()]
    assert quiet
    assert noisy
    assert problem.candidate[quiet[0]].all()
    x = np.zeros(problem.shape)
    x[quiet[0], 0], x[quiet[0], 1] = 0.8, 0.3
    x[noisy[0], 2] = 1.0
    cell = FlowSeparator(problem).cell
    found = LoneCells(problem.table, cell, problem.candidate.ravel(), LONGEST_LINE).violated(x.ravel())
    every = {tuple(cut.cell[cut.coef < 0]): cut for cut in found if len({c // columns for c in cut.cell.tolist()}) == 1}
    assert list(every) == [(quiet[0] * columns,)]
    own = every[quiet[0] * columns,].coefficients(np.arange(rows * columns)).reshape(problem.shape)
    assert own[quiet[0], 0] == -1
    assert own.sum() == columns - 2
    assert (own[[i for i in range(rows) if i != quiet[0]]] == 0).all()
    assert columns <= LONGEST_LINE
    assert not LoneCells(problem.table, cell, problem.candidate.ravel(), 1).violated(x.ravel())


def test_lines_are_those_of_rows_and_columns() -> None:
    problem = small_problem(1)
    rows, columns = problem.shape
    lone = LoneCells(problem.table, FlowSeparator(problem).cell, problem.candidate.ravel())
    still = np.flatnonzero(~problem.forced.any(0) & problem.candidate.all(0))
    assert len(still)
    x = np.zeros(problem.shape)
    x[1, still[0]] = 1.0
    (down,) = [cut for cut in lone.violated(x.ravel()) if len({c % columns for c in cut.cell.tolist()}) == 1]
    own = down.coefficients(np.arange(rows * columns)).reshape(problem.shape)
    assert own[:, still[0]].sum() == rows - 2
    assert own[1, still[0]] == -1
