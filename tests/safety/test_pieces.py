"""The pieces of the audit, one by one: witnesses, evidence, exact vertices, the attacker, what he is taken to know."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csc_array

from gpuga.lp.solver import AT_LOWER, AT_UPPER, BASIC, Basis
from gpuga.safety.attacker import Attacker, Reach
from gpuga.safety.audit import _falls_short, audit
from gpuga.safety.basis import ExactSystem, _away, _denominator, _read, narrow
from gpuga.safety.box_options import options_of
from gpuga.safety.evidence import Evidence, Rule, whole_ones
from gpuga.safety.exact_lp import IntegerProgram
from gpuga.safety.exposure import exposure, initially_exposed
from gpuga.safety.requirements import Requirements, level_requirements
from gpuga.safety.unpick import one_line_each, unpick
from gpuga.safety.witness import AllowedChanges, hold, rationalise, reversal, stretch, times, together, witness_of
from gpuga.table import INFINITE, Levels, Lines, Table
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.builders import table_from_array
from gpuga.table.crossing import Axis
from gpuga.table.witnesses import Witnesses
from tests.support.exact_attacker import intervals
from tests.support.small_tables import random_pattern, random_table


def line_of(*values: int, **more: object) -> Table:
    """Parts and their total in one line; the first part is sensitive."""
    n = len(values) + 1
    coef = np.append(np.ones(n - 1, np.int64), -1)
    lines = Lines(np.array([0, n]), np.arange(n, dtype=np.int32), coef, np.zeros(1, np.int64))
    level = np.append([2], np.zeros(n - 1, np.int64))
    given = {"status": (np.arange(n) == 0).astype(np.uint8), "levels": Levels(level, level, 0 * level)} | more
    return Table.build(np.array([*values, sum(values)]), lines, **given)  # type: ignore[arg-type]


def many(*parts: tuple[list[int], list[int], int]) -> Witnesses:
    return together([witness_of(np.array(c, np.int32), np.array(a), d) for c, a, d in parts])


THREE = (([0, 1], [3, -3], 1), ([2], [5], 2), ([1, 2, 3], [1, 2, -3], 7))


def test_some_of_many_witnesses_are_taken_in_the_order_given() -> None:
    every = many(*THREE)
    assert len(every) == 3
    assert every.start.tolist() == [0, 2, 3, 6]
    some = every.subset(np.array([2, 0]))
    assert [(c.tolist(), a.tolist(), d) for c, a, d in (some.one(w) for w in range(2))] == [THREE[2], THREE[0]]
    assert len(every.subset(np.zeros(0, np.int64))) == 0
    assert len(together([])) == 0
    dropped = witness_of(np.array([4, 5, 6], np.int32), np.array([1, 0, -1]))
    assert dropped.cell.tolist() == [4, 6]
    assert dropped.denominator.dtype == np.int64
    assert witness_of(np.array([4], np.int32), np.array([1]), 2**60).denominator.dtype == object
    assert witness_of(np.array([4], np.int32), np.array([1]), 2**60 - 1).denominator.dtype == np.int64


def test_several_witnesses_are_judged_each_for_itself() -> None:
    table = line_of(10, 10, 10)
    allowed = AllowedChanges.of(table, np.ones(4, bool))
    good, low, unbalanced = ([0, 1], [4, -4], 1), ([0, 1], [11, -11], 1), ([0, 1], [4, -3], 1)
    assert hold(allowed, many(good, low, unbalanced, good, unbalanced, good)).tolist() == [
        True, False, False, True, False, True,
    ]  # fmt: skip
    assert hold(allowed, many(([0, 1], [30, -30], 3), ([0, 3], [10**9, 10**9], 1))).tolist() == [True, True]
    assert hold(allowed, many()).tolist() == []


@pytest.mark.parametrize("kind", [np.int64, object])
def test_a_witness_stretches_as_far_as_its_tightest_cell(kind: type) -> None:
    table = line_of(10, 6, 30, ub=np.array([14, INFINITE, 33, INFINITE]))
    allowed = AllowedChanges.of(table, np.ones(4, bool))
    moved = Witnesses(
        np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([4, -2, -2]).astype(kind), np.array([3])
    )
    assert stretch(allowed, moved, 0) == 3  # the first may rise by 4
    assert reversal(allowed, moved, 0) == Fraction(9, 2)  # the third by 3, against 2/3
    for factor in (Fraction(3, 2), Fraction(-1, 2), Fraction(5)):
        cells, amounts, denominator = times(moved, factor).one(0)
        assert cells.tolist() == [0, 1, 2]
        assert [Fraction(int(a), denominator) for a in amounts] == [factor * Fraction(a, 3) for a in (4, -2, -2)]
    nothing = witness_of(np.zeros(0, np.int32), np.zeros(0, np.int64))
    assert stretch(allowed, nothing, 0) == 0


@pytest.mark.parametrize(
    ("numbers", "denominators"),
    [([1 / 2, 1 / 3], 6), ([1 / 7, 1 / 11], 77), ([1 / 499, 2.0], 499), ([1e9 + 0.25], 4), ([-2.0, 5.0], 1)],
)
def test_floats_are_read_as_the_fractions_they_stand_for(numbers: list[float], denominators: int) -> None:
    found = rationalise(np.array(numbers))
    assert found is not None
    amounts, denominator = found
    assert denominator == denominators
    assert [float(Fraction(int(a), denominator)) for a in amounts] == numbers


PRIMES = (499, 491, 487, 479, 467, 463, 461)


@pytest.mark.parametrize(
    "numbers", [[np.nan], [np.inf], [2.0**52], [1 / 997], [np.sqrt(2)], [1 / prime for prime in PRIMES]]
)
def test_floats_that_stand_for_no_small_fraction_are_not_read(numbers: list[float]) -> None:
    assert rationalise(np.array(numbers)) is None


def test_numbers_are_narrow_as_long_as_they_fit() -> None:
    assert narrow(np.array([2**61 - 1, -(2**61) + 1], dtype=object)).dtype == np.int64
    assert narrow(np.array([2**61], dtype=object)).dtype == object
    assert narrow(np.array([-(2**61)], dtype=object)).dtype == object
    assert narrow(np.zeros(0, dtype=object)).dtype == np.int64


def test_a_system_with_huge_numbers_or_an_ended_clock() -> None:
    basis = ExactSystem.of(csc_array(np.array([[2, 1], [1, 3]], np.int64)))
    assert basis is not None
    right = np.array([10**40 + 1, 7], dtype=object)
    solved = basis.solve(right)
    assert solved is not None
    x, denominator = solved
    assert [2 * x[0] + x[1], x[0] + 3 * x[1]] == [right[0] * denominator, 7 * denominator]
    assert basis.solve(np.array([1, 1]), lambda: True) is None  # fifths take digits, and there is no time for them
    whole = basis.solve(np.array([3, 4]), lambda: True)
    assert whole is not None
    assert (whole[0].tolist(), whole[1]) == ([1, 1], 1)


def small_program() -> IntegerProgram:
    """`x0 = x1 + 2 x2`, each between bounds; the last has none above."""
    matrix = csc_array(np.array([[1, -1, -2]], np.int64))
    return IntegerProgram(matrix, np.array([-9, -3, -4]), np.array([9, 3, INFINITE]))


def test_a_basis_is_made_exact() -> None:
    program = small_program()
    vertex = program.at(Basis(np.array([BASIC, AT_UPPER, AT_LOWER]), np.array([False])))
    assert vertex is not None
    point = vertex.point()
    assert point is not None
    assert (point[0].tolist(), point[1]) == ([3 - 8, 3, -4], 1)
    half = program.at(Basis(np.array([AT_UPPER, AT_LOWER, BASIC]), np.array([False])))
    assert half is not None
    point = half.point()
    assert point is not None
    assert (point[0].tolist(), point[1]) == ([9, -3, 6], 1)
    odd = IntegerProgram(program.matrix, program.lower, np.array([8, 3, INFINITE]))
    halves = odd.at(Basis(np.array([AT_UPPER, AT_UPPER, BASIC]), np.array([False])))
    assert halves is not None
    point = halves.point()
    assert point is not None
    assert [Fraction(int(a), point[1]) for a in point[0]] == [8, 3, Fraction(5, 2)]


def test_a_basis_that_stands_nowhere_is_none() -> None:
    program = small_program()
    assert program.at(Basis(np.array([BASIC, AT_UPPER, AT_UPPER]), np.array([False]))) is None  # no bound there
    assert program.at(Basis(np.array([BASIC, BASIC, AT_LOWER]), np.array([False]))) is None
    nothing = IntegerProgram(csc_array(np.zeros((0, 1), np.int64)), np.array([-2]), np.array([5]))
    vertex = nothing.at(Basis(np.array([AT_UPPER]), np.zeros(0, bool)))
    assert vertex is not None
    assert vertex.point() == (vertex.standing, 1)
    assert vertex.standing.tolist() == [5]
    priced = vertex.reduced(0, 1)
    assert priced is not None
    assert vertex.bound_of(priced) == 5


def test_exact_multipliers_prove_a_bound() -> None:
    program = small_program()
    vertex = program.at(Basis(np.array([BASIC, AT_UPPER, AT_LOWER]), np.array([False])))
    assert vertex is not None
    down = vertex.reduced(0, -1)  # -x0 = -x1 - 2 x2 <= 3 + 8
    assert down is not None
    assert [Fraction(int(r), down[1]) for r in down[0]] == [0, -1, -2]
    assert vertex.bound_of(down) == 11
    up = vertex.reduced(0, 1)  # x2 has no bound above
    assert up is not None
    assert vertex.bound_of(up) is None
    other = vertex.reduced(1, 1)
    assert other is not None
    assert vertex.bound_of(other) == 3


def test_products_are_exact_beyond_64_bits() -> None:
    program = small_program()
    assert program.times(np.array([5, 2, 1])).tolist() == [1]
    assert program.times(np.array([2**62, -(2**62), -(2**62)])).tolist() == [2**62 + 2**62 + 2**63]
    assert program.times(np.array([10**30, 1, 0], dtype=object)).tolist() == [10**30 - 1]


def evidence_of(
    table: Table, strict: bool = False, secondary: bool = False, whole: bool = False, keep: bool = False
) -> Evidence:
    return Evidence(table, np.ones(len(table), bool), AttackerModel(strict, secondary, whole), keep)


def test_the_farthest_of_many_reaches_counts() -> None:
    shown = evidence_of(line_of(10, 10, 10))
    shown.note_whole(np.array([0, 0, 0, 1]), np.array([1, 1, -1, 1]), np.array([3, 2, 5, 9]))
    shown.note_whole(np.array([0, 1]), np.array([1, -1]), np.array([1, 4]))
    assert [shown.reached(0, 1), shown.reached(0, -1), shown.reached(1, 1), shown.reached(1, -1)] == [3, 5, 9, 4]
    shown.note(0, 1, Fraction(7, 2))
    shown.note(0, 1, Fraction(10, 3))
    assert shown.reached(0, 1) == Fraction(7, 2)
    assert shown.reached(2, 1) == 0


@pytest.mark.parametrize(("strict", "rise", "open_"), [(False, 1, [1]), (False, 2, []), (True, 2, [1]), (True, 3, [])])
def test_a_level_is_met_or_exceeded(strict: bool, rise: int, open_: list[int]) -> None:
    shown = evidence_of(line_of(10, 10), strict)
    shown.note(0, -1, Fraction(9))
    shown.note(0, 1, Fraction(rise))
    assert shown.open_directions(0) == open_
    assert shown.settled(0) is not bool(open_)
    assert shown.unsettled(np.array([0])) == ([0] if open_ else [])
    whole = evidence_of(line_of(10, 10), strict)
    whole.note_whole(np.array([0, 0]), np.array([1, -1]), np.array([rise, 9]))
    assert whole.unsettled(np.array([0])) == ([0] if open_ else [])
    assert shown.asked(np.array([0, 0, 1]), np.array([1, -1, 1], np.int8)).tolist() == (
        [3, 3, 0] if strict else [2, 2, 0]
    )


def test_a_width_needs_both_directions_together() -> None:
    slide = Levels(np.array([2, 0, 0]), np.array([2, 0, 0]), np.array([7, 0, 0]))
    for strict in (False, True):
        shown = evidence_of(line_of(10, 10, levels=slide), strict)
        assert shown.asks_width(0)
        assert not shown.asks_width(1) or shown.rule.width[1] == 0
        shown.note(0, 1, Fraction(4))
        shown.note(0, -1, Fraction(3))
        assert shown.wide(0) is not strict
        assert shown.open_directions(0) == ([1, -1] if strict else [])
        assert shown.goal(0, 1) == 4 + strict
        assert shown.goal(0, -1) == 3 + strict
    fresh = evidence_of(line_of(10, 10, levels=slide))
    assert fresh.goal(0, 1) == 7
    fresh.note(0, -1, Fraction(13, 2))
    assert fresh.goal(0, 1) == 2
    secondary = evidence_of(line_of(10, 10), secondary=True)
    assert secondary.rule.cells.tolist() == [0, 1, 2]
    assert not secondary.wide(1)
    assert secondary.goal(1, 1) == 1
    secondary.note(1, 1, Fraction(1, 9))
    assert secondary.settled(1)


def test_only_witnesses_that_hold_are_evidence_and_whole_ones_where_that_is_known() -> None:
    table = line_of(10, 10, 10)
    offered = many(([0, 1], [5, -5], 2), ([0, 1], [-12, 12], 4), ([0, 1], [99, -99], 1), ([0, 2], [-7, 7], 2))
    plain, whole = evidence_of(table), evidence_of(table, whole=True)
    for shown in (plain, whole):
        shown.offer(offered)
    assert [plain.reached(0, 1), plain.reached(0, -1)] == [2, 3]
    assert [whole.reached(0, 1), whole.reached(0, -1)] == [0, 3]
    kept = whole_ones(offered)
    assert [kept.one(w)[1].tolist() for w in range(len(kept))] == [[-3, 3], [99, -99]]
    assert kept.denominator.tolist() == [1, 1]


def test_a_witness_is_used_both_ways_on_all_open_cells() -> None:
    table = line_of(10, 4, 10)
    shown = evidence_of(table)
    shown.use(witness_of(np.array([0, 1, 2], np.int32), np.array([3, -1, -2]), 2), [0, 1])
    assert shown.reached(0, 1) == Fraction(3, 2)
    assert shown.reached(1, -1) == Fraction(1, 2)
    assert shown.reached(0, -1) == 10  # the reverse, until the first is at zero
    assert shown.reached(1, 1) == Fraction(10, 3)
    assert shown.reached(2, 1) == 0  # nobody asked
    whole = evidence_of(table, whole=True)
    whole.use(witness_of(np.array([0, 1, 2], np.int32), np.array([3, -1, -2]), 2), [0, 1])
    assert whole.reached(0, 1) == 0


def test_a_proof_lists_a_witness_for_each_direction_that_is_asked_for() -> None:
    table = line_of(10, 10, 10)
    shown = evidence_of(table, keep=True)
    shown.offer(many(([0, 1], [1, -1], 1), ([0, 2], [2, -2], 1), ([0, 1], [-4, 4], 1)))
    proof = shown.proof()
    assert proof.cell.tolist() == [0, 0]
    assert proof.direction.tolist() == [1, -1]
    assert [proof.witnesses.one(int(w))[1].tolist() for w in proof.witness] == [[2, -2], [-4, 4]]
    assert len(proof.witnesses) == 2
    verdict = audit(table, np.ones(4, bool), intervals=False, proofs=True)
    assert verdict.proof is not None
    assert hold(AllowedChanges.of(table, np.ones(4, bool)), verdict.proof.witnesses).all()


def test_what_is_asked_of_cells() -> None:
    table = line_of(10, 10, 10, status=np.array([1, 3, 0, 0]))
    rule = Rule.of(table, np.array([True, True, True, False]), False, True)
    assert rule.cells.tolist() == [0, 1, 2]
    assert rule.rise.tolist() == rule.fall.tolist() == [2, -1, -1, -1]
    assert rule.width.tolist() == [-1, 0, 0, -1]
    assert rule.short(np.array([1, 9, 2, 0]), rule.rise).tolist() == [True, False, False, False]
    strict = Rule.of(table, table.forced, True, False)
    assert strict.cells.tolist() == [0]
    assert strict.short(np.array([2, 0, 0, 0]), strict.rise).tolist() == [True, False, False, False]
    assert strict.met(3, 2)
    assert not strict.met(2, 2)
    assert rule.met(2, 2)
    assert not rule.met(2, 2, strict=True)


@pytest.mark.parametrize(("strict", "extra"), [(False, 0), (True, 1)])
def test_requirements_are_the_levels_up_before_down_without_those_that_ask_nothing(strict: bool, extra: int) -> None:
    level = Levels(np.array([0, 3, 0]), np.array([5, 2, 0]), np.zeros(3, np.int64))
    found = level_requirements(line_of(10, 10, status=np.array([1, 1, 0]), levels=level), strict)
    needs = list(zip(found.cell.tolist(), found.direction.tolist(), found.need.tolist(), strict=True))
    wanted = [(0, 1, 5 + extra), (0, -1, extra), (1, 1, 2 + extra), (1, -1, 3 + extra)]
    assert needs == [requirement for requirement in wanted if requirement[2] > 0]
    assert len(found.subset(np.array([True] + [False] * (len(found) - 1)))) == 1


def test_unpicking_goes_on_from_line_to_line_and_a_single_sweep_does_not() -> None:
    """Two lines: the second is known, so the first is, one step later."""
    lines = Lines(
        np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32), np.array([1, -1, 1, -1]), np.zeros(2, np.int64)
    )
    table = Table.build(np.array([5, 5, 5]), lines)
    hidden = np.array([True, True, False])
    rise, fall = unpick(table, hidden)
    assert rise.tolist() == fall.tolist() == [0, 0, 0]
    rise, fall = one_line_each(table, hidden)
    assert rise.tolist() == [INFINITE, 0, 0]
    assert fall[0] == 5


@pytest.mark.parametrize("seed", range(4))
def test_the_attacker_reaches_what_the_rational_one_does_and_forgets_what_was_published(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, (3, 3, 2), bounded=seed % 2 == 1)
    hidden = random_pattern(rng, table, 0.5)
    attacker = Attacker(table, hidden)
    secondary = np.flatnonzero(hidden & ~table.forced)[:3]
    for cells in (np.zeros(0, np.int64), secondary):
        pattern = hidden.copy()
        pattern[cells] = False
        attacker.publish(cells)
        exact = intervals(table, pattern, table.sensitive[:4].tolist())
        for cell, reach in exact.items():
            for direction, most in zip((1, -1), reach, strict=True):
                found = attacker.reach(cell, direction, 3)
                assert found.unbounded is (most is None)
                assert found.attained == (3 if most is None else most)
                capped = attacker.reach(cell, direction, 2, or_nothing=True)
                assert capped.attained == (2 if most is None else min(most, 2))
                if found.witness is not None:
                    assert hold(AllowedChanges.of(table, pattern), found.witness)[0]
        attacker.hide(cells)
    assert attacker.solves > 0


def test_one_change_moves_many_cells_towards_their_levels() -> None:
    table = table_from_array([[10, 20, 30], [40, 50, 60], [70, 80, 90]])
    hidden = np.arange(len(table)) < 9
    attacker = Attacker(table, hidden)
    cells, direction, need = np.array([0, 4]), np.array([1, -1], np.int8), np.array([3, 3])
    scale = table.scale
    change = attacker.shared(cells, direction, need * scale, 10.0)
    assert change is not None
    assert hold(attacker.allowed, change)[0]
    moved = dict(zip(change.cell.tolist(), change.amount.tolist(), strict=True))
    assert moved.get(0, 0) > 0
    assert moved.get(4, 0) < 0
    # the bounds of the question are taken back
    assert attacker.reach(0, 1, 1).attained == intervals(table, hidden, [0])[0][0]


NOTHING = Reach(Fraction(0), None, None)
"""No linear move to start from: the integer program has to look everywhere."""


def test_whole_changes_near_linear_ones_are_whole_too() -> None:
    # 2 x = 3 y, with a bound that neither divides: the linear move is a fraction, and so large that only nearby is left
    value, room = np.array([3 * 10**14, 2 * 10**14]), 10**14 + 1
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([2, -3]), np.zeros(1, np.int64))
    table = Table.build(value, lines, lb=value - room, ub=value + room)
    attacker = Attacker(table, np.ones(2, bool))
    for need in (10**13, 10**13 + 1, None):
        linear = attacker.reach(1, 1, need or 1, or_nothing=need is not None)
        found = attacker.whole_reach(1, 1, need, linear)
        assert found.witness is not None
        assert found.witness.denominator.tolist() == [1]
        assert hold(attacker.allowed, found.witness)[0]
        assert found.attained % 2 == 0
        assert found.attained >= (need or 2 * (room // 3))
    assert attacker.whole_reach(1, 1, 10**14, attacker.reach(1, 1, 1)).attained < 10**14


def test_whole_changes_have_whole_amounts_and_reach_what_is_needed() -> None:
    table = table_from_array(np.arange(1, 28).reshape(3, 3, 3), levels="1")
    hidden = np.arange(len(table)) < 27
    attacker = Attacker(table, hidden)
    found = attacker.whole_reach(13, 1, 2, NOTHING)
    assert found.attained >= 2
    assert found.witness is not None
    assert found.witness.denominator.tolist() == [1]
    assert hold(attacker.allowed, found.witness)[0]
    most = attacker.whole_reach(0, -1, None, NOTHING)
    assert most.attained == 1
    assert most.bound in (1, None)
    lone = Attacker(table, np.arange(len(table)) == 0)
    nothing = lone.whole_reach(0, 1, 1, NOTHING)
    assert (nothing.attained, nothing.witness) == (0, None)
    assert nothing.bound in (0, None)


def test_a_cell_alone_in_its_line_is_exposed_by_it() -> None:
    table = table_from_array([[10, 20, 30], [40, 50, 60]], sensitive=[[1, 1, 0], [0, 0, 0]], levels="1")
    found = exposure(table)
    assert found.exposed == found.initially_exposed == (0, 1)  # each column shows its one
    assert found.consequentially_exposed == found.not_exposed == ()
    square = table_from_array([[10, 20, 30], [40, 50, 60]], sensitive=[[1, 1, 0], [1, 1, 0]], levels="1")
    assert exposure(square).not_exposed == (0, 1, 3, 4)
    assert initially_exposed(square).tolist() == []
    steep = table_from_array([[1, 20, 30], [40, 50, 60]], sensitive=[[1, 1, 0], [1, 1, 0]], levels="2")
    assert exposure(steep).exposed == (0, 1, 3, 4)  # nothing falls by 2 where one cell holds but 1
    assert initially_exposed(steep).tolist() == [0, 1, 3]


def test_two_lines_that_meet_twice_are_taken_together() -> None:
    """Sum and difference of two hidden cells are published: neither line alone shows a cell, both together do."""
    cell = np.array([0, 1, 2, 0, 1, 3], np.int32)
    lines = Lines(np.array([0, 3, 6]), cell, np.array([1, 1, -1, 1, -1, -1]), np.zeros(2, np.int64))
    level = np.array([2, 0, 0, 0])
    table = Table.build(
        np.array([30, 10, 40, 20]), lines, status=np.array([1, 3, 0, 0]), levels=Levels(level, level, 0 * level)
    )
    assert initially_exposed(table).tolist() == [0]
    assert exposure(table).initially_exposed == (0,)


def test_parts_of_a_unit_that_a_line_leaves_a_cell_do_not_reach_the_next_one() -> None:
    """Five times one cell less another is published: the one falls by 13 / 5 at most, which is less than 3."""
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([5, -1]), np.array([37]))
    level = np.array([3, 4])
    table = Table.build(np.array([10, 13]), lines, status=np.array([1, 1]), levels=Levels(level, level, 0 * level))
    assert initially_exposed(table).tolist() == [0]
    assert exposure(table, whole="no").initially_exposed == exposure(table, whole="yes").initially_exposed == (0,)


def test_a_tie_exposes_nothing_unless_levels_must_be_exceeded() -> None:
    square = table_from_array([[10, 10], [10, 10]], sensitive=np.ones((2, 2)), levels="10")
    assert exposure(square).exposed == ()
    assert exposure(square, strict=True).exposed == (0, 1, 2, 3)
    assert initially_exposed(square, AttackerModel(strict=True)).tolist() == [0, 1, 2, 3]


def test_the_attackers_interval_is_in_the_users_units() -> None:
    table = table_from_array([[1.5, 2.5], [3.5, 4.0]], levels="1")
    verdict = audit(table, np.arange(len(table)) < 4)
    assert [(c.cell, c.min, c.max) for c in verdict.cells] == [
        (0, 0, Fraction(4)),
        (1, 0, Fraction(4)),
        (2, Fraction(1), Fraction(5)),
        (3, Fraction(5, 2), Fraction(13, 2)),
    ]
    assert all(c.exact for c in verdict.cells)
    solid = table_from_array(np.full((2, 2, 2), 2.5), levels="1")
    inside = np.arange(len(solid)) < 8
    assert {(c.min, c.max) for c in audit(solid, inside).cells} == {(0, 5)}
    free = table_from_array([2.5, 3.5])
    assert [(c.min, c.max) for c in audit(free, np.array([True, False, True])).cells] == [
        (0, None),
        (Fraction(7, 2), None),
    ]


def test_what_is_not_safe_is_refuted_and_not_left_undecided() -> None:
    """Where propagation sees nothing, the attacker's program proves that a level is out of reach."""
    rng = np.random.default_rng(11)
    by_program = 0
    for _ in range(60):
        table = random_table(rng, (3, 3, 3), sensitive=0.2)
        pattern = random_pattern(rng, table, 0.4)
        verdict = audit(table, pattern, intervals=False)
        assert verdict.undecided == ()
        rise, fall = unpick(table, pattern)
        levels = table.levels
        by_program += sum(rise[c] >= levels.upper[c] and fall[c] >= levels.lower[c] for c in verdict.unsafe)
    assert by_program >= 3


