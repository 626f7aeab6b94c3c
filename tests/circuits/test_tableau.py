"""The tableau in floats against a linear programming solver, on random patterns of small tables."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from gpuga.circuits import tableau as module
from gpuga.circuits.tableau import (
    BLOCKED,
    ON_THE_WAY,
    THERE,
    UNLIMITED,
    Tableau,
    exchange,
    fix,
    goes_on,
    reaches,
    tableau_of,
)
from gpuga.compiled import compiled
from gpuga.table.generate import smith2d, smith3d
from gpuga.table.table import Mask, Table


@compiled
def _reaches(tableau: Tableau, column: int, sign: float, need: float) -> bool:
    return reaches(tableau, column, sign, need)


@compiled
def _goes_on(tableau: Tableau, column: int, sign: float, goal: float, least: float, steps: int) -> int:
    return goes_on(tableau, column, sign, goal, least, steps)


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
            assert_within(tableau, matrix)


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


def inside(tableau: Tableau, random: np.random.Generator) -> NDArray[np.float64]:
    """A change somewhere within the bounds: shares of what a few columns can reach, one after the other."""
    columns, x = len(tableau.low), np.zeros(len(tableau.low))
    for column in random.integers(columns, size=6).tolist():
        _reaches(tableau, column, float(random.choice([-1.0, 1.0])), 1e9)
        x += tableau.moved / 7.0
    return x


def assert_within(tableau: Tableau, matrix: NDArray[np.float64]) -> None:
    scale = max(1.0, float(np.abs(tableau.moved).max()))
    assert np.abs(matrix @ tableau.moved).max() <= 1e-7 * scale
    assert (tableau.moved <= tableau.high + 1e-7 * scale).all()
    assert (tableau.moved >= tableau.low - 1e-7 * scale).all()


@pytest.mark.parametrize("seed", range(8))
def test_from_wherever_a_change_is_a_column_goes_on_to_what_the_solver_reaches(seed: int) -> None:
    table, suppressed = a_table(seed)
    tableau, matrix = tableau_of(table, suppressed), equations(table, suppressed)
    tableau.high[:] = np.minimum(tableau.high, 1e6)
    random = np.random.default_rng(seed)
    for column in random.permutation(matrix.shape[1])[:8].tolist():
        for sign in (1.0, -1.0):
            most = farthest(table, suppressed, tableau, column, sign)
            start = inside(tableau, random)
            tableau.moved[:] = start
            assert_within(tableau, matrix)
            assert _goes_on(tableau, column, sign, 1.001 * most + 1.0, 1e-6, module.MOST_STEPS) == BLOCKED
            assert tableau.moved[column] * sign == pytest.approx(most, rel=1e-6, abs=1e-3)
            assert_within(tableau, matrix)
            goal = 0.5 * (start[column] * sign + most)  # half the rest of the way, be it from behind the beginning
            if goal - start[column] * sign > 1e-3:
                tableau.moved[:] = start
                assert _goes_on(tableau, column, sign, goal, 1e-6, module.MOST_STEPS) == THERE
                assert tableau.moved[column] * sign == pytest.approx(goal, rel=1e-6, abs=1e-5)
                assert_within(tableau, matrix)


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_a_way_in_few_steps_at_a_time_ends_where_one_in_many_does(seed: int) -> None:
    table, suppressed = a_table(seed)
    tableau, matrix = tableau_of(table, suppressed), equations(table, suppressed)
    tableau.high[:] = np.minimum(tableau.high, 1e6)
    random, turns = np.random.default_rng(seed), 0
    for column in random.permutation(matrix.shape[1])[:8].tolist():
        most = farthest(table, suppressed, tableau, column, 1.0)
        tableau.moved[:] = 0.0
        before, came = 0.0, ON_THE_WAY
        while came == ON_THE_WAY and turns < 10_000:
            came = _goes_on(tableau, column, 1.0, 1.001 * most + 1.0, 1e-6, 1)
            assert tableau.moved[column] >= before - 1e-9
            assert_within(tableau, matrix)
            before, turns = float(tableau.moved[column]), turns + 1
        assert came == BLOCKED
        assert before == pytest.approx(most, rel=1e-6, abs=1e-3)
    assert turns > 16  # most of the ways took several steps


def test_whoever_may_not_take_a_step_is_on_the_way() -> None:
    table, suppressed = a_table(1)
    tableau = tableau_of(table, suppressed)
    assert _goes_on(tableau, 0, 1.0, 1.0, 1e-9, 0) == ON_THE_WAY
    assert _goes_on(tableau, 0, 1.0, 0.0, 1e-9, 1) == THERE  # there is nowhere to go
    assert not tableau.moved.any()
