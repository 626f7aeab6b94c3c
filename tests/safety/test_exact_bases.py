"""Bases are solved exactly: verdicts and intervals are those of a rational attacker, however large the numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csc_array

import gpuga
from gpuga.context import Clock, Context
from gpuga.files.pattern import read_pattern
from gpuga.files.read import read_source
from gpuga.safety.attacker import Attacker, Reach
from gpuga.safety.basis import ExactSystem
from gpuga.safety.exact_lp import IntegerProgram
from gpuga.safety.witness import AllowedChanges, hold, stretch, times, witness_of
from gpuga.table.table import INFINITE, Levels, Lines, Table
from gpuga.table.witnesses import Witnesses
from tests.support.exact_attacker import intervals
from tests.support.small_tables import random_pattern, random_table

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("largest", [9, 10**9, 10**17])
def test_a_system_is_solved_exactly_both_ways(largest: int) -> None:
    rng = np.random.default_rng(largest % 97)
    fractions = 0
    for _ in range(40):
        n = int(rng.integers(1, 30))
        dense = rng.choice([-1, 0, 0, 0, 1, 2], size=(n, n)) + np.diag(rng.choice([2, 3], n))
        basis = ExactSystem.of(csc_array(dense.astype(np.int64)))
        right = rng.integers(-largest, largest, n)
        if basis is None:
            continue
        for matrix, solved in ((dense, basis.solve(right)), (dense.T, basis.solve_transposed(right))):
            assert solved is not None
            x, denominator = solved
            fractions += denominator > 1
            product = [sum(int(a) * int(v) for a, v in zip(row, x, strict=True)) for row in matrix]
            assert product == [int(b) * denominator for b in right]
    assert fractions > 20


def test_a_singular_system_has_no_solution_and_no_crash() -> None:
    basis = ExactSystem.of(csc_array(np.array([[1, 2], [2, 4]], np.int64)))
    assert basis is None or basis.solve(np.array([1, 3])) is None


def test_a_denominator_of_hundreds_of_digits_is_found() -> None:
    n = 400
    rng = np.random.default_rng(3)
    dense = np.diag(np.full(n, 7)) + np.diag(np.full(n - 1, 3), 1) + np.diag(np.full(n - 1, -2), -1)
    basis = ExactSystem.of(csc_array(dense.astype(np.int64)))
    assert basis is not None
    right = rng.integers(-9, 9, n)
    solved = basis.solve(right)
    assert solved is not None
    x, denominator = solved
    assert len(str(denominator)) > 300
    product = [sum(int(a) * int(v) for a, v in zip(row, x, strict=True) if a) for row in dense]
    assert product == [int(b) * denominator for b in right]


@pytest.mark.parametrize("factor", [1, 10**6, 10**13])
def test_reaches_are_those_of_the_rational_attacker_at_any_scale(factor: int) -> None:
    rng = np.random.default_rng(factor % 101)
    for shape in [(3, 3, 2), (3, 3, 3), (2, 3, 2, 3)]:
        table = random_table(rng, shape).in_units(factor * random_table(rng, shape).scale, 1)
        suppressed = random_pattern(rng, table, 0.5)
        attacker = Attacker(table, suppressed)
        for cell, exact in intervals(table, suppressed, table.sensitive.tolist()).items():
            for direction, most in zip((1, -1), exact, strict=True):
                reach = attacker.reach(cell, direction, 1)
                assert reach.unbounded == (most is None)
                if most is not None:
                    assert reach.attained == reach.bound == most
                    again = attacker.reach(cell, direction, int(most) + 1, or_nothing=True)
                    assert again.attained <= most < int(most) + 1
                    assert again.bound is not None


def two_cells_with_little_room(value: int) -> Table:
    """Two equations say the same; bounds leave a unit of room beside values as large as can be."""
    lines = Lines(
        np.array([0, 3, 6]), np.array([0, 1, 2, 0, 1, 2], np.int32), np.array([1, 1, -1] * 2), np.zeros(2, np.int64)
    )
    zeros = np.zeros(3, np.int64)
    return Table.build(
        np.array([value, value, 2 * value]),
        lines,
        status=np.array([1, 0, 0], np.uint8),
        weight=np.ones(3, np.int64),
        lb=np.array([0, value - 1, 0]),
        ub=np.array([INFINITE, INFINITE, 2 * value]),
        levels=Levels(zeros, np.array([value // 10, 0, 0]), zeros),
    )


def test_a_unit_of_room_is_seen_beside_the_largest_values() -> None:
    table = two_cells_with_little_room(10**17)
    verdict = gpuga.audit(table, np.ones(3, bool), whole="no")
    first = verdict.cells[0]
    assert (first.min, first.max) == (0, 10**17 + 1)
    assert not first.safe
    assert first.exact
    assert verdict.undecided == ()


def read(name: str) -> tuple[Table, np.ndarray]:
    source = read_source(DATA / f"{name}.jj")
    return source.table, read_pattern(source, str(DATA / f"{name}.csv"))


@pytest.mark.parametrize(
    "name", ["large_values", "very_large_values", "interval_with_a_limit", "limits_of_linked_cells", "sliding_level"]
)
def test_verdicts_with_and_without_intervals_are_those_of_the_rational_attacker(name: str) -> None:
    table, suppressed = read(name)
    verdict = gpuga.audit(table, suppressed, whole="no")
    exact = intervals(table, suppressed, np.flatnonzero(suppressed).tolist())
    for cell in verdict.cells:
        rise, fall = exact[cell.cell]
        value = Fraction(int(table.value[cell.cell]))
        assert cell.max == (None if rise is None else (value + rise) / table.scale)
        assert cell.min == (None if fall is None else (value - fall) / table.scale)
        levels = [int(level[cell.cell]) for level in (table.levels.upper, table.levels.lower, table.levels.sliding)]
        enough = [
            rise is None or rise >= levels[0],
            fall is None or fall >= levels[1],
            rise is None or fall is None or rise + fall >= levels[2],
        ]
        assert cell.safe == (cell.kind == "secondary" or all(enough))
    assert gpuga.audit(table, suppressed, whole="no", intervals=False).unsafe == verdict.unsafe


def test_a_pattern_that_touches_no_equation_is_judged() -> None:
    table, suppressed = read("no_suppressed_cell_in_an_equation")
    verdict = gpuga.audit(table, suppressed)
    assert verdict.safe
    assert [cell.max for cell in verdict.cells] == [None] * len(verdict.cells)


def test_a_cell_listed_twice_in_a_witness_does_not_hold() -> None:
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, 1]), np.array([20]))
    table = Table.build(np.array([10, 10]), lines, ub=np.array([12, 20]))
    allowed = AllowedChanges.of(table, np.ones(2, bool))
    start, cells = np.array([0, 4]), np.array([0, 0, 1, 1], np.int32)
    amounts = np.array([2, 2, -2, -2])
    assert hold(allowed, witness_of(np.array([0, 1], np.int32), np.array([2, -2])))[0]
    for wide in (np.int64, object):
        assert not hold(allowed, Witnesses(start, cells, amounts.astype(wide), np.array([1])))[0]


def test_a_witness_with_a_denominator_below_one_does_not_hold() -> None:
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, 1]), np.array([20]))
    table = Table.build(np.array([10, 10]), lines)
    allowed = AllowedChanges.of(table, np.ones(2, bool))
    for denominator in (0, -1):
        for wide in (np.int64, object):
            amounts = np.array([2, -2]).astype(wide)
            offered = Witnesses(np.array([0, 2]), np.array([0, 1], np.int32), amounts, np.array([denominator]))
            assert not hold(allowed, offered)[0]


def test_a_witness_is_stretched_to_its_tightest_bound_and_no_further() -> None:
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, 1]), np.array([20]))
    table = Table.build(np.array([10, 10]), lines, ub=np.array([17, 20]))
    allowed = AllowedChanges.of(table, np.ones(2, bool))
    witness = witness_of(np.array([0, 1], np.int32), np.array([3, -3]), 2)
    assert stretch(allowed, witness, 0) == Fraction(14, 3)
    assert stretch(allowed, witness, 0, -1) == Fraction(20, 3)
    for direction in (1, -1):
        most = stretch(allowed, witness, 0, direction)
        assert hold(allowed, times(witness, direction * most))[0]
        assert not hold(allowed, times(witness, direction * most * Fraction(10**9 + 1, 10**9)))[0]


class Expiring(Clock):
    """A clock that runs out when it has been looked at so many times."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def left(self) -> float:
        self.looks -= 1
        return 1e9 if self.looks > 0 else 0.0


