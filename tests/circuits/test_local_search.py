"""Local search against the exact audit, and its cheapest changes against a linear programming solver."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from gpuga.bounds.search import BranchAndCut
from gpuga.circuits import local_search as module
from gpuga.circuits.cover import Cover
from gpuga.circuits.local_search import ROOM, ChangeProgram, LocalSearch
from gpuga.context import Clock, Context
from gpuga.lp.highs import Highs
from gpuga.problem.general import GeneralProblem
from gpuga.safety.audit import judge
from gpuga.safety.requirements import level_requirements
from gpuga.table import Levels, Status, Table
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.generate import smith2d, smith3d
from gpuga.table.grid import flat_dimension, full_grid, grid_lines, sum_up
from gpuga.table.table import Mask

Floats = NDArray[np.float64]

TABLES = {
    "two-way": smith2d(8, 7, 0.12, 0.1, 3),
    "hierarchical": smith2d(9, 7, 0.1, 0.05, 2, hierarchical=1),
    "3-D": smith3d((5, 4, 4), 0.08, 0.1, 1),
    "larger 3-D": smith3d((6, 5, 4), 0.1, 0.1, 2),
}


def covered(table: Table, suppressed: Mask | None = None) -> Cover:
    """A safe pattern with its circuits: everything that may be suppressed, where none is given."""
    suppressed = table.suppressible if suppressed is None else suppressed
    requirements = GeneralProblem.of(table).requirements
    cover = Cover(table, requirements, Context(), suppressed)
    cover.inside(range(len(requirements)))
    assert not cover.open()
    return cover


def around(cover: Cover, seed: int = 1, point: Floats | None = None) -> LocalSearch:
    local = LocalSearch(cover.table, cover.requirements, seed)
    local.begin(cover.suppressed, cover.changes())
    local.point = point
    return local


def safe(table: Table, suppressed: Mask) -> bool:
    return judge(table, suppressed, AttackerModel(False), context=Context()).safe


@pytest.mark.parametrize("name", TABLES)
def test_from_everything_suppressed_the_search_comes_to_a_far_cheaper_safe_pattern(name: str) -> None:
    table = TABLES[name]
    start = covered(table)
    found = around(start).run(60, Clock())
    assert safe(table, found)
    assert (found >= table.forced).all()
    assert not (found & ~table.suppressible).any()
    assert table.cost(found) < 0.7 * table.cost(start.suppressed)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_found_after_any_number_of_steps_is_safe_and_never_dearer_than_the_start(name: str, seed: int) -> None:
    table = TABLES[name]
    start = Cover(table, GeneralProblem.of(table).requirements, Context())
    start.by_lp(range(len(start.requirements)))
    local, cost = around(start, seed), table.cost(start.suppressed)
    for steps in (1, 3, 8, 20):
        found = local.run(steps, Clock())
        assert safe(table, found)
        assert safe(table, local.suppressed)  # where it goes on from, which may be dearer
        assert table.cost(found) <= cost
        local.begin(found, covered(table, found).changes())
        cost = table.cost(found)


def test_a_poor_start_ends_at_the_optimum_of_a_small_table() -> None:
    table = TABLES["3-D"]
    exact = BranchAndCut(GeneralProblem.of(table), Context())
    exact.run()
    assert exact.proven
    found = around(covered(table)).run(200, Clock())
    assert safe(table, found)
    assert table.cost(found) == exact.cost + table.cost(table.forced)


def test_the_same_seed_finds_the_same_pattern() -> None:
    start = covered(TABLES["larger 3-D"])
    found = [around(start, seed).run(25, Clock()) for seed in (4, 4, 5, 6)]
    assert (found[0] == found[1]).all()
    assert len({pattern.tobytes() for pattern in found}) > 1


def test_when_the_time_is_up_the_start_is_what_was_found() -> None:
    start, clock = covered(TABLES["3-D"]), Clock()
    clock.interrupt()
    assert (around(start).run(50, clock) == start.suppressed).all()
    assert (around(start).run(50, Clock(0.0)) == start.suppressed).all()
    assert (around(start).run(0, Clock()) == start.suppressed).all()


def test_nothing_is_done_where_nothing_but_primaries_is_suppressed() -> None:
    table = TABLES["3-D"]
    requirements = level_requirements(table).subset(np.zeros(0, np.int64))
    local = LocalSearch(table, requirements, 1)
    local.begin(table.forced, [])
    assert (local.run(5, Clock()) == table.forced).all()


@pytest.mark.parametrize("kind", ["nothing", "everything", "anything", "wrong"])
def test_whatever_a_fractional_point_says_the_pattern_is_safe(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GUIDED", 1.0)
    table = TABLES["3-D"]
    random, start = np.random.default_rng(7).random(len(table)), covered(table)
    point = {
        "nothing": np.zeros(len(table)),
        "everything": np.ones(len(table)),
        "anything": random,
        "wrong": np.where(table.weight > np.median(table.weight), 1.0, 0.0),
    }[kind]
    found = around(start, point=point).run(40, Clock())
    assert safe(table, found)
    assert table.cost(found) < table.cost(start.suppressed)


def test_a_point_leads_the_search_to_other_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GUIDED", 1.0)
    table, start = TABLES["larger 3-D"], covered(TABLES["larger 3-D"])
    points = np.random.default_rng(3).random((3, len(table)))
    found = {around(start, point=point).run(25, Clock()).tobytes() for point in points}
    assert len(found) > 1


def giant_beside_dwarf() -> Table:
    """A table with needs that no two numbers of one linear program should have: 1 and 10^13."""
    dimensions = [flat_dimension(name, [str(code) for code in range(4)]) for name in "rc"]
    inner = np.random.default_rng(2).integers(20, 60, (4, 4)) * 10**13
    inner[2:, 2:] = [[5, 7], [6, 9]]
    laid = np.zeros((5, 5), np.int64)
    laid[:4, :4] = inner
    value = sum_up(laid, dimensions).ravel()
    status, level = np.full(25, Status.SUPPRESSIBLE), np.zeros(25, np.int64)
    for cell, need in ((0, 10**13), (12, 1)):
        status[cell], level[cell] = Status.SENSITIVE, need
    grid = full_grid(dimensions)
    return Table.build(value, grid_lines(grid), status=status, grid=grid, levels=Levels(level, level, 0 * level))


def test_a_need_that_floats_cannot_see_beside_another_ends_the_step_and_not_the_search() -> None:
    table = giant_beside_dwarf()
    start = covered(table)
    found = around(start).run(30, Clock())
    assert safe(table, found)
    assert table.cost(found) <= table.cost(start.suppressed)


def room_of(table: Table, cells: NDArray[np.int64], unit: float) -> Floats:
    """How far each cell may rise, then how far it may fall, in parts."""
    return np.minimum(np.concatenate([table.up[cells], table.down[cells]]) / unit, ROOM)


def cheapest(table: Table, cells: NDArray[np.int64], prices: Floats, room: Floats, fixed: dict[int, float]) -> Mask:
    """The cells that the solver's cheapest change moves; none where it says that there is none."""
    matrix = np.zeros((len(table.lines), len(table)))
    np.add.at(matrix, (table.lines.line_of_entry, table.lines.cell), table.lines.coef)
    bounds = np.column_stack([np.zeros(len(room)), room])
    for column, amount in fixed.items():
        bounds[column] = amount
    both = np.hstack([matrix[:, cells], -matrix[:, cells]])
    answer = linprog(prices, A_eq=both, b_eq=np.zeros(len(both)), bounds=bounds)
    assert answer.status in (0, 2)
    if answer.status == 2:
        return np.zeros(len(cells), bool)
    return np.asarray(np.abs(answer.x[: len(cells)] - answer.x[len(cells) :]) > 1e-6)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("by_capacity", [False, True], ids=["by unit", "by capacity"])
