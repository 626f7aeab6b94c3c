"""The tableau in floats against a linear programming solver, on random patterns of small tables."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from gpuga.circuits import tableau as module
from gpuga.circuits.tableau import UNLIMITED, Tableau, exchange, fix, reaches, tableau_of
from gpuga.compiled import compiled
from gpuga.table.generate import smith2d, smith3d
from gpuga.table.table import Mask, Table


@compiled
def _reaches(tableau: Tableau, column: int, sign: float, need: float) -> bool:
    return reaches(tableau, column, sign, need)


@compiled
def _fix(tableau: Tableau, column: int) -> None:
    fix(tableau, column)


@compiled
def _exchange(tableau: Tableau, row: int, column: int) -> None:
    exchange(tableau, row, column)


def a_table(seed: int) -> tuple[Table, Mask]:
    table = smith3d((5, 4, 4), 0.1, 0.1, seed) if seed % 2 else smith2d(7, 6, 0.1, 0.1, seed)
    random = np.random.default_rng(seed)
    suppressed = table.forced | (table.suppressible & (random.random(len(table)) < random.uniform(0.3, 0.9)))
    return table, suppressed


def equations(table: Table, suppressed: Mask) -> NDArray[np.float64]:
    lines = table.lines
    matrix = np.zeros((len(lines), len(table)))
    np.add.at(matrix, (lines.line_of_entry, lines.cell), lines.coef)
    return matrix[:, suppressed]


def farthest(table: Table, suppressed: Mask, tableau: Tableau, column: int, sign: float) -> float:
    """How far the solver says that a column can move."""
    matrix = equations(table, suppressed)
    price = np.zeros(matrix.shape[1])
    price[column] = -sign
    bounds = np.column_stack([tableau.low, tableau.high])
    answer = linprog(price, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=bounds)
    assert answer.status == 0
    return float(-answer.fun)


@pytest.mark.parametrize("seed", range(8))
def test_a_column_reaches_what_the_solver_reaches_and_no_more(seed: int) -> None:
    table, suppressed = a_table(seed)
    tableau, matrix = tableau_of(table, suppressed), equations(table, suppressed)
    tableau.high[:] = np.minimum(tableau.high, 1e6)
    random = np.random.default_rng(seed)
    for column in random.permutation(matrix.shape[1])[:12].tolist():
        for sign in (1.0, -1.0):
            most = farthest(table, suppressed, tableau, column, sign)
            assert not _reaches(tableau, column, sign, 1.001 * most + 1.0)
            need = 0.999 * most
            if need < 1e-3:
                continue
            assert _reaches(tableau, column, sign, need)
            assert tableau.moved[column] * sign >= need * (1 - 1e-6)
            scale = max(1.0, float(np.abs(tableau.moved).max()))
            assert np.abs(matrix @ tableau.moved).max() <= 1e-7 * scale
            assert (tableau.moved <= tableau.high + 1e-7 * scale).all()
            assert (tableau.moved >= tableau.low - 1e-7 * scale).all()


@pytest.mark.parametrize("seed", range(6))
def test_fixed_columns_stay_where_they_are(seed: int) -> None:
    table, suppressed = a_table(seed)
    tableau = tableau_of(table, suppressed)
    tableau.high[:] = np.minimum(tableau.high, 1e6)
    random = np.random.default_rng(seed)
    for column in random.permutation(len(tableau.low))[: len(tableau.low) // 2].tolist():
        _fix(tableau, column)
        asked = int(random.integers(len(tableau.low)))
        most = farthest(table, suppressed, tableau, asked, 1.0)
        assert not _reaches(tableau, asked, 1.0, 1.001 * most + 1.0)
        if most > 1.0:
            assert _reaches(tableau, asked, 1.0, 0.999 * most)
            assert (tableau.moved[tableau.high == tableau.low] == 0.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_every_exchange_keeps_the_equations(seed: int) -> None:
    table, suppressed = a_table(seed)
    tableau, matrix = tableau_of(table, suppressed), equations(table, suppressed)
    random = np.random.default_rng(seed)
    for _ in range(10):
        rows, columns = np.nonzero(np.abs(tableau.entry) > 0.1)
        pick = int(random.integers(len(rows)))
        _exchange(tableau, int(rows[pick]), int(columns[pick]))
        x = np.zeros(matrix.shape[1])
        x[tableau.nonbasic] = random.integers(-5, 6, len(tableau.nonbasic))
        x[tableau.basic] = -tableau.entry @ x[tableau.nonbasic]
        assert np.abs(matrix @ x).max() < 1e-6
        assert sorted([*tableau.basic.tolist(), *tableau.nonbasic.tolist()]) == list(range(len(x)))
        assert (tableau.basic[tableau.place[tableau.basic]] == tableau.basic).all()


def test_a_cell_without_limit_is_asked_as_far_as_any_level_goes() -> None:
    table, suppressed = a_table(0)
    assert tableau_of(table, suppressed).high.max() == UNLIMITED
    assert module.UNLIMITED > 2.0**40