def test_what_the_clock_leaves_open_is_undecided_and_not_safe() -> None:
    rng = np.random.default_rng(11)
    seen = 0
    for _ in range(20):
        table = random_table(rng, (4, 4, 3), sensitive=0.3)
        suppressed = table.suppressible.copy()
        suppressed[rng.random(len(table)) < 0.3] = False
        suppressed |= table.forced
        whole = gpuga.audit(table, suppressed, whole="no", intervals=False)
        cut = gpuga.audit(table, suppressed, whole="no", intervals=False, context=Context(clock=Expiring(1)))
        assert set(cut.undecided) <= set(cut.unsafe)
        assert set(whole.unsafe) <= set(cut.unsafe)
        assert cut.safe == (not cut.unsafe)
        seen += len(cut.undecided)
    assert seen > 0


def test_a_proof_holds_a_witness_for_every_requirement() -> None:
    rng = np.random.default_rng(12)
    for shape in [(4, 5), (3, 3, 3)]:
        table = random_table(rng, shape, sensitive=0.1)
        suppressed = table.suppressible.copy()
        verdict = gpuga.audit(table, suppressed, whole="no", intervals=False, proofs=True)
        if not verdict.safe:
            assert verdict.proof is None
            continue
        proof = verdict.proof
        assert proof is not None
        assert hold(AllowedChanges.of(table, suppressed), proof.witnesses).all()
        shown = {}
        for cell, direction, number in zip(proof.cell, proof.direction, proof.witness, strict=True):
            cells, amounts, denominator = proof.witnesses.one(int(number))
            moved = int(amounts[np.flatnonzero(cells == cell)[0]])
            shown[int(cell), int(direction)] = Fraction(moved * int(direction), denominator)
        for cell in table.sensitive.tolist():
            assert shown.get((cell, 1), 0) >= table.levels.upper[cell]
            assert shown.get((cell, -1), 0) >= table.levels.lower[cell]