def test_boxes_move_groups_with_their_members_by_any_amount() -> None:
    from gpuga.safety.boxes import BoxSearch, box_grid
    from gpuga.table.groups import with_groups

    plain = table_from_array(np.full((3, 3), 10**12))
    none = np.zeros(2, np.int64)
    table = with_groups(plain, [[0, 4, 8], [1, 2]], Levels(none, none + 1, none))
    grid = box_grid(table)
    assert grid is not None
    need = 10**11
    requirements = Requirements(np.array([0, 4], np.int32), np.array([1, -1], np.int8), np.array([need, need]))
    covered, boxes = BoxSearch(grid, table.forced).protect(requirements)
    assert covered.all()
    assert hold(AllowedChanges.of(table, np.ones(len(table), bool)), boxes).all()
    moved = [dict(zip(*(part.tolist() for part in boxes.one(w)[:2]), strict=True)) for w in range(2)]
    assert moved[0][0] == need
    assert moved[1][4] == -need
    assert any(abs(change.get(len(plain), 0)) >= need for change in moved)


TREE = Axis(7, ((6, (4, 5)), (4, (0, 1)), (5, (2, 3))))
SEVERAL = Axis(8, ((4, (0, 1, 2, 3)), (5, (0, 1)), (6, (1, 2)), (7, (2, 3))))


