"""What the operations mean: the oracle against linear programs and against the definitions themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from gpuga.kernels import INFINITE, Backend, EquationLines, Equations, Requirements, get_backend, plane_lines
from gpuga.kernels.layout import AxisGrid
from gpuga.safety.box_options import options_of
from gpuga.table.crossing import Axis

from .boxes import Box, by_trying, searched
from .instances import PlaneCase, random_grid, random_plane
from .oracle import covered, without_redundant


@pytest.fixture(params=["numpy", "cpu"])
def backend(request: pytest.FixtureRequest) -> Backend:
    return get_backend(request.param)


def matrix(lines: EquationLines) -> csr_array:
    return csr_array((lines.coef, lines.cell, lines.start), shape=(lines.count, lines.cells))


def largest_move(
    lines: EquationLines, up: np.ndarray, down: np.ndarray, pattern: np.ndarray, cell: int, sign: int
) -> float:
    """How far the attacker can move a cell, by linear programming."""
    bounds = [
        (-float(d) if s else 0.0, (None if u >= INFINITE else float(u)) if s else 0.0)
        for u, d, s in zip(up.ravel(), down.ravel(), pattern, strict=True)
    ]
    objective = np.zeros(lines.cells)
    objective[cell] = -sign
    solved = linprog(objective, A_eq=matrix(lines), b_eq=np.zeros(lines.count), bounds=bounds, method="highs")
    return float("inf") if solved.status == 3 else -solved.fun


def cases(count: int) -> list[PlaneCase]:
    shapes = [None, (3, 4), (4, 4), (5, 3)]
    return [random_plane(np.random.default_rng([seed, 11]), shapes[seed % 4], count=3) for seed in range(count)]


def is_kernel_vector(lines: EquationLines, box: Box) -> bool:
    moved = np.zeros(lines.cells, np.int64)
    moved[list(box)] = list(box.values())
    return not (matrix(lines) @ moved).any()


def test_covered_means_that_the_attacker_can_move_the_cell_that_far() -> None:
    for case in cases(16):
        if case.plane.cells > 40:
            continue
        safe = covered(case.patterns, case.plane, case.requirements)
        for p, t in case.items:
            need, sign = int(case.requirements.need[t]), int(case.requirements.direction[t])
            reach = largest_move(case.lines, case.up, case.down, case.patterns[p], int(case.requirements.cell[t]), sign)
            assert safe[p, t] == (reach >= need - 1e-6)


def test_suppressing_more_never_leaves_a_requirement_uncovered() -> None:
    for case in cases(30):
        more = case.patterns | (np.random.default_rng(1).random(case.patterns.shape) < 0.3)
        before, after = (covered(p, case.plane, case.requirements) for p in (case.patterns, more))
        assert (after >= before).all()


def test_clean_up_keeps_what_is_covered_and_leaves_nothing_redundant() -> None:
    for case in cases(12):
        if case.plane.cells > 40:
            continue
        before = covered(case.patterns, case.plane, case.requirements)
        cleaned = without_redundant(case.patterns, case.plane, case.requirements, case.weights, case.primary)
        np.testing.assert_array_equal(covered(cleaned, case.plane, case.requirements), before)
        assert (cleaned <= case.patterns).all()
        assert (cleaned[:, case.primary] == case.patterns[:, case.primary]).all()
        for p in range(len(cleaned)):
            for cell in np.flatnonzero(cleaned[p] & ~case.primary):
                without = cleaned[p : p + 1].copy()
                without[0, cell] = False
                assert (before[p] & ~covered(without, case.plane, case.requirements)[0]).any()


def grid_lines(axes: list[Axis]) -> EquationLines:
    """All sum equations of a grid: along every axis, every total is the sum of each of its families."""
    shape = [axis.codes for axis in axes]
    number = np.arange(np.prod(shape)).reshape(shape)
    start, cells, coef = [0], [], []
    for d, axis in enumerate(axes):
        along = np.moveaxis(number, d, 0)
        for total, parts in axis.families:
            for rest in np.ndindex(along.shape[1:]):
                cells += [along[(total, *rest)], *(along[(part, *rest)] for part in parts)]
                coef += [-1] + [1] * len(parts)
                start.append(len(cells))
    return EquationLines.of(start, np.array(cells, np.int32), coef, number.size)


@pytest.mark.parametrize("way", [searched, by_trying])
def test_a_box_is_a_kernel_vector_of_the_table_that_covers_its_requirement(way: Callable[..., list[Box]]) -> None:
    seen = 0
    for seed in range(40):
        case = random_grid(np.random.default_rng([seed, 12]))
        lines = grid_lines(case.axes)
        for inside in (False, True):
            boxes = way(case.patterns, case.grid, (case.up, case.down), case.requirements, case.weights, inside)
            for q, box in enumerate(boxes):
                if not box:
                    continue
                seen += 1
                p, t = divmod(q, len(case.requirements))
                own, cells, amounts = int(case.requirements.cell[t]), np.array(list(box)), np.array(list(box.values()))
                assert is_kernel_vector(lines, box)
                assert box[own] == case.requirements.direction[t] * case.requirements.need[t]
                assert (amounts <= case.up[cells]).all()
                assert (-amounts <= case.down[cells]).all()
                others = cells[cells != own]
                assert not inside or case.patterns[p, others].all()
                assert (case.weights[others][~case.patterns[p, others]] >= 0).all()
    assert seen > 50


@pytest.mark.parametrize("way", [searched, by_trying])
def test_a_total_is_protected_by_a_box_as_well(way: Callable[..., list[Box]]) -> None:
    deep, flat = Axis(5, ((0, (1, 2)), (1, (3, 4)))), Axis(3, ((0, (1, 2)),))
    grid = AxisGrid.of([options_of(deep), options_of(flat)])
    everything = np.ones((1, grid.cells), np.bool_)
    requirements = Requirements.of([0, 3, 4], [1, -1, 1], [2, 2, 2])
    bound = np.full(grid.cells, 5)
    assert all(way(everything, grid, (bound, bound), requirements, np.ones(grid.cells, np.int64), True))


def test_unpicking_never_excludes_what_the_attacker_can_reach(backend: Backend) -> None:
    for case in cases(8):
        if case.plane.cells > 40:
            continue
        fall, rise = backend.unpick(case.patterns, case.lines, case.up, case.down)
        for p in range(len(case.patterns)):
            for cell in np.flatnonzero(case.patterns[p])[:6]:
                assert rise[p, cell] >= largest_move(case.lines, case.up, case.down, case.patterns[p], cell, 1) - 1e-6
                assert fall[p, cell] >= largest_move(case.lines, case.up, case.down, case.patterns[p], cell, -1) - 1e-6


def test_unpicking_recovers_a_lone_suppression(backend: Backend) -> None:
    pattern = np.zeros((1, 9), np.bool_)
    pattern[0, 0] = True
    free = np.full((3, 3), INFINITE)
    fall, rise = backend.unpick(pattern, plane_lines(3, 3), free, free)
    assert not fall.any()
    assert not rise.any()


def test_first_order_points_keep_their_bounds_and_come_near_the_optimum(backend: Backend) -> None:
    equations = Equations.of([0, 3], [0, 1, 2], [1.0, 1.0, -1.0], 3)
    pull = np.array([[1.0], [0.0], [0.0]])
    lower, upper = np.full((3, 1), -1.0), np.array([[5.0], [1.0], [2.0]])
    z = backend.first_order(equations, pull, lower, upper, 2_000)
    assert (z >= lower).all()
    assert (z <= upper).all()
    assert z[0, 0] == pytest.approx(3.0, abs=0.05)