class Boaster(Attacker):
    """An attacker whose solver finds no limit and then proposes something as a ray."""

    def __init__(self, table: Table, ray: Witnesses, length: int) -> None:
        super().__init__(table, np.ones(len(table), bool))
        self.proposals = [Reach(Fraction(0), None, None, unbounded=True), Reach(Fraction(length), ray, None)]

    def _settled(
        self, program: IntegerProgram, column: int, direction: int, goal: int | None, seconds: float, short: float = 0.0
    ) -> Reach:
        if self.proposals:
            return self.proposals.pop(0)
        return super()._settled(program, column, direction, goal, seconds, short)


def test_a_cell_has_no_limit_only_where_a_ray_shows_it() -> None:
    lines = Lines(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, -1]), np.zeros(1, np.int64))
    limited = Table.build(np.array([10, 10]), lines, ub=np.array([INFINITE, 17]))
    both, ray = np.array([0, 1], np.int32), np.array([1, 1])
    no_ray = Boaster(limited, witness_of(both, ray), 1).reach(0, 1, 5)
    assert (no_ray.unbounded, no_ray.attained, no_ray.bound) == (False, 7, 7)
    free = Table.build(np.array([10, 10]), lines)
    assert Boaster(free, witness_of(both, ray), 1).reach(0, 1, 5).unbounded
    short = Boaster(limited, witness_of(both, ray), 0).reach(0, 1, 5)
    assert (short.unbounded, short.attained) == (False, 7)
    fell_short = Boaster(free, witness_of(both, ray), 0).reach(0, 1, 5)
    assert not fell_short.unbounded
