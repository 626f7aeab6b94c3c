"""The attacker's program piece by piece: what is asked of the solver, and what is made of its answers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gpuga.lp.highs import Highs
from gpuga.lp.solver import Answer, Model, SolveStatus
from gpuga.safety.attacker import FARTHEST_NEAR, FARTHEST_WHOLE, ROUNDS, ZOOM, Attacker, Reach, _float, _floats
from gpuga.safety.witness import hold, witness_of
from gpuga.table import INFINITE, Levels, Lines, Table
from gpuga.table.builders import table_from_array
from gpuga.table.witnesses import Witnesses

NOTHING = Reach(Fraction(0), None, None)


def one_line(coef: list[int], value: list[int], **more: object) -> Table:
    """One equation with these coefficients; nothing is sensitive unless said otherwise."""
    n = len(coef)
    rhs = np.array([int(np.dot(coef, value))])
    lines = Lines(np.array([0, n]), np.arange(n, dtype=np.int32), np.array(coef), rhs)
    return Table.build(np.array(value), lines, **more)  # type: ignore[arg-type]


def everything(table: Table) -> Attacker:
    return Attacker(table, np.ones(len(table), bool))


def moves(witness: Witnesses | None) -> dict[int, Fraction]:
    assert witness is not None
    cells, amounts, denominator = witness.one(0)
    return {int(c): Fraction(int(a), denominator) for c, a in zip(cells, amounts, strict=True)}


def levels(upper: list[int], lower: list[int] | None = None) -> Levels:
    return Levels(np.array(lower or [0] * len(upper)), np.array(upper), np.zeros(len(upper), np.int64))


def test_a_program_is_measured_by_the_levels_or_else_by_finite_rooms() -> None:
    assert everything(one_line([1, -1], [9, 9], levels=levels([10**6, 0]))).unit == 100.0
    assert everything(one_line([1, -1], [9, 9], levels=levels([0, 0], [3 * 10**5, 0]))).unit == 30.0
    assert everything(one_line([1, -1], [9, 9], levels=levels([2, 0]))).unit == 1.0
    rooms = one_line([1, -1], [10**6, 10**6], ub=np.array([6 * 10**6, INFINITE]))
    assert everything(rooms).unit == 500.0
    assert everything(one_line([1, -1], [2 * 10**6, 10**6])).unit == 200.0


def test_the_program_holds_the_suppressed_cells_and_the_lines_through_them() -> None:
    table = table_from_array([[1, 2], [3, 4]], levels="1")
    hidden = np.zeros(len(table), bool)
    hidden[[0, 1, 3]] = True
    attacker = Attacker(table, hidden)
    dense = np.zeros((len(table.lines), len(table)), np.int64)
    dense[table.lines.line_of_entry, table.lines.cell] = table.lines.coef
    kept = dense[:, hidden]
    assert attacker.matrix.toarray().tolist() == kept[kept.any(axis=1)].tolist()
    assert attacker.cells.tolist() == [0, 1, 3]
    assert attacker.column.tolist() == [0, 1, -1, 2, -1, -1, -1, -1, -1]


def test_one_change_moves_each_cell_to_its_goal_and_a_little_further() -> None:
    table = table_from_array([[10, 20, 30], [40, 50, 60], [70, 80, 90]])
    attacker = Attacker(table, np.arange(len(table)) < 9)
    scale = table.scale
    for need in (3 * scale, 4 * scale):
        goal = need + max(need // 1024, 1)
        change = attacker.shared(np.array([0, 4]), np.array([1, -1], np.int8), np.array([need, need]), 10.0)
        found = moves(change)
        assert found[0] == goal
        assert found[4] == -goal
    large = one_line([1, 1], [10**7, 10**7])
    change = everything(large).shared(np.array([0]), np.array([1], np.int8), np.array([2 * 10**6]), 10.0)
    assert moves(change)[0] == 2 * 10**6 + 2 * 10**6 // 1024


def test_a_change_of_many_cells_keeps_their_own_bounds() -> None:
    table = one_line([1, 1, 1], [10, 10, 10], ub=np.array([12, 99, 99]), lb=np.array([0, 7, 0]))
    attacker = everything(table)
    change = moves(attacker.shared(np.array([0, 1]), np.array([1, -1], np.int8), np.array([5, 5]), 10.0))
    assert change[0] == 2
    assert change[1] == -3
    # the question's own bounds are taken back
    assert attacker.reach(2, 1, 1).attained == 13


def test_no_answer_is_no_change() -> None:
    class Silent(Attacker):
        def _solve(self, seconds: float) -> Answer:
            return Answer(SolveStatus.TIME_LIMIT, 0.0, np.zeros(0), np.zeros(0))

    table = one_line([1, 1], [10, 10])
    silent = Silent(table, np.ones(2, bool))
    assert silent.shared(np.array([0]), np.array([1], np.int8), np.array([5]), 1.0) is None
    assert (silent.reach(0, 1, 5).attained, silent.reach(0, 1, 5).bound) == (0, None)


@pytest.mark.parametrize("level", [2, 10**6, 3 * 10**9])
@pytest.mark.parametrize("need", [1, 5, 10**7])
@pytest.mark.parametrize("direction", [1, -1])
def test_without_limit_a_cell_moves_by_just_what_is_needed(level: int, need: int, direction: int) -> None:
    open_ = np.full(2, -INFINITE)
    table = one_line([1, -1], [10, 10], lb=open_, levels=levels([level, 0]), status=np.array([1, 0]))
    attacker = everything(table)
    found = attacker.reach(0, direction, need)
    assert found.unbounded
    assert found.bound is None
    assert found.attained == need
    assert moves(found.witness) == {0: direction * need, 1: direction * need}
    # afterwards all bounds are as they were
    assert attacker.reach(1, -direction, 3).unbounded


def test_what_goes_on_for_ever_moves_nothing_towards_a_bound() -> None:
    table = one_line([1, -1, 1], [10, 20, 10], ub=np.array([INFINITE, INFINITE, 15]), lb=np.array([0, -INFINITE, 0]))
    attacker = everything(table)

    def is_ray(*amounts: int) -> bool:
        return attacker._is_ray(witness_of(np.arange(3, dtype=np.int32), np.array(amounts)))

    assert is_ray(1, 1, 0)
    assert not is_ray(0, 1, 1)
    assert not is_ray(-1, -1, 0)
    assert is_ray(0, -1, 0)


def test_the_bound_of_a_limited_cell_is_proven() -> None:
    table = one_line([1, 1, -1], [10, 10, 20], ub=np.array([INFINITE, 14, 27]), lb=np.array([3, 8, 15]))
    attacker = everything(table)
    expected = {(0, 1): 9, (0, -1): 7, (1, 1): 4, (1, -1): 2, (2, 1): 7, (2, -1): 5}
    for (cell, direction), most in expected.items():
        found = attacker.reach(cell, direction, 1)
        assert (found.attained, found.bound, found.unbounded) == (most, most, False)
        for goal in (1, most, most + 1, most + 5):
            capped = attacker.reach(cell, direction, goal, or_nothing=True)
            assert capped.attained == min(goal, most)
            assert not capped.unbounded
            assert goal <= most or (capped.bound is not None and capped.bound < goal)


def test_whoever_wants_a_witness_only_gets_it_exactly_where_there_is_one() -> None:
    attacker = everything(one_line([1, 1, -1], [10, 10, 20], ub=np.array([INFINITE, 14, 27]), lb=np.array([3, 8, 15])))
    for goal in (1, 9, 10, 2000):
        found = attacker.reach(0, 1, goal, or_nothing=True, witness_only=True)
        assert (found.attained >= goal) == (goal <= 9)
        assert found.bound is None or found.bound < goal
    assert attacker.reach(0, 1, 2000, or_nothing=True, witness_only=True).bound is None
    assert attacker.reach(0, 1, 2000, or_nothing=True).bound == 9


def test_published_cells_stand_still_until_they_are_hidden_again() -> None:
    attacker = everything(one_line([1, 1, 1], [10, 10, 10]))
    assert attacker.reach(0, 1, 1).attained == 20
    attacker.publish(np.array([2]))
    assert attacker.reach(0, 1, 1).attained == 10
    assert not hold(attacker.allowed, witness_of(np.array([0, 2], np.int32), np.array([1, -1])))[0]
    attacker.hide(np.array([2]))
    assert attacker.reach(0, 1, 1).attained == 20
    assert hold(attacker.allowed, witness_of(np.array([0, 2], np.int32), np.array([1, -1])))[0]


TWICE = one_line([2, -1], [10, 20], ub=np.array([16, 40]), lb=np.array([5, 0]))
"""Twice the first is the second, which therefore moves by twos: up to 12, down to 10."""


@pytest.mark.parametrize(
    ("direction", "need", "attained"), [(1, 3, 4), (1, 4, 4), (1, 11, 12), (-1, 3, 4), (-1, 9, 10), (-1, 1, 2)]
)
def test_a_whole_move_goes_as_far_as_is_needed_and_no_further(direction: int, need: int, attained: int) -> None:
    found = everything(TWICE).whole_reach(1, direction, need, NOTHING)
    assert found.attained == attained
    assert moves(found.witness) == {0: Fraction(direction * attained, 2), 1: direction * attained}
    assert found.bound is None


@pytest.mark.parametrize(("direction", "most"), [(1, 12), (-1, 10)])
def test_the_farthest_whole_move_is_proven_where_all_rooms_are_looked_at(direction: int, most: int) -> None:
    attacker = everything(TWICE)
    found = attacker.whole_reach(1, direction, None, NOTHING)
    assert (found.attained, found.bound) == (most, most)
    too_far = attacker.whole_reach(1, direction, most + 1, NOTHING)
    assert (too_far.attained, too_far.bound) == (most, most)
    wide = everything(one_line([2, -1], [10, 20], ub=np.array([16, INFINITE]), lb=np.array([5, 0])))
    open_end = wide.whole_reach(1, direction, None, NOTHING)
    assert (open_end.attained, open_end.bound) == (most, None)


def test_a_cell_that_cannot_move_at_all_in_whole_numbers_is_proven_to_stay() -> None:
    odd = one_line([2, -3], [30, 20], ub=np.array([32, 21]), lb=np.array([28, 19]))
    found = everything(odd).whole_reach(0, 1, None, NOTHING)
    assert (found.attained, found.witness, found.bound) == (0, None, 0)
    assert everything(odd).whole_reach(0, 1, 1, NOTHING).attained == 0


def test_a_move_that_its_own_bounds_forbid_is_not_asked_for() -> None:
    attacker = everything(TWICE)
    found = attacker._in_whole(1, 1, 21, 2**20, 9.0)
    assert (found.attained, found.witness, found.bound) == (0, None, None)
    assert attacker.solves == 0
    assert attacker._in_whole(1, 1, 20, 2**20, 9.0).attained == 0
    assert attacker.solves == 1
    assert attacker._in_whole(1, -1, 21, 2**20, 9.0).witness is None
    assert attacker.solves == 1


def test_no_cell_moves_further_than_is_looked() -> None:
    attacker = everything(TWICE)
    for direction in (1, -1):
        assert attacker._in_whole(1, direction, None, 6, 9.0).attained == 6
        assert attacker._in_whole(1, direction, None, 7, 9.0).attained == 6
        assert attacker._in_whole(1, direction, None, 6, 9.0).bound is None
    assert attacker._in_whole(1, 1, None, 20, 9.0).bound == 12


def linear(attacker: Attacker, cell: int, direction: int) -> Reach:
    found = attacker.reach(cell, direction, 1)
    assert found.witness is not None
    return found


def test_near_the_linear_move_one_program_is_enough() -> None:
    # 2 x = 3 y: x may rise by 7 and fall by 5, so y by 14/3 and 10/3; in whole numbers by 4 and by 2
    table = one_line([2, -3], [30, 20], ub=np.array([37, 99]), lb=np.array([25, 0]))
    attacker = everything(table)
    for direction, share, whole in ((1, Fraction(14, 3), 4), (-1, Fraction(10, 3), 2)):
        start = linear(attacker, 1, direction)
        assert start.attained == start.bound == share
        before = attacker.solves
        found = attacker.whole_reach(1, direction, None, start)
        assert found.attained == whole
        assert moves(found.witness) == {0: direction * whole * Fraction(3, 2), 1: direction * whole}
        assert found.bound == (4 if direction > 0 else 2)
        assert attacker.solves == before + (1 if direction > 0 else 2)
        before = attacker.solves
        needed = attacker.whole_reach(1, direction, 2, start)
        assert 2 <= needed.attained <= whole
        assert attacker.solves == before + 1


def test_a_whole_move_near_a_linear_one_is_not_proven_where_a_need_is_given() -> None:
    table = one_line([2, -3], [30, 20], ub=np.array([37, 99]), lb=np.array([25, 0]))
    attacker = everything(table)
    start = linear(attacker, 1, 1)
    assert attacker._whole_near(1, 1, None, start, 9.0).bound == 4
    assert attacker._whole_near(1, 1, 2, start, 9.0).bound is None
    assert attacker._whole_near(1, 1, None, Reach(start.attained, start.witness, None), 9.0).bound is None
    assert attacker._whole_near(1, 1, None, NOTHING, 9.0).witness is None
    beyond = attacker._whole_near(1, 1, 10**6, start, 9.0)
    assert (beyond.attained, beyond.witness, beyond.bound) == (0, None, None)


def test_near_means_within_a_fixed_distance_of_the_linear_move() -> None:
    value = np.array([10**9, 10**9])
    attacker = everything(one_line([1, -1], value.tolist(), ub=value + 10**8, lb=value - 10**8))
    start = Reach(Fraction(1, 2), witness_of(np.array([0, 1], np.int32), np.array([1, 1]), 2), None)
    for direction in (1, -1):
        found = attacker._whole_near(0, direction, None, start, 9.0)
        assert found.attained == FARTHEST_NEAR
        assert attacker._whole_near(0, direction, FARTHEST_NEAR + 1, start, 9.0).witness is None
        asked = attacker._whole_near(0, direction, FARTHEST_NEAR, start, 9.0)
        assert asked.attained == FARTHEST_NEAR


@pytest.mark.parametrize(("missed", "solves"), [(FARTHEST_WHOLE - 1, 1), (FARTHEST_WHOLE, 0)])
def test_too_large_remainders_are_not_put_to_the_solvers_floats(missed: int, solves: int) -> None:
    attacker = everything(one_line([2 * missed, -1], [0, 0]))
    start = Reach(Fraction(1, 2), witness_of(np.array([0, 1], np.int32), np.array([1, 2 * missed]), 2), None)
    attacker._whole_near(0, 1, None, start, 9.0)
    assert attacker.solves == solves


def test_beyond_the_solvers_floats_only_near_moves_are_looked_for() -> None:
    attacker = everything(TWICE)
    assert attacker.whole_reach(1, 1, FARTHEST_WHOLE // 8, NOTHING).attained == 0
    assert attacker.solves == 0
    far = one_line([2, -1], [10, 20], ub=np.array([16, 20 + FARTHEST_WHOLE]))
    assert everything(far).whole_reach(1, 1, None, NOTHING).attained == 12
    farther = everything(one_line([2, -1], [10, 20], ub=np.array([16, 21 + FARTHEST_WHOLE])))
    assert farther.whole_reach(1, 1, None, NOTHING).attained == 0
    assert farther.whole_reach(1, 1, 3, NOTHING).attained == 4


def test_far_limits_are_those_beyond_what_an_integer_program_looks_at() -> None:
    most = FARTHEST_WHOLE
    value = np.full(6, 2**40)
    table = Table.build(
        value,
        Lines(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)),
        ub=value + np.array([most, most + 1, 5, 5, 5, INFINITE - 2**40]),
        lb=np.array([2**40 - 5, 2**40, 2**40 - most, 2**40 - most - 1, -INFINITE, -INFINITE]),
    )
    assert everything(table)._far().tolist() == [False, True, False, True, False, False]


def test_floats_of_bounds_are_in_units_and_open_ones_are_infinite() -> None:
    attacker = everything(one_line([1, -1], [9, 9], levels=levels([10**6, 0])))
    found = attacker._floats(np.array([200, -300, INFINITE, -INFINITE, 0]))
    assert found.tolist() == [2.0, -3.0, np.inf, -np.inf, 0.0]


def test_exact_numbers_become_floats_or_infinite() -> None:
    assert _float(Fraction(1, 4)) == 0.25
    assert _float(Fraction(10) ** 400) == np.inf
    assert _float(-(Fraction(10) ** 400)) == -np.inf
    assert _floats(np.array([3, -5], dtype=object), Fraction(1, 2)).tolist() == [1.5, -2.5]


class Stubborn(Highs):
    """A solver that names no basis: its floats are all there is, and of its multipliers so many times what they are."""

    def __init__(self, multipliers: float) -> None:
        self.multipliers = multipliers

    def session(self, model: Model):  # type: ignore[no-untyped-def]
        made = super().session(model)
        solve = made.solve
        made.basis = lambda: None  # type: ignore[method-assign]
        made.solve = lambda seconds=9.0: self.altered(solve(seconds))  # type: ignore[method-assign]
        return made

    def altered(self, answer: Answer) -> Answer:
        return replace(answer, row_dual=self.multipliers * answer.row_dual)


def test_floats_of_a_solver_without_a_basis_are_a_proposal_like_any_other() -> None:
    table = one_line([2, 1, -1], [10, 10, 30], ub=np.array([13, 15, 37]), lb=np.array([9, 9, 25]))
    attacker = Attacker(table, np.ones(3, bool), Stubborn(np.nan))
    found = attacker.reach(2, 1, 1)
    assert (found.attained, found.bound) == (7, None)
    assert hold(attacker.allowed, found.witness)[0]  # type: ignore[arg-type]
    short = Answer(SolveStatus.OPTIMAL, 0.0, np.zeros(2), np.zeros(0))
    assert attacker._read(short) is None


def test_multipliers_count_as_far_as_they_prove_something() -> None:
    # 2 a + b = c: the third cell may rise by 7, where the others have room for 11
    table = one_line([2, 1, -1], [10, 10, 30], ub=np.array([13, 15, 37]), lb=np.array([9, 9, 25]))
    right, wrong = (Attacker(table, np.ones(3, bool), Stubborn(factor)) for factor in (1.0, 5.0))
    assert right.reach(2, 1, 1).bound == 7
    assert right.reach(0, -1, 1).bound == 1
    short = wrong.reach(0, 1, 1)
    assert short.attained == 3
    assert short.bound is None or short.bound >= 3
    program = right._program()
    assert program.bound_by(np.array([0]), 1, 2, 1) == 7
    assert program.bound_by(np.array([-1]), 1, 2, 1) == 11
    assert program.bound_by(np.array([-1]), 2, 2, 1) == Fraction(7 + 11, 2)
    assert program.bound_by(np.array([2**61]), 1, 2, 1) is None


def test_a_point_that_passes_its_bounds_is_drawn_back() -> None:
    attacker = everything(one_line([1, 1], [10, 10], ub=np.array([14, 99])))
    drawn = attacker._inside((np.array([8, -8]), 1))
    assert moves(drawn) == {0: 4, 1: -4}
    assert moves(attacker._inside((np.array([3, -3]), 2))) == {0: Fraction(3, 2), 1: Fraction(-3, 2)}
    assert attacker._inside((np.array([0, 0]), 1)) is None
    assert attacker._inside((np.array([3, -2]), 1)) is None
    stuck = everything(one_line([1, 1], [10, 10], ub=np.array([10, 99])))
    assert stuck._inside((np.array([1, -1]), 1)) is None


def test_how_far_a_witness_moves_a_cell_is_read_with_its_sign() -> None:
    attacker = everything(one_line([1, 1, 1], [10, 10, 10]))
    witness = witness_of(np.array([0, 2], np.int32), np.array([3, -3]), 2)
    assert attacker._moved(witness, 0, 1) == Fraction(3, 2)
    assert attacker._moved(witness, 2, -1) == Fraction(3, 2)
    assert attacker._moved(witness, 2, 1) == Fraction(-3, 2)
    assert attacker._moved(witness, 1, 1) == 0


def test_an_exact_vertex_needs_a_basis() -> None:
    attacker = everything(one_line([1, 1], [10, 10]))
    attacker._price({0: 1.0})
    attacker._solve(9.0)
    assert attacker._vertex(attacker._program()) is not None
    session = attacker._open()
    session.basis = lambda: None  # type: ignore[method-assign]
    assert attacker._vertex(attacker._program()) is None


def test_a_program_is_magnified_around_its_exact_point() -> None:
    """What the point misses of its bounds, in units that are finer by the zoom; prices are enlarged, too."""
    attacker = everything(one_line([1, 1], [10, 10], ub=np.array([14, INFINITE]), lb=np.array([0, 4])))
    noted: dict[str, list[list[float]]] = {}

    class Noted:
        def set_bounds(self, columns, lower, upper):  # type: ignore[no-untyped-def]
            noted["bounds"] = [lower.tolist(), upper.tolist()]

        def set_rows(self, lower, upper):  # type: ignore[no-untyped-def]
            noted["rows"] = [lower.tolist(), upper.tolist()]

        def set_cost(self, columns, cost):  # type: ignore[no-untyped-def]
            noted["cost"] = [columns.tolist(), cost.tolist()]

    attacker._session = Noted()  # type: ignore[assignment]
    program = attacker._program()
    priced = (np.array([3, -1], dtype=object), 2)
    assert attacker._magnify(program, (np.array([7, -7]), 2), priced, 1.0) == ZOOM
    assert noted["bounds"] == [[-13.5 * ZOOM, -2.5 * ZOOM], [0.5 * ZOOM, np.inf]]
    assert noted["rows"] == [[0.0], [0.0]]
    assert noted["cost"] == [[0, 1], [1.5 * ZOOM, -0.5 * ZOOM]]
    assert attacker._priced.tolist() == [0, 1]
    # a point that misses a bound by half a unit is magnified no further than to a whole one
    assert attacker._magnify(program, (np.array([9, -9]), 2), priced, 1.0) == 2.0
    assert noted["bounds"] == [[-29.0, -3.0], [-1.0, np.inf]]
    assert attacker._magnify(program, (np.array([5, -4]), 1), priced, ZOOM) == 1.0
    assert noted["rows"] == [[-1.0], [-1.0]]


def test_a_cell_that_cannot_move_has_no_witness_though_others_move() -> None:
    lines = Lines(np.array([0, 2, 4]), np.arange(4, dtype=np.int32), np.ones(4, np.int64), np.array([20, 20]))
    table = Table.build(np.full(4, 10), lines, ub=np.array([10, 99, 13, 99]))
    attacker = everything(table)
    found = attacker.reach(0, 1, 1)
    assert (found.attained, found.witness, found.bound) == (0, None, 0)
    assert attacker.reach(2, 1, 1).attained == 3


def one_behind_another(value: int, lacking: list[int]) -> Attacker:
    """The first cell equals each of the others; they may double, but for so many units."""
    count = len(lacking) + 1
    cells = np.array([[0, other] for other in range(1, count)], np.int32).ravel()
    rows = np.zeros(count - 1, np.int64)
    lines = Lines(np.arange(0, 2 * count - 1, 2), cells, np.array([1, -1] * (count - 1)), rows)
    ub = np.append([INFINITE], 2 * value - np.array(lacking))
    status = (np.arange(count) == 0).astype(np.uint8)
    table = Table.build(np.full(count, value), lines, ub=ub, status=status, levels=levels([value] + [0] * (count - 1)))
    return everything(table)


@pytest.mark.parametrize("value", [10**6, 10**14, 10**16])
def test_a_unit_that_the_solvers_floats_do_not_show_is_seen_in_the_magnified_program(value: int) -> None:
    magnified = 0
    for lacking in ([0, 1], [1, 0], [2, 1, 0], [2, 0, 1]):
        attacker = one_behind_another(value, lacking)
        found = attacker.reach(0, 1, 1)
        assert found.attained == found.bound == value - max(lacking)
        magnified += attacker.solves > 1
        # afterwards the program is what it was
        assert attacker.reach(0, -1, 1).attained == value
        again = attacker.reach(0, 1, 1)
        assert again.attained == again.bound == value - max(lacking)
    assert (magnified > 0) == (value > 10**6)


class Prophecy:
    """A vertex that says what it is told to."""

    def __init__(self, moved: int | None, proven: int | Fraction | None, priced: bool) -> None:
        self.moved, self.proven, self.priced = moved, proven, priced

    def point(self) -> tuple[np.ndarray, int] | None:
        return None if self.moved is None else (np.array([self.moved, -self.moved]), 1)

    def reduced(self, column: int, direction: int) -> tuple[np.ndarray, int] | None:
        return (np.array([0, 1]), 1) if self.priced else None

    def bound_of(self, priced: object) -> Fraction | None:
        return None if self.proven is None else Fraction(self.proven)


class Foretold(Attacker):
    """An attacker whose rounds are told beforehand: what each vertex reaches and proves, or a status instead."""

    def __init__(
        self, *rounds: SolveStatus | tuple[int | None, int | Fraction | None] | tuple[int, None, bool]
    ) -> None:
        super().__init__(one_line([1, 1], [50, 50]), np.ones(2, bool))
        self.rounds, self.magnified, self.seconds = list(rounds), 0, []

    def _solve(self, seconds: float) -> Answer:
        self.solves += 1
        self.seconds.append(seconds)
        status = self.rounds[0] if isinstance(self.rounds[0], SolveStatus) else SolveStatus.OPTIMAL
        return Answer(status, 0.0, np.zeros(2), np.zeros(0))

    def _vertex(self, program: object) -> Prophecy:  # type: ignore[override]
        moved, proven, *priced = self.rounds.pop(0)  # type: ignore[misc]
        return Prophecy(moved, proven, not priced)

    def _magnify(self, program: object, point: object, priced: object, zoom: float) -> float:  # type: ignore[override]
        self.magnified += 1
        return zoom

    def settled(self, goal: int | None = None, seconds: float = 9.0) -> tuple[Fraction, Fraction | None, bool]:
        found = self._settled(self._program(), 0, 1, goal, seconds)
        assert (found.witness is None) == (found.attained == 0)
        return found.attained, found.bound, found.unbounded


def test_a_program_is_solved_again_until_its_bound_is_reached() -> None:
    for rounds, expected, solves in [
        ([(7, 7)], (7, 7, False), 1),
        ([(3, 7), (7, 9)], (7, 7, False), 2),
        ([(7, 9), (3, 7)], (7, 7, False), 2),
        ([(3, None), (2, 8), (4, None), (4, 5), (5, 6)], (5, 5, False), 5),
        ([(0, 5), (5, 5)], (5, 5, False), 2),
        ([(8, Fraction(17, 2)), (8, 8)], (8, 8, False), 2),
    ]:
        attacker = Foretold(*rounds)
        assert attacker.settled() == expected
        assert attacker.solves == solves
        assert attacker.magnified == solves - 1
        assert not attacker.rounds


def test_a_goal_that_is_reached_or_out_of_reach_ends_the_rounds() -> None:
    for rounds, expected, solves in [
        ([(7, None)], (7, None, False), 1),
        ([(8, None)], (8, None, False), 1),
        ([(5, 6)], (5, 6, False), 1),
        ([(5, Fraction(13, 2)), (5, 6)], (5, 6, False), 2),
        ([(6, 7), (7, None)], (7, 7, False), 2),
    ]:
        attacker = Foretold(*rounds)
        assert attacker.settled(goal=7) == expected
        assert attacker.solves == solves


def test_what_was_shown_before_a_round_without_an_answer_counts() -> None:
    for last in (SolveStatus.TIME_LIMIT, SolveStatus.FAILED, SolveStatus.INFEASIBLE, SolveStatus.UNBOUNDED):
        assert Foretold((3, 7), last).settled() == (3, 7, False)
    assert Foretold((3, 7), (None, None)).settled() == (3, 7, False)
    unpriced = Foretold((3, 7), (5, None, False))
    assert unpriced.settled() == (5, 7, False)
    assert unpriced.magnified == 1
    assert Foretold(SolveStatus.UNBOUNDED).settled() == (0, None, True)
    assert Foretold(SolveStatus.TIME_LIMIT).settled() == (0, None, False)
    assert Foretold((None, None)).settled() == (0, None, False)


def test_a_program_is_magnified_a_few_times_and_not_after_the_time_is_up() -> None:
    attacker = Foretold(*[(3, 7)] * 20)
    assert attacker.settled(seconds=9.0) == (3, 7, False)
    assert attacker.solves == ROUNDS
    assert all(0 < seconds <= 9.0 for seconds in attacker.seconds)
    late = Foretold(*[(3, 7)] * 20)
    late.expired = lambda: True
    assert late.settled() == (3, 7, False)
    assert (late.solves, late.magnified) == (1, 0)


def test_cells_that_need_little_come_first_where_not_all_can_move() -> None:
    """Ten units for two cells: the one that needs one of them gets what it needs."""
    for small in (0, 1):
        attacker = everything(one_line([1, 1, 1], [100, 100, 10], lb=np.array([99, 99, 0])))
        need = np.array([100, 100])
        need[small] = 1
        found = moves(attacker.shared(np.array([0, 1]), np.array([1, 1], np.int8), need, 10.0))
        assert (found[small], found[1 - small], found[2]) == (2, 8, -10)


@pytest.mark.parametrize(("coefficient", "solves"), [(8, 1), (9, 2)])
def test_a_whole_change_is_first_looked_for_among_small_ones(coefficient: int, solves: int) -> None:
    for direction in (1, -1):
        attacker = everything(one_line([1, -coefficient], [500, 7]))
        found = attacker.whole_reach(1, direction, 1, NOTHING)
        assert found.attained == 1
        assert moves(found.witness) == {0: direction * coefficient, 1: direction}
        assert attacker.solves == solves


def test_a_question_in_whole_numbers_has_limits_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Model, float, int]] = []

    def noted(model: Model, seconds: float, nodes: int) -> Answer:
        asked.append((model, seconds, nodes))
        return Answer(SolveStatus.TIME_LIMIT, 0.0, np.zeros(0), np.zeros(0))

    monkeypatch.setattr("gpuga.safety.attacker.solve_whole", noted)
    attacker = everything(TWICE)
    for seconds in (3.0, 5.0, 99.0):
        found = attacker._in_whole(1, 1, 4, 10, seconds)
        assert (found.attained, found.witness, found.bound) == (0, None, None)
    assert [(seconds, nodes) for _, seconds, nodes in asked] == [(3.0, 2000), (5.0, 2000), (5.0, 2000)]
    model = asked[0][0]
    assert model.maximise
    assert (model.lower.tolist(), model.upper.tolist()) == ([-5.0, 4.0], [6.0, 10.0])
    assert model.cost.tolist() == [0.0, -1.0]  # no further than is asked
    assert (model.row_lower.tolist(), model.row_upper.tolist()) == ([0.0], [0.0])
    attacker._in_whole(1, -1, 4, 10, 9.0)
    assert (asked[-1][0].lower.tolist(), asked[-1][0].upper.tolist()) == ([-5.0, -10.0], [6.0, -4.0])
    assert asked[-1][0].cost.tolist() == [0.0, 1.0]
    attacker._in_whole(1, -1, None, 10, 9.0)
    assert asked[-1][0].cost.tolist() == [0.0, -1.0]  # as far as it goes


def test_the_answer_of_an_integer_program_is_read_from_where_it_began() -> None:
    attacker = everything(TWICE)

    def read(x: list[float], base: list[int], direction: int, proven: bool) -> tuple[Fraction, bool, Fraction | None]:
        answer = Answer(SolveStatus.OPTIMAL, 0.0, np.array(x), np.zeros(0))
        found = attacker._whole_answer(answer, np.array(base), 1, direction, proven)
        return found.attained, found.witness is not None, found.bound

    assert read([1.0000001, 1.9999999], [2, 4], 1, True) == (6, True, 6)
    assert read([1, 2], [2, 4], 1, False) == (6, True, None)
    assert read([-1, -2], [-2, -4], -1, True) == (6, True, 6)
    assert read([0, 0], [0, 0], 1, True) == (0, False, 0)
    assert read([0, 0], [0, 0], 1, False) == (0, False, None)
    assert read([1, 1], [0, 0], 1, True) == (0, False, None)  # no point of the equation
    assert read([], [0, 0], 1, True) == (0, False, None)
    # drawn back into its bounds it is no whole move
    odd = everything(one_line([2, -1], [10, 20], ub=np.array([99, 25])))
    answer = Answer(SolveStatus.OPTIMAL, 0.0, np.array([4.0, 8.0]), np.zeros(0))
    assert odd._whole_answer(answer, np.zeros(2, np.int64), 1, 1, True).witness is None


def test_whole_moves_near_a_linear_one_are_looked_for_in_a_fixed_neighbourhood() -> None:
    assert FARTHEST_NEAR == 65_536
    assert FARTHEST_WHOLE == 268_435_456


def test_every_question_in_whole_numbers_ends_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed: list[float] = []

    def noted(model: Model, seconds: float, nodes: int) -> Answer:
        allowed.append(seconds)
        return Answer(SolveStatus.TIME_LIMIT, 0.0, np.zeros(0), np.zeros(0))

    monkeypatch.setattr("gpuga.safety.attacker.solve_whole", noted)
    attacker = everything(TWICE)
    start = Reach(Fraction(1, 2), witness_of(np.array([0, 1], np.int32), np.array([1, 2]), 4), None)
    for need, asked in ((None, 2), (3, 4)):
        allowed.clear()
        attacker.whole_reach(1, 1, need, start, 3.0)
        assert len(allowed) == asked
        assert all(0 < seconds <= 3.0 for seconds in allowed)


def test_rows_and_bounds_are_put_back_after_a_program_was_magnified() -> None:
    class Moved(Foretold):
        def _magnify(self, program: object, point: object, priced: object, zoom: float) -> float:  # type: ignore[override]
            everywhere = np.arange(2, dtype=np.int32)
            self._open().set_rows(np.full(1, 5.0), np.full(1, 5.0))
            self._open().set_bounds(everywhere, np.full(2, -1.0), np.full(2, 8.0))
            return super()._magnify(program, point, priced, zoom)

    for rounds in ([(3, 7), (7, 7)], [(3, 7), SolveStatus.TIME_LIMIT]):
        attacker = Moved(*rounds)  # type: ignore[arg-type]
        attacker.settled()
        assert attacker.magnified == 1
        attacker._price({0: 1.0})
        answer = attacker._open().solve()
        assert answer.x.tolist() == [50.0, -50.0]
