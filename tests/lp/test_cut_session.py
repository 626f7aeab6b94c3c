"""Programs that grow: rows and columns come and go, and what the solver says stays that of the program as it is."""

from __future__ import annotations

import numpy as np

from gpuga.lp.cut_session import CutSession, cut_session
from gpuga.lp.solver import Rows, SolveStatus


def triangle() -> CutSession:
    """Three columns of cost one, of every two at least one."""
    session = cut_session(np.ones(3))
    session.add_rows(Rows(np.ones(3), np.array([0, 2, 4, 6]), np.array([0, 1, 1, 2, 0, 2]), np.ones(6)))
    return session


def test_the_triangle_costs_three_halves_and_two_in_whole_numbers() -> None:
    session = triangle()
    answer = session.solve()
    assert answer.status is SolveStatus.OPTIMAL
    assert np.allclose(answer.x, 0.5)
    assert np.allclose(answer.row_dual, 0.5)
    whole = session.solve_whole(np.ones(3, bool), np.array([1.0, 1.0, 1.0]))
    assert sorted(whole.x.round().tolist()) == [0.0, 1.0, 1.0]
    assert whole.bound > 1.5
    assert np.isclose(session.solve().objective, 1.5)


def test_rows_and_columns_come_and_go() -> None:
    session = triangle()
    session.solve()
    session.add_columns(np.array([0.1]), np.array([0, 3]), np.arange(3), np.ones(3))
    assert np.isclose(session.solve().objective, 0.1)
    session.set_bounds(np.array([3]), np.zeros(1), np.zeros(1))
    assert np.isclose(session.solve().objective, 1.5)
    session.delete_rows(np.array([1, 2]))
    assert np.isclose(session.solve().objective, 1.0)
    assert (session.columns, session.rows) == (4, 1)
    assert len(session.row_values()) == 1


def test_however_rows_are_weighed_the_answer_is_the_same() -> None:
    random = np.random.default_rng(3)
    cost, sessions = random.integers(1, 20, 30).astype(float), []
    for devex in (False, True):
        sessions.append(cut_session(cost, devex))
    for _ in range(5):
        index = np.concatenate([random.choice(30, 4, replace=False) for _ in range(6)])
        rows = Rows(np.ones(6), np.arange(0, 25, 4), index, random.uniform(0.3, 1.0, 24))
        for session in sessions:
            session.add_rows(rows)
        exact, devex = (session.solve().objective for session in sessions)
        assert np.isclose(exact, devex)
    assert exact > 0


def test_only_some_columns_need_be_whole() -> None:
    session = triangle()
    session.set_cost(np.array([0]), np.array([10.0]))
    session.add_rows(Rows(np.array([-np.inf]), np.array([0, 1]), np.array([1]), np.ones(1), np.array([0.75])))
    mixed = session.solve_whole(np.array([True, False, False]))
    assert mixed.x[0] == 1.0
    assert np.isclose(mixed.objective, 11.0)


def test_a_run_that_is_interrupted_ends() -> None:
    rng = np.random.default_rng(1)
    session = cut_session(rng.integers(50, 100, 60).astype(float))
    matrix = rng.integers(0, 2, (40, 60)) * rng.integers(1, 30, (40, 60)).astype(float)
    row, column = np.nonzero(matrix)
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=40))])
    session.add_rows(Rows(matrix.sum(1) / 3, start, column, matrix[row, column]))
    answer = session.solve_whole(np.ones(60, bool), interrupted=lambda: True)
    assert answer.status is not SolveStatus.OPTIMAL
    assert session.solve_whole(np.ones(60, bool), nodes=0).nodes <= 1