def test_a_change_moves_the_cells_of_the_cheapest_one(name: str, by_capacity: bool) -> None:
    table, random = TABLES[name], np.random.default_rng(5)
    requirements = level_requirements(table)
    cells = np.flatnonzero(table.suppressible & ((table.up > 0) | (table.down > 0)))
    unit, count = float(requirements.need.max()) / 1e3, len(cells)
    program, room = ChangeProgram(table, cells, unit, Highs()), room_of(table, cells, unit)
    for r in random.permutation(len(requirements))[:10].tolist():
        column = int(np.searchsorted(cells, requirements.cell[r]))
        direction, need = int(requirements.direction[r]), float(requirements.need[r]) / unit
        price = random.uniform(0.5, 2.0, count)  # no two changes cost the same
        moved = program.moved(column, direction, need, price, by_capacity)
        prices = np.concatenate([price, price])
        if by_capacity:
            prices *= need / np.clip(room, 1e-7, need)
        fixed = {column: need, column + count: 0.0} if direction > 0 else {column: 0.0, column + count: need}
        assert moved is not None
        assert moved[column]
        assert (moved == cheapest(table, cells, prices, room, fixed)).all()


def test_there_is_no_change_where_a_cell_cannot_move_so_far() -> None:
    table = TABLES["3-D"]
    cells = np.flatnonzero(table.suppressible & (table.down > 0))
    smallest = int(np.argmin(table.down[cells]))
    program = ChangeProgram(table, cells, 1.0, Highs())
    price = np.ones(len(cells))
    least = float(table.down[cells[smallest]])
    assert program.moved(smallest, -1, least, price, False) is not None
    alone = np.array([cells[smallest]])
    assert ChangeProgram(table, alone, 1.0, Highs()).moved(0, -1, least, np.ones(1), False) is None
    again = program.moved(smallest, -1, least, price, False)
    assert again is not None  # questions leave nothing behind


def test_a_question_leaves_the_bounds_of_its_cell_as_they_were() -> None:
    table = TABLES["larger 3-D"]
    requirements = level_requirements(table)
    cells = np.flatnonzero(table.suppressible & ((table.up > 0) | (table.down > 0)))
    unit = float(requirements.need.max()) / 1e3
    price = np.random.default_rng(9).uniform(0.5, 2.0, len(cells))
    used = ChangeProgram(table, cells, unit, Highs())
    for r in range(len(requirements)):
        asked = (
            int(np.searchsorted(cells, requirements.cell[r])),
            int(requirements.direction[r]),
            float(requirements.need[r]) / unit,
        )
        fresh = ChangeProgram(table, cells, unit, Highs()).moved(*asked, price, False)
        now = used.moved(*asked, price, False)
        assert now is not None
        assert fresh is not None
        assert (now == fresh).all()