@pytest.mark.parametrize("axis", [TREE, SEVERAL], ids=["tree", "several totals"])
def test_the_options_of_an_axis_are_unit_changes_that_keep_every_total(axis: Axis) -> None:
    options = options_of(axis)
    seen = set()
    for own in range(axis.codes):
        for option in range(int(options.first[own]), int(options.first[own + 1])):
            entries = slice(int(options.start[option]), int(options.start[option + 1]))
            change = dict(zip(options.code[entries].tolist(), options.sign[entries].tolist(), strict=True)) | {own: 1}
            assert set(change.values()) <= {1, -1}
            for total, parts in axis.families:
                assert sum(change.get(part, 0) for part in parts) == change.get(total, 0)
            seen.add((own, tuple(sorted(change.items()))))
    assert len(seen) == int(options.first[-1])
    if axis is TREE:  # four ways up; six pairs, of which two meet below the top
        assert len({change for own, change in seen if own == 0}) == 1 + 3
        assert (0, ((0, 1), (1, -1))) in seen
        assert (0, ((0, 1), (2, -1), (4, 1), (5, -1))) in seen
        assert (0, ((0, 1), (4, 1), (6, 1))) in seen


def test_a_cell_without_limit_comes_with_a_change_by_just_what_is_needed() -> None:
    table = line_of(10, 10)
    attacker = Attacker(table, np.ones(3, bool))
    for need in (1, 5, 10**6):
        found = attacker.reach(0, 1, need)
        assert found.unbounded
        assert found.witness is not None
        cells, amounts, denominator = found.witness.one(0)
        moved = dict(zip(cells.tolist(), amounts.tolist(), strict=True))
        assert Fraction(moved[0], denominator) == found.attained == need
    free = line_of(10, 10, lb=np.full(3, -INFINITE))
    assert Attacker(free, np.ones(3, bool)).reach(0, -1, 7).attained == 7


