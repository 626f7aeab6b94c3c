"""Attackers of a fractional point in one tableau: they find what a linear programming solver finds."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.bounds.cut import Floats
from gpuga.bounds.separators.attacker import FractionalAttacker, bridges, products_of_levels
from gpuga.bounds.separators.line_cuts import Product, level_row
from gpuga.bounds.separators.point_attacker import PointAttacker, _solved
from gpuga.context import Clock
from gpuga.problem.general import GeneralProblem
from gpuga.table.generate import smith3d


def a_point(seed: int) -> tuple[GeneralProblem, Floats]:
    problem = GeneralProblem.of(smith3d((5, 4, 4), 0.1, 0.1, seed))
    random = np.random.default_rng(seed)
    size = len(problem.weight)
    z = random.uniform(0.2, 1.0, size) * (random.random(size) < random.uniform(0.6, 1.0))
    return problem, np.where(problem.forced, 1.0, np.where(problem.candidate, z, 0.0))


def furthest(problem: GeneralProblem, number: int, product: Product, z: Floats, room: float) -> float:
    """How far the cell of a requirement can go by `y M`, in needs, where no cell has more room than `room` needs."""
    table, tasks, cells = problem.table, problem.plain, product.cell
    own = int(product.of_cells[cells == tasks.cell[number]][0]) * int(tasks.direction[number])
    rate = -product.of_cells / own
    most = np.minimum(np.where(rate > 0, table.up[cells], table.down[cells]) / tasks.need[number], room)
    return float((np.abs(rate) * most * z[cells])[cells != tasks.cell[number]].sum())


@pytest.mark.parametrize("room", [1.0, 64.0])
def test_the_requirements_out_of_reach_are_those_of_the_programs_and_the_multipliers_show_it(room: float) -> None:
    seen = {True: 0, False: 0}
    for seed in range(12):
        problem, z = a_point(seed)
        table, tasks = problem.table, problem.plain
        found = dict(PointAttacker(table, z).out_of_reach(tasks, room))
        asked = dict(products_of_levels(FractionalAttacker(table), tasks, z, room, Clock()))
        assert set(found) == set(asked)
        for number, product in found.items():
            assert level_row(table, tasks, number, product) is not None
            assert furthest(problem, number, product, z, room) < 1.0
        seen[True] += len(found)
        seen[False] += len(tasks) - len(found)
    assert min(seen.values()) > 20


def test_what_the_lines_add_up_to_is_said_of_all_cells() -> None:
    problem, z = a_point(3)
    lines = problem.table.lines
    for _, product in PointAttacker(problem.table, z).out_of_reach(problem.plain):
        total = np.zeros(len(problem.table), np.int64)
        for line, times in zip(product.line.tolist(), product.y.tolist(), strict=True):
            entries = slice(int(lines.start[line]), int(lines.start[line + 1]))
            np.add.at(total, lines.cell[entries], times * lines.coef[entries])
        held = np.flatnonzero(total)
        assert np.array_equal(held, product.cell)
        assert (total[held] * product.of_cells[0] == product.of_cells * total[held[0]]).all()


def test_cells_that_cannot_move_are_cut_off_as_the_programs_do() -> None:
    seen = 0
    for seed in range(20, 40):
        problem, z = a_point(seed)
        z = np.where(np.random.default_rng(seed).random(len(z)) < 0.5, 0.0, z)
        z[problem.forced] = 1.0
        found = list(PointAttacker(problem.table, z).bridges(problem.candidate))
        asked = list(bridges(FractionalAttacker(problem.table), problem.candidate, z, Clock()))
        assert (len(found) > 0) == (len(asked) > 0)
        for cut in found:
            assert cut.violation(z) > 0
        seen += len(found)
    assert seen > 5


def test_a_point_without_suppressed_cells_asks_nobody() -> None:
    problem, z = a_point(1)
    nothing = PointAttacker(problem.table, np.zeros(len(z)))
    assert nothing.size == 0
    assert list(nothing.out_of_reach(problem.plain)) == []
    assert list(nothing.bridges(problem.candidate)) == []


def test_systems_are_solved_and_those_without_a_solution_give_zeros() -> None:
    random = np.random.default_rng(4)
    for size in (1, 5, 12):
        matrix = random.integers(-1, 2, (size, size)) + 3.0 * np.eye(size)[random.permutation(size)]
        wanted = random.integers(-3, 4, size).astype(float)
        assert matrix @ _solved(matrix.copy(), wanted.copy()) == pytest.approx(wanted)
    assert _solved(np.ones((2, 2)), np.array([1.0, 0.0])).tolist() == [0.0, 0.0]
