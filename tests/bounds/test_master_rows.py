"""The rows of a master program are its cuts, and its bounds are exact sums."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from gpuga.bounds.master import SOLVES_IDLE, Master
from gpuga.bounds.proof import SAFE_BITS, Proof, certify
from gpuga.bounds.separators.capacity_cuts import plain_cut
from gpuga.problem.two_way import TwoWayProblem
from tests.bounds.problems import random_cuts, small_problem
from tests.bounds.test_master import fixed, master_for


def flat(problem: TwoWayProblem) -> tuple[np.ndarray, np.ndarray]:
    return problem.weight.ravel(), problem.candidate.ravel()


def filled(seed: int, count: int = 8) -> tuple[Master, list]:
    program = master_for(seed)
    cuts = random_cuts(small_problem(seed), np.random.default_rng(seed), count)
    program.add(cuts)
    return program, cuts


def rows_of(program: Master) -> list[tuple[dict[int, int], int, bool]]:
    """What the program knows of each of its rows."""
    out = []
    for c in range(len(program.cuts)):
        span = slice(program.rows.start[c], program.rows.start[c + 1])
        entries = dict(zip(program.rows.index[span].tolist(), program.rows.value[span].tolist(), strict=True))
        out.append((entries, int(program.rows.scale[c]), bool(program.rows.asks[c])))
    return out


def expected_rows(program: Master) -> list[tuple[dict[int, int], int, bool]]:
    """What its cuts say."""
    out = []
    for cut in program.cuts:
        dense = cut.coefficients(program.columns).tolist()
        out.append(({z: c for z, c in enumerate(dense) if c}, cut.scale, cut.rhs > 0))
    return out


def solver_rows(program: Master) -> list[tuple[dict[int, float], float]]:
    """The rows as the solver holds them: entries and lower sides."""
    lp = program.session._model.getLp()
    matrix = lp.a_matrix_
    out: list[dict[int, float]] = [{} for _ in range(lp.num_row_)]
    by_row = str(matrix.format_).endswith("kRowwise")
    start, index, value = list(matrix.start_), list(matrix.index_), list(matrix.value_)
    for major in range(len(start) - 1):
        for e in range(start[major], start[major + 1]):
            row, column = (major, index[e]) if by_row else (index[e], major)
            out[row][column] = value[e]
    return list(zip(out, lp.row_lower_, strict=True))


def consistent(program: Master) -> None:
    rows = expected_rows(program)
    assert rows_of(program) == rows
    assert program.rows.start[0] == 0
    assert program.rows.start[-1] == len(program.rows.index) == len(program.rows.value)
    assert set(program.known) == {cut.key for cut in program.cuts}
    held = solver_rows(program)
    assert len(held) == len(rows)
    for (entries, scale, asks), (found, lower) in zip(rows, held, strict=True):
        wanted = {z + 1: c / scale for z, c in entries.items()} | {0: 1.0}
        assert found == pytest.approx(wanted)
        assert lower == float(asks)


@pytest.mark.parametrize("seed", [1, 3])
def test_rows_are_cuts_before_and_after_idle_ones_are_dropped(seed: int) -> None:
    program, cuts = filled(seed)
    consistent(program)
    assert program.idle.tolist() == [0] * len(cuts)
    program.solve()
    busy = program.idle == 0
    assert busy.any()
    assert (program.idle[~busy] == 1).all()
    for _ in range(SOLVES_IDLE - 2):
        program.solve()
    program.purge()
    assert len(program.cuts) == len(cuts)
    program.solve()
    assert (program.idle[program.idle > 0] == SOLVES_IDLE).all()
    keys = [cut.key for cut, kept in zip(program.cuts, program.idle < SOLVES_IDLE, strict=True) if kept]
    program.purge()
    assert [cut.key for cut in program.cuts] == keys
    assert len(program.idle) == len(program.rows.scale) == len(program.rows.asks) == len(keys)
    consistent(program)
    assert program.add(cuts) == len(cuts) - len(keys)
    consistent(program)


def test_few_idle_rows_are_not_worth_dropping() -> None:
    program, cuts = filled(1, 10)
    program.idle[:] = 0
    share = int(np.ceil(0.3 * len(cuts)))
    program.idle[: share - 1] = SOLVES_IDLE
    program.purge()
    assert len(program.cuts) == len(cuts)
    program.idle[:share] = SOLVES_IDLE
    program.purge()
    assert [cut.key for cut in program.cuts] == [cut.key for cut in cuts[share:]]
    consistent(program)


def exact_total(program: Master, multipliers: np.ndarray, shift: int) -> tuple[Fraction, list[Fraction]]:
    """The bound of multipliers and the reduced costs in rationals, with what is fixed taken into account."""
    reduced = [Fraction(int(w)) for w in program.weight]
    total = Fraction(0)
    for cut, y in zip(program.cuts, multipliers.tolist(), strict=True):
        fixed = Fraction(int(np.floor(y * 2.0**shift)), 2**shift)
        total += fixed if cut.rhs > 0 else 0
        for z, c in enumerate(cut.coefficients(program.columns).tolist()):
            reduced[z] -= fixed * Fraction(c, cut.scale)
    for r, low, high in zip(reduced, program.low, program.high, strict=True):
        total += r if low > 0 else min(r, Fraction(0)) if high > 0 else 0
    return total, reduced


@pytest.mark.parametrize("seed", range(4))
def test_a_bound_is_the_sum_in_rationals_at_every_node(seed: int) -> None:
    program, _ = filled(1 + seed % 3)
    rng = np.random.default_rng(seed)
    places = rng.permutation(len(program.columns))
    fixed(program, places[:4].tolist(), places[4:7].tolist())
    multipliers = np.where(rng.random(len(program.cuts)) < 0.3, 0.0, rng.exponential(9, len(program.cuts)))
    program.proof = program.rows.prove(program.weight, multipliers, program.low, program.high, program.step)
    bound, shift = program.proof.bound, program.proof.shift
    total, reduced = exact_total(program, multipliers, shift)
    unit = Fraction(1, 2**shift)
    slack = len(program.cuts) * len(program.columns) * unit
    assert total - slack <= program.proof.total * unit <= total
    for exact, found in zip(reduced, program.proof.reduced.tolist(), strict=True):
        assert exact - len(program.cuts) * unit <= found * unit <= exact
    assert bound == max(0, ceil(Fraction(ceil(program.proof.total * unit), program.step)) * program.step)
    largest = Fraction(int(program.weight.max())) + Fraction(float(multipliers.sum()))
    assert (largest + 1) * 2**shift <= 2**SAFE_BITS * (1 + Fraction(1, 10**9))
    assert (largest + 1) * 2 ** (shift + 1) > 2**SAFE_BITS * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize(("weight", "shift"), [(7, 55), (8, 54), (2**57 - 1, 1), (2**58 - 1, 0), (2**59, 0)])
def test_units_are_as_fine_as_fits_and_never_coarser_than_a_weight(weight: int, shift: int) -> None:
    program, _ = filled(1)
    weights, nothing = np.full(len(program.columns), weight), np.zeros(len(program.cuts))
    program.proof = program.rows.prove(weights, nothing, program.low, program.high, 1)
    assert program.proof.shift == pytest.approx(shift, abs=1 if weight > 2**53 else 0)
    assert program.proof.shift >= 0
    if weight >= 2**58:
        assert program.proof.shift == 0
    assert program.proof.reduced.tolist() == [weight << program.proof.shift] * len(program.columns)
    assert program.proof.total == 0


def test_nodes_fix_places_and_forget_those_of_the_node_before() -> None:
    program, _ = filled(1)
    fixed(program, [0, 2], [1])
    assert program.high[:4].tolist() == [0.0, 1.0, 0.0, 1.0]
    assert program.low[:4].tolist() == [0.0, 1.0, 0.0, 0.0]
    program.solve()
    assert program.x[[0, 2]].tolist() == [0.0, 0.0]
    assert program.x[1] == 1.0
    fixed(program, [3], [])
    assert program.high[:4].tolist() == [1.0, 1.0, 1.0, 0.0]
    assert not program.low.any()
    program.fix_one(0, 1.0, 1.0)
    program.solve()
    assert program.x[0] == 1.0
    assert program.x[3] == 0.0
    assert len(program.x) == len(program.columns)


def test_what_no_cheaper_pattern_contains_costs_more_than_is_left() -> None:
    reduced = np.array([-3, 0, 1, 2, 3]) << 4
    assert Proof(5 << 4, reduced, 4, 1).settled(7)[0].tolist() == [False, False, False, True, True]
    for cost in (6, 3, 0):  # nothing is left: whatever costs anything goes
        assert Proof(5 << 4, reduced, 4, 1).settled(cost)[0].tolist() == [False, False, True, True, True]
    assert Proof(5 << 4, np.array([1, 2]), 4, 1).settled(6)[0].tolist() == [True, True]
    assert Proof(5 << 4, reduced, 4, 2).settled(9)[0].tolist() == [False, False, False, False, True]
    assert Proof(0, np.array([2**62, 2**62 + 1]), 0, 1).settled(2**62 + 9)[0].tolist() == [False, True]


@pytest.mark.parametrize(("largest", "shift"), [(7.0, 55), (8.0, 54), (8.5, 54)])
def test_certificates_are_in_units_as_fine_as_fits(largest: float, shift: int) -> None:
    problem = small_problem(1)
    problem.weight[:] = 7
    sides = np.array([1] + [0] * (problem.shape[0] - 1), np.uint8), np.zeros(problem.shape[1], np.uint8)
    found = certify(*flat(problem), [plain_cut(problem.net, *sides, 5)], np.array([largest - 7.0]), 1)
    assert found.shift == shift


def test_certificates_of_large_needs_are_exact() -> None:
    problem = small_problem(1)
    need = 2**40 + 7
    problem.net.forward[:] = 2**39
    problem.net.backward[:] = 2**41
    sides = np.array([1] + [0] * (problem.shape[0] - 1), np.uint8), np.zeros(problem.shape[1], np.uint8)
    cut = plain_cut(problem.net, *sides, need)
    found = certify(
        *flat(problem), [cut, random_cuts(problem, np.random.default_rng(1), 1)[-1]], np.array([4.0, 0.0]), 1
    )
    paid = Fraction(int((problem.weight << found.shift)[0, 0] - found.reduced[0]), 2**found.shift)
    assert 0 <= paid - 4 * Fraction(2**39, need) < Fraction(1, 10**6)
    assert np.array_equal(found.reduced.reshape(problem.shape)[1:], (problem.weight << found.shift)[1:])


def test_what_a_certificate_removes_is_everything_where_the_cost_is_below_its_bound() -> None:
    problem = small_problem(1)
    found = certify(*flat(problem), [], np.zeros(0), 3)
    assert (found.total, found.bound, found.step) == (0, 0, 3)
    assert found.removable(2).all()
    weight = problem.weight
    for cost in (3, 10, 25):
        assert np.array_equal(found.removable(cost), weight.ravel() > cost - 3)


def test_whoever_enters_a_node_says_how_idle_rows_must_be_to_be_dropped() -> None:
    program, cuts = filled(1, 10)
    program.idle[:] = 0
    program.idle[0] = 3
    program.purge(idle=4, least=0.01)
    program.purge(idle=3, least=0.9)
    assert len(program.cuts) == len(cuts)
    program.purge(idle=3, least=0.01)
    assert [cut.key for cut in program.cuts] == [cut.key for cut in cuts[1:]]
    consistent(program)
