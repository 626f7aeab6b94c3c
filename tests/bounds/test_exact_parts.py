"""The exact arithmetic of bounds, piece by piece: whatever proposes a cut or a multiplier, what is made of it holds."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import ceil, gcd

import numpy as np
import pytest
from numba import njit

from gpuga.bounds.certificate import certify, share
from gpuga.bounds.cuts import crossing, cut_of, plain_cut, residual_need, stacked, violated_roundings
from gpuga.bounds.general_cuts import (
    LineCut,
    Product,
    _half,
    _statements,
    half_sums,
    level_row,
    reduce,
    rounded_row,
    whole_product,
)
from gpuga.bounds.knapsack import step
from gpuga.bounds.lone_cells import LONGEST_LINE, LoneCell, lone_cells
from gpuga.bounds.program import Program, Proof
from gpuga.bounds.relaxation import Relaxation
from gpuga.bounds.rounding import Rounded, half_cuts, odd_combinations
from gpuga.circuits.paths import plain
from gpuga.circuits.witness_lists import Levels as PlaneLevels
from gpuga.context import Clock, Context
from gpuga.heuristics.plane_problem import PlaneProblem, plane_problem
from gpuga.heuristics.shortest_path import by_paths
from gpuga.safety.network import Network
from gpuga.safety.tasks import Tasks
from gpuga.table import INFINITE, Levels, Lines, Table
from tests.brute_force import is_safe
from tests.planes import random_plane_table


@njit
def shares(multiplier, capacity, rhs, out):
    for z in range(len(out)):
        out[z] = share(multiplier[z], capacity[z], rhs[z])


def test_a_share_is_rounded_up_exactly_or_by_hardly_more() -> None:
    rng = np.random.default_rng(1)
    for bits in (3, 12, 31, 40, 58):
        multiplier = rng.integers(0, 2**58, 300)
        rhs = rng.integers(1, 2**bits, 300)
        capacity = rng.integers(1, 2 ** min(bits + 1, 60), 300)
        out = np.zeros(300, np.int64)
        shares(multiplier, capacity, rhs, out)
        for m, c, r, found in zip(*(x.tolist() for x in (multiplier, capacity, rhs, out)), strict=True):
            exact = Fraction(m * min(c, r), r)
            assert exact <= found <= m
            assert found == ceil(exact) if r < 2**31 else found - exact <= m * Fraction(3, 2**30) + 1


def small_problem(seed: int) -> PlaneProblem:
    return plane_problem(random_plane_table(4, 4, seed, largest=30, sensitive=0.15), Context())


def random_cuts(problem: PlaneProblem, rng: np.random.Generator, count: int) -> list:
    """Plain cuts over random node sets, roundings and halves of them, and lone cells."""
    rows, columns = problem.shape
    cuts: list = []
    while len(cuts) < count:
        sides = (rng.random(rows) < 0.5).astype(np.uint8), (rng.random(columns) < 0.5).astype(np.uint8)
        cut = plain_cut(*sides, int(rng.integers(1, 40)))
        every = np.arange(rows * columns)
        if not cut.coefficients(problem.net, every).any():
            continue
        cuts.append(cut)
        rounded = cut.rounded(problem.net, every[rng.random(len(every)) < 0.2], int(rng.integers(2, 20)))
        cuts += [] if rounded is None else [rounded]
    simple = cuts[:3]
    return [*cuts, Rounded(tuple(simple), np.zeros(0, np.int64)), LoneCell(1, True), LoneCell(5, False)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step_", [1, 7])
def test_a_certificate_is_the_sum_in_rationals_rounded_to_its_safe_side(seed: int, step_: int) -> None:
    rng = np.random.default_rng(seed)
    problem = small_problem(seed)
    cuts = sorted(random_cuts(problem, rng, 6), key=lambda cut: -len(getattr(cut, "cover", ())))
    multipliers = np.where(rng.random(len(cuts)) < 0.3, -1.0, rng.exponential(9, len(cuts)))
    found = certify(problem, cuts, multipliers, step_)
    unit = Fraction(1, 2**found.shift)
    assert found.shift > 40
    reduced = [Fraction(int(w)) for w in problem.weight.ravel()]
    asked = Fraction(0)
    for cut, y in zip(cuts, multipliers.tolist(), strict=True):
        fixed = Fraction(int(np.floor(max(0.0, y) * 2.0**found.shift)), 2**found.shift)
        asked += fixed if cut.rhs > 0 else 0
        for place, c in enumerate(cut.coefficients(problem.net, np.arange(len(reduced))).tolist()):
            reduced[place] -= fixed * Fraction(c, cut.scale)
    for place, exact in enumerate(reduced):
        assert exact - len(cuts) * unit <= int(found.reduced.ravel()[place]) * unit <= exact
    negative = sum(min(Fraction(0), r) for r, c in zip(reduced, problem.candidate.ravel(), strict=True) if c)
    exact = asked + negative
    assert exact - len(cuts) * len(reduced) * unit <= found.total * unit <= exact
    assert found.bound == max(0, ceil(Fraction(ceil(found.total * unit), step_)) * step_)


def test_the_cover_of_a_cut_takes_no_share_of_it() -> None:
    """What the cover carries is taken for granted, and the other places of the line pay."""
    problem = small_problem(1)
    rows, columns = problem.shape
    every = np.arange(rows * columns)
    sides = np.zeros(rows, np.uint8), np.eye(columns, dtype=np.uint8)[0]
    carries = crossing(problem.net, every, *sides, 2**40)
    cover = every[carries > 0][:2]
    need = int(carries[cover].sum()) + 1
    cut = plain_cut(*sides, need).rounded(problem.net, cover, 2 * need + 1)
    assert cut is not None
    found = certify(problem, [cut], np.array([3.0]), 1)
    paid = (problem.weight << found.shift) - found.reduced
    assert not paid.ravel()[cover].any()
    assert (paid.ravel()[np.setdiff1d(every[carries > 0], cover)] > 0).all()


def test_what_a_certificate_removes_is_dearer_than_any_cheaper_pattern() -> None:
    problem = small_problem(1)
    cuts = random_cuts(problem, np.random.default_rng(1), 4)
    found = certify(problem, cuts, np.full(len(cuts), 2.5), 2)
    for cost in range(0, 60, 3):
        left = Fraction(cost - 2) - Fraction(found.total, 2**found.shift)
        expected = [Fraction(int(r), 2**found.shift) > left for r in found.reduced.ravel()]
        assert found.removable(cost).ravel().tolist() == (expected if left >= 0 else [True] * len(expected))
    proof = Proof(5 << 10, np.array([0, 3 << 10, (3 << 10) + 1, -(1 << 10)]), 10, 1)
    assert proof.removable(9).tolist() == [False, False, True, False]
    assert proof.removable(2).tolist() == [False, True, True, False]


def test_without_multipliers_nothing_is_proven() -> None:
    problem = small_problem(2)
    cuts = random_cuts(problem, np.random.default_rng(2), 3)
    found = certify(problem, cuts, np.zeros(len(cuts)), 1)
    assert found.bound == found.total == 0
    assert np.array_equal(found.reduced, problem.weight << found.shift)


def program_of(seed: int) -> tuple[Program, Relaxation]:
    problem = small_problem(seed)
    relaxation = Relaxation(problem, by_paths(problem, problem.costs(), plain()))
    places = np.flatnonzero(problem.candidate.ravel())
    return Program(relaxation, places, int(problem.weight.sum()) + 1), relaxation


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_a_programs_bound_holds_at_every_node_for_every_point_that_meets_its_rows(seed: int) -> None:
    program, relaxation = program_of(seed)
    cuts = random_cuts(relaxation.problem, np.random.default_rng(seed), 5)
    assert program.add([*cuts, cuts[0]]) == len(cuts)
    assert program.add(cuts) == 0
    chosen = program.places[:9]
    free = list(range(9))
    program.fix(range(9, len(program.places)), [])
    coefficients = [cut.coefficients(program.net, chosen) for cut in cuts]
    points = [
        np.array(bits)
        for bits in itertools.product((0, 1), repeat=9)
        if all(c @ bits >= cut.rhs for c, cut in zip(coefficients, cuts, strict=True))
    ]
    costs = [int(program.weight[:9] @ point) for point in points]
    bound = program.solve()
    assert bound <= min(costs, default=program.weight.sum() + 1)
    assert bound >= program.objective * program.unit - 1e-6
    for at in free[:4]:
        program.fix(range(9, len(program.places)), [at])
        with_it = [cost for cost, point in zip(costs, points, strict=True) if point[at]]
        assert program.solve() <= min(with_it, default=program.weight.sum() + 1)
        program.fix_one(at, 0.0, 0.0)
        without = [cost for cost, point in zip(costs, points, strict=True) if not point[at]]
        assert program.solve() <= min(without, default=program.weight.sum() + 1)


def test_a_programs_bound_is_its_proof_rounded_up_to_what_costs_can_be() -> None:
    table = random_plane_table(4, 4, 1, largest=30, sensitive=0.15)
    problem = plane_problem(table.in_units(table.scale, 6 * table.weight_scale), Context())
    relaxation = Relaxation(problem, by_paths(problem, problem.costs(), plain()))
    assert relaxation.step % 6 == 0
    places = np.flatnonzero(problem.candidate.ravel())
    program = Program(relaxation, places, int(problem.weight.sum()) + 1)
    assert program.proof.total == 0
    program.add(random_cuts(problem, np.random.default_rng(1), 5))
    bound = program.solve()
    proven = Fraction(program.proof.total, 2**program.proof.shift)
    assert bound > 0
    assert bound == ceil(ceil(proven) / Fraction(relaxation.step)) * relaxation.step
    assert abs(float(proven) - program.objective * program.unit) < 1e-3
    assert program.idle.min() == 0


def test_a_program_drops_rows_that_bear_on_nothing_and_takes_them_back() -> None:
    program, relaxation = program_of(1)
    cuts = random_cuts(relaxation.problem, np.random.default_rng(5), 8)
    program.add(cuts)
    bound = program.solve()
    program.purge()
    assert len(program.cuts) == len(cuts)
    for _ in range(10):
        program.solve()
    program.purge()
    kept = len(program.cuts)
    assert 0 < kept < len(cuts)
    assert len(program.start) == kept + 1
    assert len(program.index) == len(program.value) == program.start[-1]
    assert program.solve() == bound
    assert program.add(cuts) == len(cuts) - kept
    assert program.solve() == bound


def node_set(rows: list[int], columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(rows, np.uint8), np.array(columns, np.uint8)


NET = Network(np.array([[5, 9, 2], [7, 1, 4]]), np.array([[3, 8, 6], [2, 5, 9]]))


def test_what_crosses_a_node_set_leaves_it_by_row_or_enters_it_by_column() -> None:
    every = np.arange(6)
    assert crossing(NET, every, *node_set([1, 0], [0, 0, 0]), 8).tolist() == [5, 8, 2, 0, 0, 0]
    assert crossing(NET, every, *node_set([0, 0], [0, 1, 0]), 9).tolist() == [0, 8, 0, 0, 5, 0]
    assert crossing(NET, every, *node_set([1, 0], [1, 0, 0]), 9).tolist() == [0, 9, 2, 2, 0, 0]
    assert crossing(NET, np.array([4, 1]), *node_set([0, 1], [0, 1, 1]), 9).tolist() == [0, 8]


def test_forced_places_lower_a_need_but_a_levels_own_place_does_not() -> None:
    sides = node_set([1, 0], [1, 0, 0])
    forced = np.array([0, 1, 2, 3])
    assert residual_need(NET, forced, *sides, 0, 20) == 20 - 9 - 2 - 2
    assert residual_need(NET, forced, *sides, 1, 20) == 20 - 2 - 2
    assert residual_need(NET, forced, *sides, 5, 13) == 0
    assert residual_need(NET, forced, *sides, 5, 14) == 1
    assert residual_need(NET, np.array([1]), *sides, 5, 8) == 0
    levels = PlaneLevels(np.array([1, 5]), np.array([True, True]), np.array([20, 13]))
    cut = cut_of(NET, forced, levels, 0, *sides)
    assert cut is not None
    assert (cut.need, cut.rhs, cut.scale) == (16, 16, 16)
    assert cut_of(NET, forced, levels, 1, *sides) is None


def test_coefficients_are_capacities_up_to_the_need() -> None:
    cut = plain_cut(*node_set([1, 0], [0, 0, 0]), 4)
    assert cut.coefficients(NET, np.arange(6)).tolist() == [4, 4, 2, 0, 0, 0]
    cover = cut.rounded(NET, np.array([2]), 99)
    assert cover is not None  # without the third place, two units are left
    assert cover.rhs == 2
    assert cover.coefficients(NET, np.arange(6)).tolist() == [2, 2, 0, 0, 0, 0]
    assert cover.plain().key == cut.key
    assert cover.key != cut.key
    divided = plain_cut(*node_set([1, 0], [0, 0, 0]), 7).rounded(NET, np.zeros(0, np.int64), 5)
    assert divided is not None  # 5 x + 7 y + 2 z >= 7 by fives: 2 x + 4 y + 2 z >= 4
    assert divided.coefficients(NET, np.arange(3)).tolist() == [2, 4, 2]
    assert divided.rhs == 4
    assert plain_cut(*node_set([1, 0], [0, 0, 0]), 10).rounded(NET, np.zeros(0, np.int64), 5) is None


@pytest.mark.parametrize(
    ("value", "divisor", "rest", "made"),
    [(7, 5, 2, 4), (5, 5, 2, 2), (3, 5, 2, 2), (1, 5, 2, 1), (-1, 5, 2, 0), (-5, 5, 2, -2), (0, 5, 2, 0), (6, 5, 4, 5)],
)
def test_a_division_counts_whole_parts_and_what_is_left_up_to_the_rest(
    value: int, divisor: int, rest: int, made: int
) -> None:
    assert step(value, divisor, rest) == made


def test_roundings_that_are_found_are_violated_as_they_say_and_beat_all_covers() -> None:
    rng = np.random.default_rng(3)
    seen = divided = covered = 0
    for _ in range(150):
        width = int(rng.integers(3, 9))
        capacity, need = rng.integers(1, 30, width), int(rng.integers(10, 60))
        net = Network(capacity[None, :], np.zeros((1, width), np.int64))
        cut = plain_cut(np.ones(1, np.uint8), np.zeros(width, np.uint8), need)
        x = np.sort(rng.random(width))[::-1]
        places = np.arange(width)
        found = violated_roundings(net, [cut], stacked([cut]), places, x, 0.01)
        best = max(miss(cut.rounded(net, places[:k], 10**9), net, x) for k in range(width))
        if not found:
            assert best <= 0.01 + 1e-9 or need <= capacity.min()
            continue
        (violation, made), seen = found[0], seen + 1
        assert violation > 0.01
        assert miss(made, net, x) >= violation - 1e-9
        assert violation >= miss(cut, net, x) - 1e-6
        divided += made.divisor < need
        covered += len(made.cover) > 0
    assert min(seen, divided, covered) > 10


def test_roundings_of_many_cuts_at_once_are_those_of_each_alone() -> None:
    rng = np.random.default_rng(7)
    rows, width = 50, 12
    net = Network(rng.integers(3, 9, (rows, width)), np.zeros((rows, width), np.int64))
    needs = (net.forth.sum(1) * 9 // 10).tolist()
    one = np.eye(rows, dtype=np.uint8)
    cuts = [plain_cut(one[i], np.zeros(width, np.uint8), need) for i, need in enumerate(needs)]
    x = np.sort(rng.random(rows * width) * 0.5 + 0.45)[::-1]
    places = rng.permutation(rows * width)
    together = violated_roundings(net, cuts, stacked(cuts), places, x, -0.9)
    assert sum(len(cut.cover) for _, cut in together) > 256
    alone = [pair for cut in cuts for pair in violated_roundings(net, [cut], stacked([cut]), places, x, -0.9)]
    assert [v for v, _ in together] == sorted((v for v, _ in together), reverse=True)
    assert sorted(cut.key for _, cut in together) == sorted(cut.key for _, cut in alone)


def miss(cut, net: Network, x: np.ndarray) -> float:
    """How far a point misses a cut, as a share of its right-hand side."""
    if cut is None:
        return -1.0
    return 1.0 - float(cut.coefficients(net, np.arange(len(x))) @ x) / cut.rhs


def test_half_of_an_odd_cycle_is_rounded_up() -> None:
    """Columns are shared: cut i names two of three columns; over the columns they make a triangle."""
    matrix = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], bool)
    (rows,) = odd_combinations(matrix, np.ones(3, np.int64), np.zeros(3), np.full(3, 0.5), 5)
    assert rows.tolist() == [0, 1, 2]
    assert odd_combinations(matrix, np.ones(3, np.int64), np.full(3, 0.4), np.full(3, 0.5), 5) == []
    assert odd_combinations(matrix, np.array([1, 1, 0]), np.zeros(3), np.full(3, 0.5), 5) == []


def test_combinations_of_rows_are_odd_and_stay_below_one() -> None:
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(60):
        rows, columns = int(rng.integers(3, 9)), int(rng.integers(2, 80))
        odd = rng.random((rows, columns)) < 0.3
        parity = rng.integers(0, 2, rows)
        slack = np.where(rng.random(rows) < 0.5, 0.0, rng.random(rows) * 0.5)
        weight = rng.random(columns) * rng.choice([0.02, 0.5])
        found = odd_combinations(odd, parity, slack, weight, 3)
        assert len(found) <= 3
        for members in found:
            seen += 1
            assert len(members) > 1
            assert parity[members].sum() % 2 == 1
            assert slack[members].sum() + weight[odd[members].sum(0) % 2 == 1].sum() < 0.96 + 1e-9
    assert seen > 30


def test_the_best_pair_of_rows_comes_first() -> None:
    """Rows with slack are not added to others, so pairs are all there is."""
    rng = np.random.default_rng(6)
    for _ in range(30):
        odd, parity = rng.random((6, 5)) < 0.4, rng.integers(0, 2, 6)
        slack, weight = rng.random(6) * 0.3 + 0.01, rng.random(5) * 0.3
        totals = {
            pair: slack[list(pair)].sum() + weight[odd[list(pair)].sum(0) % 2 == 1].sum()
            for pair in itertools.combinations(range(6), 2)
            if parity[list(pair)].sum() % 2
        }
        good = {pair: total for pair, total in totals.items() if total < 0.96}
        found = odd_combinations(odd, parity, slack, weight, 1)
        assert [tuple(rows.tolist()) for rows in found] == ([min(good, key=good.__getitem__)] if good else [])


def test_halves_hold_wherever_their_members_hold_and_cut_the_point_off() -> None:
    rng = np.random.default_rng(8)
    seen = complemented = 0
    for _ in range(60):
        rows, width = 6, int(rng.integers(4, 8))
        net = Network((rng.random((rows, width)) < 0.5).astype(np.int64), np.zeros((rows, width), np.int64))
        # every row is a cut over the columns of that row; places of one column are one cell
        cuts = [plain_cut(np.eye(rows, dtype=np.uint8)[i], np.zeros(width, np.uint8), 1) for i in range(rows)]
        cuts = [cut for cut in cuts if cut.coefficients(net, np.arange(rows * width)).sum() >= 2]
        every = np.arange(rows * width)
        dense = np.array([cut.coefficients(net, every) for cut in cuts])
        members = tuple(cuts[:3])
        if len(members) < 3:
            continue
        some = every[(dense[:3].sum(0) == 1) & (rng.random(len(every)) < 0.15)]
        half = Rounded(members, some)
        if half.rhs <= 0:
            continue
        seen += 1
        complemented += len(some) > 0
        used = np.flatnonzero(dense[:3].any(0))
        if len(used) > 12:
            continue
        coefficients = half.coefficients(net, used)
        assert np.array_equal(half.dense(net)[used], coefficients)
        assert np.array_equal(half.coefficients(net, used), coefficients)
        assert coefficients.min() >= 0
        assert coefficients.max() <= half.rhs == half.scale
        for bits in itertools.product((0, 1), repeat=len(used)):
            if (dense[:3][:, used] @ np.array(bits) >= 1).all():
                assert coefficients @ np.array(bits) >= half.rhs
    assert seen > 20
    assert complemented > 5
    assert Rounded(members, some).key == Rounded(members[::-1], some).key


def test_half_cuts_of_a_point_are_violated_by_it() -> None:
    rng = np.random.default_rng(9)
    seen = 0
    for seed in range(40):
        problem = small_problem(seed % 4 + 1)
        places = np.flatnonzero(problem.candidate.ravel())
        cuts = []
        while len(cuts) < 12:
            sides = (
                (rng.random(problem.shape[0]) < 0.3).astype(np.uint8),
                (rng.random(problem.shape[1]) < 0.3).astype(np.uint8),
            )
            cut = plain_cut(*sides, 1)
            if 2 <= cut.coefficients(problem.net, places).sum() <= 8:
                cuts.append(cut)
        x = np.where(rng.random(len(places)) < 0.8, 0.5, 0.0)
        used = x > 0
        for half in half_cuts(problem.net, cuts, places[used], x[used], 4):
            seen += 1
            assert half.coefficients(problem.net, places[used]) @ x[used] < half.rhs
    assert half_cuts(problem.net, [], places, x, 4) == []
    assert seen >= 3


def test_a_line_of_nothing_but_secondaries_needs_two() -> None:
    problem = small_problem(1)
    rows, columns = problem.shape
    quiet = [i for i in range(rows) if not problem.forced[i].any()]
    noisy = [i for i in range(rows) if problem.forced[i].any()]
    assert quiet
    assert noisy
    x = np.zeros(problem.shape)
    x[quiet[0], 0], x[quiet[0], 1] = 0.8, 0.3
    x[noisy[0], 2] = 1.0
    found = [cut for cut in lone_cells(problem, x) if cut.in_row]
    assert [cut.place for cut in found] == [quiet[0] * columns]
    own = found[0].dense(problem.net).reshape(problem.shape)
    assert own[quiet[0], 0] == -1
    assert own.sum() == columns - 2
    assert (own[[i for i in range(rows) if i != quiet[0]]] == 0).all()
    down = LoneCell(quiet[0] * columns + 1, False).dense(problem.net).reshape(problem.shape)
    assert down[:, 1].sum() == rows - 2
    assert down[quiet[0], 1] == -1
    assert columns <= LONGEST_LINE


@pytest.mark.parametrize("large", [1, 2**20, 2**29])
def test_a_reduced_row_holds_wherever_the_row_holds_and_is_in_small_numbers(large: int) -> None:
    rng = np.random.default_rng(large)
    for _ in range(80):
        count = int(rng.integers(1, 7))
        rhs = int(rng.integers(1, 60)) * large
        coef = np.minimum(rng.integers(1, 60, count) * large + (rng.integers(0, 2, count) if large > 1 else 0), rhs)
        made = coef.copy()
        asked = reduce(made, rhs)
        assert 0 < asked < 2**31
        assert (made <= asked).all()
        common = gcd(rhs, *coef.tolist())
        if rhs // common < 2**30:
            assert asked == rhs // common
            assert made.tolist() == [c // common for c in coef.tolist()]
        for bits in itertools.product((0, 1), repeat=count):
            assert coef @ np.array(bits) < rhs or made @ np.array(bits) >= asked


def test_a_row_that_is_divided_asks_for_nothing_or_for_something_that_holds() -> None:
    made, asked = rounded_row(np.array([5, 7, 2]), 7, np.array([False, False, False]), 5)
    assert (made.tolist(), asked) == ([1, 2, 1], 2)
    assert rounded_row(np.array([5, 7, 2]), 10, np.array([False, False, False]), 5)[1] == 0
    made, asked = rounded_row(np.array([5, 7, 2]), 7, np.array([False, False, True]), 99)
    assert (made[:2].tolist(), asked) == ([1, 1], 1)
    assert rounded_row(np.array([5, 7]), 4, np.array([True, True]), 99)[1] == 0  # the cover carries more than is asked
    row = LineCut(np.array([4, 6, 9]), np.array([5, 7, 2]), 7)
    assert row.violation(np.where(np.arange(10) == 4, 0.5, 0.0)) == (7 - 2.5) / 7
    assert row.scale == 7
    assert row.rounded(np.zeros(3, bool), 5).cell.tolist() == [4, 6, 9]
    assert row.rounded(np.zeros(3, bool), 7) is None


def line_table(**more: object) -> Table:
    """One line of four parts and their total; the first part is sensitive."""
    lines = Lines(np.array([0, 5]), np.arange(5, dtype=np.int32), np.array([1, 1, 1, 1, -1]), np.zeros(1, np.int64))
    level = np.array([4, 0, 0, 0, 0])
    given = {"status": np.array([1, 0, 0, 0, 0]), "levels": Levels(level, level, 0 * level)} | more
    return Table.build(np.array([10, 3, 7, 20, 40]), lines, **given)  # type: ignore[arg-type]


def tasks() -> Tasks:
    return Tasks(np.array([0, 0], np.int32), np.array([1, -1], np.int8), np.array([4, 4]))


def product(table: Table, y: int) -> Product:
    return Product(table.lines.coef * y, np.array([0]), np.array([1]))


@pytest.mark.parametrize("y", [1, -1, 3])
def test_the_row_of_a_line_says_that_others_must_carry_the_level(y: int) -> None:
    table = line_table(ub=np.array([INFINITE, 9, 8, INFINITE, 43]))
    up, down = (level_row(table, tasks(), task, product(table, y)) for task in (0, 1))
    assert up is not None  # the others fall, or the total rises by at most 3
    assert up.cell.tolist() == [1, 2, 3, 4]
    assert (up.coef.tolist(), up.rhs) == ([3, 4, 4, 3], 4)
    assert down is not None  # the third part rises by at most 1
    assert (down.coef.tolist(), down.rhs) == ([4, 1, 4, 4], 4)
    forced = line_table(status=np.array([1, 3, 2, 0, 0]))
    left = level_row(forced, tasks(), 0, product(forced, y))
    assert left is not None  # three units come from what was suppressed before, frozen cells give none
    assert (left.cell.tolist(), left.coef.tolist(), left.rhs) == ([3, 4], [1, 1], 1)
    enough = line_table(status=np.array([1, 0, 3, 0, 0]))
    assert level_row(enough, tasks(), 0, product(enough, y)) is None
    other = Product(np.array([0, 1, 0, 0, 0]), np.array([0]), np.array([1]))
    assert level_row(table, tasks(), 0, other) is None


def test_rows_of_any_multipliers_hold_for_every_safe_pattern() -> None:
    rng = np.random.default_rng(2)
    rows = 0
    for seed in range(8):
        table = random_plane_table(2, 2, seed, largest=9, sensitive=0.25)
        free = np.flatnonzero(table.suppressible & ~table.forced)
        asked = [
            (c, d, int(level[c]))
            for c in table.sensitive
            for d, level in ((1, table.levels.upper), (-1, table.levels.lower))
            if level[c]
        ]
        if not asked:
            continue
        wanted = Tasks(
            *(np.array(x, t) for x, t in zip(zip(*asked, strict=True), (np.int32, np.int8, np.int64), strict=True))
        )
        made = []
        for _ in range(6):
            y = whole_product(table, rng.integers(-2, 3, len(table.lines)) / rng.choice([1, 2, 3]))
            made += [row for t in range(len(asked)) if (row := level_row(table, wanted, t, y)) is not None]
        rows += len(made)
        for bits in itertools.product((False, True), repeat=len(free)):
            pattern = table.forced.copy()
            pattern[free[np.array(bits)]] = True
            if is_safe(table, pattern):
                assert all(row.violation(pattern.astype(float)) <= 0 for row in made)
    assert rows > 20


def test_multipliers_become_whole_numbers_in_lowest_terms() -> None:
    table = random_plane_table(2, 2, 1)
    dual = np.array([-0.5, 0.0, 1.0, 0.25, 0.0, 0.5])
    found = whole_product(table, dual)
    assert found.line.tolist() == [0, 2, 3, 5]
    assert found.y.tolist() == [2, -4, -1, -2]
    exact = np.zeros(len(table), np.int64)
    np.add.at(exact, table.lines.cell, table.lines.coef * (dual * 4).astype(np.int64)[table.lines.line_of_entry])
    assert found.of_cells.tolist() == exact.tolist()
    even = whole_product(table, np.array([0.0, -6.0, 0.0, 4.0, 0.0, 0.0]))
    assert even.y.tolist() == [3, -2]
    assert np.abs(even.of_cells).max() == 10 or np.abs(even.of_cells).max() == 6
    odd = np.array([np.sqrt(2), 0.0, -np.pi, 0.0, 0.0, 0.0])  # no fractions: nearby ones in parts of a unit
    found = whole_product(table, odd)
    assert np.allclose(found.y / found.y[0], odd[[0, 2]] / odd[0], atol=2e-3)
    nearby = np.zeros(len(table))
    np.add.at(nearby, table.lines.cell, table.lines.coef * odd[table.lines.line_of_entry])
    assert np.allclose(found.of_cells / 1024, nearby, atol=2e-3)
    nothing = whole_product(table, np.zeros(6))
    assert not len(nothing.line)
    assert not nothing.of_cells.any()


def test_half_sums_hold_wherever_their_members_hold_and_cut_the_point_off() -> None:
    rng = np.random.default_rng(4)
    seen = 0
    for _ in range(80):
        cells = int(rng.integers(4, 8))
        cuts = []
        for _ in range(5):
            cell = np.sort(rng.choice(cells, int(rng.integers(2, 4)), replace=False))
            coef = rng.integers(1, 4, len(cell))
            rhs = int(rng.integers(1, coef.sum() + 1))
            cuts.append(LineCut(cell, np.minimum(coef, rhs), rhs))
        z = rng.choice([0.0, 0.5, 0.6, 1.0], cells)
        for half in half_sums(cuts, np.arange(cells), z, 4):
            seen += 1
            assert half.summed
            assert half.violation(z) > 0
            for bits in itertools.product((0.0, 1.0), repeat=cells):
                point = np.array(bits)
                if all(cut.violation(point) <= 0 for cut in cuts):
                    assert half.violation(point) <= 0
    assert seen > 15


def test_the_triangle_needs_two_of_its_corners() -> None:
    cuts = [LineCut(np.array(pair), np.ones(2, np.int64), 1) for pair in ([0, 1], [1, 2], [0, 2])]
    (half,) = half_sums(cuts, np.arange(3), np.full(3, 0.5), 4)
    assert (half.cell.tolist(), half.coef.tolist(), half.rhs) == ([0, 1, 2], [1, 1, 1], 2)
    assert half_sums(cuts, np.arange(3), np.ones(3), 4) == []


def test_relaxations_of_small_tables_end_at_a_bound_that_holds() -> None:
    """The pieces together, where the cheapest pattern is known by trying all."""
    for seed in (1, 3):
        problem = small_problem(seed)
        relaxation = Relaxation(problem, by_paths(problem, problem.costs(), plain()))
        relaxation.tighten(Clock())
        assert 0 < relaxation.bound <= problem.cost(by_paths(problem, problem.costs(), plain()))


def test_levels_that_are_too_large_for_sums_make_no_row() -> None:
    lines = Lines(np.array([0, 4]), np.arange(4, dtype=np.int32), np.array([1, 1, 1, -1]), np.zeros(1, np.int64))
    table = Table.build(np.array([1, 1, 1, 3]), lines, status=np.array([1, 0, 0, 0]))
    y = Product(lines.coef, np.array([0]), np.array([1]))

    def row(need: int) -> LineCut | None:
        return level_row(table, Tasks(np.array([0], np.int32), np.array([1], np.int8), np.array([need])), 0, y)

    assert row(2**59) is None
    small = row(2**59 - 2**12)
    assert small is not None
    assert small.cell.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("rhs", "kept"), [(49, True), (50, True), (51, False), (0, False)])
def test_halves_are_in_small_numbers(rhs: int, kept: bool) -> None:
    cuts = [LineCut(np.array([0, 1]), np.array([40, 60]), part) for part in (rhs, rhs)]
    half = _half(cuts, np.zeros(2))
    assert (half is not None) is kept
    if half is not None:
        assert (half.cell.tolist(), half.coef.tolist(), half.rhs) == ([0, 1], [min(40, rhs), min(60, rhs)], rhs)


def test_a_half_complements_likely_cells_with_odd_coefficients() -> None:
    cuts = [LineCut(np.array([0, 1, 2]), np.array([1, 2, 1]), 2), LineCut(np.array([0, 2, 3]), np.array([2, 1, 3]), 3)]
    half = _half(cuts, np.array([0.9, 0.9, 0.9, 0.1]))
    assert half is not None  # 3 a + 2 b + 2 c + 3 d >= 5, less a
    assert (half.cell.tolist(), half.coef.tolist(), half.rhs) == ([0, 1, 2, 3], [1, 1, 1, 2], 2)
    assert half.summed
    assert half.origin[0] == "half"
    assert half.origin[1].tolist() == [0]
    unlikely = _half(cuts, np.zeros(4))
    assert unlikely is not None
    assert (unlikely.coef.tolist(), unlikely.rhs) == ([2, 1, 1, 2], 3)
    assert _half([LineCut(np.array([0]), np.array([1]), 1)], np.ones(1)) is None


def test_a_cut_says_what_it_says_in_small_integers_and_that_one_of_its_cells_is_suppressed() -> None:
    cell, coef = np.array([2, 5]), np.array([7, 4])

    def said(rhs: int, summed: bool = False) -> list[tuple[list[int], int]]:
        return [(s.coef.tolist(), s.rhs) for s in _statements(LineCut(cell, coef, rhs, summed, ("x",)))]

    assert said(50) == [([7, 4], 50), ([1, 1], 1)]
    assert said(51) == [([1, 1], 1)]
    assert said(1) == [([7, 4], 1)]
    assert said(9, summed=True) == [([7, 4], 9)]
    assert said(99, summed=True) == []
    assert [s.origin for s in _statements(LineCut(cell, coef, 9, False, ("x",)))] == [("x",), ("one", ("x",))]


def test_how_a_row_was_rounded_is_told_in_the_words_of_the_checker() -> None:
    row = LineCut(np.array([4, 6, 9]), np.array([5, 7, 2]), 7, origin=("level",))
    cover = np.array([9])
    assert row.origin_of_rounding(np.zeros(0, np.int64), 15) == ("level",)
    assert row.origin_of_rounding(cover, 15) == ("small", ("cover", cover, ("level",)))
    assert row.origin_of_rounding(cover, 14) == ("small", ("divide", 14, cover, ("level",)))
    assert row.scale == 7
    assert LineCut(cover, cover, 0).scale == 1
    assert LineCut(cover, cover, -3).scale == 1
    covered = row.rounded(np.array([False, False, True]), 99)
    assert covered is not None
    assert (covered.cell.tolist(), covered.coef.tolist(), covered.rhs) == ([4, 6], [1, 1], 1)
    assert covered.origin[1][1].tolist() == [9]