def test_bounds_refute_a_cell_only_where_they_lie_below_what_is_asked() -> None:
    slide = Levels(np.array([3, 0, 0]), np.array([2, 0, 0]), np.array([7, 0, 0]))
    loose, strict = (evidence_of(line_of(10, 10, levels=slide), strict=s) for s in (False, True))
    cases = [
        ({}, False, False),
        ({1: None, -1: None}, False, False),
        ({1: Fraction(1)}, True, True),
        ({1: Fraction(2)}, False, True),
        ({1: Fraction(9, 4)}, False, False),
        ({-1: Fraction(2)}, True, True),
        ({-1: Fraction(3)}, False, True),
        ({-1: Fraction(4)}, False, False),
        ({1: Fraction(9), -1: None}, False, False),
        ({1: Fraction(3), -1: Fraction(7, 2)}, True, True),
        ({1: Fraction(3), -1: Fraction(4)}, False, True),
        ({1: Fraction(4), -1: Fraction(4)}, False, False),
    ]
    for most, short, strictly in cases:
        assert _falls_short(loose, 0, most) is short
        assert _falls_short(strict, 0, most) is strictly
    plain = evidence_of(line_of(10, 10))
    assert not _falls_short(plain, 0, {1: Fraction(2), -1: Fraction(2)})
    secondary = evidence_of(line_of(10, 10), secondary=True)
    assert _falls_short(secondary, 1, {1: Fraction(0), -1: Fraction(0)})
    assert not _falls_short(secondary, 1, {1: Fraction(0), -1: Fraction(1, 9)})
    assert not _falls_short(secondary, 1, {1: Fraction(0)})


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 36, 48, 60])
def test_usual_parts_of_a_unit_are_read_at_once(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(*_: object) -> Fraction:
        raise AssertionError("component by component")

    monkeypatch.setattr("gpuga.safety.witness.Fraction", slowly)
    found = rationalise(np.array([1 / parts, -3.0, (parts + 1) / parts]))
    assert found is not None
    assert (found[0].tolist(), found[1]) == ([1, -3 * parts, parts + 1], parts)


def test_components_near_a_usual_fraction_are_not_taken_for_it() -> None:
    near = rationalise(np.array([0.5 + 1e-4, 0.25]))
    assert near is None or abs(near[0][0] / near[1] - 0.5 - 1e-4) < 1e-6
    large = rationalise(np.array([2.0**45 + 0.5, 1 / 3]))
    assert large is not None
    assert (large[0].tolist(), large[1]) == ([(2**46 + 1) * 3, 2], 6)
    below = rationalise(np.array([2.0**44 + 0.5]))
    assert below is not None
    assert (below[0].tolist(), below[1]) == ([2**45 + 1], 2)


@pytest.mark.parametrize(("numerators", "denominator"), [([1, 2], 3), ([5, -7], 12), ([0, 1], 127), ([3, 8], 1)])
def test_numbers_known_to_enough_digits_are_read_as_fractions(numerators: list[int], denominator: int) -> None:
    digits = 56
    lifted = np.array([round(Fraction(n << digits, denominator)) for n in numerators], dtype=object)
    found = _read(lifted, digits)
    assert found is not None
    assert [Fraction(int(n), found[1]) for n in found[0]] == [Fraction(n, denominator) for n in numerators]
    assert found[1] == denominator


def test_numbers_that_are_no_fractions_of_few_digits_are_not_read() -> None:
    digits = 28
    assert _denominator(300, 1 << digits, 1 << 14) is None
    assert _read(np.array([300], dtype=object), digits) is None  # neither whole nor a fraction of so few digits
    assert _read(np.array([128, -128], dtype=object), digits) is not None
    root = int(np.sqrt(2) * 2**digits)
    assert _denominator(root, 1 << digits, 1 << 14) == 5741  # the last convergent of few enough digits
    one, two = (round(Fraction(1 << digits, d)) for d in (127, 131))
    assert _read(np.array([one], dtype=object), digits) is not None
    assert _read(np.array([two], dtype=object), digits) is not None
    assert _read(np.array([one, two], dtype=object), digits) is None  # their common denominator has too many digits


@pytest.mark.parametrize("denominator", [2, 3, 10, 97, 1000, 16381])
def test_a_denominator_is_the_convergent_before_a_far_longer_one(denominator: int) -> None:
    one = 1 << 56
    for numerator in (1, denominator - 1, 5 * denominator + 1):
        assert _denominator(round(Fraction(numerator * one, denominator)), one, 1 << 28) == denominator
    assert _denominator(7 * one, one, 1 << 28) is None


def test_the_distance_from_a_whole_number_is_measured_both_ways() -> None:
    assert _away(np.array([16, 17, 31, 24, -1, 0, -17], dtype=object), 4).tolist() == [0, 1, 1, 8, 1, 0, 1]


def test_only_one_total_of_all_other_codes_is_a_flat_axis() -> None:
    flat = options_of(Axis(4, ((2, (0, 1, 3)),)))
    assert flat.total == 2
    assert len(flat.code) == len(flat.sign) == 0
    loose = options_of(Axis(5, ((2, (0, 1, 3)),)))
    assert loose.total < 0
    assert len(loose.code) > 0
    assert options_of(TREE).total < 0
    assert options_of(SEVERAL).total < 0


def test_large_coefficients_do_not_wrap_round_to_a_balance() -> None:
    """A sum of 2**64 is no balance, though it is 0 in 64 bits."""
    lines = Lines(np.array([0, 1]), np.zeros(1, np.int32), np.array([2**31]), np.zeros(1, np.int64))
    allowed = AllowedChanges.of(Table.build(np.zeros(1, np.int64), lines), np.ones(1, bool))
    assert not hold(allowed, many(([0], [2**33], 1)))[0]
    assert not hold(allowed, many(([0], [2**20], 1)))[0]


def test_witnesses_in_wide_integers_show_as_much_as_narrow_ones() -> None:
    table = line_of(10**7, 10**7)
    for kind in (np.int64, object):
        shown = evidence_of(table)
        amounts = np.array([10**6, -(10**6)]).astype(kind)
        shown.offer(Witnesses(np.array([0, 2]), np.array([0, 1], np.int32), amounts, np.array([1])))
        assert [shown.reached(0, 1), shown.reached(1, -1)] == [10**6, 10**6]


def test_a_denominator_may_have_half_the_digits_that_are_known() -> None:
    for digits, denominator in ((28, 8191), (56, 2**27 - 39)):
        found = _read(np.array([round(Fraction(5 << digits, denominator))], dtype=object), digits)
        assert found is not None
        assert (found[0].tolist(), found[1]) == ([5], denominator)


def test_a_level_of_nothing_asks_for_a_unit_where_levels_must_be_exceeded() -> None:
    level = Levels(np.array([0, 0, 0]), np.array([2, 0, 0]), np.zeros(3, np.int64))
    cells, direction = np.array([0, 0, 1]), np.array([1, -1, 1], np.int8)
    assert evidence_of(line_of(10, 10, levels=level)).asked(cells, direction).tolist() == [2, 0, 0]
    assert evidence_of(line_of(10, 10, levels=level), strict=True).asked(cells, direction).tolist() == [3, 1, 0]


def test_a_basis_that_is_singular_has_no_vertex() -> None:
    program = IntegerProgram(csc_array(np.array([[1, 2], [2, 4]], np.int64)), np.array([-3, -3]), np.array([3, 3]))
    assert program.at(Basis(np.array([BASIC, BASIC]), np.array([False, False]))) is None
    assert program.at(Basis(np.array([BASIC, AT_UPPER]), np.array([False, True]))) is not None


def test_fractions_of_a_vertex_are_not_waited_for_when_the_time_is_up() -> None:
    """Twice the first is three times the second: on a bound of 3 the first is nine halves, its price one half."""
    program = IntegerProgram(csc_array(np.array([[2, -3]], np.int64)), np.array([-9, -3]), np.array([9, 3]))
    basis = Basis(np.array([BASIC, AT_UPPER]), np.array([False]))
    late, early = program.at(basis, lambda: True), program.at(basis)
    assert late is not None
    assert early is not None
    assert late.point() is None
    assert late.reduced(0, 1) is None
    point, priced = early.point(), early.reduced(0, 1)
    assert point is not None
    assert priced is not None
    assert [Fraction(int(a), point[1]) for a in point[0]] == [Fraction(9, 2), 3]
    assert [Fraction(int(a), priced[1]) for a in priced[0]] == [0, Fraction(3, 2)]
    assert early.bound_of(priced) == Fraction(9, 2)
    assert late.reduced(1, 1) is not None  # nothing basic is priced
